//! Puppet's own endpoints: catalogs, nodes, files, reports, facts, the file bucket.

mod bucket;
mod catalogs;
mod code;
mod files;
mod reports;

pub(crate) use catalogs::flatten;

use fx_wire::puppet::{CertName, Environment};

use crate::message::{Issue, Reply, Request};

type Answer = Result<Reply, Reply>;

/// The environment that a request names.
fn environment(request: &Request) -> Result<Environment, Reply> {
    let Some(name) = request.head.query.get("environment") else {
        let text = "An environment parameter must be specified";
        return Err(Reply::issue(Issue::BadRequest, text));
    };
    Environment::parse(name).ok_or_else(|| {
        let text = format!("The environment must be purely alphanumeric, not '{name}'");
        Reply::issue(Issue::BadRequest, &text)
    })
}

/// The node that a path names.
fn node(name: &str) -> Result<CertName, Reply> {
    CertName::parse(name).map_err(|_| {
        let text = format!("'{name}' is not the name of a node");
        Reply::issue(Issue::BadRequest, &text)
    })
}
