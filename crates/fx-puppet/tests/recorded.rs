//! Small programs with what Puppet 7.23 said to each: notices, warnings, errors. Each line of the
//! table is a program and its lines, as JSON. Nothing is applied.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use fx_engine::{Cancel, Event, Level, Sink};
use fx_host::MemoryHost;
use fx_puppet::{CatalogRequest, Machine, Value, catalog};

#[derive(Default)]
struct Told(RefCell<Vec<String>>);

impl Sink for Told {
    fn event(&self, event: &Event<'_>) {
        if let Event::Message { level, text, .. } = event {
            let word = match level {
                Level::Error => "Error",
                Level::Warning => "Warning",
                Level::Notice => "Notice",
                _ => return,
            };
            self.0.borrow_mut().push(format!("{word}: {text}"));
        }
    }
}

fn said(code: &str) -> Vec<String> {
    let host = Rc::new(MemoryHost::new());
    host.put("/case.pp", code);
    let machine = Machine::new(host, Cancel::default());
    let sink = Rc::new(Told::default());
    machine.run().ledger.watch(Rc::<Told>::clone(&sink));
    let request = CatalogRequest {
        manifest: PathBuf::from("/case.pp"),
        environment: "production".into(),
        ..CatalogRequest::default()
    };
    let family = Value::hash([("family".into(), "Debian".into())]);
    let made = catalog(&machine, &request, "node1.example.com", vec![("os".to_owned(), family)]);
    let mut lines = sink.0.borrow().clone();
    match made {
        Ok(_) => lines.push("ok".to_owned()),
        Err(why) => lines.push(format!("Error: {why}")),
    }
    lines.dedup();
    lines
}

#[test]
fn programs_say_what_they_say_in_the_original() {
    let table = include_str!("recorded.jsonl");
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in table.lines() {
        let (code, expected): (String, Vec<String>) =
            serde_json::from_str(line).expect("a line is a program and its lines");
        count += 1;
        let said = said(&code);
        if said != expected {
            wrong.push(format!("{code}\n  expected {expected:?}\n  said     {said:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}
