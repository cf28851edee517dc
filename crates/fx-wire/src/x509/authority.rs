//! The authority that signs certificates and lists of revoked ones.

use std::time::Duration;

use der::Encode;
use der::asn1::{BitString, GeneralizedTime, ObjectIdentifier, OctetString, UtcTime};
use signature::Signer;
use x509_cert::builder::profile::BuilderProfile;
use x509_cert::builder::{Builder, CertificateBuilder};
use x509_cert::certificate::{TbsCertificate, Version};
use x509_cert::crl::{CertificateList, TbsCertList};
use x509_cert::ext::Extension as Part;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{AuthorityKeyIdentifier, CrlNumber, SubjectKeyIdentifier};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::{
    DynSignatureAlgorithmIdentifier, SignatureBitStringEncoding, SubjectPublicKeyInfoRef,
};
use x509_cert::time::{Time, Validity};

use super::certificate::Certificate;
use super::key::{Key, PublicKey, Signature};
use super::request::{Extension, alt_names, text_extension, with_own};
use super::revocations::{Revocations, Revoked, entry};
use super::{Error, Result, common_name, malformed};

/// The tag of a sequence.
const SEQUENCE: u8 = 0x30;

const DAY: u64 = 24 * 60 * 60;

/// What authorities of Puppet write into the comment of each certificate.
const COMMENT: &str = "Puppet Server Internal Certificate";

/// A key and the certificate for it with which others are signed.
#[derive(Clone, Debug)]
pub struct Authority {
    key: Key,
    certificate: Certificate,
}

/// What a certificate is to say.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    pub name: &'a str,
    pub public_key: PublicKey,
    /// As bytes, the first of which is not zero.
    pub serial: Vec<u8>,
    /// Names other than the common name, which is always among them.
    pub alt_names: Vec<String>,
    pub extensions: Vec<Extension>,
    /// For how many seconds it is valid.
    pub lifetime: u64,
}

impl Authority {
    /// An authority from what is kept of it; the key must be that of the certificate.
    pub fn new(key: Key, certificate: Certificate) -> Result<Authority> {
        if certificate.public_key() != *key.public() {
            return Err(Error::Malformed("authority", "the key is not the certificate's".into()));
        }
        Ok(Authority { key, certificate })
    }

    /// A new authority that signs itself, valid from a day before `now`.
    pub fn root(key: Key, name: &str, serial: u64, now: u64, lifetime: u64) -> Result<Authority> {
        let profile = Profile {
            subject: common_name(name)?,
            issuer: common_name(name)?,
            of: Use::Authority { above: None },
        };
        let certificate = issue(&key, profile, &number(serial), now, lifetime, key.public())?;
        Authority::new(key, certificate)
    }

    /// A new authority that this one signs.
    pub fn intermediate(
        &self,
        key: Key,
        name: &str,
        serial: u64,
        now: u64,
        lifetime: u64,
    ) -> Result<Authority> {
        let above = Above::of(&self.certificate)?;
        let profile = Profile {
            subject: common_name(name)?,
            issuer: self.name(),
            of: Use::Authority { above: Some(above) },
        };
        let certificate = issue(&self.key, profile, &number(serial), now, lifetime, key.public())?;
        Authority::new(key, certificate)
    }

    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    pub fn key(&self) -> &Key {
        &self.key
    }

    fn name(&self) -> Name {
        self.certificate.inner.tbs_certificate().subject().clone()
    }

    /// Signs a certificate for a node, valid from a day before `now`.
    pub fn sign(&self, wanted: &Wanted<'_>, now: u64) -> Result<Certificate> {
        let of = Use::Node {
            above: Above::of(&self.certificate)?,
            alt_names: alt_names(&with_own(wanted.name, &wanted.alt_names))?,
            extensions: wanted.extensions.iter().map(text_extension).collect::<Result<_>>()?,
        };
        let profile = Profile { subject: common_name(wanted.name)?, issuer: self.name(), of };
        issue(&self.key, profile, &wanted.serial, now, wanted.lifetime, &wanted.public_key)
    }

    /// Signs a list of revoked certificates. The list names the key that signed it; the builder of
    /// the encoding crate would name the one above it, and verifiers would not find the list.
    pub fn revoke(
        &self,
        revoked: &[Revoked],
        crl_number: u64,
        now: u64,
        lifetime: u64,
    ) -> Result<Revocations> {
        let wrong = malformed("list of revoked certificates");
        let crl_number = CrlNumber(der::asn1::Uint::new(&number(crl_number)).map_err(&wrong)?);
        let parts = [
            part("2.5.29.20", false, crl_number.to_der().map_err(&wrong)?),
            Above::of(&self.certificate)?.extension(),
        ];
        let entries: Vec<_> =
            revoked.iter().map(|one| entry(one, time(one.at)?)).collect::<Result<_>>()?;
        let algorithm =
            self.key.signature_algorithm_identifier().map_err(malformed("signature"))?;
        let tbs_cert_list = TbsCertList {
            version: Version::V2,
            signature: algorithm.clone(),
            issuer: self.name(),
            // A clock that is a little behind must not take the list for one of the future.
            this_update: time(now.saturating_sub(DAY))?,
            next_update: Some(time(now + lifetime)?),
            revoked_certificates: (!entries.is_empty()).then_some(entries),
            crl_extensions: Some(parts.into_iter().collect::<der::Result<_>>().map_err(&wrong)?),
        };
        let signature = signature(&self.key, &tbs_cert_list.to_der().map_err(&wrong)?)?;
        Revocations::new(CertificateList {
            tbs_cert_list,
            signature_algorithm: algorithm,
            signature,
        })
    }
}

