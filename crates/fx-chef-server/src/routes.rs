//! The table of endpoints.

use fx_wire::puppet::Segments;

use crate::context::{Answer, Context, GLOBAL};
use crate::message::{Reply, Request};
use crate::{
    acls, artifacts, associations, authenticate_user, clients, containers, cookbooks, data_bags,
    environments, files, groups, keys, nodes, organizations, policies, principals, roles,
    sandboxes, search, server, solver, universe, users,
};

pub(crate) type Handler = fn(&mut Context<'_, '_>, &[String]) -> Answer;

/// Whether a signature is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Open,
    Signed,
}

/// What a path leads to.
pub(crate) struct Found {
    pub(crate) org: String,
    pub(crate) access: Access,
    pub(crate) handler: Handler,
    /// The segments that the path of the table leaves open.
    pub(crate) parts: Vec<String>,
    /// The most bytes of a body.
    pub(crate) most: usize,
    /// A file of a cookbook, under a URL that is signed itself.
    pub(crate) is_file: bool,
    /// `GET` reads one document that is kept as it is sent.
    pub(crate) is_document: bool,
    /// A body is sent, but nothing is changed.
    pub(crate) only_reads: bool,
}

/// A document.
const DOCUMENT: usize = 2_000_000;
/// A file of a cookbook.
const FILE: usize = 256 << 20;

