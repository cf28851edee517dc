//! What `fixpoint serve` puts together: environments, workers that compile, files, the
//! authority's directory, rules of a site.

mod authority;
mod autosign;
mod chef;
mod environments;
mod exports;
mod files;
mod fingerprint;
mod import;
mod modules;
mod site;
mod workers;

pub(crate) use authority::{
    Grounds, Paths, create, ensure, exists, lifetime, new_key, put, server_certificate,
    write_authority,
};
pub(crate) use autosign::AutosignSetting;
pub(crate) use chef::{Chef, ChefWish, first_organization, over_store};
pub(crate) use environments::Environments;
pub(crate) use import::import;
pub(crate) use site::Site;
