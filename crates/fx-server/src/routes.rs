//! The table of endpoints.

use fx_wire::puppet::Segments;

/// An endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Certificate,
    CertificateRequest,
    SubmitRequest,
    DeleteRequest,
    RevocationList,
    UpdateLists,
    Status,
    ChangeStatus,
    DeleteStatus,
    Statuses,
    StatusesWithoutKey,
    Clean,
    Sign,
    SignAll,
    Renew,
    Expirations,
    Catalog,
    CatalogV4,
    Node,
    SaveReport,
    SaveFacts,
    FileMetadata,
    FileMetadatas,
    FileContent,
    StaticContent,
    BucketGet,
    BucketPut,
    Environments,
    Classes,
    Modules,
    FlushEnvironments,
    FlushPool,
    StatusSimple,
    StatusServices,
    Metrics,
    Command,
    PuppetdbQuery,
    PuppetdbVersion,
    PuppetdbTime,
}

impl Route {
    /// Whether the answer is made by a compiler.
    pub(crate) fn compiles(self) -> bool {
        matches!(self, Route::Catalog | Route::CatalogV4 | Route::Node)
    }
}

/// Method, path, endpoint, and the most bytes of a body. `:` is one segment that is not empty,
/// `*` is all that follow, if any.
#[rustfmt::skip]
pub(crate) const ROUTES: &[(&str, &str, Route, usize)] = &[
    ("GET",    "puppet-ca/v1/certificate/:",                 Route::Certificate,        0),
    ("GET",    "puppet-ca/v1/certificate_request/:",         Route::CertificateRequest, 0),
    ("PUT",    "puppet-ca/v1/certificate_request/:",         Route::SubmitRequest,      SMALL),
    ("DELETE", "puppet-ca/v1/certificate_request/:",         Route::DeleteRequest,      0),
    ("GET",    "puppet-ca/v1/certificate_revocation_list/:", Route::RevocationList,     0),
    ("PUT",    "puppet-ca/v1/certificate_revocation_list",   Route::UpdateLists,        LARGE),
    ("GET",    "puppet-ca/v1/certificate_status/:",          Route::Status,             0),
    ("PUT",    "puppet-ca/v1/certificate_status/:",          Route::ChangeStatus,       SMALL),
    ("DELETE", "puppet-ca/v1/certificate_status/:",          Route::DeleteStatus,       0),
    ("GET",    "puppet-ca/v1/certificate_statuses/",         Route::StatusesWithoutKey, 0),
    ("GET",    "puppet-ca/v1/certificate_statuses/:",        Route::Statuses,           0),
    ("PUT",    "puppet-ca/v1/clean",                         Route::Clean,              MIDDLE),
    ("POST",   "puppet-ca/v1/sign",                          Route::Sign,               MIDDLE),
    ("POST",   "puppet-ca/v1/sign/all",                      Route::SignAll,            SMALL),
    ("POST",   "puppet-ca/v1/certificate_renewal",           Route::Renew,              SMALL),
    ("GET",    "puppet-ca/v1/expirations",                   Route::Expirations,        0),
    ("GET",    "puppet/v3/catalog/:",                        Route::Catalog,            0),
    ("POST",   "puppet/v3/catalog/:",                        Route::Catalog,            LARGE),
    ("POST",   "puppet/v4/catalog",                          Route::CatalogV4,          LARGE),
    ("GET",    "puppet/v3/node/:",                           Route::Node,               0),
    ("PUT",    "puppet/v3/report/:",                         Route::SaveReport,         LARGE),
    ("PUT",    "puppet/v3/facts/:",                          Route::SaveFacts,          LARGE),
    ("GET",    "puppet/v3/file_metadata/*",                  Route::FileMetadata,       0),
    ("GET",    "puppet/v3/file_metadatas/*",                 Route::FileMetadatas,      0),
    ("GET",    "puppet/v3/file_content/*",                   Route::FileContent,        0),
    ("GET",    "puppet/v3/static_file_content/*",            Route::StaticContent,      0),
    ("GET",    "puppet/v3/file_bucket_file/*",               Route::BucketGet,          0),
    ("HEAD",   "puppet/v3/file_bucket_file/*",               Route::BucketGet,          0),
    ("PUT",    "puppet/v3/file_bucket_file/*",               Route::BucketPut,          LARGE),
    ("GET",    "puppet/v3/environments",                     Route::Environments,       0),
    ("GET",    "puppet/v3/environment_classes",              Route::Classes,            0),
    ("GET",    "puppet/v3/environment_modules",              Route::Modules,            0),
    ("DELETE", "puppet-admin-api/v1/environment-cache",      Route::FlushEnvironments,  0),
    ("DELETE", "puppet-admin-api/v1/jruby-pool",             Route::FlushPool,          0),
    ("GET",    "status/v1/simple",                           Route::StatusSimple,       0),
    ("GET",    "status/v1/simple/:",                         Route::StatusSimple,       0),
    ("GET",    "status/v1/services",                         Route::StatusServices,     0),
    ("GET",    "status/v1/services/:",                       Route::StatusServices,     0),
    ("GET",    "metrics/v2/*",                               Route::Metrics,            0),
    ("POST",   "metrics/v2",                                 Route::Metrics,            SMALL),
    ("POST",   "pdb/cmd/v1",                                 Route::Command,            LARGE),
    ("GET",    "pdb/query/v4/*",                             Route::PuppetdbQuery,      0),
    ("POST",   "pdb/query/v4/*",                             Route::PuppetdbQuery,      MIDDLE),
    ("GET",    "pdb/meta/v1/version",                        Route::PuppetdbVersion,    0),
    ("GET",    "pdb/meta/v1/server-time",                    Route::PuppetdbTime,       0),
];

