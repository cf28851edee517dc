//! The core classes, one file or folder each.

pub(crate) mod array;
pub(crate) mod basic;
pub(crate) mod enumerator;
pub(crate) mod env;
pub(crate) mod exception;
pub(crate) mod file;
pub(crate) mod float;
pub(crate) mod format;
pub(crate) mod globals;
pub(crate) mod hash;
pub(crate) mod integer;
pub(crate) mod io;
pub(crate) mod kernel;
pub(crate) mod math;
pub(crate) mod module;
pub(crate) mod object;
pub(crate) mod pack;
pub(crate) mod process;
pub(crate) mod procs;
pub(crate) mod random;
pub(crate) mod range;
pub(crate) mod regexp;
pub(crate) mod string;
pub(crate) mod structs;
pub(crate) mod symbol;
pub(crate) mod time;
