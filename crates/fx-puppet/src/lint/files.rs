//! Files of modules that a manifest names and that are not there. Only names that stand there as they are count, of
//! modules that are on the path.

use std::path::PathBuf;

use fx_puppet_syntax::{AttributeOp, Expr, ExprKind, ResourceBody};
use fx_source::{Span, meant};

use super::Linter;

/// Most names that are compared with a missing one.
const MOST_NAMES: usize = 5000;

impl Linter {
    /// Templates and files that a function reads.
    pub(super) fn read_files(&mut self, function: &str, args: &[Expr]) {
        let (folder, what, args) = match (function.trim_start_matches("::"), args) {
            ("template", all) => ("templates", "template", all),
            ("epp", [first, ..]) => ("templates", "template", std::slice::from_ref(first)),
            // Of several files the first that is there counts.
            ("file", [_]) => ("files", "file", args),
            _ => return,
        };
        for arg in args {
            if let ExprKind::String(name) = &arg.kind {
                self.module_file(name, folder, what, arg.span);
            }
        }
    }

    /// Files that a resource is copied from.
    pub(super) fn sources(&mut self, bodies: &[ResourceBody]) {
        for operation in bodies.iter().flat_map(|body| &body.operations) {
            let AttributeOp::Set { name, value, .. } = operation else { continue };
            // Of several sources the first that is there counts.
            if let ExprKind::String(text) = &value.kind
                && &**name == "source"
                && let Some(rest) = text.strip_prefix("puppet:///modules/")
            {
                self.module_file(rest, "files", "file", value.span);
            }
        }
    }

    fn module_file(&mut self, name: &str, folder: &str, what: &str, span: Span) {
        let Some((module, rest)) = name.split_once('/') else { return };
        let Some(dir) = self.evaluator.module_dir(module).map(|dir| dir.join(folder)) else {
            return;
        };
        let host = self.evaluator.run.look();
        if rest.is_empty() || name.starts_with('/') || host.stat(&dir.join(rest)).is_ok() {
            return;
        }
        let known = self.names_below(dir);
        let near = meant(rest, known.iter().map(String::as_str));
        let near = near.map(|near| name.replace(rest, near));
        let message = format!("module '{module}' has no {what} '{rest}'");
        self.wrong("puppet-missing-file", span, message, near);
    }

    fn names_below(&self, dir: PathBuf) -> Vec<String> {
        let host = self.evaluator.run.look();
        let mut found = Vec::new();
        let mut todo = vec![(dir, String::new())];
        while let Some((dir, prefix)) = todo.pop() {
            for entry in host.list(&dir).unwrap_or_default() {
                let name = format!("{prefix}{}", entry.name.to_string_lossy());
                if todo.len() < MOST_NAMES && host.list(&dir.join(&entry.name)).is_ok() {
                    todo.push((dir.join(&entry.name), format!("{name}/")));
                } else if found.len() < MOST_NAMES {
                    found.push(name);
                }
            }
        }
        found
    }
}
