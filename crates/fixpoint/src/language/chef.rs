//! Chef recipes, cookbooks and repositories for the verbs: what is loaded from where, and
//! with which run list.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use fx_engine::Level;
use fx_host::{
    Commands, Edits, Env, Files, Line, OsHost, Sandbox, SandboxOptions, Spec, Stream, WriteOptions,
};
use fx_source::{Diagnostic, Location, Origin, Span};
use serde_json::{Value as J, json};

use super::{Ended, PolicyArgs, Way, files};
use crate::stage::Stage;
use crate::{exit, terminal};

pub(super) fn evaluate(stage: &Stage, target: &Path, policy: &PolicyArgs, way: Way) -> Ended {
    let refused = Arc::default();
    let mut request = fx_chef::Request {
        cwd: stage.host.cwd(),
        refused: Some(Arc::clone(&refused)),
        ..fx_chef::Request::default()
    };
    request.options.insert("explains".into(), json!(true));
    let full = stage.host.cwd().join(target);
    let name = target.display();
    let mut run_list = policy.run_list.clone();
    if policy.server {
        request.options.insert("config".into(), json!(full.display().to_string()));
        request.options.insert("override".into(), json!(!run_list.is_empty()));
    } else if target.extension().is_some_and(|extension| extension == "rb") {
        request.options.insert("recipe_files".into(), json!([full.display().to_string()]));
    } else {
        let (cookbooks, own) = match full.join("metadata.rb") {
            file if stage.host.stat(&file).is_ok() => {
                (full.parent().unwrap_or(&full).to_path_buf(), book_name(&stage.host, &full))
            }
            _ => (full.join("cookbooks"), None),
        };
        if run_list.is_empty()
            && let Some(own) = own
        {
            run_list = vec![format!("recipe[{own}]")];
        }
        if run_list.is_empty() {
            let text = format!("'{name}' has many cookbooks; say which with -o 'recipe[NAME]'");
            stage.run.ledger.message(Level::Error, &text, &Origin::default());
            return Ended::from(exit::ERROR);
        }
        request.options.insert("cookbook_path".into(), json!([cookbooks.display().to_string()]));
    }
    if !(policy.server && run_list.is_empty()) {
        request.options.insert("run_list".into(), json!(run_list));
    }
    if let Some(file) = &policy.json_attributes {
        let file = stage.host.cwd().join(file);
        request.options.insert("json".into(), json!(file.display().to_string()));
    }
    // A run for a server is the client's own, which keeps its node; in a copy, and where it is
    // rehearsed, the server stays as it is.
    if !policy.server {
        request.options.insert("local".into(), json!(true));
        request.options.insert("no_save".into(), json!(true));
    }
    request.options.insert("formatter".into(), json!("null"));
    request.options.insert("why_run".into(), json!(way.rehearse));
    let code = fx_chef::run(
        stage.policy_host(),
        Rc::clone(stage.ledger()),
        stage.run.cancel.clone(),
        Rc::clone(&stage.sources),
        request,
        Box::new(std::io::sink()),
        Box::new(std::io::stderr()),
    );
    let code = match code {
        exit::OK | REBOOT_SCHEDULED | REBOOT_NEEDED => exit::OK,
        _ => exit::ERROR,
    };
    Ended { code, refused: refused.get().cloned() }
}

/// Codes of RFC 062 that are no failure.
const REBOOT_SCHEDULED: u8 = 35;
const REBOOT_NEEDED: u8 = 37;

/// What is wrong with the text of each file; then, as root, what compiling the recipes in a
/// throw-away copy of the machine finds. Compiling can act, so without a copy it is not done.
pub(super) fn check(stage: &Stage, target: &Path, policy: &PolicyArgs) -> Vec<Diagnostic> {
    let mut found = texts(stage, target);
    if found.is_empty() {
        compiled(stage, &stage.host.cwd().join(target), policy, &mut found);
    }
    found
}