fn number(number: u64) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count().min(7);
    bytes[zeros..].to_vec()
}

/// A time in the form that belongs to its century.
fn time(seconds: u64) -> Result<Time> {
    let wrong = malformed("time");
    let since = Duration::from_secs(seconds);
    Ok(match UtcTime::from_unix_duration(since) {
        Ok(time) => Time::UtcTime(time),
        Err(_) => Time::GeneralTime(GeneralizedTime::from_unix_duration(since).map_err(&wrong)?),
    })
}

fn issue(
    key: &Key,
    profile: impl BuilderProfile,
    serial: &[u8],
    now: u64,
    lifetime: u64,
    public: &PublicKey,
) -> Result<Certificate> {
    let wrong = malformed("certificate");
    let serial = SerialNumber::new(serial).map_err(malformed("serial number"))?;
    let validity = Validity::new(time(now.saturating_sub(DAY))?, time(now + lifetime)?);
    let builder = CertificateBuilder::new(profile, serial, validity, public.info().clone());
    let mut builder = builder.map_err(&wrong)?;
    let bytes = builder.finalize(key).map_err(&wrong)?;
    Certificate::new(builder.assemble(signature(key, &bytes)?, key).map_err(&wrong)?)
}

fn signature(key: &Key, bytes: &[u8]) -> Result<BitString> {
    let signature: Signature = key.try_sign(bytes).map_err(malformed("signature"))?;
    signature.to_bitstring().map_err(malformed("signature"))
}

/// What a certificate says about who signed it.
struct Above {
    key: OctetString,
    issuer: Name,
    serial: SerialNumber,
}

impl Above {
    fn of(certificate: &Certificate) -> Result<Above> {
        let tbs = certificate.inner.tbs_certificate();
        let key = key_identifier(tbs.subject_public_key_info().subject_public_key.raw_bytes());
        let key = key.map_err(malformed("key identifier"))?;
        Ok(Above { key, issuer: tbs.issuer().clone(), serial: tbs.serial_number().clone() })
    }

    fn extension(&self) -> der::Result<Part> {
        let identifier = AuthorityKeyIdentifier {
            key_identifier: Some(self.key.clone()),
            authority_cert_issuer: Some(vec![GeneralName::DirectoryName(self.issuer.clone())]),
            authority_cert_serial_number: Some(self.serial.clone()),
        };
        part("2.5.29.35", false, identifier.to_der()?)
    }
}

/// The SHA-1 of the bits of a public key, as everybody names keys.
fn key_identifier(key: &[u8]) -> der::Result<OctetString> {
    OctetString::new(fx_crypto::digest::Algorithm::Sha1.bytes(key))
}

fn part(oid: &str, critical: bool, value: Vec<u8>) -> der::Result<Part> {
    Ok(Part {
        extn_id: ObjectIdentifier::new(oid)?,
        critical,
        extn_value: OctetString::new(value)?,
    })
}

fn subject_key(key: SubjectPublicKeyInfoRef<'_>) -> der::Result<Part> {
    let identifier = SubjectKeyIdentifier(key_identifier(key.subject_public_key.raw_bytes())?);
    part("2.5.29.14", false, identifier.to_der()?)
}

/// A comment in the form that Netscape once had for it.
fn comment() -> der::Result<Part> {
    let text = der::asn1::Ia5StringRef::new(COMMENT)?.to_der()?;
    part("2.16.840.1.113730.1.13", false, text)
}

/// What a certificate says besides its names.
enum Use {
    /// It signs others.
    Authority {
        above: Option<Above>,
    },
    Node {
        above: Above,
        alt_names: Part,
        extensions: Vec<Part>,
    },
}

/// A certificate to be made.
struct Profile {
    subject: Name,
    issuer: Name,
    of: Use,
}

impl BuilderProfile for Profile {
    fn get_issuer(&self, _: &Name) -> Name {
        self.issuer.clone()
    }

    fn get_subject(&self) -> Name {
        self.subject.clone()
    }

