//! Policy written out as policy, as `cf-promises -p cf` does: bundles first, then bodies.
//!
//! Comments, promisees and promise blocks are not part of it, in the original neither.

use std::rc::Rc;

use crate::policy::{Attribute, Body, Bundle, Policy, Rval};
use crate::text::Str;

/// The text of `cf-promises -p cf-full`, or of `-p cf` for one file.
pub(crate) fn output(policy: &Policy, only: Option<&str>) -> String {
    let wanted = |file: &Str| only.is_none_or(|only| &**file == only);
    let mut out = String::new();
    for bundle in policy.bundles.iter().filter(|bundle| wanted(&bundle.head.file)) {
        write_bundle(bundle, &mut out);
    }
    for body in policy.bodies.iter().filter(|body| wanted(&body.file)) {
        write_body(body, &mut out);
    }
    out
}

fn head(kind: &str, of: &str, name: &str, args: &[Str], out: &mut String) {
    out.push_str(&format!("{kind} {of} {name}({})\n{{\n", args.join(", ")));
}

fn write_bundle(bundle: &Rc<Bundle>, out: &mut String) {
    head("bundle", &bundle.head.kind, &bundle.head.name, &bundle.head.args, out);
    for section in &bundle.sections {
        out.push_str(&format!("{}:\n", section.kind));
        let mut guard: Option<&Str> = None;
        for promise in &section.promises {
            if guard != Some(&promise.guard) {
                guard = Some(&promise.guard);
                out.push_str(&format!("  {}::\n", promise.guard));
            }
            out.push_str(&format!("    {}", quoted(&promise.promiser)));
            for (index, attribute) in promise.attributes.iter().enumerate() {
                out.push_str(if index == 0 { "        " } else { ",\n        " });
                write_attribute(attribute, out);
            }
            out.push_str(";\n");
        }
        out.push('\n');
    }
    if !bundle.sections.is_empty() {
        out.push('\n');
    }
    out.push_str("}\n\n");
}

fn write_body(body: &Rc<Body>, out: &mut String) {
    head("body", &body.kind, &body.name, &body.args, out);
    let mut guard = "any";
    for (index, attribute) in body.attributes.iter().enumerate() {
        let wanted = attribute.guard.as_deref().unwrap_or("any");
        if wanted != guard {
            guard = wanted;
            // A blank line ends a group, and another is before a guard.
            if index > 0 {
                out.push('\n');
            }
            if guard != "any" {
                out.push_str(&format!("\n{guard}::"));
            }
        }
        out.push_str("  ");
        write_attribute(attribute, out);
        out.push_str(";\n");
    }
    if !body.attributes.is_empty() {
        out.push('\n');
    }
    out.push_str("}\n\n");
}

fn write_attribute(attribute: &Attribute, out: &mut String) {
    out.push_str(&format!("{} => ", attribute.name));
    match &attribute.value {
        Rval::Scalar(text) if attribute.bare => out.push_str(text),
        value => write_value(value, out),
    }
}

/// A value as it stands in policy; a list has a blank before it.
pub(crate) fn value(value: &Rval) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

fn write_value(value: &Rval, out: &mut String) {
    match value {
        Rval::None => {}
        Rval::Scalar(text) => out.push_str(&quoted(text)),
        Rval::List(items) if items.is_empty() => {}
        Rval::List(items) => {
            out.push_str(" {");
            write_all(items, out);
            out.push('}');
        }
        Rval::Call(call) => {
            out.push_str(&format!("{}(", call.name));
            write_all(&call.args, out);
            out.push(')');
        }
        Rval::Data(json) => out.push_str(&json.pretty()),
    }
}

fn write_all(items: &[Rval], out: &mut String) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_value(item, out);
    }
}

// Only quotes are marked: a backslash stands for itself everywhere else.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\\\""))
}
