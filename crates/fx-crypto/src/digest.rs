//! Digests of content in hexadecimal, as languages and reports show them.

use std::io::{self, Read};

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

/// How much of a file the digests named `lite` look at.
const LITE: u64 = 512;
/// How much of a stream is held at a time.
const BUFFER: usize = 16 * 1024;

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

/// Calls a function for the digest of an algorithm, with how much of the content counts.
macro_rules! by_name {
    ($algorithm:expr, $function:ident, $content:expr) => {
        match $algorithm {
            Algorithm::Sha256 => $function::<Sha256>($content, u64::MAX),
            Algorithm::Md5 => $function::<Md5>($content, u64::MAX),
            Algorithm::Md5Lite => $function::<Md5>($content, LITE),
            Algorithm::Sha1 => $function::<Sha1>($content, u64::MAX),
            Algorithm::Sha1Lite => $function::<Sha1>($content, LITE),
            Algorithm::Sha224 => $function::<Sha224>($content, u64::MAX),
            Algorithm::Sha256Lite => $function::<Sha256>($content, LITE),
            Algorithm::Sha384 => $function::<Sha384>($content, u64::MAX),
            Algorithm::Sha512 => $function::<Sha512>($content, u64::MAX),
        }
    };
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
        fx_formats::hex(self.bytes(content))
    }

    /// The digest, as bytes.
    pub fn bytes(self, content: &[u8]) -> Vec<u8> {
        by_name!(self, whole, content)
    }

    /// The digest of a stream, in lower-case hexadecimal.
    pub fn hex_of(self, content: &mut dyn Read) -> io::Result<String> {
        self.bytes_of(content).map(fx_formats::hex)
    }

    /// The digest of a stream, as bytes.
    pub fn bytes_of(self, content: &mut dyn Read) -> io::Result<Vec<u8>> {
        by_name!(self, digest, content)
    }

    /// The digest with its name, such as `{sha256}e3b0…`.
    pub fn label(self, content: &[u8]) -> String {
        format!("{{{}}}{}", self.name(), self.hex(content))
    }
}

/// Of bytes in memory, which are copied nowhere.
fn whole<D: Digest>(content: &[u8], limit: u64) -> Vec<u8> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    D::digest(&content[..content.len().min(limit)]).to_vec()
}

fn digest<D: Digest>(content: &mut dyn Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut digest = D::new();
    let mut buffer = [0; BUFFER];
    let mut content = content.take(limit);
    loop {
        match content.read(&mut buffer) {
            Ok(0) => return Ok(digest.finalize().to_vec()),
            Ok(count) => digest.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
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
        for algorithm in [Algorithm::Md5Lite, Algorithm::Sha1, Algorithm::Sha512] {
            let streamed = algorithm.hex_of(&mut &long[..]).expect("bytes can be read");
            assert_eq!(algorithm.hex(&long), streamed, "{}", algorithm.name());
        }
        assert_eq!(Algorithm::named("sha1lite"), Some(Algorithm::Sha1Lite));
        assert_eq!(Algorithm::named("crc"), None);
    }
}
