//! The laws of a run, through Puppet's own driver, for every type that acts: a rehearsal leaves
//! the machine as it is; after a run there is nothing to do; every change is whole; secrets show
//! nowhere.

#[path = "laws/fakes.rs"]
mod fakes;
#[path = "laws/table.rs"]
mod table;

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::rc::Rc;

use fx_engine::{Cancel, Change, Event, Sink};
use fx_host::{Host, MemoryHost, RecordingHost};
use fx_puppet::Machine;
use fx_puppet_apply::Request;
use table::{Case, SECRET, cases};

/// What was heard of a run.
#[derive(Default)]
struct Heard {
    made: RefCell<Vec<Change>>,
    withheld: RefCell<Vec<Change>>,
    failed: RefCell<Vec<String>>,
    evaluated: RefCell<Vec<String>>,
    /// The same with their authors.
    authors: RefCell<Vec<String>>,
    /// Everything, in the form that a sink may print.
    all: RefCell<String>,
}

impl Sink for Heard {
    fn event(&self, event: &Event<'_>) {
        let _ = writeln!(self.all.borrow_mut(), "{event:?}");
        match event {
            Event::ChangeMade { change, .. } => self.made.borrow_mut().push((*change).clone()),
            Event::ChangeWithheld { change, .. } => {
                self.withheld.borrow_mut().push((*change).clone());
            }
            Event::ChangeFailed { change, failure, .. } => {
                self.failed.borrow_mut().push(format!("{}: {failure}", change.target));
            }
            Event::Evaluated { author, record, .. } => {
                self.evaluated.borrow_mut().push(record.to_string());
                self.authors.borrow_mut().push(format!("{author}: {record}"));
            }
            _ => {}
        }
    }
}

/// One run: what was heard of it, what was done to the machine, and the exit code.
struct Done {
    heard: Rc<Heard>,
    effects: Vec<String>,
    code: u8,
    report: String,
}

fn run(host: &Rc<MemoryHost>, case: &Case, noop: bool) -> Done {
    let effects = Rc::new(RefCell::new(Vec::new()));
    let listener = {
        let effects = Rc::clone(&effects);
        move |record: fx_host::Record| effects.borrow_mut().push(record.to_string())
    };
    let inner: Rc<dyn Host> = Rc::<MemoryHost>::clone(host);
    let machine = Machine::new(Rc::new(RecordingHost::shared(inner, listener)), Cancel::default());
    let heard = Rc::new(Heard::default());
    machine.run().ledger.watch(Rc::<Heard>::clone(&heard));
    let request = Request {
        manifests: vec![("/site.pp".to_owned(), case.code.into())],
        modulepath: vec![PathBuf::from("/modules")],
        certname: Some("web.example.com".to_owned()),
        detailed_exitcodes: true,
        show_diff: true,
        noop,
        // A report is a file of our own; a rehearsal of this test writes none.
        report: (!noop).then(|| "/var/report.yaml".into()),
        ..Request::default()
    };
    let code = fx_puppet_apply::run(&machine, &request).code;
    let report = if noop { String::new() } else { host.text("/var/report.yaml") };
    let effects = effects.take();
    Done { heard, effects, code, report }
}

fn machine(case: &Case) -> Rc<MemoryHost> {
    let host = fakes::machine();
    (case.setup)(&host);
    Rc::new(host)
}

#[test]
fn a_rehearsal_leaves_the_machine_identical() {
    for case in cases() {
        let host = machine(&case);
        let before = host.snapshot_with_times();
        host.advance(std::time::Duration::from_mins(1));
        let done = run(&host, &case, true);
        assert_eq!(host.snapshot_with_times(), before, "{}", case.name);
        // What policy's guards run is the only thing that runs, and it is recorded.
        assert_eq!(done.effects, case.guards, "{}", case.name);
        assert_eq!(*done.heard.evaluated.borrow(), case.guards, "{}", case.name);
        assert!(done.heard.made.borrow().is_empty(), "{}", case.name);
        assert!(!done.heard.withheld.borrow().is_empty(), "{}: needs a change", case.name);
        assert_eq!(done.code, 0, "{}", case.name);
    }
}

#[test]
fn after_a_run_there_is_nothing_to_do() {
    for case in cases() {
        let host = machine(&case);
        let done = run(&host, &case, false);
        assert_eq!(*done.heard.failed.borrow(), Vec::<String>::new(), "{}", case.name);
        assert_eq!(done.code, 2, "{}: {}", case.name, done.heard.all.borrow());
        assert!(!done.heard.made.borrow().is_empty(), "{}", case.name);
        let after = host.snapshot();
        let again = run(&host, &case, true);
        assert_eq!(host.snapshot(), after, "{}", case.name);
        let left: Vec<String> =
            again.heard.withheld.borrow().iter().map(|change| change.target.to_string()).collect();
        assert_eq!(left, case.always, "{}", case.name);
    }
}

#[test]
fn a_rehearsal_names_the_changes_that_a_run_makes() {
    for case in cases().into_iter().filter(|case| !case.unfolds) {
        let withheld = run(&machine(&case), &case, true).heard.withheld.take();
        let made = run(&machine(&case), &case, false).heard.made.take();
        let shown = |changes: &[Change]| -> Vec<String> {
            changes.iter().map(|one| format!("{} {}", one.target, one.property)).collect()
        };
        assert_eq!(shown(&withheld), shown(&made), "{}", case.name);
    }
}

#[test]
fn every_change_is_whole() {
    for case in cases() {
        for noop in [true, false] {
            let heard = run(&machine(&case), &case, noop).heard;
            let all = if noop { heard.withheld.take() } else { heard.made.take() };
            for change in all {
                let at = format!("{}: {change:?}", case.name);
                assert!(!change.target.kind.word().is_empty(), "{at}");
                assert!(!change.target.name().is_empty(), "{at}");
                assert!(!change.property.is_empty(), "{at}");
                assert!(change.from != change.to || change.is_sensitive(), "{at}");
            }
        }
    }
}

#[test]
fn a_secret_shows_nowhere() {
    let mut reached = 0;
    for case in cases().into_iter().filter(|case| case.code.contains(SECRET)) {
        for noop in [true, false] {
            let host = machine(&case);
            let done = run(&host, &case, noop);
            let all = done.heard.all.borrow();
            assert!(!all.contains(SECRET), "{}: {all}", case.name);
            assert!(!done.report.contains(SECRET), "{}: {}", case.name, done.report);
            let snapshot = host.snapshot();
            reached += usize::from(!noop && snapshot.contains(SECRET));
        }
    }
    assert!(reached >= 3, "the table needs secrets that reach the machine: {reached}");
}

const FUNCTION: &str = "Puppet::Functions.create_function(:'note::down') do
  def down(path)
    File.write(path, 'x')
    path
  end
end";

#[test]
fn what_evaluation_does_is_recorded_with_its_author() {
    let code = "note::down('/srv/f') generate('/usr/bin/touch', '/srv/g') notify { 'n': }";
    let setup = |host: &MemoryHost| {
        host.put("/modules/note/lib/puppet/functions/note/down.rb", FUNCTION);
    };
    let case = Case { name: "evaluation", setup, code, guards: &[], always: &[], unfolds: false };
    let done = run(&machine(&case), &case, true);
    let authors = done.heard.authors.borrow();
    assert!(authors.iter().all(|line| !line.starts_with("code of a module")), "{authors:?}");
    let by = |author: &str| authors.iter().any(|line| line.starts_with(author));
    assert!(by("note::down: "), "{authors:?}");
    assert!(by("generate(): run /usr/bin/touch /srv/g"), "{authors:?}");
}
