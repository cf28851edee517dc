//! The files that the policy manages, before it runs, and the judgement on what a run left.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use super::policy::{self, Persona};

pub(crate) const ITEMS: [&str; 9] = [
    "replaced",
    "newdir",
    "newdir/made",
    "edited",
    "link",
    "moded",
    "copied",
    "removed",
    "elsewhere",
];

/// Content that shows when it is torn: its length and both ends depend on the version.
pub(crate) fn replaced(version: &str) -> String {
    format!("{}end {version}\n", format!("{version} line of text\n").repeat(400))
}

pub(crate) fn made() -> String {
    "made\n".repeat(900)
}

fn edited(version: &str) -> String {
    let line = "another line of the file\n".repeat(100);
    format!("{line}level={version}\n{line}")
}

pub(crate) fn copied(version: &str) -> String {
    format!(
        "{}end {version}\n",
        format!("{version} copy\n").repeat(if version == "new" { 3000 } else { 500 })
    )
}

/// How an item was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Old,
    New,
}

/// Where a policy runs: the policy in `dir`, what it manages, and what a tool keeps for
/// itself.
pub(crate) struct Stage {
    pub(crate) dir: PathBuf,
    pub(crate) managed: PathBuf,
    pub(crate) own: PathBuf,
}

impl Stage {
    pub(crate) fn new(dir: &Path) -> Stage {
        Stage::with(dir, dir.join("m"), dir.join("own"))
    }

    pub(crate) fn with(dir: &Path, managed: PathBuf, own: PathBuf) -> Stage {
        let stage = Stage { dir: dir.to_owned(), managed, own };
        policy::write(&stage);
        stage
    }

    /// Where an item is; one of them is not with the others.
    pub(crate) fn item(&self, name: &str) -> PathBuf {
        if name == "elsewhere" { self.dir.join(name) } else { self.managed.join(name) }
    }

