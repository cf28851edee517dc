//! Debian's packages: the record read directly, changes through `apt-get` and `apt-mark`,
//! package files through `dpkg`.

use std::cmp::Ordering;
use std::rc::Rc;

use fx_engine::Failure;
use fx_host::{Act, Look, Spec};

use super::backend::{Action, Backend, Dialect, Settings, State, Verb};
use super::dpkg::Record;
use super::version;
use crate::command;

pub(super) struct Apt {
    record: Rc<Record>,
    dialect: Dialect,
}

impl Apt {
    pub(super) fn new(record: Rc<Record>, dialect: Dialect) -> Apt {
        Apt { record, dialect }
    }
}

/// What is installed by Debian's record.
pub(super) fn installed(record: &Record, host: &dyn Look, name: &str) -> Result<State, Failure> {
    let Some(entry) = record.find(host, name)? else { return Ok(State::absent()) };
    Ok(match entry.status.as_str() {
        "not-installed" => State::absent(),
        "config-files" => State { versions: Vec::new(), residual: true },
        // Half-installed packages are not usable; installing again repairs them.
        "half-installed" | "unpacked" | "half-configured" => State::absent(),
        _ => State::version(entry.version),
    })
}

fn owned<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn release(settings: &Settings) -> Vec<String> {
    let release = settings.default_release.as_ref();
    release
        .map_or_else(Vec::new, |name| vec!["-o".to_owned(), format!("APT::Default-Release={name}")])
}

fn quiet(argv: Vec<String>) -> Spec {
    command::changing(argv)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env("APT_LISTCHANGES_FRONTEND", "none")
        .env("APT_LISTBUGS_FRONTEND", "none")
}

impl Backend for Apt {
    fn name(&self) -> &'static str {
        "apt"
    }

    fn installed(&self, host: &dyn Look, name: &str) -> Result<State, Failure> {
        installed(&self.record, host, name)
    }

    fn candidate(&self, host: &dyn Look, name: &str) -> Result<Option<String>, Failure> {
        let mut argv = owned(["apt-cache"]);
        argv.extend(release(&self.dialect.settings()));
        argv.extend(owned(["policy", name]));
        let ended = command::query(host, &command::tool(argv))?;
        let text = command::stdout(&ended);
        let candidate = text.lines().find_map(|line| line.trim().strip_prefix("Candidate: "));
        Ok(candidate.filter(|version| *version != "(none)").map(str::to_owned))
    }

    fn compare(&self, a: &str, b: &str) -> Ordering {
        version::dpkg(a, b)
    }

    fn held(&self, host: &dyn Look, name: &str) -> Result<bool, Failure> {
        Ok(self.record.find(host, name)?.is_some_and(|entry| entry.want == "hold"))
    }

    // apt reads `name-` as "remove name", and unknown names with pattern characters as
    // patterns that may match half the archive.
    fn check_name(&self, name: &str) -> Result<(), Failure> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "+-.:_~".contains(c);
        if name.chars().all(plain) && !name.ends_with('-') {
            return Ok(());
        }
        Err(Failure::new(format!("'{}' is not a Debian package name", name.escape_debug())))
    }

    // The names stand below a title at the end, each with the versions that provide it.
    fn providers(&self, host: &dyn Look, name: &str) -> Result<Vec<String>, Failure> {
        let ended = command::ask(host, &command::tool(["apt-cache", "showpkg", name]))?;
        let text = command::stdout(&ended);
        let lines = text.lines().skip_while(|line| line.trim_end() != "Reverse Provides:").skip(1);
        let mut names: Vec<String> = Vec::new();
        for found in lines.filter_map(|line| line.split_whitespace().next()) {
            if !names.iter().any(|known| known == found) {
                names.push(found.to_owned());
            }
        }
        Ok(names)
    }

    // apt knows the flag since 1.1; its first line reads `apt 2.6.1 (amd64)`.
    fn has_downgrades(&self, host: &dyn Look) -> Result<bool, Failure> {
        let ended = command::ask(host, &command::tool(["apt-get", "--version"]))?;
        let text = command::stdout(&ended);
        let version = text.lines().find_map(|line| line.strip_prefix("apt "));
        let version = version.and_then(|rest| rest.split_whitespace().next());
        Ok(version.is_some_and(|version| version::dpkg(version, "1.1").is_ge()))
    }

    fn commands(&self, action: &Action<'_>) -> Result<Vec<Spec>, Failure> {
        match &self.dialect {
            Dialect::Puppet => for_puppet(action).map(|argv| vec![quiet(argv)]),
            Dialect::Chef(settings) => {
                let spec = Spec::argv(for_chef(action, settings));
                Ok(vec![spec.env("DEBIAN_FRONTEND", "noninteractive")])
            }
        }
    }

    fn act(&self, host: &dyn Act, action: &Action<'_>) -> Result<(), Failure> {
        self.record.forget();
        let done = self
            .commands(action)?
            .iter()
            .try_for_each(|spec| command::succeed(host, spec).map(drop));
        self.record.forget();
        done
    }
}

