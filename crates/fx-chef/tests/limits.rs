//! Ruby code of a cookbook that goes on past a bound ends the run, whatever it rescues: what was
//! under way failed, and nothing comes after it.

#[path = "support/client.rs"]
mod client;

use std::cell::RefCell;
use std::rc::Rc;

use fx_engine::{Event, Ledger, Outcome, Sink};
use fx_host::{Files, MemoryHost};
use fx_ruby::Limits;
use fx_source::SourceMap;
use serde_json::Value as J;

use client::{lay_out, request, run};

#[derive(Default)]
struct Failures(RefCell<Vec<String>>);

impl Sink for Failures {
    fn event(&self, event: &Event<'_>) {
        if let Event::StepClosed { step } = event
            && matches!(step.outcome, Outcome::Failed(_))
        {
            self.0.borrow_mut().push(format!("{:?}", step.resource));
        }
    }
}

const GROWS: &str = "begin; kept = []; loop { kept << 'x' * 1000 }; rescue Exception; retry; end";

fn ended(recipe: String) -> (u8, String, Vec<String>, bool) {
    let ran = fx_ruby::on_big_stack(move || {
        let host = Rc::new(MemoryHost::linux());
        lay_out(&host, &recipe, &J::Null);
        let (ledger, sources) = (Rc::new(Ledger::new()), Rc::new(SourceMap::new()));
        let failures = Rc::new(Failures::default());
        ledger.watch(Rc::<Failures>::clone(&failures));
        let mut request = request();
        request.limits = Limits { heap: 64 << 20, ..Limits::default() };
        let (code, said) = run(Rc::<MemoryHost>::clone(&host), &ledger, &sources, request);
        assert_eq!(ledger.current(), None);
        let after = host.read(std::path::Path::new("/after")).is_ok();
        (code, said, failures.0.take(), after)
    });
    ran.expect("the run ends")
}

#[test]
fn a_run_ends_with_the_bound_that_its_ruby_went_on_past() {
    let wraps = [
        ("ruby_block 'grows' do\n  block { WORK }\n  ignore_failure true\nend\n", 1),
        ("ruby_block 'grows' do\n  block { }\n  only_if { WORK }\nend\n", 1),
        ("WORK\n", 0),
        ("at_exit { WORK }\nbegin; WORK; ensure; WORK; end\n", 0),
    ];
    for (wrap, failures) in wraps {
        let recipe = wrap.replace("WORK", GROWS) + "file '/after'\n";
        let (code, said, failed, after) = ended(recipe);
        assert_eq!((code, after), (1, false), "{wrap}: {said}");
        assert!(said.contains("went on past its memory limit"), "{wrap}: {said}");
        assert_eq!(failed.len(), failures, "{wrap}: {failed:?}");
    }
}
