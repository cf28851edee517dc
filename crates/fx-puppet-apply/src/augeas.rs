//! `augeas`: changes of configuration files through the program `augtool`, which brings the
//! grammars of files. Without that program the resource fails.

use std::path::{Path, PathBuf};

use fx_engine::{Change, Detail, Failure, Resource as Thing, ResourceId, Target};
use fx_host::{Act, Ended, Look, Spec};
use fx_puppet::Resource;
use fx_puppet::text::interpolated;

use super::attributes::{attribute, list, text, truth};
use super::engine_resource::Made;

pub(super) struct Augeas {
    name: String,
    /// Arguments of the program.
    args: Vec<String>,
    context: String,
    changes: Vec<String>,
    only_if: Option<String>,
    force: bool,
    /// What was found out: whether something is to be done.
    is_due: bool,
}

/// What a change can begin with.
const COMMANDS: [&str; 14] = [
    "set", "setm", "rm", "remove", "clear", "clearm", "touch", "ins", "insert", "mv", "move",
    "rename", "defvar", "defnode",
];

pub(super) fn make(resource: &Resource) -> Result<Made, String> {
    let (incl, lens) = (text(resource, "incl"), text(resource, "lens"));
    if incl.is_some() != lens.is_some() {
        return Err(format!(
            "Validation of {} failed: You must specify both the lens and incl parameters, or neither.",
            resource.reference()
        ));
    }
    let lines = list(resource, "changes").iter().map(interpolated).collect::<Vec<_>>().join("\n");
    let words = lines.lines().filter_map(|line| line.split_whitespace().next());
    if let Some(word) = words.into_iter().find(|word| !COMMANDS.contains(word)) {
        return Ok(super::engine_resource::broken(
            resource,
            Failure::new(format!("Unknown command {word}")),
        ));
    }
    let mut args = Vec::new();
    if let Some(root) = text(resource, "root").filter(|root| root != "/") {
        args.extend(["-r".to_owned(), root]);
    }
    for path in list(resource, "load_path").iter().map(interpolated) {
        for path in path.split(':') {
            args.extend(["-I".to_owned(), path.to_owned()]);
        }
    }
    if truth(attribute(resource, "type_check")) {
        args.push("-c".to_owned());
    }
    let mut context = text(resource, "context").unwrap_or_default();
    if let (Some(incl), Some(lens)) = (incl, lens) {
        let lens = lens.trim_start_matches('@').trim_end_matches(".lns").to_owned();
        args.extend(["-A".to_owned(), "-t".to_owned(), format!("{lens} incl {incl}")]);
        if context.is_empty() {
            context = format!("/files{incl}");
        }
    }
    Ok(Made::Other(Box::new(Augeas {
        name: text(resource, "name").unwrap_or_else(|| resource.title.to_string()),
        args,
        changes: list(resource, "changes")
            .iter()
            .map(interpolated)
            .flat_map(|text| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>())
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| command(&line, &context))
            .collect(),
        only_if: text(resource, "onlyif").filter(|guard| !guard.trim().is_empty()),
        force: truth(attribute(resource, "force")),
        is_due: false,
        context,
    })))
}

/// A command in the words of the program, its paths in full: a path that begins with a digit
/// would be a number there.
fn command(line: &str, context: &str) -> String {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let (first, behind) = split_path(rest.trim());
    match word {
        "ins" | "insert" => {
            let (place, path) = split_path(behind);
            format!("ins {first} {place} {}", in_full(path, context))
        }
        "mv" | "move" => {
            format!("mv {} {}", in_full(first, context), in_full(behind, context))
        }
        "defvar" => format!("defvar {first} {}", in_full(behind, context)),
        "defnode" => {
            let (path, value) = split_path(behind);
            format!("defnode {first} {} {value}", in_full(path, context)).trim_end().to_owned()
        }
        word => {
            let word = if word == "remove" { "rm" } else { word };
            format!("{word} {} {behind}", in_full(first, context)).trim_end().to_owned()
        }
    }
}

/// A path under the context, unless it stands by itself.
fn in_full(path: &str, context: &str) -> String {
    if path.starts_with(['/', '$', '"', '\'']) || context.is_empty() {
        return path.to_owned();
    }
    format!("{}/{path}", context.trim_end_matches('/'))
}

