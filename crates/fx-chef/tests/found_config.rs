//! Where a client finds its configuration.

#[path = "support/machines.rs"]
mod common;

use std::rc::Rc;

use fx_engine::Ledger;
use fx_host::MemoryHost;
use fx_source::SourceMap;
use serde_json::json;

use common::run;

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
