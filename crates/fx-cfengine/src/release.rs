//! `cf-promises --tag-release`: a directory of policy is marked as checked, with a number
//! that tells one release from another.

use crate::eval::Context;
use crate::functions::digest_hex;
use crate::text::{decode, from_path, path};

/// What belongs to a release besides policy.
const ENDINGS: &[&str] = &[".cf", ".dat", ".txt", ".conf", ".mustache", ".json", ".yaml"];

/// Deeper trees are not policy.
const MAX_DEPTH: usize = 32;

impl Context<'_> {
    /// Writes the two files of a release; whether both could be written.
    pub(crate) fn tag_release(&self, dir: &str) -> bool {
        let id_file = format!("{dir}/cf_promises_release_id");
        let known = self.host().read(&path(&id_file)).ok().and_then(|bytes| {
            let text = decode(&bytes);
            text.split('"').nth(3).map(str::to_owned)
        });
        let commit = self.commit_of(dir);
        let mut done = true;
        // A number once given stays, unless the directory is a checkout that moved on.
        if known.is_none() || commit.as_ref().is_some_and(|commit| known.as_ref() != Some(commit)) {
            let id = commit.unwrap_or_else(|| self.digest_of(dir));
            done &= self.write_tag(&id_file, &format!("{{\n  \"releaseId\": \"{id}\"\n}}"));
        }
        let now = self.host().now().secs;
        let validated = format!("{dir}/cf_promises_validated");
        done & self.write_tag(&validated, &format!("{{\n  \"timestamp\": {now}\n}}"))
    }

    fn write_tag(&self, file: &str, text: &str) -> bool {
        let options =
            fx_host::WriteOptions { mode: Some(0o600), ..fx_host::WriteOptions::default() };
        match self.host().write(&path(file), text.as_bytes(), &options) {
            Ok(()) => true,
            Err(error) => {
                self.error(&error.to_string());
                false
            }
        }
    }

    /// The commit a checkout is at, from the files git keeps.
    fn commit_of(&self, dir: &str) -> Option<String> {
        let read = |name: &str| {
            let bytes = self.host().read(&path(&format!("{dir}/.git/{name}"))).ok()?;
            Some(decode(&bytes).trim().to_owned())
        };
        let head = read("HEAD")?;
        let id = match head.strip_prefix("ref: ") {
            Some(reference) => read(reference).or_else(|| {
                let packed = read("packed-refs")?;
                let line = packed.lines().find(|line| line.ends_with(reference))?;
                line.split(' ').next().map(str::to_owned)
            })?,
            None => head,
        };
        (id.len() == 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(id)
    }

    /// A digest of all that belongs to the policy below a directory, names in byte order.
    fn digest_of(&self, dir: &str) -> String {
        let mut bytes = Vec::new();
        self.gather(dir, 0, &mut bytes);
        digest_hex("sha1", &bytes).unwrap_or_default()
    }

    fn gather(&self, dir: &str, depth: usize, out: &mut Vec<u8>) {
        for entry in self.host().list(&path(dir)).unwrap_or_default() {
            let file = format!("{dir}/{}", from_path(std::path::Path::new(&entry.name)));
            let Ok(meta) = self.host().lstat(&path(&file)) else { continue };
            if meta.is_dir() && depth < MAX_DEPTH {
                self.gather(&file, depth + 1, out);
            } else if meta.is_file() && ENDINGS.iter().any(|ending| file.ends_with(ending)) {
                out.extend(self.host().read(&path(&file)).unwrap_or_default());
            }
        }
    }
}