/// What is wrong with the text of each file.
pub(super) fn texts(stage: &Stage, target: &Path) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let full = stage.host.cwd().join(target);
    for file in files::below(stage, target) {
        let rest = file.strip_prefix(&full).unwrap_or(&file);
        let left_out = rest.components().any(|part| {
            // Files that are handed out are the cookbook's goods, whatever their form.
            let name = part.as_os_str().to_string_lossy();
            name == "files" || name.starts_with('.')
        });
        if left_out {
            continue;
        }
        found.extend(super::check_text(stage, &file));
        if file.ends_with("metadata.rb") {
            found.extend(metadata(stage, &file));
        }
        if files::ending(&file) == "json" && file.parent().is_some_and(|dir| dir.ends_with("roles"))
        {
            found.extend(run_list_of_role(stage, &full, &file));
        }
    }
    found
}

/// Recipes that the run list of a role names and that a cookbook of the repository does not have.
fn run_list_of_role(stage: &Stage, top: &Path, file: &Path) -> Vec<Diagnostic> {
    let Ok(text) = stage.host.read_limited(file, fx_host::limits::POLICY) else {
        return Vec::new();
    };
    let Ok(role) = serde_json::from_slice::<J>(&text) else { return Vec::new() };
    let id = stage.sources.add(&file.display().to_string(), text.clone());
    let mut found = Vec::new();
    for entry in role["run_list"].as_array().into_iter().flatten().filter_map(J::as_str) {
        let name = entry.strip_prefix("recipe[").and_then(|rest| rest.strip_suffix(']'));
        let Some((book, recipe)) = name.and_then(|name| name.split_once("::")) else { continue };
        let recipes = top.join("cookbooks").join(book).join("recipes");
        // A cookbook that is not here may be on a server.
        let Ok(entries) = stage.host.list(&recipes) else { continue };
        let names = entries.iter().filter_map(|entry| {
            let name = Path::new(&entry.name);
            let known = matches!(files::ending(name), "rb" | "yml" | "yaml" | "json");
            known.then(|| name.file_stem().map(|stem| stem.to_string_lossy().into_owned()))?
        });
        let names: Vec<String> = names.collect();
        let quoted = format!("\"{entry}\"");
        let at = text.windows(quoted.len()).position(|part| part == quoted.as_bytes());
        let Some(at) = at.filter(|_| names.iter().all(|name| name != recipe)) else { continue };
        let span = Span::new(id, at as u32, (at + quoted.len()) as u32);
        let message = format!("cookbook '{book}' has no recipe '{recipe}'");
        let mut out = Diagnostic::error("chef-missing-file", message).label(span, "");
        if let Some(near) = fx_source::meant(recipe, names.iter().map(String::as_str)) {
            out = out.help(format!("did you mean '{book}::{near}'?"));
        }
        found.push(out);
    }
    found
}

/// Words of a cookbook's metadata. Others are left out without a word.
const METADATA: [&str; 24] = [
    "name",
    "version",
    "maintainer",
    "maintainer_email",
    "license",
    "description",
    "long_description",
    "depends",
    "supports",
    "recommends",
    "suggests",
    "conflicts",
    "provides",
    "replaces",
    "recipe",
    "attribute",
    "grouping",
    "chef_version",
    "ohai_version",
    "gem",
    "source_url",
    "issues_url",
    "privacy",
    "eager_load_libraries",
];

/// Lines of a cookbook's metadata that begin with a misspelt word.
fn metadata(stage: &Stage, file: &Path) -> Vec<Diagnostic> {
    let Ok(text) = stage.host.read_limited(file, fx_host::limits::POLICY) else {
        return Vec::new();
    };
    let id = stage.sources.add(&file.display().to_string(), text.clone());
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let length = line.iter().take_while(|byte| byte.is_ascii_lowercase() || **byte == b'_');
        let length = length.count();
        let word = String::from_utf8_lossy(&line[..length]).into_owned();
        let said = line
            .get(length..length + 2)
            .is_some_and(|rest| rest[0] == b' ' && matches!(rest[1], b'\'' | b'"' | b'%'));
        if said
            && !METADATA.contains(&&*word)
            && let Some(near) = fx_source::meant(&word, METADATA.into_iter())
        {
            let span = Span::new(id, at as u32, (at + length) as u32);
            found.push(
                Diagnostic::error("chef-metadata", format!("unknown word '{word}' in metadata"))
                    .label(span, "")
                    .help(format!("did you mean '{near}'?")),
            );
        }
        // A bare word is a call that gives nothing, as every word does that metadata does not know.
        let rest = line[length..].trim_ascii();
        let is_name = |byte: &u8| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-');
        if ["name", "depends", "supports"].contains(&&*word)
            && !rest.is_empty()
            && rest.iter().all(is_name)
        {
            let name = String::from_utf8_lossy(rest);
            let end = at + line.trim_ascii_end().len();
            let span = Span::new(id, (end - rest.len()) as u32, end as u32);
            let text = format!("'{name}' is no text, so '{word}' gets nothing");
            found.push(
                Diagnostic::error("chef-metadata", text)
                    .label(span, "")
                    .help(format!("write '{name}' in quotes")),
            );
        }
        at += line.len();
    }
    found
}

