//! The git resource on a repository that is really there. Without git on the machine there is
//! nothing to try.

#![expect(clippy::disallowed_methods, reason = "the test makes its own repository with git")]

use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use fx_engine::{Cancel, Ledger};
use fx_host::OsHost;
use fx_source::SourceMap;
use serde_json::json;

fn git(dir: &Path, args: &[&str]) -> Option<String> {
    let out = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.test", "-C"])
        .arg(dir)
        .args(args)
        .output()
        .ok()?;
    out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
}

fn run(root: &Path, recipe: &str) -> String {
    let (root, recipe) = (root.to_path_buf(), recipe.to_owned());
    fx_ruby::on_big_stack(move || {
        let mut request = fx_chef::Request { cwd: root.clone(), ..fx_chef::Request::default() };
        std::fs::write(root.join("facts.json"), r#"{"platform": "debian", "os": "linux"}"#)
            .expect("scratch files can be written");
        request.facts = Some(root.join("facts.json"));
        request.options.insert("recipe_text".into(), json!(recipe));
        for option in ["local", "no_save"] {
            request.options.insert(option.into(), json!(true));
        }
        request.options.insert("formatter".into(), json!("null"));
        let (ledger, sources) = (Rc::new(Ledger::new()), Rc::new(SourceMap::new()));
        let code = fx_chef::run(
            Rc::new(OsHost::new()),
            Rc::clone(&ledger),
            Cancel::new(),
            Rc::clone(&sources),
            request,
            Box::new(std::io::sink()),
            Box::new(std::io::sink()),
        );
        let text = ledger.trace(&sources);
        let outcomes: Vec<&str> =
            text.lines().filter_map(|line| line.split(' ').rev().nth(3)).collect();
        format!("{} exit {code}", outcomes.join(" "))
    })
    .expect("the run ends")
}

#[test]
fn a_working_copy_is_cloned_followed_and_left_alone() {
    let scratch = tempfile::tempdir().expect("a scratch directory can be made");
    let root = scratch.path();
    let origin = root.join("origin");
    std::fs::create_dir(&origin).expect("a scratch directory can be made");
    if git(&origin, &["init", "-q", "-b", "main"]).is_none() {
        return;
    }
    let commit = |text: &str| {
        std::fs::write(origin.join("file"), text).expect("scratch files can be written");
        git(&origin, &["add", "file"]).expect("git adds");
        git(&origin, &["commit", "-q", "-m", text]).expect("git commits");
    };
    commit("one");
    let copy = root.join("copy");
    let recipe = format!(
        "git '{}' do\n  repository '{}'\n  revision 'main'\n  action :sync\nend\n",
        copy.display(),
        origin.display()
    );
    assert!(run(root, &recipe).ends_with("exit 0"));
    let read = || std::fs::read_to_string(copy.join("file")).unwrap_or_default();
    assert_eq!(read(), "one");
    let head = || git(&copy, &["rev-parse", "HEAD"]);
    let first = head();
    assert!(run(root, &recipe).ends_with("exit 0"));
    assert_eq!(head(), first, "a second run changes nothing");
    commit("two");
    assert!(run(root, &recipe).ends_with("exit 0"));
    assert_eq!(read(), "two");
    assert_ne!(head(), first);
    let old = recipe.replace("'main'", &format!("'{}'", first.clone().unwrap_or_default()));
    assert!(run(root, &old).ends_with("exit 0"));
    assert_eq!(head(), first, "a revision is gone back to");
    let export = root.join("export");
    let exported = recipe
        .replace(&copy.display().to_string(), &export.display().to_string())
        .replace(":sync", ":export");
    assert!(run(root, &exported).ends_with("exit 0"));
    assert!(export.join("file").exists() && !export.join(".git").exists());
}
