//! Chef recipes, cookbooks and repositories for the verbs: what is loaded from where, and
//! with which run list.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use fx_engine::Level;
use fx_host::{Env, Files, OsHost};
use fx_source::{Diagnostic, Origin, Span};
use serde_json::json;

use super::{PolicyArgs, Way};
use crate::exit;
use crate::stage::Stage;

pub(super) fn evaluate(stage: &Stage, target: &Path, policy: &PolicyArgs, way: Way) -> u8 {
    let mut request = fx_chef::Request { cwd: stage.host.cwd(), ..fx_chef::Request::default() };
    let full = stage.host.cwd().join(target);
    let name = target.display();
    let mut run_list = policy.run_list.clone();
    if target.extension().is_some_and(|extension| extension == "rb") {
        request.options.insert("recipe_files".into(), json!([full.display().to_string()]));
    } else {
        let (cookbooks, own) = match full.join("metadata.rb") {
            file if stage.host.stat(&file).is_ok() => {
                (full.parent().unwrap_or(&full).to_path_buf(), full.file_name())
            }
            _ => (full.join("cookbooks"), None),
        };
        if run_list.is_empty()
            && let Some(own) = own
        {
            run_list = vec![format!("recipe[{}]", own.to_string_lossy())];
        }
        if run_list.is_empty() {
            let text = format!("'{name}' has many cookbooks; say which with -o 'recipe[NAME]'");
            stage.run.ledger.message(Level::Error, &text, &Origin::default());
            return exit::ERROR;
        }
        request.options.insert("cookbook_path".into(), json!([cookbooks.display().to_string()]));
    }
    request.options.insert("run_list".into(), json!(run_list));
    if let Some(file) = &policy.json_attributes {
        let file = stage.host.cwd().join(file);
        request.options.insert("json".into(), json!(file.display().to_string()));
    }
    request.options.insert("local".into(), json!(true));
    request.options.insert("no_save".into(), json!(true));
    request.options.insert("formatter".into(), json!("null"));
    request.options.insert("why_run".into(), json!(way.rehearse));
    let said = Said::default();
    let code = fx_chef::run(
        Rc::<OsHost>::clone(&stage.host),
        Rc::clone(stage.ledger()),
        stage.run.cancel.clone(),
        Rc::clone(&stage.sources),
        request,
        Box::new(said.clone()),
        Box::new(std::io::stderr()),
    );
    // Why a run did not come to its steps is in the client's log, which nobody else shows.
    if code != exit::OK {
        for line in String::from_utf8_lossy(&said.0.borrow()).lines() {
            let told = ["] ERROR: ", "] FATAL: "].iter().find_map(|mark| line.split_once(mark));
            if let Some((_, text)) = told {
                stage.run.ledger.message(Level::Error, text, &Origin::default());
            }
        }
    }
    code
}

/// What the client prints.
#[derive(Clone, Default)]
struct Said(Rc<RefCell<Vec<u8>>>);

impl std::io::Write for Said {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Errors told of one file.
const MOST: usize = 50;

/// What Ruby's parser says of each file.
pub(super) fn check(stage: &Stage, target: &Path) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for file in files(stage, &stage.host.cwd().join(target)) {
        let Ok(text) = stage.host.read(&file) else { continue };
        let id = stage.sources.add(&file.display().to_string(), text.clone());
        // A text that is no Ruby at all has an error at each byte; the first ones tell.
        for error in fx_ruby_syntax::errors(&text).into_iter().take(MOST) {
            found.push(
                Diagnostic::error("ruby-syntax", error.message)
                    .label(Span::new(id, error.start, error.end), ""),
            );
        }
    }
    found
}

/// The recipe itself, or every Ruby file below a directory, in byte order of their paths.
fn files(stage: &Stage, target: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![target.to_path_buf()];
    while let Some(path) = todo.pop() {
        if path.extension().is_some_and(|extension| extension == "rb") {
            found.push(path);
        } else if stage.host.lstat(&path).is_ok_and(|meta| meta.is_dir()) {
            let entries = stage.host.list(&path).unwrap_or_default();
            todo.extend(entries.into_iter().map(|entry| path.join(entry.name)));
        }
    }
    found.sort();
    found
}
