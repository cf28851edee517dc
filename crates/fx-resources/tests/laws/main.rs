//! The laws every resource obeys, from one table on the fake machine.
//!
//! Observing changes nothing; applying and observing again finds nothing; a rehearsal
//! leaves the machine identical; secrets never show; and whichever single change the
//! machine refuses, the outcome is a failure that names it and no file is half written.

mod table;

use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

use fx_engine::{Cancel, Change, Event, Ledger, Mode, Outcome, Request, Run, Sink, Stepped, step};
use fx_host::{FaultOn, Host, MemoryHost, Program};
use table::{Case, SECRET, cases};

// Every event that a sink can get, in the forms sinks print.
#[derive(Default)]
struct Heard(RefCell<String>);

impl Sink for Heard {
    fn event(&self, event: &Event<'_>) {
        let _ = writeln!(self.0.borrow_mut(), "{event:?}");
    }
}

fn take_step(host: &dyn Host, case: &Case, mode: Mode) -> (Stepped, String) {
    let ledger = Ledger::new();
    let heard = Rc::new(Heard::default());
    ledger.watch(Rc::clone(&heard) as Rc<dyn Sink>);
    let cancel = Cancel::new();
    let run = Run::new(host, &ledger, &cancel);
    let mut resource = (case.resource)();
    let mut request = Request::new(resource.id(), "make");
    request.mode = mode;
    let stepped = step(run, request, resource.as_mut());
    (stepped, heard.0.take())
}

fn forms(changes: &[Change]) -> String {
    let form = |change: &Change| {
        format!(
            "{change:?} {} {} {} {}",
            change.from,
            change.to,
            change.from.to_json(),
            change.to.to_json()
        )
    };
    changes.iter().map(form).collect()
}

fn machine(case: &Case) -> MemoryHost {
    let host = table::machine();
    (case.setup)(&host);
    host
}

#[test]
fn observing_and_rehearsing_leave_the_machine_identical() {
    for case in cases() {
        let host = machine(&case);
        let before = host.snapshot_with_times();
        host.advance(std::time::Duration::from_mins(1));
        let mut resource = (case.resource)();
        resource.ask_guards(&host).unwrap();
        let first = resource.observe(&host).unwrap();
        assert_eq!(host.snapshot_with_times(), before, "{}: observe", case.name);
        let (stepped, _) = take_step(&host, &case, Mode::Rehearse);
        assert_eq!(host.snapshot_with_times(), before, "{}: rehearse", case.name);
        assert_eq!(stepped.outcome, Outcome::WouldRepair, "{}", case.name);
        assert_eq!(stepped.changes, first, "{}: a rehearsal tells what is found", case.name);
        assert!(!first.is_empty(), "{}: the table needs a case that changes", case.name);
    }
}

#[test]
fn applying_and_observing_again_finds_nothing() {
    for case in cases() {
        let host = machine(&case);
        let (stepped, _) = take_step(&host, &case, Mode::Apply);
        assert_eq!(stepped.outcome, Outcome::Repaired, "{}", case.name);
        let after = host.snapshot_with_times();
        host.advance(std::time::Duration::from_mins(1));
        let (again, _) = take_step(&host, &case, Mode::Apply);
        assert_eq!(again.outcome, Outcome::Kept, "{}: {:?}", case.name, again.changes);
        assert_eq!(host.snapshot_with_times(), after, "{}", case.name);
    }
}

#[test]
fn secrets_never_show() {
    let mut with_secret = 0;
    for case in cases() {
        for mode in [Mode::Rehearse, Mode::Apply] {
            let host = machine(&case);
            let (stepped, heard) = take_step(&host, &case, mode);
            let shown = forms(&stepped.changes) + &heard + &format!("{:?}", stepped.outcome);
            assert!(!shown.contains(SECRET), "{}: {shown}", case.name);
            for call in host.calls() {
                assert!(!call.display().contains(SECRET), "{}: {}", case.name, call.display());
            }
            if mode == Mode::Apply && host.snapshot().contains(SECRET) {
                with_secret += 1;
            }
        }
    }
    assert!(with_secret >= 2, "the table needs cases with a secret that reaches the machine");
}

#[test]
fn tools_are_never_run_through_a_shell_and_speak_the_c_locale() {
    for case in cases() {
        let host = machine(&case);
        let mut resource = (case.resource)();
        if resource.id().kind == "exec" {
            continue;
        }
        resource.ask_guards(&host).unwrap();
        let changes = resource.observe(&host).unwrap();
        resource.apply(&host, &changes).unwrap();
        for call in host.calls() {
            let name = format!("{}: {}", case.name, call.display());
            assert!(matches!(call.program, Program::Argv(_)), "{name}");
            // A checker of content is policy's own command.
            let is_tool = !call.display().starts_with("check ");
            let in_c = call.env.contains(&("LC_ALL".into(), Some("C".into())));
            assert!(in_c || !is_tool, "{name}");
        }
    }
}

