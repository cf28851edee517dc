//! The policy as evaluation uses it: bundles, bodies and promises, loaded and merged.
//!
//! Built by `load`, never changed after loading. Values are unexpanded text.

use std::cell::Cell;
use std::rc::Rc;

use fx_source::Span;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::json::Json;
use crate::text::Str;

/// A right-hand side.
#[derive(Clone, Debug, PartialEq)]
pub enum Rval {
    None,
    Scalar(Str),
    List(Rc<[Rval]>),
    Call(Rc<Call>),
    Data(Rc<Json>),
}

/// `name(args)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub name: Str,
    pub args: Vec<Rval>,
}

impl Rval {
    pub fn scalar(text: &str) -> Rval {
        Rval::Scalar(text.into())
    }

    pub fn as_scalar(&self) -> Option<&Str> {
        match self {
            Rval::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The text of messages and of `cf-promises`.
    pub fn show(&self) -> String {
        match self {
            Rval::None => String::new(),
            Rval::Scalar(text) => text.to_string(),
            Rval::List(items) => {
                let items: Vec<String> = items.iter().map(Rval::quoted).collect();
                format!("{{{}}}", items.join(","))
            }
            Rval::Call(call) => {
                let args: Vec<String> = call.args.iter().map(Rval::quoted).collect();
                format!("{}({})", call.name, args.join(","))
            }
            Rval::Data(json) => json.pretty(),
        }
    }

    fn quoted(&self) -> String {
        match self {
            Rval::Scalar(text) => {
                format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
            }
            other => other.show(),
        }
    }
}

/// An attribute of a promise or body.
#[derive(Clone, Debug)]
pub struct Attribute {
    pub name: Str,
    pub value: Rval,
    /// The guard in a body; `any` in promises.
    pub guard: Option<Str>,
    /// A bare word: may name a body or bundle.
    pub bare: bool,
    /// One of a type that every bundle has, in a promise of another type.
    pub foreign: bool,
    pub line: u32,
}

/// What a promise knows of the bundle it belongs to.
#[derive(Debug)]
pub struct Head {
    pub kind: Str,
    pub namespace: Str,
    pub name: Str,
    /// `ns:name` key of its variables.
    pub scope: Str,
    pub args: Vec<Str>,
    pub file: Str,
    pub line: u32,
    pub span: Option<Span>,
}

/// A bundle.
#[derive(Debug)]
pub struct Bundle {
    pub head: Rc<Head>,
    /// One section a type, in order of first appearance; promises of repeated sections join.
    pub sections: Vec<Section>,
    /// What `body file control` says of the order; the control bodies decide where it is silent.
    pub top_down: Option<bool>,
}

impl Bundle {
    pub fn section(&self, kind: &str) -> Option<&Section> {
        self.sections.iter().find(|section| &*section.kind == kind)
    }
}

/// Promises of one type.
#[derive(Debug)]
pub struct Section {
    pub kind: Str,
    pub built_in: bool,
    pub line: u32,
    pub promises: Vec<Rc<Promise>>,
}

/// A promise.
#[derive(Debug)]
pub struct Promise {
    pub bundle: Rc<Head>,
    pub kind: Str,
    pub promiser: Str,
    pub promisee: Rval,
    pub guard: Str,
    pub attributes: Vec<Attribute>,
    pub line: u32,
    pub span: Option<Span>,
    /// Set once nothing is left to do or to say about it in this run.
    pub settled: Cell<bool>,
    /// Whether it has a mode that leaves open what it means for directories, which is logged in
    /// each pass, settled or not.
    pub tells_rxdirs: Cell<bool>,
    pub resolved: Cell<Resolved>,
}

/// What pre-evaluation knows of a variable's promise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resolved {
    #[default]
    Never,
    /// Evaluated when variables and classes had seen so many changes.
    At(u64),
    /// It asks for more than variables and classes, and may come out otherwise any time.
    Open,
}

impl Promise {
    pub(crate) fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| &*attribute.name == name)
    }

    pub(crate) fn scalar(&self, name: &str) -> Option<&Str> {
        self.attribute(name).and_then(|attribute| attribute.value.as_scalar())
    }
}