/// Classes of the client's failures before it reads a recipe.
const REFUSALS: [&str; 2] = ["Configuration error", "Chef::Exceptions::ConfigurationError"];

/// Compiles each recipe by itself and adds what is found.
fn compiled(stage: &Stage, target: &Path, policy: &PolicyArgs, found: &mut Vec<Diagnostic>) {
    // Inside a locked copy there is no other to be made, and none is needed.
    let sandbox = match Sandbox::new(&SandboxOptions::default()) {
        Ok(sandbox) => Some(sandbox),
        Err(_) if Sandbox::is_here() => None,
        Err(_) => return,
    };
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
    for words in run_lists(stage, target, policy) {
        let mut argv: Vec<OsString> = vec![program.clone().into(), "chef-client".into()];
        let shared = ["-z", "-F", "null", "--fx-findings", "--fx-collection", "/dev/null"];
        argv.extend(shared.map(OsString::from));
        let name = words.last().map(|word| word.to_string_lossy().into_owned());
        argv.extend(words);
        let spec = Spec { cwd: Some(stage.host.cwd()), ..Spec::argv(argv) };
        let mut on_line = |line: Line<'_>| {
            let text = String::from_utf8_lossy(line.bytes).into_owned();
            let Ok(told) = serde_json::from_str::<J>(&text) else { return };
            let new = if told["failure"].is_string() {
                failure(stage, &told, name.as_deref())
            } else if told["finding"].is_string() {
                finding(stage, &told)
            } else {
                return;
            };
            let same = |old: &Diagnostic| {
                old.message == new.message && place(stage, old) == place(stage, &new)
            };
            if !found.iter().any(same) {
                found.push(new);
            }
        };
        let ended = match &sandbox {
            Some(sandbox) => sandbox.run_streaming(&stage.host, &spec, &mut on_line),
            None => Commands::run_streaming(&*stage.host, &spec, &mut on_line),
        };
        if let Err(error) = ended {
            found.push(Diagnostic::warning("chef-compile", error.to_string()));
        }
    }
}

