//! Opens a PKCS#7 envelope for one RSA recipient, as hiera-eyaml writes them. Checks no
//! certificate and makes no envelope.

use crate::cipher::Cipher;
use crate::der::{INTEGER, OCTETS, OID, Reader, SEQUENCE, SET};
use crate::{Error, Random, Result, rsa_key};

/// Content ciphers by the bytes of their identifiers.
const CONTENT: &[(&[u8], &str)] = &[
    (&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 2], "AES-128-CBC"),
    (&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 0x16], "AES-192-CBC"),
    (&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 0x2a], "AES-256-CBC"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 3, 7], "DES-EDE3-CBC"),
];

/// The content of the envelope, with the recipient's PKCS#1 key. An envelope may be for
/// several: each one's copy of the content key is tried.
pub fn open(envelope: &[u8], key: &[u8], random: Random<'_>) -> Result<Vec<u8>> {
    let mut info = Reader(envelope).expect(SEQUENCE)?.inside();
    info.expect(OID)?;
    let enveloped = info.expect(0xa0)?;
    let mut data = enveloped.inside().expect(SEQUENCE)?.inside();
    data.expect(INTEGER)?;
    let mut recipients = data.expect(SET)?.inside();
    let mut content = data.expect(SEQUENCE)?.inside();
    content.expect(OID)?;
    let mut algorithm = content.expect(SEQUENCE)?.inside();
    let name = algorithm.expect(OID)?.content;
    let iv = algorithm.expect(OCTETS)?.content;
    let (_, name) =
        CONTENT.iter().find(|(oid, _)| *oid == name).ok_or(Error("unsupported content cipher"))?;
    let cipher = Cipher::by_name(name).ok_or(Error("unsupported content cipher"))?;
    let text = content.element()?;
    // One string, or the pieces a streaming writer made of it.
    let text = match text.tag {
        0x80 => text.content.to_vec(),
        _ => {
            let mut whole = Vec::new();
            let mut pieces = text.inside();
            while !pieces.is_empty() {
                whole.extend_from_slice(pieces.expect(OCTETS)?.content);
            }
            whole
        }
    };
    let source = random.0;
    let mut last = Error("no recipient");
    while !recipients.is_empty() {
        let mut recipient = recipients.expect(SEQUENCE)?.inside();
        recipient.expect(INTEGER)?;
        recipient.element()?;
        recipient.expect(SEQUENCE)?;
        let wrapped = recipient.expect(OCTETS)?.content;
        match rsa_key::decrypt(key, wrapped, Random(source))
            .and_then(|k| cipher.decrypt(&k, iv, &text, true, b"", b""))
        {
            Ok(text) => return Ok(text),
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_of_openssl_opens_with_its_key_only() {
        let key = include_bytes!("../testdata/eyaml-key.der");
        let envelope = include_bytes!("../testdata/eyaml-envelope.der");
        let mut dice = |b: &mut [u8]| b.fill(7);
        let opened = open(envelope, key, Random(&mut dice));
        assert_eq!(opened.as_deref(), Ok(&b"open sesame"[..]));
        assert!(open(&envelope[..envelope.len() - 3], key, Random(&mut dice)).is_err());
        assert_eq!(
            open(envelope, b"no key", Random(&mut dice)),
            Err(Error("not an RSA private key"))
        );
        assert!(open(b"", key, Random(&mut dice)).is_err());
    }
}
