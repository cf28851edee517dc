//! Edits of file content: pure text in, text out, driven by edit bundles.

pub(crate) mod bundle;
pub(crate) mod fields;
pub(crate) mod lines;
pub(crate) mod region;
pub(crate) mod replace;
pub(crate) mod template;
pub(crate) mod xml;
pub(crate) mod xml_bundle;
mod xpath;