/// The resource collection of a recipe, a cookbook or a repository as JSON. Recipes can act
/// while they compile, so this is done in a throw-away copy of the machine.
pub(crate) fn collection(
    target: &Path,
    run_list: &[String],
    facts: Option<&Path>,
    output: Option<&Path>,
) -> u8 {
    let stage = Stage::new(fx_host::stop_on_signals());
    let sandbox = match Sandbox::new(&SandboxOptions::default()) {
        Ok(sandbox) => sandbox,
        Err(error) => {
            terminal::complain(format!(
                "cookbooks are compiled in a copy of the machine, since recipes can act: {error}"
            ));
            return exit::ERROR;
        }
    };
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
    let mut argv: Vec<OsString> = vec![program.into(), "chef-client".into()];
    argv.extend(["-z", "-F", "null", "--fx-collection", "/dev/stdout"].map(OsString::from));
    if let Some(facts) = facts {
        argv.extend(["--fx-facts".into(), stage.host.cwd().join(facts).into_os_string()]);
    }
    let full = stage.host.cwd().join(target);
    if target.extension().is_some_and(|extension| extension == "rb") {
        argv.push(full.into());
    } else {
        let own = stage.host.stat(&full.join("metadata.rb")).is_ok();
        let books = match full.parent() {
            Some(parent) if own => parent.to_path_buf(),
            _ => full.join("cookbooks"),
        };
        let list = match book_name(&stage.host, &full) {
            Some(name) if own && run_list.is_empty() => format!("recipe[{name}]"),
            _ => run_list.join(","),
        };
        if list.is_empty() {
            let name = target.display();
            terminal::complain(format!("'{name}' has many cookbooks; say which with --run-list"));
            return exit::ERROR;
        }
        argv.extend(["--cookbook-path".into(), books.into(), "-o".into(), list.into()]);
    }
    let spec = Spec { cwd: Some(stage.host.cwd()), output_limit: 0, ..Spec::argv(argv) };
    let mut text = String::new();
    let ended = sandbox.run_streaming(&stage.host, &spec, &mut |line| {
        let said = String::from_utf8_lossy(line.bytes);
        match line.stream {
            Stream::Stdout if said.starts_with('{') => {
                text.push_str(&said);
                text.push('\n');
            }
            Stream::Stdout => {}
            Stream::Stderr => terminal::complain(said),
        }
    });
    // A collection that could not be made is an object with the error instead.
    if let Ok(J::Object(made)) = serde_json::from_str::<J>(&text)
        && let Some(error) = made.get("error")
    {
        let part = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        let message = part("message");
        let first = message.lines().next().unwrap_or_default();
        terminal::complain(format!("{}: {first}", part("class")));
    }
    let code = match ended {
        Ok(ended) => ended.exit.code().clamp(0, 255) as u8,
        Err(error) => {
            terminal::complain(error);
            return exit::ERROR;
        }
    };
    let written = match output {
        Some(path) if code == exit::OK => stage
            .host
            .write(&stage.host.cwd().join(path), text.as_bytes(), &WriteOptions::default())
            .and_then(|()| stage.host.commit()),
        Some(_) => Ok(()),
        None => return code.max(terminal::print(&text)),
    };
    match written {
        Ok(()) => code,
        Err(error) => {
            terminal::complain(error);
            exit::ERROR
        }
    }
}

/// The class of what a server answers when it does not have something.
const MISSING: &str = "Net::HTTPServerException";

fn place(stage: &Stage, found: &Diagnostic) -> Option<Location> {
    found.primary().map(|span| stage.sources.location(span))
}

/// Why a recipe does not compile, as JSON: an error where its own code is the reason, a warning
/// where it lacks something that this machine does not have.
fn failure(stage: &Stage, told: &J, recipe: Option<&str>) -> Diagnostic {
    let message = told["failure"].as_str().unwrap_or_default();
    let placed = told["labels"].as_array().is_some_and(|labels| !labels.is_empty());
    let missing = told["missing"].as_bool().unwrap_or(false);
    // What root refuses to read was not checked at all.
    let refused = told["class"].as_str().is_some_and(|class| REFUSALS.contains(&class));
    let out = if refused || placed && !missing {
        Diagnostic::error("chef-compile", message)
    } else if placed && told["class"].as_str() == Some(MISSING) {
        // One line asks for it, whichever recipes are compiled.
        Diagnostic::warning("chef-compile", message)
    } else {
        let name = recipe.unwrap_or_default();
        let text = format!("{name} does not compile on this machine: {message}");
        Diagnostic::warning("chef-compile", text)
    };
    labelled(stage, told, out)
}

/// A finding as JSON, with its lines.
fn finding(stage: &Stage, told: &J) -> Diagnostic {
    let message = told["message"].as_str().unwrap_or_default();
    let out = match told["finding"].as_str() {
        Some("chef-missing-file") => Diagnostic::error("chef-missing-file", message),
        Some("chef-missing-resource") => Diagnostic::error("chef-missing-resource", message),
        Some("chef-required") => Diagnostic::error("chef-required", message),
        Some("chef-assignment") => Diagnostic::warning("chef-assignment", message),
        Some("chef-mode") => Diagnostic::warning("chef-mode", message),
        Some("chef-template-variable") => Diagnostic::warning("chef-template-variable", message),
        _ => Diagnostic::warning("chef-two-passes", message),
    };
    labelled(stage, told, out)
}

