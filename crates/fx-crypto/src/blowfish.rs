//! Blowfish in CBC mode with a key of 128 bits, which CFEngine's old protocol still needs.

use ::blowfish::Blowfish;
use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};

use crate::{Error, Result};

const LENGTHS: Error = Error("key or iv has a wrong length");

/// The text encrypted and padded to whole blocks.
pub fn encrypt(key: &[u8; 16], iv: &[u8; 8], text: &[u8]) -> Result<Vec<u8>> {
    let cipher = cbc::Encryptor::<Blowfish>::new_from_slices(key, iv).map_err(|_| LENGTHS)?;
    Ok(cipher.encrypt_padded_vec::<Pkcs7>(text))
}

/// The text in the clear.
pub fn decrypt(key: &[u8; 16], iv: &[u8; 8], text: &[u8]) -> Result<Vec<u8>> {
    let cipher = cbc::Decryptor::<Blowfish>::new_from_slices(key, iv).map_err(|_| LENGTHS)?;
    cipher.decrypt_padded_vec::<Pkcs7>(text).map_err(|_| Error("bad decrypt"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_encrypted_as_openssl_does() {
        // printf hello | openssl enc -bf-cbc -K 000102…0f -iv 0102030405060708 -provider legacy
        let key = std::array::from_fn(|at| at as u8);
        let iv = [1, 2, 3, 4, 5, 6, 7, 8];
        let shut = encrypt(&key, &iv, b"hello").unwrap();
        assert_eq!(fx_formats::hex(&shut), "3bf4a5f32a718770");
        assert_eq!(decrypt(&key, &iv, &shut).as_deref(), Ok(&b"hello"[..]));
        assert_eq!(decrypt(&key, &iv, &shut[..7]), Err(Error("bad decrypt")));
    }
}
