//! A filebucket on this machine: old content by its digest, with the paths it came from, laid
//! out as the original does.

use std::path::{Path, PathBuf};

use fx_host::{Act, Time, WriteOptions};
use fx_resources::digest::Algorithm;
use fx_resources::directory;

/// A bucket and the digest that names its content.
#[derive(Clone, Debug)]
pub struct Bucket {
    /// Its folder.
    pub dir: PathBuf,
    /// The digest.
    pub algorithm: Algorithm,
}

/// What was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The digest in hexadecimal.
    pub sum: String,
    /// The same content was there before.
    pub was_known: bool,
}

/// A row of a bucket's list: digest, when it was kept, and the path it came from.
pub type Row = (String, Time, String);

/// The digest of a name.
pub fn algorithm(name: &str) -> Option<Algorithm> {
    Algorithm::named(name)
}

impl Bucket {
    fn place(&self, sum: &str) -> PathBuf {
        let mut place = self.dir.clone();
        place.extend(sum.chars().take(8).map(String::from));
        place.join(sum)
    }

    /// Where content of a digest lies.
    pub fn contents(&self, sum: &str) -> PathBuf {
        self.place(sum).join("contents")
    }

    /// Whether a text can be a digest here.
    pub fn is_sum(&self, sum: &str) -> bool {
        let length = self.algorithm.hex(b"").len();
        sum.len() == length && sum.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    }

    /// Keeps the content of a file, which can be read as `old`.
    pub fn keep(&self, host: &dyn Act, path: &Path, old: &Path) -> Result<Kept, String> {
        let told = |error: fx_host::HostError| error.to_string();
        let sum = fx_resources::digest::hex_of_file(self.algorithm, host, old).map_err(told)?;
        let contents = self.contents(&sum);
        directory::make_parents(host, &contents, 0o770).map_err(|failure| failure.to_string())?;
        let was_known = host.exists(&contents).map_err(told)?;
        if was_known {
            host.set_times(&contents, None, Some(host.now())).map_err(told)?;
        } else {
            let options = WriteOptions { mode: Some(0o440), ..WriteOptions::default() };
            host.copy_file(old, &contents, &options).map_err(told)?;
        }
        let paths = self.place(&sum).join("paths");
        let mut known = host.read_opt(&paths).map_err(told)?.unwrap_or_default();
        let line = path.to_string_lossy().into_owned().into_bytes();
        if !known.split(|byte| *byte == b'\n').any(|one| one == line) {
            known.extend_from_slice(&line);
            known.push(b'\n');
            let options = WriteOptions { mode: Some(0o640), ..WriteOptions::default() };
            host.write(&paths, &known, &options).map_err(told)?;
        }
        Ok(Kept { sum, was_known })
    }

    /// The content of a digest.
    pub fn find(&self, host: &dyn Act, sum: &str) -> Result<Option<Vec<u8>>, String> {
        if !self.is_sum(sum) {
            return Err(format!("Invalid checksum \"{sum}\""));
        }
        host.read_opt(&self.contents(sum)).map_err(|error| error.to_string())
    }

    /// Everything kept between two moments, by path and time.
    pub fn list(&self, host: &dyn Act, from: i64, to: i64) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let mut left = vec![(self.dir.clone(), 0)];
        while let Some((dir, depth)) = left.pop() {
            for item in host.list(&dir).unwrap_or_default() {
                let path = dir.join(&item.name);
                let Ok(meta) = host.lstat(&path) else { continue };
                if meta.is_dir() && depth < 10 {
                    left.push((path, depth + 1));
                } else if item.name == "paths" && (from..=to).contains(&meta.mtime.secs) {
                    let text = host.read(&path).unwrap_or_default();
                    let sum = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    for line in String::from_utf8_lossy(&text).trim().lines() {
                        rows.push((sum.clone(), meta.mtime, line.to_owned()));
                    }
                }
            }
        }
        rows.sort_by(|a, b| (&a.2, a.1.secs, a.1.nanos).cmp(&(&b.2, b.1.secs, b.1.nanos)));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::Files;
    use fx_host::MemoryHost;

    #[test]
    fn content_lies_under_its_digest_with_the_paths_it_came_from() {
        let host = MemoryHost::new();
        let bucket = Bucket { dir: "/bucket".into(), algorithm: Algorithm::Md5 };
        host.put("/etc/motd", "old\n");
        let motd = Path::new("/etc/motd");
        let first = bucket.keep(&host, motd, motd).unwrap();
        assert_eq!(first.sum, "814fa5ca98406a903e22b43d9b610105");
        assert!(!first.was_known);
        assert!(bucket.keep(&host, Path::new("/etc/issue"), motd).unwrap().was_known);
        let dir = "/bucket/8/1/4/f/a/5/c/a/814fa5ca98406a903e22b43d9b610105";
        assert_eq!(host.read(&Path::new(dir).join("contents")).unwrap(), b"old\n");
        assert_eq!(host.read(&Path::new(dir).join("paths")).unwrap(), b"/etc/motd\n/etc/issue\n");
        let rows = bucket.list(&host, 0, i64::MAX);
        let paths: Vec<&str> = rows.iter().map(|row| row.2.as_str()).collect();
        assert_eq!(paths, ["/etc/issue", "/etc/motd"]);
    }

    #[test]
    fn what_is_no_digest_is_refused() {
        let host = MemoryHost::new();
        let bucket = Bucket { dir: "/bucket".into(), algorithm: Algorithm::Sha256 };
        assert_eq!(bucket.find(&host, "12"), Err("Invalid checksum \"12\"".into()));
        assert_eq!(bucket.find(&host, &"0".repeat(64)), Ok(None));
    }
}
