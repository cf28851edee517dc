//! edit_xml bundles: three passes in their own order, on a document in memory.

use std::rc::Rc;

use fx_cfengine::eval::frames::Frame;
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::policy::Bundle;
use fx_cfengine::promise::{classes, vars};
use fx_cfengine::text::Str;
use fx_engine::Level;

use crate::agent::Agent;
use crate::promise;

use super::bundle::conclude;
use super::xml::{Document, Id, path};

/// Normal order of an edit_xml bundle.
const ORDER: &[&str] = &[
    "vars",
    "classes",
    "build_xpath",
    "delete_tree",
    "insert_tree",
    "delete_attribute",
    "set_attribute",
    "delete_text",
    "set_text",
    "insert_text",
    "reports",
];

/// A document being edited.
pub(crate) struct XmlEdit {
    pub(crate) file: Str,
    pub(crate) document: Document,
    pub(crate) edits: u32,
}

/// Runs an edit_xml bundle whose frame is on the stack.
pub(crate) fn run(ctx: &mut Agent<'_>, bundle: &Rc<Bundle>, edit: &mut XmlEdit) {
    ctx.put_edit("filename", Rc::clone(&edit.file));
    let outer = ctx.pass;
    'passes: for pass in 1..=crate::passes::PASSES {
        for kind in ORDER {
            let Some(section) = bundle.section(kind) else { continue };
            ctx.stack.push(Frame::Section);
            for item in &section.promises {
                ctx.pass = pass;
                ctx.expand_promise(item, &mut |ctx, expanded| keep(ctx, expanded, edit));
                if ctx.stopped() || ctx.bundle_aborted {
                    break;
                }
            }
            ctx.stack.pop();
            if ctx.stopped() || ctx.bundle_aborted {
                ctx.bundle_aborted = false;
                break 'passes;
            }
        }
    }
    ctx.pass = outer;
}

fn keep(ctx: &mut Agent<'_>, expanded: &Rc<Expanded>, edit: &mut XmlEdit) -> Outcome {
    let kind = Rc::clone(&expanded.promise.kind);
    let outcome = match &*kind {
        "vars" | "meta" => vars::keep_among_others(ctx, expanded),
        "classes" => classes::keep(ctx, expanded),
        "reports" => promise::reports::keep(ctx, expanded),
        _ => {
            // Unlike edits of lines they are looked at in every pass, and a failure is logged
            // by itself alone.
            let result = change(ctx, expanded, edit, &kind);
            if result.is_failure() { result } else { conclude(ctx, expanded, &kind, result) }
        }
    };
    ctx.note_handle(expanded, outcome);
    outcome
}

