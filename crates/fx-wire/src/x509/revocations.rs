//! Lists of revoked certificates.

use der::{Decode, Encode};
use x509_cert::crl::{CertificateList, RevokedCert};
use x509_cert::ext::Extension as Part;
use x509_cert::ext::pkix::CrlNumber;
use x509_cert::serial_number::SerialNumber;
use x509_cert::time::Time;

use super::certificate::Certificate;
use super::{Result, last_common_name, malformed, pem};

const LABEL: &str = "X509 CRL";
const NUMBER: &str = "2.5.29.20";

/// A list of revoked certificates, signed by an authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revocations {
    pub(super) inner: CertificateList,
    der: Vec<u8>,
}

/// A revoked certificate: its serial number and when, in seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revoked {
    pub serial: Vec<u8>,
    pub at: u64,
}

impl Revocations {
    pub(super) fn new(inner: CertificateList) -> Result<Revocations> {
        let der = inner.to_der().map_err(malformed(LABEL))?;
        Ok(Revocations { inner, der })
    }

    pub fn from_der(der: Vec<u8>) -> Result<Revocations> {
        Ok(Revocations { inner: CertificateList::from_der(&der).map_err(malformed(LABEL))?, der })
    }

    /// All lists of a text, in order.
    pub fn bundle(text: &str) -> Result<Vec<Revocations>> {
        pem::blocks(text, LABEL)?.into_iter().map(Revocations::from_der).collect()
    }

    pub fn to_pem(&self) -> String {
        pem::block(LABEL, &self.der)
    }

    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// The common name of who signed it.
    pub fn issuer(&self) -> Option<String> {
        last_common_name(&self.inner.tbs_cert_list.issuer)
    }

    /// The number of the list; each is one more than the one before.
    pub fn number(&self) -> u64 {
        let parts = self.inner.tbs_cert_list.crl_extensions.as_deref().unwrap_or_default();
        let part = parts.iter().find(|part| part.extn_id.to_string() == NUMBER);
        let number = part.and_then(|part| CrlNumber::from_der(part.extn_value.as_bytes()).ok());
        let bytes = number.map(|number| number.0.as_bytes().to_vec()).unwrap_or_default();
        bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }

    /// Until when it holds, in seconds since 1970.
    pub fn next_update(&self) -> Option<u64> {
        let until = self.inner.tbs_cert_list.next_update.as_ref()?;
        Some(until.to_unix_duration().as_secs())
    }

    pub fn revoked(&self) -> Vec<Revoked> {
        let list = self.inner.tbs_cert_list.revoked_certificates.iter().flatten();
        list.map(|one| Revoked {
            serial: one.serial_number.as_bytes().to_vec(),
            at: one.revocation_date.to_unix_duration().as_secs(),
        })
        .collect()
    }

    /// Whether the authority signed this list.
    pub fn is_signed_by(&self, authority: &Certificate) -> Result<bool> {
        let list = &self.inner.tbs_cert_list;
        let bytes = list.to_der().map_err(malformed(LABEL))?;
        let is_issuer = list.issuer == *authority.inner.tbs_certificate().subject();
        let (algorithm, signature) = (&self.inner.signature_algorithm, &self.inner.signature);
        Ok(is_issuer && authority.public_key().verifies(algorithm, &bytes, signature)?)
    }
}

/// An entry of the list. The reason is the one that Puppet's authority gives: the key is not
/// secret any more.
pub(super) fn entry(revoked: &Revoked, at: Time) -> Result<RevokedCert> {
    let wrong = malformed(LABEL);
    // ENUMERATED keyCompromise
    let extn_value = der::asn1::OctetString::new(vec![0x0a, 1, 1]).map_err(&wrong)?;
    let extn_id = der::asn1::ObjectIdentifier::new_unwrap("2.5.29.21");
    Ok(RevokedCert {
        serial_number: SerialNumber::new(&revoked.serial).map_err(&wrong)?,
        revocation_date: at,
        crl_entry_extensions: Some(vec![Part { extn_id, critical: false, extn_value }]),
    })
}
