//! Files that cf-secret encrypts for hosts.

use fx_crypto::Random;
use fx_crypto::cipher::Cipher;

use super::keys::{KeyError, PrivateKey, PublicKey};

const VERSION: &str = "1.0";
const LONGEST_NAME: usize = 126;
const LONGEST_VALUE: usize = 128;
const IV: usize = 16;

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    #[error("Failed to parse the header of the encrypted file")]
    Header,
    #[error("Unsupported file format version: {0}")]
    Version(String),
    #[error("File not encrypted for host '{0}'")]
    Host(String),
    #[error("Couldn't decrypt the file")]
    Content,
    #[error("{0}")]
    Key(#[from] KeyError),
}

/// Lines at the head of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headers {
    /// All of them, as they stand there.
    pub lines: Vec<(String, String)>,
    /// Where what follows begins.
    rest: usize,
}

impl Headers {
    pub fn parse(bytes: &[u8]) -> Result<Headers, SecretError> {
        let (mut lines, mut at) = (Vec::new(), 0);
        loop {
            let rest = &bytes[at..];
            let window = &rest[..rest.len().min(LONGEST_NAME + LONGEST_VALUE + 3)];
            let end = window.iter().position(|byte| *byte == b'\n').ok_or(SecretError::Header)?;
            at += end + 1;
            if end == 0 {
                break;
            }
            let line = std::str::from_utf8(&rest[..end]).map_err(|_| SecretError::Header)?;
            let (name, value) = line.split_once(": ").ok_or(SecretError::Header)?;
            if name.len() > LONGEST_NAME || value.len() > LONGEST_VALUE || lines.len() > 10_000 {
                return Err(SecretError::Header);
            }
            match name {
                "Version" if value != VERSION => {
                    return Err(SecretError::Version(value.to_owned()));
                }
                "Version" | "Encrypted-for" => {}
                _ => return Err(SecretError::Header),
            }
            lines.push((name.to_owned(), value.to_owned()));
        }
        if lines.first().is_none_or(|(name, _)| name != "Version") {
            return Err(SecretError::Header);
        }
        Ok(Headers { lines, rest: at })
    }

    /// Digests of those who can read the file, in the order of their blocks.
    pub fn readers(&self) -> impl Iterator<Item = &str> {
        let named = self.lines.iter().filter(|(name, _)| name == "Encrypted-for");
        named.map(|(_, digest)| digest.as_str())
    }
}

fn cipher() -> Result<Cipher, SecretError> {
    Cipher::by_name("AES-256-CBC").ok_or(SecretError::Content)
}

/// Encrypts content for keys.
pub fn encrypt(
    content: &[u8],
    readers: &[PublicKey],
    random: &mut dyn FnMut(&mut [u8]),
) -> Result<Vec<u8>, SecretError> {
    let (mut key, mut iv) = ([0; 32], [0; IV]);
    random(&mut key);
    random(&mut iv);
    let mut out = format!("Version: {VERSION}\n").into_bytes();
    for reader in readers {
        out.extend_from_slice(format!("Encrypted-for: {}\n", reader.digest()).as_bytes());
    }
    out.push(b'\n');
    out.extend_from_slice(&iv);
    for reader in readers {
        out.extend_from_slice(&reader.encrypt(&key, Random(random))?);
    }
    let (shut, _) = cipher()?
        .encrypt(&key, &iv, content, true, &[])
        .map_err(|error| SecretError::Key(error.into()))?;
    out.extend_from_slice(&shut);
    Ok(out)
}

/// Decrypts a file with the first of the keys that it is for.
pub fn decrypt(
    bytes: &[u8],
    keys: &[PrivateKey],
    random: &mut dyn FnMut(&mut [u8]),
) -> Result<Vec<u8>, SecretError> {
    let headers = Headers::parse(bytes)?;
    let found = headers
        .readers()
        .enumerate()
        .find_map(|(at, digest)| Some((at, keys.iter().find(|key| key.public().is(digest))?)));
    let Some((at, key)) = found else {
        let digest = keys.first().map(|key| key.public().digest().to_string());
        return Err(SecretError::Host(digest.unwrap_or_default()));
    };
    let (rest, size) = (&bytes[headers.rest..], key.public().size());
    let start = IV + at * size;
    let iv = rest.get(..IV).ok_or(SecretError::Content)?;
    let block = rest.get(start..start + size).ok_or(SecretError::Content)?;
    let shut = rest.get(IV + headers.readers().count() * size..).ok_or(SecretError::Content)?;
    let key = key.decrypt(block, Random(random)).map_err(|_| SecretError::Content)?;
    cipher()?.decrypt(&key, iv, shut, true, &[], &[]).map_err(|_| SecretError::Content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x509::tests::Noise;

    #[test]
    fn content_is_opened_by_those_it_is_for() {
        let mut noise = Noise(11);
        let mut source = |buffer: &mut [u8]| noise.fill(buffer);
        let keys: Vec<PrivateKey> =
            (0..3).map(|_| PrivateKey::generate(1024, Random(&mut source)).unwrap()).collect();
        let readers: Vec<PublicKey> = keys[..2].iter().map(|key| key.public().clone()).collect();
        for content in [&b""[..], b"hello\n", &[7; 100_000]] {
            let shut = encrypt(content, &readers, &mut source).unwrap();
            for key in &keys[..2] {
                let opened = decrypt(&shut, std::slice::from_ref(key), &mut source);
                assert_eq!(opened.as_deref(), Ok(content));
            }
            let stranger = decrypt(&shut, &keys[2..], &mut source).unwrap_err();
            assert!(matches!(stranger, SecretError::Host(_)));
            for cut in (0..shut.len()).step_by(17) {
                assert!(decrypt(&shut[..cut], &keys[..1], &mut source).is_err() || cut > 400);
            }
        }
    }

    #[test]
    fn heads_are_checked() {
        let table: &[(&[u8], SecretError)] = &[
            (b"", SecretError::Header),
            (b"\n", SecretError::Header),
            (b"Version: 2.0\n\n", SecretError::Version("2.0".into())),
            (b"Version: 1.0\nX: y\n\n", SecretError::Header),
            (b"Encrypted-for: x\n\n", SecretError::Header),
            (b"Version: 1.0\n", SecretError::Header),
        ];
        for (bytes, expected) in table {
            assert_eq!(Headers::parse(bytes).as_ref(), Err(expected));
        }
    }
}
