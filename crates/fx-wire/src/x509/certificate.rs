//! A certificate, as it is read.

use der::{Decode, Encode};
use fx_crypto::digest::Algorithm;
use x509_cert::Certificate as Inner;

use super::key::PublicKey;
use super::request::{Extension, names_of, shown};
use super::{Result, fingerprint, last_common_name, malformed, oids, pem};

const LABEL: &str = "CERTIFICATE";

/// A certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    pub(super) inner: Inner,
    der: Vec<u8>,
}

impl Certificate {
    pub(super) fn new(inner: Inner) -> Result<Certificate> {
        let der = inner.to_der().map_err(malformed(LABEL))?;
        Ok(Certificate { inner, der })
    }

    pub fn from_der(der: Vec<u8>) -> Result<Certificate> {
        Ok(Certificate { inner: Inner::from_der(&der).map_err(malformed(LABEL))?, der })
    }

    pub fn from_pem(text: &str) -> Result<Certificate> {
        Certificate::from_der(pem::first(text, LABEL)?)
    }

    /// All certificates of a text, in order.
    pub fn bundle(text: &str) -> Result<Vec<Certificate>> {
        pem::blocks(text, LABEL)?.into_iter().map(Certificate::from_der).collect()
    }

    pub fn to_pem(&self) -> String {
        pem::block(LABEL, &self.der)
    }

    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// The common name of whom it is for.
    pub fn name(&self) -> Option<String> {
        last_common_name(self.inner.tbs_certificate().subject())
    }

    /// The common name of who signed it.
    pub fn issuer(&self) -> Option<String> {
        last_common_name(self.inner.tbs_certificate().issuer())
    }

    /// The bytes of the serial number, without zeros before them.
    pub fn serial(&self) -> Vec<u8> {
        self.inner.tbs_certificate().serial_number().as_bytes().to_vec()
    }

    /// Seconds since 1970 between which it is valid.
    pub fn validity(&self) -> (u64, u64) {
        let validity = self.inner.tbs_certificate().validity();
        let seconds = |time: &x509_cert::time::Time| time.to_unix_duration().as_secs();
        (seconds(&validity.not_before), seconds(&validity.not_after))
    }

    pub fn public_key(&self) -> PublicKey {
        PublicKey::from_info(self.inner.tbs_certificate().subject_public_key_info())
    }

    /// `AA:BB:…` of the whole certificate.
    pub fn fingerprint(&self, algorithm: Algorithm) -> String {
        fingerprint(algorithm, &self.der)
    }

    /// Other names, as `DNS:x` and `IP:x`.
    pub fn alt_names(&self) -> Result<Vec<String>> {
        names_of(self.parts())
    }

    /// Puppet's own extensions.
    pub fn extensions(&self) -> Vec<Extension> {
        let all = self.parts().iter().map(|part| (part.extn_id.to_string(), part));
        let puppets = all.filter(|(oid, _)| oids::is_puppets(oid));
        puppets.map(|(oid, part)| Extension { oid, text: shown(part) }).collect()
    }

    /// Whether the key of this one signed that one.
    pub fn has_signed(&self, other: &Certificate) -> Result<bool> {
        let bytes = other.inner.tbs_certificate().to_der().map_err(malformed(LABEL))?;
        let is_issuer =
            other.inner.tbs_certificate().issuer() == self.inner.tbs_certificate().subject();
        let algorithm = other.inner.signature_algorithm();
        Ok(is_issuer && self.public_key().verifies(algorithm, &bytes, other.inner.signature())?)
    }

    pub(super) fn parts(&self) -> &[x509_cert::ext::Extension] {
        self.inner.tbs_certificate().extensions().map_or(&[], Vec::as_slice)
    }
}
