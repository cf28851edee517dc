//! Package modules whose interpreter is not on the machine: those of the masterfiles in Python are
//! replaced by our own code, and the others fail with what is to be installed.

use std::cell::RefCell;
use std::rc::Rc;

use fx_cfengine::Request;
use fx_engine::{Cancel, Event, Ledger, Run, Sink};
use fx_host::{MemoryHost, Reply};
use fx_source::SourceMap;

/// What the module of the masterfiles is known by.
const APT_GET: &str = "#!/usr/bin/python\n\
    apt_get_cmd = os.environ.get('CFENGINE_TEST_APT_GET_CMD', \"/usr/bin/apt-get\")\n\
    def list_updates(online):\n";

const STATUS: &str = "Package: old\nStatus: install ok installed\nArchitecture: amd64\n\
    Version: 1.0\n\nPackage: held\nStatus: hold ok installed\nArchitecture: all\nVersion: 2\n";

#[derive(Default)]
struct Messages(RefCell<Vec<String>>);

impl Sink for Messages {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Message { text, .. } => self.0.borrow_mut().push((*text).to_owned()),
            Event::Note { code: "cf.stderr", fields, .. } => {
                self.0.borrow_mut().push(format!("standard error: {:?}", fields[0].1));
            }
            _ => {}
        }
    }
}

struct Ran {
    commands: Vec<String>,
    said: Vec<String>,
    repaired: u32,
    failed: u32,
}

fn run(script: &str, promise: &str) -> Ran {
    run_module("apt_get", "", Some(script), promise)
}

/// Keeps a promise with a module, whose body has more attributes, and whose script may be missing.
fn run_module(module: &str, attributes: &str, script: Option<&str>, promise: &str) -> Ran {
    let host = MemoryHost::linux();
    let policy = format!(
        "body package_module {module} {{ query_installed_ifelapsed => \"0\"; {attributes} }}\n\
         bundle agent main {{ packages: {promise}, package_module => {module}; }}\n"
    );
    host.put_mode("/policy.cf", policy, 0o600);
    if let Some(script) = script {
        host.put_mode(format!("/var/cfengine/modules/packages/{module}"), script, 0o700);
    }
    host.put_mode("/bin/sh", "", 0o755);
    host.put_mode("/bin/bash", "", 0o755);
    host.put("/var/lib/dpkg/status", STATUS);
    host.on_any(|host, spec| {
        let line = spec.display();
        if line == "apt-get -v" {
            return Some(Reply::exit(0).stdout("apt 2.6.1 (amd64)\n"));
        }
        if line == "dpkg --print-architecture" {
            return Some(Reply::exit(0).stdout("amd64\n"));
        }
        if line.starts_with("apt-get") && line.contains(" install ") {
            host.put(
                "/var/lib/dpkg/status",
                format!(
                    "{STATUS}\nPackage: new\nStatus: install ok installed\n\
                     Architecture: amd64\nVersion: 3\n"
                ),
            );
        }
        if line.starts_with("apt-get") && line.contains(" remove ") {
            host.put("/var/lib/dpkg/status", "");
        }
        if line.ends_with(" supports-api-version") {
            return Some(Reply::exit(0).stdout("1\n"));
        }
        if line.ends_with(" get-package-data") {
            return Some(Reply::exit(0).stdout("PackageType=repo\nName=old\n"));
        }
        if line.ends_with(" list-installed") {
            let listed = "Name=old\nVersion=1.0\nArchitecture=amd64\n";
            return Some(Reply::exit(0).stdout(listed).stderr("a word of the module\n"));
        }
        if line.starts_with("rpm -qa ") {
            return Some(Reply::exit(0).stdout("old\t(none):1.0-1\tx86_64\n"));
        }
        line.starts_with("apt-get").then(|| Reply::exit(0))
    });
    let request =
        Request { file: Some("/policy.cf".to_owned()), no_lock: true, ..Request::default() };
    let (ledger, sources, cancel) = (Ledger::new(), SourceMap::new(), Cancel::default());
    let messages = Rc::new(Messages::default());
    ledger.watch(Rc::<Messages>::clone(&messages));
    fx_cfengine_agent::run(Run::new(&host, &ledger, &cancel), &sources, &request);
    let counts = ledger.counts();
    Ran {
        commands: host.calls().iter().map(fx_host::Spec::display).collect(),
        said: messages.0.take(),
        repaired: counts.repaired,
        failed: counts.failed,
    }
}

