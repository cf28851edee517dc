//! RSA with keys as PKCS#1 DER: making, signing, and encryption with PKCS#1 v1.5 padding. Signatures
//! are made and verified by AWS-LC.

use rsa::pkcs1::{DecodeRsaPrivateKey, DecodeRsaPublicKey, EncodeRsaPrivateKey};
use rsa::{Pkcs1v15Encrypt, RsaPrivateKey, RsaPublicKey};

use crate::{Error, Random, Result};

/// The object identifier and NULL in front of a digest, by its name.
const PREFIXES: &[(&str, usize, &[u8])] = &[
    (
        "MD5",
        16,
        &[0x30, 0x20, 0x30, 0x0c, 6, 8, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, 5, 5, 0, 4, 16],
    ),
    ("SHA1", 20, &[0x30, 0x21, 0x30, 9, 6, 5, 0x2b, 0x0e, 3, 2, 0x1a, 5, 0, 4, 20]),
    (
        "SHA224",
        28,
        &[0x30, 0x2d, 0x30, 0x0d, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 4, 5, 0, 4, 28],
    ),
    (
        "SHA256",
        32,
        &[0x30, 0x31, 0x30, 0x0d, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1, 5, 0, 4, 32],
    ),
    (
        "SHA384",
        48,
        &[0x30, 0x41, 0x30, 0x0d, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 2, 5, 0, 4, 48],
    ),
    (
        "SHA512",
        64,
        &[0x30, 0x51, 0x30, 0x0d, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 3, 5, 0, 4, 64],
    ),
];

/// A digest behind its prefix.
fn prefixed(hash: &str, digest: &[u8]) -> Result<Vec<u8>> {
    let (_, len, prefix) =
        PREFIXES.iter().find(|(name, ..)| *name == hash).ok_or(Error("unsupported digest"))?;
    if digest.len() != *len {
        return Err(Error("unsupported digest"));
    }
    Ok([prefix, digest].concat())
}

/// A public key that was read, to verify with more than once.
pub struct PublicKey(fx_rsa::PublicKey);

impl PublicKey {
    pub fn from_der(der: &[u8]) -> Result<PublicKey> {
        fx_rsa::PublicKey::from_der(der).map(PublicKey).ok_or(Error("not an RSA public key"))
    }

    /// Whether the signature is that of the key for a digest made with the named hash.
    pub fn verify(&self, hash: &str, digest: &[u8], signature: &[u8]) -> Result<bool> {
        Ok(self.0.holds(&prefixed(hash, digest)?, signature))
    }

    /// Whether a signature without a digest holds exactly this text.
    pub fn verify_text(&self, text: &[u8], signature: &[u8]) -> bool {
        self.0.holds(text, signature)
    }
}

fn private(der: &[u8]) -> Result<RsaPrivateKey> {
    RsaPrivateKey::from_pkcs1_der(der).map_err(|_| Error("not an RSA private key"))
}

fn public(der: &[u8]) -> Result<RsaPublicKey> {
    RsaPublicKey::from_pkcs1_der(der).map_err(|_| Error("not an RSA public key"))
}

/// A private key that was read, to sign with more than once.
pub struct PrivateKey(fx_rsa::PrivateKey);

impl PrivateKey {
    pub fn from_der(der: &[u8]) -> Result<PrivateKey> {
        fx_rsa::PrivateKey::from_der(der).map(PrivateKey).ok_or(Error("not an RSA private key"))
    }

    /// Signs a digest made with the named hash.
    pub fn sign(&self, hash: &str, digest: &[u8]) -> Result<Vec<u8>> {
        self.sign_text(&prefixed(hash, digest)?)
    }

    /// The text itself under the padding of a signature, without a digest: what OpenSSL calls
    /// encryption with the private key.
    pub fn sign_text(&self, text: &[u8]) -> Result<Vec<u8>> {
        self.0.sign_text(text).ok_or(Error("data too large for key size"))
    }
}

/// A new key pair with the exponent 65537.
pub fn generate(bits: usize, mut random: Random<'_>) -> Result<Vec<u8>> {
    if !(1024..=16384).contains(&bits) {
        return Err(Error("key size not supported"));
    }
    let key = RsaPrivateKey::new(&mut random, bits).map_err(|_| Error("key generation failed"))?;
    let der = key.to_pkcs1_der().map_err(|_| Error("key generation failed"))?;
    Ok(der.as_bytes().to_vec())
}

/// Signs a digest made with the named hash.
pub fn sign(key: &[u8], hash: &str, digest: &[u8]) -> Result<Vec<u8>> {
    PrivateKey::from_der(key)?.sign(hash, digest)
}

/// Whether the signature is that of the key for the digest.
pub fn verify(key: &[u8], hash: &str, digest: &[u8], signature: &[u8]) -> Result<bool> {
    PublicKey::from_der(key)?.verify(hash, digest, signature)
}

pub fn encrypt(key: &[u8], text: &[u8], mut random: Random<'_>) -> Result<Vec<u8>> {
    public(key)?
        .encrypt(&mut random, Pkcs1v15Encrypt, text)
        .map_err(|_| Error("data too large for key size"))
}

