//! The catalog: resources in the order they were declared, edges of containment, and the
//! names each resource answers to. It knows neither evaluation nor output formats.

use std::rc::Rc;

use fx_puppet_syntax::Form;
use fx_source::Span;
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::definitions::Entry;
use crate::eval::Frame;
use crate::value::Value;

/// Tags in the order they were given.
pub type Tags = IndexSet<Rc<str>, FxBuildHasher>;

/// Parameters by name.
pub type Attributes = IndexMap<Rc<str>, Attribute, FxBuildHasher>;

/// A value given to a resource.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The value.
    pub value: Value,
    pub(crate) span: Span,
    /// The class or define whose code gave it.
    pub(crate) source: Rc<str>,
    /// Whether it is `+>`.
    pub(crate) add: bool,
}

impl Attribute {
    pub(crate) fn new(value: Value, span: Span, source: &Rc<str>) -> Attribute {
        Attribute { value, span, source: Rc::clone(source), add: false }
    }
}

/// A declared resource.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Name of its type, every segment capitalised.
    pub kind: Rc<str>,
    /// Name of its type in lower case.
    pub low: Rc<str>,
    /// Its title.
    pub title: Rc<str>,
    /// Parameters that were given.
    pub attributes: Attributes,
    pub(crate) form: Form,
    /// Its tags, with those of what contains it.
    pub tags: Tags,
    /// Where it stands in source text.
    pub span: Span,
    /// Where it was declared.
    pub(crate) frame: Rc<Frame>,
    /// Whether a collector made a virtual resource real.
    pub(crate) realized: bool,
    /// Whether its body has been evaluated.
    pub(crate) evaluated: bool,
    /// Parameters whose values must not be shown.
    pub sensitive: Vec<Rc<str>>,
    /// Whether the title was no text when it was given: it is no tag then.
    pub(crate) odd_title: bool,
    /// What a class or define is made from.
    pub(crate) definition: Option<Rc<Entry>>,
    /// What its type calls it instead of its title, while it is applied.
    pub told: Option<Rc<str>>,
}

/// `concat::fragment` as `Concat::Fragment`.
pub(crate) fn kind_name(low: &str) -> Rc<str> {
    crate::types::capitalized(low).into()
}

/// Whether a text can be a tag.
pub(crate) fn is_tag(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphanumeric() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '-'))
}

/// Adds a tag and the parts of a qualified one.
pub(crate) fn add_tag(tags: &mut Tags, tag: &str) {
    let tag: Rc<str> =
        if tag.chars().any(char::is_uppercase) { tag.to_lowercase().into() } else { tag.into() };
    if tags.insert(Rc::clone(&tag)) && tag.contains("::") {
        for part in tag.split("::") {
            if !tags.contains(part) {
                tags.insert(part.into());
            }
        }
    }
}

impl Resource {
    pub(crate) fn new(low: &str, title: &str, span: Span, frame: Rc<Frame>) -> Resource {
        let mut tags = Tags::default();
        add_tag(&mut tags, low);
        if is_tag(title)
            && !(low == "class" && title == "main")
            && !(low == "stage" && title == "main")
        {
            add_tag(&mut tags, title);
        }
        Resource {
            kind: kind_name(low),
            low: low.into(),
            title: title.into(),
            attributes: Attributes::default(),
            form: Form::Regular,
            tags,
            span,
            frame,
            realized: false,
            evaluated: false,
            sensitive: Vec::new(),
            odd_title: false,
            definition: None,
            told: None,
        }
    }

    /// A resource without parameters, declared where another one is.
    pub fn beside(other: &Resource, low: &str, title: &str) -> Resource {
        Resource::new(low, title, other.span, Rc::clone(&other.frame))
    }

    /// Gives it a parameter, as if its own declaration did.
    pub fn set(&mut self, name: &str, value: Value) {
        let given = Attribute::new(value, self.span, &self.frame.source);
        self.attributes.insert(name.into(), given);
    }

    /// Whether it is a container of others and does nothing itself: a class, a stage, a node, or
    /// a resource of a defined type.
    pub fn is_container(&self) -> bool {
        self.definition.is_some()
            || self.evaluated
            || matches!(&*self.low, "class" | "stage" | "node")
    }

    /// Whether it has values that are left to the node.
    pub fn is_deferred(&self) -> bool {
        crate::deferred::is_deferred(self)
    }

