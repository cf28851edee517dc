//! Calls about cookbooks.

use std::collections::BTreeSet;
use std::path::PathBuf;

use fx_remote::Content;
use serde_json::{Map, Value as J, json};

use super::Knife;
use super::http::{Wrong, path};
use super::text;
use crate::chef_repo::{Cookbook, Reader};

type Done = Result<(), Wrong>;

pub(super) fn list(knife: &Knife, _: &[String]) -> Done {
    let count = if knife.has("all") { "all" } else { "1" };
    let all = knife.ask("GET", &format!("cookbooks?num_versions={count}"), None)?;
    let mut shown = Map::new();
    for (name, book) in all.as_object().into_iter().flatten() {
        let versions = book["versions"].as_array().into_iter().flatten();
        let value = if knife.has("with-uri") {
            let rows = versions.map(|one| (text::plain(&one["version"]), one["url"].clone()));
            J::Object(rows.collect())
        } else if knife.wants_json() {
            versions.map(|one| one["version"].clone()).collect()
        } else {
            versions.map(|one| text::plain(&one["version"])).collect::<Vec<_>>().join(" ").into()
        };
        shown.insert(name.clone(), value);
    }
    knife.output(&J::Object(shown));
    Ok(())
}

/// The part of a path that a segment is named by.
fn segment(file: &J) -> String {
    text::plain(&file["name"]).split('/').next().unwrap_or_default().to_owned()
}

pub(super) fn show(knife: &Knife, words: &[String]) -> Done {
    let name = &words[0];
    let Some(version) = words.get(1) else {
        let all = knife.get(&["cookbooks", name])?;
        let versions = all[name]["versions"].as_array().into_iter().flatten();
        let versions: Vec<String> = versions.map(|one| text::plain(&one["version"])).collect();
        knife.output(&json!({name: versions.join(" ")}));
        return Ok(());
    };
    let book = knife.get(&["cookbooks", name, version])?;
    let files = book["all_files"].as_array().cloned().unwrap_or_default();
    let Some(part) = words.get(2) else {
        let mut shown = Map::new();
        for key in ["cookbook_name", "frozen?", "metadata", "name", "version"] {
            shown.insert(key.to_owned(), book[key].clone());
        }
        for file in files {
            let place = shown.entry(segment(&file)).or_insert_with(|| json!([]));
            if let Some(list) = place.as_array_mut() {
                list.push(file);
            }
        }
        knife.output(&J::Object(shown));
        return Ok(());
    };
    let mut of_part: Vec<J> = files.into_iter().filter(|file| segment(file) == *part).collect();
    let Some(wanted) = words.get(3) else {
        knife.output(&J::Array(of_part));
        return Ok(());
    };
    let base =
        |file: &J| text::plain(&file["path"]).rsplit('/').next().unwrap_or_default().to_owned();
    of_part.retain(|file| base(file) == *wanted);
    match of_part.first() {
        Some(file) => {
            let content = knife.send(&[2], "GET", &text::plain(&file["url"]), &[], None)?;
            crate::terminal::print(&String::from_utf8_lossy(&content));
            Ok(())
        }
        None => Err(Wrong::Here(format!("there is no file {wanted} in {part} of {name}"))),
    }
}

pub(super) fn delete(knife: &Knife, words: &[String]) -> Done {
    let name = &words[0];
    let all = knife.get(&["cookbooks", name])?;
    let versions = all[name]["versions"].as_array().cloned().unwrap_or_default();
    let versions: Vec<String> = versions.iter().map(|one| text::plain(&one["version"])).collect();
    let chosen = match words.get(1) {
        Some(version) => vec![version.clone()],
        None if knife.has("all") || versions.len() == 1 => versions,
        None => {
            return Err(Wrong::Here(format!("which version of {name}? {}", versions.join(", "))));
        }
    };
    for version in chosen {
        knife.confirmed(&format!("Do you really want to delete {name} version {version}"))?;
        let purge = if knife.has("purge") { "?purge=true" } else { "" };
        let at = format!("{}{purge}", path(&["cookbooks", name, &version]));
        knife.ask("DELETE", &at, None)?;
        Knife::say(&format!("Deleted cookbook[{name} version {version}]"));
    }
    Ok(())
}

