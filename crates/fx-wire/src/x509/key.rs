//! Private and public keys: RSA and the curves P-256 and P-384.

use der::asn1::{BitString, ObjectIdentifier};
use der::{Decode, Encode};
use fx_crypto::Random;
use fx_crypto::digest::Algorithm;
use fx_crypto::{ec, pem as key_pem, rsa_key};
use x509_cert::spki::{
    AlgorithmIdentifierOwned, Document, DynSignatureAlgorithmIdentifier, EncodePublicKey,
    SignatureBitStringEncoding, SubjectPublicKeyInfoOwned,
};

use super::{Error, Result, malformed, pem};

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const SHA256_RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.11");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");

/// Algorithms of signatures that are verified, with the name of their digest.
const SIGNATURES: &[(&str, &str)] = &[
    ("1.2.840.113549.1.1.5", "SHA1"),
    ("1.2.840.113549.1.1.11", "SHA256"),
    ("1.2.840.113549.1.1.12", "SHA384"),
    ("1.2.840.113549.1.1.13", "SHA512"),
    ("1.2.840.10045.4.1", "SHA1"),
    ("1.2.840.10045.4.3.2", "SHA256"),
    ("1.2.840.10045.4.3.3", "SHA384"),
    ("1.2.840.10045.4.3.4", "SHA512"),
];

/// The curves: name, identifier, algorithm of its signatures.
const CURVES: &[(&str, &str, &str)] = &[
    ("prime256v1", "1.2.840.10045.3.1.7", "1.2.840.10045.4.3.2"),
    ("secp384r1", "1.3.132.0.34", "1.2.840.10045.4.3.3"),
];

/// A private key.
#[derive(Clone)]
pub struct Key {
    secret: Secret,
    public: PublicKey,
}

#[derive(Clone)]
enum Secret {
    /// In the form of PKCS#1.
    Rsa(Vec<u8>),
    Curve(&'static str, Vec<u8>),
}

impl std::fmt::Debug for Key {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Key([redacted])")
    }
}

/// A public key, as it stands in certificates and requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(SubjectPublicKeyInfoOwned);

impl Key {
    /// A new RSA key of so many bits.
    pub fn rsa(bits: usize, random: Random<'_>) -> Result<Key> {
        Key::from_rsa(rsa_key::generate(bits, random)?)
    }

    /// A new key of a curve: `prime256v1` or `secp384r1`.
    pub fn curve(name: &str, random: Random<'_>) -> Result<Key> {
        Key::from_curve(name, ec::generate(name, random)?)
    }

    /// The key of a text: the forms that OpenSSL writes without a password.
    pub fn from_pem(text: &str) -> Result<Key> {
        if let Some(bytes) = pem::blocks(text, "EC PRIVATE KEY")?.first() {
            return Key::from_sec1(bytes, None);
        }
        if let Some(bytes) = pem::blocks(text, "PRIVATE KEY")?.first() {
            let info = PrivateKeyInfo::from_der(bytes).map_err(malformed("private key"))?;
            if info.algorithm.oid == EC {
                let curve = info.algorithm.parameters.as_ref();
                let curve = curve.and_then(|any| any.decode_as::<ObjectIdentifier>().ok());
                return Key::from_sec1(info.key.as_bytes(), curve);
            }
        }
        Key::from_rsa(key_pem::rsa_private_key(text)?)
    }

    fn from_rsa(der: Vec<u8>) -> Result<Key> {
        let parts = RsaPrivate::from_der(&der).map_err(malformed("RSA private key"))?;
        let public = RsaPublic { n: parts.n, e: parts.e }.to_der().map_err(malformed("key"))?;
        let algorithm =
            AlgorithmIdentifierOwned { oid: RSA, parameters: Some(der::asn1::Any::null()) };
        let public = PublicKey::new(algorithm, &public)?;
        Ok(Key { secret: Secret::Rsa(der), public })
    }

    fn from_curve(name: &str, scalar: Vec<u8>) -> Result<Key> {
        let known = CURVES.iter().find(|(known, ..)| *known == name);
        let (name, oid, _) = known.ok_or_else(|| Error::Algorithm(name.to_owned()))?;
        let curve = ObjectIdentifier::new_unwrap(oid);
        let parameters = der::asn1::Any::from_der(&curve.to_der().map_err(malformed("key"))?);
        let parameters = Some(parameters.map_err(malformed("key"))?);
        let algorithm = AlgorithmIdentifierOwned { oid: EC, parameters };
        let public = PublicKey::new(algorithm, &ec::public(name, &scalar)?)?;
        Ok(Key { secret: Secret::Curve(name, scalar), public })
    }

