//! RSA with keys as PKCS#1 DER: making, signing, and encryption with PKCS#1 v1.5 padding.

use rsa::pkcs1::{DecodeRsaPrivateKey, DecodeRsaPublicKey, EncodeRsaPrivateKey};
use rsa::{Pkcs1v15Encrypt, Pkcs1v15Sign, RsaPrivateKey, RsaPublicKey};

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

fn scheme(hash: &str) -> Result<Pkcs1v15Sign> {
    let (_, len, prefix) =
        PREFIXES.iter().find(|(name, ..)| *name == hash).ok_or(Error("unsupported digest"))?;
    Ok(Pkcs1v15Sign { hash_len: Some(*len), prefix: (*prefix).into() })
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
pub fn sign(key: &[u8], hash: &str, digest: &[u8], mut random: Random<'_>) -> Result<Vec<u8>> {
    private(key)?
        .sign_with_rng(&mut random, scheme(hash)?, digest)
        .map_err(|_| Error("signing failed"))
}

/// Whether the signature is that of the key for the digest.
pub fn verify(key: &[u8], hash: &str, digest: &[u8], signature: &[u8]) -> Result<bool> {
    Ok(public(key)?.verify(scheme(hash)?, digest, signature).is_ok())
}

/// The text itself under the padding of a signature, without a digest: what OpenSSL calls
/// encryption with the private key.
pub fn sign_text(key: &[u8], text: &[u8], mut random: Random<'_>) -> Result<Vec<u8>> {
    private(key)?
        .sign_with_rng(&mut random, Pkcs1v15Sign::new_unprefixed(), text)
        .map_err(|_| Error("data too large for key size"))
}

/// Whether such a signature holds exactly this text.
pub fn verify_text(key: &[u8], text: &[u8], signature: &[u8]) -> Result<bool> {
    Ok(public(key)?.verify(Pkcs1v15Sign::new_unprefixed(), text, signature).is_ok())
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
        assert_eq!(verify_text(&public, text, &signature), Ok(true));
        assert_eq!(verify_text(&public, b"Method:PUT", &signature), Ok(false));
        assert!(sign_text(&key, &[7; 118], Random(&mut source)).is_err());
        let shut = encrypt(&public, b"secret", Random(&mut source)).expect("encrypts");
        assert_eq!(decrypt(&key, &shut, Random(&mut source)).as_deref(), Ok(&b"secret"[..]));
        // A broken text is an error or noise, and the padding does not show which.
        let noise = decrypt(&key, &[1; 128], Random(&mut source));
        assert_ne!(noise.as_deref(), Ok(&b"secret"[..]));
    }

    #[test]
    fn what_is_no_key_is_said() {
        assert_eq!(verify(b"x", "SHA256", b"", b""), Err(Error("not an RSA public key")));
        let mut none = |_: &mut [u8]| {};
        assert!(generate(64, Random(&mut none)).is_err());
    }
}
