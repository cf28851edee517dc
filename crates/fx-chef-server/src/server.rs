//! From a request to its reply: version, route, signature, and the answer in one transaction.

use std::sync::Arc;

use fx_fleet::{Documents, Fleet, Stopped};
use serde_json::json;

use crate::authenticate::{self, Caller, Signed};
use crate::buffers::Buffers;
use crate::context::{Actor, Answer, Context, GLOBAL};
use crate::files;
use crate::known::{self, Known};
use crate::message::{Reply, Request};
use crate::routes::{self, Access, Found};
use crate::search::Indexes;
use crate::versions;

/// Fills a buffer with bytes that nobody can guess.
pub type Fill = Arc<dyn Fn(&mut [u8]) + Send + Sync>;

/// What a server is made of.
#[derive(Clone)]
pub struct Parts {
    pub fleet: Fleet,
    /// Seconds since 1970.
    pub clock: Arc<dyn Fn() -> u64 + Send + Sync>,
    pub random: Fill,
    /// `https`, or `http` behind something that speaks TLS for us.
    pub scheme: &'static str,
    /// The public key of programs that sign for users, who name themselves as the source.
    pub web_key: Option<String>,
    /// Receives a line for whoever looks after the server.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Private keys of what a first start made.
pub struct NewKeys {
    pub validator: String,
    /// Nothing where the user was there already.
    pub admin: Option<String>,
}

/// Name of the user who may do everything.
pub(crate) const SUPERUSER: &str = "pivotal";

/// What a request leads to: an endpoint, or the reply where there is none.
pub struct Place(Result<Found, Reply>);

/// The API over one store.
pub struct Server {
    pub(crate) parts: Parts,
    pub(crate) indexes: Indexes,
    pub(crate) callers: Known<Caller>,
    /// Groups by the identifier of who is in them.
    pub(crate) memberships: Known<Vec<String>>,
    /// For documents that come and go.
    pub buffers: Buffers,
    /// Signs the URLs of files, the same on every server over the store.
    file_key: Vec<u8>,
}

impl Server {
    /// The API over a store.
    pub fn new(parts: Parts) -> Result<Server, String> {
        let mut fresh = vec![0; 32];
        (parts.random)(&mut fresh);
        let kept = parts.fleet.change_documents::<_, Reply>(|docs| {
            if let Some(key) = docs.get(GLOBAL, "secret", "files")? {
                return Ok(key);
            }
            docs.put(GLOBAL, "secret", "files", &fresh)?;
            Ok(fresh.clone())
        });
        let file_key = kept.map_err(said)?;
        let (indexes, callers, memberships, buffers) = Default::default();
        Ok(Server { parts, indexes, callers, memberships, buffers, file_key })
    }

    pub(crate) fn file_key(&self) -> &[u8] {
        &self.file_key
    }

    pub(crate) fn now(&self) -> u64 {
        (self.parts.clock)()
    }

    pub(crate) fn scheme(&self) -> &'static str {
        self.parts.scheme
    }

