//! RSA as AWS-LC does it: the two numbers that signatures are made of, and nothing else.
//!
//! Chef's requests put a text under the padding of a signature without a digest, which no safe
//! interface of the library offers. Keys are hidden from whoever measures time by the library.

use std::ptr::NonNull;

use aws_lc_sys as lc;

/// A key within the library, which checked it when it was read.
struct Rsa(NonNull<lc::RSA>);

// SAFETY: the library counts and locks within a key by itself.
#[expect(unsafe_code, reason = "the library says which of its calls threads may share")]
unsafe impl Send for Rsa {}
// SAFETY: signing and verifying are documented as calls that threads may make at once.
#[expect(unsafe_code, reason = "the library says which of its calls threads may share")]
unsafe impl Sync for Rsa {}

impl Drop for Rsa {
    #[expect(unsafe_code, reason = "contact to the library")]
    fn drop(&mut self) {
        // SAFETY: the pointer came from the library, nobody else has it, and it is not used again.
        unsafe { lc::RSA_free(self.0.as_ptr()) }
    }
}

/// Either of the two calls that take a number and give one, both of the size of the key.
type Power = unsafe extern "C" fn(
    *mut lc::RSA,
    *mut usize,
    *mut u8,
    usize,
    *const u8,
    usize,
    std::ffi::c_int,
) -> std::ffi::c_int;

impl Rsa {
    /// What one of the functions that read a key made of it.
    #[expect(unsafe_code, reason = "contact to the library")]
    fn read(
        reader: unsafe extern "C" fn(*const u8, usize) -> *mut lc::RSA,
        der: &[u8],
    ) -> Option<Rsa> {
        // SAFETY: the pointer and the length are of one slice, which is only read.
        let key = NonNull::new(unsafe { reader(der.as_ptr(), der.len()) });
        if key.is_none() {
            forget_errors();
        }
        key.map(Rsa)
    }

    /// Bytes of the modulus.
    #[expect(unsafe_code, reason = "contact to the library")]
    fn size(&self) -> usize {
        // SAFETY: the key lives as long as `self`.
        unsafe { lc::RSA_size(self.0.as_ptr()) as usize }
    }

    /// A number to the power of the key. `None` where it is not below the modulus.
    #[expect(unsafe_code, reason = "contact to the library")]
    fn power(&self, power: Power, number: &[u8]) -> Option<Vec<u8>> {
        let size = self.size();
        if number.len() != size {
            return None;
        }
        let (mut out, mut written) = (vec![0; size], 0);
        // SAFETY: the key lives as long as `self`; `out` has room for the length that is given with
        // it, `number` is read up to its own length, and they do not overlap.
        let done = unsafe {
            power(
                self.0.as_ptr(),
                &raw mut written,
                out.as_mut_ptr(),
                out.len(),
                number.as_ptr(),
                number.len(),
                lc::RSA_NO_PADDING,
            )
        };
        if done != 1 || written != size {
            forget_errors();
            return None;
        }
        Some(out)
    }
}

/// The library keeps reasons for each thread; ours are not for the next one who asks.
#[expect(unsafe_code, reason = "contact to the library")]
fn forget_errors() {
    // SAFETY: it takes nothing and may be called at any time.
    unsafe { lc::ERR_clear_error() }
}

/// A text under the padding of a signature: `00 01 ff … ff 00 text`.
fn padded(text: &[u8], size: usize) -> Option<Vec<u8>> {
    let filling = size.checked_sub(text.len() + 3).filter(|filling| *filling >= 8)?;
    let mut out = vec![0, 1];
    out.resize(2 + filling, 0xff);
    out.push(0);
    out.extend_from_slice(text);
    Some(out)
}

/// A private key that was read and checked, to sign with more than once.
pub struct PrivateKey(Rsa);

impl PrivateKey {
    /// Reads PKCS#1; `None` where it is no key.
    pub fn from_der(der: &[u8]) -> Option<PrivateKey> {
        Rsa::read(lc::RSA_private_key_from_bytes, der).map(PrivateKey)
    }

    /// The text under the padding of a signature; `None` where it is too long for the key.
    pub fn sign_text(&self, text: &[u8]) -> Option<Vec<u8>> {
        self.0.power(lc::RSA_sign_raw, &padded(text, self.0.size())?)
    }
}

/// A public key that was read and checked, to verify with more than once.
pub struct PublicKey(Rsa);

impl PublicKey {
    /// Reads PKCS#1; `None` where it is no key.
    pub fn from_der(der: &[u8]) -> Option<PublicKey> {
        Rsa::read(lc::RSA_public_key_from_bytes, der).map(PublicKey)
    }

    /// Whether a signature holds exactly this text, with the padding that it must have.
    pub fn holds(&self, text: &[u8], signature: &[u8]) -> bool {
        // The whole block is compared, so no padding is ever read.
        let wanted = padded(text, self.0.size());
        wanted.is_some_and(|wanted| self.0.power(lc::RSA_verify_raw, signature) == Some(wanted))
    }
}

impl std::fmt::Debug for PrivateKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key is nobody's business.
        out.write_str("PrivateKey")
    }
}

impl std::fmt::Debug for PublicKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("PublicKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_key_is_refused() {
        for der in [&b""[..], b"x", &[0x30, 0], &[0x30, 0x80], &[0xff; 300]] {
            assert!(PrivateKey::from_der(der).is_none() && PublicKey::from_der(der).is_none());
        }
    }

    #[test]
    fn a_padding_is_long_enough_or_there_is_none() {
        assert_eq!(
            padded(b"ab", 13).as_deref(),
            Some(&b"\0\x01\xff\xff\xff\xff\xff\xff\xff\xff\0ab"[..])
        );
        assert_eq!(padded(b"abc", 13), None);
        assert_eq!(padded(b"abc", 2), None);
    }
}
