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
        if let Event::Message { text, .. } = event {
            self.0.borrow_mut().push((*text).to_owned());
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
    let host = MemoryHost::linux();
    let policy = format!(
        "body package_module apt_get {{ query_installed_ifelapsed => \"0\"; }}\n\
         bundle agent main {{ packages: {promise}, package_module => apt_get; }}\n"
    );
    host.put_mode("/policy.cf", policy, 0o600);
    host.put_mode("/var/cfengine/modules/packages/apt_get", script, 0o700);
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
