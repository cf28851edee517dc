//! Subcommands of the puppet persona that answer questions: catalog, lookup, epp, config,
//! module, facts, describe.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use fx_engine::Cancel;
use fx_host::{Files, OsHost};
use fx_puppet::{CatalogRequest, Machine, Value};

use crate::puppet_settings::Settings;
use crate::terminal;

type Flags = [(String, String)];

fn say(text: &str) -> u8 {
    terminal::print(&format!("{text}\n"))
}

fn fail(message: impl std::fmt::Display) -> u8 {
    terminal::hand_on(&format!("Error: {message}\n"));
    1
}

fn flag<'f>(flags: &'f Flags, name: &str) -> Option<&'f str> {
    flags.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// What most of them need: a machine, the environment, a node and its facts.
struct Ground {
    machine: Machine,
    request: CatalogRequest,
    node: String,
    facts: Vec<(String, Value)>,
}

impl Ground {
    fn new(flags: &Flags, node: Option<&str>) -> Result<Ground, String> {
        let host = Rc::new(OsHost::new());
        let settings = Settings::read(&host, flags, "server");
        let request = settings.request(&*host);
        let machine = Machine::new(host, Cancel::default());
        let node = match node {
            Some(node) => node.to_owned(),
            None => match settings.get("certname") {
                name if name.is_empty() => fx_puppet::node_name(&machine),
                name => name,
            },
        };
        let facts = match flag(flags, "--facts") {
            Some(file) => fx_puppet::read_facts(&machine, Path::new(file))?,
            None => fx_puppet::machine_facts(&machine, &node),
        };
        Ok(Ground { machine, request, node, facts })
    }
}

/// A value as YAML, its head included.
fn yaml(value: &Value) -> String {
    fx_puppet::yaml_document(&fx_puppet::shown_json(value))
}

/// Runs a subcommand; `None` if it is not one of these.
pub(crate) fn run(name: &str, flags: &Flags, words: &[String]) -> Option<u8> {
    Some(match name {
        "catalog" => catalog(flags, words),
        "lookup" => lookup(flags, words),
        "epp" => epp(flags, words),
        "config" => crate::puppet_config::run(flags, words),
        "module" => module(flags, words),
        "facts" => facts(flags, words),
        "describe" => describe(flags, words),
        "resource" => resource(flags, words),
        _ => return None,
    })
}

fn catalog(flags: &Flags, words: &[String]) -> u8 {
    let (action, rest) = match words.split_first() {
        Some((action, rest)) => (action.as_str(), rest),
        None => return fail("'catalog' has no default action.  See `puppet help catalog`."),
    };
    if !matches!(action, "compile" | "find") {
        return fail(format_args!(
            "'catalog' has no '{action}' action.  See `puppet help catalog`."
        ));
    }
    let ground = match Ground::new(flags, rest.first().map(String::as_str)) {
        Ok(ground) => ground,
        Err(message) => return fail(message),
    };
    match fx_puppet::catalog(&ground.machine, &ground.request, &ground.node, ground.facts) {
        Ok(catalog) => match serde_json::from_str::<serde_json::Value>(&catalog) {
            Ok(catalog) => say(&format!("{catalog:#}")),
            Err(error) => fail(error),
        },
        Err(message) => fail(message),
    }
}

