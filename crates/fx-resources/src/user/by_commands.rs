//! Users through useradd, usermod, userdel, chage and chpasswd.

use fx_engine::{Change, Failure};
use fx_host::{Act, Spec};

use super::{Desired, Expiry, Seen};
use crate::{command, wanted};

pub(super) fn apply(
    host: &dyn Act,
    desired: &Desired,
    seen: &Seen,
    changes: &[Change],
) -> Result<(), Failure> {
    specs(desired, seen, changes).iter().try_for_each(|spec| command::succeed(host, spec).map(drop))
}

fn specs(desired: &Desired, seen: &Seen, changes: &[Change]) -> Vec<Spec> {
    let mut specs = Vec::new();
    if desired.absent {
        let mut argv = vec!["userdel".to_owned()];
        if desired.manage_home {
            argv.push("-r".to_owned());
        }
        argv.push(desired.name.clone());
        return vec![command::changing(argv)];
    }
    let creates = wanted(changes, "ensure");
    let is_due = |property: &str| creates || wanted(changes, property);
    let mut argv = Vec::new();
    let mut option = |flag: &str, value: Option<String>| {
        if let Some(value) = value {
            argv.extend([flag.to_owned(), value]);
        }
    };
    let path = |path: &std::path::PathBuf| path.to_string_lossy().into_owned();
    option("-u", desired.uid.filter(|_| is_due("uid")).map(|uid| uid.to_string()));
    option("-g", desired.gid.as_ref().filter(|_| is_due("gid")).map(ToString::to_string));
    option("-c", desired.comment.clone().filter(|_| is_due("comment")));
    option("-d", desired.home.as_ref().filter(|_| is_due("home")).map(path));
    option("-s", desired.shell.as_ref().filter(|_| is_due("shell")).map(path));
    let groups = seen.merged.as_ref().filter(|groups| !(creates && groups.is_empty()));
    option("-G", groups.filter(|_| is_due("groups")).map(|groups| groups.join(",")));
    if desired.non_unique && desired.uid.is_some() && is_due("uid") {
        argv.push("-o".to_owned());
    }
    if creates {
        argv.push(if desired.manage_home { "-m" } else { "-M" }.to_owned());
        if desired.system {
            argv.push("-r".to_owned());
        }
        argv.insert(0, "useradd".to_owned());
    } else if !argv.is_empty() {
        if desired.manage_home && wanted(changes, "home") {
            argv.push("-m".to_owned());
        }
        argv.insert(0, "usermod".to_owned());
    }
    if !argv.is_empty() {
        argv.push(desired.name.clone());
        specs.push(command::changing(argv));
    }
    if let Some(password) = desired.password.as_ref().filter(|_| is_due("password")) {
        // By standard input: arguments can be seen by everybody.
        let line = format!("{}:{}\n", desired.name, password.reveal());
        specs.push(command::changing(["chpasswd", "-e"]).stdin(line));
    }
    let mut argv = vec!["chage".to_owned()];
    let ages = [
        ("-m", "password_min_age", desired.min_age),
        ("-M", "password_max_age", desired.max_age),
        ("-W", "password_warn_days", desired.warn_days),
    ];
    for (flag, property, value) in ages {
        if let Some(value) = value.filter(|_| is_due(property)) {
            argv.extend([flag.to_owned(), value.to_string()]);
        }
    }
    if let Some(expiry) = desired.expiry.filter(|_| is_due("expiry")) {
        let day = match expiry {
            Expiry::Never => -1,
            Expiry::Day(day) => day,
        };
        argv.extend(["-E".to_owned(), day.to_string()]);
    }
    if argv.len() > 1 {
        argv.push(desired.name.clone());
        specs.push(command::changing(argv));
    }
    if let Some(locked) = desired.locked
        && (wanted(changes, "locked") || (locked && is_due("password")))
    {
        let flag = if locked { "-L" } else { "-U" };
        specs.push(command::changing(["usermod", flag, &desired.name]));
    }
    specs
}
