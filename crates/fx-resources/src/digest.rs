//! Digests of content as reports show them. Computed only when something differs.

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};

/// How much of a file the digests named `lite` look at.
const LITE: usize = 512;

/// Which digest a language shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// SHA-256, the default of today.
    #[default]
    Sha256,
    /// MD5, the default of old installations.
    Md5,
    /// MD5 of the first 512 bytes.
    Md5Lite,
    /// SHA-1.
    Sha1,
    /// SHA-1 of the first 512 bytes.
    Sha1Lite,
    /// SHA-224.
    Sha224,
    /// SHA-256 of the first 512 bytes.
    Sha256Lite,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl Algorithm {
    /// The name in braces.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Sha256 => "sha256",
            Algorithm::Md5 => "md5",
            Algorithm::Md5Lite => "md5lite",
            Algorithm::Sha1 => "sha1",
            Algorithm::Sha1Lite => "sha1lite",
            Algorithm::Sha224 => "sha224",
            Algorithm::Sha256Lite => "sha256lite",
            Algorithm::Sha384 => "sha384",
            Algorithm::Sha512 => "sha512",
        }
    }

    /// The digest of a name, if there is one.
    pub fn named(name: &str) -> Option<Algorithm> {
        use Algorithm::{Md5, Md5Lite, Sha1, Sha1Lite, Sha224, Sha256, Sha256Lite, Sha384, Sha512};
        [Sha256, Md5, Md5Lite, Sha1, Sha1Lite, Sha224, Sha256Lite, Sha384, Sha512]
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
    }

    /// The digest in lower-case hexadecimal.
    pub fn hex(self, content: &[u8]) -> String {
        let start = &content[..content.len().min(LITE)];
        match self {
            Algorithm::Sha256 => hex(&Sha256::digest(content)),
            Algorithm::Md5 => hex(&Md5::digest(content)),
            Algorithm::Md5Lite => hex(&Md5::digest(start)),
            Algorithm::Sha1 => hex(&Sha1::digest(content)),
            Algorithm::Sha1Lite => hex(&Sha1::digest(start)),
            Algorithm::Sha224 => hex(&Sha224::digest(content)),
            Algorithm::Sha256Lite => hex(&Sha256::digest(start)),
            Algorithm::Sha384 => hex(&Sha384::digest(content)),
            Algorithm::Sha512 => hex(&Sha512::digest(content)),
        }
    }

    /// The digest with its name, such as `{sha256}e3b0…`.
    pub fn label(self, content: &[u8]) -> String {
        format!("{{{}}}{}", self.name(), self.hex(content))
    }
}

/// Bytes in lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[digit as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_name_the_algorithm() {
        assert_eq!(Algorithm::Md5.label(b""), "{md5}d41d8cd98f00b204e9800998ecf8427e");
        let sha = "{sha256}ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Algorithm::Sha256.label(b"abc"), sha);
        let long = [b'a'; 600];
        assert_eq!(Algorithm::Sha256Lite.hex(&long), Algorithm::Sha256.hex(&long[..512]));
        assert_eq!(Algorithm::named("sha1lite"), Some(Algorithm::Sha1Lite));
        assert_eq!(Algorithm::named("crc"), None);
    }
}
