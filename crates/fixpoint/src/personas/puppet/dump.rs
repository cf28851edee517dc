//! `puppet parser dump` and `puppet epp dump`: the tree of a program or a template as text.

use std::io;
use std::path::Path;

use fx_host::{Files, OsHost};
use fx_puppet_syntax::{Program, Strictness};
use fx_source::{Diagnostic, Severity, SourceMap};

use super::flags::Flags;
use crate::terminal;

type Parse = fn(&[u8], fx_source::FileId) -> (Program, Vec<Diagnostic>);

fn complain(text: &str) {
    terminal::hand_on(&format!("Error: {text}\n"));
}

fn complain_of(wrong: &[String]) {
    for why in wrong {
        complain(why);
    }
}

/// The tree in the wanted form.
fn formed(flags: &Flags, program: &Program) -> String {
    let pretty = flags.has("pretty");
    match flags.get("format") {
        None | Some("old") => fx_puppet_syntax::dump(program),
        Some("json") => fx_puppet_syntax::pn::tree(program).json(pretty),
        Some(_) => fx_puppet_syntax::pn::tree(program).text(pretty),
    }
}

/// The tree of a text, or what is wrong with it. Checks beyond the syntax are made only where
/// they are wanted.
fn tree(flags: &Flags, name: &str, text: &[u8], parse: Parse) -> Result<String, Vec<String>> {
    let sources = SourceMap::new();
    let file = sources.add(name, text.to_vec());
    let (program, mut found) = parse(text, file);
    let is_error = |found: &Diagnostic| found.severity == Severity::Error;
    if !found.iter().any(is_error) && flags.has("validate") {
        found.extend(fx_puppet_syntax::validate(&program, Strictness::Warning));
    }
    let wrong: Vec<String> = found
        .iter()
        .filter(|found| is_error(found))
        .map(|found| {
            let place = super::parser::place(&sources, found);
            format!("{}{place}", found.message)
        })
        .collect();
    if wrong.is_empty() { Ok(formed(flags, &program)) } else { Err(wrong) }
}

fn print(mut out: String) -> u8 {
    if !out.ends_with('\n') {
        out.push('\n');
    }
    terminal::print(&out)
}

/// What was given instead of files: a text on the command line, or standard input.
fn given(flags: &Flags, files: &[String]) -> io::Result<Option<(&'static str, Vec<u8>)>> {
    if let Some(text) = flags.get("e") {
        return Ok(Some(("command-line-string", text.as_bytes().to_vec())));
    }
    if !files.is_empty() {
        return Ok(None);
    }
    Ok(Some(("stdin", crate::stdin::policy()?)))
}

/// What is dumped of what was given instead of files; the exit code.
fn dump_given(flags: &Flags, name: &str, text: &[u8], parse: Parse) -> u8 {
    match tree(flags, name, text, parse) {
        Ok(tree) => print(tree),
        Err(wrong) => {
            complain_of(&wrong);
            print(String::new())
        }
    }
}

/// Standard input could not be read: how a face of the original fails.
fn unread(face: &str, error: &io::Error) -> u8 {
    complain(&super::unread_input(error));
    complain(&format!("Try 'puppet help {face} dump' for usage"));
    1
}

/// Whether the form has a line for each file.
fn has_heads(flags: &Flags) -> bool {
    flags.get("format") != Some("json")
}

pub(super) fn parser(flags: &Flags, files: &[String]) -> u8 {
    let checks = flags.has("validate");
    match given(flags, files) {
        Ok(Some((name, text))) => {
            let name = if checks { name } else { "" };
            return dump_given(flags, name, &text, fx_puppet_syntax::parse);
        }
        Ok(None) => {}
        Err(error) => return unread("parser", &error),
    }
    let host = OsHost::new();
    let (mut out, mut missing) = (String::new(), Vec::new());
    for file in files {
        let Ok(text) = host.read(Path::new(file)) else {
            missing.push(format!("   {file}"));
            continue;
        };
        match tree(flags, if checks { file } else { "" }, &text, fx_puppet_syntax::parse) {
            Ok(tree) => {
                if has_heads(flags) {
                    out += "--- ";
                    out += file;
                }
                out.push_str(&tree);
                if matches!(flags.get("format"), None | Some("old")) {
                    out.push('\n');
                }
            }
            Err(wrong) => {
                complain(&format!("--- {file}"));
                complain_of(&wrong);
            }
        }
    }
    if !missing.is_empty() {
        out.push_str("One or more file(s) specified did not exist:\n");
        out.push_str(&missing.join("\n"));
    }
    print(out)
}

pub(super) fn epp(flags: &Flags, files: &[String]) -> u8 {
    match given(flags, files) {
        Ok(Some((_, text))) => return dump_given(flags, "", &text, fx_puppet_syntax::parse_epp),
        Ok(None) => {}
        Err(error) => return unread("epp", &error),
    }
    let host = OsHost::new();
    let heads = files.len() > 1 && !flags.has("no-header") || flags.has("header");
    let mut out = String::new();
    for file in files {
        let path = super::epp::template_file(flags, file);
        let Some(text) = path.and_then(|path| host.read(&path).ok()) else {
            complain(&format!("No such file or directory @ rb_sysopen - {file}"));
            complain("Try 'puppet help epp dump' for usage");
            return 1;
        };
        match tree(flags, file, &text, fx_puppet_syntax::parse_epp) {
            Ok(tree) => {
                if heads && has_heads(flags) {
                    out += "--- ";
                    out += file;
                    out.push('\n');
                }
                out.push_str(&tree);
                if matches!(flags.get("format"), None | Some("old")) {
                    out.push('\n');
                }
            }
            Err(wrong) => complain_of(&wrong),
        }
    }
    print(out)
}
