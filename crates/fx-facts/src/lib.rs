//! fx-facts.