pub fn decrypt(key: &[u8], text: &[u8], mut random: Random<'_>) -> Result<Vec<u8>> {
    private(key)?
        .decrypt_blinded(&mut random, Pkcs1v15Encrypt, text)
        .map_err(|_| Error("padding check failed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::der::{INTEGER, Reader, SEQUENCE};
    use rsa::Pkcs1v15Sign;
    use rsa::pkcs1::EncodeRsaPublicKey;

    /// Numbers that look random enough for a test and are the same each time.
    fn fill(buffer: &mut [u8], state: &mut u64) {
        for byte in buffer {
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
            *byte = (*state >> 32) as u8;
        }
    }

    #[test]
    fn a_new_key_signs_and_opens_what_its_public_half_shut() {
        let mut state = 88_172_645_463_325_252;
        let mut source = |b: &mut [u8]| fill(b, &mut state);
        let key = generate(1024, Random(&mut source)).expect("a key");
        let mut parts = Reader(&key).expect(SEQUENCE).expect("a sequence").inside();
        parts.expect(INTEGER).expect("version");
        let (n, e) =
            (parts.expect(INTEGER).expect("n").whole, parts.expect(INTEGER).expect("e").whole);
        let mut public = vec![0x30, 0x81, (n.len() + e.len()) as u8];
        public.extend_from_slice(n);
        public.extend_from_slice(e);
        let digest = [3; 32];
        let signature = sign(&key, "SHA256", &digest).expect("signs");
        assert_eq!(verify(&public, "SHA256", &digest, &signature), Ok(true));
        assert_eq!(verify(&public, "SHA256", &[4; 32], &signature), Ok(false));
        let text = b"Method:GET";
        let private = PrivateKey::from_der(&key).expect("a key");
        let signature = private.sign_text(text).expect("signs");
        // It is the same each time, whatever hides the key meanwhile.
        assert_eq!(private.sign_text(text).as_ref(), Ok(&signature));
        let known = PublicKey::from_der(&public).expect("a key");
        assert!(known.verify_text(text, &signature));
        assert!(!known.verify_text(b"Method:PUT", &signature));
        assert!(private.sign_text(&[7; 118]).is_err());
        let shut = encrypt(&public, b"secret", Random(&mut source)).expect("encrypts");
        assert_eq!(decrypt(&key, &shut, Random(&mut source)).as_deref(), Ok(&b"secret"[..]));
        // A broken text is an error or noise, and the padding does not show which.
        let noise = decrypt(&key, &[1; 128], Random(&mut source));
        assert_ne!(noise.as_deref(), Ok(&b"secret"[..]));
    }

    #[test]
    fn one_library_verifies_what_the_other_one_signs() {
        let mut state = 1_442_695_040_888_963_407;
        let mut source = |b: &mut [u8]| fill(b, &mut state);
        for bits in [1024, 1152, 2048, 3072] {
            let der = generate(bits, Random(&mut source)).expect("a key");
            let (other, ours) = (private(&der).expect("a key"), PrivateKey::from_der(&der));
            let (ours, public) = (ours.expect("a key"), other.to_public_key());
            let public = public.to_pkcs1_der().expect("a public key");
            let known = PublicKey::from_der(public.as_bytes()).expect("a public key");
            for length in [0, 1, 51, 100, bits / 8 - 11] {
                let mut text = vec![0; length];
                source(&mut text);
                let theirs = other.sign(Pkcs1v15Sign::new_unprefixed(), &text).expect("signs");
                assert_eq!(ours.sign_text(&text).as_ref(), Ok(&theirs), "{bits} {length}");
                assert!(known.verify_text(&text, &theirs));
                for at in [0, theirs.len() / 2, theirs.len() - 1] {
                    let mut changed = theirs.clone();
                    changed[at] ^= 1;
                    assert!(!known.verify_text(&text, &changed));
                }
                assert!(!known.verify_text(&text, &theirs[1..]));
                assert!(!known.verify_text(&text, &[&[0][..], &theirs].concat()));
                assert!(!known.verify_text(&text, &vec![0xff; theirs.len()]));
                assert!(!known.verify_text(&[&text[..], b"x"].concat(), &theirs));
            }
            assert!(ours.sign_text(&vec![0; bits / 8 - 10]).is_err());
        }
    }

    #[test]
    fn a_key_signs_in_several_threads_at_once() {
        let mut state = 88_172_645_463_325_252;
        let der = generate(1024, Random(&mut |b: &mut [u8]| fill(b, &mut state))).expect("a key");
        let key = PrivateKey::from_der(&der).expect("a key");
        let expected = key.sign_text(b"text").expect("signs");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        assert_eq!(key.sign_text(b"text").as_ref(), Ok(&expected));
                    }
                });
            }
        });
    }

    #[test]
    fn what_is_no_key_is_said() {
        assert_eq!(verify(b"x", "SHA256", b"", b""), Err(Error("not an RSA public key")));
        let mut none = |_: &mut [u8]| {};
        assert!(generate(64, Random(&mut none)).is_err());
    }
}
