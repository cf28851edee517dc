//! TLS towards a server: whom we trust, and who we are.

use std::fmt;
use std::io::{Read, Write};
use std::sync::Arc;

use fx_wire::x509::{Certificate, Key, Revocations};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
    StreamOwned,
};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport,
    TransportAdapter,
};

/// Whose certificates a server may show.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Anyone's: only to fetch the certificates that are trusted from then on.
    Anyone,
    /// Those of these authorities, unless revoked. Each one is trusted by itself: servers send
    /// their own certificate alone.
    Authorities { certificates: Vec<Certificate>, revocations: Vec<Revocations> },
    /// Those of these authorities, or one of these certificates itself, as it is shown by a
    /// server that signed its own. Its name and its time count all the same.
    Known(Vec<Certificate>),
    /// The same, whatever name they are made for.
    KnownByAnyName(Vec<Certificate>),
}

/// Our own certificate and its key.
#[derive(Clone)]
pub struct Identity {
    pub certificate: Certificate,
    pub key: Key,
}

impl fmt::Debug for Identity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The key is nobody's business.
        out.debug_struct("Identity").field("name", &self.certificate.name()).finish_non_exhaustive()
    }
}

/// How connections are secured; what is wrong with what was given otherwise.
pub fn config(trust: &Trust, identity: Option<&Identity>) -> Result<ClientConfig, String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        Trust::Anyone => Arc::new(Unverified(Arc::clone(&provider))),
        Trust::Authorities { certificates, revocations } => {
            verifier(&provider, certificates, revocations)?
        }
        Trust::Known(certificates) | Trust::KnownByAnyName(certificates) => Arc::new(Known {
            authorities: verifier(&provider, certificates, &[])?,
            certificates: certificates.clone(),
            any_name: matches!(trust, Trust::KnownByAnyName(_)),
        }),
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let Some(identity) = identity else { return Ok(builder.with_no_client_auth()) };
    let (key, is_rsa) = identity.key.to_der().map_err(|error| error.to_string())?;
    let key =
        if is_rsa { PrivateKeyDer::Pkcs1(key.into()) } else { PrivateKeyDer::Sec1(key.into()) };
    let own = CertificateDer::from(identity.certificate.der().to_vec());
    builder.with_client_auth_cert(vec![own], key).map_err(|error| error.to_string())
}

fn verifier(
    provider: &Arc<CryptoProvider>,
    certificates: &[Certificate],
    revocations: &[Revocations],
) -> Result<Arc<WebPkiServerVerifier>, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let der = CertificateDer::from(certificate.der().to_vec());
        roots.add(der).map_err(|error| error.to_string())?;
    }
    if roots.is_empty() {
        return Err("no certificate is trusted".to_owned());
    }
    let lists = revocations.iter().map(|list| list.der().to_vec().into());
    let mut builder =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    if !revocations.is_empty() {
        builder = builder.with_crls(lists);
    }
    builder.build().map_err(|error| error.to_string())
}

/// Takes any certificate; signatures are checked all the same.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let schemes = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, schemes)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let schemes = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, schemes)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Takes what authorities signed, and a certificate that is known itself.
#[derive(Debug)]
struct Known {
    authorities: Arc<WebPkiServerVerifier>,
    certificates: Vec<Certificate>,
    any_name: bool,
}

/// Whether a certificate is sound but for the name it is made for.
fn is_other_name(error: &rustls::Error) -> bool {
    use rustls::CertificateError::{NotValidForName, NotValidForNameContext};
    matches!(
        error,
        rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. })
    )
}

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(known) = self.certificates.iter().find(|one| one.der() == shown.as_ref()) else {
            // The name is looked at last, when all else was found in order.
            return match self.authorities.verify_server_cert(shown, between, name, ocsp, now) {
                Err(error) if self.any_name && is_other_name(&error) => {
                    Ok(ServerCertVerified::assertion())
                }
                verified => verified,
            };
        };
        let (from, to) = known.validity();
        if now.as_secs() < from {
            return Err(rustls::CertificateError::NotValidYet.into());
        }
        if now.as_secs() > to {
            return Err(rustls::CertificateError::Expired.into());
        }
        if !self.any_name {
            verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fx_wire::signatures_by!(authorities);
}

/// Wraps connections in TLS as configured here; the HTTP client's own way knows neither lists
/// of revoked certificates nor authorities below a root.
pub(crate) struct Secured(pub(crate) Arc<ClientConfig>);

impl fmt::Debug for Secured {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secured")
    }
}

impl<In: Transport> Connector<In> for Secured {
    type Out = Either<In, Stream>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        let Some(transport) = chained else { return Ok(None) };
        if !details.needs_tls() || transport.is_tls() {
            return Ok(Some(Either::A(transport)));
        }
        let host = details.uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| ureq::Error::Tls("the name of the server is no name of a host"))?;
        let mut conn = ClientConnection::new(Arc::clone(&self.0), name)?;
        let mut sock = TransportAdapter::new(transport.boxed(), details.current_time.clone());
        sock.set_timeout(details.timeout);
        conn.complete_io(&mut sock)?;
        let buffers = LazyBuffers::new(
            details.config.input_buffer_size(),
            details.config.output_buffer_size(),
        );
        Ok(Some(Either::B(Stream { buffers, stream: StreamOwned { conn, sock } })))
    }
}

/// A connection inside TLS.
pub(crate) struct Stream {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
}

impl fmt::Debug for Stream {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Stream")
    }
}

impl Transport for Stream {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.stream.get_mut().set_timeout(timeout);
        let output = &self.buffers.output()[..amount];
        Ok(self.stream.write_all(output)?)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        self.stream.get_mut().set_timeout(timeout);
        let input = self.buffers.input_append_buf();
        let amount = self.stream.read(input)?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.get_mut().get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}
