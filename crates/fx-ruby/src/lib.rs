//! fx-ruby.
