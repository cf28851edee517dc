//! Syntax tree to policy, checked against the vocabulary while it is built.
//!
//! Attributes unknown to the language and values that cannot fit are errors here, with
//! the place of the attribute. What needs other files is checked after merging.

use std::cell::Cell;
use std::rc::Rc;

use fx_cfengine_syntax as ast;
use fx_source::{Diagnostic, SourceFile, Span};

use crate::eval::expr;
use crate::json::Json;
use crate::mode;
use crate::policy::{
    Attribute, Body, Bundle, Call, Head, Policy, Promise, Rval, Section, scope_key,
};
use crate::text::{Str, naked, number_problem};
use crate::vocabulary::{self, Mismatch, Status, check_value};

use super::troubles::code;

/// Which tool evaluates policy. It decides which bundles matter: an agent skips those of servers
/// and monitors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Component {
    #[default]
    Agent,
    Promises,
    Server,
    Monitor,
    Executor,
    Runagent,
}

impl Component {
    /// The hard class of the tool, which is the kind of its own bundles too.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Component::Agent => "agent",
            Component::Promises => "common",
            Component::Server => "server",
            Component::Monitor => "monitor",
            Component::Executor => "executor",
            Component::Runagent => "runagent",
        }
    }

    fn takes(self, kind: &str) -> bool {
        match self {
            Component::Promises => true,
            Component::Agent => matches!(kind, "agent" | "common" | "edit_line" | "edit_xml"),
            other => kind == "common" || kind == other.class(),
        }
    }
}

pub(crate) struct Lowering<'a> {
    pub(crate) file: &'a SourceFile,
    pub(crate) name: Str,
    pub(crate) component: Component,
    /// Lines that do not count.
    pub(crate) skipped: ast::Skipped,
    pub(crate) errors: Vec<Diagnostic>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// The order that `body file control` asks for from here on.
    pub(crate) top_down: Option<bool>,
    /// The guard that was found right last.
    pub(crate) guard: Option<Str>,
    /// `any`, of which one is enough.
    pub(crate) any: Str,
}

fn order_in(body: &Body) -> Option<bool> {
    let order = body.attributes.iter().find(|one| &*one.name == "evaluation_order")?;
    match &**order.value.as_scalar()? {
        "top_down" => Some(true),
        "classic" => Some(false),
        _ => None,
    }
}

