//! From a request to its answer: who it is, whether he may, which endpoint.

use std::sync::Arc;

use fx_fleet::Fleet;
use serde_json::{Map, Value};

use crate::backend::PuppetDb;
use crate::ca::Signing;
use crate::caller::Caller;
use crate::code::{Code, Refusal};
use crate::message::{Head, Issue, Reply, Request};
use crate::puppetdb::SameCatalogs;
use crate::revoked::RevokedSerials;
use crate::routes::{self, Found, Route};
use crate::rules::Rules;

/// What a server is made of.
pub struct Parts {
    pub fleet: Fleet,
    /// Where what nodes leave goes besides, at sites that have one.
    pub puppetdb: Option<Arc<dyn PuppetDb>>,
    pub code: Arc<dyn Code>,
    /// The authority; nothing where another server has it.
    pub signing: Option<Signing>,
    pub rules: Rules,
    pub revoked: RevokedSerials,
    /// Milliseconds since 1970.
    pub clock: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Name of this server.
    pub name: String,
    /// The version that clients see.
    pub version: &'static str,
    /// What is done with reports, by the names of the original.
    pub reports: Vec<String>,
    /// Receives a line for whoever looks after the server.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
}

/// All endpoints over one store and one body of code.
pub struct App {
    pub(crate) parts: Parts,
    pub(crate) catalogs: SameCatalogs,
}

/// What is decided before the body is read.
pub(crate) enum Gate {
    /// Read so much and come back.
    Open(Found),
    Closed(Reply),
}

/// Paths of other applications are unknown, not forbidden.
const CONTEXTS: &[&str] = &["puppet", "puppet-ca", "puppet-admin-api", "status", "metrics", "pdb"];

impl App {
    pub fn new(parts: Parts) -> App {
        App { parts, catalogs: SameCatalogs::default() }
    }

    /// The answer to a whole request.
    pub fn answer(&self, request: &Request) -> Reply {
        match self.gate(&request.head) {
            Gate::Open(found) => self.carry_out(&found, request),
            Gate::Closed(reply) => reply,
        }
    }

    pub(crate) fn gate(&self, head: &Head) -> Gate {
        let context = head.path.as_slice().first().map_or("", String::as_str);
        if !CONTEXTS.contains(&context) {
            return Gate::Closed(Reply::text(404, "Not Found"));
        }
        // A connection outlives the revocation of its certificate.
        if let Caller::Node(identity) = &head.caller
            && self.parts.revoked.contains(&identity.serial)
        {
            return Gate::Closed(Reply::forbidden(head));
        }
        if !self.parts.rules.allows(head) {
            self.refused(head);
            return Gate::Closed(Reply::forbidden(head));
        }
        match routes::find(&head.method, &head.path) {
            Some(found) => Gate::Open(found),
            None if context == "puppet-admin-api" && routes::is_path(&head.path) => {
                Gate::Closed(Reply::empty(405))
            }
            None => Gate::Closed(Reply::text(404, "Not Found")),
        }
    }

    fn refused(&self, head: &Head) {
        let who = head.caller.identity().map_or("a caller without certificate", |one| &one.name);
        (self.parts.log)(&format!("{who} may not {} {}", head.method, head.path));
    }

    pub(crate) fn carry_out(&self, found: &Found, request: &Request) -> Reply {
        use Route::{
            BucketGet, BucketPut, Catalog, CatalogV4, Certificate, CertificateRequest,
            ChangeStatus, Classes, Clean, Command, DeleteRequest, DeleteStatus, Environments,
            Expirations, FileContent, FileMetadata, FileMetadatas, FlushEnvironments, FlushPool,
            Metrics, Modules, Node, PuppetdbQuery, PuppetdbTime, PuppetdbVersion, Renew,
            RevocationList, SaveFacts, SaveReport, Sign, SignAll, StaticContent, Status,
            StatusServices, StatusSimple, Statuses, StatusesWithoutKey, SubmitRequest, UpdateLists,
        };
        let parts = &found.parts;
        let name = parts.first().map_or("", String::as_str);
        let made = match found.route {
            Certificate | CertificateRequest | SubmitRequest | DeleteRequest | RevocationList
            | UpdateLists | Status | ChangeStatus | DeleteStatus | Statuses
            | StatusesWithoutKey | Clean | Sign | SignAll | Renew | Expirations => {
                self.authority(found.route, name, request)
            }
            Catalog => self.catalog(name, request),
            CatalogV4 => self.catalog_v4(request),
            Node => self.node(name, request),
            SaveReport => self.save_report(name, request),
            SaveFacts => self.save_facts(name, request),
            FileMetadata => self.file_metadata(parts, request),
            FileMetadatas => self.file_metadatas(parts, request),
            FileContent => self.file_content(parts, request),
            StaticContent => self.static_content(parts, request),
            BucketGet => self.bucket_get(parts),
            BucketPut => self.bucket_put(parts, request),
            Environments => Ok(self.environments()),
            Classes => self.classes(request),
            Modules => self.modules(request),
            FlushEnvironments => self.flush(request),
            FlushPool => {
                self.parts.code.flush(None);
                Ok(Reply::empty(204))
            }
            StatusSimple => Ok(self.status_simple(parts)),
            StatusServices => Ok(self.status_services(parts, request)),
            Metrics => self.metrics(parts, request),
            Command => self.command(request),
            PuppetdbQuery => self.puppetdb_query(parts, request),
            PuppetdbVersion => Ok(crate::puppetdb::puppetdb_version()),
            PuppetdbTime => Ok(self.puppetdb_time()),
        };
        made.unwrap_or_else(|reply| reply)
    }

    /// A failure of the store: an error that nobody can mend by asking otherwise.
    pub(crate) fn store_failed(&self, error: &fx_fleet::Error) -> Reply {
        (self.parts.log)(&error.to_string());
        Reply::issue(Issue::Failed, &error.to_string())
    }

    pub(crate) fn seconds(&self) -> u64 {
        (self.parts.clock)() / 1000
    }

    pub(crate) fn stored_facts(&self, node: &str) -> Result<Option<Map<String, Value>>, Reply> {
        let record = self.parts.fleet.facts(node).map_err(|error| self.store_failed(&error))?;
        let Some(record) = record else { return Ok(None) };
        match serde_json::from_slice(&record.body) {
            Ok(Value::Object(mut values)) => {
                // What the certificate said then is not what this one says.
                values.shift_remove("trusted");
                Ok(Some(values))
            }
            _ => Err(Reply::issue(Issue::Failed, "the stored facts cannot be read")),
        }
    }
}

/// The reply to what the code refuses.
pub(crate) fn refusal(refusal: Refusal, environment: &str) -> Reply {
    match refusal {
        Refusal::NoEnvironment => {
            let text = format!("Could not find environment '{environment}'");
            Reply::issue(Issue::NoEnvironment, &text)
        }
        Refusal::NotFound(text) => Reply::issue(Issue::NotFound, &text),
        Refusal::Failed(text) => Reply::issue(Issue::Failed, &text),
        Refusal::Busy => busy(),
    }
}

/// Too much is under way: agents wait for so many seconds and come again.
pub(crate) fn busy() -> Reply {
    Reply::text(503, "The maximum number of queued requests has been reached.")
        .with("retry-after", "30")
        .with("connection", "close")
}
