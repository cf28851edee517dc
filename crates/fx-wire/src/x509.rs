//! Certificates as Puppet's agents and servers use them: keys, requests, certificates, lists of
//! revoked ones, and the authority that signs.

mod authority;
mod certificate;
mod key;
pub mod oids;
mod pem;
mod request;
mod revocations;

pub use authority::{Authority, Wanted};
pub use certificate::Certificate;
pub use key::{Key, PublicKey};
pub use pem::blocks;
pub use request::{Extension, Request, RequestOptions};
pub use revocations::{Revocations, Revoked};

use der::asn1::{ObjectIdentifier, SetOfVec};
use der::{Decode, Encode};
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::name::{Name, RdnSequence, RelativeDistinguishedName};

/// What is wrong with what was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("no {0} was found")]
    Missing(&'static str),
    #[error("not a {0}: {1}")]
    Malformed(&'static str, String),
    #[error("{0}")]
    Crypto(#[from] fx_crypto::Error),
    #[error("the key or signature algorithm {0} is not supported")]
    Algorithm(String),
}

pub type Result<T> = std::result::Result<T, Error>;

/// Turns an error of the encoding into one of ours.
fn malformed<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> Error {
    move |why| Error::Malformed(what, why.to_string())
}

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");

/// A name that consists of a common name alone.
fn common_name(text: &str) -> Result<Name> {
    let wrong = malformed("name");
    let value = der::asn1::Any::from_der(
        &der::asn1::Utf8StringRef::new(text).and_then(|text| text.to_der()).map_err(&wrong)?,
    )
    .map_err(&wrong)?;
    let part = AttributeTypeAndValue { oid: COMMON_NAME, value };
    let set = SetOfVec::try_from(vec![part]).map_err(&wrong)?;
    let sequence = RdnSequence::from(vec![RelativeDistinguishedName::from(set)]);
    sequence.to_der().and_then(|der| Name::from_der(&der)).map_err(&wrong)
}

/// The common name of a name, if it has one and nothing else.
fn only_common_name(name: &Name) -> Option<String> {
    let mut parts = name.iter();
    let (first, None) = (parts.next()?, parts.next()) else { return None };
    (first.oid == COMMON_NAME).then(|| String::from_utf8_lossy(first.value.value()).into_owned())
}

/// The last common name of a name.
fn last_common_name(name: &Name) -> Option<String> {
    let found = name.iter().filter(|part| part.oid == COMMON_NAME).last()?;
    Some(String::from_utf8_lossy(found.value.value()).into_owned())
}

/// `AA:BB:…` of a digest.
fn fingerprint(algorithm: fx_crypto::digest::Algorithm, der: &[u8]) -> String {
    let hex = algorithm.hex(der).to_uppercase();
    let pairs: Vec<&str> = (0..hex.len() / 2).map(|at| &hex[2 * at..2 * at + 2]).collect();
    pairs.join(":")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Numbers that look random enough for a test and are the same each time.
    pub(crate) struct Noise(pub(crate) u64);

    impl Noise {
        pub(crate) fn fill(&mut self, buffer: &mut [u8]) {
            for byte in buffer {
                self.0 ^= self.0 << 13;
                self.0 ^= self.0 >> 7;
                self.0 ^= self.0 << 17;
                *byte = (self.0 >> 32) as u8;
            }
        }
    }

    #[test]
    fn names_are_written_and_read() {
        let name = common_name("node1.example.com").unwrap();
        assert_eq!(only_common_name(&name).as_deref(), Some("node1.example.com"));
        assert_eq!(name.to_string(), "CN=node1.example.com");
    }
}
