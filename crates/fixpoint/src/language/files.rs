//! The files of a directory of policy, and what kind of policy it is.

use std::path::{Path, PathBuf};

use fx_host::{Env, Files};
use fx_source::Origin;

use super::Language;
use crate::stage::Stage;

/// Directories whose content is not the policy's own, or is made for tests.
const LEFT_OUT: [&str; 8] =
    [".git", ".bundle", "vendor", "node_modules", ".vagrant", ".kitchen", "pkg", ".cache"];

/// Most files that are looked at.
const MOST: usize = 100_000;

/// How the names of policy end.
const POLICY: [&str; 5] = ["cf", "pp", "epp", "rb", "erb"];

/// The note that a file could not be looked at.
pub(crate) const NOT_CHECKED: &str = "check.not-checked";

/// Notes what could not be looked at: nobody may take it for right.
pub(super) fn not_checked(stage: &Stage, why: &str) {
    stage.run.ledger.note(NOT_CHECKED, &[("text".into(), why.into())], &Origin::default());
}

/// Every file below a directory in the order of its path; a file is itself.
pub(super) fn below(stage: &Stage, target: &Path) -> Vec<PathBuf> {
    let full: PathBuf = stage.host.cwd().join(target).components().collect();
    if !is_dir(stage, &full) {
        return vec![full];
    }
    let mut found = Vec::new();
    let mut todo = vec![full];
    while let Some(dir) = todo.pop() {
        let entries = match stage.host.list(&dir) {
            Ok(entries) => entries,
            Err(error) => {
                not_checked(stage, &error.to_string());
                continue;
            }
        };
        for entry in entries {
            let path = dir.join(&entry.name);
            let name = entry.name.to_string_lossy();
            // A link leads to what is looked at elsewhere, or out of the policy.
            let meta = match stage.host.lstat(&path) {
                Ok(meta) => meta,
                Err(error) => {
                    not_checked(stage, &error.to_string());
                    continue;
                }
            };
            if meta.is_dir() {
                let fixtures = name == "fixtures" && dir.ends_with("spec");
                if !LEFT_OUT.contains(&&*name) && !fixtures {
                    todo.push(path);
                }
            } else if meta.is_file() {
                found.push(path);
            } else if !meta.is_symlink() && POLICY.contains(&ending(&path)) {
                let path = fx_source::visible_path(path.as_os_str().as_encoded_bytes());
                not_checked(stage, &format!("'{path}' is no regular file"));
            }
        }
        if found.len() > MOST {
            not_checked(stage, &format!("there are more than {MOST} files; check a part of them"));
            found.truncate(MOST);
            break;
        }
    }
    found.sort();
    found
}

pub(super) fn is_dir(stage: &Stage, path: &Path) -> bool {
    stage.host.stat(path).is_ok_and(|meta| meta.is_dir())
}

/// How a file's name ends, without the dot.
pub(super) fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

/// The language of a directory, by what is in it or in the directories in it.
pub(crate) fn language(stage: &Stage, target: &Path) -> Option<Language> {
    let full = stage.host.cwd().join(target);
    if !is_dir(stage, &full) {
        return match ending(&full) {
            "epp" => Some(Language::Puppet),
            _ => None,
        };
    }
    marked(stage, &full).or_else(|| {
        let mut inner: Vec<PathBuf> = stage
            .host
            .list(&full)
            .unwrap_or_default()
            .into_iter()
            .map(|entry| full.join(entry.name))
            .filter(|path| is_dir(stage, path))
            .collect();
        inner.sort();
        inner.iter().find_map(|dir| marked(stage, dir)).or_else(|| {
            below(stage, &full).iter().find_map(|file| match ending(file) {
                "cf" => Some(Language::Cfengine),
                "pp" | "epp" => Some(Language::Puppet),
                "rb" if file.parent().is_some_and(|dir| dir.ends_with("recipes")) => {
                    Some(Language::Chef)
                }
                _ => None,
            })
        })
    })
}

fn marked(stage: &Stage, dir: &Path) -> Option<Language> {
    let has = |name: &str| stage.host.stat(&dir.join(name)).is_ok();
    if has("promises.cf") || has("promises.cf.in") || has("update.cf") {
        return Some(Language::Cfengine);
    }
    if has("environment.conf")
        || has("manifests")
        || has("Puppetfile")
        || has("site-modules")
        || has("hiera.yaml")
        || has("lib/puppet")
        || has("lib/facter")
    {
        return Some(Language::Puppet);
    }
    if has("metadata.rb") || has("recipes") || has("cookbooks") || has("data_bags") {
        return Some(Language::Chef);
    }
    let own = stage.host.list(dir).unwrap_or_default();
    own.iter().find_map(|entry| match ending(Path::new(&entry.name)) {
        "cf" => Some(Language::Cfengine),
        "pp" | "epp" => Some(Language::Puppet),
        _ => None,
    })
}