    pub(crate) fn random_hex(&self, bytes: usize) -> String {
        let mut buffer = vec![0; bytes];
        (self.parts.random)(&mut buffer);
        buffer.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Makes the superuser where there is none, with this public key.
    pub fn ensure_superuser(&self, public_key: &str) -> Result<(), String> {
        self.change(|context| context.ensure_superuser(public_key))
    }

    /// Makes an organization with its validator, and an administrator of it, where the
    /// organization is missing; their private keys.
    pub fn ensure_organization(&self, name: &str, admin: &str) -> Result<Option<NewKeys>, String> {
        self.change(|context| {
            let Some(validator) = context.ensure_organization(name)? else { return Ok(None) };
            let admin = context.ensure_admin(admin)?;
            Ok(Some(NewKeys { validator, admin }))
        })
    }

    /// Changes the store without a request.
    fn change<T>(
        &self,
        mut work: impl FnMut(&mut Context<'_, '_>) -> Answer<T>,
    ) -> Result<T, String> {
        let request = Request {
            method: String::new(),
            path: String::new(),
            query: fx_wire::puppet::Pairs::default(),
            fields: Vec::new(),
            body: Vec::new(),
        };
        let changed = self.parts.fleet.change_documents(|docs| {
            let mut context = self.context(docs, &request, GLOBAL, nobody(), 0);
            let done = work(&mut context)?;
            known::finish(docs, || self.random_hex(16))?;
            Ok(done)
        });
        changed.map_err(said)
    }

    /// The answer to a request of whoever looks after the server, which nobody signed: the
    /// superuser may do everything.
    pub fn answer_superuser(&self, request: &Request) -> Reply {
        let (found, version) = match (routes::find(request), versions::asked(request)) {
            (Ok(found), Ok(version)) => (found, version),
            (Err(reply), _) | (_, Err(reply)) => return reply,
        };
        let answered =
            self.superuser().and_then(|actor| self.perform(request, &found, &actor, version));
        match answered {
            Ok(reply) | Err(Stopped::Caller(reply)) => reply,
            Err(Stopped::Store(error)) => Reply::error(500, error.to_string()),
        }
    }

    fn superuser(&self) -> Answer<Actor> {
        let user = self.parts.fleet.read_documents::<_, Reply>(|docs| {
            Ok(docs.get(GLOBAL, "user", SUPERUSER)?.unwrap_or_default())
        })?;
        let user: serde_json::Value = serde_json::from_slice(&user).unwrap_or_default();
        let id = user["authz_id"].as_str().unwrap_or_default().to_owned();
        Ok(Actor { name: SUPERUSER.to_owned(), id, is_superuser: true, ..nobody() })
    }

    /// A password that nobody knows, for users who sign with keys.
    pub fn new_password(&self) -> String {
        self.random_hex(16)
    }

    /// Keeps the content of a file of cookbooks; its checksum.
    pub fn keep_content(&self, org: &str, content: &[u8]) -> Result<String, String> {
        let mut checksum = String::new();
        self.change(|context| {
            org.clone_into(&mut context.org);
            checksum = files::keep(context, content)?;
            Ok(())
        })?;
        Ok(checksum)
    }

    /// What a request leads to, by its method and its path.
    pub fn find(&self, request: &Request) -> Place {
        Place(routes::find(request))
    }

    /// The most bytes that the body of a request may have, which is known before it is read.
    pub fn body_limit(&self, request: &Request, Place(place): &Place) -> usize {
        let found = place.as_ref().ok().filter(|found| self.takes_content(request, found));
        found.map_or(0, |found| found.most)
    }

    /// Whether a large content may be sent: its URL says so.
    fn takes_content(&self, request: &Request, found: &Found) -> bool {
        !found.is_file || files::is_ours(self, &found.org, request, &found.parts[0])
    }

    /// The answer to a request whose body is larger.
    pub fn refuse_body(&self, request: &Request, Place(place): Place) -> Reply {
        let asked = match versions::asked(request) {
            Ok(asked) => asked,
            Err(reply) => return reply.with("connection", "close"),
        };
        let reply = match place {
            Ok(found) if !self.takes_content(request, &found) => files::refusal(),
            Ok(found) => too_large(found.most),
            // Nothing is there, whatever is sent.
            Err(reply) => reply,
        };
        versions::marked(reply, asked).with("connection", "close")
    }

    /// Whether a request is answered in less time than it takes to hand it to another thread: one
    /// document is read, and nothing is waited for.
    pub fn answers_at_once(&self, request: &Request, Place(place): &Place) -> bool {
        request.body.is_empty()
            && matches!(request.method.as_str(), "GET" | "HEAD")
            && place.as_ref().is_ok_and(|found| found.is_document)
            && self.parts.fleet.reads_at_once()
    }

    /// The answer to a request.
    pub fn answer(&self, request: &Request) -> Reply {
        self.answer_at(request, self.find(request))
    }

    /// The same where it is known what the request leads to.
    pub fn answer_at(&self, request: &Request, place: Place) -> Reply {
        let asked = match versions::asked(request) {
            Ok(asked) => asked,
            Err(reply) => return reply,
        };
        let reply = match self.route(request, place, asked) {
            Ok(reply) | Err(Stopped::Caller(reply)) => reply,
            Err(Stopped::Store(error)) => {
                (self.parts.log)(&error.to_string());
                Reply::error(500, "internal service error")
            }
        };
        versions::marked(reply, asked)
    }

    fn route(&self, request: &Request, Place(place): Place, version: u8) -> Answer {
        let found = match place {
            Ok(found) => found,
            Err(reply) => return Ok(reply),
        };
        if found.access == Access::Signed && !accepts_json(request) {
            return Ok(Reply::error(406, "Not Acceptable"));
        }
        if request.body.len() > found.most {
            return Ok(too_large(found.most));
        }
        if found.access == Access::Open {
            return self.perform(request, &found, &nobody(), version);
        }
        let signed = Signed::read(request, self.now())?;
        if only_reads(request, &found) {
            return self.parts.fleet.read_documents(|docs| {
                let mut context = self.context(docs, request, &found.org, nobody(), version);
                context.actor = authenticate::actor(&mut context, &signed)?;
                (found.handler)(&mut context, &found.parts)
            });
        }
        // Nobody holds others up who has not signed.
        let actor = self.parts.fleet.read_documents(|docs| {
            let mut context = self.context(docs, request, &found.org, nobody(), version);
            authenticate::actor(&mut context, &signed)
        })?;
        self.perform(request, &found, &actor, version)
    }

    /// What an endpoint does.
    fn handle(
        &self,
        docs: &mut Documents<'_>,
        request: &Request,
        found: &Found,
        actor: Actor,
        version: u8,
    ) -> Answer {
        let mut context = self.context(docs, request, &found.org, actor, version);
        (found.handler)(&mut context, &found.parts)
    }

    /// The same in a transaction of its own.
    fn perform(&self, request: &Request, found: &Found, actor: &Actor, version: u8) -> Answer {
        if only_reads(request, found) {
            return self
                .parts
                .fleet
                .read_documents(|docs| self.handle(docs, request, found, actor.clone(), version));
        }
        let changed = self.parts.fleet.change_documents(|docs| {
            let reply = self.handle(docs, request, found, actor.clone(), version)?;
            known::finish(docs, || self.random_hex(16))?;
            Ok(reply)
        });
        if found.org.is_empty() {
            // An organization may be gone, with all that is known of it.
            self.indexes.forget(found.parts.first().map_or("", String::as_str));
        }
        changed
    }

    fn context<'a, 'b>(
        &'a self,
        docs: &'a mut Documents<'b>,
        request: &'a Request,
        org: &str,
        actor: Actor,
        version: u8,
    ) -> Context<'a, 'b> {
        Context { server: self, docs, request, version, org: org.to_owned(), actor, mark: None }
    }
}

fn only_reads(request: &Request, found: &Found) -> bool {
    matches!(request.method.as_str(), "GET" | "HEAD") || found.only_reads
}

fn too_large(most: usize) -> Reply {
    Reply::plain_error(413, format!("JSON must be no more than {most} bytes."))
}

/// Whether the client takes JSON.
fn accepts_json(request: &Request) -> bool {
    let Some(accept) = request.field("accept") else { return true };
    accept.split(',').any(|one| {
        let kind = one.split(';').next().unwrap_or_default().trim();
        matches!(kind, "*/*" | "application/*" | "application/json")
    })
}

/// Why a transaction was given up.
fn said(stopped: Stopped<Reply>) -> String {
    match stopped {
        Stopped::Store(error) => error.to_string(),
        Stopped::Caller(reply) => String::from_utf8_lossy(&reply.body).into_owned(),
    }
}

/// Who has not signed.
fn nobody() -> Actor {
    Actor {
        is_client: false,
        name: String::new(),
        id: String::new(),
        is_validator: false,
        is_superuser: false,
        key: String::new(),
    }
}

/// `GET /_status`
pub(crate) fn status(_: &mut Context<'_, '_>, _: &[String]) -> Answer {
    Ok(Reply::ok(&json!({
        "status": "pong",
        "upstreams": {"chef_sql": "pong", "oc_chef_authz": "pong"},
        "keygen": {},
        "indexing": {},
    })))
}

/// `GET /server_api_version`
pub(crate) fn api_version(_: &mut Context<'_, '_>, _: &[String]) -> Answer {
    Ok(Reply::ok(&json!({"min_api_version": versions::MIN, "max_api_version": versions::MAX})))
}

/// `GET /version`
pub(crate) fn version(_: &mut Context<'_, '_>, _: &[String]) -> Answer {
    let text = format!("fixpoint {}\n", env!("CARGO_PKG_VERSION"));
    Ok(Reply::bytes("text/plain", text.into_bytes()))
}

/// `GET /license`: nothing is limited (D-063).
pub(crate) fn license(context: &mut Context<'_, '_>, _: &[String]) -> Answer {
    let mut nodes = 0;
    for org in context.docs.names(GLOBAL, "organization")? {
        nodes += context.docs.names(&org, "node")?.len();
    }
    Ok(Reply::ok(&json!({
        "limit_exceeded": false,
        "node_license": 999_999,
        "node_count": nodes,
        "upgrade_url": "",
    })))
}

/// What is not there on purpose, so that clients go on without it.
pub(crate) fn absent(_: &mut Context<'_, '_>, _: &[String]) -> Answer {
    Ok(Reply::error(404, "not found"))
}

/// Audit mode is no more.
pub(crate) fn gone(_: &mut Context<'_, '_>, _: &[String]) -> Answer {
    let text = "Server does not support the controls endpoint: audit mode was removed";
    Ok(Reply::plain_error(410, text))
}
