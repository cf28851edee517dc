//! A small client: one TLS connection, requests as they are written, replies as they come.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use fx_wire::x509::{Certificate, Key};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// A connection to a server of the name `localhost`.
pub(crate) struct Client(StreamOwned<ClientConnection, TcpStream>);

/// What came back.
#[derive(Debug)]
pub(crate) struct Came {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Came {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Client {
    /// Connects, with a certificate where one is given.
    pub(crate) fn connect(
        address: SocketAddr,
        roots: &[Certificate],
        own: Option<(&Certificate, &Key)>,
    ) -> Client {
        let mut store = RootCertStore::empty();
        for root in roots {
            store.add(CertificateDer::from(root.der().to_vec())).unwrap();
        }
        let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(store);
        let config = match own {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let (der, is_rsa) = key.to_der().unwrap();
                let key = if is_rsa {
                    PrivateKeyDer::Pkcs1(der.into())
                } else {
                    PrivateKeyDer::Sec1(der.into())
                };
                let chain = vec![CertificateDer::from(certificate.der().to_vec())];
                builder.with_client_auth_cert(chain, key).unwrap()
            }
        };
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        Client(StreamOwned::new(connection, stream))
    }

    /// Sends a request and reads the reply; nothing where the server ended the connection.
    pub(crate) fn send(
        &mut self,
        method: &str,
        target: &str,
        fields: &[(&str, &str)],
        body: &[u8],
    ) -> Option<Came> {
        let mut head = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n");
        for (name, value) in fields {
            head = head + name + ": " + value + "\r\n";
        }
        head = format!("{head}Content-Length: {}\r\n\r\n", body.len());
        self.raw(head.as_bytes())?;
        self.raw(body)?;
        self.read(method == "HEAD")
    }

    /// Sends bytes as they are.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Option<()> {
        self.0.write_all(bytes).and_then(|()| self.0.flush()).ok()
    }

    pub(crate) fn read(&mut self, is_head: bool) -> Option<Came> {
        let mut bytes = Vec::new();
        let mut byte = [0];
        while !bytes.ends_with(b"\r\n\r\n") {
            match self.0.read(&mut byte) {
                Ok(1) => bytes.push(byte[0]),
                _ => return None,
            }
        }
        let head = String::from_utf8_lossy(&bytes).to_lowercase();
        let status = head.split_whitespace().nth(1)?.parse().ok()?;
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
        let mut body = vec![0; if is_head { 0 } else { length }];
        self.0.read_exact(&mut body).ok()?;
        Some(Came { status, head, body })
    }
}
