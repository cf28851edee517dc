//! Ciphers, key pairs, signed envelopes and hashes of passwords over plain bytes, for what policy code asks of
//! OpenSSL: reading and making keys, signing, and opening values that were encrypted for a
//! node. Not a TLS stack, and no opinion on formats beyond DER: PEM is read, not written, and
//! X.509 objects are built by the callers.
#![forbid(unsafe_code)]

pub mod blowfish;
pub mod cipher;
mod cipher_names;
pub mod cms;
pub mod der;
pub mod digest;
pub mod ec;
pub mod password;
pub mod pem;
pub mod rsa_key;

/// What went wrong, in OpenSSL's words where people grep them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(pub &'static str);

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

/// Random bytes of the host, as the crates below want them.
pub struct Random<'a>(pub &'a mut dyn FnMut(&mut [u8]));

impl rand_core::TryRng for Random<'_> {
    type Error = std::convert::Infallible;
    fn try_next_u32(&mut self) -> std::result::Result<u32, Self::Error> {
        let mut b = [0; 4];
        (self.0)(&mut b);
        Ok(u32::from_le_bytes(b))
    }
    fn try_next_u64(&mut self) -> std::result::Result<u64, Self::Error> {
        let mut b = [0; 8];
        (self.0)(&mut b);
        Ok(u64::from_le_bytes(b))
    }
    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> std::result::Result<(), Self::Error> {
        (self.0)(dst);
        Ok(())
    }
}

impl rand_core::TryCryptoRng for Random<'_> {}