/// Directories of cookbooks by their names.
fn dirs(knife: &Knife, reader: &Reader) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Wrong> {
    let roots: Vec<PathBuf> = match knife.flag("cookbook-path") {
        Some(list) => list.split(':').map(|dir| reader.cwd().join(dir)).collect(),
        None => knife.settings.cookbooks(),
    };
    let mut dirs = Vec::new();
    for root in &roots {
        for (name, is_dir) in reader.names(root)? {
            let dir = root.join(&name);
            if is_dir
                && ["metadata.rb", "metadata.json"]
                    .iter()
                    .any(|file| reader.is_there(&dir.join(file)))
            {
                dirs.push(dir);
            }
        }
    }
    Ok((dirs, roots))
}

pub(super) fn upload(knife: &Knife, names: &[String]) -> Done {
    let reader = Reader::new();
    let all = knife.has("all");
    if names.is_empty() && !all {
        return Err(Wrong::Here(
            "You must specify the --all flag or at least one cookbook name".into(),
        ));
    }
    let (dirs, roots) = dirs(knife, &reader)?;
    let mut books = Cookbook::read_all(&reader, &dirs)?;
    for name in names {
        if !books.iter().any(|book| book.name == *name) {
            Knife::tell(&format!(
                "ERROR: Cannot find a cookbook named {name}; did you forget to add metadata to a cookbook? (https://docs.chef.io/config_rb_metadata/)"
            ));
        }
    }
    if !all {
        books.retain(|book| names.contains(&book.name));
    }
    if books.is_empty() {
        let roots: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
        Knife::tell(&format!(
            "WARNING: Could not find any cookbooks in your cookbook path: '{}'. Use --cookbook-path to specify the desired path.",
            roots.join(", ")
        ));
        return Ok(());
    }
    let width = books.iter().map(|book| book.name.len()).max().unwrap_or(0).max(14);
    let mut failed = 0;
    for book in &books {
        Knife::tell(&format!("Uploading {:<width$} [{}]", book.name, book.version));
        match send(knife, book) {
            Err(Wrong::Status(409, _)) => {
                failed += 1;
                let (name, version) = (&book.name, &book.version);
                Knife::tell(&format!(
                    "ERROR: Version {version} of cookbook {name} is frozen. Use --force to override."
                ));
                Knife::tell(&format!(
                    "WARNING: Not updating version constraints for {name} in the environment as the cookbook is frozen."
                ));
            }
            other => other?,
        }
    }
    let plural = |count: usize| if count == 1 { "cookbook" } else { "cookbooks" };
    match (failed, books.len() - failed) {
        (0, _) if all => Knife::tell("Uploaded all cookbooks."),
        (0, done) => Knife::tell(&format!("Uploaded {done} {}.", plural(done))),
        (failed, 0) => {
            Knife::tell(&format!("ERROR: Failed to upload {failed} {}.", plural(failed)));
            return Err(Wrong::Code(1));
        }
        (failed, done) => {
            Knife::tell(&format!(
                "WARNING: Uploaded {done} {} ok but {failed} {} upload failed.",
                plural(done),
                plural(failed)
            ));
            return Err(Wrong::Code(1));
        }
    }
    Ok(())
}

/// Contents that the server lacks, then the manifest.
fn send(knife: &Knife, book: &Cookbook) -> Done {
    let checksums: Map<String, J> =
        book.files.iter().map(|file| (file.checksum.clone(), J::Null)).collect();
    let sandbox = knife.ask("POST", "sandboxes", Some(&json!({"checksums": checksums})))?;
    let mut sent = BTreeSet::new();
    for file in &book.files {
        let wanted = &sandbox["checksums"][&file.checksum];
        if wanted["needs_upload"] != true || !sent.insert(&file.checksum) {
            continue;
        }
        let url = text::plain(&wanted["url"]);
        let content = Content { kind: "application/x-binary", bytes: &file.content };
        let digest = fx_formats::base64::encode(&digest(&file.checksum));
        knife.send(&[2], "PUT", &url, &[("Content-MD5", &digest)], Some(content))?;
    }
    let at = path(&["sandboxes", &text::plain(&sandbox["sandbox_id"])]);
    knife.ask("PUT", &at, Some(&json!({"is_completed": true})))?;
    let mut manifest = book.manifest();
    if knife.has("freeze") {
        manifest["frozen?"] = true.into();
    }
    let force = if knife.has("force") { "?force=true" } else { "" };
    let at = format!("{}{force}", path(&["cookbooks", &book.name, &book.version]));
    knife.ask("PUT", &at, Some(&manifest))?;
    Ok(())
}

/// The bytes of a checksum.
fn digest(checksum: &str) -> Vec<u8> {
    let pairs = (0..checksum.len() / 2).filter_map(|at| checksum.get(2 * at..2 * at + 2));
    pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}
