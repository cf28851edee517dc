//! The authority's HTTP interface.

use fx_crypto::digest::Algorithm;
use fx_fleet::{Added, Issued, RequestRecord, State};
use fx_wire::puppet::CertName;
use fx_wire::x509::{Certificate, Extension, Request as Csr, Revocations, oids};
use serde_json::{Map, Value, json};

use super::{FINGERPRINTS, Signing, mismatch};
use crate::app::App;
use crate::caller::serial_bytes;
use crate::dates;
use crate::message::{Reply, Request};
use crate::routes::Route;

type Answer = Result<Reply, Reply>;

impl App {
    pub(crate) fn authority(&self, route: Route, name: &str, request: &Request) -> Answer {
        // Another server signs; this one knows nothing of certificates.
        let Some(signing) = &self.parts.signing else { return Err(Reply::text(404, "Not Found")) };
        match route {
            Route::Certificate => self.certificate(name),
            Route::CertificateRequest => self.certificate_request(name),
            Route::SubmitRequest => self.submit(signing, name, request),
            Route::DeleteRequest => self.delete_request(name),
            Route::RevocationList => self.revocation_list(request),
            Route::UpdateLists => self.update_lists(request),
            Route::Status => self.status(name),
            Route::ChangeStatus => self.change_status(signing, name, request),
            Route::DeleteStatus => {
                let was_there = self.stored(self.parts.fleet.clean(name))?;
                was_there
                    .then(|| Reply::empty(204))
                    .ok_or_else(|| Reply::text(404, "Resource not found."))
            }
            Route::Statuses => self.statuses(request),
            Route::StatusesWithoutKey => Err(Reply::text(400, "Missing URL Segment")),
            Route::Clean => self.clean(signing, request),
            Route::Sign => self.sign_names(signing, Some(request)),
            Route::SignAll => self.sign_names(signing, None),
            Route::Renew => self.renew(signing, request),
            Route::Expirations => self.expirations(),
            _ => Err(Reply::text(404, "Not Found")),
        }
    }

    fn stored<T>(&self, result: fx_fleet::Result<T>) -> Result<T, Reply> {
        result.map_err(|error| self.store_failed(&error))
    }

    fn certificate(&self, name: &str) -> Answer {
        let text = if name == "ca" {
            self.stored(self.parts.fleet.authority())?.map(|authority| authority.chain)
        } else {
            self.stored(self.parts.fleet.certificate(name))?.map(|issued| issued.text)
        };
        match text {
            Some(text) => Ok(Reply::text(200, text)),
            None => Err(Reply::text(404, format!("Could not find certificate {name}"))),
        }
    }

    fn certificate_request(&self, name: &str) -> Answer {
        match self.stored(self.parts.fleet.request(name))? {
            Some(record) => Ok(Reply::text(200, record.text)),
            None => Err(Reply::text(404, format!("Could not find certificate_request {name}"))),
        }
    }

    fn submit(&self, signing: &Signing, name: &str, request: &Request) -> Answer {
        let text = String::from_utf8_lossy(&request.body);
        // Agents take 400 for "it is there already": what is no request at all must be another.
        let csr = Csr::from_pem(&text)
            .map_err(|error| Reply::text(422, format!("the request cannot be read: {error}")))?;
        let fleet = &self.parts.fleet;
        let refused = |text: String| {
            (self.parts.log)(&text);
            Reply::text(400, text)
        };
        let subject = csr.name().unwrap_or_default();
        if !signing.options.allow_duplicates
            && let Some(state) = self.stored(fleet.state(&subject))?
        {
            return Err(refused(duplicate(&subject, state)));
        }
        if subject != name {
            return Err(refused(mismatch(&subject, name)));
        }
        let certname = CertName::parse(name).map_err(|error| refused(error.to_string()))?;
        // The original keeps what it will never sign. A flood of such requests would fill the
        // store, so a request that its own key did not sign is refused here.
        if csr.is_signed_by_its_key() != Ok(true) {
            let text = "CSR contains a public key that does not correspond to the signing key";
            return Err(refused(text.into()));
        }
        let record =
            RequestRecord { name: name.into(), received: self.seconds(), text: csr.to_pem() };
        if signing.options.allow_duplicates {
            self.stored(fleet.remove_request(name))?;
        }
        match self.stored(fleet.add_request(&record))? {
            Added::Taken(State::Signed | State::Revoked) if signing.options.allow_duplicates => {}
            Added::Taken(state) => return Err(refused(duplicate(name, state))),
            Added::Stored => {}
        }
        (self.parts.log)(&format!("{name} has a waiting certificate request"));
        if signing.options.autosign.signs(&certname, &record.text) {
            if let Some(objection) = signing.objection(name, &csr) {
                return Err(refused(objection));
            }
            self.sign_one(signing, name, &csr, None)?;
        }
        Ok(Reply::text(200, ""))
    }

