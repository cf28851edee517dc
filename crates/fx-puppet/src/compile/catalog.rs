//! The catalog: resources in the order they were declared.

use std::rc::Rc;

use fx_puppet_syntax::Form;
use fx_source::Span;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use crate::eval::Frame;
use crate::value::Value;

/// A value given to a resource.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) value: Value,
    pub(crate) span: Span,
}

/// A declared resource.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    /// Name of its type, capitalised.
    pub(crate) kind: Rc<str>,
    pub(crate) title: Rc<str>,
    pub(crate) attributes: IndexMap<Rc<str>, Attribute>,
    pub(crate) form: Form,
    pub(crate) tags: Vec<String>,
    pub(crate) span: Span,
    /// Where it was declared.
    pub(crate) frame: Rc<Frame>,
    /// Whether a collector made a virtual resource real.
    pub(crate) realized: bool,
}

impl Resource {
    pub(crate) fn new(kind: &str, title: &str, span: Span, frame: Rc<Frame>) -> Resource {
        Resource {
            kind: kind.into(),
            title: title.into(),
            attributes: IndexMap::new(),
            form: Form::Regular,
            tags: Vec::new(),
            span,
            frame,
            realized: false,
        }
    }

    /// `File[/x]`
    pub(crate) fn reference(&self) -> String {
        let title = if &*self.kind == "Class" {
            crate::types::capitalized(&self.title)
        } else {
            self.title.to_string()
        };
        format!("{}[{title}]", self.kind)
    }

    /// Whether it is part of the result.
    pub(crate) fn is_real(&self) -> bool {
        self.form == Form::Regular || self.realized
    }
}

/// All resources.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) resources: Vec<Resource>,
    /// Classes that a resource contains.
    pub(crate) contained: Vec<(usize, Rc<str>)>,
    index: FxHashMap<(String, Rc<str>), usize>,
}

fn key(kind: &str, title: &str) -> (String, Rc<str>) {
    let kind = kind.to_lowercase();
    // A path means the same with and without a slash at its end.
    let title = match kind.as_str() {
        "file" if title.len() > 1 => title.trim_end_matches('/'),
        _ => title,
    };
    let title: Rc<str> = if kind == "class" { title.to_lowercase().into() } else { title.into() };
    (kind, title)
}

impl Catalog {
    /// Where a resource stands.
    pub(crate) fn find(&self, kind: &str, title: &str) -> Option<usize> {
        self.index.get(&key(kind, title)).copied()
    }

    /// Adds a resource; its place.
    pub(crate) fn add(&mut self, resource: Resource) -> usize {
        let at = self.resources.len();
        self.index.insert(key(&resource.kind, &resource.title), at);
        self.resources.push(resource);
        at
    }
}
