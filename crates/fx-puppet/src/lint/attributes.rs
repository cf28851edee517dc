//! Attributes of resources: those that their type, define or class does not have, those given
//! twice or not at all, and values that a parameter does not take.

use std::collections::BTreeSet;
use std::rc::Rc;

use fx_puppet_syntax::{AttributeOp, Expr, ExprKind, Param, ResourceBody};
use fx_source::{Span, meant as nearest};

use super::Linter;
use crate::eval::Scope;
use crate::types::{Type, is_instance};

impl Linter {
    /// What is wrong with the attributes of a declaration.
    pub(super) fn attributes(&mut self, kind: &str, bodies: &[ResourceBody]) {
        let low = kind.trim_start_matches("::").to_lowercase();
        // Attributes under the title `default` count for the others.
        let defaults = bodies.iter().find(|body| matches!(body.title.kind, ExprKind::Default));
        for body in bodies {
            self.repeated(&body.operations);
            let known = if low == "class" {
                let (ExprKind::String(name) | ExprKind::Name(name)) = &body.title.kind else {
                    continue;
                };
                let class = name.trim_start_matches("::").to_lowercase();
                let Ok(Some(entry)) = self.evaluator.class_named(&class) else { continue };
                Known::Params(format!("class '{class}'"), Rc::clone(&entry.definition.params))
            } else if let Ok(Some(kind)) = self.evaluator.native_kind(&low) {
                // Whatever names a resource of the type may be called its name.
                let name = std::iter::once(Rc::from("name"));
                let names = kind.parameters.iter().map(Rc::clone).chain(name).collect();
                Known::Names(format!("resource type '{low}'"), names)
            } else if let Ok(Some(entry)) = self.evaluator.define_named(&low) {
                Known::Params(format!("define '{low}'"), Rc::clone(&entry.definition.params))
            } else {
                continue;
            };
            self.body(&known, body, defaults, low == "class");
        }
    }

    fn body(
        &mut self,
        known: &Known,
        body: &ResourceBody,
        defaults: Option<&ResourceBody>,
        class: bool,
    ) {
        for operation in &body.operations {
            let AttributeOp::Set { name, value, span, .. } = operation else { continue };
            if known.has(name) {
                if let Some(param) = known.param(name) {
                    self.value(param, value);
                }
                continue;
            }
            if crate::compile::is_metaparameter(name) {
                continue;
            }
            let meta = crate::compile::METAPARAMETERS.iter().copied();
            let near = nearest(name, known.names().into_iter().chain(meta)).map(str::to_owned);
            let message = format!("{} has no parameter '{name}'", known.what());
            self.wrong("puppet-unknown-attribute", *span, message, near);
        }
        let Known::Params(what, params) = known else { return };
        // Parameters of a class may come from data, and those of a hash are not known.
        let all = || body.operations.iter().chain(defaults.into_iter().flat_map(|d| &d.operations));
        let splat = all().any(|operation| matches!(operation, AttributeOp::Splat { .. }));
        if class || splat || matches!(body.title.kind, ExprKind::Default) {
            return;
        }
        for param in params.iter().filter(|param| param.default.is_none()) {
            let given = all().any(|operation| {
                matches!(operation, AttributeOp::Set { name, .. } if *name == param.name)
            });
            // Defaults of the type, set elsewhere, may give it.
            if !given && !self.has_defaults && !self.takes_nothing(param) {
                let message = format!("{what} needs a value for parameter '{}'", param.name);
                self.wrong("puppet-missing-attribute", body.title.span, message, None);
            }
        }
    }

    fn repeated(&mut self, operations: &[AttributeOp]) {
        let mut seen = BTreeSet::new();
        for operation in operations {
            if let AttributeOp::Set { name, span, .. } = operation
                && !seen.insert(Rc::clone(name))
            {
                let message = format!("attribute '{name}' is set twice");
                self.wrong("puppet-repeated-attribute", *span, message, None);
            }
        }
    }

    /// Whether a parameter without a default need not be given.
    pub(super) fn takes_nothing(&self, param: &Param) -> bool {
        let Some(ty) = &param.ty else { return false };
        self.known(ty).is_none_or(|ty| is_instance(&ty, &crate::value::Value::Undef))
    }

