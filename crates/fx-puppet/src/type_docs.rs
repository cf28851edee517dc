//! What `puppet describe` prints of a type: its parameters and providers, with sentences of our
//! own for what is there without any module, and those of the module for its types.

use crate::catalogs::CatalogRequest;
use crate::compile::METAPARAMETERS;
use crate::eval::Flow;
use crate::machine::Machine;

/// Widest line.
const WIDTH: usize = 72;

/// Types that are there without any module, each with a sentence about it.
const TYPES: [(&str, &str); 13] = [
    ("exec", "Runs a command when its guards say so."),
    ("file", "Files, directories and links: content, owner, group and mode."),
    ("filebucket", "A place where the old content of files is kept."),
    ("group", "Groups of users."),
    ("notify", "Writes a message to the log of each run."),
    ("package", "Software that the system's package tools install and remove."),
    ("resources", "Removes resources of a type that no manifest mentions."),
    ("schedule", "Limits when and how often resources have their turn."),
    ("service", "Programs in the background: whether they run, now and after a start."),
    ("stage", "Puts classes before or after all others."),
    ("tidy", "Removes files that are old, large or match a pattern."),
    ("user", "Accounts of users."),
    ("whit", "An inner mark of the order of resources, of no use in manifests."),
];

/// A sentence about each parameter: `type.parameter: sentence`, or `*` for all types.
const PARAMETERS: &str = include_str!("type_docs.txt");

/// The sentence about a parameter of a type that is built in.
fn sentence(kind: &str, name: &str) -> Option<&'static str> {
    let of = |kind: &str| {
        let start = format!("{kind}.{name}: ");
        PARAMETERS.lines().find_map(|line| line.strip_prefix(&start))
    };
    of(kind).or_else(|| of("*"))
}

/// The list of types, each with the start of its sentence.
pub fn type_list() -> String {
    let mut out = String::from("These are the types known to puppet:\n");
    for (name, about) in TYPES {
        let about = about.trim_end_matches('.');
        let short: String = about.chars().take(45).collect();
        let more = if short.len() < about.len() { " ..." } else { "" };
        out.push_str(&format!("{name:<15} - {short}{more}\n"));
    }
    out
}

/// What is asked for of a type.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked {
    /// Only names.
    pub short: bool,
    /// Providers one by one.
    pub providers: bool,
    /// Parameters of every resource too.
    pub meta: bool,
}

/// What is printed about a type; nothing where there is none of the name.
pub fn describe(
    machine: &Machine,
    request: &CatalogRequest,
    kind: &str,
    asked: Asked,
) -> Result<Option<String>, String> {
    let evaluator = crate::tools::evaluator(machine, request, "localhost", Vec::new());
    let Some(found) = evaluator.native_kind(kind).map_err(Flow::text)? else { return Ok(None) };
    if kind == "component" {
        return Ok(None);
    }
    let mut names: Vec<&str> =
        found.parameters.iter().map(|name| &**name).filter(|name| *name != "provider").collect();
    names.sort_unstable();
    let about = TYPES.iter().find(|(name, _)| *name == kind).map_or("", |(_, about)| about);
    let docs = if found.is_ruby {
        evaluator.ruby_docs(kind).map_err(Flow::text)?
    } else {
        vec![(String::new(), about.to_owned())]
    };
    let doc = |name: &str| {
        let own = docs.iter().find(|(known, text)| known == name && !text.is_empty());
        own.map_or_else(
            || if name.is_empty() { "" } else { sentence(kind, name).unwrap_or_default() },
            |(_, text)| text,
        )
    };
    let mut out = format!("\n{kind}\n{}\n", "=".repeat(kind.len()));
    paragraph(doc(""), "", &mut out);
    out.push_str("\n\n");
    section("Parameters", &names, asked.short, &doc, &mut out);
    if asked.meta {
        out.push('\n');
        section("Meta Parameters", METAPARAMETERS, asked.short, &doc, &mut out);
    }
    let providers = crate::providers(kind);
    if !providers.is_empty() {
        out.push('\n');
        section("Providers", &providers, !asked.providers, &|_| "", &mut out);
    }
    Ok(Some(out))
}

/// A text in lines of a width, each with an indent. Lines that it breaks itself stay.
fn paragraph(text: &str, indent: &str, out: &mut String) {
    for line in text.trim().lines() {
        let mut made = line[..line.len() - line.trim_start().len()].to_owned();
        for word in line.split_whitespace() {
            if !made.trim().is_empty() && indent.len() + made.len() + 1 + word.len() > WIDTH + 4 {
                out.push_str(&format!("{indent}{made}\n"));
                made.clear();
            }
            if !made.trim().is_empty() {
                made.push(' ');
            }
            made.push_str(word);
        }
        out.push_str(format!("{indent}{made}").trim_end());
        out.push('\n');
    }
}

/// A headline and names under it: one a line with what is said of it, or one after the other.
fn section<'d>(
    head: &str,
    names: &[&str],
    inline: bool,
    doc: &dyn Fn(&str) -> &'d str,
    out: &mut String,
) {
    out.push_str(&format!("{head}\n{}\n", "-".repeat(head.len())));
    if !inline {
        for name in names {
            out.push_str(&format!("\n- **{name}**\n"));
            paragraph(doc(name), "    ", out);
        }
        return;
    }
    let mut line = String::new();
    for (number, name) in names.iter().enumerate() {
        let comma = if number + 1 < names.len() { "," } else { "" };
        if !line.is_empty() && line.len() + 1 + name.len() + comma.len() > WIDTH {
            out.push_str(&format!("    {line}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(name);
        line.push_str(comma);
    }
    out.push_str(&format!("    {line}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_of_the_common_types_has_a_sentence() {
        for kind in ["file", "exec", "notify", "tidy", "host", "mount", "schedule", "resources"] {
            let parameters = crate::compile::built_in(kind).expect("a type").parameters;
            for name in parameters.iter().filter(|name| &***name != "blockdevice") {
                assert!(sentence(kind, name).is_some(), "{kind}.{name}");
            }
        }
        assert!(METAPARAMETERS.iter().all(|name| sentence("any", name).is_some()));
        assert!(PARAMETERS.lines().all(|line| line.ends_with('.')));
    }

    #[test]
    fn names_are_broken_into_lines_of_a_width() {
        let names = ["alias", "audit", "before", "loglevel", "noop", "notify", "require"];
        let names = [&names[..], &["schedule", "stage", "subscribe", "tag"]].concat();
        let mut out = String::new();
        section("Meta Parameters", &names, true, &|_| "", &mut out);
        assert_eq!(
            out,
            "Meta Parameters\n---------------\n    alias, audit, before, loglevel, noop, notify, require, schedule, stage,\n    subscribe, tag\n"
        );
    }
}
