//! A cookbook in a directory: its files with their checksums, and its metadata.

use std::path::{Path, PathBuf};

use fx_chef::Described;
use fx_crypto::digest::Algorithm;
use fx_host::Files;
use serde_json::{Map, Value as J, json};

use super::Reader;

/// A file of a cookbook.
#[derive(Clone, Debug)]
pub(crate) struct BookFile {
    /// Below the cookbook.
    pub(crate) path: String,
    pub(crate) checksum: String,
    pub(crate) content: Vec<u8>,
}

/// A cookbook that was read.
#[derive(Clone, Debug)]
pub(crate) struct Cookbook {
    pub(crate) name: String,
    pub(crate) version: String,
    metadata: J,
    pub(crate) files: Vec<BookFile>,
    is_frozen: bool,
}

/// What an upload leaves behind in a directory; it is no part of the cookbook.
const UPLOADED: &str = ".uploaded-cookbook-version.json";

impl Cookbook {
    /// Reads cookbooks, each in its directory; the metadata of all is evaluated together.
    pub(crate) fn read_all(reader: &Reader, dirs: &[PathBuf]) -> Result<Vec<Cookbook>, String> {
        let in_ruby: Vec<(Described, PathBuf)> = dirs
            .iter()
            .map(|dir| dir.join("metadata.rb"))
            .filter(|file| reader.host.stat(file).is_ok())
            .map(|file| (Described::Metadata, file))
            .collect();
        let described = Reader::described(&in_ruby);
        let mut books = Vec::new();
        for dir in dirs {
            let file = dir.join("metadata.rb");
            let metadata = match in_ruby.iter().position(|(_, known)| *known == file) {
                Some(at) => described[at].clone()?,
                None => reader
                    .json(&dir.join("metadata.json"))
                    .map_err(|why| format!("'{}' is no cookbook: {why}", dir.display()))?,
            };
            books.push(Cookbook::read(reader, dir, metadata)?);
        }
        Ok(books)
    }

    fn read(reader: &Reader, dir: &Path, mut metadata: J) -> Result<Cookbook, String> {
        let base = dir.file_name().map(|name| name.to_string_lossy().into_owned());
        let base = base.unwrap_or_default();
        if metadata["name"].as_str().is_none_or(str::is_empty) {
            metadata["name"] = base.into();
        }
        let text = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
        let (name, mut version) = (text("name"), text("version"));
        if version.is_empty() {
            "0.0.0".clone_into(&mut version);
            metadata["version"] = json!(version);
        }
        let ignored = Ignored::find(reader, dir);
        let mut files = Vec::new();
        collect(reader, dir, "", &ignored, &mut files)?;
        // Clients read metadata from JSON alone.
        if !files.iter().any(|file| file.path == "metadata.json") {
            let content = serde_json::to_vec_pretty(&metadata).unwrap_or_default();
            let checksum = Algorithm::Md5.hex(&content);
            files.push(BookFile { path: "metadata.json".into(), checksum, content });
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let is_frozen = reader.json(&dir.join("status.json")).is_ok_and(|s| s["frozen"] == true);
        Ok(Cookbook { name, version, metadata, files, is_frozen })
    }

    /// The manifest of a version of the cookbook.
    pub(crate) fn manifest(&self) -> J {
        let mut manifest = self.common();
        manifest.insert("name".into(), format!("{}-{}", self.name, self.version).into());
        manifest.insert("cookbook_name".into(), self.name.as_str().into());
        manifest.insert("json_class".into(), "Chef::CookbookVersion".into());
        J::Object(manifest)
    }

    /// The manifest of the same as an artifact.
    pub(crate) fn artifact(&self, identifier: &str) -> J {
        let mut manifest = self.common();
        manifest.insert("name".into(), self.name.as_str().into());
        manifest.insert("identifier".into(), identifier.into());
        J::Object(manifest)
    }

    fn common(&self) -> Map<String, J> {
        let files: Vec<J> = self.files.iter().map(record).collect();
        let mut manifest = Map::new();
        manifest.insert("version".into(), self.version.as_str().into());
        manifest.insert("chef_type".into(), "cookbook_version".into());
        manifest.insert("frozen?".into(), self.is_frozen.into());
        manifest.insert("metadata".into(), self.metadata.clone());
        manifest.insert("all_files".into(), files.into());
        manifest
    }
}

/// A file in a manifest.
fn record(file: &BookFile) -> J {
    let parts: Vec<&str> = file.path.split('/').collect();
    let (name, specificity) = match parts[..] {
        [one] => (format!("root_files/{one}"), "default"),
        ["files" | "templates", _] => (file.path.clone(), "root_default"),
        [segment @ ("files" | "templates"), place, .., last] => {
            (format!("{segment}/{last}"), place)
        }
        [segment, .., last] => (format!("{segment}/{last}"), "default"),
        [] => (String::new(), "default"),
    };
    json!({"name": name, "path": file.path, "checksum": file.checksum, "specificity": specificity})
}

fn collect(
    reader: &Reader,
    dir: &Path,
    prefix: &str,
    ignored: &Ignored,
    files: &mut Vec<BookFile>,
) -> Result<(), String> {
    for (name, is_dir) in reader.names(&dir.join(prefix))? {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        if is_dir {
            if !(prefix.is_empty() && name.starts_with('.')) {
                collect(reader, dir, &path, ignored, files)?;
            }
        } else if name != UPLOADED && path != "status.json" && !ignored.matches(&path) {
            let content = reader.bytes(&dir.join(&path))?;
            files.push(BookFile { checksum: Algorithm::Md5.hex(&content), path, content });
        }
    }
    Ok(())
}

/// Patterns of a `chefignore` file.
struct Ignored(Vec<regex::Regex>);

impl Ignored {
    /// Of the cookbook, or of a directory above it.
    fn find(reader: &Reader, dir: &Path) -> Ignored {
        let text = dir.ancestors().find_map(|dir| reader.bytes(&dir.join("chefignore")).ok());
        let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
        let lines = text.lines().map(str::trim);
        let patterns = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        Ignored(patterns.filter_map(|one| regex::Regex::new(&pattern(one)).ok()).collect())
    }

