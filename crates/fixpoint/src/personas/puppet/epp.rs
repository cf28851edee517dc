//! `puppet epp render|dump|validate`: templates of the language.

use std::path::{Path, PathBuf};

use fx_host::{Files, OsHost};

use super::flags::Flags;
use super::ground::{Ground, fail};
use super::settings::Settings;
use crate::terminal;

/// Runs the subcommand; its exit code.
pub(super) fn run(flags: &Flags, words: &[String]) -> u8 {
    let (action, files) = match words.split_first() {
        Some((action, files)) => (action.as_str(), files),
        None => return fail("'epp' has no default action.  See `puppet help epp`."),
    };
    let inline = flags.get("e").map(str::to_owned);
    match action {
        "render" => render(flags, files, inline),
        "dump" => super::dump::epp(flags, files),
        "validate" => epp_validate(flags, files, inline),
        other => fail(format_args!("'epp' has no '{other}' action.  See `puppet help epp`.")),
    }
}

fn render(flags: &Flags, files: &[String], inline: Option<String>) -> u8 {
    let ground = match Ground::new(flags, flags.get("node")) {
        Ok(ground) => ground,
        Err(message) => return fail(message),
    };
    let values = match (flags.get("values"), flags.get("values_file")) {
        (Some(text), _) => match fx_puppet::evaluate(&ground.machine, &ground.request, text) {
            Ok(value) => Some(value),
            Err(message) => return fail(message),
        },
        (None, Some(file)) => match OsHost::new().read(Path::new(file)) {
            Ok(text) => match fx_puppet::value_from_text(&String::from_utf8_lossy(&text)) {
                Ok(value) => Some(value),
                Err(message) => return fail(message),
            },
            Err(error) => return fail(error),
        },
        (None, None) => None,
    };
    let mut code = 0;
    let templates: Vec<(String, bool)> = match inline {
        Some(text) => vec![(text, true)],
        None => files
            .iter()
            .map(|file| {
                let full = std::path::absolute(file).unwrap_or_else(|_| PathBuf::from(file));
                let there = OsHost::new().exists(&full).unwrap_or(false);
                (if there { full.to_string_lossy().into_owned() } else { file.clone() }, false)
            })
            .collect(),
    };
    for (template, inline) in templates {
        let made = fx_puppet::epp(
            &ground.machine,
            &ground.request,
            &ground.node,
            ground.facts.clone(),
            &template,
            inline,
            values.clone(),
        );
        code = code.max(match made {
            Ok(text) => terminal::print(&text),
            Err(message) => {
                let _code = fail(message);
                let _code = fail("error while rendering epp");
                fail("Try 'puppet help epp render' for usage")
            }
        });
    }
    code
}

/// Where a template lies: a file, or one of a module by its name.
pub(super) fn template_file(flags: &Flags, name: &str) -> Option<PathBuf> {
    let host = OsHost::new();
    let is_there = |path: &PathBuf| host.stat(path).is_ok_and(|meta| !meta.is_dir());
    let file = PathBuf::from(name);
    if is_there(&file) || file.is_absolute() {
        return is_there(&file).then_some(file);
    }
    let (module, rest) = name.split_once('/')?;
    let modules = Settings::read(&host, flags, "main").request(&host).modulepath;
    let inside = |dir: &PathBuf| dir.join(module).join("templates").join(rest);
    modules.iter().map(inside).find(is_there)
}

fn epp_validate(flags: &Flags, files: &[String], inline: Option<String>) -> u8 {
    let usage = || fail("Try 'puppet help epp validate' for usage");
    let host = OsHost::new();
    let mut texts = Vec::new();
    let mut missing = Vec::new();
    match inline {
        Some(text) => texts.push((String::new(), text.into_bytes())),
        None => {
            for name in files {
                match template_file(flags, name).map(|path| (host.read(&path), path)) {
                    Some((Ok(text), path)) => {
                        texts.push((path.to_string_lossy().into_owned(), text));
                    }
                    _ => missing.push(format!("   {name}")),
                }
            }
        }
    }
    let mut code = 0;
    for (name, text) in texts {
        let sources = fx_source::SourceMap::new();
        let file = sources.add(&name, text.clone());
        let (_, found) = fx_puppet_syntax::parse_epp(&text, file);
        for found in &found {
            let place = found.primary().map(|span| sources.location(span));
            let place = match place {
                // The end has no place.
                Some(at) if found.code == fx_puppet_syntax::END_OF_INPUT => {
                    format!(" (file: {})", at.file)
                }
                Some(at) => {
                    format!(" (file: {}, line: {}, column: {})", at.file, at.line, at.column)
                }
                None => String::new(),
            };
            code = fail(format_args!("{}{place}", found.message));
        }
        if code != 0 && !flags.has("continue_on_error") {
            break;
        }
    }
    if !missing.is_empty() {
        let names = missing.join("\n");
        let _code = fail(format_args!("One or more file(s) specified did not exist:\n{names}"));
        return usage();
    }
    if code != 0 {
        let _code = fail("Errors while validating epp");
        return usage();
    }
    code
}
