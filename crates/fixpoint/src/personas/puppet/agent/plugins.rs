//! Plug-ins of the server: facts, types and providers in Ruby, and facts in files. They are copied
//! before a run, and what the server no longer has is removed.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use fx_engine::Level;
use fx_host::{Kind, Meta, WriteOptions};
use fx_puppet::{Served, ServedKind};
use fx_remote::puppet::{ListQuery, Server, complaint};
use fx_resources::digest::{Algorithm, label_of_file};

use super::log::Log;
use super::sources::listed;

const IGNORED: &[&str] = &[".svn", "CVS", ".git", ".hg"];

/// One mount of plug-ins.
pub(super) struct Mount<'a> {
    /// `plugins` or `pluginfacts`.
    pub(super) name: &'a str,
    pub(super) directory: PathBuf,
    /// Modes and owners are the server's.
    pub(super) keeps_modes: bool,
}

/// Whether the server has the environment.
pub(super) fn has_environment(server: &Server, environment: &str) -> Result<bool, String> {
    let query = ListQuery {
        recurse: false,
        levels: None,
        ignore: &[],
        max_files: None,
        links: "manage",
        source_permissions: "ignore",
    };
    let answer = server.metadatas("plugins", &query, environment);
    let answer = answer.map_err(|error| super::unanswered_text(&error))?;
    match answer.status {
        404 => Ok(false),
        200..=299 => Ok(true),
        _ => Err(complaint(&answer)),
    }
}

impl Mount<'_> {
    /// Brings the directory to what the server has.
    pub(super) fn sync(
        &self,
        log: &Log<'_>,
        server: &Server,
        environment: &str,
    ) -> Result<(), String> {
        let query = ListQuery {
            recurse: true,
            levels: None,
            ignore: IGNORED,
            max_files: Some(-1),
            links: "follow",
            source_permissions: if self.keeps_modes { "use" } else { "ignore" },
        };
        // A list that cannot be had is no empty list: what is there stays.
        let rows = listed(server.metadatas(self.name, &query, environment))?;
        let mut rows = rows.unwrap_or_default();
        rows.sort_by(|one, other| one.path.cmp(&other.path));
        let mut wanted = BTreeSet::new();
        for row in &rows {
            let path = Path::new(&row.path);
            if !path.components().all(|part| matches!(part, Component::Normal(_))) {
                return Err(format!("the server names a file outside of its mount: {}", row.path));
            }
            wanted.insert(path.to_owned());
            self.bring(log, server, environment, row)?;
        }
        self.purge(log, &self.directory, &wanted)
    }

    fn bring(
        &self,
        log: &Log<'_>,
        server: &Server,
        environment: &str,
        row: &Served,
    ) -> Result<(), String> {
        let run = log.run;
        let to = self.directory.join(&row.path);
        let there = run.look().lstat_opt(&to).map_err(|error| error.to_string())?;
        let mode = if self.keeps_modes { row.mode & 0o777 } else { 0o644 };
        if row.kind == ServedKind::Directory {
            if there.as_ref().is_some_and(Meta::is_dir) {
                return Ok(());
            }
            let made = run.own_state(|act| {
                if there.is_some() {
                    act.remove_file(&to)?;
                }
                act.make_dir(&to, 0o755)
            });
            made.map_err(|error| error.to_string())?;
            if !row.path.is_empty() {
                log.say(Level::Notice, &format!("{}/ensure: created", shown(&to)));
            }
            return Ok(());
        }
        let old = label_of_file(Algorithm::Sha256, run.look(), &to).unwrap_or_default();
        let same = there.as_ref().is_some_and(Meta::is_file) && old == row.label;
        if same {
            return Ok(());
        }
        let path = format!("{}/{}", self.name, row.path);
        let opened = server.content(&path, environment).map_err(|error| error.to_string())?;
        let answer = opened.into_answer().map_err(|error| error.to_string())?;
        if !answer.is_success() {
            return Err(complaint(&answer));
        }
        let found = Algorithm::Sha256.label(&answer.body);
        if row.label.starts_with("{sha256}") && found != row.label {
            return Err(format!("the content of {path} is not what the server announced"));
        }
        let options = WriteOptions { mode: Some(mode), ..WriteOptions::default() };
        let written = run.own_state(|act| {
            if there.as_ref().is_some_and(Meta::is_dir) {
                fx_resources::directory::remove_tree(act, &to)?;
            }
            act.write(&to, &answer.body, &options)?;
            Ok::<(), fx_engine::Failure>(())
        });
        written.map_err(|failure| failure.to_string())?;
        let what = match &there {
            Some(_) => format!("content: content changed '{old}' to '{found}'"),
            None => format!("ensure: defined content as '{found}'"),
        };
        log.say(Level::Notice, &format!("{}/{what}", shown(&to)));
        Ok(())
    }

    /// Removes what the server does not have.
    fn purge(&self, log: &Log<'_>, dir: &Path, wanted: &BTreeSet<PathBuf>) -> Result<(), String> {
        let run = log.run;
        for item in run.look().list(dir).unwrap_or_default() {
            let path = dir.join(&item.name);
            let rest = path.strip_prefix(&self.directory).unwrap_or(&path);
            let is_dir = item.kind == Some(Kind::Directory);
            if wanted.contains(rest) {
                if is_dir {
                    self.purge(log, &path, wanted)?;
                }
                continue;
            }
            let gone = run.own_state(|act| {
                if is_dir {
                    fx_resources::directory::remove_tree(act, &path)
                } else {
                    Ok(act.remove_file(&path)?)
                }
            });
            gone.map_err(|failure| failure.to_string())?;
            log.say(Level::Notice, &format!("{}/ensure: removed", shown(&path)));
        }
        Ok(())
    }
}

/// A file as the original names it.
fn shown(path: &Path) -> String {
    format!("/File[{}]", path.display())
}
