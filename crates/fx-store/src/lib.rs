//! Durable state: what must be remembered from one run to the next, in one SQLite file.
//!
//! Run records with their steps, last times of locks, persistent marks, baselines for
//! drift, an index of backups. It knows no language: keys are given by the caller. A store
//! that cannot be read is moved aside with a message and the run goes on with a new one.

#![forbid(unsafe_code)]

mod open;
mod schema;
mod runs;
mod marks;
mod times;
mod baseline;
mod backups;

pub use backups::Backup;
pub use marks::Mark;
pub use open::{Opened, Store, StoreError};
pub use runs::{RunInfo, RunRecord, StepRecord, UNDER_WAY};
