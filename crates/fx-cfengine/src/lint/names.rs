//! Names that lead nowhere: bundles, bodies, promise types and functions; and calls with the
//! wrong number of arguments.
//!
//! Where part of a policy is not at hand, a name is reported only if a known one is near.

use fx_cfengine_syntax as ast;
use fx_source::{Diagnostic, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::vocabulary::{self, Type};

use super::{nearest, text_of};

/// What a policy defines by name, with the number of its arguments.
#[derive(Default)]
pub(super) struct Names {
    bundles: FxHashMap<String, Vec<Defined>>,
    bodies: FxHashMap<String, Vec<Defined>>,
    /// Handles of promises; none where some are made of variables.
    handles: Option<FxHashSet<String>>,
    promise_types: Vec<String>,
    /// Files that are not at hand may define more.
    open: bool,
}

/// A block by its name.
struct Defined {
    kind: String,
    arguments: usize,
    namespace: String,
}

impl Defined {
    fn of(kind: &ast::Name, args: &[ast::Name], namespace: &str) -> Defined {
        let (kind, namespace) = (kind.text.to_string(), namespace.to_owned());
        Defined { kind, arguments: args.len(), namespace }
    }
}

impl Names {
    /// What these trees define. `files` are their names.
    pub(super) fn of(trees: &[ast::File], files: &[String]) -> Names {
        let mut names = Names { handles: handles(trees), ..Names::default() };
        let mut entry = false;
        for block in trees.iter().flat_map(|tree| &tree.blocks) {
            entry |= begins_a_run(block);
            match block {
                ast::Block::Bundle(bundle) => {
                    let known = names.bundles.entry(bundle.name.text.to_string()).or_default();
                    known.push(Defined::of(&bundle.kind, &bundle.args, &bundle.namespace));
                }
                ast::Block::Settings(body) if body.block == ast::BlockKind::Promise => {
                    names.promise_types.push(body.name.text.to_string());
                }
                ast::Block::Settings(body) => {
                    let control = &*body.name.text == "control";
                    if control {
                        let inputs = body.attributes.iter();
                        let inputs = inputs.filter(|one| &*one.name.text == "inputs");
                        names.open |= inputs.into_iter().any(|one| !at_hand(&one.value, files));
                    }
                    let known = names.bodies.entry(body.name.text.to_string()).or_default();
                    known.push(Defined::of(&body.kind, &body.args, &body.namespace));
                }
            }
        }
        names.open |= !entry;
        names
    }
}

/// The handles of all promises, if each is a text without variables.
fn handles(trees: &[ast::File]) -> Option<FxHashSet<String>> {
    let bundles = trees.iter().flat_map(|tree| &tree.blocks).filter_map(|block| match block {
        ast::Block::Bundle(bundle) => Some(bundle),
        ast::Block::Settings(_) => None,
    });
    let promises =
        bundles.flat_map(|bundle| &bundle.sections).flat_map(|section| &section.promises);
    let attributes = promises.flat_map(|promise| &promise.attributes);
    let handles = attributes.filter(|one| &*one.name.text == "handle");
    handles
        .map(|one| text_of(&one.value).filter(|text| is_plain(text)).map(str::to_owned))
        .collect()
}

fn is_plain(text: &str) -> bool {
    !text.contains(['$', '@'])
}

/// Whether a file with this block can be run by itself.
pub(super) fn begins_a_run(block: &ast::Block) -> bool {
    match block {
        ast::Block::Bundle(bundle) => matches!(&*bundle.name.text, "main" | "__main__"),
        ast::Block::Settings(body) => &*body.name.text == "control" && &*body.kind.text == "common",
    }
}

/// Whether every input is one of the files, by its last part.
fn at_hand(inputs: &ast::Rval, files: &[String]) -> bool {
    let items = match &inputs.kind {
        ast::RvalKind::List(items) => items.as_slice(),
        _ => std::slice::from_ref(inputs),
    };
    items.iter().all(|item| {
        let text = text_of(item).unwrap_or_default();
        let last = text.rsplit('/').next().unwrap_or(text);
        !last.is_empty() && files.iter().any(|file| file.rsplit('/').next() == Some(last))
    })
}

/// Adds what is wrong with the names that a tree uses.
pub(super) fn check(names: &Names, tree: &ast::File, out: &mut Vec<Diagnostic>) {
    let mut checker = Checker { names, out };
    let mut seen = FxHashSet::default();
    for block in &tree.blocks {
        let (what, kind, name, space) = match block {
            ast::Block::Bundle(one) => ("bundle", &one.kind, &one.name, &one.namespace),
            ast::Block::Settings(one) => ("body", &one.kind, &one.name, &one.namespace),
        };
        let control = what == "body" && &*name.text == "control";
        let key = (what, kind.text.to_string(), name.text.to_string(), space.to_string());
        if !control && !seen.insert(key) {
            let message = format!("{what} '{}' is defined twice", name.text);
            checker.report("cf-defined-twice", name.span, message, None);
        }
        match block {
            ast::Block::Bundle(bundle) => checker.bundle(bundle),
            ast::Block::Settings(body) => checker.body(body),
        }
    }
}

struct Checker<'a> {
    names: &'a Names,
    out: &'a mut Vec<Diagnostic>,
}

