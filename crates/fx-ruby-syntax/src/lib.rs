//! fx-ruby-syntax.
