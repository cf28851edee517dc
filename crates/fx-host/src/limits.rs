//! How much is read into memory at most, in one place. What is larger is refused with an
//! error that names the file, before memory is taken for it.

/// A text that is parsed as policy: a manifest, a recipe, a template, a program.
pub const POLICY: u64 = 64 << 20;
/// A text that is parsed as data: YAML, JSON, CSV, facts.
pub const DATA: u64 = 256 << 20;
/// Anything else that is read as a whole. What may be larger is read or copied as a stream.
pub const WHOLE: u64 = 256 << 20;
/// What a digest is computed of where it is only shown: more takes too long to read.
pub const DIGEST: u64 = 4 << 30;