    fn sign_one(&self, signing: &Signing, name: &str, csr: &Csr, ttl: Option<u64>) -> Answer {
        let signed = signing.sign(&self.parts.fleet, name, csr, ttl, self.seconds());
        signed.map_err(|error| Reply::text(500, format!("Internal Server Error: {error}")))?;
        (self.parts.log)(&format!("Signed certificate request for {name}"));
        Ok(Reply::empty(204))
    }

    fn delete_request(&self, name: &str) -> Answer {
        let was_there = self.stored(self.parts.fleet.remove_request(name))?;
        was_there
            .then(|| Reply::empty(204))
            .ok_or_else(|| Reply::text(404, format!("No certificate request for {name}")))
    }

    fn revocation_list(&self, request: &Request) -> Answer {
        let list = self.stored(self.parts.fleet.revocation_list())?;
        let list = list.ok_or_else(|| Reply::text(404, "there is no list"))?;
        let since = request.head.field("if-modified-since").and_then(dates::parse_http_time);
        if since.is_some_and(|since| since >= list.written) {
            return Ok(Reply::text(304, ""));
        }
        let modified = dates::http_time(list.written);
        Ok(Reply::text(200, list.own + &list.above).with("last-modified", modified))
    }

    /// Takes newer lists of the authorities above ours.
    fn update_lists(&self, request: &Request) -> Answer {
        let bad = |text: String| Reply::text(400, text);
        let text = String::from_utf8_lossy(&request.body);
        let lists = Revocations::bundle(&text).map_err(|error| bad(error.to_string()))?;
        if lists.is_empty() {
            return Err(bad("No valid CRLs submitted.".into()));
        }
        let authority = self.stored(self.parts.fleet.authority())?;
        let chain = authority.map(|authority| authority.chain).unwrap_or_default();
        let chain = Certificate::bundle(&chain).map_err(|error| bad(error.to_string()))?;
        let list = self.stored(self.parts.fleet.revocation_list())?;
        let known = list.map(|list| list.above).unwrap_or_default();
        let mut known = Revocations::bundle(&known).map_err(|error| bad(error.to_string()))?;
        for new in lists {
            // Our own list is ours to write.
            let above = chain.iter().skip(1);
            let is_signed = |one: &Certificate| new.is_signed_by(one) == Ok(true);
            if !above.clone().any(is_signed) {
                continue;
            }
            let (issuer, number) = (new.issuer(), new.number());
            match known.iter_mut().find(|old| old.issuer() == issuer) {
                Some(old) if old.number() < number => *old = new,
                Some(_) => {}
                None => known.push(new),
            }
        }
        let text: String = known.iter().map(Revocations::to_pem).collect();
        self.stored(self.parts.fleet.set_lists_above(&text, self.seconds()))?;
        Ok(Reply::text(200, "Successfully updated CRLs."))
    }

    fn status(&self, name: &str) -> Answer {
        let fleet = &self.parts.fleet;
        let found = match self.stored(fleet.certificate(name))? {
            Some(issued) => Some(certificate_status(&issued)),
            None => self.stored(fleet.request(name))?.map(|record| request_status(&record)),
        };
        match found {
            Some(status) => Ok(json_reply(&status)),
            None => Err(Reply::text(404, "Resource not found.")),
        }
    }

    fn statuses(&self, request: &Request) -> Answer {
        let fleet = &self.parts.fleet;
        let wanted = request.head.query.get("state");
        let wanted = wanted.filter(|state| matches!(*state, "requested" | "signed" | "revoked"));
        let mut all = Vec::new();
        if matches!(wanted, None | Some("requested")) {
            all.extend(self.stored(fleet.requests())?.iter().map(request_status));
        }
        if wanted != Some("requested") {
            all.extend(self.stored(fleet.certificates())?.iter().map(certificate_status));
        }
        all.retain(|status| wanted.is_none_or(|wanted| status["state"] == wanted));
        Ok(json_reply(&Value::Array(all)))
    }