/// Methods and paths of all endpoints, as the table has them.
pub fn endpoints() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROUTES.iter().map(|(method, template, ..)| (*method, *template))
}

/// A request for a certificate, a wish.
const SMALL: usize = 64 << 10;
/// A list of names.
const MIDDLE: usize = 1 << 20;
/// Facts, a report, a file.
const LARGE: usize = 64 << 20;

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) route: Route,
    /// The segments that the path of the table leaves open.
    pub(crate) parts: Vec<String>,
    pub(crate) most: usize,
}

pub(crate) fn find(method: &str, path: &Segments) -> Option<Found> {
    ROUTES.iter().find_map(|(known, template, route, most)| {
        let parts = (*known == method).then(|| fits(template, path.as_slice())).flatten()?;
        Some(Found { route: *route, parts, most: *most })
    })
}

/// Whether another method of the path is there.
pub(crate) fn is_path(path: &Segments) -> bool {
    ROUTES.iter().any(|(_, template, ..)| fits(template, path.as_slice()).is_some())
}

fn fits(template: &str, path: &[String]) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut path = path.iter();
    for wanted in template.split('/') {
        if wanted == "*" {
            parts.extend(path.cloned());
            return Some(parts);
        }
        let segment = path.next()?;
        match wanted {
            ":" if !segment.is_empty() => parts.push(segment.clone()),
            wanted if wanted == segment => {}
            _ => return None,
        }
    }
    path.next().is_none().then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_endpoints() {
        let found = |method: &str, path: &str| {
            find(method, &Segments::parse(path).unwrap()).map(|found| (found.route, found.parts))
        };
        let parts = |all: &[&str]| all.iter().map(|&one| one.to_owned()).collect::<Vec<_>>();
        for (method, path, wanted) in [
            ("GET", "/puppet/v3/catalog/n1", Some((Route::Catalog, parts(&["n1"])))),
            ("GET", "/puppet/v3/catalog/", None),
            ("GET", "/puppet/v3/catalog/n1/", None),
            ("DELETE", "/puppet/v3/catalog/n1", None),
            (
                "GET",
                "/puppet/v3/file_content/modules/m/a",
                Some((Route::FileContent, parts(&["modules", "m", "a"]))),
            ),
            (
                "GET",
                "/puppet-ca/v1/certificate_statuses/",
                Some((Route::StatusesWithoutKey, vec![])),
            ),
            ("GET", "/nothing", None),
        ] {
            assert_eq!(found(method, path), wanted, "{method} {path}");
        }
    }
}
