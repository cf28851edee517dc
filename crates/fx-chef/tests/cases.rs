//! Whole recipes: each case is a chef-repo, run twice on a scratch directory. Sections that are
//! named like files are the repository, `options.json` are the options of the client, and `trace`
//! has the order of steps, the warnings and the exit codes.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;

use fx_cases::{Case, Given, Giver};
use fx_engine::{Cancel, Ledger};
use fx_host::OsHost;
use fx_source::SourceMap;
use serde_json::json;

#[derive(Clone, Default)]
struct Buffer(Rc<RefCell<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn once(case: &Path, root: &Path) -> String {
    let mut request = fx_chef::Request { cwd: root.to_path_buf(), ..fx_chef::Request::default() };
    let facts = root.with_extension("facts");
    let attributes = root.with_extension("json");
    let platform = json!({"platform": "debian", "platform_family": "debian", "platform_version": "12.0", "os": "linux", "hostname": "case", "fqdn": "case.example.test"});
    put(&facts, &platform.to_string());
    put(&attributes, &json!({"root": root}).to_string());
    if let Ok(more) = read(&case.join("options.json")) {
        request.options = serde_json::from_str(&more).expect("options are JSON");
    }
    request.facts = Some(facts);
    request.options.insert("json".into(), json!(attributes));
    request.options.insert("cookbook_path".into(), json!([case.join("cookbooks")]));
    // A policy brings its own run list.
    if !request.options.contains_key("set") && !request.options.contains_key("run_list") {
        request.options.insert("run_list".into(), json!(["recipe[t]"]));
    }
    // A failed run leaves its trace in the cache, which is not part of the case.
    let settings = request.options.entry("set").or_insert_with(|| json!({}));
    settings["cache_path"] = json!(root.with_extension("cache"));
    request.options.insert("local".into(), json!(true));
    request.options.insert("no_save".into(), json!(true));
    request.options.entry("formatter").or_insert_with(|| json!("null"));
    let (ledger, sources) = (Rc::new(Ledger::new()), Rc::new(SourceMap::new()));
    let (said, errors) = (Buffer::default(), Buffer::default());
    let code = fx_chef::run(
        Rc::new(OsHost::new()),
        Rc::clone(&ledger),
        Cancel::new(),
        Rc::clone(&sources),
        request,
        Box::new(said.clone()),
        Box::new(errors.clone()),
    );
    let mut out = ledger.trace(&sources);
    out.push_str(&String::from_utf8_lossy(&errors.0.borrow()));
    // The log's times differ; why a run failed does not, nor the line that it points at.
    for line in String::from_utf8_lossy(&said.0.borrow()).lines() {
        if line.contains(">> ") {
            let _ = writeln!(out, "{line}");
        }
        if let Some((_, text)) = line.split_once("] FATAL: ") {
            let _ = writeln!(out, "FATAL: {text}");
        }
    }
    out.push_str(&left(root));
    let _ = writeln!(out, "exit {code}");
    out.replace(&root.display().to_string(), "ROOT").replace(&case.display().to_string(), "CASE")
}

/// Names of what a failed run has left, to show that nothing is half done.
#[expect(clippy::disallowed_methods, reason = "tests list their own files")]
fn left(root: &Path) -> String {
    let mut names: Vec<String> = std::fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    format!("there: {}\n", names.join(" "))
}

#[expect(clippy::disallowed_methods, reason = "tests lay out their own scratch files")]
fn put(path: &Path, text: &str) {
    std::fs::write(path, text).expect("scratch files can be written");
}

#[expect(clippy::disallowed_methods, reason = "tests lay out their own scratch files")]
fn make_dir(path: &Path) {
    std::fs::create_dir(path).expect("a scratch directory can be made");
}

#[expect(clippy::disallowed_methods, reason = "tests read their own files")]
fn read(path: &Path) -> std::io::Result<String> {
    std::fs::read_to_string(path)
}

fn give(case: &Case, _: Giver<'_>) -> Given {
    let scratch = tempfile::tempdir().expect("a scratch directory can be made");
    let (root, repository) = (scratch.path().join("root"), scratch.path().join("case"));
    make_dir(&root);
    case.lay_out(&repository);
    let first = once(&repository, &root);
    vec![("trace", format!("{first}---- again\n{}", once(&repository, &root)))]
}

fn main() -> ExitCode {
    fx_cases::run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"), give)
}
