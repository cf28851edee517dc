//! Which version of the code an environment is at, and files as they were in it: by the site's own
//! programs, or by the directories that `fixpoint deploy` makes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fx_host::{Commands, Files, OsHost, Spec};
use fx_server::{Content, Refusal};
use fx_wire::puppet::Environment;

use super::conf::VersionedCode;
use super::environments::Snapshot;
use super::files;

/// The file that says of a directory that it is one version of an environment.
pub(crate) const MARKER: &str = ".fixpoint-deploy.json";

/// A program that takes longer has no answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// Whether a text can be the name of a version, in paths and in catalogs.
fn is_version(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-:;".contains(&b))
}

fn run(host: &OsHost, program: &Path, words: &[&str]) -> Result<Vec<u8>, Refusal> {
    let failed = |why: String| Refusal::Failed(format!("'{}' {why}", program.display()));
    host.check_trusted(program).map_err(|error| Refusal::Failed(error.to_string()))?;
    let argv = std::iter::once(program.as_os_str().to_owned())
        .chain(words.iter().map(|word| (*word).into()));
    let ended = host.run(&Spec::argv(argv).timeout(PATIENCE));
    let ended = ended.map_err(|error| failed(format!("cannot be run: {error}")))?;
    if !ended.exit.success() {
        let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
        return Err(failed(format!("ended with {}: {said}", ended.exit.code())));
    }
    Ok(ended.stdout)
}

/// The version of an environment that was deployed by us: the end of its directory's name.
pub(super) fn deployed(host: &OsHost, snapshot: &Snapshot) -> Option<String> {
    let dir = snapshot.dir.as_ref()?;
    host.lstat(&dir.join(MARKER)).ok()?;
    let name = dir.file_name()?.to_str()?;
    let version = name.strip_prefix(&snapshot.name)?.strip_prefix('_')?;
    is_version(version).then(|| version.to_owned())
}

/// The version, where there is a way to know it. An empty one is a version too.
pub(super) fn code_id(
    host: &OsHost,
    code: &VersionedCode,
    snapshot: &Snapshot,
) -> Result<Option<String>, Refusal> {
    let Some(program) = &code.id_command else { return Ok(deployed(host, snapshot)) };
    let said = run(host, program, &[&snapshot.name])?;
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    if is_version(&said) {
        return Ok(Some(said));
    }
    Err(Refusal::Failed(format!(
        "'{}' printed '{said}', which is no name of a version: letters, digits, '_', '-', ':' and ';'",
        program.display()
    )))
}

/// A file of an environment at a version.
pub(super) fn content(
    host: &OsHost,
    code: &VersionedCode,
    snapshot: &Snapshot,
    environment: &Environment,
    (version, path): (&str, &[String]),
) -> Result<Content, Refusal> {
    if !is_version(version) {
        return Err(Refusal::NotFound("there is no such version".into()));
    }
    let path = path.join("/");
    if let Some(program) = &code.content_command {
        return run(host, program, &[environment.as_str(), version, &path]).map(Content::bytes);
    }
    if deployed(host, snapshot).is_none() {
        return Err(Refusal::Failed("versions of code are not configured on this server".into()));
    }
    let missing = || Refusal::NotFound(format!("Could not find {path} at version {version}"));
    let dir = snapshot.dir.as_ref().and_then(|dir| dir.parent()).ok_or_else(missing)?;
    let dir: PathBuf = dir.join(format!("{environment}_{version}"));
    host.lstat(&dir.join(MARKER)).map_err(|_| missing())?;
    files::open(&dir.join(&path)).map_err(|error| {
        if error.is_not_found() { missing() } else { Refusal::Failed(error.to_string()) }
    })
}

#[cfg(test)]
mod tests {
    use super::is_version;

    #[test]
    fn versions_are_no_paths() {
        for (text, wanted) in
            [("abc-1_2:3;4", true), ("", true), ("../x", false), ("a/b", false), ("a.b", false)]
        {
            assert_eq!(is_version(text), wanted, "{text}");
        }
    }
}
