//! PEM as far as opening an envelope needs it: one block's bytes, and the RSA key in it.
//! Writes nothing and opens no locked keys.

use base64ct::{Base64, Encoding};

use crate::der::{INTEGER, OCTETS, Reader, SEQUENCE};
use crate::{Error, Result};

/// Text of Base64, with blanks and line ends in it, as bytes.
pub fn base64(text: &str) -> Result<Vec<u8>> {
    let packed: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    Base64::decode_vec(&packed).map_err(|_| Error("bad base64 decode"))
}

/// Label and bytes of the first block.
pub fn block(text: &str) -> Result<(&str, Vec<u8>)> {
    const NONE: Error = Error("no start line");
    let (_, rest) = text.split_once("-----BEGIN ").ok_or(NONE)?;
    let (label, rest) = rest.split_once("-----").ok_or(NONE)?;
    let (body, _) = rest.split_once("-----END ").ok_or(NONE)?;
    Ok((label, base64(body)?))
}

/// The PKCS#1 form of an RSA private key, whichever of the two usual wrappings it has.
pub fn rsa_private_key(text: &str) -> Result<Vec<u8>> {
    let (label, der) = block(text)?;
    match label {
        "RSA PRIVATE KEY" => Ok(der),
        "PRIVATE KEY" => {
            let mut info = Reader(&der).expect(SEQUENCE)?.inside();
            info.expect(INTEGER)?;
            info.expect(SEQUENCE)?;
            Ok(info.expect(OCTETS)?.content.to_vec())
        }
        _ => Err(Error("not an RSA private key without a password")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_and_broken_ones_told() {
        let text = "junk\n-----BEGIN X-----\naGVs\nbG8=\n-----END X-----\n";
        assert_eq!(block(text), Ok(("X", b"hello".to_vec())));
        assert_eq!(block("nothing"), Err(Error("no start line")));
        assert_eq!(block("-----BEGIN X-----\n*\n-----END X-----"), Err(Error("bad base64 decode")));
        assert!(rsa_private_key(text).is_err());
    }
}