    /// The title as shown.
    pub(crate) fn shown_title(&self) -> Rc<str> {
        if &*self.low == "class" && &*self.title != "main" {
            kind_name(&self.title)
        } else {
            Rc::clone(&self.title)
        }
    }

    /// `File[/x]`
    pub fn reference(&self) -> String {
        match &self.told {
            Some(told) => format!("{}[{told}]", self.kind),
            None => format!("{}[{}]", self.kind, self.shown_title()),
        }
    }

    /// Whether it is part of the result.
    pub fn is_real(&self) -> bool {
        self.form == Form::Regular || self.realized
    }
}

/// All resources.
#[derive(Debug, Default)]
pub struct Catalog {
    /// In the order of their declarations.
    pub resources: Vec<Resource>,
    /// Who contains whom, in the order it was found out.
    pub edges: Vec<(usize, usize)>,
    edge_set: FxHashSet<(usize, usize)>,
    /// Names of classes in the order evaluated.
    pub classes: IndexSet<Rc<str>, FxBuildHasher>,
    pub(crate) tags: Tags,
    index: FxHashMap<Rc<str>, FxHashMap<Rc<str>, usize>>,
    aliases: FxHashMap<Rc<str>, FxHashMap<Rc<str>, usize>>,
    by_kind: FxHashMap<Rc<str>, Vec<usize>>,
}

impl Catalog {
    /// Where a resource stands, by the name of its type in lower case and title or alias.
    pub fn find(&self, low: &str, title: &str) -> Option<usize> {
        let lowered;
        let low = if low.bytes().any(|byte| byte.is_ascii_uppercase()) {
            lowered = low.to_lowercase();
            &lowered
        } else {
            low
        };
        let lowered;
        let title = if low == "class" {
            lowered = title.trim_start_matches("::").to_lowercase();
            &lowered
        } else {
            title
        };
        if let Some(at) = self.index.get(low).and_then(|titles| titles.get(title)) {
            return Some(*at);
        }
        let aliases = self.aliases.get(low)?;
        aliases.get(title).copied().or_else(|| {
            let bare = title.trim_end_matches('/');
            (low == "file" && bare.len() < title.len()).then(|| {
                self.index
                    .get(low)
                    .and_then(|titles| titles.get(bare))
                    .or_else(|| aliases.get(bare))
                    .copied()
            })?
        })
    }

    /// Where a resource of that very title stands.
    pub(crate) fn exact(&self, low: &str, title: &str) -> Option<usize> {
        self.index.get(low)?.get(title).copied()
    }

    /// Adds a resource; its place.
    pub(crate) fn add(&mut self, resource: Resource) -> usize {
        let at = self.resources.len();
        self.index
            .entry(Rc::clone(&resource.low))
            .or_default()
            .insert(Rc::clone(&resource.title), at);
        self.by_kind.entry(Rc::clone(&resource.low)).or_default().push(at);
        self.resources.push(resource);
        at
    }

    /// A further name of a resource; the one that has it already, if so.
    pub(crate) fn alias(&mut self, at: usize, name: Rc<str>) -> Option<usize> {
        let low = Rc::clone(&self.resources[at].low);
        let known = self.aliases.entry(low).or_default().entry(name).or_insert(at);
        (*known != at).then_some(*known)
    }

    /// All resources of a type.
    pub fn of_kind(&self, low: &str) -> &[usize] {
        self.by_kind.get(low).map_or(&[], Vec::as_slice)
    }

    /// One resource contains another.
    pub(crate) fn contain(&mut self, outer: usize, inner: usize) {
        if self.edge_set.insert((outer, inner)) {
            self.edges.push((outer, inner));
        }
    }

    /// Notes that a class is being evaluated.
    pub(crate) fn add_class(&mut self, name: &Rc<str>) {
        self.classes.insert(Rc::clone(name));
        add_tag(&mut self.tags, name);
    }

    /// Adds all tags of one resource to another.
    pub(crate) fn hand_tags(&mut self, from: usize, to: usize) {
        if from == to {
            return;
        }
        let tags = std::mem::take(&mut self.resources[from].tags);
        for tag in &tags {
            if !self.resources[to].tags.contains(tag) {
                self.resources[to].tags.insert(Rc::clone(tag));
            }
        }
        self.resources[from].tags = tags;
    }
}
