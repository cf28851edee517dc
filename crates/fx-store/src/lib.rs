//! Durable state: what must be remembered from one run to the next, in one SQLite file.
//!
//! Run records with their steps and changes, and baselines for drift. It knows no language:
//! keys are given by the caller. A store that cannot be read is moved aside with a message and
//! the run goes on with a new one.

#![forbid(unsafe_code)]

mod open;
mod schema;
mod runs;
mod changes;
mod baseline;

pub use changes::{ChangeRecord, Fate};
pub use open::{Opened, Store, StoreError};
pub use runs::{RunInfo, RunRecord, StepRecord, UNDER_WAY};
