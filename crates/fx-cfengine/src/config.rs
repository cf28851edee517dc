//! What a run was asked to do: literal options, turned into settings once.

use std::rc::Rc;

use fx_engine::Level;
use fx_host::Look;

use crate::load::lower::Component;
use crate::text::{Str, decode, from_path, os, path};

/// What `--simulate` shows at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simulate {
    /// Differences.
    Diff,
    /// Changed files.
    Manifest,
    /// All files looked at.
    ManifestFull,
}

/// What a caller wants of the language.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Which tool evaluates the policy; a check is cf-promises whatever stands here.
    pub component: Component,
    /// Entry policy file as given; `None` takes the default of the work directory.
    pub file: Option<String>,
    /// The file was given as an argument: a bare name is looked for here, not in `inputs`.
    pub here: bool,
    /// Work directory; `None` takes the default.
    pub workdir: Option<String>,
    /// Somebody sits at the terminal: errors end the run instead of falling back.
    pub interactive: bool,
    /// This run is itself the fallback.
    pub fallback: bool,
    /// Where the tools are; `None` is `bin` of the work directory.
    pub bindir: Option<String>,
    /// Classes of `-D`.
    pub define: Vec<String>,
    /// Classes of `-N`.
    pub negate: Vec<String>,
    /// Bundles of `-b`.
    pub bundles: Option<Vec<String>>,
    /// How much to say.
    pub level: Option<Level>,
    /// Nothing is changed.
    pub dry_run: bool,
    /// Locks are not looked at.
    pub no_lock: bool,
    /// Changes go to an overlay.
    pub simulate: Option<Simulate>,
    /// `def_preferred.json` is not looked at.
    pub ignore_preferred_augments: bool,
    /// Class and variable moments are noted in the ledger.
    pub trace: bool,
    /// Promises that were passed over leave a step that says why.
    pub reasons: bool,
    /// `--show-evaluated-classes`.
    pub show_classes: Option<String>,
    /// `--show-evaluated-vars`.
    pub show_vars: Option<String>,
    /// Only checks, as `cf-promises` does.
    pub check: bool,
    /// With `check`: evaluates, as `-c` does.
    pub full_check: bool,
    /// Functions are not called.
    pub no_functions: bool,
    /// Functions that run commands are not called, and what is said afterwards is marked.
    pub no_commands: bool,
    /// Types whose deprecation warnings are shown or are errors.
    pub warnings: Option<String>,
    /// A directory to be marked as a release once it is found right.
    pub tag_release: Option<String>,
    /// Writes the policy, or the result of a check, in this format.
    pub output: Option<String>,
}

/// Names and numbers every promise frame needs, made once.
#[derive(Debug)]
pub(crate) struct Ids {
    pub(crate) uid: Str,
    pub(crate) gid: Str,
    pub(crate) pid: Str,
    pub(crate) ppid: Str,
    pub(crate) no_tags: Rc<[Str]>,
    pub(crate) promise_tags: Rc<[Str]>,
}

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) component: Component,
    pub level: Level,
    pub trace: bool,
    pub(crate) reasons: bool,
    pub dry_run: bool,
    pub(crate) no_commands: bool,
    pub no_lock: bool,
    /// Our own verbs report what is to be done with the step, not as a warning.
    pub(crate) quiet_rehearsal: bool,
    pub simulate: Option<Simulate>,
    pub launch_dir: Str,
    pub(crate) ids: Rc<Ids>,
    pub paths: Rc<Paths>,
    pub bundles: Option<Vec<Str>>,
    pub(crate) ignore_preferred_augments: bool,
}

/// Directories of an installation.
#[derive(Clone, Debug)]
pub struct Paths {
    pub workdir: String,
    pub inputs: String,
    pub masterfiles: String,
    pub state: String,
    pub bin: String,
    pub modules: String,
    pub logs: String,
    pub pids: String,
    /// Entry policy file, resolved.
    pub entry: String,
    /// Its directory.
    pub(crate) entry_dir: String,
}

/// Where a distribution's own package of CFEngine keeps its files.
struct Layout {
    /// There where the package is installed.
    marker: &'static str,
    workdir: &'static str,
    bin: &'static str,
    logs: &'static str,
    pids: &'static str,
}

/// Packages that keep them elsewhere than the original's own do.
const PACKAGED: &[Layout] = &[Layout {
    marker: "/var/lib/dpkg/info/cfengine3.list",
    workdir: "/var/lib/cfengine3",
    bin: "/usr/bin",
    logs: "/var/log/cfengine3",
    pids: "/var/run/cfengine3",
}];

