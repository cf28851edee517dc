//! Where content of a server lies that is too large for memory, until the run is over.

use std::cell::{Cell, RefCell};
use std::io::{Read, Write};
use std::path::PathBuf;

use fx_engine::Run;
use fx_host::WriteOptions;
use fx_puppet::Fetched;

/// What is not larger than this is held in memory.
const SMALL: u64 = 1 << 20;

/// A directory of our own that is gone after the run.
pub(super) struct Spool {
    run: Run<'static>,
    dir: PathBuf,
    next: Cell<u32>,
}

impl std::fmt::Debug for Spool {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Spool({})", self.dir.display())
    }
}

impl Spool {
    pub(super) fn new(run: Run<'static>, dir: PathBuf) -> Spool {
        Spool { run, dir, next: Cell::new(0) }
    }

    /// Takes content as it comes.
    pub(super) fn fetch(&self, mut from: Box<dyn Read>) -> Result<Fetched, String> {
        let failed = |error: std::io::Error| error.to_string();
        let mut start = Vec::new();
        from.by_ref().take(SMALL + 1).read_to_end(&mut start).map_err(failed)?;
        if start.len() as u64 <= SMALL {
            return Ok(Fetched::Bytes(start));
        }
        let number = self.next.get();
        self.next.set(number + 1);
        let path = self.dir.join(number.to_string());
        // What came over the network comes once.
        let rest = RefCell::new(Some(from));
        let pieces = |to: &mut dyn Write| {
            let mut rest = rest.borrow_mut().take().ok_or_else(|| {
                std::io::Error::other("the content was read before and cannot be read again")
            })?;
            to.write_all(&start)?;
            std::io::copy(&mut rest, to).map(drop)
        };
        let options = WriteOptions { mode: Some(0o600), ..WriteOptions::default() };
        let kept = self.run.own_state(|act| {
            if act.lstat_opt(&self.dir)?.is_none() {
                act.make_dir(&self.dir, 0o700)?;
            }
            act.write_pieces(&path, &pieces, &options)
        });
        kept.map_err(|error| error.to_string())?;
        Ok(Fetched::File(path))
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // One that was killed leaves it; the next one that needs it takes it over.
        let _ = self.run.own_state(|act| match act.lstat_opt(&self.dir)? {
            Some(_) => fx_resources::directory::remove_tree(act, &self.dir),
            None => Ok(()),
        });
    }
}
