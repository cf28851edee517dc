//! The network of the real machine: HTTP, interfaces, name look-ups. Blocking throughout.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

use super::{OsHost, netlink};
use crate::{
    Commands, Files, HostError, Interface, Neighbour, Net, Queries, Request, Requests, Response,
    Result, Route, Spec,
};

impl Net for OsHost {
    fn fetch(&self, request: &Request) -> Result<Response> {
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            let reason = format!("{} does not only read", request.method);
            return Err(HostError::Net { url: without_credentials(&request.url), reason });
        }
        self.http(request)
    }

    fn interfaces(&self) -> Result<Vec<Interface>> {
        netlink::interfaces().map_err(|error| HostError::io("list interfaces of", "/", error))
    }

    fn routes(&self) -> Result<Vec<Route>> {
        netlink::routes().map_err(|error| HostError::io("list routes of", "/", error))
    }

    fn neighbours(&self) -> Result<Vec<Neighbour>> {
        netlink::neighbours().map_err(|error| HostError::io("list neighbours of", "/", error))
    }

    fn resolve(&self, name: &str) -> Result<Vec<IpAddr>> {
        let addresses = (name, 0)
            .to_socket_addrs()
            .map_err(|error| HostError::Net { url: name.into(), reason: error.to_string() })?;
        let mut list: Vec<IpAddr> = Vec::new();
        for address in addresses {
            if !list.contains(&address.ip()) {
                list.push(address.ip());
            }
        }
        Ok(list)
    }

    fn reverse(&self, address: IpAddr) -> Result<Option<String>> {
        // Through the system's own resolver, which knows more sources than we do.
        let Some(getent) = self.find_program("getent") else { return Ok(None) };
        let spec =
            Spec::argv([getent.into_os_string(), "hosts".into(), address.to_string().into()])
                .timeout(Duration::from_secs(5));
        let ended = self.run(&spec)?;
        let text = String::from_utf8_lossy(&ended.stdout).into_owned();
        Ok(text.split_whitespace().nth(1).map(str::to_owned).filter(|_| ended.exit.success()))
    }
}

impl Requests for OsHost {
    fn http(&self, request: &Request) -> Result<Response> {
        let fail =
            |reason: String| HostError::Net { url: without_credentials(&request.url), reason };
        let roots = match &request.ca_file {
            Some(path) => {
                let pem = self.read(path)?;
                let found = ureq::tls::parse_pem(&pem).filter_map(|item| match item {
                    Ok(ureq::tls::PemItem::Certificate(cert)) => Some(cert),
                    _ => None,
                });
                let certificates: Vec<Certificate<'static>> = found.collect();
                if certificates.is_empty() {
                    return Err(fail(format!("'{}' holds no certificate", path.display())));
                }
                RootCerts::new_with_certs(&certificates)
            }
            None => system_roots(self),
        };
        let identity = match &request.identity {
            Some((certificate, key)) => Some(client_certificate(self, certificate, key, &fail)?),
            None => None,
        };
        let proxy = match &request.proxy {
            Some(address) => {
                Some(ureq::Proxy::new(address).map_err(|error| fail(error.to_string()))?)
            }
            None => ureq::Proxy::try_from_env(),
        };
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(request.timeout))
            .http_status_as_error(false)
            .proxy(proxy)
            .tls_config(TlsConfig::builder().root_certs(roots).client_cert(identity).build())
            .build()
            .into();
        let mut message =
            ureq::http::Request::builder().method(request.method.as_str()).uri(&request.url);
        for (name, value) in &request.headers {
            message = message.header(name, value);
        }
        let message = message.body(&request.body[..]).map_err(|error| fail(error.to_string()))?;
        let mut answer = agent.run(message).map_err(|error| fail(error.to_string()))?;
        let body = answer
            .body_mut()
            .with_config()
            .limit(request.limit)
            .read_to_vec()
            .map_err(|error| fail(error.to_string()))?;
        let headers = answer.headers().iter();
        let headers = headers.map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        Ok(Response { status: answer.status().as_u16(), headers: headers.collect(), body })
    }

    fn dial(&self, address: SocketAddr, patience: Duration) -> Result<TcpStream> {
        let fail = |error| HostError::io("connect to", address.to_string(), error);
        let stream = TcpStream::connect_timeout(&address, patience).map_err(fail)?;
        stream.set_nodelay(true).map_err(fail)?;
        stream.set_read_timeout(Some(patience)).map_err(fail)?;
        stream.set_write_timeout(Some(patience)).map_err(fail)?;
        Ok(stream)
    }

    fn ask(
        &self,
        address: SocketAddr,
        question: &[u8],
        limit: usize,
        patience: Duration,
    ) -> Result<Vec<u8>> {
        let fail = |error| HostError::io("connect to", address.to_string(), error);
        let mut stream = TcpStream::connect_timeout(&address, patience).map_err(fail)?;
        stream.set_read_timeout(Some(patience)).map_err(fail)?;
        stream.write_all(question).map_err(fail)?;
        let mut answer = vec![0; limit];
        let got = if limit == 0 { 0 } else { stream.read(&mut answer).map_err(fail)? };
        answer.truncate(got);
        Ok(answer)
    }
}

/// Our own certificate and its key.
fn client_certificate(
    host: &OsHost,
    certificate: &std::path::Path,
    key: &std::path::Path,
    fail: &dyn Fn(String) -> HostError,
) -> Result<ClientCert> {
    let wrong = |error: ureq::Error| fail(error.to_string());
    let pem = host.read(certificate)?;
    let certificates: Vec<Certificate<'static>> = ureq::tls::parse_pem(&pem)
        .filter_map(|item| match item {
            Ok(ureq::tls::PemItem::Certificate(cert)) => Some(cert),
            _ => None,
        })
        .collect();
    let key = PrivateKey::from_pem(&host.read(key)?).map_err(wrong)?;
    Ok(ClientCert::new_with_certs(&certificates, key))
}

// A password in an address must not reach a message.
fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let host_end = rest.find('/').unwrap_or(rest.len());
    match rest[..host_end].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}

/// The certificates the distribution trusts; those compiled in where it ships none.
fn system_roots(host: &OsHost) -> RootCerts {
    const CA_FILES: [&str; 4] = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ];
    let found = CA_FILES.iter().find_map(|path| host.read_opt(path.as_ref()).ok().flatten());
    let Some(pem) = found else { return RootCerts::WebPki };
    let certificates: Vec<Certificate<'static>> = ureq::tls::parse_pem(&pem)
        .filter_map(|item| match item {
            Ok(ureq::tls::PemItem::Certificate(cert)) => Some(cert),
            _ => None,
        })
        .collect();
    RootCerts::new_with_certs(&certificates)
}