    fn build_extensions(
        &self,
        key: SubjectPublicKeyInfoRef<'_>,
        _: SubjectPublicKeyInfoRef<'_>,
        _: &TbsCertificate,
    ) -> x509_cert::builder::Result<Vec<Part>> {
        let mut parts;
        match &self.of {
            Use::Authority { above } => {
                parts = vec![
                    // CA:TRUE
                    part("2.5.29.19", true, vec![SEQUENCE, 3, 1, 1, 0xff])?,
                    // keyCertSign and cRLSign
                    part("2.5.29.15", true, vec![3, 2, 1, 0x06])?,
                    subject_key(key)?,
                    comment()?,
                ];
                if let Some(above) = above {
                    parts.push(above.extension()?);
                }
            }
            Use::Node { above, alt_names, extensions } => {
                // serverAuth and clientAuth
                let uses = [6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 1, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 2];
                parts = vec![
                    comment()?,
                    above.extension()?,
                    // CA:FALSE
                    part("2.5.29.19", true, vec![SEQUENCE, 0])?,
                    part("2.5.29.37", true, [&[SEQUENCE, 20], &uses[..]].concat())?,
                    // digitalSignature and keyEncipherment
                    part("2.5.29.15", true, vec![3, 2, 5, 0xa0])?,
                    subject_key(key)?,
                    alt_names.clone(),
                ];
                parts.extend(extensions.iter().cloned());
            }
        }
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use fx_crypto::Random;

    use super::super::tests::Noise;
    use super::*;

    const NOW: u64 = 1_790_000_000;
    const YEAR: u64 = 365 * DAY;

    fn authorities() -> (Authority, Authority, Key) {
        let mut noise = Noise(11);
        let mut source = |buffer: &mut [u8]| noise.fill(buffer);
        let mut key = || Key::curve("prime256v1", Random(&mut source)).unwrap();
        let root = Authority::root(key(), "Puppet Root CA: 1", 1, NOW, 15 * YEAR).unwrap();
        let signing = root.intermediate(key(), "Puppet CA: puppet", 2, NOW, 15 * YEAR).unwrap();
        (root, signing, key())
    }

    #[test]
    fn a_certificate_is_signed_with_names_and_extensions() {
        let (root, signing, key) = authorities();
        let role = Extension { oid: "1.3.6.1.4.1.34380.1.1.13".into(), text: "web".into() };
        let wanted = Wanted {
            name: "node1",
            public_key: key.public().clone(),
            serial: vec![1, 2],
            alt_names: vec!["www".into()],
            extensions: vec![role.clone()],
            lifetime: 5 * YEAR,
        };
        let made = signing.sign(&wanted, NOW).unwrap();
        let read = Certificate::from_pem(&made.to_pem()).unwrap();
        assert_eq!(read, made);
        assert_eq!(read.name().as_deref(), Some("node1"));
        assert_eq!(read.issuer().as_deref(), Some("Puppet CA: puppet"));
        assert_eq!((read.serial(), read.validity()), (vec![1, 2], (NOW - DAY, NOW + 5 * YEAR)));
        assert_eq!(read.alt_names().unwrap(), ["DNS:node1", "DNS:www"]);
        assert_eq!(read.extensions(), [role]);
        assert_eq!(signing.certificate().has_signed(&read), Ok(true));
        assert_eq!(root.certificate().has_signed(&read), Ok(false));
        assert_eq!(root.certificate().has_signed(signing.certificate()), Ok(true));
        assert_eq!(root.certificate().has_signed(root.certificate()), Ok(true));
        assert!(Authority::new(key, read).is_ok());
        assert!(Authority::new(root.key().clone(), made).is_err());
    }

    #[test]
    fn a_list_names_what_is_revoked() {
        let (root, signing, _) = authorities();
        let none = signing.revoke(&[], 0, NOW, 5 * YEAR).unwrap();
        assert_eq!((none.number(), none.revoked()), (0, vec![]));
        let gone = [Revoked { serial: vec![5], at: NOW }, Revoked { serial: vec![1, 0], at: NOW }];
        let list = signing.revoke(&gone, 300, NOW, 5 * YEAR).unwrap();
        let read = Revocations::bundle(&(none.to_pem() + &list.to_pem())).unwrap();
        assert_eq!(read, [none, list.clone()]);
        assert_eq!((list.number(), list.revoked()), (300, gone.to_vec()));
        assert_eq!(list.issuer().as_deref(), Some("Puppet CA: puppet"));
        assert_eq!(list.is_signed_by(signing.certificate()), Ok(true));
        assert_eq!(list.is_signed_by(root.certificate()), Ok(false));
        // Verifiers look for the key of the signer.
        let own = key_identifier(signing.key().public().info().subject_public_key.raw_bytes());
        let own = own.unwrap().into_bytes();
        assert!(list.der().windows(own.len()).any(|part| *part == *own));
    }

    #[test]
    fn times_beyond_2049_have_the_longer_form() {
        let (root, ..) = authorities();
        let far = Authority::root(root.key().clone(), "x", 1, NOW, 60 * YEAR).unwrap();
        assert_eq!(far.certificate().validity().1, NOW + 60 * YEAR);
    }
}
