//! Control bodies evaluated into settings and `control_*` variables, and policy from JSON.

use std::cell::Cell;
use std::rc::Rc;

use crate::eval::frames::Frame;
use crate::eval::value::{DataType, Value, Variable};
use crate::eval::vars::Scope;
use crate::eval::{Context, log};
use crate::json::Json;
use crate::policy::{Body, Bundle, Head, Policy, Promise, Rval, scope_key};
use crate::text::{Str, bool_from};
use crate::vocabulary;

impl Context<'_> {
    /// Evaluates a control body.
    pub(crate) fn resolve_control(&mut self, body: &Rc<Body>) {
        let scope: Str = format!("control_{}", body.kind).into();
        self.stack.push(Frame::Body { namespace: "default".into(), vars: Scope::default() });
        for attribute in &body.attributes {
            if !attribute.guard.as_ref().is_none_or(|guard| self.defined(guard)) {
                continue;
            }
            let value = if &*attribute.name == "bundlesequence" {
                self.expand_rval(&attribute.value, None, Some(&scope))
            } else {
                self.evaluate(&attribute.value, None, Some(&scope), true)
            };
            let kind = vocabulary::body_type(&body.kind)
                .and_then(|known| known.iter().find(|known| known.name == &*attribute.name))
                .map(|known| known.kind);
            let fits = match (&value, kind) {
                (Rval::List(_), Some(kind)) => kind.is_list(),
                (Rval::Scalar(_), Some(kind)) => !kind.is_list(),
                (_, _) => true,
            };
            if !fits {
                self.error(&format!(
                    "Attribute '{}' in {}:{} is of wrong type, skipping",
                    attribute.name, body.file, attribute.line
                ));
                continue;
            }
            self.put_control_variable(&scope, &attribute.name, &value);
            self.apply_control(&body.kind, &attribute.name, value);
        }
        self.stack.pop();
    }

    fn put_control_variable(&mut self, scope: &Str, name: &Str, value: &Rval) {
        let (kind, value) = match value {
            Rval::Scalar(text) => (DataType::String, Value::Scalar(Rc::clone(text))),
            Rval::List(items) => (
                DataType::StringList,
                Value::List(items.iter().filter_map(|item| item.as_scalar().cloned()).collect()),
            ),
            _ => return,
        };
        let variable =
            Variable { kind, value, tags: Rc::from(["source=promise".into()]), comment: None };
        self.vars.assign(scope, Rc::clone(name), variable);
    }

    fn apply_control(&mut self, body: &str, name: &Str, value: Rval) {
        let known = self.control.bodies.entry(body.into()).or_default();
        known.insert(Rc::clone(name), value.clone());
        let text = value.as_scalar().cloned();
        let truth = text.as_ref().and_then(|text| bool_from(text));
        match (body, &**name) {
            ("common", "ignore_missing_inputs") => {
                if let Some(truth) = truth {
                    self.control.ignore_missing_inputs = truth;
                }
            }
            ("common", "ignore_missing_bundles") => {
                if let Some(truth) = truth {
                    self.control.ignore_missing_bundles = truth;
                }
            }
            ("common", "cache_system_functions") => {
                if let Some(truth) = truth {
                    self.control.cache_functions = truth;
                }
            }
            ("common", "domain") => {
                if let Some(domain) = text {
                    log!(self, Verbose, "SET domain = {domain}");
                    let uq = self.scalar_variable("sys", "uqhost").unwrap_or_default();
                    let tags: Rc<[Str]> = Rc::from(["source=agent".into()]);
                    self.vars.put_string("sys", "domain", Rc::clone(&domain), &tags);
                    self.vars.put_string("sys", "fqhost", format!("{uq}.{domain}"), &tags);
                    self.put_hard(&domain, &tags);
                    self.control.domain = Some(domain);
                }
            }
            ("common", "package_inventory") => {
                if let Rval::List(items) = &value {
                    self.control.package_inventory =
                        items.iter().filter_map(|item| item.as_scalar().cloned()).collect();
                }
            }
            ("common", "output_prefix") => {
                if let Some(prefix) = text {
                    self.note_prefix(&prefix);
                }
            }
            ("common", "package_module") => self.control.package_module = text,
            ("common", "evaluation_order") => {
                self.control.top_down_common = text.is_some_and(|order| &*order == "top_down");
            }
            ("common", "bundlesequence") => {
                self.control.agent.insert("bundlesequence".into(), value);
            }
            ("agent", _) => {
                self.apply_agent_control(name, &value);
                self.control.agent.insert(Rc::clone(name), value);
            }
            _ => {}
        }
    }

    fn apply_agent_control(&mut self, name: &str, value: &Rval) {
        let list = || -> Vec<Str> {
            match value {
                Rval::List(items) => {
                    items.iter().filter_map(|item| item.as_scalar().cloned()).collect()
                }
                Rval::Scalar(text) => vec![Rc::clone(text)],
                _ => Vec::new(),
            }
        };
        match name {
            "abortclasses" => self.control.abort_classes = list(),
            "environment" => {
                let pair = |item: &Str| {
                    item.split_once('=').map(|(name, value)| (name.into(), value.into()))
                };
                self.control.environment = list().iter().filter_map(pair).collect();
            }
            "childlibpath" => {
                if let Some(text) = value.as_scalar() {
                    self.control.child_library_path = Some(Rc::clone(text));
                }
            }
            "abortbundleclasses" => self.control.abort_bundle_classes = list(),
            "select_end_match_eof" => {
                self.control.select_end_match_eof =
                    value.as_scalar().and_then(|text| bool_from(text)).unwrap_or(false);
            }
            _ => {}
        }
    }

    /// What `body agent control` asks for before evaluation begins.
    pub fn keep_agent_control(&mut self) {
        self.check_access();
        if self.stopped() {
            return;
        }
        if let Some(Rval::List(items)) = self.control.agent.get("addclasses").cloned() {
            let tags: Rc<[Str]> = Rc::from(["source=environment".into()]);
            for class in items.iter().filter_map(|item| item.as_scalar()) {
                log!(self, Verbose, "C:     +  Global class: {class}");
                self.put_class(
                    class,
                    crate::eval::classes::ClassScope::Namespace,
                    Rc::clone(&tags),
                    None,
                );
            }
        }
        if let Some(text) = self.control.agent.get("dryrun").and_then(Rval::as_scalar)
            && bool_from(text) == Some(true)
        {
            self.config.dry_run = true;
        }
        let wanted = |ctx: &Context<'_>, name: &str| {
            ctx.control.agent.get(name).and_then(Rval::as_scalar).and_then(|text| bool_from(text))
                == Some(true)
        };
        if wanted(self, "inform") {
            self.config.level = self.config.level.max(fx_engine::Level::Info);
        }
        if wanted(self, "verbose") {
            self.config.level = self.config.level.max(fx_engine::Level::Verbose);
        }
        self.level.set(self.config.level);
        self.check_aborts_of_all();
    }
}

