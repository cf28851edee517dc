//! RSA with keys as PKCS#1 DER: making, signing, and encryption with PKCS#1 v1.5 padding.

use rsa::pkcs1::{DecodeRsaPrivateKey, DecodeRsaPublicKey, EncodeRsaPrivateKey};
use rsa::{Pkcs1v15Encrypt, Pkcs1v15Sign, RsaPrivateKey, RsaPublicKey};

use crate::der::{INTEGER, Reader, SEQUENCE};
use crate::modular::{self, Modulus};
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

/// A text under the padding of a signature.
fn padded(text: &[u8], size: usize) -> Option<Vec<u8>> {
    let filling = size.checked_sub(text.len() + 3).filter(|filling| *filling >= 8)?;
    let mut out = vec![0, 1];
    out.resize(2 + filling, 0xff);
    out.push(0);
    out.extend_from_slice(text);
    Some(out)
}

/// The numbers of a key, the highest byte first and without zeros before it.
fn numbers<const COUNT: usize>(der: &[u8]) -> Result<[&[u8]; COUNT]> {
    let mut parts = Reader(der).expect(SEQUENCE)?.inside();
    let mut out = [&[][..]; COUNT];
    for number in &mut out {
        let content = parts.expect(INTEGER)?.content;
        *number = content.strip_prefix(&[0]).unwrap_or(content);
    }
    Ok(out)
}

/// A public key that was read, to verify with more than once.
pub struct PublicKey(Kind);

/// Usual sizes have arithmetic of their own.
enum Kind {
    Bits1024(Box<Modulus<16>>, u64),
    Bits2048(Box<Modulus<32>>, u64),
    Bits3072(Box<Modulus<48>>, u64),
    Bits4096(Box<Modulus<64>>, u64),
    Other(Box<RsaPublicKey>),
}

impl Kind {
    /// `None` where the size is not a usual one.
    fn usual(n: &[u8], e: &[u8]) -> Option<Kind> {
        let e = modular::limbs::<1>(e)?[0];
        match n.len() {
            _ if e < 3 => None,
            128 => Modulus::new(n).map(|n| Kind::Bits1024(Box::new(n), e)),
            256 => Modulus::new(n).map(|n| Kind::Bits2048(Box::new(n), e)),
            384 => Modulus::new(n).map(|n| Kind::Bits3072(Box::new(n), e)),
            512 => Modulus::new(n).map(|n| Kind::Bits4096(Box::new(n), e)),
            _ => None,
        }
    }

    /// Whether a signature holds a text.
    fn holds(&self, text: &[u8], signature: &[u8]) -> bool {
        let opened = match self {
            Kind::Bits1024(n, e) => opened(n, *e, signature),
            Kind::Bits2048(n, e) => opened(n, *e, signature),
            Kind::Bits3072(n, e) => opened(n, *e, signature),
            Kind::Bits4096(n, e) => opened(n, *e, signature),
            Kind::Other(key) => {
                return key.verify(Pkcs1v15Sign::new_unprefixed(), text, signature).is_ok();
            }
        };
        opened.is_some_and(|opened| Some(opened) == padded(text, signature.len()))
    }
}

