//! Loading policy: parse a file, check it, resolve what it defines, then its inputs.
//!
//! Inputs of `body common control` come before those of `body file control`; both may use
//! variables and classes resolved so far. A file is loaded once, by path and by content.

mod access;
pub(crate) mod augments;
pub(crate) mod check;
pub(crate) mod control;
mod host_data;
pub(crate) mod lower;
mod troubles;

use std::rc::Rc;

use fx_cfengine_syntax as syntax;
use fx_source::{Diagnostic, Severity};
use lower::Lowering;
use rustc_hash::FxHashSet;

use crate::eval::{Context, log};
use crate::policy::{Body, Policy, Rval};
use crate::text::{Str, encode, from_path, has_variable, is_expandable, naked, path};

/// What has been loaded, and what went wrong.
#[derive(Default)]
pub(crate) struct Loaded {
    paths: FxHashSet<Str>,
    contents: FxHashSet<u64>,
    depth: usize,
    /// Findings about the text, already placed.
    pub(crate) problems: Vec<Diagnostic>,
    pub(crate) failed: bool,
    /// A file was there and was not to be read: no other policy is taken instead.
    pub(crate) refused: bool,
}

/// Deepest chain of files that include each other.
const MAX_DEPTH: usize = 200;

impl Context<'_> {
    /// Loads the entry file and all it includes; `None` when it cannot be run.
    pub(crate) fn load_policy(&mut self, loaded: &mut Loaded) -> Option<Policy> {
        let entry: Str = self.config.paths.entry.as_str().into();
        let policy = self.load_file(&entry, loaded);
        if loaded.failed || self.stopped() {
            return None;
        }
        policy
    }

    fn load_file(&mut self, file: &Str, loaded: &mut Loaded) -> Option<Policy> {
        if loaded.depth > MAX_DEPTH {
            self.error(&format!("Policy files include each other too deeply at '{file}'"));
            loaded.failed = true;
            return None;
        }
        if loaded.paths.contains(file) {
            return None;
        }
        let bytes = match self.read_policy(file, loaded) {
            Ok(bytes) => bytes,
            Err(()) => return None,
        };
        let content = {
            use std::hash::{Hash, Hasher};
            let mut hasher = rustc_hash::FxHasher::default();
            bytes.hash(&mut hasher);
            hasher.finish()
        };
        if !loaded.contents.insert(content) {
            return None;
        }
        loaded.paths.insert(Rc::clone(file));
        log!(self, Verbose, "BEGIN parsing file: {file}");
        let mut policy = self.parse_file(file, bytes, loaded)?;
        log!(self, Verbose, "END   parsing file: {file}");
        self.rename_main(file, &mut policy);
        let problems = check::partial(&policy);
        if !problems.is_empty() {
            for problem in problems {
                self.policy_error(&problem);
            }
            loaded.failed = true;
            return None;
        }
        self.note_bundles(&policy);
        let whole = std::mem::replace(&mut self.policy, Rc::new(policy));
        self.resolve_policy();
        loaded.depth += 1;
        let own = Rc::clone(&self.policy);
        let mut extra = Vec::new();
        for kind in ["common", "file"] {
            let bodies: Vec<Rc<Body>> = if kind == "common" {
                own.body("common", "default", "control").cloned().into_iter().collect()
            } else {
                own.bodies
                    .iter()
                    .filter(|body| &*body.kind == "file" && &*body.name == "control")
                    .cloned()
                    .collect()
            };
            for body in bodies {
                if let Some(inputs) = self.effective(&body, "inputs") {
                    let around = self.place.replace(self.place_of_inputs(&body));
                    self.load_inputs(&inputs, loaded, &mut extra);
                    self.place.set(around);
                }
            }
        }
        loaded.depth -= 1;
        self.policy = whole;
        let mut policy = match Rc::try_unwrap(own) {
            Ok(policy) => policy,
            Err(shared) => {
                let mut copy = Policy::default();
                copy.bundles.clone_from(&shared.bundles);
                copy.bodies.clone_from(&shared.bodies);
                copy.promise_blocks.clone_from(&shared.promise_blocks);
                let mut merged = Policy::default();
                merged.merge(copy);
                merged
            }
        };
        for more in extra {
            policy.merge(more);
        }
        Some(policy)
    }

    fn read_policy(&mut self, file: &Str, loaded: &mut Loaded) -> Result<Vec<u8>, ()> {
        let place = path(file);
        let meta = match self.host().stat(&place) {
            Ok(meta) if !meta.is_dir() => meta,
            other => {
                let ignored = self.control.ignore_missing_inputs && loaded.depth > 0;
                if let Err(error) = &other
                    && (ignored || self.checks_only())
                {
                    let why = crate::reason::reason(error);
                    self.info(&format!("Cannot open file for hashing '{file}'. (fopen: {why})"));
                }
                if ignored {
                    return Err(());
                }
                match other {
                    Ok(_) => self.error(&format!("Can't parse directory '{file}'.")),
                    Err(error) => {
                        self.error(&format!(
                            "Can't stat file '{file}' for parsing. (stat: {})",
                            crate::reason::reason(&error)
                        ));
                    }
                }
                loaded.failed = true;
                self.exit(1);
                return Err(());
            }
        };
        // The agent refuses what its check accepts: cf-promises is run over checkouts.
        if meta.mode & 0o022 != 0 && !self.checks_only() {
            self.error(&format!(
                "File {file} (owner {}) is writable by others (security exception)",
                meta.uid
            ));
            loaded.failed = true;
            loaded.refused = true;
            self.exit(1);
            return Err(());
        }
        // Deviation(D-009): neither does root read what belongs to somebody else.
        self.host().read_trusted(&place).map_err(|error| {
            if self.host().refused().is_none() {
                self.error(&format!("Can't open file '{file}' for parsing ({error})"));
            }
            loaded.failed = true;
        })
    }

    fn parse_file(&mut self, file: &Str, bytes: Vec<u8>, loaded: &mut Loaded) -> Option<Policy> {
        let id = self.sources.add(file, bytes);
        let source = self.sources.file(id);
        self.run.ledger.emit(&fx_engine::Event::SourceLoaded { name: file });
        if file.ends_with(".json") {
            let text = crate::text::decode(source.bytes());
            let policy = crate::json::Json::parse(&text)
                .and_then(|json| control::policy_from_json(&json, file));
            if policy.is_none() {
                self.error(&format!("Error parsing JSON input file '{file}'"));
                loaded.failed = true;
            }
            return policy;
        }
        let (mut tree, mut errors) = syntax::parse(id, source.bytes());
        self.parsed.push(id);
        let mut lowering = Lowering {
            file: &source,
            name: Rc::clone(file),
            component: self.config.component,
            skipped: std::mem::take(&mut tree.skipped),
            errors: Vec::new(),
            warnings: Vec::new(),
            top_down: None,
            guard: None,
            any: "any".into(),
        };
        let policy = lowering.file(tree);
        let skipped = lowering.skipped;
        let warnings = lowering.warnings;
        errors = troubles::in_order(id, source.bytes(), errors, lowering.errors);
        let failed = !errors.is_empty() || self.fails_on(&warnings);
        errors.extend(warnings.into_iter().map(named_warning));
        errors.sort_by_key(|error| error.primary().map(|span| span.end));
        if !failed {
            for warning in &errors {
                self.syntax_error(warning, &skipped);
            }
            return Some(policy);
        }
        let too_many = errors.len() > syntax::MAX_ERRORS;
        errors.truncate(syntax::MAX_ERRORS + 1);
        for error in &errors {
            if let Some(text) = &error.help {
                self.error(text);
            }
            self.syntax_error(error, &skipped);
        }
        if too_many {
            self.aside("Too many errors");
            self.exit(1);
        }
        loaded.problems.extend(errors);
        loaded.failed = true;
        None
    }

    // Every warning is reported; `-W error=kind` makes it count.
    fn fails_on(&self, warnings: &[Diagnostic]) -> bool {
        let given = self.control.agent.get("-W").and_then(Rval::as_scalar);
        let Some(list) = given.and_then(|text| text.strip_prefix("error")) else { return false };
        let kinds: Vec<&str> = list.trim_start_matches('=').split(',').collect();
        warnings.iter().any(|warning| {
            kinds.iter().any(|kind| matches!(*kind, "" | "all") || *kind == warning_kind(warning))
        })
    }

    // `file:line:col: error: text`, the line, and a caret, as the original prints them.
    fn syntax_error(&self, error: &Diagnostic, skipped: &syntax::Skipped) {
        let Some(span) = error.primary() else { return };
        // The original counts on from where the token began, and shows that line, even where the
        // token went over several; of the first line it shows nothing.
        let start = self.sources.location(span);
        let file = self.sources.file(span.file);
        let begin = syntax::line_start(span.file, file.bytes(), span.start);
        let column = span.end - begin + 1;
        let last = span.end.saturating_sub(1).max(span.start);
        let line = file.line(last) - skipped.before(last);
        let word = if error.severity == Severity::Error { "error" } else { "warning" };
        let mut text = format!("{}:{line}:{column}: {word}: {}", start.file, error.message);
        let first = file.line(begin);
        if first > 1 {
            let shown = file.line_text(first);
            // A width in a format is a number of 16 bits.
            let blanks = " ".repeat(column.saturating_sub(1) as usize);
            text.push_str(&format!("\n{shown}\n{blanks}^"));
        }
        // That there is an error is said before which one, and a warning is no error.
        if error.severity == Severity::Warning || error.code == syntax::UNSPECIFIC {
            self.aside(&text);
        } else {
            self.to_stderr(&text, &error.message, &fx_source::Origin::at(span));
        }
    }

    /// A finding about loaded policy, `file:line:0: error: text`.
    pub(crate) fn policy_error(&self, problem: &check::Problem) {
        let text = format!("{}:{}:0: error: {}", problem.file, problem.line, problem.text);
        // With a place the message need not name it.
        match self.line_span(&problem.file, problem.line) {
            Some(span) => self.to_stderr(&text, &problem.text, &fx_source::Origin::at(span)),
            None => self.to_stderr(&text, &text, &fx_source::Origin::default()),
        }
    }

    // Where the text of a line stands, without the blanks around it.
    fn line_span(&self, file: &str, line: u32) -> Option<fx_source::Span> {
        let id = *self.parsed.iter().find(|id| **self.sources.file(**id).name() == *file)?;
        let source = self.sources.file(id);
        let bytes = source.bytes();
        let before = (line as usize).checked_sub(1)?;
        let start = if before == 0 {
            0
        } else {
            bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(before - 1)?.0 + 1
        };
        let text = bytes[start..].split(|byte| *byte == b'\n').next()?;
        let from = start + text.len() - text.trim_ascii_start().len();
        let to = from + text.trim_ascii().len();
        Some(fx_source::Span::new(id, from as u32, to as u32))
    }

    fn to_stderr(&self, text: &str, message: &str, origin: &fx_source::Origin) {
        let fields = [
            ("text".into(), fx_value::Value::from(&*encode(text))),
            ("message".into(), fx_value::Value::from(&*encode(message))),
        ];
        self.run.ledger.note("cf.stderr", &fields, origin);
    }

    // The same for what only the original's own tools say: it is no finding of its own.
    pub fn aside(&self, text: &str) {
        let fields = [("text".into(), fx_value::Value::from(&*encode(text)))];
        self.run.ledger.note("cf.stderr", &fields, &fx_source::Origin::default());
    }

    // `__main__` of the entry file is `main`; of any other file it is dropped.
    fn rename_main(&self, file: &str, policy: &mut Policy) {
        if !policy.bundles.iter().any(|bundle| &*bundle.head.name == "__main__") {
            return;
        }
        let real =
            |name: &str| self.host().real_path(&path(name)).map(|path| from_path(&path)).ok();
        let is_entry = real(file) == real(&self.config.paths.entry);
        let mut kept = Policy::default();
        for bundle in std::mem::take(&mut policy.bundles) {
            let Ok(bundle) = Rc::try_unwrap(bundle).or_else(|shared| {
                let copy = control::copy_bundle(&shared, None);
                Ok::<_, ()>(copy)
            }) else {
                continue;
            };
            if &*bundle.head.name == "__main__" {
                if is_entry {
                    kept.add_bundle(control::copy_bundle(&bundle, Some("main")));
                }
            } else {
                kept.add_bundle(bundle);
            }
        }
        let bodies = std::mem::take(&mut policy.bodies);
        let blocks = std::mem::take(&mut policy.promise_blocks);
        let mut rest = Policy::default();
        rest.bodies = bodies;
        rest.promise_blocks = blocks;
        kept.merge(rest);
        *policy = kept;
    }

    fn note_bundles(&mut self, policy: &Policy) {
        for bundle in &policy.bundles {
            self.bundle_names.insert(Rc::clone(&bundle.head.name));
        }
        for body in &policy.bodies {
            if &*body.namespace == "bodydefault" {
                self.default_bodies.insert(Rc::clone(&body.name));
            }
        }
    }

    /// The attribute of a control body whose guard holds; the last one wins.
    pub(crate) fn effective(&self, body: &Body, name: &str) -> Option<Rval> {
        body.attributes
            .iter()
            .filter(|attribute| &*attribute.name == name)
            .rfind(|attribute| attribute.guard.as_ref().is_none_or(|guard| self.defined(guard)))
            .map(|attribute| attribute.value.clone())
    }

    /// Where a control body names its inputs; only a check says places.
    fn place_of_inputs(&self, body: &Body) -> Option<fx_source::Span> {
        let named = body.attributes.iter().find(|attribute| &*attribute.name == "inputs")?;
        self.checks_only().then(|| self.line_span(&body.file, named.line))?
    }

    fn load_inputs(&mut self, inputs: &Rval, loaded: &mut Loaded, out: &mut Vec<Policy>) {
        let Rval::List(items) = inputs else { return };
        for item in items.iter() {
            if self.stopped() {
                return;
            }
            let resolved = self.evaluate(item, None, Some("sys"), true);
            match resolved {
                Rval::Scalar(text) => {
                    if has_variable(&text) || is_expandable(&text) || naked(&text, b'@').is_some() {
                        self.error(&format!(
                            "Unresolved variable '{text}' in input list, cannot parse"
                        ));
                        continue;
                    }
                    let file: Str = if text.starts_with('/') {
                        text
                    } else {
                        format!("{}/{text}", self.config.paths.entry_dir).into()
                    };
                    if let Some(policy) = self.load_file(&file, loaded) {
                        out.push(policy);
                    }
                }
                list @ Rval::List(_) => self.load_inputs(&list, loaded, out),
                _ => self.error("Non-file object in inputs list"),
            }
        }
    }

    /// Pre-evaluation: common bundles' variables, classes and variables again; then the
    /// variables of all other bundles; then control bodies.
    pub fn resolve_policy(&mut self) {
        let policy = Rc::clone(&self.policy);
        for common in [true, false] {
            for bundle in
                policy.bundles.iter().filter(|bundle| (&*bundle.head.kind == "common") == common)
            {
                self.push_bundle(bundle, &[], false);
                self.resolve_bundle(bundle);
                self.stack.pop();
                if self.stopped() {
                    return;
                }
            }
        }
        for body in policy.bodies.iter().filter(|body| &*body.name == "control") {
            self.resolve_control(body);
        }
    }
}

fn warning_kind(warning: &Diagnostic) -> &'static str {
    if warning.code == troubles::code::REMOVED { "removed" } else { "deprecated" }
}

fn named_warning(mut warning: Diagnostic) -> Diagnostic {
    warning.message = format!("{} [-W{}]", warning.message, warning_kind(&warning));
    warning
}
