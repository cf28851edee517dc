//! Promise types, one file each.

pub(crate) mod commands;
pub(crate) mod custom;
pub(crate) mod databases;
pub(crate) mod files;
pub(crate) mod guest_environments;
pub(crate) mod methods;
pub(crate) mod packages;
pub(crate) mod processes;
pub(crate) mod reports;
pub(crate) mod services;
pub(crate) mod storage;
pub(crate) mod users;
