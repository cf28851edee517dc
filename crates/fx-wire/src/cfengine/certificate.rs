//! Certificates of CFEngine's TLS: only the key in one counts.

use std::time::Duration;

use der::Encode;
use der::asn1::UtcTime;
use fx_crypto::der::{INTEGER, Reader, SEQUENCE};
use fx_crypto::digest::Algorithm;
use fx_crypto::rsa_key;

use super::keys::{KeyError, PrivateKey, PublicKey};

const CONTEXT_0: u8 = 0xa0;
const BITS: u8 = 0x03;
const YEARS: u64 = 10 * 365 * 24 * 3600;
/// `sha256WithRSAEncryption` and `rsaEncryption`, each with NULL.
const SIGNATURE: &[u8] = &[0x30, 0x0d, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 0x0b, 5, 0];
const RSA: &[u8] = &[0x30, 0x0d, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0];
/// `CN=a`, as everybody calls himself.
const NAME: &[u8] = &[0x30, 0x0c, 0x31, 0x0a, 0x30, 8, 6, 3, 0x55, 4, 3, 0x0c, 1, b'a'];

fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let mut out = vec![tag];
    match content.len() {
        short @ 0..=127 => out.push(short as u8),
        long => {
            let bytes = (long as u32).to_be_bytes();
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            out.push(0x80 | (4 - zeros) as u8);
            out.extend_from_slice(&bytes[zeros..]);
        }
    }
    out.extend_from_slice(&content);
    out
}

/// A certificate for a key by itself, from now on. The original makes one of version 1, which
/// its readers do not insist on and other libraries refuse.
pub fn self_signed(key: &PrivateKey, now: u64) -> Result<Vec<u8>, KeyError> {
    let time = |seconds: u64| {
        let time = UtcTime::from_unix_duration(Duration::from_secs(seconds));
        time.and_then(|time| time.to_der()).map_err(|_| KeyError::Malformed)
    };
    let validity = element(SEQUENCE, &[&time(now)?, &time(now + YEARS)?]);
    let key_bits = element(BITS, &[&[0], &key.public().to_der()]);
    let info = element(SEQUENCE, &[RSA, &key_bits]);
    let version = element(CONTEXT_0, &[&[INTEGER, 1, 2]]);
    let inner =
        element(SEQUENCE, &[&version, &[INTEGER, 1, 1], SIGNATURE, NAME, &validity, NAME, &info]);
    let digest = Algorithm::Sha256.bytes(&inner);
    let signature = rsa_key::sign(key.der(), "SHA256", &digest)?;
    let signature = element(BITS, &[&[0], &signature]);
    Ok(element(SEQUENCE, &[&inner, SIGNATURE, &signature]))
}

/// The key of a certificate of any version, and nothing else of it.
pub fn public_key_of(certificate: &[u8]) -> Result<PublicKey, KeyError> {
    let mut inner = Reader(certificate).expect(SEQUENCE)?.inside().expect(SEQUENCE)?.inside();
    let first = inner.element()?;
    if first.tag == CONTEXT_0 {
        inner.expect(INTEGER)?;
    }
    // Algorithm, issuer, validity, subject.
    for _ in 0..4 {
        inner.expect(SEQUENCE)?;
    }
    let mut info = inner.expect(SEQUENCE)?.inside();
    if info.expect(SEQUENCE)?.whole != RSA {
        return Err(KeyError::Malformed);
    }
    let bits = info.expect(BITS)?.content;
    let Some((0, key)) = bits.split_first() else { return Err(KeyError::Malformed) };
    PublicKey::from_der(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x509::Certificate;
    use crate::x509::tests::Noise;
    use fx_crypto::Random;

    #[test]
    fn a_certificate_carries_its_key() {
        let mut noise = Noise(7);
        let mut source = |buffer: &mut [u8]| noise.fill(buffer);
        let key = PrivateKey::generate(2048, Random(&mut source)).unwrap();
        let made = self_signed(&key, 1_794_881_877).unwrap();
        assert_eq!(public_key_of(&made).as_ref(), Ok(key.public()));
        // It is one for everybody else too.
        let read = Certificate::from_der(made.clone()).unwrap();
        assert_eq!(read.name().as_deref(), Some("a"));
        assert_eq!(read.has_signed(&read), Ok(true));
        for cut in 0..made.len() {
            assert!(public_key_of(&made[..cut]).is_err(), "{cut}");
        }
    }
}