    fn change_status(&self, signing: &Signing, name: &str, request: &Request) -> Answer {
        let bad = |text: String| Reply::text(400, text);
        if let Some(kind) = request.head.field("content-type") {
            let kind = kind.split(';').next().unwrap_or_default().trim();
            if !matches!(kind, "application/json" | "text/pson" | "pson") {
                return Err(Reply::text(415, "Unsupported media type."));
            }
        }
        if request.body.is_empty() {
            return Err(bad("Empty request body.".into()));
        }
        let wish: Value = serde_json::from_slice(&request.body)
            .map_err(|_| bad("Request body is not JSON.".into()))?;
        let state = wish["desired_state"].as_str();
        let state =
            state.ok_or_else(|| bad("Missing required parameter \"desired_state\"".into()))?;
        if !matches!(state, "signed" | "revoked") {
            return Err(bad(format!(
                "State {state} invalid; Must specify desired state of 'signed' or 'revoked' for host {name}."
            )));
        }
        let ttl = match &wish["cert_ttl"] {
            Value::Null => None,
            ttl => Some(ttl.as_u64().ok_or_else(|| {
                bad(format!(
                    "cert_ttl specified for host {name} must be an integer, not \"{}\"",
                    plain(ttl)
                ))
            })?),
        };
        let fleet = &self.parts.fleet;
        let certificate = self.stored(fleet.certificate(name))?;
        let waiting = self.stored(fleet.request(name))?;
        if certificate.is_none() && waiting.is_none() {
            return Err(Reply::text(404, "Invalid certificate subject."));
        }
        if state == "revoked" {
            if certificate.is_none() {
                let text = format!(
                    "Cannot revoke certificate for host {name} without a signed certificate"
                );
                return Err(Reply::text(409, text));
            }
            self.revoke(signing, &[name.to_owned()])?;
            return Ok(Reply::empty(204));
        }
        let Some(waiting) = waiting else {
            let text =
                format!("Cannot sign certificate for host {name} without a certificate request");
            return Err(Reply::text(409, text));
        };
        let csr =
            Csr::from_pem(&waiting.text).map_err(|error| Reply::text(409, error.to_string()))?;
        if let Some(objection) = signing.objection(name, &csr) {
            return Err(Reply::text(409, objection));
        }
        self.sign_one(signing, name, &csr, ttl)
    }

    fn revoke(&self, signing: &Signing, names: &[String]) -> Result<(), Reply> {
        self.stored(signing.revoke(&self.parts.fleet, names, self.seconds()))?;
        self.stored(self.parts.revoked.refresh(&self.parts.fleet))?;
        (self.parts.log)(&format!("Revoked certificates of {}", names.join(", ")));
        Ok(())
    }

    fn clean(&self, signing: &Signing, request: &Request) -> Answer {
        let names = names_of(request).map_err(|text| Reply::text(400, text))?;
        let (mut there, mut missing) = (Vec::new(), Vec::new());
        for name in names {
            match self.stored(self.parts.fleet.certificate(&name))? {
                Some(_) => there.push(name),
                None => missing.push(name),
            }
        }
        self.revoke(signing, &there)?;
        for name in &there {
            self.stored(self.parts.fleet.clean(name))?;
        }
        let text = if missing.is_empty() {
            "Successfully cleaned all certs.".to_owned()
        } else {
            let missing: Vec<String> = missing.iter().map(|name| format!("{name:?}")).collect();
            let list = missing.join(" ");
            format!("The following certs do not exist and cannot be revoked: [{list}]")
        };
        Ok(Reply::text(200, text))
    }

    /// Signs the requests that are named, or all; what came of each is in the answer.
    fn sign_names(&self, signing: &Signing, named: Option<&Request>) -> Answer {
        let fleet = &self.parts.fleet;
        let names = match named {
            Some(request) => names_of(request).map_err(|text| Reply::text(400, text))?,
            None => self.stored(fleet.requests())?.into_iter().map(|one| one.name).collect(),
        };
        let (mut signed, mut missing, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        for name in names {
            let Some(waiting) = self.stored(fleet.request(&name))? else {
                missing.push(name);
                continue;
            };
            let csr = Csr::from_pem(&waiting.text).ok();
            let csr = csr.filter(|csr| signing.objection(&name, csr).is_none());
            match csr.map(|csr| self.sign_one(signing, &name, &csr, None)) {
                Some(Ok(_)) => signed.push(name),
                _ => failed.push(name),
            }
        }
        Ok(json_reply(&json!({"signed": signed, "no-csr": missing, "signing-errors": failed})))
    }

    fn renew(&self, signing: &Signing, request: &Request) -> Answer {
        let gone = || Reply::text(404, "Not Found");
        let lifetime = signing.options.renewal_lifetime.ok_or_else(gone)?;
        let identity = request.head.caller.identity().ok_or_else(gone)?;
        // The certificate of the connection, and no other of that name.
        let old = self.stored(self.parts.fleet.certificate(&identity.name))?.ok_or_else(gone)?;
        if old.serial != identity.serial {
            return Err(Reply::text(403, "the certificate was renewed already"));
        }
        let old = Certificate::from_pem(&old.text)
            .map_err(|error| Reply::text(500, error.to_string()))?;
        let new = signing.renew(&self.parts.fleet, &old, lifetime, self.seconds());
        let new =
            new.map_err(|error| Reply::text(500, format!("Internal Server Error: {error}")))?;
        Ok(Reply::text(200, new.to_pem()))
    }

    fn expirations(&self) -> Answer {
        let authority = self.stored(self.parts.fleet.authority())?;
        let chain = authority.map(|authority| authority.chain).unwrap_or_default();
        let failed = |error: fx_wire::x509::Error| Reply::text(500, error.to_string());
        let mut certificates = Map::new();
        for one in Certificate::bundle(&chain).map_err(failed)? {
            let until = dates::certificate_time(one.validity().1);
            certificates.insert(one.name().unwrap_or_default(), until.into());
        }
        let list = self.stored(self.parts.fleet.revocation_list())?;
        let text = list.map(|list| list.own + &list.above).unwrap_or_default();
        let mut lists = Map::new();
        for one in Revocations::bundle(&text).map_err(failed)? {
            let until = one.next_update().map(dates::certificate_time);
            lists.insert(one.issuer().unwrap_or_default(), until.into());
        }
        Ok(json_reply(&json!({"ca-certs": certificates, "crls": lists})))
    }
}

fn duplicate(name: &str, state: State) -> String {
    let state = state_text(state);
    format!("{name} already has a {state} certificate; ignoring certificate request")
}

fn state_text(state: State) -> &'static str {
    match state {
        State::Requested => "requested",
        State::Signed => "signed",
        State::Revoked => "revoked",
    }
}

