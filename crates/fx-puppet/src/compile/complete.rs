//! Completion: rounds of collectors and defines until nothing is left, then relationships,
//! late overrides, what flows from containers to their contents, and the last checks.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::catalog::{Attribute, Catalog};
use super::collect::Collector;
use super::relations::{Override, Relation, references, shown};
use crate::eval::{Evaluated, Evaluator, Flow, Frame};
use crate::value::Value;

/// What waits for evaluation.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(crate) class_frames: FxHashMap<Rc<str>, Rc<Frame>>,
    pub(super) collectors: Vec<Collector>,
    pub(super) overrides: Vec<Override>,
    pub(super) relations: Vec<Relation>,
    /// What stands left of a collector in a chain, should the collector find nothing.
    pub(super) instead: FxHashMap<usize, Value>,
    /// Resources that other nodes export and collectors added, with the node of each.
    pub(super) imported: FxHashMap<usize, String>,
    /// Classes and defines whose collectors have overridden something.
    pub(super) overriding: FxHashSet<Rc<str>>,
    /// Resources before this one have been looked at for evaluation, but for those waiting.
    looked: usize,
    waiting: Vec<usize>,
}

/// Parameters that flow from a container to what it contains.
const FLOWING: [&str; 7] = ["alias", "audit", "loglevel", "noop", "schedule", "stage", "tag"];

impl Evaluator {
    /// Rounds of collectors and defines until nothing changes; then what remains.
    pub(super) fn complete(&self) -> Evaluated<()> {
        const MOST_ROUNDS: usize = 1000;
        self.phase(|| "complete".into());
        for round in 0.. {
            let collected = self.run_collectors()?;
            if !(self.evaluate_definitions()? || collected) {
                break;
            }
            if round > MOST_ROUNDS {
                return Err(Flow::bare(
                    "Somehow looped more than 1000 times while evaluating host catalog",
                ));
            }
        }
        self.phase(|| "relate".into());
        self.apply_relations()?;
        self.phase(|| "finish".into());
        self.finish()?;
        self.phase(|| "done".into());
        Ok(())
    }

    /// Evaluates all defines that are there and real; whether there were any.
    fn evaluate_definitions(&self) -> Evaluated<bool> {
        let ready: Vec<usize> = {
            let mut pending = self.pending.borrow_mut();
            let catalog = self.catalog.borrow();
            let mut all = std::mem::take(&mut pending.waiting);
            all.extend(pending.looked..catalog.resources.len());
            pending.looked = catalog.resources.len();
            let mut ready = Vec::new();
            for at in all {
                let resource = &catalog.resources[at];
                if resource.definition.is_none() || resource.evaluated {
                    continue;
                }
                if resource.is_real() {
                    ready.push(at);
                } else {
                    pending.waiting.push(at);
                }
            }
            ready
        };
        for at in &ready {
            self.evaluate(*at)?;
        }
        Ok(!ready.is_empty())
    }

    fn finish(&self) -> Evaluated<()> {
        let mut late: FxHashMap<usize, Vec<Override>> = FxHashMap::default();
        let mut missing = Vec::new();
        for one in std::mem::take(&mut self.pending.borrow_mut().overrides) {
            match self.catalog.borrow().find(&one.kind, &one.title) {
                Some(at) => late.entry(at).or_default().push(one),
                None => missing.push(one),
            }
        }
        let count = self.catalog.borrow().resources.len();
        for at in 0..count {
            for one in late.remove(&at).unwrap_or_default() {
                self.apply_override(at, &one.attributes, &one.source, one.span)?;
            }
            self.finish_resource(at)?;
        }
        hand_down(&mut self.catalog.borrow_mut());
        if !missing.is_empty() {
            let names: Vec<String> =
                missing.iter().map(|one| shown(&one.kind, &one.title)).collect();
            return Err(Flow::bare(format!(
                "Could not find resource(s) {} for overriding",
                names.join(", ")
            )));
        }
        let left = self.unrealized();
        if !left.is_empty() {
            return Err(Flow::bare(format!(
                "Failed to realize virtual resources {}",
                left.join(", ")
            )));
        }
        self.check_relations()
    }

