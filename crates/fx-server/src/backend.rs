//! Whom what nodes leave is handed on to.

use serde_json::Value;

use crate::app::App;
use crate::message::{Issue, Reply};

/// A PuppetDB of the site, beside our own store.
pub trait PuppetDb: Send + Sync {
    /// Hands a command on; why it did not arrive otherwise.
    fn submit(
        &self,
        command: &str,
        version: u32,
        node: &str,
        payload: &Value,
    ) -> Result<(), String>;
}

impl App {
    /// Hands on what a node left, where there is somebody for it. As with the original, a catalog
    /// that did not arrive there is none.
    pub(crate) fn hand_on(
        &self,
        command: &str,
        version: u32,
        node: &str,
        payload: &Value,
    ) -> Result<(), Reply> {
        let Some(puppetdb) = &self.parts.puppetdb else { return Ok(()) };
        puppetdb.submit(command, version, node, payload).map_err(|why| {
            (self.parts.log)(&why);
            Reply::issue(Issue::Failed, &why)
        })
    }
}
