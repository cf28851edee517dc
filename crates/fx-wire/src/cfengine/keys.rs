//! Keys of hosts: RSA in the forms that CFEngine keeps them in, and the digest that names one.

use std::fmt;

use der::asn1::Uint;
use der::{Decode, Encode};
use fx_crypto::cipher::Cipher;
use fx_crypto::digest::Algorithm;
use fx_crypto::{Random, rsa_key};
use fx_formats::base64;

use crate::x509;

/// Old releases encrypted their keys with this, for everybody to read.
const PASSPHRASE: &[u8] = b"Cfengine passphrase";
const PRIVATE: &str = "RSA PRIVATE KEY";
const BEGIN: &str = "-----BEGIN RSA PRIVATE KEY-----";
const END: &str = "-----END RSA PRIVATE KEY-----";
const PUBLIC: &str = "RSA PUBLIC KEY";

/// What is wrong with a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("not a key")]
    Malformed,
    #[error("the key is encrypted with another passphrase")]
    Passphrase,
    #[error("RSA Exponent too small or not odd")]
    Exponent,
    #[error("{0}")]
    Crypto(#[from] fx_crypto::Error),
}

/// What a host is known by: the digest of its public key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(String);

impl Digest {
    /// `MD5=` or `SHA=` and hexadecimal digits.
    pub fn parse(text: &str) -> Option<Digest> {
        let (kind, digits) = text.split_once('=')?;
        let length = match kind {
            "MD5" => 32,
            "SHA" => 64,
            _ => return None,
        };
        let is_hex = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (digits.len() == length && is_hex).then(|| Digest(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A public key: its two numbers, without zeros before them.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    modulus: Vec<u8>,
    exponent: Vec<u8>,
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "PublicKey({})", self.digest())
    }
}

#[derive(der::Sequence)]
struct Numbers {
    n: Uint,
    e: Uint,
}

impl PublicKey {
    /// A key of its numbers.
    pub fn new(modulus: &[u8], exponent: &[u8]) -> Result<PublicKey, KeyError> {
        let bare = |bytes: &[u8]| {
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            bytes[zeros..].to_vec()
        };
        let key = PublicKey { modulus: bare(modulus), exponent: bare(exponent) };
        if !(64..=2048).contains(&key.modulus.len()) || key.exponent.len() > 8 {
            return Err(KeyError::Malformed);
        }
        match key.exponent.as_slice() {
            [] | [1] => Err(KeyError::Exponent),
            [.., last] if last % 2 == 0 => Err(KeyError::Exponent),
            _ => Ok(key),
        }
    }

    /// The key of its PKCS#1 form.
    pub fn from_der(der: &[u8]) -> Result<PublicKey, KeyError> {
        let numbers = Numbers::from_der(der).map_err(|_| KeyError::Malformed)?;
        PublicKey::new(numbers.n.as_bytes(), numbers.e.as_bytes())
    }

    pub fn from_pem(text: &str) -> Result<PublicKey, KeyError> {
        let blocks = x509::blocks(text, PUBLIC).map_err(|_| KeyError::Malformed)?;
        PublicKey::from_der(blocks.first().ok_or(KeyError::Malformed)?)
    }

    /// The PKCS#1 form.
    pub fn to_der(&self) -> Vec<u8> {
        let numbers = Uint::new(&self.modulus)
            .and_then(|n| Ok(Numbers { n, e: Uint::new(&self.exponent)? }))
            .and_then(|numbers| numbers.to_der());
        numbers.unwrap_or_default()
    }

    pub fn to_pem(&self) -> String {
        block(PUBLIC, &self.to_der())
    }

    pub fn modulus(&self) -> &[u8] {
        &self.modulus
    }

    pub fn exponent(&self) -> &[u8] {
        &self.exponent
    }

    /// Bytes of what is encrypted with it.
    pub fn size(&self) -> usize {
        self.modulus.len()
    }

    /// The digest of the community edition.
    pub fn digest(&self) -> Digest {
        self.digest_as(Algorithm::Md5)
    }

    fn digest_as(&self, algorithm: Algorithm) -> Digest {
        let numbers = [self.modulus.as_slice(), &self.exponent].concat();
        let kind = if algorithm == Algorithm::Md5 { "MD5" } else { "SHA" };
        Digest(format!("{kind}={}", algorithm.hex(&numbers)))
    }

    /// Whether a digest of either edition is that of this key.
    pub fn is(&self, digest: &str) -> bool {
        [Algorithm::Md5, Algorithm::Sha256].iter().any(|kind| self.digest_as(*kind).0 == digest)
    }

    pub fn encrypt(&self, text: &[u8], random: Random<'_>) -> Result<Vec<u8>, KeyError> {
        Ok(rsa_key::encrypt(&self.to_der(), text, random)?)
    }
}

/// A private key.
#[derive(Clone)]
pub struct PrivateKey {
    der: Vec<u8>,
    public: PublicKey,
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("PrivateKey([redacted])")
    }
}

impl PrivateKey {
    /// A new key of so many bits.
    pub fn generate(bits: usize, random: Random<'_>) -> Result<PrivateKey, KeyError> {
        PrivateKey::from_der(rsa_key::generate(bits, random)?)
    }