    fn from_sec1(bytes: &[u8], curve: Option<ObjectIdentifier>) -> Result<Key> {
        let key = EcPrivate::from_der(bytes).map_err(malformed("EC private key"))?;
        let curve = key.curve.or(curve).ok_or(Error::Missing("name of the curve"))?;
        let curve = curve.to_string();
        let known = CURVES.iter().find(|(_, oid, _)| *oid == curve);
        let (name, ..) = known.ok_or(Error::Algorithm(curve))?;
        Key::from_curve(name, key.secret.as_bytes().to_vec())
    }

    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The text in the traditional form.
    pub fn to_pem(&self) -> Result<String> {
        match &self.secret {
            Secret::Rsa(der) => Ok(pem::block("RSA PRIVATE KEY", der)),
            Secret::Curve(_, scalar) => {
                let info = &self.public.0;
                let curve = info.algorithm.parameters.as_ref();
                let key = EcPrivate {
                    version: 1,
                    secret: der::asn1::OctetString::new(scalar.clone())
                        .map_err(malformed("key"))?,
                    curve: curve.and_then(|any| any.decode_as().ok()),
                    public: Some(info.subject_public_key.clone()),
                };
                let der = key.to_der().map_err(malformed("key"))?;
                Ok(pem::block("EC PRIVATE KEY", &der))
            }
        }
    }

    /// The DER of the key and what it is: `true` for an RSA key.
    pub fn to_der(&self) -> Result<(Vec<u8>, bool)> {
        match &self.secret {
            Secret::Rsa(der) => Ok((der.clone(), true)),
            Secret::Curve(..) => Ok((pem::first(&self.to_pem()?, "EC PRIVATE KEY")?, false)),
        }
    }

    /// The PKCS#1 form of an RSA key.
    pub fn rsa_der(&self) -> Option<&[u8]> {
        match &self.secret {
            Secret::Rsa(der) => Some(der),
            Secret::Curve(..) => None,
        }
    }

    /// The signature of bytes, with the digest that belongs to the key.
    fn signature(&self, bytes: &[u8]) -> fx_crypto::Result<Vec<u8>> {
        match &self.secret {
            Secret::Rsa(der) => rsa_key::sign(der, "SHA256", &hashed("SHA256", bytes)),
            Secret::Curve(name, scalar) => {
                let hash = if *name == "prime256v1" { "SHA256" } else { "SHA384" };
                ec::sign(name, scalar, &hashed(hash, bytes))
            }
        }
    }
}

fn hashed(name: &str, bytes: &[u8]) -> Vec<u8> {
    let algorithm = Algorithm::named(&name.to_lowercase()).unwrap_or(Algorithm::Sha256);
    algorithm.bytes(bytes)
}

impl PublicKey {
    fn new(algorithm: AlgorithmIdentifierOwned, key: &[u8]) -> Result<PublicKey> {
        let subject_public_key = BitString::from_bytes(key).map_err(malformed("public key"))?;
        Ok(PublicKey(SubjectPublicKeyInfoOwned { algorithm, subject_public_key }))
    }

    pub(super) fn from_info(info: &SubjectPublicKeyInfoOwned) -> PublicKey {
        PublicKey(info.clone())
    }

    pub(super) fn info(&self) -> &SubjectPublicKeyInfoOwned {
        &self.0
    }

    /// The key of a text: `PUBLIC KEY`, `RSA PUBLIC KEY`, or that of a certificate.
    pub fn from_pem(text: &str) -> Result<PublicKey> {
        if let Some(bytes) = pem::blocks(text, "PUBLIC KEY")?.first() {
            let info = SubjectPublicKeyInfoOwned::from_der(bytes);
            return Ok(PublicKey(info.map_err(malformed("public key"))?));
        }
        if let Some(bytes) = pem::blocks(text, "RSA PUBLIC KEY")?.first() {
            RsaPublic::from_der(bytes).map_err(malformed("RSA public key"))?;
            let parameters = Some(der::asn1::Any::null());
            return PublicKey::new(AlgorithmIdentifierOwned { oid: RSA, parameters }, bytes);
        }
        Ok(super::Certificate::from_pem(text)?.public_key())
    }

    /// The PKCS#1 form of an RSA key.
    pub fn rsa_der(&self) -> Option<&[u8]> {
        let is_rsa = self.0.algorithm.oid == RSA;
        let bytes = self.0.subject_public_key.as_bytes()?;
        (is_rsa && RsaPublic::from_der(bytes).is_ok()).then_some(bytes)
    }

    pub fn to_pem(&self) -> Result<String> {
        Ok(pem::block("PUBLIC KEY", &self.0.to_der().map_err(malformed("public key"))?))
    }

