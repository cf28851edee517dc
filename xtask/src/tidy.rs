//! House rules that a compiler does not check. Runs as a test as well, so that no green
//! run leaves the tree untidy.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::{functions, invented, layers, ruby, wording};

/// A file longer than this is two things.
const MAX_LINES: usize = 800;

/// Files that may be longer, each with the reason.
const LONG_FILES: &[(&str, &str)] = &[];

/// Crates that serve all languages and so use the words of none.
const SHARED: &[&str] =
    &["fx-source", "fx-value", "fx-host", "fx-facts", "fx-engine", "fx-resources", "fx-store"];

/// Crates of languages: they look at the machine, and act inside a recorded change alone.
const LANGUAGES: &[&str] = &[
    "fx-cfengine",
    "fx-cfengine-agent",
    "fx-puppet",
    "fx-puppet-apply",
    "fx-chef",
    "fx-ruby",
    "fx-resources",
];

/// Where a language is handed its machine, by whoever assembles the run.
const HANDED_IN: &[&str] = &[
    "crates/fx-chef/src/machine.rs",
    "crates/fx-chef/src/effects.rs",
    "crates/fx-chef/src/spec.rs",
    "crates/fx-puppet/src/machine.rs",
    "crates/fx-puppet/src/effects.rs",
];

/// Words that belong to one language.
const LANGUAGE_WORDS: &[&str] =
    &["promise", "bundle", "catalog", "cookbook", "recipe", "noop", "why_run"];

/// Ways to resolve a path or a link. The owner rule stands in one file, and nothing goes
/// around it.
const RESOLVERS: &[&str] =
    &["canonicalize(", "openat2(", "readlink", "fs::read_link", "realpath(", "set_current_dir("];

/// Files with one of them all the same, each with the reason.
const RESOLVING_FILES: &[(&str, &str)] = &[
    ("crates/fx-host/src/os/path.rs", "the owner rule itself"),
    ("crates/fx-host/src/os/files.rs", "reads the text of a link and follows none"),
    ("crates/fx-host/src/os/trust.rs", "judges each step, and opens by the owner rule's own call"),
    ("crates/fx-host/src/sandbox", "looks into a copy of the machine, never out of it"),
];

pub(crate) fn run() -> Result<()> {
    let problems = problems(&root())?;
    if problems.is_empty() {
        println!("tidy: nothing to complain about");
        return Ok(());
    }
    for problem in &problems {
        eprintln!("{problem}");
    }
    bail!("{} problems", problems.len())
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

fn problems(root: &Path) -> Result<Vec<String>> {
    let mut problems = layers::check(root)?;
    let deviations = std::fs::read_to_string(root.join("docs/deviations.md")).unwrap_or_default();
    let mut all = String::new();
    for file in sources(root)? {
        let name = file.strip_prefix(root)?.display().to_string();
        let text = std::fs::read_to_string(&file)?;
        if file.extension().is_some_and(|extension| extension == "rb") {
            let code = text.lines().enumerate();
            let code = code.filter(|(_, line)| !line.trim_start().starts_with('#'));
            let found = ruby::check(&text).into_iter().chain(invented::check(code));
            problems.extend(found.map(|problem| format!("{name}: {problem}")));
            continue;
        }
        all.push_str(&text);
        problems.extend(
            check_file(&name, &text, &deviations)
                .into_iter()
                .map(|problem| format!("{name}: {problem}")),
        );
    }
    let promises = std::fs::read_to_string(root.join("SECURITY.md"))?;
    problems.extend(untested(&promises, &all, |path| root.join(path).exists()));
    Ok(problems)
}

/// Promises whose test is not there: each row of the table names files of tests or tests.
fn untested(promises: &str, sources: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let rows = promises.lines().filter(|line| line.starts_with("| ")).skip(2);
    let mut problems = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [promise, _, tests] = cells[..] else {
            problems.push(format!("SECURITY.md: not a promise, how it is kept and a test: {row}"));
            continue;
        };
        for name in tests.split('`').skip(1).step_by(2) {
            let there = if name.starts_with("crates/") {
                exists(name)
            } else if Path::new(name).extension().is_some_and(|kind| kind == "rs") {
                exists(&format!("crates/fixpoint/tests/{name}"))
            } else {
                name.starts_with("FX_") || sources.contains(&format!("fn {name}("))
            };
            if !there {
                problems.push(format!("SECURITY.md: '{promise}' names '{name}', which is no test"));
            }
        }
    }
    problems
}

