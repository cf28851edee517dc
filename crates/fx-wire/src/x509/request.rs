//! Requests for a certificate (PKCS#10), as agents make them and an authority reads them.

use der::asn1::{
    Any, BitString, ObjectIdentifier, OctetString, PrintableStringRef, SetOfVec, Utf8StringRef,
};
use der::{Decode, Encode};
use fx_crypto::digest::Algorithm;
use signature::Signer;
use x509_cert::attr::Attribute;
use x509_cert::ext::Extension as Part;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::name::Name;
use x509_cert::request::ExtensionReq;
use x509_cert::spki::{
    AlgorithmIdentifierOwned, DynSignatureAlgorithmIdentifier, SignatureBitStringEncoding,
    SubjectPublicKeyInfoOwned,
};

use super::key::{Key, PublicKey, Signature};
use super::{Error, Result, common_name, fingerprint, malformed, only_common_name, pem};

const LABEL: &str = "CERTIFICATE REQUEST";
const ALT_NAMES: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.17");
const EXTENSIONS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.14");

/// An extension that is wanted or granted: its identifier and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    pub oid: String,
    pub text: String,
}

/// What a request asks for besides the name.
#[derive(Clone, Debug, Default)]
pub struct RequestOptions {
    /// Attributes that stay with the request, as identifier and text.
    pub attributes: Vec<Extension>,
    /// Extensions for the certificate.
    pub extensions: Vec<Extension>,
    /// Other names: `DNS:x`, `IP:1.2.3.4`, or a plain DNS name.
    pub alt_names: Vec<String>,
}

/// What is signed of a request. The standard knows version 0 alone; Puppet's own tools write 2.
#[derive(Clone, Debug, PartialEq, Eq, der::Sequence)]
struct Info {
    version: u8,
    subject: Name,
    public_key: SubjectPublicKeyInfoOwned,
    #[asn1(context_specific = "0", tag_mode = "IMPLICIT")]
    attributes: SetOfVec<Attribute>,
}

#[derive(Clone, Debug, PartialEq, Eq, der::Sequence)]
struct Signed {
    info: Info,
    algorithm: AlgorithmIdentifierOwned,
    signature: BitString,
}

/// A request for a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    inner: Signed,
    der: Vec<u8>,
}

impl Request {
    /// Makes and signs a request for a name.
    pub fn new(key: &Key, name: &str, options: &RequestOptions) -> Result<Request> {
        let wrong = malformed(LABEL);
        let mut attributes = SetOfVec::new();
        for attribute in &options.attributes {
            let text = PrintableStringRef::new(&attribute.text)
                .and_then(|text| text.to_der())
                .or_else(|_| Utf8StringRef::new(&attribute.text).and_then(|text| text.to_der()));
            let value = text.and_then(|der| Any::from_der(&der)).map_err(&wrong)?;
            let values = SetOfVec::try_from(vec![value]).map_err(&wrong)?;
            let attribute = Attribute { oid: identifier(&attribute.oid)?, values };
            attributes.insert(attribute).map_err(&wrong)?;
        }
        let mut parts = Vec::new();
        for extension in &options.extensions {
            parts.push(text_extension(extension)?);
        }
        if !options.alt_names.is_empty() {
            parts.push(alt_names(&with_own(name, &options.alt_names))?);
        }
        if !parts.is_empty() {
            attributes.insert(ExtensionReq(parts).try_into().map_err(&wrong)?).map_err(&wrong)?;
        }
        let info = Info {
            version: 0,
            subject: common_name(name)?,
            public_key: key.public().info().clone(),
            attributes,
        };
        let bytes = info.to_der().map_err(&wrong)?;
        let signature: Signature = key.try_sign(&bytes).map_err(malformed(LABEL))?;
        let algorithm = key.signature_algorithm_identifier().map_err(malformed(LABEL))?;
        let signature = signature.to_bitstring().map_err(&wrong)?;
        let inner = Signed { info, algorithm, signature };
        let der = inner.to_der().map_err(&wrong)?;
        Ok(Request { inner, der })
    }

    pub fn from_pem(text: &str) -> Result<Request> {
        Request::from_der(pem::first(text, LABEL)?)
    }

    pub fn from_der(der: Vec<u8>) -> Result<Request> {
        Ok(Request { inner: Signed::from_der(&der).map_err(malformed(LABEL))?, der })
    }