    /// A value that stands there as it is, against the type of the parameter.
    pub(super) fn value(&mut self, param: &Param, value: &Expr) {
        let Some(ty) = param.ty.as_ref().filter(|_| literal(value)) else { return };
        let Some(ty) = self.known(ty) else { return };
        let scope = Scope::new(Rc::clone(&self.evaluator.top));
        let Ok(given) = self.evaluator.eval(value, &scope) else { return };
        // No value means the default.
        if matches!(given, crate::value::Value::Undef) || is_instance(&ty, &given) {
            return;
        }
        let place = format!("parameter '{}'", param.name);
        let message = crate::eval::mismatch_text(&place, &ty, &given);
        self.wrong("puppet-value", value.span, message, None);
    }

    /// The type of an expression, if all of it is known.
    fn known(&self, ty: &Expr) -> Option<Rc<Type>> {
        if !is_known_type(ty, 0) {
            return None;
        }
        let scope = Scope::new(Rc::clone(&self.evaluator.top));
        self.evaluator.type_of(ty, &scope).ok()
    }
}

/// Whether all words of a type are the language's own.
fn is_known_type(ty: &Expr, depth: u32) -> bool {
    if depth > 50 {
        return false;
    }
    match &ty.kind {
        // Aliases of aliases may lead to what is not at hand; only own words are sure.
        ExprKind::Reference(name) => {
            !name.contains("::") && Type::named(&name.to_lowercase()).is_some()
                || Type::named(name).is_some()
        }
        ExprKind::Access { left, keys } => {
            is_known_type(left, depth + 1) && keys.iter().all(|key| is_known_type(key, depth + 1))
        }
        ExprKind::Array(items) => items.iter().all(|item| is_known_type(item, depth + 1)),
        ExprKind::Hash(pairs) => pairs
            .iter()
            .all(|(key, value)| is_known_type(key, depth + 1) && is_known_type(value, depth + 1)),
        ExprKind::String(_)
        | ExprKind::Name(_)
        | ExprKind::Int { .. }
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Regex(_)
        | ExprKind::Default => true,
        ExprKind::Negate(inner) => is_known_type(inner, depth + 1),
        _ => false,
    }
}

/// Whether an expression is its own value.
fn literal(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::String(_)
        | ExprKind::Name(_)
        | ExprKind::Int { .. }
        | ExprKind::Float(_)
        | ExprKind::Bool(_) => true,
        ExprKind::Array(items) => items.iter().all(literal),
        ExprKind::Hash(pairs) => pairs.iter().all(|(key, value)| literal(key) && literal(value)),
        ExprKind::Negate(inner) => literal(inner),
        _ => false,
    }
}

/// What a resource can have.
enum Known {
    Names(String, Vec<Rc<str>>),
    Params(String, Rc<[Param]>),
}

impl Known {
    fn what(&self) -> &str {
        let (Known::Names(what, _) | Known::Params(what, _)) = self;
        what
    }

