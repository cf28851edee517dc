//! One promise from policy to actuation: guard, bodies, iteration, conditions, attributes.
//!
//! What a promise does is the actuator's business; here its text becomes values.

use std::cell::OnceCell;
use std::rc::Rc;

use fx_engine::Level;

use crate::outcome::Outcome;
use crate::policy::{Attribute, Body, Call, Promise, Rval, split_qualified};
use crate::text::{Str, canonify, canonify_class, has_variable, int_from, is_expandable};
use crate::vocabulary;

use super::frames::{Frame, PromiseFrame};
use super::iterate::Wheels;
use super::value::{DataType, Value, Variable};
use super::vars::Scope;
use super::{Context, log};

/// A promise with bodies in place and everything expanded for one iteration.
pub struct Expanded {
    pub promise: Rc<Promise>,
    pub promiser: Str,
    pub promisee: Rval,
    pub attributes: Vec<(Str, Rval)>,
    pub comment: Option<Str>,
}

impl Expanded {
    pub fn get(&self, name: &str) -> Option<&Rval> {
        self.attributes.iter().find(|(known, _)| &**known == name).map(|(_, value)| value)
    }

    pub fn scalar(&self, name: &str) -> Option<&Str> {
        self.get(name).and_then(Rval::as_scalar)
    }

    pub fn list(&self, name: &str) -> Option<Vec<Str>> {
        match self.get(name)? {
            Rval::List(items) => {
                Some(items.iter().filter_map(|item| item.as_scalar().cloned()).collect())
            }
            _ => None,
        }
    }

    pub fn bool(&self, name: &str) -> Option<bool> {
        self.scalar(name).and_then(|text| crate::text::bool_from(text))
    }