    pub fn to_pem(&self) -> String {
        pem::block(LABEL, &self.der)
    }

    /// The name that is asked for; nothing if the subject is anything else than a common name.
    pub fn name(&self) -> Option<String> {
        only_common_name(&self.inner.info.subject)
    }

    /// `AA:BB:…` of the whole request.
    pub fn fingerprint(&self, algorithm: Algorithm) -> String {
        fingerprint(algorithm, &self.der)
    }

    pub fn public_key(&self) -> PublicKey {
        PublicKey::from_info(&self.inner.info.public_key)
    }

    /// Whether who made the request has its key.
    pub fn is_signed_by_its_key(&self) -> Result<bool> {
        let bytes = self.inner.info.to_der().map_err(malformed(LABEL))?;
        self.public_key().verifies(&self.inner.algorithm, &bytes, &self.inner.signature)
    }

    /// Attributes of the request other than wanted extensions.
    pub fn attributes(&self) -> Vec<Extension> {
        let attributes = self.inner.info.attributes.iter().filter(|one| one.oid != EXTENSIONS);
        let shown = attributes.filter_map(|one| {
            let text = one.values.iter().next()?;
            let text = String::from_utf8_lossy(text.value()).into_owned();
            Some(Extension { oid: one.oid.to_string(), text })
        });
        shown.collect()
    }

    /// The wanted extensions, other names left out.
    pub fn extensions(&self) -> Result<Vec<Extension>> {
        let parts = self.parts()?;
        let others = parts.iter().filter(|part| part.extn_id != ALT_NAMES);
        Ok(others
            .map(|part| Extension { oid: part.extn_id.to_string(), text: shown(part) })
            .collect())
    }

    /// The other names that are asked for, as `DNS:x` and `IP:x`.
    pub fn alt_names(&self) -> Result<Vec<String>> {
        names_of(&self.parts()?)
    }

    fn parts(&self) -> Result<Vec<Part>> {
        let wanted = self.inner.info.attributes.iter().filter(|one| one.oid == EXTENSIONS);
        let mut parts = Vec::new();
        for value in wanted.flat_map(|one| one.values.iter()) {
            let bytes = value.to_der().map_err(malformed(LABEL))?;
            parts.extend(Vec::<Part>::from_der(&bytes).map_err(malformed(LABEL))?);
        }
        Ok(parts)
    }
}

pub(super) fn identifier(oid: &str) -> Result<ObjectIdentifier> {
    ObjectIdentifier::new(oid).map_err(malformed("object identifier"))
}

/// An extension whose value is a text.
pub(super) fn text_extension(extension: &Extension) -> Result<Part> {
    let wrong = malformed("extension");
    let text =
        Utf8StringRef::new(&extension.text).and_then(|text| text.to_der()).map_err(&wrong)?;
    let extn_value = OctetString::new(text).map_err(&wrong)?;
    Ok(Part { extn_id: identifier(&extension.oid)?, critical: false, extn_value })
}

