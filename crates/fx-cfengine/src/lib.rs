//! fx-cfengine.
