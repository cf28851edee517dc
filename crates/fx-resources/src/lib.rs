//! fx-resources.
