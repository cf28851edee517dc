//! The law of a dry run: whatever the policy promises, the machine stays as it is, down to the
//! agent's own directories and times of files.

use fx_cfengine::Request;
use fx_engine::{Cancel, Ledger, Run};
use fx_host::{MemoryHost, Operation, RecordingHost};
use fx_source::SourceMap;

const POLICY: &str = r#"
body common control { bundlesequence => { "main" }; }
bundle agent main
{
  vars:
    "kept" string => "$(sys.workdir)";
  classes:
    "lasting" expression => "any", persistence => "60";
  files:
    "/new" create => "true", perms => m("600"), content => "$(kept)";
    "/old" perms => m("600"), touch => "true";
    "/old" edit_line => lines, edit_defaults => with_backup;
    "/program" perms => m("4755"), action => logged;
    "/copy" copy_from => from("/old");
    "/link" link_from => to("/old");
    "/gone" delete => tidy;
    "/moved" rename => away;
  commands:
    "/bin/act" classes => done;
  processes:
    "init" signals => { "term" };
  reports:
    "told" report_to_file => "/report";
}
bundle edit_line lines { insert_lines: "a line"; }
body perms m(mode) { mode => "$(mode)"; }
body action logged { log_kept => "/kept"; log_repaired => "/repaired"; log_string => "x"; }
body edit_defaults with_backup { edit_backup => "true"; }
body copy_from from(file) { source => "$(file)"; }
body link_from to(file) { source => "$(file)"; }
body delete tidy { dirlinks => "delete"; rmdirs => "true"; }
body rename away { newname => "/elsewhere"; }
body classes done { promise_repaired => { "acted" }; persist_time => "60"; }
"#;

/// Runs a policy without changing anything, which is checked; what would have been repaired.
fn rehearse(policy: &str) -> u32 {
    let host = MemoryHost::linux();
    host.put_mode("/policy.cf", policy, 0o600);
    for path in ["/old", "/gone", "/moved"] {
        host.put(path, "content\n");
    }
    host.put_mode("/program", "runs as root", 0o4755);
    host.put_program("/bin/act");
    host.put_dir("/var/cfengine", 0o755);
    host.put_dir("/var/cfengine/state", 0o755);
    let before = host.snapshot_with_times();
    let effects = std::cell::RefCell::new(Vec::new());
    let recording = RecordingHost::new(&host, |record| effects.borrow_mut().push(record));
    let request =
        Request { file: Some("/policy.cf".to_owned()), dry_run: true, ..Request::default() };
    let (ledger, sources, cancel) = (Ledger::new(), SourceMap::new(), Cancel::default());
    let run = Run::new(&recording, &ledger, &cancel);
    fx_cfengine_agent::run(run, &sources, &request);
    assert_eq!(host.snapshot_with_times(), before);
    let effects = effects.borrow();
    let ran = effects.iter().filter(|made| made.operation == Operation::Run);
    assert!(
        ran.clone().all(|made| made.subject.to_string_lossy().starts_with("ps ")),
        "{effects:?}"
    );
    assert_eq!(effects.len(), ran.count(), "{effects:?}");
    ledger.counts().would_repair
}

#[test]
fn a_dry_run_leaves_everything_as_it_is() {
    assert!(rehearse(POLICY) >= 7);
}

#[test]
fn policy_that_cannot_be_read_leaves_no_other_behind() {
    assert_eq!(rehearse("bundle agent main {"), 0);
}
