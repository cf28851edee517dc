//! Files of a site that are puppetserver's: `conf.d` with its rules, its authority and its commands
//! for versions of code, and the mounts of `fileserver.conf`. A setting that is not understood is an
//! error: a rule that is passed over in silence would be a hole.

mod authority;
mod mounts;
mod rules;
mod tree;
mod versions;

use std::path::{Path, PathBuf};

use fx_host::{Files, OsHost};
use fx_server::Rule;

pub(crate) use authority::AuthorityConf;
pub(crate) use mounts::Mounts;
pub(crate) use versions::VersionedCode;

use crate::personas::puppet::settings::Settings;
use tree::Part;

/// What the files of a site say.
#[derive(Debug, Default)]
pub(crate) struct SiteConf {
    /// Rules of its own, where it has the file for them.
    pub(crate) rules: Option<Vec<Rule>>,
    pub(crate) authority: AuthorityConf,
    pub(crate) versions: VersionedCode,
    pub(crate) mounts: Mounts,
}

/// Sections that are about the original's own process: its JVM, its listeners, its metrics.
const OF_THE_ORIGINAL: &[&str] = &[
    "jruby-puppet",
    "http-client",
    "profiler",
    "webserver",
    "web-router-service",
    "global",
    "metrics",
    "product",
    "nrepl",
    "scheduler",
    "status",
];

/// Reads the files; what is wrong, with the file, the line and what to do about it.
pub(crate) fn read(
    host: &OsHost,
    settings: &Settings,
    dir: Option<&Path>,
) -> Result<SiteConf, String> {
    let mut conf = SiteConf::default();
    let found = dir.map_or_else(|| conf_dir(host, settings), |dir| Some(dir.to_owned()));
    if let Some(dir) = found {
        let names = host.list_trusted(&dir).map_err(|error| error.to_string())?;
        for entry in names {
            let path = dir.join(&entry.name);
            if path.extension().is_some_and(|ending| ending == "conf") {
                read_file(host, &path, &mut conf)?;
            }
        }
    }
    let file = PathBuf::from(settings.get("fileserverconfig"));
    if let Some(text) = host.read_trusted_data_opt(&file).map_err(|error| error.to_string())? {
        conf.mounts = Mounts::read(&file, &String::from_utf8_lossy(&text))?;
    }
    Ok(conf)
}

/// Where the original's packages have it: below `confdir`, or beside it.
fn conf_dir(host: &OsHost, settings: &Settings) -> Option<PathBuf> {
    let confdir = PathBuf::from(settings.get("confdir"));
    let beside = confdir.parent().map(Path::to_owned).unwrap_or_default();
    let places = [confdir, beside].map(|dir| dir.join("puppetserver/conf.d"));
    places.into_iter().find(|dir| host.stat(dir).is_ok_and(|meta| meta.is_dir()))
}

fn read_file(host: &OsHost, path: &Path, conf: &mut SiteConf) -> Result<(), String> {
    let bytes = host.read_trusted(path).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let shown = path.display().to_string();
    let value = fx_puppet::parse_hocon(&text).map_err(|why| format!("{shown}: {why}"))?;
    let top = Part::top(&shown, &text, &value);
    for (name, part) in top.members()? {
        match name {
            "authorization" => conf.rules = Some(rules::read(&part)?),
            "certificate-authority" => conf.authority = AuthorityConf::read(&part)?,
            "versioned-code" => conf.versions = VersionedCode::read(&part)?,
            name if OF_THE_ORIGINAL.contains(&name) => {}
            name => return Err(part.wrong(&format!("'{name}' is not known; remove it"))),
        }
    }
    Ok(())
}
