//! The promises that evaluation itself keeps: they define variables and classes.

pub mod classes;
pub mod vars;
