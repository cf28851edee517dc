//! `fixpoint deploy`: puts a version of an environment beside the others and switches to it at once.
//!
//! An environment is a link to one of the directories in `.versions`; who reads it sees the old one
//! or the new one, and a server that has begun with one goes on with it.

mod copy;
mod fetch;
mod puppetfile;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fx_host::{Clock, Edits, Env, Files, OsHost, WriteOptions};
use fx_wire::puppet::Environment;
use serde_json::{Value, json};

use crate::personas::puppet::settings::Settings;
use crate::serve::MARKER;
use crate::{exit, terminal};
use fetch::Source;

/// Puts code of an environment in place, as a version of its own, all at once
#[derive(Clone, clap::Args)]
#[command(after_help = "\
The code comes from a directory, an archive (.tar.gz) or a git repository; a Puppetfile in it is read and its modules
are put into their directory. Modules of the Forge are taken from a directory of archives (author-name-1.2.3.tar.gz).
The environment becomes a link into '.versions' beside it; servers take the new version with the next request, those
with 'environment_timeout = unlimited' after a flush of their cache.

Examples:
  fixpoint deploy production --from /srv/git/control.git --ref main
  fixpoint deploy testing --from . --archives /srv/forge")]
pub(crate) struct Args {
    /// Name of the environment
    environment: String,
    /// Directory, archive or git repository
    #[arg(long, value_name = "SOURCE")]
    from: String,
    /// Branch, tag or commit of a git repository
    #[arg(long = "ref", value_name = "REF", default_value = "HEAD")]
    reference: String,
    /// Directory with archives of modules
    #[arg(long, value_name = "DIR")]
    archives: Option<PathBuf>,
    /// Directory of environments [default: the first of the setting 'environmentpath']
    #[arg(long, value_name = "DIR")]
    environmentpath: Option<PathBuf>,
    /// A setting of Puppet, before those of puppet.conf
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<String>,
    /// Versions that stay, the current one included
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    keep: u64,
}

pub(crate) fn run(args: &Args) -> u8 {
    match deploy(args) {
        Ok(text) => terminal::print(&text),
        Err(error) => {
            terminal::complain(error);
            exit::ERROR
        }
    }
}

/// An error of the machine in words.
fn shown(error: fx_host::HostError) -> String {
    error.to_string()
}

/// Something of our own that is removed in any case.
pub(super) struct Scratch<'a> {
    host: &'a OsHost,
    pub(super) path: PathBuf,
}