    fn names(&self) -> Vec<&str> {
        match self {
            Known::Names(_, names) => names.iter().map(|name| &**name).collect(),
            Known::Params(_, params) => params.iter().map(|param| &*param.name).collect(),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.names().contains(&name)
    }

    fn param(&self, name: &str) -> Option<&Param> {
        match self {
            Known::Names(..) => None,
            Known::Params(_, params) => params.iter().find(|param| &*param.name == name),
        }
    }
}

/// Values that some attributes of built-in types alone take.
const VALUES: &[(&str, &str, &[&str])] = &[
    ("service", "ensure", &["running", "stopped", "true", "false"]),
    ("service", "enable", &["true", "false", "manual", "mask", "delayed"]),
    ("user", "ensure", &["present", "absent", "role"]),
    ("group", "ensure", &["present", "absent"]),
    ("cron", "ensure", &["present", "absent"]),
    ("host", "ensure", &["present", "absent"]),
    ("mount", "ensure", &["defined", "present", "unmounted", "absent", "mounted", "ghost"]),
    ("file", "ensure", &["present", "absent", "file", "directory", "link", "true", "false"]),
    (
        "package",
        "ensure",
        &["present", "installed", "latest", "absent", "purged", "held", "disabled"],
    ),
];

impl Linter {
    /// A bare word that an attribute of a built-in type does not take.
    pub(super) fn words(&mut self, kind: &str, bodies: &[ResourceBody]) {
        let operations = bodies.iter().flat_map(|body| &body.operations);
        for operation in operations {
            let AttributeOp::Set { name, value, .. } = operation else { continue };
            let (ExprKind::Name(word) | ExprKind::String(word)) = &value.kind else { continue };
            let row = VALUES.iter().find(|(of, attribute, _)| *of == kind && *attribute == &**name);
            let Some((_, _, allowed)) = row else { continue };
            // A path makes a file a link.
            if allowed.contains(&&**word) || word.contains(['/', '$']) || word.is_empty() {
                continue;
            }
            let near = nearest(word, allowed.iter().copied()).map(str::to_owned);
            // Any other word makes a file a link to it, and is a version of a package.
            if matches!(kind, "file" | "package") && near.is_none() {
                continue;
            }
            let message =
                format!("'{word}' is no value of '{name}'; it takes {}", allowed.join(", "));
            self.wrong("puppet-value", value.span, message, near);
        }
    }

    /// Modes of files that are numbers.
    pub(super) fn numbers(&mut self, kind: &str, bodies: &[ResourceBody]) {
        for operation in bodies.iter().flat_map(|body| &body.operations) {
            let AttributeOp::Set { name, value, .. } = operation else { continue };
            if let ExprKind::Int { value: number, radix } = &value.kind
                && kind == "file"
                && &**name == "mode"
            {
                let message = "a mode must be a string, not a number";
                let meant =
                    if *radix == 8 { format!("'{number:04o}'") } else { format!("'0{number}'") };
                self.wrong("puppet-value", value.span, message.to_owned(), Some(meant));
            }
        }
    }

    /// Commands that are searched for nowhere. A default of the type may say where.
    pub(super) fn commands(&mut self, kind: &str, bodies: &[ResourceBody]) {
        if kind != "exec" || self.has_defaults {
            return;
        }
        for body in bodies {
            let set = |wanted: &str| {
                body.operations.iter().find_map(|operation| match operation {
                    AttributeOp::Set { name, value, .. } if &**name == wanted => Some(value),
                    _ => None,
                })
            };
            let splat = body.operations.iter().any(|one| matches!(one, AttributeOp::Splat { .. }));
            let command = set("command").unwrap_or(&body.title);
            let (ExprKind::String(text) | ExprKind::Name(text)) = &command.kind else { continue };
            let word = text.split_whitespace().next().unwrap_or_default();
            if splat || word.is_empty() || word.starts_with('/') {
                continue;
            }
            if set("path").is_none() && set("provider").is_none() {
                let message = format!("'{word}' is not qualified and no path was specified");
                self.tell("puppet-command", command.span, message, None);
            }
        }
    }

    /// The number of arguments of a call.
    pub(super) fn arity(&mut self, name: &str, args: &[Expr], before: usize, span: Span) {
        if args.iter().any(|arg| matches!(arg.kind, ExprKind::Unfold(_))) {
            return;
        }
        let given = (args.len() + before) as i64;
        let low = name.trim_start_matches("::");
        let sizes = if let Some(native) = crate::functions::find(low) {
            let read = native.signatures.iter().map(|text| self.evaluator.read_parameters(text));
            let read: Result<Vec<_>, _> = read.collect();
            let Ok(read) = read else { return };
            read.iter().map(|parameters| parameters.size).collect()
        } else if let Ok(Some(closure)) = self.evaluator.function_named(low) {
            vec![closure.arity()]
        } else {
            return;
        };
        if !sizes.is_empty() && !sizes.iter().any(|size| size.contains(given)) {
            let [size] = sizes[..] else {
                let message = format!("function '{low}' does not take {given} arguments");
                self.wrong("puppet-arguments", span, message, None);
                return;
            };
            let expected = crate::eval::count_text(size, given as usize);
            let message = format!("function '{low}' {expected}");
            self.wrong("puppet-arguments", span, message, None);
        }
    }
}
