//! A directory of which many names are looked at, one after the other.

use std::ffi::OsStr;
use std::path::PathBuf;

use crate::{Files, Meta, Reader, Result};

/// Looks at names in one directory. What they stand for is found as by their paths; the way to the
/// directory may have been walked once for all.
pub trait Directory {
    /// What a name stands for, a link not followed; nothing where nothing has it.
    fn lstat_opt(&self, name: &OsStr) -> Result<Option<Meta>>;
    /// The content as a stream, links followed.
    fn open(&self, name: &OsStr) -> Result<Reader<'_>>;
}

/// Each name by its path.
pub(crate) struct ByPath<'a, F: ?Sized> {
    pub(crate) files: &'a F,
    pub(crate) path: PathBuf,
}

impl<F: Files + ?Sized> Directory for ByPath<'_, F> {
    fn lstat_opt(&self, name: &OsStr) -> Result<Option<Meta>> {
        self.files.lstat_opt(&self.path.join(name))
    }

    fn open(&self, name: &OsStr) -> Result<Reader<'_>> {
        self.files.open(&self.path.join(name))
    }
}
