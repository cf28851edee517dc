//! fx-store.
