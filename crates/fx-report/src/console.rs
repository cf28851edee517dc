//! Console styles: our own, and one for each original tool.

pub mod cfengine;
pub mod native;
pub mod puppet;