fn json_reply(value: &Value) -> Reply {
    Reply::new(200, Some("application/json"), value.to_string().into_bytes())
}

/// A value without the quotes of a text.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn names_of(request: &Request) -> Result<Vec<String>, &'static str> {
    let wish: Value =
        serde_json::from_slice(&request.body).map_err(|_| "Request body is not JSON.")?;
    if wish["async"] == true {
        return Err("Async mode is not currently supported.");
    }
    let names = wish["certnames"].as_array().ok_or(
        "Missing required key: 'certnames'. Please supply the list of certs you want to clean.",
    )?;
    Ok(names.iter().map(plain).collect())
}

fn certificate_status(issued: &Issued) -> Value {
    let state = if issued.revoked.is_some() { State::Revoked } else { State::Signed };
    let Ok(certificate) = Certificate::from_pem(&issued.text) else {
        return json!({"name": issued.name, "state": state_text(state)});
    };
    let names = certificate.alt_names().unwrap_or_default();
    let print = |algorithm: Algorithm| certificate.fingerprint(algorithm);
    let mut status = status(&issued.name, state, &names, &certificate.extensions(), &print);
    status.insert("not_after".into(), dates::certificate_time(issued.not_after).into());
    status.insert("not_before".into(), dates::certificate_time(issued.not_before).into());
    status.insert("serial_number".into(), number(&issued.serial));
    Value::Object(status)
}

/// A serial number as JSON writes it, of any length.
fn number(serial: &str) -> Value {
    let small = u64::from_str_radix(serial, 16).map(Value::from);
    small.unwrap_or_else(|_| {
        // What no number of JSON's readers holds is a text.
        Value::from(format!("0x{}", fx_formats::hex(serial_bytes(serial))))
    })
}

fn request_status(record: &RequestRecord) -> Value {
    let Ok(csr) = Csr::from_pem(&record.text) else {
        return json!({"name": record.name, "state": "requested"});
    };
    let names = csr.alt_names().unwrap_or_default();
    let extensions = csr.extensions().unwrap_or_default();
    let print = |algorithm: Algorithm| csr.fingerprint(algorithm);
    Value::Object(status(&record.name, State::Requested, &names, &extensions, &print))
}

fn status(
    name: &str,
    state: State,
    names: &[String],
    extensions: &[Extension],
    print: &dyn Fn(Algorithm) -> String,
) -> Map<String, Value> {
    let dns: Vec<&String> = names.iter().filter(|name| name.starts_with("DNS:")).collect();
    let rights = extensions.iter().filter(|one| oids::is_authorization(&one.oid));
    let rights: Map<String, Value> = rights
        .map(|one| (oids::short_name(&one.oid).to_owned(), Value::from(one.text.as_str())))
        .collect();
    let mut prints: Map<String, Value> = FINGERPRINTS
        .iter()
        .map(|(name, algorithm)| ((*name).to_owned(), print(*algorithm).into()))
        .collect();
    let best = print(Algorithm::Sha256);
    prints.insert("default".into(), best.clone().into());
    let all = json!({
        "name": name,
        "state": state_text(state),
        "dns_alt_names": dns,
        "subject_alt_names": names,
        "authorization_extensions": rights,
        "fingerprint": best,
        "fingerprints": prints,
    });
    match all {
        Value::Object(all) => all,
        _ => Map::new(),
    }
}