    /// Tags, sensitive values and the names of parameters.
    fn finish_resource(&self, at: usize) -> Evaluated<()> {
        let mut catalog = self.catalog.borrow_mut();
        let outer = catalog.resources[at].frame.resource.get();
        if catalog.resources[at].definition.is_none() && at != 0 && outer < catalog.resources.len()
        {
            catalog.hand_tags(outer, at);
        }
        let resource = &mut catalog.resources[at];
        for (name, attribute) in &mut resource.attributes {
            if let Value::Sensitive(inner) = &attribute.value {
                attribute.value = Value::clone(inner);
                resource.sensitive.push(Rc::clone(name));
            }
        }
        if resource.definition.is_some() || &*resource.low == "class" {
            return Ok(());
        }
        let low = Rc::clone(&resource.low);
        drop(catalog);
        let Some(native) = self.native_kind(&low)? else { return Ok(()) };
        let catalog = self.catalog.borrow();
        let resource = &catalog.resources[at];
        for name in resource.attributes.keys() {
            if !native.parameters.contains(name)
                && !super::is_metaparameter(name)
                && &**name != "name"
            {
                let message = format!(
                    "no parameter named '{name}' {} on {}",
                    self.line_text(resource.span),
                    resource.reference()
                );
                return Err(Flow::line(resource.span, message));
            }
        }
        Ok(())
    }

    /// Every relationship must lead somewhere.
    fn check_relations(&self) -> Evaluated<()> {
        let catalog = self.catalog.borrow();
        for resource in &catalog.resources {
            if !resource.is_real() {
                continue;
            }
            for name in ["before", "notify", "require", "subscribe"] {
                let Some(given) = resource.attributes.get(name) else { continue };
                if let Some(wrong) = no_reference(&given.value) {
                    return Err(Flow::line(
                        given.span,
                        format!(
                            "No title provided and {wrong:?} is not a valid resource reference"
                        ),
                    ));
                }
                let mut found = Vec::new();
                references(&given.value, &mut found);
                for (kind, title) in found {
                    if catalog.find(&kind, &title).is_none() {
                        let text = format!(
                            "Could not find resource '{}' in parameter '{name}'",
                            shown(&kind, &title)
                        );
                        return Err(Flow::line(given.span, text));
                    }
                }
            }
        }
        Ok(())
    }
}

/// What in a relationship refers to no resource.
fn no_reference(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) => items.iter().find_map(no_reference),
        Value::Undef | Value::Type(_) => None,
        Value::String(text) if text.contains('[') && text.ends_with(']') => None,
        other => Some(crate::eval::interpolated(other)),
    }
}

/// Parameters that flow, and tags, from `Class[main]` down along containment.
fn hand_down(catalog: &mut Catalog) {
    let mut inside: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for (outer, inner) in &catalog.edges {
        inside.entry(*outer).or_default().push(*inner);
    }
    let Some(main) = catalog.exact("class", "main") else { return };
    let own = |catalog: &Catalog, at: usize| -> Vec<(Rc<str>, Attribute)> {
        let attributes = &catalog.resources[at].attributes;
        FLOWING
            .iter()
            .filter_map(|name| {
                let (name, given) = attributes.get_key_value(*name)?;
                (!matches!(given.value, Value::Undef)).then(|| (Rc::clone(name), given.clone()))
            })
            .collect()
    };
    let mut data: FxHashMap<usize, Vec<(Rc<str>, Attribute)>> = FxHashMap::default();
    let mut queue = VecDeque::from([main]);
    let mut seen = FxHashSet::default();
    while let Some(outer) = queue.pop_front() {
        if !seen.insert(outer) {
            continue;
        }
        let Some(contents) = inside.get(&outer) else { continue };
        for inner in contents {
            let flowing = match data.get(&outer) {
                Some(flowing) => flowing.clone(),
                None => own(catalog, outer),
            };
            if !flowing.is_empty() {
                for (name, given) in &flowing {
                    let attributes = &mut catalog.resources[*inner].attributes;
                    if attributes.get(name).is_none_or(|old| matches!(old.value, Value::Undef)) {
                        attributes.insert(Rc::clone(name), given.clone());
                        if &**name == "tag" {
                            let _valid = super::declare::tag_with(
                                &mut catalog.resources[*inner].tags,
                                &given.value,
                            );
                        }
                    }
                }
                let mut merged = flowing.clone();
                for (name, given) in own(catalog, *inner) {
                    match merged.iter_mut().find(|(known, _)| *known == name) {
                        Some(known) => known.1 = given,
                        None => merged.push((name, given)),
                    }
                }
                data.insert(*inner, merged);
            }
            catalog.hand_tags(outer, *inner);
        }
        queue.extend(contents);
    }
}
