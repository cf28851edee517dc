//! Copies from this machine.

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::text::{from_path, path};
use fx_engine::{Change, Failure};
use fx_host::{Act, Meta, WriteOptions};
use fx_resources::digest::same_content;

use crate::agent::Agent;
use crate::change;

use super::source::Source;

/// This machine.
pub(super) struct Local;

impl Source for Local {
    fn server(&self) -> &'static str {
        "localhost"
    }

    fn is_local(&self) -> bool {
        true
    }

    fn stat(&self, ctx: &Agent<'_>, file: &str) -> Option<Meta> {
        ctx.host().stat(&path(file)).ok()
    }

    fn lstat(&self, ctx: &Agent<'_>, file: &str) -> Option<Meta> {
        ctx.host().lstat(&path(file)).ok()
    }

    fn list(&self, ctx: &Agent<'_>, _: &Rc<Expanded>, dir: &str, _: &str) -> Option<Vec<String>> {
        let entries = ctx.host().list(&path(dir)).ok()?;
        Some(entries.iter().map(|entry| from_path(std::path::Path::new(&entry.name))).collect())
    }

    fn link_target(&self, ctx: &Agent<'_>, file: &str) -> String {
        ctx.host().read_link(&path(file)).map(|target| from_path(&target)).unwrap_or_default()
    }

    fn real_path(&self, ctx: &Agent<'_>, file: &str) -> Option<String> {
        ctx.host().real_path(&path(file)).ok().map(|real| from_path(&real))
    }

    fn differs(&self, ctx: &Agent<'_>, source: &str, file: &str) -> bool {
        !same_content(ctx.host(), &path(source), &path(file)).unwrap_or(false)
    }

    fn is_readable(&self, ctx: &Agent<'_>, source: &str) -> bool {
        ctx.host().open(&path(source)).is_ok()
    }

    fn change(&self, ctx: &Agent<'_>, source: &str, file: &str, _: &Meta, _: bool) -> Change {
        change::copied(ctx.host(), source, file)
    }

    fn copied_words(&self, source: &str, new: &str, mode: Option<u32>) -> String {
        match mode {
            None => format!("Copied file '{source}' to '{new}' (permissions preserved)"),
            Some(mode) => format!("Copied file '{source}' to '{new}' (mode '{mode:o}')"),
        }
    }

    fn fetch(&self, _: &Agent<'_>, _: &str, _: &Meta) -> Result<(), String> {
        Ok(())
    }

    fn write(
        &self,
        act: &dyn Act,
        source: &str,
        file: &str,
        _: &Meta,
        options: &WriteOptions,
    ) -> Result<(), Failure> {
        Ok(act.copy_file(&path(source), &path(file), options)?)
    }
}
