//! What a monitor remembers of measurements from one sample to the next, in the files of the
//! original: averages of scalars, texts, lists, and how far growing files were read.

use std::path::PathBuf;

use fx_formats::lmdb::{self, Contents};
use fx_host::{Edits, Files, HostError, OsHost, WriteOptions, limits};

use super::averages::{self, Point};

pub(in super::super) const MAP_SIZE: u64 = 100 << 20;
/// The original's numbers of the types.
const TEXT: u32 = 0;
const LIST: u32 = 3;

/// One of the original's databases.
pub(in super::super) struct Database {
    file: PathBuf,
    contents: Contents,
}

fn key(name: &str) -> Vec<u8> {
    format!("{name}\0").into_bytes()
}

impl Database {
    /// Reads it; one that cannot be read is begun anew.
    pub(in super::super) fn read(host: &OsHost, file: PathBuf) -> Database {
        let bytes = host.read_limited(&file, limits::WHOLE).unwrap_or_default();
        Database { file, contents: lmdb::read(&bytes).unwrap_or_default() }
    }

    pub(in super::super) fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.contents.entries.get(key).map(Vec::as_slice)
    }

    pub(in super::super) fn put(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.contents.entries.insert(key, value);
    }

    pub(in super::super) fn write(mut self, host: &OsHost) -> Result<(), HostError> {
        self.contents.transaction += 1;
        self.contents.map_size = self.contents.map_size.max(MAP_SIZE);
        let options = WriteOptions { mode: Some(0o600), ..WriteOptions::default() };
        host.write(&self.file, &lmdb::write(&self.contents), &options)
    }
}

/// Averages of scalars, and what does not change from week to week.
pub(in super::super) struct Kept {
    measures: Database,
    statics: Database,
}

impl Kept {
    pub(in super::super) fn read(host: &OsHost, state: &str) -> Kept {
        let database =
            |name: &str| Database::read(host, PathBuf::from(format!("{state}/{name}.lmdb")));
        Kept { measures: database("nova_measures"), statics: database("nova_static") }
    }

    /// How far a growing file was read.
    pub(in super::super) fn offset(&self, handle: &str, file: &str) -> u64 {
        let kept = self.statics.get(&key(&format!("{handle}{file}")));
        kept.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
    }

    pub(in super::super) fn set_offset(&mut self, handle: &str, file: &str, offset: u64) {
        self.statics.put(key(&format!("{handle}{file}")), offset.to_le_bytes().to_vec());
    }

    /// Takes a number into the average of its measurement.
    pub(in super::super) fn scalar(&mut self, handle: &str, value: f64, now: i64) -> Point {
        let known = self.measures.get(&key(handle)).map(|bytes| averages::from_bytes(bytes, 1)[0]);
        let next = averages::next_scalar(value, known.as_ref());
        self.measures.put(key(handle), averages::to_bytes(now, &[next]));
        next
    }

    pub(in super::super) fn text(&mut self, handle: &str, text: &str) {
        self.statics.put(key(&format!("{handle}:{TEXT}")), key(text));
    }

    pub(in super::super) fn list(&mut self, handle: &str, items: &[String]) {
        self.statics.put(key(&format!("{handle}:{LIST}")), key(&items.join(",")));
    }

    /// What does not change from week to week, for people to read: keys and texts up to their ends.
    pub(in super::super) fn static_text(&self) -> Vec<u8> {
        let end = |bytes: &[u8]| bytes.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
        let lines = self.statics.contents.entries.iter();
        lines
            .flat_map(|(key, value)| [end(key), b":".to_vec(), end(value), b"\n".to_vec()].concat())
            .collect()
    }

    pub(in super::super) fn write(self, host: &OsHost) -> Result<(), HostError> {
        self.measures.write(host)?;
        self.statics.write(host)
    }
}