    /// Makes the old state anew, and the tool has never run.
    pub(crate) fn reset(&self) {
        for dir in [&self.managed, &self.own] {
            // What was mounted is emptied, not removed.
            fs::create_dir_all(dir).unwrap();
            for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    fs::remove_dir_all(entry.path()).unwrap();
                } else {
                    fs::remove_file(entry.path()).unwrap();
                }
            }
        }
        let _ = fs::remove_file(self.item("elsewhere"));
        // CFEngine's agent runs policy that nobody else can write, in directories likewise.
        for part in ["work/inputs", "work/state", "puppet", "chef"] {
            fs::create_dir_all(self.own.join(part)).unwrap();
        }
        // Chef's local mode keeps its own things beside the cookbooks.
        let chef = self.dir.join(".chef");
        if fs::symlink_metadata(&chef).is_err() {
            std::os::unix::fs::symlink(self.own.join("chef"), chef).unwrap();
        }
        let put = |name: &str, content: &str, mode: u32| {
            fs::write(self.item(name), content).unwrap();
            fs::set_permissions(self.item(name), PermissionsExt::from_mode(mode)).unwrap();
        };
        put("replaced", &replaced("old"), 0o644);
        put("edited", &edited("old"), 0o644);
        put("moded", "kept\n", 0o600);
        put("copied", &copied("old"), 0o644);
        put("removed", "to go\n", 0o644);
    }

    /// The state of an item; anything between old and new fails the test.
    #[track_caller]
    pub(crate) fn state(&self, name: &str, context: &str) -> State {
        let path = self.item(name);
        let kind = match fs::symlink_metadata(&path) {
            Ok(meta) => Some(meta),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => panic!("{context}: {name}: {error}"),
        };
        let whole = |old: Option<String>, new: String| {
            let found = fs::read(&path).ok();
            let same = |wanted: &String| found.as_deref() == Some(wanted.as_bytes());
            let state = match (&found, &old) {
                _ if same(&new) => Some(State::New),
                (None, None) => Some(State::Old),
                (Some(_), Some(old)) if same(old) => Some(State::Old),
                _ => None,
            };
            let size = found.as_ref().map(Vec::len);
            state.unwrap_or_else(|| panic!("{context}: '{name}' is torn or lost: {size:?} bytes"))
        };
        let new_if = |new: bool| if new { State::New } else { State::Old };
        match name {
            "replaced" => whole(Some(replaced("old")), replaced("new")),
            "newdir" => new_if(kind.is_some_and(|meta| meta.is_dir())),
            "newdir/made" => whole(None, made()),
            "elsewhere" => whole(None, "else".to_owned()),
            "edited" => whole(Some(edited("old")), edited("new")),
            "copied" => whole(Some(copied("old")), copied("new")),
            "link" => new_if(kind.is_some_and(|meta| {
                assert!(meta.is_symlink(), "{context}: '{name}' is no link");
                assert_eq!(fs::read_link(&path).unwrap(), self.item("newdir/made"), "{context}");
                true
            })),
            "moded" => {
                assert_eq!(fs::read(&path).ok().as_deref(), Some(&b"kept\n"[..]), "{context}");
                let mode = kind.unwrap().permissions().mode() & 0o7777;
                assert!(mode == 0o600 || mode == 0o640, "{context}: mode {mode:o}");
                new_if(mode == 0o640)
            }
            _ => {
                assert!(kind.is_none() || fs::read(&path).unwrap() == b"to go\n", "{context}");
                new_if(kind.is_none())
            }
        }
    }

    /// Items that are not as promised, after a look that nothing is torn or lost.
    #[track_caller]
    pub(crate) fn missing(&self, persona: Persona, context: &str) -> Vec<&'static str> {
        let states = ITEMS.map(|name| (name, self.state(name, context)));
        if states.contains(&("copied", State::New)) {
            let kept = persona.backups(self);
            let whole = kept
                .iter()
                .any(|file| fs::read(file).unwrap_or_default() == copied("old").as_bytes());
            assert!(whole, "{context}: the original of 'copied' is kept, found {kept:?}");
        }
        states.iter().filter(|(_, state)| *state == State::Old).map(|(name, _)| *name).collect()
    }

    /// Names in the managed directories that neither the policy nor its backups explain.
    pub(crate) fn litter(&self) -> Vec<String> {
        let mut found = Vec::new();
        for dir in [self.managed.clone(), self.item("newdir")] {
            let Ok(entries) = fs::read_dir(dir) else { continue };
            for entry in entries.map(Result::unwrap) {
                let name = entry.file_name().to_string_lossy().into_owned();
                let known = ITEMS.contains(&&*name)
                    || ["made", "copied.bak", "copied.cfsaved", "edited.old", "ballast"]
                        .contains(&&*name);
                if !known {
                    found.push(name);
                }
            }
        }
        found
    }

    /// What every run must leave, whatever hit it: no torn or lost file, no panic, no claim
    /// that is not so. Returns what is still to be done.
    #[track_caller]
    pub(crate) fn judge(
        &self,
        persona: Persona,
        output: &Output,
        context: &str,
    ) -> Vec<&'static str> {
        let text = text_of(output);
        // Diffs of long files would hide what matters.
        let long = |line: &&str| {
            line.contains("line of")
                || line.ends_with(" copy")
                || line.ends_with("+made")
                || *line == "made"
        };
        let told: Vec<&str> = text.lines().filter(|line| !long(line)).collect();
        let context = &format!("{persona:?}, {context}: {}\n{:?}", told.join("\n"), output.status);
        assert!(!text.contains("panicked") && !text.contains("internal error"), "{context}");
        let missing = self.missing(persona, context);
        if persona.claims_success(output.status.code(), &text) {
            assert!(missing.is_empty(), "success is claimed, missing are {missing:?}: {context}");
        }
        missing
    }

    /// What the last run's record claims is there.
    #[track_caller]
    pub(crate) fn check_record(&self, persona: Persona, context: &str) {
        if !persona.has_record() {
            return;
        }
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fixpoint"));
        command.args(["history", "show", "1", "--format", "json"]).current_dir(&self.dir);
        command.env("FIXPOINT_STATE", self.own.join("state"));
        let output = command.output().unwrap();
        // Before a run has begun there is nothing to show.
        let run: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        for step in run["steps"].as_array().into_iter().flatten() {
            let resource = step["resource"].as_str().unwrap();
            let about = |name: &&&str| {
                let path = self.item(name).display().to_string();
                [format!("{path}]"), format!("{path}/.]")].iter().any(|end| resource.ends_with(end))
            };
            if let Some(item) = ITEMS.iter().find(about)
                && matches!(step["outcome"].as_str(), Some("repaired" | "kept"))
            {
                let state = self.state(item, context);
                assert_eq!(state, State::New, "{persona:?}, {context}: the record claims {step}");
            }
        }
    }

    /// A run that nothing disturbs brings all as promised, and one more changes nothing.
    #[track_caller]
    pub(crate) fn converges(&self, persona: Persona, context: &str) {
        let output = persona.command(self).output().unwrap();
        let text = text_of(&output);
        let missing = self.judge(persona, &output, &format!("{context}, then undisturbed"));
        assert!(
            missing.is_empty() && persona.claims_success(output.status.code(), &text),
            "{persona:?}, {context}: the next run does not converge, {missing:?}: {:?} {text}",
            output.status
        );
    }
}

pub(crate) fn text_of(output: &Output) -> String {
    let bytes = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&bytes).into_owned()
}