impl<'a> Scratch<'a> {
    /// A private directory of a name that nobody can guess.
    fn new(host: &'a OsHost, within: &Path) -> Result<Scratch<'a>, String> {
        let mut noise = [0; 16];
        host.random(&mut noise);
        let path = within.join(format!(".new-{}", fx_formats::hex(noise)));
        host.make_dir(&path, 0o700).map_err(shown)?;
        Ok(Scratch { host, path })
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        if self.host.lstat(&self.path).is_ok()
            && let Err(failure) = fx_resources::directory::remove_tree(self.host, &self.path)
        {
            terminal::complain(format_args!("cannot remove '{}': {failure}", self.path.display()));
        }
    }
}

fn environmentpath(host: &OsHost, args: &Args) -> Result<PathBuf, String> {
    if let Some(dir) = &args.environmentpath {
        return Ok(host.cwd().join(dir));
    }
    let mut given = BTreeMap::new();
    for setting in &args.settings {
        let (name, value) =
            setting.split_once('=').ok_or_else(|| format!("'{setting}' is not NAME=VALUE"))?;
        given.insert(name.to_owned(), value.to_owned());
    }
    let paths = Settings::with(host, given, "server").get("environmentpath");
    let first = paths.split(':').find(|path| !path.is_empty());
    first.map(PathBuf::from).ok_or_else(|| "the setting 'environmentpath' is empty".into())
}

fn deploy(args: &Args) -> Result<String, String> {
    let host = OsHost::new();
    let name = Environment::parse(&args.environment).ok_or_else(|| {
        format!("'{}' is no name of an environment: letters, digits and '_'", args.environment)
    })?;
    let path = environmentpath(&host, args)?;
    let link = path.join(name.as_str());
    if host.lstat_opt(&link).map_err(shown)?.is_some_and(|meta| !meta.is_symlink()) {
        return Err(format!(
            "'{}' is no link; move it away first, its place is taken by a link to a version",
            link.display()
        ));
    }
    let versions = path.join(".versions");
    make_dirs(&host, &versions)?;
    let lock = host.lock(&versions.join(".lock"), Duration::from_mins(1)).map_err(shown)?;
    let _lock = lock.ok_or("another deployment is under way")?;
    let scratch = Scratch::new(&host, &versions)?;
    let code = scratch.path.join("code");
    let source = Source { place: &args.from, reference: &args.reference };
    let commit = source.bring(&host, &scratch.path, &code)?;
    let modules = puppetfile::install(&host, &scratch.path, &code, args.archives.as_deref())?;
    let version = copy::digest(&host, &code)?;
    let target = versions.join(format!("{name}_{version}"));
    let is_new = host.lstat_opt(&target).map_err(shown)?.is_none();
    if is_new {
        let marker = json!({
            "environment": name.as_str(), "version": version, "from": args.from, "commit": commit,
            "modules": modules, "deployed": host.now().secs,
        });
        put_in_place(&host, &versions, &code, &target, &marker)?;
    }
    switch(&host, &link, &target)?;
    let removed = remove_old(&host, &versions, name.as_str(), &target, args.keep)?;
    host.commit().map_err(shown)?;
    let what = if is_new { "is new" } else { "was there" };
    let removed = if removed > 0 { format!(", {removed} old removed") } else { String::new() };
    Ok(format!("{name} is at version {version}, which {what}{removed}\n"))
}

fn make_dirs(host: &OsHost, dir: &Path) -> Result<(), String> {
    let mut missing: Vec<&Path> =
        dir.ancestors().take_while(|dir| host.lstat(dir).is_err()).collect();
    missing.reverse();
    missing.into_iter().try_for_each(|dir| host.make_dir(dir, 0o755).map_err(shown))
}

/// Copies the code to where it stays. What is there under the version's name is whole.
fn put_in_place(
    host: &OsHost,
    versions: &Path,
    code: &Path,
    target: &Path,
    marker: &Value,
) -> Result<(), String> {
    let staged = Scratch::new(host, versions)?;
    copy::tree(host, code, &staged.path)?;
    let options = WriteOptions { mode: Some(0o644), ..WriteOptions::default() };
    let text = format!("{marker:#}\n");
    host.write(&staged.path.join(MARKER), text.as_bytes(), &options).map_err(shown)?;
    host.set_mode(&staged.path, 0o755).map_err(shown)?;
    // All of it is on the disk before it has its name.
    host.commit().map_err(shown)?;
    host.rename(&staged.path, target).map_err(shown)
}

/// Makes the link lead to the version, in one step.
fn switch(host: &OsHost, link: &Path, target: &Path) -> Result<(), String> {
    let name = target.file_name().unwrap_or_default();
    let to = Path::new(".versions").join(name);
    if host.read_link(link).is_ok_and(|now| now == to) {
        return Ok(());
    }
    let mut noise = [0; 16];
    host.random(&mut noise);
    let new = link.with_file_name(format!(".new-{}", fx_formats::hex(noise)));
    host.symlink(&to, &new).map_err(shown)?;
    host.rename(&new, link).map_err(|error| {
        let _ = host.remove_file(&new);
        shown(error)
    })
}

/// Removes the oldest versions of the environment; how many.
fn remove_old(
    host: &OsHost,
    versions: &Path,
    name: &str,
    current: &Path,
    keep: u64,
) -> Result<usize, String> {
    let mut found: Vec<(i64, PathBuf)> = Vec::new();
    for entry in host.list(versions).map_err(shown)? {
        let path = versions.join(&entry.name);
        let is_ours = entry.name.to_str().is_some_and(|entry| {
            entry.rsplit_once('_').is_some_and(|(environment, _)| environment == name)
        });
        let Some(text) = host.read_opt(&path.join(MARKER)).map_err(shown)? else { continue };
        let marker: Value = serde_json::from_slice(&text).unwrap_or_default();
        if is_ours && path != current {
            found.push((marker["deployed"].as_i64().unwrap_or(0), path));
        }
    }
    found.sort();
    let most = usize::try_from(keep).unwrap_or(usize::MAX).saturating_sub(1);
    let surplus = found.len().saturating_sub(most);
    for (_, path) in found.iter().take(surplus) {
        fx_resources::directory::remove_tree(host, path).map_err(|failure| failure.to_string())?;
    }
    Ok(surplus)
}