/// What a run is about, from its options and the machine.
pub fn configure(host: &dyn Look, request: &Request) -> Config {
    let text = |name: &str| {
        host.var(&os(name))
            .map(|value| decode(std::os::unix::ffi::OsStrExt::as_bytes(value.as_os_str())))
    };
    let overridden = text("CFENGINE_TEST_OVERRIDE_WORKDIR").filter(|dir| !dir.is_empty());
    let home = || host.user_by_id(host.euid()).ok().flatten().map(|user| from_path(&user.home));
    let chosen = request.workdir.clone().or(overridden);
    let packaged = PACKAGED.iter().find(|layout| host.stat(&path(layout.marker)).is_ok());
    let packaged = packaged.filter(|_| chosen.is_none() && host.euid() == 0);
    let workdir = chosen.unwrap_or_else(|| match packaged {
        Some(layout) => layout.workdir.to_owned(),
        None if host.euid() == 0 => "/var/cfengine".to_owned(),
        None => format!("{}/.cfagent", home().unwrap_or_default()),
    });
    let of = |part: fn(&Layout) -> &'static str| packaged.map(|layout| part(layout).to_owned());
    let bin = request.bindir.clone().or_else(|| of(|layout| layout.bin));
    let inputs = format!("{workdir}/inputs");
    let launch = from_path(&host.cwd());
    let given = request.file.clone().unwrap_or_else(|| "promises.cf".to_owned());
    let entry = if request.here || given.starts_with(['/', '.']) {
        given
    } else {
        format!("{inputs}/{given}")
    };
    let entry_dir = match entry.rfind('/') {
        Some(0) => "/".to_owned(),
        Some(at) => entry[..at].to_owned(),
        None => ".".to_owned(),
    };
    let paths = Paths {
        masterfiles: format!("{workdir}/masterfiles"),
        state: format!("{workdir}/state"),
        bin: bin.unwrap_or_else(|| format!("{workdir}/bin")),
        modules: format!("{workdir}/modules"),
        logs: of(|layout| layout.logs).unwrap_or_else(|| workdir.clone()),
        pids: of(|layout| layout.pids).unwrap_or_else(|| workdir.clone()),
        inputs,
        workdir,
        entry,
        entry_dir,
    };
    let parent = host
        .read(&path("/proc/self/stat"))
        .ok()
        .and_then(|bytes| {
            let text = decode(&bytes);
            let after = text.rfind(')')?;
            text[after + 1..].split_whitespace().nth(1).map(str::to_owned)
        })
        .unwrap_or_else(|| "1".to_owned());
    let ids = Ids {
        uid: host.euid().to_string().into(),
        gid: host.egid().to_string().into(),
        pid: host.pid().to_string().into(),
        ppid: parent.into(),
        no_tags: Rc::from([]),
        promise_tags: Rc::from(["source=promise".into()]),
    };
    Config {
        component: if request.check { Component::Promises } else { request.component },
        level: request.level.unwrap_or(Level::Notice),
        trace: request.trace,
        reasons: request.reasons,
        no_commands: request.no_commands,
        // What a simulation does not change in its layer it must not change at all.
        dry_run: request.dry_run || request.simulate.is_some(),
        no_lock: request.no_lock || request.dry_run,
        quiet_rehearsal: request.interactive && request.dry_run,
        simulate: request.simulate,
        launch_dir: launch.into(),
        ids: Rc::new(ids),
        paths: Rc::new(paths),
        bundles: request
            .bundles
            .as_ref()
            .map(|bundles| bundles.iter().map(|name| name.as_str().into()).collect()),
        ignore_preferred_augments: request.ignore_preferred_augments,
    }
}

#[cfg(test)]
mod tests {
    use fx_host::MemoryHost;

    use super::*;

    #[test]
    fn directories_are_those_of_the_package_of_the_distribution() {
        let host = MemoryHost::linux();
        let request = Request::default();
        let usual = configure(&host, &request);
        assert_eq!(usual.paths.workdir, "/var/cfengine");
        assert_eq!(usual.paths.bin, "/var/cfengine/bin");
        host.put("/var/lib/dpkg/info/cfengine3.list", "/.\n");
        let debian = configure(&host, &request).paths;
        assert_eq!(debian.inputs, "/var/lib/cfengine3/inputs");
        assert_eq!((&*debian.bin, &*debian.logs), ("/usr/bin", "/var/log/cfengine3"));
        let chosen = Request { workdir: Some("/work".to_owned()), ..Request::default() };
        let chosen = configure(&host, &chosen).paths;
        assert_eq!((&*chosen.bin, &*chosen.logs), ("/work/bin", "/work"));
    }
}
