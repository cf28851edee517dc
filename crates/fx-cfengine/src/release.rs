//! Marks on directories of policy: that it was checked, and a number that separates one release
//! from another. `cf-promises --tag-release` makes both, the agent the first after a check of
//! its default policy. Policy named by `-f` is checked in each run and gets no mark.

use sha1::{Digest, Sha1};

use crate::eval::Context;
use crate::json::Json;
use crate::text::{decode, from_path, path};

/// What belongs to a release besides policy.
const ENDINGS: &[&str] = &[".cf", ".dat", ".txt", ".conf", ".mustache", ".json", ".yaml"];

/// Deeper trees are not policy.
const MAX_DEPTH: usize = 32;

impl Context<'_> {
    /// Whether the agent's default policy changed since it was last found right.
    pub(crate) fn changed_since_check(&self) -> bool {
        let paths = &self.config.paths;
        let checked = self
            .host()
            .read(&path(&format!("{}/cf_promises_validated", paths.masterfiles)))
            .ok()
            .and_then(|bytes| Json::parse(&decode(&bytes)))
            .and_then(|json| json.select(&["timestamp"]).and_then(Json::primitive))
            .and_then(|text| text.parse::<i64>().ok())
            .unwrap_or(0);
        let newer =
            |file: &str| self.host().stat(&path(file)).is_ok_and(|meta| meta.mtime.secs > checked);
        checked > self.host().now().secs
            || newer(&paths.entry)
            || self.newer_dir(&paths.inputs, checked, 0)
            || newer(&format!("{}/policy_server.dat", paths.workdir))
    }

    // A file that came or went makes its directory newer; other changes show in no directory.
    fn newer_dir(&self, dir: &str, than: i64, depth: usize) -> bool {
        let Ok(meta) = self.host().lstat(&path(dir)) else { return true };
        if !meta.is_dir() || depth > MAX_DEPTH {
            return false;
        }
        meta.mtime.secs > than
            || self.host().list(&path(dir)).unwrap_or_default().iter().any(|entry| {
                let name = from_path(std::path::Path::new(&entry.name));
                let inner = format!("{dir}/{name}");
                self.host().lstat(&path(&inner)).is_ok_and(|meta| meta.is_dir())
                    && self.newer_dir(&inner, than, depth + 1)
            })
    }

    /// Marks the agent's default policy as found right, on a hub with a release number.
    pub fn mark_checked(&self) {
        let paths = &self.config.paths;
        if self.host().stat(&path(&paths.masterfiles)).is_err() {
            let dir = path(&paths.masterfiles);
            let _unwritable = self.own_state(|act| act.make_dir(&dir, 0o700));
        }
        let hub = self.host().stat(&path(&format!("{}/am_policy_hub", paths.state))).is_ok();
        if !hub || self.write_release(&paths.masterfiles) {
            self.write_validated(&paths.masterfiles);
        }
    }

    /// Writes the two files of a release; whether both could be written.
    pub(crate) fn tag_release(&self, dir: &str) -> bool {
        self.write_release(dir) && self.write_validated(dir)
    }

    fn write_release(&self, dir: &str) -> bool {
        let id_file = format!("{dir}/cf_promises_release_id");
        let known = self.host().read(&path(&id_file)).ok().and_then(|bytes| {
            let text = decode(&bytes);
            text.split('"').nth(3).map(str::to_owned)
        });
        let commit = self.commit_of(dir);
        // A number once given stays, unless the directory is a checkout that moved on.
        if known.is_none() || commit.as_ref().is_some_and(|commit| known.as_ref() != Some(commit)) {
            let id = commit.unwrap_or_else(|| self.digest_of(dir));
            return self.write_tag(&id_file, &format!("{{\n  \"releaseId\": \"{id}\"\n}}"));
        }
        true
    }

    fn write_validated(&self, dir: &str) -> bool {
        let now = self.host().now().secs;
        let validated = format!("{dir}/cf_promises_validated");
        self.write_tag(&validated, &format!("{{\n  \"timestamp\": {now}\n}}"))
    }

    fn write_tag(&self, file: &str, text: &str) -> bool {
        let options =
            fx_host::WriteOptions { mode: Some(0o600), ..fx_host::WriteOptions::default() };
        match self.own_state(|act| act.write(&path(file), text.as_bytes(), &options)) {
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

    /// The original digests as many zeros as there are bytes in the policy below a
    /// directory, not the bytes; hosts compare the number, so it has to be the same here.
    fn digest_of(&self, dir: &str) -> String {
        const ZEROS: [u8; 4096] = [0; 4096];
        let mut left = self.length_of(dir, 0);
        let mut sum = Sha1::new();
        while left > 0 {
            let now = left.min(ZEROS.len() as u64);
            sum.update(&ZEROS[..now as usize]);
            left -= now;
        }
        fx_formats::hex(sum.finalize())
    }

    fn length_of(&self, dir: &str, depth: usize) -> u64 {
        let mut sum = 0;
        for entry in self.host().list(&path(dir)).unwrap_or_default() {
            let file = format!("{dir}/{}", from_path(std::path::Path::new(&entry.name)));
            let Ok(meta) = self.host().lstat(&path(&file)) else { continue };
            if meta.is_dir() && depth < MAX_DEPTH {
                sum += self.length_of(&file, depth + 1);
            } else if ENDINGS.iter().any(|ending| file.ends_with(ending)) {
                sum += self.host().stat(&path(&file)).map_or(0, |meta| meta.size);
            }
        }
        sum
    }
}