impl Lowering<'_> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.error_as(code::SYNTAX, span, message);
    }

    fn error_as(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.errors.push(Diagnostic::error(code, message).label(span, ""));
    }

    fn line(&self, span: Span) -> u32 {
        self.file.line(span.start) - self.skipped.before(span.start)
    }

    // Where the original is when it has read all of it.
    fn last_line(&self, span: Span) -> u32 {
        let last = span.end.saturating_sub(1).max(span.start);
        self.file.line(last) - self.skipped.before(last)
    }

    pub(crate) fn file(&mut self, tree: ast::File) -> Policy {
        let mut policy = Policy::default();
        for block in tree.blocks {
            match block {
                ast::Block::Bundle(bundle) => {
                    if let Some(bundle) = self.bundle(bundle) {
                        policy.add_bundle(bundle);
                    }
                }
                ast::Block::Settings(settings)
                    if settings.block == ast::BlockKind::Body
                        && vocabulary::is_removed_body(&settings.kind.text) =>
                {
                    self.warn(
                        code::REMOVED,
                        self.opening(&settings),
                        format!(
                            "Removed body '{}' of type '{}'",
                            settings.name.text, settings.kind.text
                        ),
                    );
                }
                ast::Block::Settings(settings) => {
                    let promise = settings.block == ast::BlockKind::Promise;
                    let body = self.settings(settings);
                    if promise {
                        policy.promise_blocks.push(Rc::new(body));
                    } else {
                        if &*body.kind == "file" && &*body.name == "control" {
                            self.top_down = order_in(&body).or(self.top_down);
                        }
                        policy.add_body(body);
                    }
                }
            }
        }
        policy
    }

    // The brace that begins a body.
    fn opening(&self, settings: &ast::Settings) -> Span {
        let id = settings.name.span.file;
        let text = self.file.bytes();
        let mut end = settings.args.last().unwrap_or(&settings.name).span.end;
        loop {
            let next = fx_cfengine_syntax::token_end(id, text, end);
            if next <= end {
                return settings.name.span;
            }
            end = next;
            if text.get(end as usize - 1) == Some(&b'{') {
                return Span::new(id, end - 1, end);
            }
        }
    }

    fn relevant(&self, kind: &str) -> bool {
        self.component.takes(kind)
    }

    fn bundle(&mut self, bundle: ast::Bundle) -> Option<Bundle> {
        let kind = &bundle.kind.text;
        if !vocabulary::is_bundle_type(kind) {
            // Of a bundle without one the parser has said so.
            if !kind.is_empty() {
                let text = format!("Unknown bundle type '{kind}'");
                self.error_as(code::BUNDLE_TYPE, bundle.kind.span, text);
            }
            return None;
        }
        let relevant = self.relevant(kind);
        let line = self.line(bundle.name.span);
        let head = Rc::new(Head {
            kind: Rc::clone(kind),
            namespace: Rc::clone(&bundle.namespace),
            name: Rc::clone(&bundle.name.text),
            scope: scope_key(&bundle.namespace, &bundle.name.text),
            args: bundle.args.iter().map(|arg| Rc::clone(&arg.text)).collect(),
            file: Rc::clone(&self.name),
            line,
            span: Some(bundle.name.span),
        });
        let mut sections: Vec<Section> = Vec::new();
        for section in bundle.sections {
            let promise_kind = Rc::clone(&section.kind.text);
            let line = self.line(section.kind.span);
            if vocabulary::is_removed_promise(kind, &promise_kind) {
                self.warn(
                    code::REMOVED,
                    section.kind.span,
                    format!("Removed promise type '{promise_kind}' in bundle type '{kind}'"),
                );
                continue;
            }
            let own = vocabulary::promise_type(kind, &promise_kind);
            let promises: Vec<Rc<Promise>> = section
                .promises
                .into_iter()
                .map(|promise| Rc::new(self.promise(&head, &promise_kind, own, promise)))
                .collect();
            match sections.iter_mut().find(|known| known.kind == promise_kind) {
                Some(known) => known.promises.extend(promises),
                None => {
                    let built_in = own.is_some();
                    sections.push(Section { kind: promise_kind, built_in, line, promises })
                }
            }
        }
        relevant.then_some(Bundle { head, sections, top_down: self.top_down })
    }

    fn promise(
        &mut self,
        head: &Rc<Head>,
        kind: &Str,
        own: Option<&'static [vocabulary::Attribute]>,
        promise: ast::Promise,
    ) -> Promise {
        let guarded = usize::from(matches!(promise.guard, Some(ast::Guard::Variable(_))));
        let mut attributes: Vec<Attribute> = Vec::with_capacity(promise.attributes.len() + guarded);
        let mut guard = Rc::clone(&self.any);
        match &promise.guard {
            Some(ast::Guard::Plain(name)) => {
                self.check_class_literal(name);
                guard = Rc::clone(&name.text);
            }
            Some(ast::Guard::Variable(name)) => attributes.push(Attribute {
                foreign: false,
                name: "ifvarclass".into(),
                value: Rval::Scalar(Rc::clone(&name.text)),
                guard: None,
                bare: false,
                line: self.line(name.span),
            }),
            None => {}
        }
        for attribute in promise.attributes {
            if let Some(attribute) = self.promise_attribute(head, kind, own, attribute) {
                append(&mut attributes, attribute);
            }
        }
        let promisee = promise.promisee.map_or(Rval::None, |rval| lower_rval(&rval).0);
        Promise {
            bundle: Rc::clone(head),
            kind: Rc::clone(kind),
            promiser: Rc::clone(&promise.promiser.text),
            promisee,
            guard,
            attributes,
            line: self.last_line(promise.promiser.span),
            span: Some(promise.promiser.span),
            settled: Cell::new(false),
            tells_rxdirs: Cell::new(false),
            resolved: Cell::default(),
        }
    }

    fn check_class_literal(&mut self, name: &ast::Name) {
        // One guard stands over many promises.
        if self.guard.as_ref().is_some_and(|known| Rc::ptr_eq(known, &name.text)) {
            return;
        }
        if expr::parse(&name.text).is_none() {
            // The mark of a guard is read before what stands before it is looked at.
            let mut span = name.span;
            if span.len() as usize == name.text.len() + 2 {
                let end = span.start + expr::fault(&name.text) as u32 + 2;
                span = Span::new(span.file, span.start, end.min(span.end));
            }
            self.error_as(code::CONTEXT, span, "Syntax error in context string");
        } else {
            self.guard = Some(Rc::clone(&name.text));
        }
    }

    fn promise_attribute(
        &mut self,
        head: &Head,
        kind: &str,
        own: Option<&'static [vocabulary::Attribute]>,
        attribute: ast::Attribute,
    ) -> Option<Attribute> {
        let name = &attribute.name.text;
        let span = attribute.value.span;
        let (mut value, bare) = lower_rval(&attribute.value);
        if matches!(&**name, "data" | "template_data") {
            value = lower_data(value);
        }
        let mut foreign = false;
        if let Some(own) = own {
            let known = vocabulary::promise_attribute(own, name).or_else(|| {
                // That it is out of place is found when all is read.
                foreign = true;
                vocabulary::attribute_of_every_bundle(name)
            });
            let Some(known) = known else {
                self.error_as(
                    code::ATTRIBUTE,
                    attribute.name.span,
                    format!("Unknown attribute '{name}' for promise type '{kind}' in bundle with type '{}'", head.kind),
                );
                return None;
            };
            match known.status {
                Status::Removed => {
                    self.warn(
                        code::REMOVED,
                        span,
                        format!("Removed constraint '{name}' in promise type '{kind}'"),
                    );
                    return None;
                }
                Status::Deprecated => {
                    self.warn(
                        code::DEPRECATED,
                        span,
                        format!("Deprecated constraint '{name}' in promise type '{kind}'"),
                    );
                }
                Status::Normal => {}
            }
            match known.kind {
                vocabulary::Type::Body => {
                    if matches!(attribute.value.kind, ast::RvalKind::Quoted(_)) {
                        self.error(
                            span,
                            "An rvalue is quoted, but we expect an unquoted body identifier",
                        );
                    }
                }
                vocabulary::Type::Bundle => {}
                // Of attributes that every type has it is not asked what a call gives.
                _ if matches!(value, Rval::Call(_))
                    && !own.iter().any(|one| one.name == &**name) => {}
                want => self.check(span, name, &value, want, known.range),
            }
        }
        if matches!(&**name, "ifvarclass" | "if")
            && let Rval::Scalar(text) = &value
            && expr::parse(text).is_none()
        {
            self.error_as(code::CONTEXT, span, "Syntax error in context string");
        }
        Some(Attribute {
            foreign,
            name: Rc::clone(name),
            value,
            guard: None,
            bare,
            line: self.last_line(span),
        })
    }

    fn warn(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.warnings.push(Diagnostic::warning(code, message).label(span, ""));
    }

    fn check(&mut self, span: Span, name: &str, value: &Rval, kind: vocabulary::Type, range: &str) {
        match check_value(name, value, kind, range, false) {
            Ok(()) | Err(Mismatch::Unexpanded) => {}
            Err(mismatch) => {
                let mut message = mismatch.text().to_owned();
                let number = match (mismatch.number(), value) {
                    (Some(number), Rval::Scalar(text)) => Some(number_problem(text, number)),
                    (None, Rval::Scalar(text))
                        if matches!(name, "mode" | "search_mode") && mode::is_incomplete(text) =>
                    {
                        Some("mode string is incomplete".to_owned())
                    }
                    _ => None,
                };
                if mismatch == Mismatch::FunctionUnknown
                    && let Rval::Call(call) = value
                    && let Some(near) = vocabulary::nearest_function(&call.name)
                {
                    message = format!("{message} '{}' (did you mean '{near}'?)", call.name);
                }
                self.error(span, message);
                if let Some(error) = self.errors.last_mut() {
                    error.help = number;
                }
            }
        }
    }

    fn settings(&mut self, settings: ast::Settings) -> Body {
        let promise = settings.block == ast::BlockKind::Promise;
        let kind = Rc::clone(&settings.kind.text);
        let name = Rc::clone(&settings.name.text);
        if promise {
            if &*kind != "agent" {
                self.error_as(
                    code::CUSTOM_TYPE,
                    settings.kind.span,
                    format!("Custom promises only supported for 'agent', not '{kind}'"),
                );
            }
            if vocabulary::is_built_in(&name) {
                self.error_as(
                    code::CUSTOM_TYPE,
                    settings.name.span,
                    format!("'{name}' promises are built in and cannot be custom"),
                );
            }
        }
        let known = if promise { Some(PROMISE_BLOCK) } else { vocabulary::body_type(&kind) };
        let mut attributes: Vec<Attribute> = Vec::new();
        for attribute in settings.attributes {
            let word = if promise { "promise" } else { "body" };
            let attr_name = Rc::clone(&attribute.name.text);
            let span = attribute.value.span;
            let (value, bare) = lower_rval(&attribute.value);
            if let Some(known) = known {
                match known.iter().find(|known| known.name == &*attr_name) {
                    None if vocabulary::is_removed(&attr_name) => {
                        self.warn(
                            code::REMOVED,
                            span,
                            format!("Removed constraint '{attr_name}' in promise type '{kind}'"),
                        );
                        continue;
                    }
                    None => {
                        self.error_as(
                            code::BODY_ATTRIBUTE,
                            attribute.name.span,
                            format!("Unknown attribute '{attr_name}' for '{word} {kind} {name}'"),
                        );
                        continue;
                    }
                    Some(found) if found.status == Status::Removed => {
                        self.warn(
                            code::REMOVED,
                            span,
                            format!("Removed constraint '{attr_name}' in promise type '{kind}'"),
                        );
                        continue;
                    }
                    Some(found) => {
                        if found.status == Status::Deprecated {
                            self.warn(
                                code::DEPRECATED,
                                span,
                                format!(
                                    "Deprecated constraint '{attr_name}' in body type '{kind}'"
                                ),
                            );
                        }
                        if !matches!(found.kind, vocabulary::Type::Body | vocabulary::Type::Bundle)
                        {
                            self.check(span, &attr_name, &value, found.kind, found.range);
                        }
                    }
                }
            }
            let guard = match &attribute.guard {
                None => None,
                Some(ast::Guard::Plain(guard)) => {
                    self.check_class_literal(guard);
                    Some(Rc::clone(&guard.text))
                }
                Some(ast::Guard::Variable(guard)) => {
                    let text = &guard.text;
                    self.error(
                        span,
                        format!("Body attributes can't be put under a variable class '{text}'"),
                    );
                    None
                }
            };
            let line = self.last_line(span);
            let new = Attribute { foreign: false, name: attr_name, value, guard, bare, line };
            match attributes.iter_mut().find(|old| old.name == new.name && old.guard == new.guard) {
                Some(old) => *old = new,
                None => attributes.push(new),
            }
        }
        Body {
            kind,
            namespace: Rc::clone(&settings.namespace),
            name,
            args: settings.args.iter().map(|arg| Rc::clone(&arg.text)).collect(),
            attributes,
            file: Rc::clone(&self.name),
            line: self.line(settings.name.span),
            custom: known.is_none(),
        }
    }
}