fn lookup(flags: &Flags, keys: &[String]) -> u8 {
    let failed = |message: &str| fail(format_args!("Could not run: {message}"));
    let explains_options = flag(flags, "--explain-options").is_some();
    if keys.is_empty() && !explains_options {
        return failed("No keys were given to lookup.");
    }
    let merge = match flag(flags, "--merge") {
        Some(word) if !matches!(word, "first" | "unique" | "hash" | "deep") => {
            return failed(
                "The --merge option only accepts 'first', 'hash', 'unique', or 'deep'\nRun 'puppet lookup --help' for more details",
            );
        }
        word => word.map(|word| strategy(word, flags)),
    };
    let deep_only = ["--knock-out-prefix", "--sort-merged-arrays", "--merge-hash-arrays"];
    if flag(flags, "--merge") != Some("deep")
        && deep_only.iter().any(|name| flag(flags, name).is_some())
    {
        return failed(
            "The options --knock-out-prefix, --sort-merged-arrays, and --merge-hash-arrays are only available with '--merge deep'\nRun 'puppet lookup --help' for more details",
        );
    }
    let ground = match Ground::new(flags, flag(flags, "--node")) {
        Ok(ground) => ground,
        Err(message) => return failed(&message),
    };
    if let Some(node) = flag(flags, "--node")
        && flag(flags, "--facts").is_none()
        && *node != fx_puppet::node_name(&ground.machine)
    {
        return failed(&format!("No facts available for target node: {node}"));
    }
    if explains_options && flag(flags, "--explain").is_none() {
        let told = fx_puppet::explain_lookup_options(
            &ground.machine,
            &ground.request,
            &ground.node,
            ground.facts,
            keys.first().map(String::as_str),
        );
        return match told {
            Ok(text) => terminal::print(&text),
            Err(message) => failed(&message),
        };
    }
    if flag(flags, "--explain").is_some() {
        let key = keys.first().map_or("lookup_options", String::as_str);
        let told = fx_puppet::explain_lookup(
            &ground.machine,
            &ground.request,
            &ground.node,
            ground.facts,
            key,
            merge.as_ref(),
        );
        return match told {
            Ok(text) => terminal::print(&text),
            Err(message) => failed(&message),
        };
    }
    let found = fx_puppet::lookup(
        &ground.machine,
        &ground.request,
        &ground.node,
        ground.facts,
        keys,
        merge.as_ref(),
    );
    let value = match found {
        Ok(Some(value)) => value,
        Ok(None) => match flag(flags, "--default") {
            Some(default) => Value::from(default),
            None => return 1,
        },
        Err(message) => return failed(&message),
    };
    if let Some(ty) = flag(flags, "--type")
        && let Err(message) = fx_puppet::assert_type(&ground.machine, &ground.request, ty, &value)
    {
        return failed(&message);
    }
    match flag(flags, "--render-as") {
        Some("json") => say(&fx_puppet::shown_json(&value).to_string()),
        Some("s") => say(&fx_puppet::ruby_text(&value)),
        _ => terminal::print(&yaml(&value)),
    }
}

/// A merge with the options that go with it.
fn strategy(word: &str, flags: &Flags) -> Value {
    if word != "deep" {
        return Value::from(word);
    }
    let mut pairs = vec![(Value::from("strategy"), Value::from("deep"))];
    if let Some(prefix) = flag(flags, "--knock-out-prefix") {
        pairs.push(("knockout_prefix".into(), prefix.into()));
    }
    for (name, option) in [
        ("--sort-merged-arrays", "sort_merged_arrays"),
        ("--merge-hash-arrays", "merge_hash_arrays"),
    ] {
        if flag(flags, name).is_some() {
            pairs.push((option.into(), Value::Bool(true)));
        }
    }
    Value::hash(pairs)
}

fn epp(flags: &Flags, words: &[String]) -> u8 {
    let (action, files) = match words.split_first() {
        Some((action, files)) => (action.as_str(), files),
        None => return fail("'epp' has no default action.  See `puppet help epp`."),
    };
    let inline = flag(flags, "-e").map(str::to_owned);
    match action {
        "render" => {
            let ground = match Ground::new(flags, flag(flags, "--node")) {
                Ok(ground) => ground,
                Err(message) => return fail(message),
            };
            let values = match (flag(flags, "--values"), flag(flags, "--values_file")) {
                (Some(text), _) => {
                    match fx_puppet::evaluate(&ground.machine, &ground.request, text) {
                        Ok(value) => Some(value),
                        Err(message) => return fail(message),
                    }
                }
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
                        let full =
                            std::path::absolute(file).unwrap_or_else(|_| PathBuf::from(file));
                        let there = OsHost::new().exists(&full).unwrap_or(false);
                        (
                            if there { full.to_string_lossy().into_owned() } else { file.clone() },
                            false,
                        )
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
                        let _told = fail(message);
                        let _told = fail("error while rendering epp");
                        fail("Try 'puppet help epp render' for usage")
                    }
                });
            }
            code
        }
        "dump" => crate::puppet_dump::epp(flags, files),
        "validate" => epp_validate(flags, files, inline),
        other => fail(format_args!("'epp' has no '{other}' action.  See `puppet help epp`.")),
    }
}