fn change(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, edit: &mut XmlEdit, kind: &str) -> Outcome {
    let mut result = Outcome::Kept;
    let what = Rc::clone(&promise.promiser);
    if kind == "build_xpath" {
        return build(ctx, promise, edit, &what);
    }
    if let Some(wanted) = promise.scalar("build_xpath").cloned() {
        result = build(ctx, promise, edit, &wanted);
        if result.is_failure() {
            return result;
        }
    }
    if kind == "insert_tree" && !promise.has("select_xpath") {
        return result.merge(insert_root(ctx, promise, edit, &what));
    }
    let select = promise.scalar("select_xpath").cloned().filter(|select| converges(select));
    let Some(select) = select else {
        let text = format!("The promised {}", contradiction(kind, &what));
        return ctx.settle(Level::Error, Outcome::Interrupted, promise, &text);
    };
    let Some(node) = selected(ctx, promise, edit, &select, kind) else {
        return Outcome::Interrupted;
    };
    let at = format!("at XPath '{select}' in XML document '{}'", edit.file);
    let at_the = format!("at XPath '{select}' in the XML document '{}'", edit.file);
    let document = &mut edit.document;
    let done: Result<String, String> = match kind {
        "insert_tree" | "delete_tree" => {
            let tree = Document::parse(what.trim());
            let Some((tree, root)) = tree.and_then(|tree| tree.root().map(|root| (tree, root)))
            else {
                let text = format!("Failed to parse the tree '{what}' ({at})");
                return ctx.settle(Level::Error, Outcome::Failed, promise, &text);
            };
            let there = document.same_child(node, &tree, root);
            match (kind, there) {
                ("insert_tree", Some(_)) => Err(format!("The tree '{what}' already exists {at}")),
                ("insert_tree", None) => {
                    document.graft(node, &tree, root);
                    Ok(format!("Inserted tree '{what}' {at}"))
                }
                (_, Some(child)) => {
                    document.remove(node, child);
                    Ok(format!("Deleted tree '{what}' {at}"))
                }
                (_, None) => {
                    Err(format!("The promised tree to be deleted '{what}' does not exist {at}"))
                }
            }
        }
        "delete_attribute" => match document.attribute(node, &what) {
            Some(_) => {
                document.set_attribute(node, &what, None);
                Ok(format!("Deleted attribute '{what}' {at_the}"))
            }
            None => Err(format!("Attribute '{what}' (to be deleted {at_the}) does not exist")),
        },
        "set_attribute" => {
            let value = promise.scalar("attribute_value").cloned().unwrap_or_default();
            if document.attribute(node, &what) == Some(&*value) {
                Err(format!("Attribute with name '{what}' and value '{value}' already exists {at}"))
            } else {
                document.set_attribute(node, &what, Some(&value));
                Ok(format!("Set attribute with name '{what}' to value '{value}' {at}"))
            }
        }
        "delete_text" => {
            let text = document.text(node);
            if text.contains(&*what) {
                let rest = text.replace(&*what, "");
                document.set_text(node, &rest);
                // The text stays, with nothing in it.
                if rest.is_empty() {
                    document.add_text(node, "");
                }
                Ok(format!("Deleted text '{what}' {at_the}"))
            } else {
                Err(format!("Text '{what}' does not exist {at_the}"))
            }
        }
        "set_text" => {
            if document.text(node) == *what {
                Err(format!("Text '{what}' already exists {at}"))
            } else {
                document.set_text(node, &what);
                Ok(format!("Set text '{what}' {at}"))
            }
        }
        _ => {
            if document.text(node).contains(&*what) {
                Err(format!("Text '{what}' already exists {at_the}"))
            } else {
                document.add_text(node, &what);
                Ok(format!("Inserted text '{what}' {at_the}"))
            }
        }
    };
    result.merge(log_edit(ctx, promise, edit, done))
}

// Says what was done, or why nothing was.
fn log_edit(
    ctx: &mut Agent<'_>,
    promise: &Expanded,
    edit: &mut XmlEdit,
    done: Result<String, String>,
) -> Outcome {
    match done {
        Ok(text) => {
            edit.edits += 1;
            ctx.settle(Level::Info, Outcome::Repaired, promise, &text)
        }
        Err(text) => ctx.settle(Level::Verbose, Outcome::Kept, promise, &text),
    }
}

fn build(ctx: &mut Agent<'_>, promise: &Expanded, edit: &mut XmlEdit, wanted: &str) -> Outcome {
    let Some(steps) = path(wanted) else {
        let text = format!("The promised XPath build '{wanted}' breaks its own promises");
        return ctx.settle(Level::Error, Outcome::Interrupted, promise, &text);
    };
    let empty = edit.document.root().is_none();
    if !empty && edit.document.select(&steps[..1]).is_empty() {
        let text = format!(
            "The promised XML document '{}' already exists and contains a root element",
            edit.file
        );
        return ctx.settle(Level::Error, Outcome::Interrupted, promise, &text);
    }
    let done = if edit.document.build(&steps) {
        let place = if empty { "into an empty" } else { "in" };
        Ok(format!("Built XPath '{wanted}' {place} XML document '{}'", edit.file))
    } else {
        Err(format!("XPath '{wanted}' already exists in XML document '{}'", edit.file))
    };
    log_edit(ctx, promise, edit, done)
}

