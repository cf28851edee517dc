//! Facts beside those of the machine itself: external ones from files and programs, and
//! those that modules define in Ruby. A fact that cannot be found out is reported and left out.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fx_engine::Level;
use fx_host::Look;
use fx_source::Origin;

use crate::eval::Evaluator;
use crate::machine::Machine;
use crate::value::Value;

/// Where external facts of the machine lie.
const EXTERNAL: [&str; 3] =
    ["/opt/puppetlabs/facter/facts.d", "/etc/facter/facts.d", "/etc/puppetlabs/facter/facts.d"];

/// `key=value` lines.
fn pairs(text: &str) -> Vec<(String, Value)> {
    let split = |line: &str| {
        let (name, value) = line.split_once('=')?;
        (!name.is_empty() && !name.starts_with('#'))
            .then(|| (name.to_lowercase(), Value::from(value)))
    };
    text.lines().filter_map(split).collect()
}

fn table(value: &Value) -> Vec<(String, Value)> {
    let Value::Hash(hash) = value else { return Vec::new() };
    hash.iter()
        .map(|(name, value)| (crate::eval::interpolated(name).to_lowercase(), value.clone()))
        .collect()
}

/// What one file says; what is wrong with it otherwise.
fn read(machine: &Machine, path: &Path) -> Result<Vec<(String, Value)>, String> {
    let host = machine.run.look();
    let meta = host.stat(path).map_err(|error| error.to_string())?;
    let text = || {
        let bytes = host.read_trusted_data(path).map_err(|error| error.to_string())?;
        Ok::<String, String>(String::from_utf8_lossy(&bytes).into_owned())
    };
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("txt") => Ok(pairs(&text()?)),
        Some("yaml" | "yml") => crate::yaml::parse(&text()?).map(|value| table(&value)),
        Some("json") => {
            let text = text()?;
            serde_json::from_str::<serde_json::Value>(&text)
                .map(|json| table(&crate::compile::from_json(&json)))
                .map_err(|_| format!("859: unexpected token at '{text}'"))
        }
        _ if meta.mode & 0o111 != 0 && meta.is_file() => {
            host.check_trusted(path).map_err(|error| error.to_string())?;
            // Programs do not start where we are.
            let program = host.real_path(path).unwrap_or_else(|_| path.to_path_buf());
            let spec = fx_host::Spec::argv([program.to_string_lossy().into_owned()]);
            let author = format!("external fact {}", path.display());
            let ended = machine.run.evaluate(&author, |act| act.run(&spec));
            let ended = ended.map_err(|error| error.to_string())?;
            let told = String::from_utf8_lossy(&ended.stderr).trim_end().to_owned();
            if !told.is_empty() {
                let text = format!(
                    "Facter: Command {} completed with the following stderr message: {told}",
                    path.display()
                );
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let program = [("program".into(), name.as_str().into())];
                machine.run.ledger.note("facter.complaint", &program, &Origin::default());
                machine.run.ledger.message(Level::Warning, &text, &Origin::default());
            }
            let out = String::from_utf8_lossy(&ended.stdout).into_owned();
            let parsed = table(&crate::yaml::parse(&out).unwrap_or(Value::Undef));
            Ok(if parsed.is_empty() { pairs(&out) } else { parsed })
        }
        _ => Ok(Vec::new()),
    }
}

/// Facts of all files of the folders, the last of a name.
pub(crate) fn external(machine: &Machine, folders: &[PathBuf]) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for folder in folders {
        for item in machine.run.look().list_trusted(folder).unwrap_or_default() {
            let name = item.name.to_string_lossy().into_owned();
            let path = folder.join(&item.name);
            let is_old = path.extension().is_some_and(|end| end == "bak" || end == "orig");
            if name.starts_with('.') || is_old {
                continue;
            }
            match read(machine, &path) {
                Ok(facts) => found.extend(facts),
                Err(why) => {
                    let parser = match path.extension().and_then(|ending| ending.to_str()) {
                        Some("json") => "JsonParser",
                        Some("yaml" | "yml") => "YamlParser",
                        Some("txt") => "KeyValuePairParser",
                        _ => "ScriptParser",
                    };
                    let text = format!(
                        "Facter: Failed to handle {} as LegacyFacter::Util::Parser::{parser} facts: {why}",
                        path.display()
                    );
                    machine.run.ledger.message(Level::Error, &text, &Origin::default());
                }
            }
        }
    }
    found
}

/// Facts that variables of the environment set, such as `FACTER_role`. They win over all others.
fn of_environment(look: &dyn Look) -> Vec<(String, Value)> {
    let fact = |(name, value): (OsString, OsString)| {
        let name = name.to_str()?;
        let rest = name.get(6..).filter(|_| name[..6].eq_ignore_ascii_case("facter"))?;
        // The underscore is part of the name only if nothing else would be left of it.
        let rest = rest.strip_prefix('_').filter(|short| !short.is_empty()).unwrap_or(rest);
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        (!rest.is_empty() && rest.chars().all(is_word))
            .then(|| (rest.to_lowercase(), Value::from(value.to_string_lossy().into_owned())))
    };
    look.vars().into_iter().filter_map(fact).collect()
}

