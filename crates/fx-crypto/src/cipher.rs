//! Block ciphers by OpenSSL's names, over whole texts.

use aes::cipher::block_padding::{NoPadding, Pkcs7};
use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyInit, KeyIvInit};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::AesGcm;
use aes_gcm::aead::{AeadInOut, Nonce};
use des::{TdesEde2, TdesEde3};

use crate::{Error, Result};

/// A cipher we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cipher {
    pub name: &'static str,
    pub key_len: usize,
    pub iv_len: usize,
    pub block: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Aes128Cbc,
    Aes192Cbc,
    Aes256Cbc,
    Aes128Gcm,
    Aes256Gcm,
    Des3Cbc,
    Des2Cbc,
}

const CIPHERS: &[(&[&str], Cipher)] = &[
    (&["AES-128-CBC", "AES128"], row("AES-128-CBC", 16, 16, 16, Kind::Aes128Cbc)),
    (&["AES-192-CBC", "AES192"], row("AES-192-CBC", 24, 16, 16, Kind::Aes192Cbc)),
    (&["AES-256-CBC", "AES256"], row("AES-256-CBC", 32, 16, 16, Kind::Aes256Cbc)),
    (&["AES-128-GCM", "ID-AES128-GCM"], row("id-aes128-GCM", 16, 12, 1, Kind::Aes128Gcm)),
    (&["AES-256-GCM", "ID-AES256-GCM"], row("id-aes256-GCM", 32, 12, 1, Kind::Aes256Gcm)),
    (&["DES-EDE3-CBC", "DES3"], row("DES-EDE3-CBC", 24, 8, 8, Kind::Des3Cbc)),
    (&["DES-EDE-CBC"], row("DES-EDE-CBC", 16, 8, 8, Kind::Des2Cbc)),
];

const fn row(
    name: &'static str,
    key_len: usize,
    iv_len: usize,
    block: usize,
    kind: Kind,
) -> Cipher {
    Cipher { name, key_len, iv_len, block, kind }
}

/// The names a program may ask for: all that OpenSSL lists.
pub fn names() -> &'static [&'static str] {
    crate::cipher_names::NAMES
}

impl Cipher {
    pub fn by_name(name: &str) -> Option<Cipher> {
        let upper = name.to_ascii_uppercase();
        CIPHERS.iter().find(|(names, _)| names.contains(&upper.as_str())).map(|(_, c)| *c)
    }

    pub fn authenticated(self) -> bool {
        matches!(self.kind, Kind::Aes128Gcm | Kind::Aes256Gcm)
    }

    fn check(self, key: &[u8], iv: &[u8]) -> Result<()> {
        if key.len() != self.key_len {
            return Err(Error("key has a wrong length"));
        }
        if iv.len() != self.iv_len {
            return Err(Error("iv has a wrong length"));
        }
        Ok(())
    }

    /// The text encrypted; for an authenticated cipher the tag comes beside it.
    pub fn encrypt(
        self,
        key: &[u8],
        iv: &[u8],
        text: &[u8],
        pad: bool,
        aad: &[u8],
    ) -> Result<(Vec<u8>, Vec<u8>)> {
        self.check(key, iv)?;
        if !self.authenticated() && !pad && !text.len().is_multiple_of(self.block) {
            return Err(Error("wrong final block length"));
        }
        Ok(match self.kind {
            Kind::Aes128Cbc => (shut::<cbc::Encryptor<Aes128>>(key, iv, text, pad)?, Vec::new()),
            Kind::Aes192Cbc => (shut::<cbc::Encryptor<Aes192>>(key, iv, text, pad)?, Vec::new()),
            Kind::Aes256Cbc => (shut::<cbc::Encryptor<Aes256>>(key, iv, text, pad)?, Vec::new()),
            Kind::Des3Cbc => (shut::<cbc::Encryptor<TdesEde3>>(key, iv, text, pad)?, Vec::new()),
            Kind::Des2Cbc => (shut::<cbc::Encryptor<TdesEde2>>(key, iv, text, pad)?, Vec::new()),
            Kind::Aes128Gcm => {
                seal::<AesGcm<Aes128, aes::cipher::consts::U12>>(key, iv, text, aad)?
            }
            Kind::Aes256Gcm => {
                seal::<AesGcm<Aes256, aes::cipher::consts::U12>>(key, iv, text, aad)?
            }
        })
    }

    /// The text in the clear. A wrong key, tag or padding is "bad decrypt".
    pub fn decrypt(
        self,
        key: &[u8],
        iv: &[u8],
        text: &[u8],
        pad: bool,
        aad: &[u8],
        tag: &[u8],
    ) -> Result<Vec<u8>> {
        self.check(key, iv)?;
        if !self.authenticated()
            && (!text.len().is_multiple_of(self.block) || pad && text.is_empty())
        {
            return Err(Error("wrong final block length"));
        }
        match self.kind {
            Kind::Aes128Cbc => open::<cbc::Decryptor<Aes128>>(key, iv, text, pad),
            Kind::Aes192Cbc => open::<cbc::Decryptor<Aes192>>(key, iv, text, pad),
            Kind::Aes256Cbc => open::<cbc::Decryptor<Aes256>>(key, iv, text, pad),
            Kind::Des3Cbc => open::<cbc::Decryptor<TdesEde3>>(key, iv, text, pad),
            Kind::Des2Cbc => open::<cbc::Decryptor<TdesEde2>>(key, iv, text, pad),
            Kind::Aes128Gcm => {
                unseal::<AesGcm<Aes128, aes::cipher::consts::U12>>(key, iv, text, aad, tag)
            }
            Kind::Aes256Gcm => {
                unseal::<AesGcm<Aes256, aes::cipher::consts::U12>>(key, iv, text, aad, tag)
            }
        }
    }
}

