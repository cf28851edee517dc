//! TLS: our certificate, and the verification of those that clients show.

use std::sync::Arc;

use fx_wire::x509::{Certificate, Key};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DistinguishedName, RootCertStore, ServerConfig};

use crate::caller::serial_text;
use crate::revoked::RevokedSerials;

/// Why TLS cannot be offered.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("the server's certificate cannot be used: {0}")]
    Own(String),
    #[error("the authority's certificates cannot be used: {0}")]
    Authority(String),
}

/// What TLS needs.
#[derive(Clone)]
pub struct Tls {
    /// Our certificate first, then those above it that clients may lack.
    pub chain: Vec<Certificate>,
    pub key: Key,
    /// Whose certificates clients may show.
    pub authorities: Vec<Certificate>,
    pub revoked: RevokedSerials,
}

impl Tls {
    pub(crate) fn config(&self) -> Result<ServerConfig, TlsError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        for authority in &self.authorities {
            // Each one of the chain is trusted by itself: agents send their own certificate alone.
            roots
                .add(CertificateDer::from(authority.der().to_vec()))
                .map_err(|error| TlsError::Authority(error.to_string()))?;
        }
        let inner =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .allow_unauthenticated()
                .build()
                .map_err(|error| TlsError::Authority(error.to_string()))?;
        let verifier = Arc::new(Verifier { inner, revoked: self.revoked.clone() });
        let own = |error: rustls::Error| TlsError::Own(error.to_string());
        let chain = self.chain.iter().map(|one| CertificateDer::from(one.der().to_vec()));
        let (key, is_rsa) = self.key.to_der().map_err(|error| TlsError::Own(error.to_string()))?;
        let key =
            if is_rsa { PrivateKeyDer::Pkcs1(key.into()) } else { PrivateKeyDer::Sec1(key.into()) };
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(own)?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain.collect(), key)
            .map_err(own)?;
        Ok(config)
    }
}

/// Verifies chains as usual and looks at the revoked serial numbers of this moment, so that a
/// revocation holds from the next handshake on and no configuration is exchanged for it.
#[derive(Debug)]
struct Verifier {
    inner: Arc<dyn ClientCertVerifier>,
    revoked: RevokedSerials,
}

impl ClientCertVerifier for Verifier {
    fn offer_client_auth(&self) -> bool {
        self.inner.offer_client_auth()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.inner.client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.inner.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        let verified = self.inner.verify_client_cert(end_entity, intermediates, now)?;
        let certificate = Certificate::from_der(end_entity.to_vec())
            .map_err(|_| rustls::Error::from(CertificateError::BadEncoding))?;
        if self.revoked.contains(&serial_text(&certificate.serial())) {
            return Err(CertificateError::Revoked.into());
        }
        Ok(verified)
    }

    fx_wire::signatures_by!(inner);
}