fn sources(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut todo = vec![root.join("crates"), root.join("xtask")];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(dir)? {
            let path = entry?.path();
            if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
                todo.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                || is_shipped_ruby(&path)
            {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Ruby that is part of the program; that of tests is recorded from elsewhere.
fn is_shipped_ruby(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rb")
        && path.components().any(|part| part.as_os_str() == "prelude")
}

fn check_file(name: &str, text: &str, deviations: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if !text.starts_with("//! ") {
        problems.push("the first line must be `//! ` and say what the file is".to_owned());
    }
    let lines = text.lines().count();
    let excused = LONG_FILES.iter().any(|(file, _)| *file == name);
    if lines > MAX_LINES && !excused {
        problems.push(format!("{lines} lines: over {MAX_LINES} a file is two things"));
    }
    if name.ends_with("/mod.rs") {
        problems.push("use `foo.rs` beside `foo/`, not `mod.rs`".to_owned());
    }
    if SHARED.iter().any(|shared| name.starts_with(&format!("crates/{shared}/src/"))) {
        problems.extend(language_words(text));
    }
    let is_test = name.ends_with("/tests.rs") || name.contains("/tests/");
    if name.starts_with("crates/") && name.contains("/src/") && !is_test {
        problems.extend(resolvers(name, text));
        problems.extend(functions::check(name, text));
        problems.extend(invented::check(code(text)));
        problems.extend(wording::decisions(name, code(text)).into_iter().map(|(line, piece)| {
            format!("line {line}: decides by the words \"{piece}\"; what happened is data")
        }));
    }
    let in_language =
        LANGUAGES.iter().any(|language| name.starts_with(&format!("crates/{language}/src/")));
    if in_language && !HANDED_IN.contains(&name) {
        problems.extend(whole_machines(text));
    }
    for mark in text.split("Deviation(").skip(1) {
        let id = mark.split(')').next().unwrap_or_default();
        let looks_like_one = id.starts_with("D-") && id.len() <= 8;
        if looks_like_one && !deviations.contains(id) {
            problems.push(format!("{id} is not in docs/deviations.md"));
        }
    }
    problems
}

/// Lines of a file that are code and shipped, with their numbers from 0.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
    shipped.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn resolvers(name: &str, text: &str) -> Vec<String> {
    if RESOLVING_FILES.iter().any(|(file, _)| name.starts_with(file)) {
        return Vec::new();
    }
    let found = code(text).filter_map(|(number, line)| {
        let plain: String = line.split('"').step_by(2).collect();
        let word = RESOLVERS.iter().find(|word| plain.contains(**word))?;
        Some(format!("line {}: `{word}` resolves a path beside the owner rule", number + 1))
    });
    found.collect()
}

/// Lines that ask for a whole machine, which would go around the seam.
fn whole_machines(text: &str) -> Vec<String> {
    let asks = |line: &str| {
        line.split("dyn Host").skip(1).any(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let found = code(text).filter(|(_, line)| asks(line));
    found
        .map(|(number, _)| format!("line {}: `dyn Host` goes around the seam", number + 1))
        .collect()
}

fn language_words(text: &str) -> Vec<String> {
    code(text)
        .filter_map(|(number, line)| {
            // Texts may name what they like; the rule is about names in code.
            let lower: String = line.split('"').step_by(2).collect::<String>().to_lowercase();
            let word = LANGUAGE_WORDS.iter().find(|word| lower.contains(**word))?;
            Some(format!("line {}: '{word}' is a word of one language", number + 1))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        let problems = problems(&root()).unwrap();
        assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    }

    #[test]
    fn each_rule_can_fail() {
        let long = format!("//! x\n{}", "\n".repeat(900));
        let long_function = format!("//! x\nfn f() {{\n{}}}\n", "    g();\n".repeat(151));
        let table = [
            ("crates/a/src/x.rs", "fn main() {}", "first line"),
            ("crates/a/src/x.rs", long.as_str(), "two things"),
            ("crates/a/src/x/mod.rs", "//! x", "mod.rs"),
            ("crates/fx-engine/src/x.rs", "//! x\nstruct PromiseStep;", "line 2: 'promise'"),
            ("crates/a/src/x.rs", concat!("//! x\n// Deviation", "(D-999): no"), "D-999"),
            (
                "crates/a/src/x.rs",
                "//! x\nlet p = path.canonicalize()?;",
                "line 2: `canonicalize(`",
            ),
            ("crates/fx-host/src/os/x.rs", "//! x\nlibc::readlink(a, b, c)", "the owner rule"),
            ("crates/a/src/x.rs", long_function.as_str(), "`f` has 153 lines"),
            (
                "crates/a/src/x.rs",
                "//! x\nif why.contains(\"was refused\") {",
                "decides by the words",
            ),
            ("crates/fx-chef/src/x.rs", "//! x\nfn f(host: &dyn Host);", "around the seam"),
            ("crates/a/src/x.rs", "//! x\nlet lock = \"x20240101-1-abcdef.lock\";", "is invented"),
        ];
        for (name, text, expected) in table {
            let problems = check_file(name, text, "D-001");
            assert!(problems.len() == 1 && problems[0].contains(expected), "{name}: {problems:?}");
        }
        let promises =
            "| promise | how | test |\n| --- | --- | --- |\n| a | b | `x.rs`, `a_test` |\n";
        assert!(untested(promises, "fn a_test()", |_| true).is_empty());
        assert!(untested(promises, "fn a_test()", |_| false)[0].contains("names 'x.rs'"));
        assert!(untested(promises, "", |_| true)[0].contains("names 'a_test'"));
        assert!(
            check_file("crates/fx-engine/src/x.rs", "//! promise\n// a promise", "").is_empty()
        );
    }
}