/// Folders with facts in files and programs that every run reads.
pub fn external_fact_folders() -> Vec<PathBuf> {
    EXTERNAL.iter().map(PathBuf::from).collect()
}

/// Facts beyond those of the machine, for Facter itself: those of files and programs in folders,
/// those that files of Ruby in other folders define, all or only some, and where custom facts are
/// wanted those of the environment.
pub fn more_facts(
    machine: &Machine,
    folders: &[PathBuf],
    rubies: &[PathBuf],
    custom: bool,
    only: Option<&[String]>,
) -> Vec<(String, serde_json::Value)> {
    let mut found = external(machine, folders);
    let mut files = Vec::new();
    for folder in rubies {
        for item in machine.run.look().list_trusted(folder).unwrap_or_default() {
            let path = folder.join(&item.name);
            if path.extension().is_some_and(|ending| ending == "rb") {
                files.push(path);
            }
        }
    }
    files.sort();
    files.retain(|path| machine.run.look().check_trusted(path).is_ok());
    if !files.is_empty() {
        let node = "localhost";
        let mut facts = crate::tools::machine_facts(machine, node);
        facts.extend(found.iter().cloned());
        match crate::tools::ruby_facts(machine, node, facts, &files, only) {
            Ok(facts) => found.extend(facts),
            Err(why) => {
                let text = format!("Facter: {why}");
                machine.run.ledger.message(Level::Error, &text, &Origin::default());
            }
        }
    }
    if custom {
        found.extend(of_environment(machine.run.look()));
    }
    if let Some(why) = machine.run.look().refused() {
        machine.run.ledger.message(Level::Error, &why, &Origin::default());
    }
    found.into_iter().map(|(name, value)| (name, crate::compile::to_json(&value))).collect()
}

impl Evaluator {
    /// Adds facts from files, programs and modules to those of the machine.
    pub(crate) fn add_custom_facts(&self) {
        let mut folders: Vec<PathBuf> = EXTERNAL.iter().map(PathBuf::from).collect();
        let mut rubies = Vec::new();
        for (_, dir) in self.modules().iter() {
            folders.push(dir.join("facts.d"));
            let lib = dir.join("lib/facter");
            for item in self.run.look().list_trusted(&lib).unwrap_or_default() {
                let path = lib.join(&item.name);
                if path.extension().is_some_and(|ending| ending == "rb") {
                    rubies.push(path);
                }
            }
        }
        let mut found = external(&self.machine, &folders);
        rubies.sort();
        // What is refused is not run, and ends the run.
        rubies.retain(|path| self.run.look().check_trusted(path).is_ok());
        if !rubies.is_empty() {
            let facts =
                self.machine.effects.author("custom facts", || self.ruby_facts(&rubies, None));
            match facts {
                Ok(facts) => found.extend(facts),
                Err(flow) => {
                    let text = format!("Facter: {}", flow.text());
                    self.run.ledger.message(Level::Error, &text, &Origin::default());
                }
            }
        }
        found.extend(of_environment(self.run.look()));
        if found.is_empty() {
            return;
        }
        let Some(Value::Hash(all)) = self.top.own("facts") else { return };
        let mut all = crate::value::Hash::clone(&all);
        for (name, value) in found {
            self.top.define(&name, value.clone());
            all.insert(Value::from(name), value);
        }
        self.top.define("facts", Value::Hash(std::rc::Rc::new(all)));
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use fx_engine::Cancel;
    use fx_host::MemoryHost;

    use super::*;

    #[test]
    fn variables_of_the_environment_are_facts() {
        let host = MemoryHost::new();
        for (name, value) in [
            ("FACTER_role", "web"),
            ("facterZone", "a"),
            ("FACTER_", "x"),
            ("FACTER_a.b", "y"),
            ("PATH", "/"),
        ] {
            host.set_var(name, value);
        }
        let found = of_environment(&host);
        let found: Vec<String> = found
            .iter()
            .map(|(name, value)| format!("{name}={}", crate::eval::interpolated(value)))
            .collect();
        assert_eq!(found, ["_=x", "role=web", "zone=a"]);
    }

    #[test]
    fn files_say_facts_in_three_forms() {
        let host = Rc::new(MemoryHost::new());
        host.put("/f/a.txt", "Role=web\n# no = 1\n");
        host.put("/f/b.yaml", "deep:\n  k: 1\n");
        host.put("/f/c.json", "{\"j\": [true]}");
        host.put("/f/.d.txt", "hidden=1\n");
        host.put("/f/e.json", "{");
        let machine = Machine::new(host, Cancel::default());
        let found = external(&machine, &[PathBuf::from("/f")]);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["role", "deep", "j"]);
        assert_eq!(found[0].1, Value::from("web"));
    }
}
