//! What `fixpoint serve` puts together: environments, workers that compile, files, the
//! authority's directory, rules of a site.

mod authority;
mod autosign;
mod chef;
mod compiler;
mod conf;
mod database;
mod digests;
mod environments;
mod files;
mod fingerprint;
mod frames;
mod import;
mod job;
mod lists;
mod memory;
mod modules;
mod preview;
mod process;
mod puppetdb;
mod site;
mod static_catalog;
mod stored;
mod versions;
mod workers;

pub(crate) use authority::{
    Grounds, Paths, create, ensure, exists, lifetime, new_key, put, server_certificate,
    write_authority,
};
pub(crate) use autosign::AutosignSetting;
pub(crate) use chef::{Chef, ChefWish, first_organization, make_private_dirs, over_store};
pub(crate) use compiler::run as compile_for_server;
pub(crate) use conf::read as read_conf;
pub(crate) use database::open as open_database;
pub(crate) use environments::Environments;
pub(crate) use import::import;
pub(crate) use memory::give_back_at_once;
pub(crate) use preview::{Difference, Previewed, preview};
pub(crate) use process::{Exports, Place};
pub(crate) use puppetdb::PuppetDb;
pub(crate) use site::{Compiling, Site, SiteCode};
pub(crate) use stored::{
    SERVER_VARDIR, facts as stored_facts, is_url as is_store_url, open as open_stored,
};
pub(crate) use versions::MARKER;
pub(crate) use workers::Log;