    pub fn int(&self, name: &str) -> Option<i64> {
        self.scalar(name).and_then(|text| int_from(text))
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

/// A promise that is being expanded, one iteration after the other.
pub struct Turns {
    promise: Rc<Promise>,
    /// Its attributes, with bodies put in place.
    attributes: Vec<(Str, Rval)>,
    with: Option<Rval>,
    wheels: Wheels,
    /// A promise with ifelse() is tried once even when a list it names is not there yet.
    again: bool,
    /// Whether it has nothing left to do once it was acted on.
    fixed: bool,
    /// What was logged before the iteration set a level of its own.
    level: Level,
}

/// Deepest stack of bundles, sections and promises: four levels a call.
const MAX_STACK: usize = 1200;

/// Deepest chain of inherited bodies.
const MAX_INHERITANCE: usize = 30;

impl Context<'_> {
    /// Begins to expand a promise; nothing where its guard does not hold or all is said.
    pub fn begin_promise(&mut self, promise: &Rc<Promise>) -> Option<Turns> {
        if self.stopped() {
            return None;
        }
        if promise.settled.get() {
            if promise.tells_rxdirs.get() && self.defined(&promise.guard) {
                self.log_default_rxdirs(promise, &promise.promiser);
            }
            return None;
        }
        if !self.defined(&promise.guard) {
            if self.wants_reasons(promise) {
                let reason = self.why_false("guard", &promise.guard);
                self.note_passed_over(promise, &promise.promiser, reason);
            }
            return None;
        }
        if self.stack.len() > MAX_STACK {
            self.fatal(&format!(
                "bundle '{}' is called inside itself without end",
                promise.bundle.name
            ));
            return None;
        }
        self.body_guarded = false;
        let attributes = self.dereference(promise);
        if self.stopped() {
            return None;
        }
        let fixed = !self.body_guarded && self.settles(promise, &attributes);
        self.acquired = false;
        self.repeats = false;
        let handle = self.handle_of(&attributes);
        if !self.matches.vars.is_empty() {
            self.matches = Scope::default();
        }
        self.stack.push(Frame::Promise(PromiseFrame {
            promise: Rc::clone(promise),
            vars: Scope::default(),
            qualified: Vec::new(),
            handle,
            specials: OnceCell::new(),
            turn: 0,
            immediate: is_immediate(&attributes),
        }));
        let with =
            attributes.iter().find(|(name, _)| &**name == "with").map(|(_, value)| value.clone());
        if let Some(with) = &with {
            self.put_with(with, self.last_pass());
        }
        let mut wheels = Wheels::new(Rc::clone(&promise.bundle));
        wheels.scan_text(self, &promise.promiser);
        wheels.scan(self, &promise.promisee);
        let mut ifelse = false;
        for (_, value) in &attributes {
            if let Rval::Call(call) = value {
                ifelse |= &*call.name == "ifelse";
            }
            wheels.scan(self, value);
        }
        let level = self.level.get();
        let promise = Rc::clone(promise);
        Some(Turns { promise, attributes, with, wheels, again: ifelse, fixed, level })
    }

    /// The next iteration of a promise, on the stack until [`Context::end_turn`].
    pub fn next_turn(&mut self, turns: &mut Turns) -> Option<Rc<Expanded>> {
        loop {
            let turned = turns.wheels.next(self);
            if !turned && !turns.again {
                return None;
            }
            turns.again = false;
            if let Some(Frame::Promise(frame)) = self.stack.last_mut() {
                frame.turn += 1;
            }
            if turned && let Some(with) = &turns.with {
                self.put_with(with, false);
            }
            let Some(expanded) = self.expand_iteration(&turns.promise, &turns.attributes) else {
                if self.stopped() {
                    return None;
                }
                continue;
            };
            let expanded = Rc::new(expanded);
            turns.level = self.level.get();
            self.set_promise_level(&expanded);
            self.stack.push(Frame::Iteration(Rc::clone(&expanded)));
            return Some(expanded);
        }
    }

    /// Ends an iteration; whether another one may follow.
    pub fn end_turn(&mut self, turns: &Turns) -> bool {
        self.stack.pop();
        self.level.set(turns.level);
        !self.stopped() && !self.bundle_aborted
    }

    /// Ends a promise after its last iteration.
    pub fn end_promise(&mut self, turns: &Turns) {
        self.stack.pop();
        turns.promise.settled.set(turns.fixed && self.acquired && !self.repeats);
    }

    /// Expands a promise and hands each iteration on.
    pub(crate) fn for_each_turn(
        &mut self,
        promise: &Rc<Promise>,
        each: &mut dyn FnMut(&mut Context<'_>, &Rc<Expanded>),
    ) {
        let Some(mut turns) = self.begin_promise(promise) else { return };
        while let Some(expanded) = self.next_turn(&mut turns) {
            each(self, &expanded);
            if !self.end_turn(&turns) {
                break;
            }
        }
        self.end_promise(&turns);
    }

    // Whether a promise that was acted on once has nothing left to do or to say in this
    // run: it can only come to the same again, which acts once.
    fn settles(&self, promise: &Promise, attributes: &[(Str, Rval)]) -> bool {
        &*promise.kind == "files"
            && !self.config.trace
            && !self.logs(Level::Verbose)
            && is_constant_text(&promise.promiser)
            && !crate::regex::is_meant(&promise.promiser)
            && attributes
                .iter()
                .all(|(name, value)| is_constant(value) && !CONDITIONS.contains(&&**name))
            // A promise that is logged at length is logged in each pass.
            && !attributes.iter().any(|(name, _)| &**name == "report_level")
    }

    /// The attributes of a promise with bodies in place, when no iteration of it can make
    /// them any different: there is nothing to expand, to call or to wait for.
    pub(crate) fn constant_attributes(
        &mut self,
        promise: &Rc<Promise>,
    ) -> Option<Vec<(Str, Rval)>> {
        // What a body makes of its arguments is only known once it is in place.
        let conditional =
            promise.attributes.iter().any(|attribute| CONDITIONS.contains(&&*attribute.name));
        if conditional || !self.defined(&promise.guard) {
            return None;
        }
        let calls = promise.attributes.iter().any(|attribute| match &attribute.value {
            Rval::Call(call) => {
                !call.args.iter().all(is_constant)
                    || self.find_body(&attribute.name, &call.name).is_none()
            }
            value => !is_constant(value),
        });
        if calls {
            return None;
        }
        let attributes = self.dereference(promise);
        attributes.iter().all(|(_, value)| is_constant(value)).then_some(attributes)
    }

    // What `report_level` asks for is shown if it is more than the run shows; `log_level` is
    // about the system's log.
    fn set_promise_level(&self, expanded: &Expanded) {
        let level = match expanded.scalar("report_level").map(|word| &**word) {
            Some("inform") => Level::Info,
            Some("verbose") => Level::Verbose,
            Some("error") => Level::Notice,
            _ => self.config.level,
        };
        self.level.set(self.config.level.max(level));
    }

    fn put_with(&mut self, with: &Rval, unresolved_too: bool) {
        if let Rval::Scalar(text) = self.evaluate(with, None, Some("this"), false)
            && (unresolved_too || !has_variable(&text))
        {
            self.put_this("with", text);
        }
    }

    // A handle as written; one that is made from the place can wait.
    fn handle_of(&self, attributes: &[(Str, Rval)]) -> OnceCell<Str> {
        let written = attributes
            .iter()
            .find(|(name, _)| &**name == "handle")
            .and_then(|(_, value)| value.as_scalar());
        match written {
            Some(text) if is_expandable(text) => {
                OnceCell::from(Str::from(canonify(&self.expand_text(text, None, Some("this")))))
            }
            Some(text) => OnceCell::from(Str::from(canonify(text))),
            None => OnceCell::new(),
        }
    }

    // Attributes with bodies put in place and lists named by `@(x)` spliced in.
    fn dereference(&mut self, promise: &Rc<Promise>) -> Vec<(Str, Rval)> {
        let mut out: Vec<(Str, Rval)> = Vec::with_capacity(promise.attributes.len() + 4);
        for attribute in &promise.attributes {
            let (reference, args): (Option<&Str>, &[Rval]) = match &attribute.value {
                Rval::Scalar(text) if attribute.bare => (Some(text), &[]),
                Rval::Call(call) => (Some(&call.name), &call.args),
                _ => (None, &[]),
            };
            let body = reference.and_then(|name| self.find_body(&attribute.name, name));
            match body {
                Some(body) => self.put_body(promise, attribute, &body, args, &mut out),
                None => {
                    if attribute.bare {
                        self.check_bundle_reference(promise, attribute);
                    }
                    let value = match &attribute.value {
                        Rval::List(items) if has_naked(items) => {
                            Rval::List(self.flatten(items).into())
                        }
                        other => other.clone(),
                    };
                    set(&mut out, Rc::clone(&attribute.name), value);
                }
            }
            if self.stopped() {
                return out;
            }
        }
        // Deviation(D-004): in every namespace, as the original does.
        if !self.default_bodies.is_empty() {
            for name in vocabulary::body_attributes(&promise.bundle.kind, &promise.kind) {
                let default = format!("{}_{name}", promise.kind);
                if self.default_bodies.contains(&*default)
                    && !out.iter().any(|(known, _)| &**known == name)
                    && let Some(body) = self.policy.body(name, "bodydefault", &default).cloned()
                {
                    log!(self, Verbose, "Using the default body: {default:>60}");
                    self.put_default(&body, &mut out);
                }
            }
        }
        // Packages without a method are kept by the generic one, if there is one.
        if &*promise.kind == "packages"
            && !out.iter().any(|(name, _)| {
                matches!(&**name, "package_method" | "package_list_command" | "policy")
            })
            && let Some(body) = self.find_body("package_method", "generic")
        {
            set(&mut out, "package_method".into(), Rval::Scalar(Rc::clone(&body.name)));
            self.put_default(&body, &mut out);
        }
        out
    }

    fn put_default(&mut self, body: &Body, out: &mut Vec<(Str, Rval)>) {
        for inner in &body.attributes {
            self.body_guarded |= inner.guard.as_deref().is_some_and(|guard| guard != "any");
            if inner.guard.as_ref().is_none_or(|guard| self.defined(guard)) {
                let value = self.expand_rval(&inner.value, None, Some("body"));
                set(out, Rc::clone(&inner.name), value);
            }
        }
    }

    fn check_bundle_reference(&self, promise: &Promise, attribute: &Attribute) {
        if matches!(&*attribute.name, "ifvarclass" | "if") {
            return;
        }
        let Rval::Scalar(text) = &attribute.value else { return };
        let known = [&*attribute.name, "agent", "common"]
            .iter()
            .any(|kind| self.find_bundle(kind, text).is_some());
        if !known {
            self.error(&format!(
                "Apparent bundle '{text}' was undeclared, but used in a promise near line {} of {} (possible unquoted literal value)",
                promise.line, promise.bundle.file
            ));
        }
    }

    /// A body by reference, `name` or `ns:name`, as seen from here.
    pub fn find_body(&self, kind: &str, reference: &str) -> Option<Rc<Body>> {
        let (namespace, name) = split_qualified(reference);
        let namespace = namespace.unwrap_or_else(|| self.current_namespace());
        self.policy.body(kind, namespace, name).cloned()
    }

    /// A bundle by reference, `name` or `ns:name`, as seen from here.
    pub fn find_bundle(&self, kind: &str, reference: &str) -> Option<Rc<crate::policy::Bundle>> {
        let (namespace, name) = split_qualified(reference);
        let namespace = namespace.unwrap_or_else(|| self.current_namespace());
        self.policy.bundle(kind, namespace, name).cloned()
    }

    fn put_body(
        &mut self,
        promise: &Promise,
        attribute: &Attribute,
        body: &Rc<Body>,
        args: &[Rval],
        out: &mut Vec<(Str, Rval)>,
    ) {
        let mut chain: Vec<(Rc<Body>, Option<Rval>)> = vec![(Rc::clone(body), None)];
        if !self.collect_parents(&attribute.name, body, &mut chain) {
            return;
        }
        let mut vars = Scope::default();
        if body.args.len() == args.len() {
            for (name, arg) in body.args.iter().zip(args) {
                if let Some(variable) = self.body_argument(body, arg) {
                    vars.put(Rc::clone(name), variable);
                }
            }
        } else {
            self.error(&format!(
                "Argument arity mismatch in body '{}' at line {} in file '{}', expected {}, got {}",
                body.name,
                promise.line,
                promise.bundle.file,
                body.args.len(),
                args.len()
            ));
        }
        self.stack.push(Frame::Body { namespace: Rc::clone(&body.namespace), vars });
        if !body.custom {
            set(
                out,
                format!("{}_name", attribute.name).into(),
                Rval::Scalar(Rc::clone(&body.name)),
            );
            set(out, Rc::clone(&attribute.name), Rval::scalar("true"));
        }
        let with_args = !body.args.is_empty();
        let mut container = crate::json::Object::new();
        let depth = chain.len();
        for (index, (body, call)) in chain.iter().enumerate().rev() {
            let mut rewrite: Vec<(Str, Str)> = Vec::new();
            let given = match call {
                Some(Rval::Call(call)) => {
                    for (name, arg) in body.args.iter().zip(&call.args) {
                        rewrite.push((Rc::clone(name), arg.show().into()));
                    }
                    call.args.len()
                }
                _ => 0,
            };
            if index > 0 && depth > 1 && given != body.args.len() {
                self.fatal(&format!(
                    "Argument count mismatch for body (gave {given} arguments) vs. inherited body '{}:{}' (requires {} arguments)",
                    body.namespace,
                    body.name,
                    body.args.len()
                ));
            }
            for inner in &body.attributes {
                self.body_guarded |= inner.guard.as_deref().is_some_and(|guard| guard != "any");
                if &*inner.name == "inherit_from"
                    || !inner
                        .guard
                        .as_ref()
                        .is_none_or(|guard| self.holds_in_body(guard, &body.namespace))
                {
                    continue;
                }
                let mut value = rewrite_rval(&inner.value, &rewrite);
                if with_args {
                    value = self.expand_rval(&value, None, Some("body"));
                } else if let Rval::List(items) = &value
                    && has_naked(items)
                {
                    value = Rval::List(self.flatten(items).into());
                }
                if body.custom {
                    crate::json::put(
                        &mut container,
                        Rc::clone(&inner.name),
                        crate::functions::rval_to_json(&value),
                    );
                } else {
                    set(out, Rc::clone(&inner.name), value);
                }
            }
        }
        if body.custom {
            let data = Rval::Data(Rc::new(crate::json::Json::Object(container)));
            set(out, Rc::clone(&attribute.name), data);
        }
        self.stack.pop();
    }

    fn collect_parents(
        &mut self,
        kind: &str,
        body: &Rc<Body>,
        chain: &mut Vec<(Rc<Body>, Option<Rval>)>,
    ) -> bool {
        if chain.len() > MAX_INHERITANCE {
            self.error(&format!(
                "body inheritance chain depth {} in body {} is too much, aborting",
                chain.len(),
                body.name
            ));
            self.exit(1);
            return false;
        }
        for attribute in
            body.attributes.iter().filter(|attribute| &*attribute.name == "inherit_from")
        {
            let name = match &attribute.value {
                Rval::Scalar(text) => Rc::clone(text),
                Rval::Call(call) => Rc::clone(&call.name),
                _ => continue,
            };
            let (namespace, base) = split_qualified(&name);
            if base == &*body.name {
                self.error(&format!("self body inheritance in {}->{base}, aborting", body.name));
                self.exit(1);
                return false;
            }
            // As the original does: seen from the promise, not from the body.
            let namespace = namespace.unwrap_or_else(|| self.current_namespace());
            if let Some(parent) = self.policy.body(kind, namespace, base).cloned() {
                chain.push((Rc::clone(&parent), Some(attribute.value.clone())));
                if !self.collect_parents(kind, &parent, chain) {
                    return false;
                }
            }
        }
        true
    }

    fn body_argument(&mut self, body: &Body, arg: &Rval) -> Option<Variable> {
        let value = match arg {
            Rval::Scalar(text) => Value::Scalar(Rc::clone(text)),
            Rval::Call(call) => {
                if vocabulary::find_function(&call.name).is_none() {
                    self.fatal(&format!(
                        "Argument '{}' given to body '{}' is not a valid function",
                        call.name, body.name
                    ));
                    return None;
                }
                match self.call(call) {
                    Some(Rval::Scalar(text)) => Value::Scalar(text),
                    Some(Rval::List(items)) => Value::List(
                        items.iter().filter_map(|item| item.as_scalar().cloned()).collect(),
                    ),
                    Some(Rval::Data(json)) => Value::Data(json),
                    _ => return None,
                }
            }
            _ => return None,
        };
        let kind = match value {
            Value::Scalar(_) => DataType::String,
            Value::List(_) => DataType::StringList,
            Value::Data(_) => DataType::Data,
        };
        Some(Variable { kind, value, tags: Rc::from([]), comment: None })
    }

    // One iteration: conditions first, then all attributes. `None` when it does not apply.
    fn expand_iteration(
        &mut self,
        promise: &Rc<Promise>,
        given: &[(Str, Rval)],
    ) -> Option<Expanded> {
        let namespace = Rc::clone(&promise.bundle.namespace);
        let promiser = self.expand(&promise.promiser, Some(&namespace), Some("this"));
        if &*promise.kind != "storage" {
            self.put_this("promiser", Rc::clone(&promiser));
        }
        let promisee = match &promise.promisee {
            Rval::None => Rval::None,
            Rval::List(items) => {
                let flat = Rval::List(self.flatten(items).into());
                self.evaluate(&flat, None, Some("this"), true)
            }
            other => self.evaluate(other, None, Some("this"), true),
        };
        if &*promise.kind == "classes" && self.defined(&canonify_class(&promiser)) {
            return None;
        }
        let mut attributes: Vec<(Str, Rval)> = Vec::with_capacity(given.len());
        for wanted in ["ifvarclass", "if", "unless"] {
            let Some((name, value)) = given.iter().find(|(name, _)| &**name == wanted) else {
                continue;
            };
            let (holds, evaluated) = self.check_condition(value);
            let skip = if wanted == "unless" {
                match holds {
                    Some(holds) => holds,
                    None => !self.last_pass(),
                }
            } else {
                holds != Some(true)
            };
            if skip {
                if self.wants_reasons(promise) {
                    self.log_condition(promise, &promiser, name, &evaluated);
                }
                log!(
                    self,
                    Verbose,
                    "Skipping promise '{}' because constraint '{name} => {}' is not met",
                    promise.promiser,
                    value.show()
                );
                return None;
            }
            attributes.push((Rc::clone(name), evaluated));
        }
        if let Some((name, value)) = given.iter().find(|(name, _)| &**name == "depends_on") {
            let evaluated = self.evaluate(value, None, Some("this"), false);
            if self.missing_dependency(promise, &evaluated) {
                return None;
            }
            attributes.push((Rc::clone(name), evaluated));
        }
        if &*promise.kind == "files" {
            self.remove_this("promiser");
        }
        let mut comment = None;
        for (name, value) in given {
            if matches!(&**name, "ifvarclass" | "if" | "unless" | "depends_on") {
                continue;
            }
            let evaluated = if vocabulary::is_bundle_attribute(name) {
                match value {
                    Rval::Scalar(_) | Rval::Call(_) => self.expand_rval(value, None, Some("this")),
                    _ => Rval::None,
                }
            } else {
                self.evaluate(value, None, Some("this"), false)
            };
            if &**name == "comment"
                && let Rval::Scalar(text) = &evaluated
            {
                let shown = text
                    .replace("$(this.promiser)", &promiser)
                    .replace("${this.promiser}", &promiser);
                comment = Some(shown.into());
            }
            attributes.push((Rc::clone(name), evaluated));
            if self.stopped() {
                return None;
            }
        }
        Some(Expanded { promise: Rc::clone(promise), promiser, promisee, attributes, comment })
    }

    // Leaves the reason why a condition did not let the promise through.
    fn log_condition(&mut self, promise: &Rc<Promise>, promiser: &Str, name: &str, value: &Rval) {
        let reason = match value {
            Rval::Scalar(text) if name != "unless" && !text.contains(['$', '@']) => {
                self.why_false(name, text)
            }
            Rval::Scalar(text) if !text.contains(['$', '@']) => {
                format!("{name} '{text}' holds")
            }
            value => format!(
                "{name} '{}' has no value: a variable or call in it is unresolved",
                value.show()
            ),
        };
        self.note_passed_over(promise, promiser, reason);
    }

    // The truth of `if` and the like, and what the attribute became.
    fn check_condition(&mut self, value: &Rval) -> (Option<bool>, Rval) {
        let evaluated = self.evaluate(value, None, Some("this"), false);
        let holds = match &evaluated {
            Rval::Scalar(text) if !text.contains(['$', '@']) => self.check_expression(text),
            _ => None,
        };
        (holds, evaluated)
    }

    fn missing_dependency(&mut self, promise: &Rc<Promise>, wanted: &Rval) -> bool {
        let Rval::List(items) = wanted else { return false };
        for item in items.iter() {
            let Some(handle) = item.as_scalar() else { continue };
            // Handles are compared as written: a namespace is no part of them.
            let known = self.handles.contains(handle);
            if !known {
                if self.wants_reasons(promise) {
                    let reason = format!("depends_on '{handle}', which has not been kept");
                    self.note_passed_over(promise, &promise.promiser, reason);
                }
                log!(
                    self,
                    Verbose,
                    "Skipping promise '{}', as promise dependency '{handle}' has not yet been kept",
                    promise.promiser
                );
                return true;
            }
        }
        false
    }

    /// Remembers that a promise with a handle was kept, for `depends_on`.
    pub fn note_handle(&mut self, expanded: &Expanded, outcome: Outcome) {
        if !matches!(outcome, Outcome::Kept | Outcome::Repaired) {
            return;
        }
        let Some(handle) = expanded.scalar("handle") else { return };
        self.handles.insert(Rc::clone(handle));
    }

    /// Calls a function given as a right-hand side; other values are returned expanded.
    pub(crate) fn call(&mut self, call: &Rc<Call>) -> Option<Rval> {
        self.call_function(call)
    }
}

/// Attributes that decide anew each time whether a promise applies.
const CONDITIONS: &[&str] = &["if", "ifvarclass", "unless", "depends_on", "with"];

fn is_immediate(attributes: &[(Str, Rval)]) -> bool {
    attributes
        .iter()
        .filter(|(name, _)| &**name == "ifelapsed")
        .any(|(_, value)| value.as_scalar().and_then(|text| int_from(text)) == Some(0))
}

fn is_constant_text(text: &str) -> bool {
    !text.contains(['$', '@'])
}

fn is_constant(value: &Rval) -> bool {
    match value {
        Rval::Scalar(text) => is_constant_text(text),
        Rval::List(items) => items.iter().all(is_constant),
        Rval::Call(_) | Rval::Data(_) => false,
        Rval::None => true,
    }
}

fn has_naked(items: &[Rval]) -> bool {
    items.iter().any(|item| matches!(item, Rval::Scalar(text) if text.starts_with('@')))
}

/// Sets an attribute, replacing an earlier one of the same name.
pub fn set(attributes: &mut Vec<(Str, Rval)>, name: Str, value: Rval) {
    match attributes.iter_mut().find(|(known, _)| *known == name) {
        Some((_, old)) => *old = value,
        None => attributes.push((name, value)),
    }
}

// Replaces parameters of an inherited body by what the child gave, as text.
fn rewrite_rval(value: &Rval, rewrite: &[(Str, Str)]) -> Rval {
    if rewrite.is_empty() {
        return value.clone();
    }
    let text = |source: &Str| -> Str {
        let mut out = source.to_string();
        for (name, arg) in rewrite {
            for (open, close) in [('(', ')'), ('{', '}')] {
                for lead in ['$', '@'] {
                    let reference = format!("{lead}{open}{name}{close}");
                    if out.contains(&reference) {
                        out = out.replace(&reference, arg);
                    }
                }
            }
        }
        out.into()
    };
    match value {
        Rval::Scalar(source) => Rval::Scalar(text(source)),
        Rval::List(items) => {
            Rval::List(items.iter().map(|item| rewrite_rval(item, rewrite)).collect())
        }
        Rval::Call(call) => Rval::Call(Rc::new(Call {
            name: text(&call.name),
            args: call.args.iter().map(|arg| rewrite_rval(arg, rewrite)).collect(),
        })),
        other => other.clone(),
    }
}