#[test]
fn every_refused_change_is_a_failure_and_tears_nothing() {
    for case in cases() {
        let whole = {
            let host = machine(&case);
            take_step(&host, &case, Mode::Apply);
            host.snapshot()
        };
        let before = machine(&case).snapshot();
        for errno in [libc::EIO, libc::ENOSPC, libc::EACCES] {
            for nth in 1.. {
                let host = machine(&case);
                host.fail_nth(FaultOn::Effects, nth, errno);
                let (stepped, _) = take_step(&host, &case, Mode::Apply);
                if host.faults_hit() == 0 {
                    break;
                }
                host.heal();
                let at = format!("{} with errno {errno} at change {nth}", case.name);
                let harmless = case.tolerates_faults && !stepped.outcome.is_failure();
                assert!(stepped.outcome.is_failure() || harmless, "{at}: {:?}", stepped.outcome);
                if let Some(failure) = stepped.outcome.failure() {
                    assert!(failure.to_string().contains('\''), "{at}: {failure}");
                    assert!(!failure.to_string().contains("internal error"), "{at}: {failure}");
                }
                no_torn_file(&host.snapshot(), &before, &whole, &at);
                let (again, _) = take_step(&host, &case, Mode::Apply);
                let healed = matches!(again.outcome, Outcome::Repaired | Outcome::Kept);
                assert!(healed, "{at}: the next attempt ended {:?}", again.outcome);
            }
        }
    }
}

// A machine that cannot be read must not be mistaken for one where nothing is.
#[test]
fn every_refused_look_is_a_failure_or_makes_no_difference() {
    for case in cases() {
        let whole = {
            let host = machine(&case);
            take_step(&host, &case, Mode::Apply);
            host.snapshot()
        };
        let before = machine(&case).snapshot();
        for nth in 1.. {
            let host = machine(&case);
            host.fail_nth(FaultOn::Anything, nth, libc::EIO);
            let (stepped, _) = take_step(&host, &case, Mode::Apply);
            if host.faults_hit() == 0 {
                break;
            }
            host.heal();
            let at = format!("{} at request {nth}", case.name);
            match stepped.outcome {
                Outcome::Repaired => assert_eq!(host.snapshot(), whole, "{at}"),
                outcome => assert!(outcome.is_failure(), "{at}: {outcome:?}"),
            }
            no_torn_file(&host.snapshot(), &before, &whole, &at);
        }
    }
}

// As after a file system went read-only in the middle: nothing can be tidied up either.
#[test]
fn a_machine_that_stops_taking_changes_keeps_whole_files() {
    for case in cases() {
        let whole = {
            let host = machine(&case);
            take_step(&host, &case, Mode::Apply);
            host.snapshot()
        };
        let before = machine(&case).snapshot();
        let known: Vec<String> = before.lines().chain(whole.lines()).map(path_of).collect();
        for nth in 1.. {
            let host = machine(&case);
            host.fail_from(FaultOn::Changes, nth, libc::EROFS);
            let (stepped, _) = take_step(&host, &case, Mode::Apply);
            if host.faults_hit() == 0 {
                break;
            }
            let at = format!("{} read-only from change {nth}", case.name);
            assert!(stepped.outcome.is_failure(), "{at}: {:?}", stepped.outcome);
            let now: String = host
                .snapshot()
                .lines()
                .filter(|line| known.contains(&path_of(line)))
                .flat_map(|line| [line, "\n"])
                .map(str::to_owned)
                .collect();
            no_torn_file(&now, &before, &whole, &at);
        }
    }
}

fn path_of(line: &str) -> String {
    line.split(' ').next().unwrap_or("").to_owned()
}

// Each file has the content it had before or has after a whole run; lines that come and
// go in between (locks, temporary names) must be gone by the end.
fn no_torn_file(now: &str, before: &str, whole: &str, at: &str) {
    let content = |line: &str| -> Option<(String, String)> {
        let mut words = line.splitn(5, ' ');
        let path = words.next()?.to_owned();
        let kind = words.next()?.to_owned();
        let rest = words.nth(2).unwrap_or("").to_owned();
        // A second name of a file shows no content of its own.
        (kind == "file" && !rest.starts_with("= ")).then_some((path, rest))
    };
    let allowed: Vec<_> = before.lines().chain(whole.lines()).filter_map(content).collect();
    for line in now.lines() {
        if let Some(found) = content(line) {
            let path_known = allowed.iter().any(|(path, _)| *path == found.0);
            assert!(path_known, "{at}: left over {line}");
            assert!(allowed.contains(&found), "{at}: torn {line}");
        }
    }
}
