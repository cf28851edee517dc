//! The old form of the protocol: plain transactions, a challenge with RSA keys, and requests
//! that may be encrypted with Blowfish.

use fx_crypto::digest::Algorithm;
use fx_crypto::{Random, blowfish};

use super::keys::{KeyError, PrivateKey, PublicKey};

/// Bytes before a challenge, and before an encrypted request.
const AUTH_HEAD: usize = 24;
const SECURE_HEAD: usize = 16;
const IV: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
const NONCE: usize = 32;
const CLAIM: &str = "CAUTH ";
const CHALLENGE: &str = "SAUTH ";

pub const ACCEPTED: &[u8] = b"OK: key accepted";
pub const TRUSTED: &[u8] = b"OK: unknown key was accepted on trust";
pub const UNTRUSTED: &[u8] = b"BAD: key could not be accepted on trust";

/// The longest content of one encrypted answer of a file.
pub const BLOCK: usize = 4064;

/// The key of a session.
pub type SessionKey = [u8; 16];

/// A number as OpenSSL writes it: its length, and a zero where it would seem negative.
pub fn number(bytes: &[u8]) -> Vec<u8> {
    let padded = bytes.first().is_some_and(|first| first & 0x80 != 0);
    let mut out = ((bytes.len() + usize::from(padded)) as u32).to_be_bytes().to_vec();
    out.extend(padded.then_some(0));
    out.extend_from_slice(bytes);
    out
}

/// The bytes of such a number, without zeros before them.
pub fn read_number(bytes: &[u8]) -> Option<&[u8]> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let number = rest.get(..u32::from_be_bytes(*length) as usize)?;
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    Some(&number[zeros..])
}

/// A random number of 256 bits for a challenge.
pub fn nonce(random: &mut dyn FnMut(&mut [u8])) -> Vec<u8> {
    let mut bytes = [0; NONCE];
    random(&mut bytes);
    bytes[0] |= 0x80;
    number(&bytes)
}

/// What proves that a challenge was read.
pub fn proof(nonce: &[u8]) -> Vec<u8> {
    Algorithm::Md5.bytes(nonce)
}

/// Who a client says he is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub address: String,
    pub host: String,
    pub user: String,
}

impl Claim {
    pub fn payload(&self) -> Vec<u8> {
        format!("CAUTH {} {} {} 0", self.address, self.host, self.user).into_bytes()
    }

    pub fn parse(payload: &[u8]) -> Option<Claim> {
        let text = std::str::from_utf8(payload).ok()?.trim_end_matches('\0');
        let mut words = text.strip_prefix(CLAIM)?.split(' ');
        let (address, host, user) = (words.next()?, words.next()?, words.next()?);
        if user.is_empty() || user.contains(['/', '\\']) {
            return None;
        }
        Some(Claim { address: address.into(), host: host.into(), user: user.into() })
    }
}

/// The challenge of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// Whether it is encrypted with the key of the server.
    pub encrypted: bool,
    pub nonce_length: usize,
    pub text: Vec<u8>,
}

impl Challenge {
    pub fn payload(&self) -> Vec<u8> {
        let known = if self.encrypted { 'y' } else { 'n' };
        let head = format!("SAUTH {known} {} {} c", self.text.len(), self.nonce_length);
        let mut out = head.into_bytes();
        out.resize(AUTH_HEAD, 0);
        out.extend_from_slice(&self.text);
        out
    }

    pub fn parse(payload: &[u8]) -> Option<Challenge> {
        let head = payload.get(..AUTH_HEAD)?;
        let end = head.iter().position(|byte| *byte == 0).unwrap_or(AUTH_HEAD);
        let head = std::str::from_utf8(&head[..end]).ok()?;
        let mut words = head.strip_prefix(CHALLENGE)?.split(' ');
        let encrypted = match words.next()? {
            "y" => true,
            "n" => false,
            _ => return None,
        };
        let length: usize = words.next()?.parse().ok()?;
        let nonce_length: usize = words.next()?.parse().ok()?;
        let text = payload.get(AUTH_HEAD..AUTH_HEAD + length)?.to_vec();
        (nonce_length <= length || encrypted).then_some(Challenge { encrypted, nonce_length, text })
    }

    /// The number that was sent.
    pub fn open(&self, key: &PrivateKey, random: Random<'_>) -> Result<Vec<u8>, KeyError> {
        if !self.encrypted {
            return self
                .text
                .get(..self.nonce_length)
                .map(<[u8]>::to_vec)
                .ok_or(KeyError::Malformed);
        }
        let opened = key.decrypt(&self.text, random)?;
        opened.get(..self.nonce_length).map(<[u8]>::to_vec).ok_or(KeyError::Malformed)
    }
}

/// The two transactions that carry a key.
pub fn key_payloads(key: &PublicKey) -> [Vec<u8>; 2] {
    [number(key.modulus()), number(key.exponent())]
}

