//! `puppet config print|set|delete`: settings printed, and lines of `puppet.conf` changed with
//! everything else in the file left as it is.

use std::path::Path;

use fx_host::{Edits, Files, OsHost, WriteOptions};

use super::flags::Flags;
use super::ground::fail;
use super::settings::Settings;
use crate::terminal;

/// Runs the subcommand; its exit code.
pub(super) fn run(flags: &Flags, words: &[String]) -> u8 {
    let Some((action, rest)) = words.split_first() else {
        return fail(super::help::no_action("config", None));
    };
    let host = OsHost::new();
    let section = flags.get("section").unwrap_or("main");
    let settings = Settings::read(&host, flags, section);
    match (action.as_str(), rest) {
        ("print", names) => print(&host, &settings, names),
        ("set", [name, value]) => {
            let line = format!("{name} = {value}");
            change(&host, &settings, |text| edited(text, section, name, Some(&line)).0)
        }
        ("delete", [name]) => {
            let mut gone = None;
            let code = change(&host, &settings, |text| {
                let (text, old) = edited(text, section, name, None);
                gone = old;
                text
            });
            match gone {
                Some(line) => code
                    .max(terminal::print(&format!("Deleted setting from '{section}': '{line}'\n"))),
                None => {
                    terminal::hand_on(&format!(
                        "Warning: No setting found in configuration file for section '{section}' setting name '{name}'\n"
                    ));
                    code
                }
            }
        }
        ("set" | "delete", given) => {
            let wanted = if action == "set" { 2 } else { 1 };
            super::help::wrong_number("config", action, wanted, given.len())
        }
        _ => fail(super::help::no_action("config", Some(action))),
    }
}

fn print(host: &OsHost, settings: &Settings, names: &[String]) -> u8 {
    let value = |name: &str| match name {
        "modulepath" => settings
            .request(host)
            .modulepath
            .iter()
            .map(|path| path.to_string_lossy().into_owned())
            .collect::<Vec<String>>()
            .join(":"),
        "certname" if !settings.is_given("certname") => {
            let machine = fx_puppet::Machine::new(
                std::rc::Rc::new(OsHost::new()),
                fx_engine::Cancel::default(),
            );
            fx_puppet::node_name(&machine)
        }
        "manifest" => settings.request(host).manifest.to_string_lossy().into_owned(),
        name => settings.shown(name),
    };
    let mut all: Vec<String> = match names {
        [] => settings.all().into_iter().map(|(name, _)| name).collect(),
        [only] if only == "all" => settings.all().into_iter().map(|(name, _)| name).collect(),
        [only] => return terminal::print(&format!("{}\n", value(only))),
        names => names.to_vec(),
    };
    all.sort();
    let text: String = all.iter().map(|name| format!("{name} = {}\n", value(name))).collect();
    terminal::print(&text)
}

fn change(host: &OsHost, settings: &Settings, edit: impl FnOnce(&str) -> String) -> u8 {
    let file = settings.get("config");
    let path = Path::new(&file);
    let done = host.read_opt(path).and_then(|old| {
        let old = old.unwrap_or_default();
        let new = edit(&String::from_utf8_lossy(&old));
        if new.as_bytes() == old {
            return Ok(());
        }
        let options = WriteOptions { mode: Some(0o644), ..WriteOptions::default() };
        host.write(path, new.as_bytes(), &options)?;
        host.commit()
    });
    match done {
        Ok(()) => 0,
        Err(error) => fail(error),
    }
}

/// The text with a line of a section set or taken away, and the line that was there.
fn edited(text: &str, section: &str, name: &str, line: Option<&str>) -> (String, Option<String>) {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let head = |line: &String| {
        line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).map(str::to_owned)
    };
    let start = lines.iter().position(|line| head(line).as_deref() == Some(section));
    let mut old = None;
    match (start, line) {
        (None, None) => {}
        (None, Some(line)) => lines.extend([format!("[{section}]"), line.to_owned()]),
        (Some(start), line) => {
            let end = lines[start + 1..].iter().position(|line| head(line).is_some());
            let end = end.map_or(lines.len(), |at| start + 1 + at);
            let at = lines[start + 1..end].iter().position(|line| {
                line.split_once('=').is_some_and(|(known, _)| known.trim() == name)
            });
            match (at.map(|at| start + 1 + at), line) {
                (Some(at), Some(line)) => {
                    old = Some(std::mem::replace(&mut lines[at], line.to_owned()));
                }
                (Some(at), None) => old = Some(lines.remove(at).trim().to_owned()),
                (None, Some(line)) => {
                    let last = lines[..end].iter().rposition(|line| !line.trim().is_empty());
                    lines.insert(last.map_or(end, |at| at + 1), line.to_owned());
                }
                (None, None) => {}
            }
        }
    }
    let mut text = lines.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    (text, old)
}

#[cfg(test)]
mod tests {
    use super::edited;

    #[test]
    fn lines_are_set_and_deleted_in_their_section() {
        let text = "# a\n[main]\nserver = x\n\n[agent]\nnoop = true\n";
        for (section, name, line, wanted, gone) in [
            ("main", "server", Some("server = y"), text.replace("= x", "= y"), Some("server = x")),
            (
                "main",
                "ca",
                Some("ca = 1"),
                text.replace("server = x\n", "server = x\nca = 1\n"),
                None,
            ),
            ("agent", "noop", None, text.replace("noop = true\n", ""), Some("noop = true")),
            ("agent", "nosuch", None, text.to_owned(), None),
            ("user", "a", Some("a = b"), format!("{text}[user]\na = b\n"), None),
        ] {
            let (made, old) = edited(text, section, name, line);
            assert_eq!((made, old.as_deref()), (wanted, gone), "{section} {name}");
        }
        assert_eq!(edited("", "main", "a", Some("a = b")).0, "[main]\na = b\n");
    }
}