fn for_puppet(action: &Action<'_>) -> Result<Vec<String>, Failure> {
    let mut argv = owned(["apt-get", "-q", "-y"]);
    match action.verb {
        Verb::Hold | Verb::Unhold => {
            argv = owned(["apt-mark", if action.verb == Verb::Hold { "hold" } else { "unhold" }]);
            argv.extend(action.names());
        }
        Verb::Install | Verb::Upgrade if action.has_files() => {
            argv = owned(["dpkg", "--force-confold"]);
            argv.extend(action.options.iter().cloned());
            argv.push("-i".to_owned());
            argv.extend(action.targets(""));
        }
        Verb::Install | Verb::Upgrade => {
            argv.extend(owned(["-o", "DPkg::Options::=--force-confold"]));
            if action.downgrade {
                argv.push("--allow-downgrades".to_owned());
            }
            if action.held {
                argv.push("--allow-change-held-packages".to_owned());
            }
            argv.extend(action.options.iter().cloned());
            argv.push("install".to_owned());
            argv.extend(action.targets("="));
        }
        Verb::Remove | Verb::Purge => {
            argv.extend(action.options.iter().cloned());
            argv.push(if action.verb == Verb::Purge { "purge" } else { "remove" }.to_owned());
            argv.extend(action.names());
        }
        Verb::Reconfigure => return Err(action.unsupported("apt")),
    }
    Ok(argv)
}

fn for_chef(action: &Action<'_>, settings: &Settings) -> Vec<String> {
    let program = match action.verb {
        Verb::Hold | Verb::Unhold => owned(["apt-mark"]),
        Verb::Reconfigure => owned(["dpkg-reconfigure"]),
        _ => owned(["apt-get", "-q", "-y"]),
    };
    let mut argv = program;
    if action.installs() {
        if action.downgrade {
            argv.push("--allow-downgrades".to_owned());
        }
        argv.extend(config_files(action, settings));
        argv.extend(release(settings));
    }
    argv.extend(action.options.iter().cloned());
    let verb = match action.verb {
        Verb::Install | Verb::Upgrade => "install",
        Verb::Remove => "remove",
        Verb::Purge => "purge",
        Verb::Hold => "hold",
        Verb::Unhold => "unhold",
        Verb::Reconfigure => "",
    };
    argv.extend((!verb.is_empty()).then(|| verb.to_owned()));
    if action.installs() {
        argv.extend(action.targets("="));
    } else {
        argv.extend(action.names());
    }
    argv
}

// What becomes of changed configuration files, unless options say so.
fn config_files(action: &Action<'_>, settings: &Settings) -> Vec<String> {
    let given = action.options.iter().any(|option| option.contains("--force-conf"));
    let ways: &[&str] = match settings.replace_config {
        _ if given => &[],
        true => &["--force-confnew"],
        false => &["--force-confdef", "--force-confold"],
    };
    let option = |way: &&str| ["-o".to_owned(), format!("Dpkg::Options::={way}")];
    ways.iter().flat_map(option).collect()
}
