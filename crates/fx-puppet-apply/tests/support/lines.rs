//! Applies manifests on a machine in memory and gives the lines that were logged.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use fx_engine::{Cancel, Event, Level, Sink};
use fx_host::MemoryHost;
use fx_puppet::Machine;
use fx_puppet_apply::Request;

#[derive(Default)]
struct Lines(RefCell<Vec<String>>);

impl Sink for Lines {
    fn event(&self, event: &Event<'_>) {
        let line = match event {
            Event::Message { level, text, .. } if *level <= Level::Info => text.to_string(),
            Event::Note { code: "puppet.line", fields, .. } => {
                let text = fields.iter().find(|(name, _)| name == "text");
                let bytes = text.and_then(|(_, value)| value.as_bytes()).unwrap_or_default();
                String::from_utf8_lossy(bytes).into_owned()
            }
            _ => return,
        };
        let is_frame = ["Compiled catalog", "Applied catalog", "Using env", "Applying config"];
        if !is_frame.iter().any(|start| line.starts_with(start)) {
            self.0.borrow_mut().push(line);
        }
    }
}

pub(crate) fn machine(files: &[(&str, &str)]) -> Rc<MemoryHost> {
    let host = Rc::new(MemoryHost::linux());
    for (path, text) in files {
        host.put(path, text);
    }
    host
}

pub(crate) fn apply(host: &Rc<MemoryHost>, code: &str) -> Vec<String> {
    run(
        host,
        Request { manifests: vec![("/site.pp".to_owned(), code.into())], ..Request::default() },
    )
}

pub(crate) fn run(host: &Rc<MemoryHost>, request: Request) -> Vec<String> {
    let machine = Machine::new(Rc::<MemoryHost>::clone(host), Cancel::default());
    let lines = Rc::new(Lines::default());
    machine.run().ledger.watch(Rc::<Lines>::clone(&lines));
    let request = Request {
        modulepath: vec![PathBuf::from("/modules")],
        certname: Some("web.example.com".to_owned()),
        ..request
    };
    let _summary = fx_puppet_apply::run(&machine, &request);
    lines.0.take()
}
