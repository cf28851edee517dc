//! Files of modules that a manifest names and that are not there. Only names that stand there as they are count, of
//! modules that are on the path.

use std::path::PathBuf;
use std::rc::Rc;

use fx_puppet_syntax::{AttributeOp, Expr, ExprKind, Param, ResourceBody};
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

    /// Parameters that a call gives to a template, against those that it has.
    pub(super) fn template_parameters(&mut self, function: &str, args: &[Expr], span: Span) {
        let ("epp", [first, rest @ ..]) = (function.trim_start_matches("::"), args) else { return };
        let ExprKind::String(name) = &first.kind else { return };
        let mut given = Vec::new();
        match rest {
            [] => {}
            [Expr { kind: ExprKind::Hash(pairs), .. }] => {
                for (key, _) in pairs {
                    let (ExprKind::String(name) | ExprKind::Name(name)) = &key.kind else { return };
                    given.push((name, key.span));
                }
            }
            _ => return,
        }
        let Some(params) = self.template(name) else { return };
        for (name, span) in &given {
            if !params.iter().any(|param| param.name == **name) {
                let near = meant(name, params.iter().map(|param| &*param.name)).map(str::to_owned);
                let message = format!("this template has no parameter '{name}'");
                self.wrong("puppet-unknown-attribute", *span, message, near);
            }
        }
        for param in params.iter().filter(|param| param.default.is_none()) {
            let is_given = given.iter().any(|(name, _)| **name == param.name);
            // A parameter that is misspelt is one mistake, not two.
            let is_misspelt =
                given.iter().any(|(name, _)| meant(name, [&*param.name].into_iter()).is_some());
            if !is_given && !is_misspelt && !self.takes_nothing(param) {
                let message = format!("this template needs a value for parameter '{}'", param.name);
                self.wrong("puppet-missing-attribute", span, message, None);
            }
        }
    }

    /// The parameters of a template of a module; none where it does not say which it has.
    fn template(&self, name: &str) -> Option<Rc<[Param]>> {
        let (module, rest) = name.split_once('/')?;
        let file = self.evaluator.module_dir(module)?.join("templates").join(rest);
        let text = self.evaluator.run.look().read(&file).ok()?;
        let id = self.evaluator.machine.sources.add(&file.display().to_string(), text.clone());
        let (program, found) = fx_puppet_syntax::parse_epp(&text, id);
        let mut at = &program.body;
        loop {
            match &at.kind {
                ExprKind::Lambda(lambda) => at = &lambda.body,
                ExprKind::Epp { params, params_given: true, .. } if found.is_empty() => {
                    return Some(Rc::clone(params));
                }
                _ => return None,
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