    fn from_der(der: Vec<u8>) -> Result<PrivateKey, KeyError> {
        let mut parts = fx_crypto::der::Reader(&der).expect(fx_crypto::der::SEQUENCE)?.inside();
        parts.expect(fx_crypto::der::INTEGER)?;
        let modulus = parts.expect(fx_crypto::der::INTEGER)?.content;
        let exponent = parts.expect(fx_crypto::der::INTEGER)?.content;
        let public = PublicKey::new(modulus, exponent)?;
        Ok(PrivateKey { der, public })
    }

    /// The key of a text, plain or encrypted with the passphrase that everybody knows.
    pub fn from_pem(text: &str) -> Result<PrivateKey, KeyError> {
        let body = text
            .split_once(BEGIN)
            .and_then(|(_, rest)| rest.split_once(END))
            .map(|(body, _)| body)
            .ok_or(KeyError::Malformed)?;
        let info = body.lines().find_map(|line| line.strip_prefix("DEK-Info:"));
        let packed: String =
            body.lines().filter(|line| !line.contains(':')).map(str::trim).collect();
        let bytes = base64::decode(&packed).ok_or(KeyError::Malformed)?;
        match info {
            None => PrivateKey::from_der(bytes),
            Some(info) => PrivateKey::from_der(opened(info.trim(), &bytes)?),
        }
    }

    pub fn to_pem(&self) -> String {
        block(PRIVATE, &self.der)
    }

    /// The PKCS#1 form.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    pub fn decrypt(&self, text: &[u8], random: Random<'_>) -> Result<Vec<u8>, KeyError> {
        Ok(rsa_key::decrypt(&self.der, text, random)?)
    }
}

// A traditional key that is encrypted: the key of the cipher is made of the passphrase and the
// first eight bytes of what it starts with.
fn opened(info: &str, bytes: &[u8]) -> Result<Vec<u8>, KeyError> {
    let (name, iv) = info.split_once(',').ok_or(KeyError::Malformed)?;
    let cipher = Cipher::by_name(name).ok_or(KeyError::Passphrase)?;
    let iv = unhex(iv.trim()).ok_or(KeyError::Malformed)?;
    let salt = iv.get(..8).ok_or(KeyError::Malformed)?;
    let (mut key, mut last) = (Vec::new(), Vec::new());
    while key.len() < cipher.key_len {
        let text = [last.as_slice(), PASSPHRASE, salt].concat();
        last = Algorithm::Md5.bytes(&text);
        key.extend_from_slice(&last);
    }
    key.truncate(cipher.key_len);
    cipher.decrypt(&key, &iv, bytes, true, &[], &[]).map_err(|_| KeyError::Passphrase)
}

/// Bytes of hexadecimal digits.
fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()).collect()
}

fn block(label: &str, der: &[u8]) -> String {
    let text = base64::encode(der);
    let lines = text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line) + "\n");
    format!("-----BEGIN {label}-----\n{}-----END {label}-----\n", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x509::tests::Noise;

    fn key() -> PrivateKey {
        let mut noise = Noise(88_172_645_463_325_252);
        PrivateKey::generate(1024, Random(&mut |buffer: &mut [u8]| noise.fill(buffer))).unwrap()
    }

    #[test]
    fn keys_are_written_and_read() {
        let key = key();
        let again = PrivateKey::from_pem(&key.to_pem()).unwrap();
        assert_eq!(again.public(), key.public());
        let public = PublicKey::from_pem(&key.public().to_pem()).unwrap();
        assert_eq!(&public, key.public());
        assert_eq!(format!("{key:?}"), "PrivateKey([redacted])");
        assert!(public.is(public.digest().as_str()));
        assert!(!public.is("MD5=00"));
    }

    #[test]
    fn digests_are_texts_of_known_kinds() {
        for (text, good) in [
            ("MD5=617eb383deffef843ea856b129d0a423", true),
            ("MD5=617EB383deffef843ea856b129d0a423", false),
            ("MD5=617e", false),
            ("SHA=617eb383deffef843ea856b129d0a423", false),
            ("root", false),
            ("../../etc/passwd", false),
        ] {
            assert_eq!(Digest::parse(text).is_some(), good, "{text}");
        }
    }

    #[test]
    fn bad_exponents_and_texts_are_refused() {
        assert_eq!(PublicKey::new(&[7; 128], &[1]).unwrap_err(), KeyError::Exponent);
        assert_eq!(PublicKey::new(&[7; 128], &[4]).unwrap_err(), KeyError::Exponent);
        assert_eq!(PublicKey::new(&[7; 8], &[3]).unwrap_err(), KeyError::Malformed);
        assert!(PublicKey::from_pem("nothing").is_err());
        assert!(PrivateKey::from_pem("-----BEGIN RSA PRIVATE KEY-----\n").is_err());
        let other = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: DES-EDE3-CBC,0011223344556677\n\nAAAAAAAAAAA=\n-----END RSA PRIVATE KEY-----\n";
        assert_eq!(PrivateKey::from_pem(other).unwrap_err(), KeyError::Passphrase);
    }
}