type Row = (&'static str, &'static [(&'static str, Handler)]);

/// Endpoints outside of organizations. `:` is one segment.
#[rustfmt::skip]
const GLOBAL_ROUTES: &[Row] = &[
    ("organizations",                    &[("GET", organizations::list), ("POST", organizations::create)]),
    ("organizations/:",                  &[("GET", organizations::show), ("PUT", organizations::update), ("DELETE", organizations::delete)]),
    ("users",                            &[("GET", users::list), ("POST", users::create)]),
    ("users/:",                          &[("GET", users::show), ("PUT", users::update), ("DELETE", users::delete)]),
    ("users/:/_acl",                     &[("GET", acls::show_user)]),
    ("users/:/_acl/:",                   &[("PUT", acls::update_user_part)]),
    ("users/:/keys",                     &[("GET", keys::list_of_user), ("POST", keys::create_of_user)]),
    ("users/:/keys/:",                   &[("GET", keys::show_of_user), ("PUT", keys::update_of_user), ("DELETE", keys::delete_of_user)]),
    ("users/:/organizations",            &[("GET", users::organizations)]),
    ("users/:/association_requests",     &[("GET", associations::of_user)]),
    ("users/:/association_requests/count", &[("GET", associations::count_of_user)]),
    ("users/:/association_requests/:",   &[("PUT", associations::respond)]),
    ("authenticate_user",                &[("POST", authenticate_user::authenticate)]),
    ("system_recovery",                  &[("POST", authenticate_user::recover)]),
    ("license",                          &[("GET", server::license)]),
];

/// Endpoints that need no signature.
const OPEN_ROUTES: &[Row] = &[
    ("_status", &[("GET", server::status)]),
    ("version", &[("GET", server::version)]),
    ("server_api_version", &[("GET", server::api_version)]),
];

/// Endpoints of an organization that need no signature: who the keys belong to is public, and file
/// URLs carry a signature of ours.
const OPEN_ORG_ROUTES: &[Row] = &[
    ("principals/:", &[("GET", principals::show)]),
    ("required_recipe", &[("GET", server::absent), ("POST", server::absent)]),
    ("file_store/checksums/:", &[("GET", files::get), ("PUT", files::put)]),
];

/// Endpoints of an organization.
#[rustfmt::skip]
const ORG_ROUTES: &[Row] = &[
    (":/_acl",                           &[("GET", acls::show_organization)]),
    (":/_acl/:",                         &[("PUT", acls::update_organization_part)]),
    (":/:/_acl",                         &[("GET", acls::show)]),
    (":/:/_acl/:",                       &[("PUT", acls::update_part)]),
    (":/:/_identifiers",                 &[("GET", nodes::identifiers)]),
    ("nodes",                            &[("GET", nodes::list), ("POST", nodes::create)]),
    ("nodes/:",                          &[("GET", nodes::show), ("HEAD", nodes::show), ("PUT", nodes::update), ("DELETE", nodes::delete)]),
    ("roles",                            &[("GET", roles::list), ("POST", roles::create)]),
    ("roles/:",                          &[("GET", roles::show), ("PUT", roles::update), ("DELETE", roles::delete)]),
    ("roles/:/environments",             &[("GET", roles::environments)]),
    ("roles/:/environments/:",           &[("GET", roles::in_environment)]),
    ("environments",                     &[("GET", environments::list), ("POST", environments::create)]),
    ("environments/:",                   &[("GET", environments::show), ("PUT", environments::update), ("DELETE", environments::delete)]),
    ("environments/:/nodes",             &[("GET", environments::nodes)]),
    ("environments/:/roles/:",           &[("GET", environments::role)]),
    ("environments/:/cookbooks",         &[("GET", environments::cookbooks)]),
    ("environments/:/cookbooks/:",       &[("GET", environments::cookbook)]),
    ("environments/:/recipes",           &[("GET", environments::recipes)]),
    ("environments/:/cookbook_versions", &[("POST", solver::solve)]),
    ("data",                             &[("GET", data_bags::list), ("POST", data_bags::create)]),
    ("data/:",                           &[("GET", data_bags::items), ("POST", data_bags::create_item), ("DELETE", data_bags::delete)]),
    ("data/:/:",                         &[("GET", data_bags::item), ("PUT", data_bags::update_item), ("DELETE", data_bags::delete_item)]),
    ("clients",                          &[("GET", clients::list), ("POST", clients::create)]),
    ("clients/:",                        &[("GET", clients::show), ("PUT", clients::update), ("DELETE", clients::delete)]),
    ("clients/:/keys",                   &[("GET", keys::list_of_client), ("POST", keys::create_of_client)]),
    ("clients/:/keys/:",                 &[("GET", keys::show_of_client), ("PUT", keys::update_of_client), ("DELETE", keys::delete_of_client)]),
    ("users",                            &[("GET", associations::members), ("POST", associations::add)]),
    ("users/:",                          &[("GET", associations::member), ("DELETE", associations::remove)]),
    ("users/:/keys",                     &[("GET", keys::list_of_member)]),
    ("users/:/keys/:",                   &[("GET", keys::show_of_member)]),
    ("association_requests",             &[("GET", associations::list), ("POST", associations::invite)]),
    ("association_requests/:",           &[("DELETE", associations::withdraw)]),
    ("cookbooks",                        &[("GET", cookbooks::list)]),
    ("cookbooks/_latest",                &[("GET", cookbooks::latest)]),
    ("cookbooks/_recipes",               &[("GET", cookbooks::recipes)]),
    ("cookbooks/:",                      &[("GET", cookbooks::versions)]),
    ("cookbooks/:/:",                    &[("GET", cookbooks::show), ("PUT", cookbooks::update), ("DELETE", cookbooks::delete)]),
    ("cookbook_artifacts",               &[("GET", artifacts::list)]),
    ("cookbook_artifacts/:",             &[("GET", artifacts::identifiers)]),
    ("cookbook_artifacts/:/:",           &[("GET", artifacts::show), ("PUT", artifacts::create), ("DELETE", artifacts::delete)]),
    ("policies",                         &[("GET", policies::list)]),
    ("policies/:",                       &[("GET", policies::revisions), ("DELETE", policies::delete)]),
    ("policies/:/revisions",             &[("POST", policies::create_revision)]),
    ("policies/:/revisions/:",           &[("GET", policies::revision), ("DELETE", policies::delete_revision)]),
    ("policy_groups",                    &[("GET", policies::groups)]),
    ("policy_groups/:",                  &[("GET", policies::group), ("DELETE", policies::delete_group)]),
    ("policy_groups/:/policies/:",       &[("GET", policies::assigned), ("PUT", policies::assign), ("DELETE", policies::withdraw)]),
    ("sandboxes",                        &[("POST", sandboxes::create)]),
    ("sandboxes/:",                      &[("PUT", sandboxes::commit)]),
    ("search",                           &[("GET", search::indexes)]),
    ("search/:",                         &[("GET", search::search), ("POST", search::partial)]),
    ("universe",                         &[("GET", universe::show)]),
    ("groups",                           &[("GET", groups::list), ("POST", groups::create)]),
    ("groups/:",                         &[("GET", groups::show), ("PUT", groups::update), ("DELETE", groups::delete)]),
    ("containers",                       &[("GET", containers::list), ("POST", containers::create)]),
    ("containers/:",                     &[("GET", containers::show), ("DELETE", containers::delete)]),
    ("controls",                         &[("GET", server::gone), ("POST", server::gone)]),
    ("data-collector",                   &[("POST", server::absent)]),
    ("reports/nodes/:/runs",             &[("POST", server::absent)]),
    ("reports/nodes/:/runs/:",           &[("POST", server::absent)]),
];

/// Every endpoint: its method and its path, in which `:` is one segment. Those of an organization
/// are below `organizations/:`.
pub fn endpoints() -> Vec<(&'static str, String)> {
    let global = [OPEN_ROUTES, GLOBAL_ROUTES].into_iter().flatten();
    let global = global.map(|(path, methods)| ((*path).to_owned(), methods));
    let own = [OPEN_ORG_ROUTES, ORG_ROUTES].into_iter().flatten();
    let own = own.map(|(path, methods)| (format!("organizations/:/{path}"), methods));
    let all = global.chain(own);
    all.flat_map(|(path, methods)| methods.iter().map(move |(method, _)| (*method, path.clone())))
        .collect()
}

/// The endpoint of a request; the reply where there is none.
pub(crate) fn find(request: &Request) -> Result<Found, Reply> {
    let unknown = || Reply::error(404, format!("Object not found: {}", request.path));
    let Ok(segments) = Segments::parse(&request.path) else { return Err(unknown()) };
    let mut segments: Vec<&str> = segments.as_slice().iter().map(String::as_str).collect();
    segments.retain(|segment| !segment.is_empty());
    let (org, rest) = match segments.as_slice() {
        ["organizations", org, rest @ ..] if !rest.is_empty() => (*org, rest),
        all => (GLOBAL, all),
    };
    let tables: &[(&[Row], Access)] = if org.is_empty() {
        &[(OPEN_ROUTES, Access::Open), (GLOBAL_ROUTES, Access::Signed)]
    } else {
        &[(OPEN_ORG_ROUTES, Access::Open), (ORG_ROUTES, Access::Signed)]
    };
    for (table, access) in tables {
        let fitting = table.iter().find_map(|(template, methods)| {
            fits(template, rest).map(|parts| (*template, *methods, parts))
        });
        let Some((template, methods, parts)) = fitting else { continue };
        let Some((_, handler)) = methods.iter().find(|(method, _)| *method == request.method)
        else {
            let allowed: Vec<&str> = methods.iter().map(|(method, _)| *method).collect();
            return Err(Reply::empty(405).with("allow", allowed.join(", ")));
        };
        let is_file = template.starts_with("file_store");
        return Ok(Found {
            org: org.to_owned(),
            access: *access,
            handler: *handler,
            parts,
            most: if is_file { FILE } else { DOCUMENT },
            is_file,
            is_document: matches!(
                template,
                "nodes/:" | "roles/:" | "environments/:" | "data/:/:" | "clients/:"
            ),
            only_reads: matches!(template, "search/:" | "environments/:/cookbook_versions"),
        });
    }
    Err(unknown())
}

fn fits(template: &str, path: &[&str]) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut path = path.iter();
    for wanted in template.split('/') {
        let segment = path.next()?;
        match wanted {
            ":" => parts.push((*segment).to_owned()),
            wanted if wanted == *segment => {}
            _ => return None,
        }
    }
    path.next().is_none().then_some(parts)
}