impl Checker<'_> {
    fn report(&mut self, code: &'static str, at: Span, message: String, near: Option<&str>) {
        let mut found = Diagnostic::error(code, message).label(at, "");
        if let Some(near) = near {
            found = found.help(format!("did you mean '{near}'?"));
        }
        self.out.push(found);
    }

    /// A name that is not known: reported if all are at hand, or if one is near.
    fn unknown<'n>(
        &mut self,
        code: &'static str,
        (name, at): (&str, Span),
        what: String,
        known: impl Iterator<Item = &'n str>,
    ) {
        let near = nearest(name, known);
        if near.is_some() || !self.names.open {
            self.report(code, at, what, near);
        }
    }

    fn bundle(&mut self, bundle: &ast::Bundle) {
        for section in &bundle.sections {
            let kind = &*section.kind.text;
            let own = vocabulary::promise_type(&bundle.kind.text, kind);
            let known = own.is_some()
                || vocabulary::is_removed_promise(&bundle.kind.text, kind)
                || self.names.promise_types.iter().any(|known| known == kind);
            if !known {
                let what = format!(
                    "unknown promise type '{kind}' in a bundle of type '{}'",
                    bundle.kind.text
                );
                let types = vocabulary::promise_types()
                    .filter(|kind| vocabulary::promise_type(&bundle.kind.text, kind).is_some());
                let types: Vec<&str> = types.collect();
                let word = (kind, section.kind.span);
                self.unknown("cf-promise-type", word, what, types.into_iter());
                continue;
            }
            for promise in &section.promises {
                self.promise(kind, own.unwrap_or(&[]), promise);
            }
        }
    }

    fn promise(
        &mut self,
        kind: &str,
        own: &'static [vocabulary::Attribute],
        promise: &ast::Promise,
    ) {
        for attribute in &promise.attributes {
            let name = &*attribute.name.text;
            if name == "depends_on" {
                self.handles(&attribute.value);
            }
            match vocabulary::promise_attribute(own, name).map(|known| known.kind) {
                Some(Type::Body) => self.named(&attribute.value, name, true),
                Some(Type::Bundle) => self.named(&attribute.value, name, false),
                // A promise type of the user's own has bodies of its own.
                None if self.is_body(&attribute.value) => {}
                _ => self.calls(&attribute.value),
            }
        }
        let uses = promise.attributes.iter().any(|one| &*one.name.text == "usebundle");
        if kind == "methods" && !uses {
            let name = &promise.promiser;
            self.use_of(&name.text, None, name.span, "usebundle", false);
        }
    }

    /// Handles that no promise has: who waits for one waits for ever.
    fn handles(&mut self, value: &ast::Rval) {
        let names = self.names;
        let ast::RvalKind::List(items) = &value.kind else { return };
        let Some(known) = names.handles.as_ref().filter(|_| !names.open) else { return };
        for item in items {
            let Some(text) = text_of(item).filter(|text| is_plain(text)) else { continue };
            let bare = text.rsplit(':').next().unwrap_or(text);
            if !known.contains(bare) {
                let near = nearest(bare, known.iter().map(String::as_str));
                self.report(
                    "cf-handle",
                    item.span,
                    format!("no promise has the handle '{text}'"),
                    near,
                );
            }
        }
    }

    fn is_body(&self, value: &ast::Rval) -> bool {
        let ast::RvalKind::Call { name, .. } = &value.kind else { return false };
        self.names.bodies.contains_key(name.rsplit(':').next().unwrap_or(name))
    }

    fn body(&mut self, body: &ast::Settings) {
        let kind = &*body.kind.text;
        let attributes = vocabulary::body_type(kind);
        if attributes.is_none()
            && body.block == ast::BlockKind::Body
            && let Some(near) = nearest(kind, vocabulary::body_types())
        {
            let what = format!("unknown body type '{kind}'");
            self.report("cf-body-type", body.kind.span, what, Some(near));
        }
        for attribute in &body.attributes {
            let name = &*attribute.name.text;
            let known = attributes.unwrap_or(&[]).iter().find(|known| known.name == name);
            match known.map(|known| known.kind) {
                Some(Type::Body) => self.named(&attribute.value, name, true),
                Some(Type::Bundle) => self.named(&attribute.value, name, false),
                _ if name == "bundlesequence" => self.sequence(&attribute.value),
                None if self.is_body(&attribute.value) => {}
                _ => self.calls(&attribute.value),
            }
        }
    }

    fn sequence(&mut self, value: &ast::Rval) {
        let ast::RvalKind::List(items) = &value.kind else { return };
        for item in items {
            match &item.kind {
                ast::RvalKind::Call { .. } => self.named(item, "bundlesequence", false),
                _ => {
                    if let Some(text) = text_of(item) {
                        self.use_of(text, None, item.span, "bundlesequence", false);
                    }
                }
            }
        }
    }

    /// The value of an attribute that names a body or a bundle.
    fn named(&mut self, value: &ast::Rval, attribute: &str, body: bool) {
        match &value.kind {
            ast::RvalKind::Call { name, args, .. } => {
                self.use_of(name, Some(args.len()), value.span, attribute, body);
                for arg in args {
                    self.calls(arg);
                }
            }
            ast::RvalKind::Bare(name) => self.use_of(name, Some(0), value.span, attribute, body),
            ast::RvalKind::Quoted(name) => self.use_of(name, None, value.span, attribute, body),
            _ => {}
        }
    }

    fn use_of(&mut self, name: &str, given: Option<usize>, at: Span, attribute: &str, body: bool) {
        let plain =
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':');
        if !plain || name.is_empty() {
            return;
        }
        let bare = name.rsplit(':').next().unwrap_or(name);
        let names = self.names;
        let all = if body { &names.bodies } else { &names.bundles };
        let space = name.rsplit_once(':').map(|(space, _)| space.trim_end_matches(':'));
        let same = |one: &Defined| {
            let kind = one.kind.as_str();
            space.is_none_or(|space| one.namespace == space)
                && match (body, attribute) {
                    (true, _) => kind == attribute,
                    (false, "edit_line" | "edit_xml") => kind == attribute,
                    _ => !matches!(kind, "edit_line" | "edit_xml"),
                }
        };
        let what = if body { "body" } else { "bundle" };
        let code = if body { "cf-body" } else { "cf-bundle" };
        let fitting: Vec<usize> = all
            .get(bare)
            .into_iter()
            .flatten()
            .filter(|one| same(one))
            .map(|one| one.arguments)
            .collect();
        if fitting.is_empty() {
            let of = if body || matches!(attribute, "edit_line" | "edit_xml") {
                format!(" of type '{attribute}'")
            } else {
                String::new()
            };
            let message = format!("undefined {what} '{name}'{of}");
            let near = all.iter().filter(|(_, all)| all.iter().any(&same));
            let near: Vec<&str> = near.map(|(name, _)| name.as_str()).collect();
            self.unknown(code, (bare, at), message, near.into_iter());
            return;
        }
        if let Some(given) = given
            && !fitting.contains(&given)
            && let [expected] = fitting[..]
        {
            let message = format!("{what} '{name}' takes {}, not {given}", arguments(expected));
            self.report("cf-arguments", at, message, None);
        }
    }

    /// Calls of functions in a value.
    fn calls(&mut self, value: &ast::Rval) {
        let parts = match &value.kind {
            ast::RvalKind::List(items) => items,
            ast::RvalKind::Call { name, args, .. } => {
                self.call(name, args.len(), value.span);
                self.patterns(name, args);
                args
            }
            _ => return,
        };
        for part in parts {
            self.calls(part);
        }
    }

    /// Texts that a function takes as patterns and that are none.
    fn patterns(&mut self, name: &str, args: &[ast::Rval]) {
        let Some((_, at)) = PATTERNS.iter().find(|(known, _)| *known == name) else { return };
        let Some(arg) = args.get(*at) else { return };
        if let ast::RvalKind::Quoted(text) = &arg.kind
            && is_plain(text)
            && crate::regex::compile(text).is_none()
        {
            let message = format!("'{text}' is no regular expression");
            self.report("cf-pattern", arg.span, message, None);
        }
    }

    fn call(&mut self, name: &str, given: usize, at: Span) {
        if name.contains(['$', '@', ':']) {
            return;
        }
        let Some(function) = vocabulary::find_function(name) else {
            let near = vocabulary::nearest_function(name);
            self.report("cf-function", at, format!("unknown function '{name}'"), near);
            return;
        };
        let expected = function.params.len();
        if !function.has(vocabulary::VARIADIC) && given != expected {
            let message = format!("function '{name}' takes {}, not {given}", arguments(expected));
            self.report("cf-arguments", at, message, None);
        }
    }
}

/// Functions that take a pattern, and which of their arguments it is.
const PATTERNS: [(&str, usize); 14] = [
    ("bundlesmatching", 0),
    ("classesmatching", 0),
    ("classmatch", 0),
    ("countclassesmatching", 0),
    ("countlinesmatching", 0),
    ("data_regextract", 0),
    ("every", 0),
    ("grep", 0),
    ("none", 0),
    ("regcmp", 0),
    ("regextract", 0),
    ("regline", 0),
    ("some", 0),
    ("variablesmatching", 0),
];

fn arguments(count: usize) -> String {
    match count {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        count => format!("{count} arguments"),
    }
}
