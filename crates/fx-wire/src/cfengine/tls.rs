//! TLS as CFEngine uses it: any certificate will do, and the key in it is whom one talks to.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, CipherSuite, ClientConfig, DigitallySignedStruct, DistinguishedName, Error,
    ServerConfig, SignatureScheme, SupportedProtocolVersion, version,
};

use super::certificate::public_key_of;
use super::keys::{PrivateKey, PublicKey};

/// What a server allows unless policy says otherwise.
pub const SERVER_CIPHERS: &str = "AES256-GCM-SHA384:AES256-SHA:TLS_AES_256_GCM_SHA384";

/// Names of OpenSSL and what we speak for each. The key exchange of old names is not spoken:
/// the same cipher with a newer exchange stands for them.
const CIPHERS: &[(&str, CipherSuite)] = &[
    ("TLS_AES_256_GCM_SHA384", CipherSuite::TLS13_AES_256_GCM_SHA384),
    ("TLS_AES_128_GCM_SHA256", CipherSuite::TLS13_AES_128_GCM_SHA256),
    ("TLS_CHACHA20_POLY1305_SHA256", CipherSuite::TLS13_CHACHA20_POLY1305_SHA256),
    ("ECDHE-RSA-AES256-GCM-SHA384", CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384),
    ("ECDHE-RSA-AES128-GCM-SHA256", CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256),
    ("AES256-GCM-SHA384", CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384),
    ("AES128-GCM-SHA256", CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256),
    ("ECDHE-RSA-CHACHA20-POLY1305", CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256),
];

/// What is offered to the other side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// A list of OpenSSL's names with colons between them.
    pub ciphers: Option<String>,
    /// The least version: `1.0` to `1.3`.
    pub least: Option<String>,
}

/// Why TLS cannot be spoken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    #[error("no cipher of '{0}' is supported")]
    Ciphers(String),
    #[error("{0}")]
    Other(String),
}

impl Offer {
    /// Suites of the list; all of them where there is no list.
    fn suites(&self) -> Option<Vec<CipherSuite>> {
        let list = self.ciphers.as_ref()?;
        let words: Vec<&str> = list.split([':', ',', ' ']).collect();
        let all = words.iter().any(|word| matches!(*word, "DEFAULT" | "ALL" | "HIGH"));
        let named = CIPHERS
            .iter()
            .filter(|(name, _)| words.contains(name) || all && !name.starts_with("TLS_"));
        Some(named.map(|(_, suite)| *suite).collect())
    }

    fn versions(&self) -> Vec<&'static SupportedProtocolVersion> {
        match self.least.as_deref() {
            Some("1.3") => vec![&version::TLS13],
            _ => vec![&version::TLS13, &version::TLS12],
        }
    }

    fn provider(&self) -> Result<Arc<CryptoProvider>, TlsError> {
        let mut provider = aws_lc_rs::default_provider();
        if let Some(suites) = self.suites() {
            provider.cipher_suites.retain(|known| suites.contains(&known.suite()));
        }
        if provider.cipher_suites.is_empty() {
            return Err(TlsError::Ciphers(self.ciphers.clone().unwrap_or_default()));
        }
        Ok(Arc::new(provider))
    }
}

fn other(error: Error) -> TlsError {
    TlsError::Other(error.to_string())
}

fn own(
    key: &PrivateKey,
    certificate: &[u8],
) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
    let chain = vec![CertificateDer::from(certificate.to_vec())];
    (chain, PrivateKeyDer::Pkcs1(key.der().to_vec().into()))
}

/// How a client secures its connections.
pub fn client_config(
    key: &PrivateKey,
    certificate: &[u8],
    offer: &Offer,
) -> Result<ClientConfig, TlsError> {
    let provider = offer.provider()?;
    let (chain, key) = own(key, certificate);
    let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&offer.versions())
        .map_err(other)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(KeyOnly(Signatures(provider))))
        .with_client_auth_cert(chain, key)
        .map_err(other)?;
    config.enable_sni = false;
    config.resumption = rustls::client::Resumption::disabled();
    Ok(config)
}

/// How a server secures its connections.
pub fn server_config(
    key: &PrivateKey,
    certificate: &[u8],
    offer: &Offer,
) -> Result<ServerConfig, TlsError> {
    let provider = offer.provider()?;
    let (chain, key) = own(key, certificate);
    let mut config = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&offer.versions())
        .map_err(other)?
        .with_client_cert_verifier(Arc::new(KeyOnly(Signatures(provider))))
        .with_single_cert(chain, key)
        .map_err(other)?;
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
    Ok(config)
}

/// The key of the peer of a connection that stands.
pub fn peer_key(certificates: Option<&[CertificateDer<'_>]>) -> Option<PublicKey> {
    public_key_of(certificates?.first()?).ok()
}

/// Takes any certificate with an RSA key; that the other side has the key is checked.
#[derive(Debug)]
struct KeyOnly(Signatures);

fn has_key(certificate: &CertificateDer<'_>) -> Result<(), Error> {
    public_key_of(certificate)
        .map(|_| ())
        .map_err(|_| Error::InvalidCertificate(CertificateError::BadEncoding))
}

/// Signatures by the key in a certificate, whatever else stands in it.
#[derive(Debug)]
struct Signatures(Arc<CryptoProvider>);

impl Signatures {
    // Libraries refuse the original's certificates of version 1, so the key is taken out first.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let bad = || Error::InvalidCertificate(CertificateError::BadSignature);
        let key = public_key_of(certificate).map_err(|_| bad())?.to_der();
        let known = self.0.signature_verification_algorithms.mapping.iter();
        let algorithms = known.filter(|(scheme, _)| *scheme == signed.scheme);
        algorithms
            .flat_map(|(_, algorithms)| algorithms.iter())
            .any(|algorithm| algorithm.verify_signature(&key, message, signed.signature()).is_ok())
            .then(HandshakeSignatureValid::assertion)
            .ok_or_else(bad)
    }

    // A key signs in the same way for both.
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify_tls12_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

impl ServerCertVerifier for KeyOnly {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        has_key(certificate).map(|()| ServerCertVerified::assertion())
    }

    crate::signatures_by!(0);
}

impl ClientCertVerifier for KeyOnly {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        has_key(certificate).map(|()| ClientCertVerified::assertion())
    }

    crate::signatures_by!(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(ciphers: Option<&str>, least: Option<&str>) -> Offer {
        Offer { ciphers: ciphers.map(str::to_owned), least: least.map(str::to_owned) }
    }

    #[test]
    fn lists_of_ciphers_choose_what_is_spoken() {
        let table = [
            (None, 9),
            (Some(SERVER_CIPHERS), 2),
            (Some("AES128-GCM-SHA256"), 1),
            (Some("TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256"), 2),
            (Some("AES128-SHA"), 0),
            (Some(""), 0),
        ];
        for (list, count) in table {
            let provider = offer(list, None).provider();
            let found = provider.map_or(0, |provider| provider.cipher_suites.len());
            assert_eq!(found, count, "{list:?}");
        }
        assert_eq!(offer(None, Some("1.3")).versions().len(), 1);
        assert_eq!(offer(None, Some("1.1")).versions().len(), 2);
    }
}