    /// Whether the signature is this key's for the bytes.
    pub(super) fn verifies(
        &self,
        algorithm: &AlgorithmIdentifierOwned,
        bytes: &[u8],
        signature: &BitString,
    ) -> Result<bool> {
        let oid = algorithm.oid.to_string();
        let known = SIGNATURES.iter().find(|(known, _)| *known == oid);
        let (_, hash) = known.ok_or(Error::Algorithm(oid))?;
        let digest = hashed(hash, bytes);
        let key = self.0.subject_public_key.raw_bytes();
        if self.0.algorithm.oid == RSA {
            return Ok(rsa_key::verify(key, hash, &digest, signature.raw_bytes())?);
        }
        let curve = self.0.algorithm.parameters.as_ref();
        let curve = curve.and_then(|any| any.decode_as::<ObjectIdentifier>().ok());
        let curve = curve.ok_or(Error::Missing("name of the curve"))?.to_string();
        let known = CURVES.iter().find(|(_, oid, _)| *oid == curve);
        let (name, ..) = known.ok_or(Error::Algorithm(curve))?;
        Ok(ec::verify(name, key, &digest, signature.raw_bytes())?)
    }
}

#[derive(der::Sequence)]
struct PrivateKeyInfo {
    version: u8,
    algorithm: AlgorithmIdentifierOwned,
    key: der::asn1::OctetString,
}

#[derive(der::Sequence)]
struct RsaPrivate {
    version: u8,
    n: der::asn1::Uint,
    e: der::asn1::Uint,
    d: der::asn1::Uint,
    p: der::asn1::Uint,
    q: der::asn1::Uint,
    dp: der::asn1::Uint,
    dq: der::asn1::Uint,
    qi: der::asn1::Uint,
}

#[derive(der::Sequence)]
struct RsaPublic {
    n: der::asn1::Uint,
    e: der::asn1::Uint,
}

#[derive(der::Sequence)]
struct EcPrivate {
    version: u8,
    secret: der::asn1::OctetString,
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT", optional = "true")]
    curve: Option<ObjectIdentifier>,
    #[asn1(context_specific = "1", tag_mode = "EXPLICIT", optional = "true")]
    public: Option<BitString>,
}

/// A signature, for the builders of the encoding crate.
pub(super) struct Signature(Vec<u8>);

impl SignatureBitStringEncoding for Signature {
    fn to_bitstring(&self) -> der::Result<BitString> {
        BitString::from_bytes(&self.0)
    }
}

impl signature::Signer<Signature> for Key {
    fn try_sign(&self, bytes: &[u8]) -> std::result::Result<Signature, signature::Error> {
        self.signature(bytes).map(Signature).map_err(|_| signature::Error::new())
    }
}

impl signature::Keypair for Key {
    type VerifyingKey = PublicKey;

    fn verifying_key(&self) -> PublicKey {
        self.public.clone()
    }
}

impl EncodePublicKey for PublicKey {
    fn to_public_key_der(&self) -> x509_cert::spki::Result<Document> {
        Ok(Document::encode_msg(&self.0)?)
    }
}

impl DynSignatureAlgorithmIdentifier for Key {
    fn signature_algorithm_identifier(&self) -> x509_cert::spki::Result<AlgorithmIdentifierOwned> {
        Ok(match &self.secret {
            Secret::Rsa(_) => AlgorithmIdentifierOwned {
                oid: SHA256_RSA,
                parameters: Some(der::asn1::Any::null()),
            },
            Secret::Curve(name, _) => {
                let oid = CURVES
                    .iter()
                    .find(|(known, ..)| known == name)
                    .map_or(CURVES[0].2, |row| row.2);
                AlgorithmIdentifierOwned {
                    oid: ObjectIdentifier::new_unwrap(oid),
                    parameters: None,
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Noise;
    use super::*;

    #[test]
    fn keys_are_written_read_and_sign() {
        let mut noise = Noise(88_172_645_463_325_252);
        let mut source = |buffer: &mut [u8]| noise.fill(buffer);
        let rsa = Key::rsa(1024, Random(&mut source)).unwrap();
        let keys = [
            rsa,
            Key::curve("prime256v1", Random(&mut source)).unwrap(),
            Key::curve("secp384r1", Random(&mut source)).unwrap(),
        ];
        for key in keys {
            let again = Key::from_pem(&key.to_pem().unwrap()).unwrap();
            assert_eq!(again.public(), key.public());
            let signature = BitString::from_bytes(&again.signature(b"text").unwrap()).unwrap();
            let algorithm = key.signature_algorithm_identifier().unwrap();
            assert_eq!(key.public().verifies(&algorithm, b"text", &signature), Ok(true));
            assert_eq!(key.public().verifies(&algorithm, b"other", &signature), Ok(false));
            assert_eq!(format!("{key:?}"), "Key([redacted])");
        }
        assert!(Key::from_pem("nothing").is_err());
        assert!(Key::curve("brainpoolP256r1", Random(&mut source)).is_err());
    }
}