#[test]
fn the_module_of_the_masterfiles_needs_no_python() {
    let ran = run(APT_GET, "\"new\" policy => \"present\", version => \"3\"");
    assert_eq!((ran.repaired, ran.failed), (1, 0), "{:?}", ran.said);
    let install = "apt-get -o Dpkg::Options::=--force-confold -o Dpkg::Options::=--force-confdef -y \
                   --allow-downgrades --allow-remove-essential --allow-change-held-packages \
                   install new=3";
    assert!(ran.commands.iter().any(|line| line == install), "{:?}", ran.commands);
    let ran = run(APT_GET, "\"old\" policy => \"present\"");
    assert_eq!((ran.repaired, ran.failed), (0, 0), "{:?}", ran.said);
    assert!(!ran.commands.iter().any(|line| line.contains("install")), "{:?}", ran.commands);
    let ran = run(APT_GET, "\"old\" policy => \"absent\"");
    assert_eq!((ran.repaired, ran.failed), (1, 0), "{:?}", ran.said);
}

#[test]
fn a_script_of_somebody_else_fails_with_what_to_install() {
    let ran = run("#!/usr/bin/python3\nprint(1)\n", "\"new\" policy => \"present\"");
    assert_eq!(ran.failed, 1, "{:?}", ran.said);
    let text = "Package module 'apt_get' is a script for '/usr/bin/python3', which is not on this \
                machine: install Python 3 (package 'python3'), or give the module another interpreter";
    assert!(ran.said.iter().any(|line| line == text), "{:?}", ran.said);
    assert!(!ran.commands.iter().any(|line| line.contains("apt-get")), "{:?}", ran.commands);
}

/// The modules that masterfiles brings, by name: the interpreter that its body names, the first
/// line of its script, and a command that lists what is installed; none where that is a file.
const OF_THE_MASTERFILES: [(&str, bool, &str, &str); 8] = [
    ("apt_get", true, "#!/usr/bin/python3", ""),
    ("yum", true, "#!/usr/bin/python3", "rpm -qa "),
    ("zypper", true, "#!/usr/bin/python3", "rpm -qa "),
    ("pkg", false, "#!/bin/sh", "/var/cfengine/modules/packages/pkg list-installed"),
    ("slackpkg", false, "#!/bin/sh", "/var/cfengine/modules/packages/slackpkg list-installed"),
    ("apk", false, "#!/bin/sh -e", "/var/cfengine/modules/packages/apk list-installed"),
    ("snap", false, "#!/bin/bash -e", "/var/cfengine/modules/packages/snap list-installed"),
    ("msiexec", false, "@echo off", "/var/cfengine/modules/packages/msiexec list-installed"),
];

#[test]
fn every_module_of_the_masterfiles_works_on_a_machine_without_python() {
    let promise = "\"old\" policy => \"present\"";
    for (module, python, first, lists) in OF_THE_MASTERFILES {
        let body =
            if python { "interpreter => \"/usr/bin/cfengine-selected-python\";" } else { "" };
        // A script in Python need not even be there: masterfiles puts it there in its own time.
        let ran = run_module(module, body, (!python).then_some(first), promise);
        assert_eq!((ran.repaired, ran.failed), (0, 0), "{module}: {:?}", ran.said);
        let listed = lists.is_empty() || ran.commands.iter().any(|line| line.starts_with(lists));
        assert!(listed, "{module}: {:?}", ran.commands);
    }
}

#[test]
fn a_module_that_is_missing_is_named_with_its_place_and_what_to_install() {
    let promise = "\"old\" policy => \"present\"";
    for (module, attributes, script, text) in [
        (
            "apk",
            "",
            None,
            "Cannot find package module at location '/var/cfengine/modules/packages/apk' or access to \
             file is restricted: No such file or directory",
        ),
        (
            "pip",
            "",
            Some("#!/usr/bin/env python3\n"),
            "Package module 'pip' is a script for 'python3', which is not on this machine: install \
             Python 3 (package 'python3'), or give the module another interpreter",
        ),
        (
            "pip",
            "interpreter => \"/usr/bin/cfengine-selected-python\";",
            None,
            "Package module 'pip' is a script for '/usr/bin/cfengine-selected-python', which is not \
             on this machine: install Python 3 (package 'python3'), or give the module another \
             interpreter",
        ),
    ] {
        let ran = run_module(module, attributes, script, promise);
        assert_eq!(ran.failed, 1, "{module}: {:?}", ran.said);
        assert!(ran.said.iter().any(|line| line == text), "{module}: {:?}", ran.said);
    }
}

#[test]
fn what_a_module_prints_on_standard_error_is_shown() {
    let ran = run_module("apk", "", Some("#!/bin/sh\n"), "\"old\" policy => \"present\"");
    let shown = ran.said.iter().find(|line| line.starts_with("standard error: "));
    assert!(shown.is_some_and(|line| line.contains("a word of the module")), "{:?}", ran.said);
}
