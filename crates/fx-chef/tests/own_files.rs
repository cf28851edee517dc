//! Files of the client itself: its configuration, its log and its node, also where they cannot be
//! written or read.

#[path = "support/client.rs"]
mod client;

use std::rc::Rc;

use fx_engine::Ledger;
use fx_host::{FaultOn, MemoryHost, Operation};
use fx_source::SourceMap;
use serde_json::{Value as J, json};

use client::{lay_out, request, run};

/// Runs a recipe that logs a line; the exit code, and what was printed.
fn logged(options: &'static [(&str, &str)], prepare: fn(&MemoryHost)) -> (u8, String, String) {
    let ran = fx_ruby::on_big_stack(move || {
        let host = Rc::new(MemoryHost::linux());
        lay_out(&host, "Chef::Log.warn('a line')\nfile '/srv'\n", &J::Null);
        prepare(&host);
        let mut request = request();
        for (name, value) in options {
            request.options.insert((*name).into(), json!(value));
        }
        let (ledger, sources) = (Rc::new(Ledger::new()), Rc::new(SourceMap::new()));
        let (code, said) = run(Rc::<MemoryHost>::clone(&host), &ledger, &sources, request);
        (code, said, host.snapshot())
    });
    ran.expect("the run ends")
}

#[test]
fn a_log_that_cannot_be_opened_ends_the_run() {
    let options: &[(&str, &str)] = &[("log_location", "/none/client.log")];
    let (code, said, after) = logged(options, |_| {});
    let expected =
        "FATAL: Failed to open or create log file at [\"/none/client.log\"]: Errno::ENOENT";
    assert!(said.contains(expected), "{said}");
    assert!(said.contains("FATAL: Aborting due to invalid 'log_location' configuration"), "{said}");
    assert_eq!((code, after.contains("/srv file")), (1, false));
}

#[test]
fn a_log_that_can_no_longer_be_written_is_named_on_standard_error() {
    let options: &[(&str, &str)] = &[("log_location", "/var/client.log")];
    let (code, said, _) = logged(options, |host| {
        host.put("/var/client.log", "");
        // The first time it is opened.
        host.fail_from(FaultOn::Operation(Operation::Append), 2, 28);
    });
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("log writing failed. "), "{said}");
    assert!(said.contains("No space left on device"), "{said}");
}

#[test]
fn a_node_file_that_is_no_json_is_not_overwritten() {
    let options: &[(&str, &str)] = &[("node_name", "n")];
    let (code, said, after) = logged(options, |host| host.put("/repo/nodes/n.json", "{ broken"));
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("/repo/nodes/n.json: parse error"), "{said}");
    assert!(after.contains("{ broken") && !after.contains("/srv file"), "{after}");
}

/// A client without a configuration file, started below an exported policy.
#[test]
fn the_configuration_above_the_directory_is_found() {
    let told = fx_ruby::on_big_stack(|| {
        let host = Rc::new(MemoryHost::linux());
        host.put("/facts.json", json!({"platform": "debian", "os": "linux"}).to_string());
        host.put(
            "/srv/policy/.chef/config.rb",
            "policy_name 'site'\npolicy_group 'local'\nuse_policyfile true\nnode_name 'n'\n",
        );
        host.put(
            "/srv/policy/policy_groups/local.json",
            r#"{"policies": {"site": {"revision_id": "1"}}}"#,
        );
        host.put(
            "/srv/policy/policies/site-1.json",
            r#"{"name": "site", "revision_id": "1", "run_list": ["recipe[t::default]"], "cookbook_locks": {"t": {"version": "1.0.0", "identifier": "abc"}}}"#,
        );
        host.put(
            "/srv/policy/cookbook_artifacts/t-abc/metadata.json",
            r#"{"name": "t", "version": "1.0.0"}"#,
        );
        host.put("/srv/policy/cookbook_artifacts/t-abc/recipes/default.rb", "file '/found'\n");
        host.put_dir("/srv/policy/deep/er", 0o755);
        let mut request =
            fx_chef::Request { cwd: "/srv/policy/deep/er".into(), ..fx_chef::Request::default() };
        request.facts = Some("/facts.json".into());
        for option in ["local", "find_config"] {
            request.options.insert(option.into(), json!(true));
        }
        let (ledger, sources) = (Rc::new(Ledger::new()), Rc::new(SourceMap::new()));
        let (code, _) = run(Rc::<MemoryHost>::clone(&host), &ledger, &sources, request);
        (
            code,
            host.snapshot().contains("/found file"),
            host.snapshot().contains("/srv/policy/nodes/n.json"),
        )
    });
    assert_eq!(told, Some((0, true, true)));
}