fn insert_root(ctx: &mut Agent<'_>, promise: &Expanded, edit: &mut XmlEdit, what: &str) -> Outcome {
    let tree = Document::parse(what.trim());
    let Some((tree, root)) = tree.and_then(|tree| tree.root().map(|root| (tree, root))) else {
        let text = format!(
            "Failed to parse the tree '{what}' (to be inserted into the XML document '{}')",
            edit.file
        );
        return ctx.settle(Level::Error, Outcome::Failed, promise, &text);
    };
    let done = match edit.document.root() {
        None => {
            edit.document.graft(0, &tree, root);
            Ok(format!("Inserted tree '{what}' into an empty XML document '{}'", edit.file))
        }
        Some(present) if edit.document.same(present, &tree, root) => Err(format!(
            "The promised XML document '{}' already exists and contains the correct root element",
            edit.file
        )),
        Some(_) => {
            let text = format!(
                "The tree '{what}' requested to be inserted into the XML document '{}', however XML document is not empty and tree to be inserted does not match existing content",
                edit.file
            );
            return ctx.settle(Level::Error, Outcome::Interrupted, promise, &text);
        }
    };
    log_edit(ctx, promise, edit, done)
}

// A path that depends on the place among siblings would select another node once edited.
fn converges(select: &str) -> bool {
    let number = r"(\d+|last\s*\(\s*\))\s*((\+|-|\*|div|mod)\s*\d+\s*)*";
    let position = r"(position\s*\(\s*\)\s*(=|!=|<|<=|>|>=)\s*)?";
    let pattern = format!(
        r"\[\s*([^\[\]]*\s*(\||or|and))?\s*{position}\s*{number}\s*((\||or|and)[^\[\]]*)?\]|(following|preceding)(-sibling)?\s*::"
    );
    fx_cfengine::regex::find(&pattern, select).is_none()
}

fn contradiction(kind: &str, what: &str) -> String {
    match kind {
        "delete_tree" => format!("tree deletion '{what}' is inconsistent"),
        "insert_tree" => format!("tree insertion '{what}' breaks its own promises"),
        "delete_attribute" => format!("attribute deletion '{what}', is inconsistent"),
        "set_attribute" => format!("attribute set '{what}', breaks its own promises"),
        "delete_text" => format!("text deletion '{what}' is inconsistent"),
        "set_text" => format!("text set '{what}' breaks its own promises"),
        _ => format!("text insertion '{what}' breaks its own promises"),
    }
}

// The one node a path selects; errors are said here.
fn selected(
    ctx: &mut Agent<'_>,
    promise: &Expanded,
    edit: &XmlEdit,
    select: &str,
    kind: &str,
) -> Option<Id> {
    let found = path(select).map(|steps| edit.document.select(&steps));
    let file = &edit.file;
    let text = match found.as_deref() {
        Some([one]) => return Some(*one),
        Some([]) => None,
        None => Some(format!("Unable to evaluate XPath expression '{select}'")),
        Some(many) => Some(format!(
            "Current select_xpath expression '{select}' returns {} edit nodes in XML document '{file}', unique edit node required",
            many.len()
        )),
    };
    if let Some(text) = text {
        ctx.settle(Level::Error, Outcome::Interrupted, promise, &text);
    }
    let text = match kind {
        "set_attribute" => {
            format!("No node to edit selected by XPath '{select}' in the XML document '{file}'")
        }
        "set_text" => format!("No node selected by XPath '{select}' in the XML document '{file}'"),
        "delete_text" | "insert_text" => {
            format!("No node selected by XPath '{select}' in XML document '{file}'")
        }
        "delete_tree" => format!(
            "The promised XPath pattern '{select}', was NOT successful when selecting an edit node, in XML document '{file})"
        ),
        _ => format!(
            "The promised XPath pattern '{select}', was NOT successful when selecting an edit node, in XML document '{file}'"
        ),
    };
    ctx.settle(Level::Error, Outcome::Interrupted, promise, &text);
    None
}
