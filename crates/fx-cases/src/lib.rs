//! Cases: text files with named sections, each its own test. For tests; not in the program.
//!
//! A case is `NAME.case`. A line `-- section --` begins a section; what stands before the first
//! one says what the case shows. Some sections are input, the others are what is expected, and a
//! harness decides which:
//!
//! ```text
//! The policy's promises are kept in their order.
//! -- policy.cf --
//! bundle agent main { reports: "hello"; }
//! -- output --
//! R: hello
//! ```
//!
//! `BLESS=1` writes what the program gives as what is expected; `BLESS=/usr/bin/cf-agent` has an
//! original give it, where the harness can run one.

#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "cases are files of the source tree")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

/// A case as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name, without directory and ending.
    pub name: String,
    /// What it shows.
    pub about: String,
    sections: Vec<(String, String)>,
}

impl Case {
    /// Takes a text apart.
    pub fn parse(name: &str, text: &str) -> Case {
        let mut case = Case { name: name.to_owned(), about: String::new(), sections: Vec::new() };
        for line in text.split_inclusive('\n') {
            match heading(line) {
                Some(section) => case.sections.push((section.to_owned(), String::new())),
                None => case.current().push_str(line),
            }
        }
        case
    }

    fn current(&mut self) -> &mut String {
        self.sections.last_mut().map_or(&mut self.about, |(_, text)| text)
    }

    /// The text of a section.
    pub fn get(&self, section: &str) -> Option<&str> {
        self.sections.iter().find(|(name, _)| name == section).map(|(_, text)| text.as_str())
    }

    /// The text of a section that every case of the kind has.
    #[track_caller]
    pub fn section(&self, section: &str) -> &str {
        let text = self.get(section);
        text.unwrap_or_else(|| panic!("the case {} has no section `{section}`", self.name))
    }

    /// All sections with their names, in order.
    pub fn sections(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sections.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Writes the sections that are named like files, with an ending, below a directory.
    pub fn lay_out(&self, dir: &Path) {
        for (name, text) in self.sections().filter(|(name, _)| name.contains('.')) {
            let path = dir.join(name);
            let made = std::fs::create_dir_all(path.parent().unwrap_or(dir));
            let written = made.and_then(|()| std::fs::write(&path, text));
            written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }

    /// Puts a text into a section, at its place or at the end.
    pub fn set(&mut self, section: &str, text: &str) {
        match self.sections.iter_mut().find(|(name, _)| name == section) {
            Some((_, old)) => text.clone_into(old),
            None => self.sections.push((section.to_owned(), text.to_owned())),
        }
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.about)?;
        for (name, text) in &self.sections {
            write!(f, "-- {name} --\n{text}")?;
            if !text.is_empty() && !text.ends_with('\n') {
                f.write_str("\n")?;
            }
        }
        Ok(())
    }
}

fn heading(line: &str) -> Option<&str> {
    let name = line.trim_end_matches('\n').strip_prefix("-- ")?.strip_suffix(" --")?;
    (!name.is_empty() && !name.contains(' ')).then_some(name)
}

/// Who gives what a case expects.
#[derive(Clone, Copy, Debug)]
pub enum Giver<'a> {
    /// Our program.
    Ours,
    /// An original, to record from it.
    Original(&'a Path),
}

/// What a case gave: the name and the text of each section that is expected.
pub type Given = Vec<(&'static str, String)>;

/// The cases of a directory, by name.
pub fn read(dir: &Path) -> Vec<Case> {
    paths(dir).iter().map(|path| read_one(path)).collect()
}

/// The case in a file.
pub fn read_one(path: &Path) -> Case {
    let text = std::fs::read_to_string(path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Case::parse(&name(path), &text)
}

fn paths(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(dir)
        .unwrap_or_else(|error| panic!("{}: {error}", dir.display()))
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "case"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} has no cases", dir.display());
    paths
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Runs every case of a directory as a test of its own, each on a thread with a large stack.
pub fn run(dir: &Path, give: fn(&Case, Giver<'_>) -> Given) -> ExitCode {
    let trials = paths(dir).into_iter().map(|path| trial(path, String::new(), give));
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// The same for several directories; a test is named by its directory and its case.
pub fn run_all(dirs: &[PathBuf], give: fn(&Case, Giver<'_>) -> Given) -> ExitCode {
    let trials = dirs.iter().flat_map(|dir| {
        let group = format!("{}::", name(dir));
        paths(dir).into_iter().map(move |path| trial(path, group.clone(), give))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn trial(path: PathBuf, group: String, give: fn(&Case, Giver<'_>) -> Given) -> Trial {
    let name = name(&path);
    Trial::test(group + &name, move || on_large_stack(move || one(&path, &name, give)))
}

/// As much stack as the program gives to what it evaluates.
fn on_large_stack(
    work: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Result<(), Failed> {
    let thread = std::thread::Builder::new().stack_size(512 << 20).spawn(work);
    match thread.map_err(|error| error.to_string())?.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn one(path: &Path, name: &str, give: fn(&Case, Giver<'_>) -> Given) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let case = Case::parse(name, &text);
    let bless = std::env::var_os("BLESS").map(PathBuf::from);
    let original = bless.as_deref().filter(|program| program.is_absolute());
    let given = give(&case, original.map_or(Giver::Ours, Giver::Original));
    if bless.is_some() {
        let mut blessed = case;
        for (section, text) in &given {
            blessed.set(section, text);
        }
        return std::fs::write(path, blessed.to_string()).map_err(|error| error.to_string().into());
    }
    let mut wrong = String::new();
    for (section, text) in given {
        let expected = case.get(section).unwrap_or_default();
        if ended(&text) != ended(expected) {
            let diff = similar::TextDiff::from_lines(expected, &text);
            let heads = (format!("{section} expected"), format!("{section} given"));
            wrong.push_str(&diff.unified_diff().header(&heads.0, &heads.1).to_string());
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{}\n{wrong}", path.display()).into()) }
}

/// A section ends with a line break whether or not what it holds does.
fn ended(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "What it shows.\n-- policy.cf --\na\n-- b\n--\n-- output --\nx\n";

    #[test]
    fn a_text_is_taken_apart_and_put_together_again() {
        let case = Case::parse("n", TEXT);
        assert_eq!((case.about.as_str(), case.section("output")), ("What it shows.\n", "x\n"));
        assert_eq!(case.section("policy.cf"), "a\n-- b\n--\n", "only a whole line is a heading");
        assert_eq!(case.get("none"), None);
        assert_eq!(case.to_string(), TEXT);
    }

    #[test]
    fn what_is_set_reads_back() {
        let mut case = Case::parse("n", TEXT);
        case.set("output", "no line break");
        case.set("more", "");
        let again = Case::parse("n", &case.to_string());
        assert_eq!((again.section("output"), again.section("more")), ("no line break\n", ""));
    }
}