/// The text of an extension: that of a string inside, or the bytes as they are.
pub(super) fn shown(part: &Part) -> String {
    let bytes = part.extn_value.as_bytes();
    match Any::from_der(bytes) {
        Ok(any) => String::from_utf8_lossy(any.value()).into_owned(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The names with their kinds, and the common name among them, sorted and each once.
pub(super) fn with_own(name: &str, names: &[String]) -> Vec<String> {
    let kinded = |name: &str| match name.split_once(':') {
        Some(("DNS" | "IP", _)) => name.to_owned(),
        _ => format!("DNS:{name}"),
    };
    let mut all: Vec<String> = names.iter().map(|name| kinded(name)).collect();
    all.push(kinded(name));
    all.sort();
    all.dedup();
    all
}

/// The extension of other names.
pub(super) fn alt_names(names: &[String]) -> Result<Part> {
    let wrong = malformed("alternative name");
    let mut general = Vec::new();
    for name in names {
        general.push(match name.split_once(':') {
            Some(("IP", address)) => {
                let address: std::net::IpAddr = address.parse().map_err(malformed("IP address"))?;
                let bytes = match address {
                    std::net::IpAddr::V4(address) => address.octets().to_vec(),
                    std::net::IpAddr::V6(address) => address.octets().to_vec(),
                };
                GeneralName::IpAddress(OctetString::new(bytes).map_err(&wrong)?)
            }
            Some(("DNS", name)) => {
                GeneralName::DnsName(der::asn1::Ia5String::new(name).map_err(&wrong)?)
            }
            _ => return Err(Error::Malformed("alternative name", name.clone())),
        });
    }
    let bytes = SubjectAltName(general).to_der().map_err(&wrong)?;
    let extn_value = OctetString::new(bytes).map_err(&wrong)?;
    Ok(Part { extn_id: ALT_NAMES, critical: false, extn_value })
}

/// The other names among extensions, as `DNS:x` and `IP:x`.
pub(super) fn names_of(parts: &[Part]) -> Result<Vec<String>> {
    let Some(part) = parts.iter().find(|part| part.extn_id == ALT_NAMES) else {
        return Ok(Vec::new());
    };
    let names = SubjectAltName::from_der(part.extn_value.as_bytes());
    let names = names.map_err(malformed("alternative name"))?.0;
    Ok(names
        .iter()
        .map(|name| match name {
            GeneralName::DnsName(name) => format!("DNS:{name}"),
            GeneralName::IpAddress(address) => match address.as_bytes() {
                [a, b, c, d] => format!("IP:{a}.{b}.{c}.{d}"),
                bytes => match <[u8; 16]>::try_from(bytes) {
                    Ok(bytes) => format!("IP:{}", std::net::Ipv6Addr::from(bytes)),
                    Err(_) => "IP:".into(),
                },
            },
            other => format!("other:{other:?}"),
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use fx_crypto::Random;

    use super::super::tests::Noise;
    use super::*;

    #[test]
    fn a_request_says_what_was_asked_for() {
        let mut noise = Noise(5);
        let mut source = |buffer: &mut [u8]| noise.fill(buffer);
        let key = Key::curve("prime256v1", Random(&mut source)).unwrap();
        let role = Extension { oid: "1.3.6.1.4.1.34380.1.1.13".into(), text: "web é".into() };
        let password = Extension { oid: "1.2.840.113549.1.9.7".into(), text: "s3cret".into() };
        let options = RequestOptions {
            attributes: vec![password.clone()],
            extensions: vec![role.clone()],
            alt_names: vec!["www.example.com".into(), "IP:10.0.0.1".into(), "IP:::1".into()],
        };
        let request = Request::new(&key, "node1", &options).unwrap();
        let read = Request::from_pem(&request.to_pem()).unwrap();
        assert_eq!(read, request);
        assert_eq!(read.name().as_deref(), Some("node1"));
        assert_eq!(read.is_signed_by_its_key(), Ok(true));
        assert_eq!(read.attributes(), [password]);
        assert_eq!(read.extensions(), Ok(vec![role]));
        let names = ["DNS:node1", "DNS:www.example.com", "IP:10.0.0.1", "IP:::1"];
        assert_eq!(read.alt_names().unwrap(), names);
        assert_eq!(read.fingerprint(Algorithm::Sha256).len(), 95);
    }

    #[test]
    fn a_request_of_another_version_is_read() {
        let mut noise = Noise(7);
        let mut source = |buffer: &mut [u8]| noise.fill(buffer);
        let key = Key::curve("prime256v1", Random(&mut source)).unwrap();
        let mut signed = Request::new(&key, "node1", &RequestOptions::default()).unwrap().inner;
        signed.info.version = 2;
        let bytes = signed.info.to_der().unwrap();
        let signature: Signature = key.try_sign(&bytes).unwrap();
        signed.signature = signature.to_bitstring().unwrap();
        let read = Request::from_der(signed.to_der().unwrap()).unwrap();
        assert_eq!(read.is_signed_by_its_key(), Ok(true));
    }

    #[test]
    fn a_changed_request_is_not_its_keys() {
        let mut noise = Noise(6);
        let mut source = |buffer: &mut [u8]| noise.fill(buffer);
        let key = Key::curve("prime256v1", Random(&mut source)).unwrap();
        let request = Request::new(&key, "node1", &RequestOptions::default()).unwrap();
        let mut der = request.der.clone();
        let at = der.windows(5).position(|part| part == b"node1").unwrap();
        der[at + 4] = b'2';
        let changed = Request::from_der(der).unwrap();
        assert_eq!(changed.name().as_deref(), Some("node2"));
        assert_eq!(changed.is_signed_by_its_key(), Ok(false));
        assert!(Request::from_pem("garbage").is_err());
        assert!(Request::from_der(vec![0x30, 0x80, 1]).is_err());
    }
}
