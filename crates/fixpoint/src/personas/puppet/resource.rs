//! `puppet resource TYPE [NAME [ATTRIBUTE=VALUE …]]`: what there is of a type, or one resource
//! brought to given values.

use std::fmt::Write as _;
use std::rc::Rc;

use fx_formats::yaml::psych;

use super::flags::Flags;
use super::ground::{Ground, fail, say};
use crate::terminal;

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

/// Runs the subcommand; its exit code.
pub(super) fn run(flags: &Flags, words: &[String]) -> u8 {
    if flags.has("types") {
        return say(&RESOURCE_TYPES.join("\n"));
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
    // A message can be logged, not looked for.
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
            if flags.has("to_yaml") {
                let all = found.iter().map(|found| (found.title().to_owned(), found.data()));
                let all = serde_json::Value::Object(all.collect());
                let whole = serde_json::json!({ kind: all });
                return code.max(terminal::print(&psych::document(&whole)));
            }
            let text: String = found.iter().map(|found| found.code(&kind)).collect();
            code.max(terminal::print(&text))
        }
        Err(message) => fail(message),
    }
}

/// Brings one resource to these values.
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
    let request = fx_puppet_apply::Request {
        manifests: vec![(String::new(), code.into_bytes())],
        modulepath: ground.request.modulepath.clone(),
        noop: flags.setting("noop").is_some(),
        alone: true,
        ..fx_puppet_apply::Request::default()
    };
    let ended = fx_puppet_apply::run(&ground.machine, &request);
    run.own_state(|act| act.commit()).map_err(|error| error.to_string())?;
    Ok(ended.code)
}