impl Augeas {
    /// What the program prints for a script.
    fn script(&self, script: &[String]) -> Spec {
        let mut text = String::new();
        if self.args.iter().any(|arg| arg == "-t") {
            text.push_str("load\n");
        }
        for line in script {
            text.push_str(line);
            text.push('\n');
        }
        let program = ["/usr/bin/augtool".to_owned()];
        let spec = Spec::argv(program.into_iter().chain(self.args.iter().cloned()));
        spec.stdin(text)
    }

    /// Runs a script that saves nothing; what the program prints.
    fn query(&self, act: &dyn Act, script: &[String]) -> Result<String, Failure> {
        let ended = without_history(act, || act.query(&self.script(script)))?;
        Augeas::judged(&ended)
    }

    fn run(&self, act: &dyn Act, script: &[String]) -> Result<String, Failure> {
        let ended = without_history(act, || act.run(&self.script(script)))?;
        Augeas::judged(&ended)
    }

    fn judged(ended: &Ended) -> Result<String, Failure> {
        let shown = String::from_utf8_lossy(&ended.stdout).into_owned();
        if !ended.exit.success() {
            let errors = String::from_utf8_lossy(&ended.stderr);
            if errors.lines().any(|line| line.starts_with("saving ")) {
                return Err(Failure::new("Save failed, see debug output for details"));
            }
            let line = errors.lines().chain(shown.lines()).find(|line| line.contains("error"));
            return Err(Failure::new(line.unwrap_or("augtool failed").trim()));
        }
        Ok(shown)
    }

    /// Whether something is to be done: the guard holds, and files would be written.
    fn is_due(&self, act: &dyn Act) -> Result<bool, Failure> {
        if let Some(guard) = &self.only_if
            && !self.is_wanted(act, guard)?
        {
            return Ok(false);
        }
        if self.force {
            return Ok(true);
        }
        let mut script = vec!["set /augeas/save noop".to_owned()];
        script.extend(self.changes.iter().cloned());
        script.extend(["save".to_owned(), "match /augeas/events/saved".to_owned()]);
        Ok(self.query(act, &script)?.contains("/augeas/events/saved"))
    }

    /// Whether the guard holds.
    fn is_wanted(&self, host: &dyn Act, guard: &str) -> Result<bool, Failure> {
        let bad = || Failure::new(format!("invalid onlyif '{guard}'"));
        let (verb, rest) = guard.trim().split_once(char::is_whitespace).ok_or_else(bad)?;
        let (path, rest) = split_path(rest.trim());
        let path = in_full(path, &self.context);
        match verb {
            "get" => {
                let (operator, wanted) = rest.split_once(char::is_whitespace).ok_or_else(bad)?;
                let shown = self.query(host, &[format!("get {path}")])?;
                let is = shown.trim_end().split_once(" = ").map_or("", |(_, value)| value);
                let wanted = wanted.trim().trim_matches(['"', '\'']);
                Ok(match operator {
                    "==" => is == wanted,
                    "!=" => is != wanted,
                    "=~" => fx_puppet::Regex::new(wanted).is_match(is).map_err(Failure::new)?,
                    _ => compare(operator, is.parse().unwrap_or(0.0), wanted).ok_or_else(bad)?,
                })
            }
            "match" | "values" => {
                let shown = self.query(host, &[format!("match {path}")])?;
                let found: Vec<(&str, &str)> = shown
                    .lines()
                    .filter(|line| line.starts_with('/'))
                    .map(|line| line.split_once(" = ").unwrap_or((line, "")))
                    .collect();
                let found: Vec<&str> = found
                    .into_iter()
                    .map(|(path, value)| if verb == "match" { path } else { value })
                    .collect();
                let (word, rest) = rest.split_once(char::is_whitespace).ok_or_else(bad)?;
                let rest = rest.trim();
                Ok(match word {
                    "size" => {
                        let (operator, wanted) =
                            rest.split_once(char::is_whitespace).ok_or_else(bad)?;
                        compare(operator, found.len() as f64, wanted).ok_or_else(bad)?
                    }
                    "include" => found.contains(&rest.trim_matches(['"', '\''])),
                    "not_include" => !found.contains(&rest.trim_matches(['"', '\''])),
                    "==" | "!=" => {
                        let wanted: Vec<&str> = rest
                            .trim_matches(['[', ']'])
                            .split(',')
                            .map(|item| item.trim().trim_matches(['"', '\'']))
                            .filter(|item| !item.is_empty())
                            .collect();
                        (found == wanted) == (word == "==")
                    }
                    _ => return Err(bad()),
                })
            }
            _ => Err(bad()),
        }
    }
}