/// A bundle with another name.
pub(crate) fn copy_bundle(bundle: &Bundle, name: Option<&str>) -> Bundle {
    let old = &bundle.head;
    let name: Str = name.map_or_else(|| Rc::clone(&old.name), Into::into);
    let head = Rc::new(Head {
        kind: Rc::clone(&old.kind),
        namespace: Rc::clone(&old.namespace),
        scope: scope_key(&old.namespace, &name),
        name,
        args: old.args.clone(),
        file: Rc::clone(&old.file),
        line: old.line,
        span: old.span,
    });
    let sections = bundle
        .sections
        .iter()
        .map(|section| crate::policy::Section {
            kind: Rc::clone(&section.kind),
            built_in: section.built_in,
            line: section.line,
            promises: section
                .promises
                .iter()
                .map(|promise| {
                    Rc::new(Promise {
                        bundle: Rc::clone(&head),
                        kind: Rc::clone(&promise.kind),
                        promiser: Rc::clone(&promise.promiser),
                        promisee: promise.promisee.clone(),
                        guard: Rc::clone(&promise.guard),
                        attributes: promise.attributes.clone(),
                        line: promise.line,
                        span: promise.span,
                        settled: Cell::new(false),
                        tells_rxdirs: Cell::new(false),
                        resolved: Cell::default(),
                    })
                })
                .collect(),
        })
        .collect();
    Bundle { head, sections, top_down: bundle.top_down }
}