/// Where a template lies: a file, or one of a module by its name.
pub(crate) fn template_file(flags: &Flags, name: &str) -> Option<PathBuf> {
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
                Some(at) if found.message.ends_with("at end of input") => {
                    format!(" (file: {})", at.file)
                }
                Some(at) => {
                    format!(" (file: {}, line: {}, column: {})", at.file, at.line, at.column)
                }
                None => String::new(),
            };
            code = fail(format_args!("{}{place}", found.message));
        }
        if code != 0 && flag(flags, "--continue_on_error").is_none() {
            break;
        }
    }
    if !missing.is_empty() {
        let names = missing.join("\n");
        let _told = fail(format_args!("One or more file(s) specified did not exist:\n{names}"));
        return usage();
    }
    if code != 0 {
        let _told = fail("Errors while validating epp");
        return usage();
    }
    code
}

fn module(flags: &Flags, words: &[String]) -> u8 {
    match words.first().map(String::as_str) {
        Some("list") => {}
        None => return fail("'module' has no default action.  See `puppet help module`."),
        Some(known @ ("install" | "uninstall" | "upgrade" | "search" | "changes")) => {
            return fail(format_args!("'module {known}' is not supported"));
        }
        Some(other) => {
            return fail(format_args!(
                "'module' has no '{other}' action.  See `puppet help module`."
            ));
        }
    }
    let host = OsHost::new();
    let settings = Settings::read(&host, flags, "main");
    let path = settings.request(&host).modulepath;
    if let Some(form) = flag(flags, "--render-as").filter(|form| *form != "console") {
        return fail(format_args!("'module list' in the form '{form}' is not supported"));
    }
    let list = fx_puppet::module_list(&host, &path, flag(flags, "--tree").is_some());
    for warning in &list.warnings {
        terminal::hand_on(&format!("Warning: {warning}\n"));
    }
    // Nothing at all is still a line.
    if list.text.is_empty() { say("") } else { terminal::print(&list.text) }
}

fn facts(flags: &Flags, words: &[String]) -> u8 {
    let names = match words.split_first() {
        Some((action, names)) if matches!(action.as_str(), "show" | "find") => names,
        _ => words,
    };
    let ground = match Ground::new(flags, None) {
        Ok(ground) => ground,
        Err(message) => return fail(message),
    };
    let mut all = serde_json::Map::new();
    for (name, value) in &ground.facts {
        if names.is_empty() {
            all.insert(name.clone(), fx_puppet::value_to_json(value));
        }
    }
    for name in names {
        let mut parts = name.split('.');
        let first = parts.next().unwrap_or_default();
        let found = ground.facts.iter().find(|(known, _)| known == first);
        let mut value = found.map(|(_, value)| fx_puppet::value_to_json(value));
        for part in parts {
            value = value.and_then(|value| match part.parse::<usize>() {
                Ok(index) if value.is_array() => value.get(index).cloned(),
                _ => value.get(part).cloned(),
            });
        }
        // What is not there is told as nothing.
        all.insert(name.clone(), value.unwrap_or_else(|| serde_json::Value::from("")));
    }
    all.sort_keys();
    let all = serde_json::Value::Object(all);
    match flag(flags, "--render-as") {
        Some("yaml") => terminal::print(&fx_puppet::yaml_document(&all)),
        _ => say(&format!("{all:#}")),
    }
}

fn describe(flags: &Flags, words: &[String]) -> u8 {
    let has = |names: [&str; 2]| names.iter().any(|name| flag(flags, name).is_some());
    if has(["--list", "-l"]) {
        return terminal::print(&fx_puppet::type_list());
    }
    if words.is_empty() {
        return say(
            "Usage: puppet describe [-h|--help] [-s|--short] [-p|--providers] [-l|--list] [-m|--meta] TYPE...",
        );
    }
    let asked = fx_puppet::Asked {
        short: has(["--short", "-s"]),
        providers: has(["--providers", "-p"]),
        meta: has(["--meta", "-m"]),
    };
    let ground = match Ground::new(flags, None) {
        Ok(ground) => ground,
        Err(message) => return fail(message),
    };
    let mut code = 0;
    for kind in words {
        let kind = kind.to_lowercase();
        code =
            code.max(match fx_puppet::describe(&ground.machine, &ground.request, &kind, asked) {
                Ok(Some(text)) => terminal::print(&text),
                Ok(None) => say(&format!("Unknown type {kind}")),
                Err(message) => fail(message),
            });
    }
    code
}