const LENGTHS: Error = Error("key or iv has a wrong length");
const BAD: Error = Error("bad decrypt");

fn shut<C: KeyIvInit + BlockModeEncrypt>(
    key: &[u8],
    iv: &[u8],
    text: &[u8],
    pad: bool,
) -> Result<Vec<u8>> {
    let cipher = C::new_from_slices(key, iv).map_err(|_| LENGTHS)?;
    Ok(if pad {
        cipher.encrypt_padded_vec::<Pkcs7>(text)
    } else {
        cipher.encrypt_padded_vec::<NoPadding>(text)
    })
}

fn open<C: KeyIvInit + BlockModeDecrypt>(
    key: &[u8],
    iv: &[u8],
    text: &[u8],
    pad: bool,
) -> Result<Vec<u8>> {
    let cipher = C::new_from_slices(key, iv).map_err(|_| LENGTHS)?;
    if pad {
        cipher.decrypt_padded_vec::<Pkcs7>(text).map_err(|_| BAD)
    } else {
        cipher.decrypt_padded_vec::<NoPadding>(text).map_err(|_| BAD)
    }
}

fn seal<C: KeyInit + AeadInOut>(
    key: &[u8],
    iv: &[u8],
    text: &[u8],
    aad: &[u8],
) -> Result<(Vec<u8>, Vec<u8>)> {
    let cipher = C::new_from_slice(key).map_err(|_| LENGTHS)?;
    let nonce = Nonce::<C>::try_from(iv).map_err(|_| LENGTHS)?;
    let mut buffer = text.to_vec();
    let tag = cipher
        .encrypt_inout_detached(&nonce, aad, buffer.as_mut_slice().into())
        .map_err(|_| Error("data is too long"))?;
    Ok((buffer, tag.to_vec()))
}

fn unseal<C: KeyInit + AeadInOut>(
    key: &[u8],
    iv: &[u8],
    text: &[u8],
    aad: &[u8],
    tag: &[u8],
) -> Result<Vec<u8>> {
    let cipher = C::new_from_slice(key).map_err(|_| LENGTHS)?;
    let nonce = Nonce::<C>::try_from(iv).map_err(|_| LENGTHS)?;
    let tag = aes_gcm::aead::Tag::<C>::try_from(tag).map_err(|_| BAD)?;
    let mut buffer = text.to_vec();
    cipher
        .decrypt_inout_detached(&nonce, aad, buffer.as_mut_slice().into(), &tag)
        .map_err(|_| BAD)?;
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(s: &str) -> Vec<u8> {
        (0..s.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&s[i..i + 2], 16).expect("hex"))
            .collect()
    }

    /// Texts encrypted by the openssl program: `printf 'attack at dawn' | openssl enc -NAME -K … -iv …`.
    #[test]
    fn texts_of_openssl_open_and_ours_are_the_same() {
        for (name, key, iv, expected) in [
            (
                "aes-128-cbc",
                "000102030405060708090a0b0c0d0e0f",
                "101112131415161718191a1b1c1d1e1f",
                AES128,
            ),
            (
                "aes-256-cbc",
                "000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f",
                "101112131415161718191a1b1c1d1e1f",
                AES256,
            ),
            ("des3", "000102030405060708090a0b0c0d0e0f1011121314151617", "1011121314151617", DES3),
        ] {
            let cipher = Cipher::by_name(name).expect(name);
            let (out, _) =
                cipher.encrypt(&hex(key), &hex(iv), b"attack at dawn", true, b"").expect(name);
            assert_eq!(out, hex(expected), "{name}");
            assert_eq!(
                cipher.decrypt(&hex(key), &hex(iv), &out, true, b"", b"").as_deref(),
                Ok(&b"attack at dawn"[..])
            );
            assert_eq!(
                cipher.decrypt(&hex(key), &hex(iv), &out[1..], true, b"", b""),
                Err(Error("wrong final block length"))
            );
        }
    }
    const AES128: &str = "94a32ff64eb6fe363a58ef9b5fd44fee";
    const AES256: &str = "a14ae30b2f7db6ddb8884d2b4d41094d";
    const DES3: &str = "0765d1acc5bf14d0eb6731ecf766ffa2";

    #[test]
    fn an_authenticated_text_opens_only_with_its_tag() {
        let cipher = Cipher::by_name("aes-256-gcm").expect("known");
        let (out, tag) =
            cipher.encrypt(&[7; 32], &[9; 12], b"secret", true, b"head").expect("encrypts");
        assert_eq!(tag.len(), 16);
        assert_eq!(
            cipher.decrypt(&[7; 32], &[9; 12], &out, true, b"head", &tag).as_deref(),
            Ok(&b"secret"[..])
        );
        assert_eq!(cipher.decrypt(&[7; 32], &[9; 12], &out, true, b"tail", &tag), Err(BAD));
        assert_eq!(cipher.decrypt(&[7; 32], &[9; 12], &out, true, b"head", &tag[1..]), Err(BAD));
    }

    #[test]
    fn lengths_are_checked() {
        let cipher = Cipher::by_name("AES-256-CBC").expect("known");
        assert!(cipher.encrypt(&[0; 16], &[0; 16], b"", true, b"").is_err());
        assert!(cipher.encrypt(&[0; 32], &[0; 8], b"", true, b"").is_err());
        assert_eq!(
            cipher.encrypt(&[0; 32], &[0; 16], b"x", false, b""),
            Err(Error("wrong final block length"))
        );
        assert_eq!(Cipher::by_name("rot13"), None);
    }
}