/// Policy in its JSON form, as `cf-promises -p json` writes it.
pub(crate) fn policy_from_json(json: &Json, file: &str) -> Option<Policy> {
    let mut policy = Policy::default();
    let text = |json: &Json, name: &str| json.select(&[name]).and_then(Json::primitive);
    let names = |json: &Json, name: &str| -> Vec<Str> {
        json.select(&[name])
            .map(|list| list.values().filter_map(Json::primitive).collect())
            .unwrap_or_default()
    };
    for bundle in json.select(&["bundles"])?.values() {
        let namespace = text(bundle, "namespace").unwrap_or_else(|| "default".into());
        let name = text(bundle, "name")?;
        let head = Rc::new(Head {
            kind: text(bundle, "bundleType")?,
            scope: scope_key(&namespace, &name),
            namespace,
            name,
            args: names(bundle, "arguments"),
            file: file.into(),
            line: 0,
            span: None,
        });
        let mut sections = Vec::new();
        for section in bundle.select(&["promiseTypes"]).into_iter().flat_map(Json::values) {
            let kind = text(section, "name")?;
            let mut promises = Vec::new();
            for context in section.select(&["contexts"]).into_iter().flat_map(Json::values) {
                let guard = text(context, "name").unwrap_or_else(|| "any".into());
                for promise in context.select(&["promises"]).into_iter().flat_map(Json::values) {
                    let mut attributes = Vec::new();
                    for attribute in
                        promise.select(&["attributes"]).into_iter().flat_map(Json::values)
                    {
                        let (value, bare) = rval_from_json(attribute.select(&["rval"])?);
                        attributes.push(crate::policy::Attribute {
                            foreign: false,
                            name: text(attribute, "lval")?,
                            value,
                            guard: None,
                            bare,
                            line: 0,
                        });
                    }
                    promises.push(Rc::new(Promise {
                        bundle: Rc::clone(&head),
                        kind: Rc::clone(&kind),
                        promiser: text(promise, "promiser")?,
                        promisee: Rval::None,
                        guard: Rc::clone(&guard),
                        attributes,
                        line: 0,
                        span: None,
                        settled: Cell::new(false),
                        tells_rxdirs: Cell::new(false),
                        resolved: Cell::default(),
                    }));
                }
            }
            let built_in = vocabulary::promise_type(&head.kind, &kind).is_some();
            sections.push(crate::policy::Section { kind, built_in, line: 0, promises });
        }
        policy.add_bundle(Bundle { head, sections, top_down: None });
    }
    for body in json.select(&["bodies"]).into_iter().flat_map(Json::values) {
        let mut attributes = Vec::new();
        for context in body.select(&["contexts"]).into_iter().flat_map(Json::values) {
            let guard = text(context, "name");
            for attribute in context.select(&["attributes"]).into_iter().flat_map(Json::values) {
                let (value, bare) = rval_from_json(attribute.select(&["rval"])?);
                attributes.push(crate::policy::Attribute {
                    foreign: false,
                    name: text(attribute, "lval")?,
                    value,
                    guard: guard.clone(),
                    bare,
                    line: 0,
                });
            }
        }
        let kind = text(body, "bodyType")?;
        policy.add_body(Body {
            custom: vocabulary::body_type(&kind).is_none(),
            kind,
            namespace: text(body, "namespace").unwrap_or_else(|| "default".into()),
            name: text(body, "name")?,
            args: names(body, "arguments"),
            attributes,
            file: file.into(),
            line: 0,
        });
    }
    Some(policy)
}

fn rval_from_json(json: &Json) -> (Rval, bool) {
    let kind = json.select(&["type"]).and_then(Json::primitive).unwrap_or_default();
    let value = json.select(&["value"]);
    match &*kind {
        "list" => {
            let items = value
                .into_iter()
                .flat_map(Json::values)
                .map(|item| rval_from_json(item).0)
                .collect();
            (Rval::List(items), false)
        }
        "functionCall" => {
            let name = json.select(&["name"]).and_then(Json::primitive).unwrap_or_default();
            let args = json
                .select(&["arguments"])
                .into_iter()
                .flat_map(Json::values)
                .map(|arg| rval_from_json(arg).0)
                .collect();
            (Rval::Call(Rc::new(crate::policy::Call { name, args })), false)
        }
        kind => {
            let text = value.and_then(Json::primitive).unwrap_or_default();
            (Rval::Scalar(text), kind == "symbol")
        }
    }
}
