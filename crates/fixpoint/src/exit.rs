//! Exit codes of our own verbs. The personas have the originals' codes.

/// All is well.
pub(crate) const OK: u8 = 0;
/// Something failed.
pub(crate) const ERROR: u8 = 1;
/// Changes are pending.
pub(crate) const PENDING: u8 = 2;
/// A second run changed something.
pub(crate) const NOT_IDEMPOTENT: u8 = 3;
/// The command line was not understood (`EX_USAGE` of sysexits).
pub(crate) const USAGE: u8 = 64;

/// The table shown by `--help`.
pub(crate) const TABLE: &str = "\
Exit codes:
  0   all is well
  1   something failed
  2   changes are pending (verbs that preview)
  3   not idempotent (verbs that prove it)
  64  the command line was not understood";
