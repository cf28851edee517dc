//! Resources that change a system, on a fake machine: each directory of `machines` is a recipe,
//! what the machine has and answers, and what is expected: the steps, the commands in their
//! order and the files that are different afterwards.
//!
//! `UPDATE_EXPECT=1` rewrites what is expected.

#[path = "support/machines.rs"]
mod common;

use std::fmt::Write as _;
use std::path::Path;
use std::rc::Rc;

use fx_engine::Ledger;
use fx_host::MemoryHost;
use fx_source::SourceMap;
use serde_json::{Value as J, json};

use common::{lay_out, line, machine, request, run};

fn once(text: &str, case: &J) -> String {
    let host = Rc::new(machine(case));
    lay_out(&host, text, case);
    let before = host.snapshot();
    let mut request = request();
    if case["save"] == json!(true) {
        request.options.remove("no_save");
    }
    let (ledger, sources) = (Rc::new(Ledger::new()), Rc::new(SourceMap::new()));
    let (code, said) = run(Rc::<MemoryHost>::clone(&host), &ledger, &sources, request);
    let mut out = ledger.trace(&sources);
    for line in said.lines() {
        // Only what went wrong: the time of a log line is the fake clock's.
        if let Some((_, text)) = line.split_once("] ")
            && ["ERROR:", "FATAL:", "WARN:"].iter().any(|level| text.starts_with(level))
        {
            let _ = writeln!(out, "{text}");
        }
    }
    for spec in host.calls() {
        let _ = writeln!(out, "$ {}", line(&spec));
    }
    let old: Vec<&str> = before.lines().collect();
    let after = host.snapshot();
    for line in after.lines().filter(|line| !old.contains(line)) {
        let _ = writeln!(out, "+ {line}");
    }
    for line in &old {
        let path = line.split(' ').next().unwrap_or_default();
        if !after.lines().any(|now| now.split(' ').next() == Some(path)) {
            let _ = writeln!(out, "- {path}");
        }
    }
    let _ = writeln!(out, "exit {code}");
    out
}

#[test]
fn recipes_do_to_a_machine_what_is_recorded() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    for (name, recipe, case) in common::machines() {
        let told = fx_ruby::on_big_stack(move || once(&recipe, &case)).expect("a case ends");
        expect_test::expect_file![dir.join(name + ".expected")].assert_eq(&told);
    }
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
