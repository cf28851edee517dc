//! What the agent remembers of files belongs to the promise: a promise whose memory cannot be
//! written is not kept.

use std::cell::RefCell;
use std::rc::Rc;

use fx_cfengine::Request;
use fx_engine::{Cancel, Event, Ledger, Run, Sink};
use fx_host::MemoryHost;
use fx_source::SourceMap;

const POLICY: &str = r#"
body changes watched
{ hash => "sha256"; report_changes => "all"; update_hashes => "yes"; report_diffs => "false"; }
body depth_search all { depth => "inf"; }
bundle agent main
{
  files:
    "/watched" changes => watched, depth_search => all;
}
"#;

#[derive(Default)]
struct Messages(RefCell<String>);

impl Sink for Messages {
    fn event(&self, event: &Event<'_>) {
        if let Event::Message { text, .. } = event {
            self.0.borrow_mut().push_str(text);
            self.0.borrow_mut().push('\n');
        }
    }
}

/// How many promises failed, and what was logged, where this path of the state directory is
/// taken by a directory.
fn run_without(taken: &str) -> (u32, String) {
    let host = MemoryHost::linux();
    host.put_mode("/policy.cf", POLICY, 0o600);
    host.put("/watched/file", "content\n");
    host.put_dir("/var/cfengine/state", 0o700);
    if !taken.is_empty() {
        host.put_dir(format!("/var/cfengine/state/{taken}"), 0o700);
    }
    let request = Request { file: Some("/policy.cf".to_owned()), ..Request::default() };
    let (ledger, sources, cancel) = (Ledger::new(), SourceMap::new(), Cancel::default());
    let messages = Rc::new(Messages::default());
    ledger.watch(Rc::<Messages>::clone(&messages));
    fx_cfengine_agent::run(Run::new(&host, &ledger, &cancel), &sources, &request);
    (ledger.counts().failed, messages.0.take())
}

#[test]
fn a_memory_that_cannot_be_written_fails_the_promise() {
    let (failed, said) = run_without("");
    assert_eq!(failed, 0, "{said}");
    let (failed, said) = run_without("fx_changes.json");
    assert_eq!(failed, 1, "{said}");
    assert!(said.contains("Could not write what is known of files to"), "{said}");
    let (failed, said) = run_without("file_changes.log");
    assert_eq!(failed, 1, "{said}");
}
