//! Why each step of a run happens when it does, for one cookbook that has all the ways.

use std::path::Path;
use std::rc::Rc;

use fx_engine::{Cancel, Ledger};
use fx_host::OsHost;
use fx_source::SourceMap;
use serde_json::json;

/// The steps of a first run in order: what, and why then.
fn steps() -> Vec<String> {
    fx_ruby::on_big_stack(|| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/reasons.case");
        let scratch = tempfile::tempdir().expect("a scratch directory can be made");
        let (root, case) = (&*scratch.path().join("root"), scratch.path().join("case"));
        make_dir(root);
        fx_cases::read_one(&file).lay_out(&case);
        let mut request = fx_chef::Request { cwd: root.into(), ..fx_chef::Request::default() };
        let attributes = root.join("attributes.json");
        put(&attributes, &json!({"root": root}).to_string());
        put(&root.join("facts.json"), &json!({"platform": "debian", "os": "linux"}).to_string());
        request.facts = Some(root.join("facts.json"));
        request.options.insert("json".into(), json!(attributes));
        request.options.insert("cookbook_path".into(), json!([case.join("cookbooks")]));
        request.options.insert("run_list".into(), json!(["recipe[t]"]));
        request.options.insert("local".into(), json!(true));
        request.options.insert("no_save".into(), json!(true));
        request.options.insert("formatter".into(), json!("null"));
        let (ledger, sources) = (Rc::new(Ledger::new()), Rc::new(SourceMap::new()));
        fx_chef::run(
            Rc::new(OsHost::new()),
            Rc::clone(&ledger),
            Cancel::new(),
            Rc::clone(&sources),
            request,
            Box::new(std::io::sink()),
            Box::new(std::io::sink()),
        );
        let text = ledger.trace(&sources).replace(&root.display().to_string(), "ROOT");
        let place = case.display().to_string();
        // Number and place aside: phase, resource, action, outcome and reason are the claim.
        let told = |line: &str| {
            let line = line.trim_start().split_once(' ').map_or("", |(_, rest)| rest.trim_start());
            line.split(" @ ").next().unwrap_or_default().replace(&place, "CASE")
        };
        text.lines().map(told).collect()
    })
    .expect("the run ends")
}

#[expect(clippy::disallowed_methods, reason = "tests lay out their own scratch files")]
fn make_dir(path: &Path) {
    std::fs::create_dir(path).expect("a scratch directory can be made");
}

#[expect(clippy::disallowed_methods, reason = "tests lay out their own scratch files")]
fn put(path: &Path, text: &str) {
    std::fs::write(path, text).expect("scratch files can be written");
}

#[test]
fn each_step_says_why_it_happens_then() {
    let steps = steps();
    let expected = [
        "[compile] file[ROOT/early] create repaired {ensure,content} <- run while recipes are compiled",
        "[compile] ruby_block[at once too] run repaired {run} <- run while recipes are compiled",
        "[converge] file[ROOT/early] nothing skipped (action :nothing) <- collection order",
        "[converge] ruby_block[first] run repaired {run} <- before notification from file[ROOT/plain]",
        "[converge] file[ROOT/plain] create repaired {ensure,content} <- collection order",
        "[converge] ruby_block[soon] run repaired {run} <- immediate notification from file[ROOT/plain]",
        "[converge] ruby_block[chained] run repaired {run} <- immediate notification from ruby_block[soon]",
        "[converge] ruby_block[watching] run repaired {run} <- immediate notification from file[ROOT/plain] (subscribes)",
        "[converge] ruby_block[late] nothing skipped (action :nothing) <- collection order",
        "[converge] t_site[www] create repaired <- collection order",
        "[converge] directory[ROOT/www] create repaired {ensure} <- sub-resource of t_site[www]",
        "[converge] file[ROOT/www/index] create repaired {ensure,content} <- sub-resource of t_site[www]",
        "[converge] ruby_block[inner] run repaired {run} <- immediate notification from file[ROOT/www/index]",
        "[converge] t_part[deep] create repaired <- sub-resource of t_site[www]",
        "[converge] file[ROOT/www/part] create repaired {ensure,content} <- sub-resource of t_part[deep]",
        "[converge] execute[guarded] run skipped (not_if `true` is true; only_if `true` is true) <- collection order",
        "[converge] execute[guarded by a block] run skipped (only_if { block at CASE/cookbooks/t/recipes/default.rb:53 } is false) <- collection order",
        "[converge] execute[made already] run kept <- collection order",
        "[converge] log[said] write kept <- collection order",
        "[converge] file[ROOT/both] create repaired {ensure,content} <- collection order",
        "[converge] file[ROOT/both] touch repaired {mtime} <- collection order",
        "[converge] ruby_block[fails] run failed (RuntimeError: no) <- collection order",
        "[converge] ruby_block[late] run repaired {run} <- delayed notification from file[ROOT/plain]",
        "[converge] ruby_block[watching late] run repaired {run} <- delayed notification from file[ROOT/plain] (subscribes)",
    ];
    let mut at = 0;
    for line in expected {
        let found = steps[at..].iter().position(|step| step == line);
        let Some(found) = found else { panic!("missing: {line}\nin\n{}", steps.join("\n")) };
        at += found + 1;
    }
    let late = steps.iter().filter(|step| step.starts_with("[converge] ruby_block[late] run"));
    assert_eq!(late.count(), 1, "a queued notification is not queued again");
}
