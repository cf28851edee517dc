//! What a run needs and does not find: the client says what the original's server says, our verbs
//! what it is.

#[path = "support/client.rs"]
mod client;

use std::cell::RefCell;
use std::rc::Rc;

use fx_engine::{Event, Ledger, Sink};
use fx_host::MemoryHost;
use fx_source::SourceMap;
use serde_json::Value as J;

use client::{lay_out, request, run};

#[derive(Default)]
struct Messages(RefCell<Vec<String>>);

impl Sink for Messages {
    fn event(&self, event: &Event<'_>) {
        if let Event::Message { text, .. } = event {
            self.0.borrow_mut().push((*text).to_owned());
        }
    }
}

/// What our verbs show for this recipe and metadata, and what the client printed.
fn told(recipe: &'static str, metadata: &'static str) -> (Vec<String>, String) {
    let ran = fx_ruby::on_big_stack(move || {
        let host = Rc::new(MemoryHost::linux());
        lay_out(&host, recipe, &J::Null);
        host.put("/repo/cookbooks/t/metadata.rb", metadata);
        host.put("/repo/cookbooks/old/metadata.rb", "name 'old'\nversion '1.0.0'\n");
        host.put("/repo/data_bags/bag/item.json", "{\"id\": \"item\"}");
        let (ledger, sources) = (Rc::new(Ledger::new()), Rc::new(SourceMap::new()));
        let messages = Rc::new(Messages::default());
        ledger.watch(Rc::<Messages>::clone(&messages));
        let (_, said) = run(host, &ledger, &sources, request());
        (messages.0.take(), said)
    });
    ran.expect("the run ends")
}

#[test]
fn what_is_missing_is_named() {
    let plain = "name 't'\n";
    let table = [
        (
            "",
            "name 't'\ndepends 'gone', '>= 2.0'\n",
            "412",
            "there is no cookbook gone, which cookbook t needs (>= 2.0)",
        ),
        (
            "",
            "name 't'\ndepends 'old', '>= 2.0'\n",
            "412",
            "old 1.0.0 is not >= 2.0, which cookbook t needs",
        ),
        ("data_bag('none')", plain, "404", "there is no data bag none in /repo/data_bags"),
        ("data_bag_item('bag', 'none')", plain, "404", "there is no item none in the data bag bag"),
        ("search('none', '*:*')", plain, "404", "there is no data bag none in /repo/data_bags"),
        ("Chef::Role.load('none')", plain, "404", "there is no role none"),
    ];
    for (recipe, metadata, status, expected) in table {
        let (messages, said) = told(recipe, metadata);
        assert_eq!(messages.last().map(String::as_str), Some(expected), "{recipe}{metadata}");
        assert!(said.contains(&format!("FATAL: Net::HTTPServerException: {status} ")), "{said}");
    }
}
