//! The certificate authority: what it signs, and what it refuses to sign.

mod endpoints;

use fx_crypto::digest::Algorithm;
use fx_fleet::{Fleet, Issued};
use fx_wire::puppet::CertName;
use fx_wire::x509::{Authority, Certificate, Extension, Request, Revoked, Wanted, oids};

use crate::caller::{serial_bytes, serial_text};

/// Whether a request is signed at once.
pub trait Autosign: Send + Sync {
    fn signs(&self, name: &CertName, request: &str) -> bool;
}

/// What an authority may do.
pub struct SigningOptions {
    /// Seconds for which a certificate is valid.
    pub lifetime: u64,
    pub allow_alt_names: bool,
    pub allow_authorization_extensions: bool,
    /// Whether a request for a name that has a certificate replaces it.
    pub allow_duplicates: bool,
    /// Seconds for which a renewed certificate is valid; nothing where none is renewed.
    pub renewal_lifetime: Option<u64>,
    pub autosign: Box<dyn Autosign>,
}

/// An authority with its key.
pub struct Signing {
    pub authority: Authority,
    pub options: SigningOptions,
}

/// For how long a list of revoked certificates holds.
const LIST_LIFETIME: u64 = 5 * 365 * 24 * 60 * 60;

impl Signing {
    /// What forbids to sign a request, in the original's words and order.
    fn objection(&self, name: &str, request: &Request) -> Option<String> {
        let subject = request.name().unwrap_or_default();
        if subject != name {
            return Some(mismatch(&subject, name));
        }
        if let Err(error) = CertName::parse(name) {
            return Some(error.to_string());
        }
        let (Ok(names), Ok(extensions)) = (request.alt_names(), request.extensions()) else {
            return Some("the extensions of the request cannot be read".into());
        };
        let own = format!("DNS:{subject}");
        let others: Vec<&String> = names.iter().filter(|name| **name != own).collect();
        if !self.options.allow_alt_names && !others.is_empty() {
            let others: Vec<&str> = others.iter().map(|name| name.as_str()).collect();
            return Some(format!(
                "CSR '{subject}' contains extra subject alternative names ({}), which are disallowed. To allow subject alternative names, set allow-subject-alt-names to true in your ca.conf file. Then restart the puppetserver and try signing this certificate again.",
                others.join(", ")
            ));
        }
        if names.iter().any(|name| !name.starts_with("DNS:") && !name.starts_with("IP:")) {
            return Some(
                "Only DNS and IP names are allowed in the Subject Alternative Names extension"
                    .into(),
            );
        }
        if let Some(wild) = names.iter().find(|name| name.contains('*')) {
            let wild = wild.trim_start_matches("DNS:");
            return Some(format!(
                "Cert subjectAltName contains a wildcard, which is not allowed: {wild}"
            ));
        }
        if !self.options.allow_authorization_extensions
            && extensions.iter().any(|one| oids::is_authorization(&one.oid))
        {
            return Some(format!(
                "CSR '{subject}' contains an authorization extension, which is disallowed. To allow authorization extensions, set allow-authorization-extensions to true in your ca.conf file. Then restart the puppetserver and try signing this certificate again."
            ));
        }
        let is_allowed = |one: &&Extension| oids::is_puppets(&one.oid) && one.oid != oids::CLI_AUTH;
        let bad: Vec<&str> =
            extensions.iter().filter(|one| !is_allowed(one)).map(|one| one.oid.as_str()).collect();
        if !bad.is_empty() {
            return Some(format!("Found extensions that are not permitted: {}", bad.join(", ")));
        }
        match request.is_signed_by_its_key() {
            Ok(true) => None,
            _ => {
                Some("CSR contains a public key that does not correspond to the signing key".into())
            }
        }
    }

    /// Signs a request that nothing forbids to sign, and keeps the certificate.
    fn sign(
        &self,
        fleet: &Fleet,
        name: &str,
        request: &Request,
        lifetime: Option<u64>,
        now: u64,
    ) -> Result<(), String> {
        let in_words = |error: fx_wire::x509::Error| error.to_string();
        let extensions = request.extensions().map_err(in_words)?;
        let alt_names = request.alt_names().map_err(in_words)?;
        let serial = fleet.take_serial().map_err(|error| error.to_string())?;
        let wanted = Wanted {
            name,
            public_key: request.public_key(),
            serial: serial_bytes(&format!("{serial:X}")),
            alt_names,
            extensions,
            lifetime: lifetime.unwrap_or(self.options.lifetime),
        };
        let certificate = self.authority.sign(&wanted, now).map_err(in_words)?;
        let renews = self.options.allow_duplicates;
        fleet.issue(&issued(&certificate), renews).map_err(|error| error.to_string())
    }

    /// The same certificate again, with another serial number and time.
    fn renew(
        &self,
        fleet: &Fleet,
        old: &Certificate,
        lifetime: u64,
        now: u64,
    ) -> Result<Certificate, String> {
        let in_words = |error: fx_wire::x509::Error| error.to_string();
        let name = old.name().unwrap_or_default();
        let serial = fleet.take_serial().map_err(|error| error.to_string())?;
        let wanted = Wanted {
            name: &name,
            public_key: old.public_key(),
            serial: serial_bytes(&format!("{serial:X}")),
            alt_names: old.alt_names().map_err(in_words)?,
            extensions: old.extensions(),
            lifetime,
        };
        let certificate = self.authority.sign(&wanted, now).map_err(in_words)?;
        fleet.issue(&issued(&certificate), true).map_err(|error| error.to_string())?;
        Ok(certificate)
    }

    /// Revokes the certificates of names.
    fn revoke(&self, fleet: &Fleet, names: &[String], now: u64) -> fx_fleet::Result<()> {
        fleet.revoke(names, now, |all, number| {
            let all: Vec<Revoked> = all
                .iter()
                .map(|(serial, at)| Revoked { serial: serial_bytes(serial), at: *at })
                .collect();
            let list = self.authority.revoke(&all, number, now, LIST_LIFETIME);
            list.map(|list| list.to_pem()).map_err(|error| error.to_string())
        })
    }
}

fn mismatch(subject: &str, name: &str) -> String {
    format!("Instance name \"{subject}\" does not match requested key \"{name}\"")
}

/// A certificate as it is kept.
pub fn issued(certificate: &Certificate) -> Issued {
    let (not_before, not_after) = certificate.validity();
    Issued {
        serial: serial_text(&certificate.serial()),
        name: certificate.name().unwrap_or_default(),
        text: certificate.to_pem(),
        not_before,
        not_after,
        revoked: None,
    }
}

/// The digests by which certificates and requests are shown.
const FINGERPRINTS: [(&str, Algorithm); 3] =
    [("SHA1", Algorithm::Sha1), ("SHA256", Algorithm::Sha256), ("SHA512", Algorithm::Sha512)];