/// Calls the program and removes the history that it begins for whoever runs it, unless there was one.
fn without_history(
    act: &dyn Act,
    call: impl FnOnce() -> fx_host::Result<Ended>,
) -> Result<Ended, Failure> {
    let home = act.user_by_id(act.euid())?.map(|user| user.home);
    let dir = home.map(|home| Path::new(&home).join(".augeas"));
    let paths = dir.map(|dir| [dir.join("history"), dir]).into_iter().flatten();
    let is_new = |path: &PathBuf| act.stat_opt(path).is_ok_and(|found| found.is_none());
    let new: Vec<PathBuf> = paths.filter(is_new).collect();
    let ended = call()?;
    for path in new {
        match act.lstat_opt(&path)? {
            Some(meta) if meta.is_dir() => act.remove_dir(&path)?,
            Some(_) => act.remove_file(&path)?,
            None => {}
        }
    }
    Ok(ended)
}

#[expect(clippy::float_cmp, reason = "the guard compares exactly")]
fn compare(operator: &str, is: f64, wanted: &str) -> Option<bool> {
    let wanted: f64 = wanted.trim().trim_matches(['"', '\'']).parse().ok()?;
    Some(match operator {
        "==" => is == wanted,
        "!=" => is != wanted,
        "<" => is < wanted,
        ">" => is > wanted,
        "<=" => is <= wanted,
        ">=" => is >= wanted,
        _ => return None,
    })
}

/// A path with its brackets, and what stands behind it.
fn split_path(text: &str) -> (&str, &str) {
    let (mut depth, mut quote) = (0, None);
    for (at, c) in text.char_indices() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(c),
            ('[', None) => depth += 1,
            (']', None) => depth -= 1,
            (c, None) if c.is_whitespace() && depth == 0 => {
                return (&text[..at], text[at..].trim_start());
            }
            _ => {}
        }
    }
    (text, "")
}

impl Thing for Augeas {
    fn id(&self) -> ResourceId {
        ResourceId::new("augeas", self.name.as_str())
    }

    fn target(&self) -> Target {
        Target::other("augeas", &self.name)
    }

    fn ask_guards(&mut self, act: &dyn Act) -> Result<(), Failure> {
        self.is_due = self.is_due(act)?;
        Ok(())
    }

    fn observe(&mut self, _look: &dyn Look) -> Result<Vec<Change>, Failure> {
        if !self.is_due {
            return Ok(Vec::new());
        }
        let change = Change::of(self.target(), "returns", "need_to_run", "0");
        Ok(vec![change.detail(Detail::Text("executed successfully".into()))])
    }

    fn open_ended(&self) -> bool {
        true
    }

    fn apply(&mut self, host: &dyn Act, _changes: &[Change]) -> Result<(), Failure> {
        let mut script = self.changes.clone();
        script.push("save".to_owned());
        self.run(host, &script).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::{command, compare, split_path};

    #[test]
    fn commands_are_put_in_the_words_of_the_program() {
        for (line, wanted) in [
            ("remove  a/b", "rm /c/a/b"),
            ("set a[b = 'c d'] \"e f\"", "set /c/a[b = 'c d'] \"e f\""),
            ("insert x after y", "ins x after /c/y"),
            ("set 01/x 1", "set /c/01/x 1"),
            ("mv /a b", "mv /a /c/b"),
            ("setm a b 1", "setm /c/a b 1"),
        ] {
            assert_eq!(command(line, "/c"), wanted);
        }
    }

    #[test]
    fn guards_are_taken_apart_behind_brackets() {
        assert_eq!(split_path("*[ip = '1 2'] size == 0"), ("*[ip = '1 2']", "size == 0"));
        assert_eq!(compare(">=", 2.0, "2"), Some(true));
        assert_eq!(compare("?", 2.0, "2"), None);
    }
}
