//! The catalog is data: written as JSON and read back, it is applied with the same steps, changes
//! and log as right after compiling.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use fx_engine::{Cancel, Event, Ledger, Run, Sink};
use fx_host::{Host, MemoryHost};
use fx_puppet::{CatalogRequest, Machine};
use fx_puppet_apply::Request;
use fx_source::{Origin, SourceMap};

const NODE: &str = "web.example.com";

const MANIFEST: &str = r#"
stage { 'early': before => Stage['main'] }
class base($greeting = 'hello') {
  file { ['/srv', '/srv/app']: ensure => directory, mode => '0750' }
  contain base::inner
}
class base::inner { notify { 'in inner': loglevel => warning } }
class { 'base': }
class first { notify { 'in first': } }
class { 'first': stage => 'early' }
define site($port, Hash $options = {}) {
  file { "/srv/app/${title}.conf":
    content => "port ${port} ${options['a']}\n",
    require => Class['base'],
    notify  => Exec["reload ${title}"],
  }
  exec { "reload ${title}": command => '/bin/true', refreshonly => true }
}
site { 'one': port => 80, options => { 'a' => [1, undef, 2.5] } }
site { 'zwei ß': port => 8080 }
file { '/srv/app/secret': content => Sensitive("geheim\n"), mode => '0600' }
file { '/srv/app/upper': content => Deferred('upcase', ["loud\n"]) }
file { '/srv/app/bytes': content => Binary('AAEC/w==') }
file { '/srv/app/audited': ensure => file, audit => 'mode', tag => ['kept', 'mine'] }
file { '/srv/app/held': content => 'x', noop => true }
file { '/missing/parent/file': content => 'x' }
-> notify { 'after the failure': }
@notify { 'virtual': message => 'made real', withpath => true }
realize(Notify['virtual'])
@notify { 'left out': }
resources { 'host': purge => true }
"#;

/// Changes and log as lines, in their order.
#[derive(Default)]
struct Lines(RefCell<Vec<String>>);

impl Sink for Lines {
    fn event(&self, event: &Event<'_>) {
        let line = match event {
            Event::ChangeMade { step, change } => format!("{} made {change:?}", step.number()),
            Event::ChangeWithheld { step, change } => format!("{} held {change:?}", step.number()),
            Event::ChangeFailed { step, change, failure } => {
                format!("{} failed {change:?}: {failure}", step.number())
            }
            Event::Message { level, text, .. } => format!("{level:?} {text}"),
            Event::Note { code, fields, .. } => format!("{code} {fields:?}"),
            _ => return,
        };
        // Only the run with manifests compiles and says so.
        if !line.contains("Compiled catalog") {
            self.0.borrow_mut().push(line);
        }
    }
}

fn place(origin: &Origin, sources: &SourceMap) -> String {
    let at = origin.span.map(|span| sources.location(span));
    at.map_or_else(String::new, |at| format!("{}:{}", at.file, at.line))
}

/// What applying did.
struct Applied {
    /// A line for each step.
    steps: Vec<String>,
    /// Changes and log.
    lines: Vec<String>,
    /// Content of the files below `/srv/app`.
    files: Vec<Option<Vec<u8>>>,
    code: u8,
}

fn applied(request: Request) -> Applied {
    let memory = Rc::new(MemoryHost::linux());
    memory.put("/etc/hosts", "127.0.0.1 localhost\n10.0.0.9 unmanaged\n");
    let host: Rc<dyn Host> = Rc::<MemoryHost>::clone(&memory);
    let lasting: &'static Rc<dyn Host> = Box::leak(Box::new(Rc::clone(&host)));
    let ledger: &'static Ledger = Box::leak(Box::new(Ledger::new()));
    let sources: &'static SourceMap = Box::leak(Box::new(SourceMap::new()));
    let run = Run::new(&**lasting, ledger, Box::leak(Box::new(Cancel::default())));
    let machine = Machine::on(host, run, sources);
    let lines = Rc::new(Lines::default());
    ledger.watch(Rc::<Lines>::clone(&lines));
    let certname = Some(NODE.to_owned());
    let summary = fx_puppet_apply::run(&machine, &Request { certname, ..request });
    let steps = ledger.steps().to_vec();
    let step = |step: &fx_engine::Step| {
        format!(
            "{} {} {} {} {:?} {:?} {} <- {}",
            step.id.number(),
            step.phase,
            step.resource,
            step.action,
            step.changed,
            step.outcome,
            place(&step.origin, sources),
            step.why
        )
    };
    let files = ["one.conf", "zwei ß.conf", "secret", "upper", "bytes", "audited", "held"];
    let read = |name: &str| {
        let path = Path::new("/srv/app").join(name);
        run.look().read(&path).ok()
    };
    Applied {
        steps: steps.iter().map(step).collect(),
        lines: lines.0.take(),
        files: files.into_iter().map(read).collect(),
        code: summary.code,
    }
}

fn written() -> String {
    let host = Rc::new(MemoryHost::linux());
    host.put("/site.pp", MANIFEST);
    let machine = Machine::new(host, Cancel::default());
    let manifest = PathBuf::from("/site.pp");
    let environment = "production".to_owned();
    let request = CatalogRequest { manifest, environment, ..CatalogRequest::default() };
    fx_puppet::catalog(&machine, &request, NODE, Vec::new()).expect("a catalog")
}

#[test]
fn a_catalog_that_was_written_and_read_is_applied_the_same() {
    let manifests = vec![("/site.pp".to_owned(), MANIFEST.as_bytes().to_vec())];
    let Applied { steps, lines, files, code } =
        applied(Request { manifests, ..Request::default() });
    let catalog = Some(("/catalog.json".to_owned(), written().into_bytes()));
    let read = applied(Request { catalog, ..Request::default() });
    assert_eq!(read.steps.join("\n"), steps.join("\n"));
    assert_eq!(read.lines.join("\n"), lines.join("\n"));
    assert_eq!(read.files, files);
    assert_eq!(read.code, code);
    // What is compared is there: steps, made and failed changes, a secret that stays one.
    assert!(steps.len() > 15, "{steps:#?}");
    assert!(lines.iter().any(|line| line.contains("made")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("held")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("failed")), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("geheim")), "{lines:#?}");
    assert_eq!(files[3].as_deref(), Some(&b"LOUD\n"[..]));
    assert_eq!(files[4].as_deref(), Some(&[0, 1, 2, 255][..]));
}