static PROMISE_BLOCK: &[vocabulary::Attribute] = &[
    vocabulary::Attribute {
        name: "path",
        kind: vocabulary::Type::String,
        range: "",
        status: Status::Normal,
    },
    vocabulary::Attribute {
        name: "interpreter",
        kind: vocabulary::Type::String,
        range: "",
        status: Status::Normal,
    },
];

/// Adds an attribute to a promise: a second one of the same name replaces the first, but
/// two conditions are joined.
pub(crate) fn append(attributes: &mut Vec<Attribute>, new: Attribute) {
    let Some(old) = attributes.iter_mut().find(|old| old.name == new.name) else {
        attributes.push(new);
        return;
    };
    let joined = match (&old.value, &new.value) {
        (Rval::Scalar(first), Rval::Scalar(second))
            if matches!(&*new.name, "ifvarclass" | "if") =>
        {
            Some(Rval::Scalar(format!("({first}).({second})").into()))
        }
        (first, Rval::Call(_)) if matches!(&*new.name, "ifvarclass" | "if") => {
            Some(Rval::Call(Rc::new(Call {
                name: "and".into(),
                args: vec![first.clone(), new.value.clone()],
            })))
        }
        _ => None,
    };
    *old = new;
    if let Some(joined) = joined {
        old.value = joined;
    }
}