    fn matches(&self, path: &str) -> bool {
        self.0.iter().any(|one| one.is_match(path))
    }
}

/// A pattern of names, in which a star takes slashes as well but not a dot at the start.
fn pattern(glob: &str) -> String {
    let mut out = String::from("^");
    for (at, character) in glob.char_indices() {
        match character {
            '*' if at == 0 => out.push_str("(?:[^.].*)?"),
            '*' => out.push_str(".*"),
            '?' => out.push('.'),
            other => out.push_str(&regex::escape(&other.to_string())),
        }
    }
    out.push('$');
    out
}

#[cfg(test)]
mod tests {
    use super::{BookFile, pattern, record};

    #[test]
    fn files_are_named_by_segment_and_place() {
        for (path, name, specificity) in [
            ("metadata.rb", "root_files/metadata.rb", "default"),
            ("recipes/default.rb", "recipes/default.rb", "default"),
            ("files/x", "files/x", "root_default"),
            ("files/default/a/x", "files/x", "default"),
            ("templates/host-a.b/x.erb", "templates/x.erb", "host-a.b"),
            ("libraries/a/b.rb", "libraries/b.rb", "default"),
        ] {
            let file = BookFile { path: path.into(), checksum: String::new(), content: Vec::new() };
            let found = record(&file);
            assert_eq!(
                (&found["name"], &found["specificity"]),
                (&name.into(), &specificity.into())
            );
        }
    }

    #[test]
    fn ignored_files_match_patterns() {
        for (glob, path, matches) in [
            ("*.swp", "recipes/a.swp", true),
            ("*~", "a~", true),
            ("*", ".kitchen.yml", false),
            ("spec/*", "spec/a/b_spec.rb", true),
            ("spec/*", "specs/a", false),
            ("Gemfile", "Gemfile.lock", false),
        ] {
            let regex = regex::Regex::new(&pattern(glob)).expect("a pattern");
            assert_eq!(regex.is_match(path), matches, "{glob} {path}");
        }
    }
}
