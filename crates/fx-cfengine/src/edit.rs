//! Edits of file content: pure text in, text out, driven by edit bundles.

pub(crate) mod bundle;
pub(crate) mod fields;
pub(crate) mod lines;
pub(crate) mod region;
pub(crate) mod replace;
pub(crate) mod template;

use std::rc::Rc;

use fx_engine::Level;

use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::outcome::Outcome;

/// Editing XML: said to be missing, never passed over.
pub(crate) fn xml_unsupported(
    ctx: &mut Context<'_>,
    promise: &Rc<Expanded>,
    file: &str,
) -> Outcome {
    let text = format!("edit_xml of '{file}' is not supported");
    ctx.settle(Level::Error, Outcome::Failed, promise, &text)
}