/// A right-hand side, and whether it was a bare word.
pub(crate) fn lower_rval(rval: &ast::Rval) -> (Rval, bool) {
    match &rval.kind {
        ast::RvalKind::Bare(text) => (Rval::Scalar(Rc::clone(text)), true),
        ast::RvalKind::Quoted(text) | ast::RvalKind::Naked(text) => {
            (Rval::Scalar(Rc::clone(text)), false)
        }
        ast::RvalKind::List(items) => {
            (Rval::List(items.iter().map(|item| lower_rval(item).0).collect()), false)
        }
        ast::RvalKind::Call { name, args } => {
            let args = args.iter().map(|arg| lower_rval(arg).0).collect();
            (Rval::Call(Rc::new(Call { name: Rc::clone(name), args })), false)
        }
    }
}

// `data => @(x)` is mergedata(x); text is read now if it holds no variables, else when run.
fn lower_data(value: Rval) -> Rval {
    let Rval::Scalar(text) = &value else { return value };
    if let Some(inner) = naked(text, b'@') {
        return Rval::Call(Rc::new(Call {
            name: "mergedata".into(),
            args: vec![Rval::scalar(inner)],
        }));
    }
    let yaml = text.len() > 3 && text.starts_with("---");
    if !text.contains("$(") && !text.contains("${") {
        let parsed = if yaml { crate::yaml::parse(text) } else { Json::parse(text) };
        if let Some(json) = parsed.filter(Json::is_container) {
            return Rval::Data(Rc::new(json));
        }
    }
    let name = if yaml { "parseyaml" } else { "parsejson" };
    Rval::Call(Rc::new(Call { name: name.into(), args: vec![Rval::Scalar(Rc::clone(text))] }))
}