impl PublicKey {
    pub fn from_der(der: &[u8]) -> Result<PublicKey> {
        // It looks at what a key must be.
        let key = public(der)?;
        let [n, e] = numbers(der)?;
        Ok(PublicKey(Kind::usual(n, e).unwrap_or_else(|| Kind::Other(Box::new(key)))))
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

/// What is in a signature, with its padding.
fn opened<const N: usize>(n: &Modulus<N>, e: u64, signature: &[u8]) -> Option<Vec<u8>> {
    if signature.len() != 8 * N {
        return None;
    }
    let number = modular::limbs(signature).filter(|number| n.is_above(number))?;
    let mut out = Vec::with_capacity(8 * N);
    modular::bytes(&n.plain(n.power_public(n.shifted(&number), e)), &mut out);
    Some(out)
}

fn private(der: &[u8]) -> Result<RsaPrivateKey> {
    RsaPrivateKey::from_pkcs1_der(der).map_err(|_| Error("not an RSA private key"))
}

fn public(der: &[u8]) -> Result<RsaPublicKey> {
    RsaPublicKey::from_pkcs1_der(der).map_err(|_| Error("not an RSA public key"))
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
pub fn sign(key: &[u8], hash: &str, digest: &[u8], random: Random<'_>) -> Result<Vec<u8>> {
    sign_text(key, &prefixed(hash, digest)?, random).map_err(|_| Error("signing failed"))
}

/// Whether the signature is that of the key for the digest.
pub fn verify(key: &[u8], hash: &str, digest: &[u8], signature: &[u8]) -> Result<bool> {
    PublicKey::from_der(key)?.verify(hash, digest, signature)
}

/// The text itself under the padding of a signature, without a digest: what OpenSSL calls
/// encryption with the private key.
pub fn sign_text(key: &[u8], text: &[u8], mut random: Random<'_>) -> Result<Vec<u8>> {
    private(key)?
        .sign_with_rng(&mut random, Pkcs1v15Sign::new_unprefixed(), text)
        .map_err(|_| Error("data too large for key size"))
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
        let signature = sign(&key, "SHA256", &digest, Random(&mut source)).expect("signs");
        assert_eq!(verify(&public, "SHA256", &digest, &signature), Ok(true));
        assert_eq!(verify(&public, "SHA256", &[4; 32], &signature), Ok(false));
        let text = b"Method:GET";
        let signature = sign_text(&key, text, Random(&mut source)).expect("signs");
        let known = PublicKey::from_der(&public).expect("a key");
        assert!(known.verify_text(text, &signature));
        assert!(!known.verify_text(b"Method:PUT", &signature));
        assert!(sign_text(&key, &[7; 118], Random(&mut source)).is_err());
        let shut = encrypt(&public, b"secret", Random(&mut source)).expect("encrypts");
        assert_eq!(decrypt(&key, &shut, Random(&mut source)).as_deref(), Ok(&b"secret"[..]));
        // A broken text is an error or noise, and the padding does not show which.
        let noise = decrypt(&key, &[1; 128], Random(&mut source));
        assert_ne!(noise.as_deref(), Ok(&b"secret"[..]));
    }

    #[test]
    fn our_arithmetic_verifies_what_the_other_one_signs() {
        let mut state = 1_442_695_040_888_963_407;
        let mut source = |b: &mut [u8]| fill(b, &mut state);
        for bits in [1024, 1024, 1024, 2048, 3072, 1152] {
            let der = generate(bits, Random(&mut source)).expect("a key");
            let key = private(&der).expect("a key");
            let [_, n, e] = numbers(&der).expect("numbers");
            let known = Kind::usual(n, e);
            assert_eq!(known.is_some(), bits != 1152, "{bits}");
            for length in [0, 1, 51, 100] {
                let mut text = vec![0; length];
                source(&mut text);
                let theirs = key.sign(Pkcs1v15Sign::new_unprefixed(), &text).expect("signs");
                let Some(known) = &known else { continue };
                assert!(known.holds(&text, &theirs));
                for at in [0, theirs.len() / 2, theirs.len() - 1] {
                    let mut changed = theirs.clone();
                    changed[at] ^= 1;
                    assert!(!known.holds(&text, &changed));
                }
                assert!(!known.holds(&text, &theirs[1..]));
                assert!(!known.holds(&text, &vec![0xff; theirs.len()]));
            }
        }
    }

    #[test]
    fn what_is_no_key_is_said() {
        assert_eq!(verify(b"x", "SHA256", b"", b""), Err(Error("not an RSA public key")));
        let mut none = |_: &mut [u8]| {};
        assert!(generate(64, Random(&mut none)).is_err());
    }
}
