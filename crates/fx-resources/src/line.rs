//! A line of a table of the system, taken apart: what it must become, property by property, and
//! the table with it.

use std::path::PathBuf;

use fx_engine::{Change, Failure, Target};
use fx_host::{Act, Look, WriteOptions};
use fx_value::Value;

use crate::text;

/// The file of a table: as it was found and as it should become.
#[derive(Default)]
pub(crate) struct Table {
    path: PathBuf,
    old: Vec<u8>,
    new: Vec<u8>,
    fresh: bool,
}

impl Table {
    /// Reads it; a file that is not there has no lines.
    pub(crate) fn read(host: &dyn Look, path: PathBuf) -> Result<Table, Failure> {
        let old = host.read_opt(&path)?;
        Ok(Table { path, fresh: old.is_none(), old: old.unwrap_or_default(), new: Vec::new() })
    }

    /// The first line that `parse` knows, taken apart.
    pub(crate) fn find<T>(&self, parse: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
        text::lines(&self.old).find_map(parse)
    }

    /// The table without our lines.
    pub(crate) fn delete(&mut self, is_ours: impl Fn(&[u8]) -> bool) {
        self.new = text::delete(&self.old, &is_ours);
    }

    /// The table with this line in the place of ours.
    pub(crate) fn ensure(&mut self, line: &[u8], is_ours: impl Fn(&[u8]) -> bool) {
        self.new = text::ensure_line(&self.old, line, &is_ours);
    }

    /// Puts it in place; everybody may read a new one.
    pub(crate) fn write(&self, host: &dyn Act) -> Result<(), Failure> {
        let mode = self.fresh.then_some(0o644);
        let options = WriteOptions { mode, ..WriteOptions::default() };
        Ok(host.write(&self.path, &self.new, &options)?)
    }
}

/// The properties of a line, in the order in which changes of them come.
pub(crate) type Properties = Vec<(&'static str, Value)>;

/// The changes that make a line what is wanted; one alone where there is no such line.
pub(crate) fn differences<T>(
    target: &Target,
    found: Option<&T>,
    wanted: &T,
    properties: impl Fn(&T) -> Properties,
) -> Vec<Change> {
    let Some(found) = found else {
        return vec![Change::of(target.clone(), "ensure", "absent", "present")];
    };
    let both = properties(found).into_iter().zip(properties(wanted));
    let differing = both.filter(|((_, is), (_, should))| is != should);
    differing
        .map(|((name, is), (_, should))| Change::of(target.clone(), name, is, should))
        .collect()
}
