//! `puppet parser validate|dump`: what is wrong with manifests, or their trees.

use std::io::IsTerminal;
use std::path::Path;

use fx_host::{Files, OsHost};
use fx_puppet_syntax::Strictness;
use fx_source::{Severity, SourceMap};

use super::complain;
use super::flags::Flags;

/// Runs the subcommand; its exit code.
pub(super) fn run(flags: &Flags, words: &[String]) -> u8 {
    let host = OsHost::cancelled_by(fx_host::stop_on_signals());
    let Some((action, files)) = words.split_first() else {
        complain("Error: 'parser' has no default action.  See `puppet help parser`.");
        return 1;
    };
    if action == "dump" {
        return super::dump::parser(flags, files);
    }
    if action != "validate" {
        complain(&format!("Error: 'parser' has no '{action}' action.  See `puppet help parser`."));
        return 1;
    }
    let mut code = flags.get("e").map(|code| code.as_bytes().to_vec());
    let mut files = files.to_vec();
    if files.is_empty() && code.is_none() {
        if std::io::stdin().is_terminal() {
            files.push(default_manifest(&host, flags));
        } else {
            match crate::stdin::policy() {
                Ok(text) => code = Some(text),
                Err(error) => return super::ground::fail(error),
            }
        }
    }
    let mut worst = 0;
    let files = files.iter().flat_map(|file| manifests(&host, file));
    let texts = files
        .map(|file| (file.clone(), host.read(Path::new(&file)).ok()))
        .chain(code.map(|code| (String::new(), Some(code))));
    for (name, text) in texts {
        let Some(text) = text else {
            complain(&format!(
                "Error: One or more file(s) specified did not exist:\n[\"   {name}\\n\"]"
            ));
            complain("Error: Try 'puppet help parser validate' for usage");
            worst = 1;
            continue;
        };
        let sources = SourceMap::new();
        let full = std::path::absolute(&name).map_or(name, |full| full.display().to_string());
        let file = sources.add(&full, text.clone());
        let (program, mut found) = fx_puppet_syntax::parse(&text, file);
        if found.iter().all(|found| found.severity != Severity::Error) {
            found.extend(fx_puppet_syntax::validate(&program, Strictness::Warning));
        }
        let errors = found.iter().filter(|found| found.severity == Severity::Error).count();
        for found in &found {
            let place = place(&sources, found);
            match found.severity {
                // One error is that of the whole, several stand each for itself.
                Severity::Error if errors == 1 => complain(&format!(
                    "Error: Could not parse for environment production: {}{place}",
                    found.message
                )),
                Severity::Error => complain(&format!("Error: {}{place}", found.message)),
                _ => complain(&format!("Warning: {}{place}", found.message)),
            }
        }
        if errors > 1 {
            complain(&format!("Error: Language validation logged {errors} errors. Giving up"));
        }
        if errors > 0 {
            worst = 1;
        }
    }
    worst
}

/// The manifests of the environment, which are meant where nothing is named.
fn default_manifest(host: &OsHost, flags: &Flags) -> String {
    let settings = super::settings::Settings::read(host, flags, "main");
    let manifest =
        format!("{}/{}/manifests", settings.get("environmentpath"), settings.get("environment"));
    super::say(&format!(
        "Notice: No manifest specified. Validating the default manifest {manifest}"
    ));
    manifest
}

/// The file itself, or all manifests below a directory in the order of their paths.
fn manifests(host: &OsHost, path: &str) -> Vec<String> {
    if !host.stat(Path::new(path)).is_ok_and(|meta| meta.is_dir()) {
        return vec![path.to_owned()];
    }
    let (mut found, mut open) = (Vec::new(), vec![std::path::PathBuf::from(path)]);
    while let Some(dir) = open.pop() {
        for entry in host.list(&dir).unwrap_or_default() {
            let full = dir.join(&entry.name);
            if host.lstat(&full).is_ok_and(|meta| meta.is_dir()) {
                open.push(full);
            } else if full.extension().is_some_and(|ending| ending == "pp") {
                found.push(full.display().to_string());
            }
        }
    }
    found.sort();
    found
}

/// Where something was found, as messages end; of the end of a file only the file is named.
pub(super) fn place(sources: &SourceMap, found: &fx_source::Diagnostic) -> String {
    let Some(at) = found.primary().map(|span| sources.location(span)) else {
        return String::new();
    };
    match (at.file.is_empty(), found.code == fx_puppet_syntax::END_OF_INPUT) {
        (true, true) => String::new(),
        (false, true) => format!(" (file: {})", at.file),
        (true, false) => format!(" (line: {}, column: {})", at.line, at.column),
        (false, false) => {
            format!(" (file: {}, line: {}, column: {})", at.file, at.line, at.column)
        }
    }
}