/// Adds the places and the help of a finding.
fn labelled(stage: &Stage, told: &J, mut out: Diagnostic) -> Diagnostic {
    let text = |value: &J| value.as_str().unwrap_or_default().to_owned();
    for label in told["labels"].as_array().into_iter().flatten() {
        let file = text(&label["file"]);
        let Ok(bytes) = stage.host.read(Path::new(&file)) else { continue };
        let line = label["line"].as_u64().unwrap_or(1).max(1) as usize;
        let start: usize =
            bytes.split_inclusive(|byte| *byte == b'\n').take(line - 1).map(<[u8]>::len).sum();
        let rest = &bytes[start.min(bytes.len())..];
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let (start, rest) = (start + blanks, &rest[blanks..]);
        let end = start + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let id = stage.sources.add(&file, bytes);
        out = out.label(Span::new(id, start as u32, end as u32), text(&label["text"]));
    }
    match told["help"].as_str() {
        Some(help) => out.help(help),
        None => out,
    }
}

/// The words that name each run: a recipe, each recipe of a cookbook or of all cookbooks, or
/// the run list that was given.
fn run_lists(stage: &Stage, target: &Path, policy: &PolicyArgs) -> Vec<Vec<OsString>> {
    if target.extension().is_some_and(|extension| extension == "rb") {
        return vec![vec![target.into()]];
    }
    let has = |name: &str| stage.host.stat(&target.join(name)).is_ok();
    let one = has("metadata.rb") || has("recipes");
    let parent = match target.parent() {
        Some(parent) if one => parent.to_path_buf(),
        // A repository has a folder of cookbooks; another directory is one.
        _ if has("cookbooks") => target.join("cookbooks"),
        _ => target.to_path_buf(),
    };
    let with = |list: String| -> Vec<OsString> {
        vec!["--cookbook-path".into(), parent.clone().into(), "-o".into(), list.into()]
    };
    if !policy.run_list.is_empty() {
        return vec![with(policy.run_list.join(","))];
    }
    let books = if one {
        vec![target.to_path_buf()]
    } else {
        let mut books: Vec<PathBuf> = stage
            .host
            .list(&parent)
            .unwrap_or_default()
            .into_iter()
            .map(|entry| parent.join(entry.name))
            .collect();
        books.sort();
        books
    };
    let mut lists = Vec::new();
    for book in books {
        let Some(name) = book_name(&stage.host, &book) else { continue };
        let mut recipes: Vec<String> = stage
            .host
            .list(&book.join("recipes"))
            .unwrap_or_default()
            .into_iter()
            .filter_map(|entry| {
                let file = entry.name.to_string_lossy().into_owned();
                file.strip_suffix(".rb").map(str::to_owned)
            })
            .collect();
        recipes.sort();
        lists.extend(recipes.into_iter().map(|recipe| with(format!("recipe[{name}::{recipe}]"))));
    }
    lists
}

/// The name of a cookbook: what its metadata says, which need not be that of its directory.
fn book_name(host: &OsHost, book: &Path) -> Option<String> {
    let read = |name: &str| host.read_limited(&book.join(name), fx_host::limits::DATA).ok();
    let of_ruby = || read("metadata.rb").and_then(|text| named(&String::from_utf8_lossy(&text)));
    let of_json = || {
        let metadata: J = serde_json::from_slice(&read("metadata.json")?).ok()?;
        metadata["name"].as_str().map(str::to_owned)
    };
    let of_directory = || book.file_name().map(|name| name.to_string_lossy().into_owned());
    of_ruby().or_else(of_json).or_else(of_directory)
}

/// The name in the text of a cookbook's metadata, where it is written out.
fn named(metadata: &str) -> Option<String> {
    metadata.lines().find_map(|line| {
        let rest = line.trim_start().strip_prefix("name")?;
        let rest = rest.trim_start_matches([' ', '\t', '(']);
        let quote = rest.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
        let (name, _) = rest[1..].split_once(quote)?;
        (!name.is_empty() && !name.contains("#{")).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_cookbook_s_name_is_read_where_it_is_written_out() {
        for (text, name) in [
            ("name 'web'\n", Some("web")),
            ("maintainer 'x'\n  name(\"web\")\n", Some("web")),
            ("name\t'a-b' # c\n", Some("a-b")),
            ("names 'x'\nname ENV['x']\nname \"#{x}\"\n", None),
        ] {
            assert_eq!(named(text).as_deref(), name, "{text}");
        }
    }
}
