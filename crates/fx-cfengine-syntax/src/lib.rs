//! fx-cfengine-syntax.