/// The key of two transactions.
pub fn read_key(modulus: &[u8], exponent: &[u8]) -> Result<PublicKey, KeyError> {
    let modulus = read_number(modulus).ok_or(KeyError::Malformed)?;
    let exponent = read_number(exponent).ok_or(KeyError::Malformed)?;
    PublicKey::new(modulus, exponent)
}

pub fn encrypt(key: &SessionKey, text: &[u8]) -> Vec<u8> {
    blowfish::encrypt(key, &IV, text).unwrap_or_default()
}

pub fn decrypt(key: &SessionKey, text: &[u8]) -> Option<Vec<u8>> {
    blowfish::decrypt(key, &IV, text).ok()
}

/// Words of requests that have an encrypted twin.
const TWINS: &[(&str, &str)] = &[
    ("SGET", "GET"),
    ("SSYNCH", "SYNCH"),
    ("SMD5", "MD5"),
    ("SOPENDIR", "OPENDIR"),
    ("SVAR", "VAR"),
    ("SCONTEXT", "CONTEXT"),
    ("SQUERY", "QUERY"),
];

/// The payload of a request, encrypted.
pub fn shut(key: &SessionKey, plain: &[u8]) -> Option<Vec<u8>> {
    let word = plain.split(|byte| *byte == b' ').next()?;
    let (twin, _) = TWINS.iter().find(|(_, known)| known.as_bytes() == word)?;
    let mut text = plain.to_vec();
    text.push(0);
    let head = |length: usize| match *twin {
        "SGET" => format!("SGET {length:4} {:4}", 2048),
        _ => format!("{twin} {length}"),
    };
    let cipher = encrypt(key, &text);
    let mut out = head(cipher.len()).into_bytes();
    out.resize(SECURE_HEAD, 0);
    out.extend_from_slice(&cipher);
    Some(out)
}

/// The payload of a request of a file as it stands inside of an encrypted one.
pub fn get_payload(path: &[u8]) -> Vec<u8> {
    [b"GET dummykey ", path].concat()
}

/// A request that came encrypted, in the clear; nothing where it is not one or is broken.
pub fn open(key: &SessionKey, payload: &[u8]) -> Option<Vec<u8>> {
    let head = payload.get(..SECURE_HEAD)?;
    let end = head.iter().position(|byte| *byte == 0).unwrap_or(SECURE_HEAD);
    let head = std::str::from_utf8(&head[..end]).ok()?;
    let mut words = head.split_ascii_whitespace();
    let word = words.next()?;
    let (_, plain) = TWINS.iter().find(|(twin, _)| *twin == word)?;
    let length: usize = words.next()?.parse().ok()?;
    let cipher = payload.get(SECURE_HEAD..SECURE_HEAD + length)?;
    let text = decrypt(key, cipher)?;
    let rest = text.strip_prefix(plain.as_bytes())?;
    if *plain == "GET" {
        // `GET dummykey PATH` is `GET 2048 PATH`.
        let path = rest.strip_prefix(b" dummykey ")?;
        return Some([b"GET 2048 ", path].concat());
    }
    Some(text)
}

/// Whether a payload is one of the encrypted requests.
pub fn is_secure(payload: &[u8]) -> bool {
    let word = payload.split(|byte| *byte == b' ').next().unwrap_or_default();
    TWINS.iter().any(|(twin, _)| twin.as_bytes() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_claims_are_written_and_read() {
        for bytes in [&[0x80, 1][..], &[0x7f], &[1, 2, 3]] {
            assert_eq!(read_number(&number(bytes)), Some(bytes));
        }
        assert_eq!(read_number(&[0, 0, 0, 9, 1]), None);
        let claim = Claim { address: "127.0.0.1".into(), host: "h".into(), user: "root".into() };
        assert_eq!(Claim::parse(&claim.payload()), Some(claim));
        assert_eq!(Claim::parse(b"CAUTH 1 h ../x 0"), None);
        let challenge = Challenge { encrypted: false, nonce_length: 5, text: b"12345".to_vec() };
        assert_eq!(Challenge::parse(&challenge.payload()), Some(challenge));
        assert_eq!(Challenge::parse(b"SAUTH n 500 5 c\0\0\0\0\0\0\0\0\0x"), None);
    }

    #[test]
    fn requests_are_shut_and_opened() {
        let key = [7; 16];
        for plain in [&b"SYNCH 5 STAT /x"[..], b"OPENDIR /x", b"MD5 /x\0\0digest"] {
            let payload = shut(&key, plain).unwrap();
            assert!(is_secure(&payload));
            let opened = open(&key, &payload).unwrap();
            assert_eq!(opened.strip_suffix(b"\0"), Some(plain));
            assert_eq!(open(&[8; 16], &payload), None);
        }
        let get = shut(&key, &get_payload(b"/x")).unwrap();
        assert_eq!(open(&key, &get).as_deref(), Some(&b"GET 2048 /x\0"[..]));
        assert_eq!(shut(&key, b"EXEC"), None);
    }
}