/// `puppet resource TYPE [NAME [attribute=value …]]`
/// Types that are there without any module.
const RESOURCE_TYPES: [&str; 13] = [
    "exec",
    "file",
    "filebucket",
    "group",
    "notify",
    "package",
    "resources",
    "schedule",
    "service",
    "stage",
    "tidy",
    "user",
    "whit",
];

fn resource(flags: &Flags, words: &[String]) -> u8 {
    if flag(flags, "-t").or(flag(flags, "--types")).is_some() {
        let names: Vec<&str> = RESOURCE_TYPES.to_vec();
        return say(&names.join("\n"));
    }
    let Some((kind, rest)) = words.split_first() else {
        return fail("Could not run: You must specify the type to display");
    };
    let kind = kind.to_lowercase();
    let name = rest.first().map(String::as_str);
    let ground = match Ground::new(flags, None) {
        Ok(ground) => ground,
        Err(message) => return fail(message),
    };
    let console = Rc::new(fx_report::console::puppet::PuppetConsole::new(
        Box::new(std::io::stdout()),
        Box::new(std::io::stderr()),
    ));
    let ledger = ground.machine.run().ledger;
    ledger.watch(Rc::<fx_report::console::puppet::PuppetConsole>::clone(&console));
    if let [_, settings @ ..] = rest {
        for setting in settings {
            let attribute = setting.split_once('=').map_or("", |(attribute, _)| attribute);
            let known = fx_puppet::has_parameter(&kind, attribute);
            if known == Some(false) && !attribute.is_empty() {
                return fail(format_args!("Could not run: no parameter named '{attribute}'"));
            }
        }
    }
    // A message can be told, not looked for.
    if kind == "notify" && rest.len() == 1 {
        return fail("Could not run: notify has no providers and has not overridden 'instances'");
    }
    let mut code = 0;
    if let (Some(name), [_, settings @ ..]) = (name, rest)
        && !settings.is_empty()
    {
        match change(&ground, flags, &kind, name, settings) {
            Ok(ended) => code = ended,
            Err(message) => return fail(message),
        }
    }
    let mut found = fx_puppet::inspect(&ground.machine, &ground.request, &kind, name);
    // Of what was just set only that is shown.
    if let (Ok(found), [_, settings @ ..]) = (&mut found, rest)
        && !settings.is_empty()
    {
        let names: Vec<&str> =
            settings.iter().filter_map(|setting| Some(setting.split_once('=')?.0)).collect();
        for one in found {
            one.keep_only(&names);
        }
    }
    console.flush();
    match found {
        Ok(found) => {
            if flag(flags, "--to_yaml").or(flag(flags, "-y")).is_some() {
                let all = found.iter().map(|found| (found.title().to_owned(), found.data()));
                let all = serde_json::Value::Object(all.collect());
                let whole = serde_json::json!({ kind: all });
                return code.max(terminal::print(&fx_puppet::yaml_document(&whole)));
            }
            let text: String = found.iter().map(|found| found.code(&kind)).collect();
            code.max(terminal::print(&text))
        }
        Err(message) => fail(message),
    }
}

/// Brings one resource to what was asked for.
fn change(
    ground: &Ground,
    flags: &Flags,
    kind: &str,
    name: &str,
    settings: &[String],
) -> Result<u8, String> {
    let quoted = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    let mut code = format!("{kind} {{ {}: ", quoted(name));
    for setting in settings {
        let Some((attribute, value)) = setting.split_once('=') else {
            return Err(format!("Could not run: Invalid parameter setting {setting}"));
        };
        let _ = write!(code, "{attribute} => {}, ", quoted(value));
    }
    code.push('}');
    let run = ground.machine.run();
    let request = fx_puppet::Request {
        manifests: vec![(String::new(), code.into_bytes())],
        modulepath: ground.request.modulepath.clone(),
        noop: flag(flags, "--noop").is_some(),
        alone: true,
        ..fx_puppet::Request::default()
    };
    let ended = fx_puppet::run(&ground.machine, &request);
    run.host.commit().map_err(|error| error.to_string())?;
    Ok(ended.code)
}
