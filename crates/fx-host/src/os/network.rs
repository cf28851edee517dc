//! The network of the real machine: HTTP, interfaces, name look-ups. Blocking throughout.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::OsHost;
use crate::{Commands, Files, HostError, Interface, Net, Request, Response, Result, Spec};

impl Net for OsHost {
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
            .tls_config(TlsConfig::builder().root_certs(roots).build())
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

    fn interfaces(&self) -> Result<Vec<Interface>> {
        interfaces()
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

#[expect(unsafe_code, reason = "the kernel's interface list has no safe binding among our crates")]
fn interfaces() -> Result<Vec<Interface>> {
    let mut head: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: getifaddrs fills the pointer with a list that freeifaddrs takes back below.
    if unsafe { libc::getifaddrs(&raw mut head) } != 0 {
        return Err(HostError::io("list interfaces of", "/", std::io::Error::last_os_error()));
    }
    let mut list: Vec<Interface> = Vec::new();
    let mut next = head;
    while !next.is_null() {
        // SAFETY: each node of the list is valid until freeifaddrs; the name is a C string.
        let (node, name) = unsafe { (&*next, std::ffi::CStr::from_ptr((*next).ifa_name)) };
        let name = name.to_string_lossy().into_owned();
        let index = list.iter().position(|known| known.name == name).unwrap_or_else(|| {
            list.push(Interface {
                name,
                up: node.ifa_flags & libc::IFF_UP as u32 != 0,
                addresses: Vec::new(),
            });
            list.len() - 1
        });
        if let (Some(address), Some(mask)) = (ip(node.ifa_addr), ip(node.ifa_netmask)) {
            let prefix = match mask {
                IpAddr::V4(mask) => mask.to_bits().count_ones(),
                IpAddr::V6(mask) => mask.to_bits().count_ones(),
            };
            list[index].addresses.push((address, prefix as u8));
        }
        next = node.ifa_next;
    }
    // SAFETY: the list came from getifaddrs and nothing borrowed from it is left.
    unsafe { libc::freeifaddrs(head) };
    Ok(list)
}

#[expect(unsafe_code, reason = "an address is read according to the family it states")]
fn ip(address: *const libc::sockaddr) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: the pointer is not null, and the family tells which structure it points to.
    unsafe {
        match i32::from((*address).sa_family) {
            libc::AF_INET => Some(IpAddr::V4(Ipv4Addr::from(u32::from_be(
                address.cast::<libc::sockaddr_in>().read_unaligned().sin_addr.s_addr,
            )))),
            libc::AF_INET6 => Some(IpAddr::V6(Ipv6Addr::from(
                address.cast::<libc::sockaddr_in6>().read_unaligned().sin6_addr.s6_addr,
            ))),
            _ => None,
        }
    }
}