/// A body, or a promise block.
#[derive(Debug)]
pub struct Body {
    pub(crate) kind: Str,
    pub namespace: Str,
    pub(crate) name: Str,
    pub(crate) args: Vec<Str>,
    pub attributes: Vec<Attribute>,
    pub(crate) file: Str,
    pub(crate) line: u32,
    /// A body type of the user's own, for custom promise types.
    pub(crate) custom: bool,
}

/// Everything loaded.
#[derive(Debug, Default)]
pub struct Policy {
    pub(crate) bundles: Vec<Rc<Bundle>>,
    pub(crate) bodies: Vec<Rc<Body>>,
    pub(crate) promise_blocks: Vec<Rc<Body>>,
    bundle_index: IndexMap<Key, Rc<Bundle>, FxBuildHasher>,
    body_index: IndexMap<Key, Rc<Body>, FxBuildHasher>,
}

/// Type, namespace and name.
type Key = (Str, Str, Str);

/// The same, borrowed, to look things up without making a key of one's own.
#[derive(Hash)]
struct KeyRef<'a>(&'a str, &'a str, &'a str);

impl indexmap::Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.2 == &*key.2 && self.1 == &*key.1 && self.0 == &*key.0
    }
}

impl Policy {
    pub(crate) fn add_bundle(&mut self, bundle: Bundle) {
        let bundle = Rc::new(bundle);
        let key = (
            Rc::clone(&bundle.head.kind),
            Rc::clone(&bundle.head.namespace),
            Rc::clone(&bundle.head.name),
        );
        self.bundle_index.entry(key).or_insert_with(|| Rc::clone(&bundle));
        self.bundles.push(bundle);
    }

    pub(crate) fn add_body(&mut self, body: Body) {
        let body = Rc::new(body);
        let key = (Rc::clone(&body.kind), Rc::clone(&body.namespace), Rc::clone(&body.name));
        self.body_index.entry(key).or_insert_with(|| Rc::clone(&body));
        self.bodies.push(body);
    }

    /// Appends another policy.
    pub(crate) fn merge(&mut self, other: Policy) {
        for (key, bundle) in other.bundle_index_in_order() {
            self.bundle_index.entry(key).or_insert(bundle);
        }
        self.bundles.extend(other.bundles);
        for body in other.bodies {
            let key = (Rc::clone(&body.kind), Rc::clone(&body.namespace), Rc::clone(&body.name));
            self.body_index.entry(key).or_insert_with(|| Rc::clone(&body));
            self.bodies.push(body);
        }
        self.promise_blocks.extend(other.promise_blocks);
    }

    fn bundle_index_in_order(&self) -> Vec<((Str, Str, Str), Rc<Bundle>)> {
        self.bundles
            .iter()
            .map(|bundle| {
                let head = &bundle.head;
                (
                    (Rc::clone(&head.kind), Rc::clone(&head.namespace), Rc::clone(&head.name)),
                    Rc::clone(bundle),
                )
            })
            .collect()
    }

    /// A bundle by type, namespace and name.
    pub fn bundle(&self, kind: &str, namespace: &str, name: &str) -> Option<&Rc<Bundle>> {
        self.bundle_index.get(&KeyRef(kind, namespace, name))
    }

    /// A body by type, namespace and name.
    pub(crate) fn body(&self, kind: &str, namespace: &str, name: &str) -> Option<&Rc<Body>> {
        self.body_index.get(&KeyRef(kind, namespace, name))
    }

    /// The promise block that defines a custom promise type.
    pub fn promise_block(&self, name: &str) -> Option<&Rc<Body>> {
        self.promise_blocks.iter().find(|block| &*block.name == name)
    }
}

/// Splits `ns:name`; the namespace is `None` when not given.
pub fn split_qualified(name: &str) -> (Option<&str>, &str) {
    match name.split_once(':') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, name),
    }
}

/// Key of a bundle's variables.
pub(crate) fn scope_key(namespace: &str, name: &str) -> Str {
    if namespace == "default" { name.into() } else { format!("{namespace}:{name}").into() }
}
