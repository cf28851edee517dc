//! The Puppetfile of an environment, which is Ruby, and the modules it names.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use fx_host::{Files, OsHost};
use serde_json::{Value, json};

use super::fetch::{Source, run};
use super::{copy, make_dirs, shown};

const READER: &str = include_str!("puppetfile.rb");

/// Puts the modules into the code; what was put there, for the record.
pub(super) fn install(
    host: &OsHost,
    scratch: &Path,
    code: &Path,
    archives: Option<&Path>,
) -> Result<Vec<Value>, String> {
    let file = code.join("Puppetfile");
    if host.lstat_opt(&file).map_err(shown)?.is_none() {
        return Ok(Vec::new());
    }
    let said = read(host, &file)?;
    let dir = inside(said["moduledir"].as_str().unwrap_or("modules"))
        .ok_or("the Puppetfile's moduledir leads out of the environment")?;
    let mut put = Vec::new();
    for module in said["modules"].as_array().into_iter().flatten() {
        let full = module["name"].as_str().unwrap_or_default();
        let failed = |why: String| format!("Puppetfile: mod '{full}': {why}");
        let short = full.rsplit(['/', '-']).next().unwrap_or_default();
        let is_name = !short.is_empty()
            && short.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if !is_name {
            return Err(failed("this is no name of a module".into()));
        }
        if module["local"] == true {
            continue;
        }
        let own = module["install_path"].as_str().map_or(Some(dir.clone()), inside);
        let own = own.ok_or_else(|| failed("install_path leads out of the environment".into()))?;
        let to = code.join(own).join(short);
        make_dirs(host, to.parent().unwrap_or(code))?;
        if host.lstat_opt(&to).map_err(shown)?.is_some() {
            return Err(failed(format!("'{}' is there already", to.display())));
        }
        let commit = bring(host, scratch, module, &to, archives).map_err(failed)?;
        put.push(json!({"name": short, "version": module["version"], "sha": commit}));
    }
    Ok(put)
}

/// What the Puppetfile says, by our own Ruby in a process of its own.
fn read(host: &OsHost, file: &Path) -> Result<Value, String> {
    host.check_trusted(file).map_err(shown)?;
    let argv: [OsString; 5] = [
        "/proc/self/exe".into(),
        "ruby".into(),
        "-e".into(),
        READER.into(),
        file.as_os_str().to_owned(),
    ];
    let text = run(host, &argv).map_err(|why| format!("the Puppetfile cannot be read: {why}"))?;
    serde_json::from_str(&text).map_err(|error| format!("the Puppetfile cannot be read: {error}"))
}

/// A path below the environment.
fn inside(path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    let is_below =
        path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    is_below.then(|| path.to_owned())
}

fn bring(
    host: &OsHost,
    scratch: &Path,
    module: &Value,
    to: &Path,
    archives: Option<&Path>,
) -> Result<Option<String>, String> {
    let text = |name: &str| module[name].as_str();
    if text("svn").is_some() {
        return Err("Subversion is not supported; use git, a directory or an archive".into());
    }
    let kind = text("type");
    let git = text("git").or_else(|| text("source").filter(|_| kind == Some("git")));
    if let Some(place) = git {
        let names = ["ref", "tag", "commit", "branch", "version", "default_branch"];
        let reference = names.iter().find_map(|name| text(name)).unwrap_or("HEAD");
        return Source { place, reference }.bring(host, scratch, to);
    }
    if let Some(place) = text("source").filter(|_| matches!(kind, Some("tarball" | "local"))) {
        if let Some(wanted) = text("version").filter(|version| version.len() == 64) {
            let mut content = host.open(Path::new(place)).map_err(shown)?;
            let found = fx_crypto::digest::Algorithm::Sha256.hex_of(&mut content);
            let found = found.map_err(|error| error.to_string())?;
            if found != wanted {
                return Err(format!("'{place}' has the digest {found}, not {wanted}"));
            }
        }
        return Source { place, reference: "HEAD" }.bring(host, scratch, to);
    }
    let full = text("name").unwrap_or_default().replace('/', "-");
    let Some(version) = text("version").filter(|version| *version != "latest") else {
        return Err("a module of the Forge needs a version".into());
    };
    let Some(archives) = archives else {
        return Err(format!(
            "nothing is fetched from the Forge; put {full}-{version}.tar.gz into a directory and name it with --archives"
        ));
    };
    if version.contains('/') || full.contains('/') {
        return Err("this is no version".into());
    }
    let archive = fx_host::Env::cwd(host).join(archives).join(format!("{full}-{version}.tar.gz"));
    let place = archive.to_string_lossy().into_owned();
    let done = Source { place: &place, reference: "HEAD" }.bring(host, scratch, to)?;
    // An archive is somebody else's: what leads out of it is found here.
    copy::digest(host, to)?;
    Ok(done)
}
