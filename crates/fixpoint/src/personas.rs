//! One file for each tool we can be, or family of tools.

pub(crate) mod cfengine;
pub(crate) mod chef;
pub(crate) mod facter;
pub(crate) mod knife;
pub(crate) mod native;
pub(crate) mod neighbours;
pub(crate) mod puppet;
pub(crate) mod puppetserver;
pub(crate) mod ruby;
pub(crate) mod stand_in;
