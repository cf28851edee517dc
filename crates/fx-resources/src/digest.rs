//! Digests of content as reports show them. Computed only when something differs.

use md5::Md5;
use sha2::{Digest as _, Sha256};

/// Which digest a language shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// SHA-256, the default of today.
    #[default]
    Sha256,
    /// MD5, the default of old installations.
    Md5,
}

impl Algorithm {
    /// The name in braces.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Sha256 => "sha256",
            Algorithm::Md5 => "md5",
        }
    }

    /// The digest in lower-case hexadecimal.
    pub fn hex(self, content: &[u8]) -> String {
        match self {
            Algorithm::Sha256 => hex(&Sha256::digest(content)),
            Algorithm::Md5 => hex(&Md5::digest(content)),
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
    }
}
