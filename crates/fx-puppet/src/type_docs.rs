//! What `puppet describe` tells of a type: its parameters and providers, and a sentence of our
//! own about each type that is there without any module.

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

/// What is told of a type; nothing where there is none of the name.
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
    let mut out = format!("\n{kind}\n{}\n", "=".repeat(kind.len()));
    if !about.is_empty() {
        out.push_str(&format!("{about}\n"));
    }
    out.push_str("\n\n");
    section("Parameters", &names, asked.short, &mut out);
    if asked.meta {
        out.push('\n');
        section("Meta Parameters", METAPARAMETERS, asked.short, &mut out);
    }
    let providers = crate::providers(kind);
    if !providers.is_empty() {
        out.push('\n');
        section("Providers", &providers, !asked.providers, &mut out);
    }
    Ok(Some(out))
}

/// A headline and names under it: one a line, or one after the other.
fn section(head: &str, names: &[&str], inline: bool, out: &mut String) {
    out.push_str(&format!("{head}\n{}\n", "-".repeat(head.len())));
    if !inline {
        for name in names {
            out.push_str(&format!("\n- **{name}**\n"));
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
    fn names_are_broken_into_lines_of_a_width() {
        let names = ["alias", "audit", "before", "loglevel", "noop", "notify", "require"];
        let names = [&names[..], &["schedule", "stage", "subscribe", "tag"]].concat();
        let mut out = String::new();
        section("Meta Parameters", &names, true, &mut out);
        assert_eq!(
            out,
            "Meta Parameters\n---------------\n    alias, audit, before, loglevel, noop, notify, require, schedule, stage,\n    subscribe, tag\n"
        );
    }
}
