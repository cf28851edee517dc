//! The network as far as an agent needs it: HTTP requests, interfaces, name look-ups.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::Result;

/// An HTTP request. Redirects are followed, credentials are not carried to another host.
#[derive(Clone, Debug)]
pub struct Request {
    /// `GET`, `POST` and so on.
    pub method: String,
    /// Where to.
    pub url: String,
    /// Header fields in order.
    pub headers: Vec<(String, String)>,
    /// What to send.
    pub body: Vec<u8>,
    /// Most time for the whole exchange.
    pub timeout: Duration,
    /// Most bytes taken of the answer.
    pub limit: u64,
    /// Proxy address; `None` takes it from the environment.
    pub proxy: Option<String>,
    /// File with CA certificates to trust; `None` trusts those of the system.
    pub ca_file: Option<PathBuf>,
}

impl Request {
    /// A GET with a minute of time and 64 MiB of room.
    pub fn get(url: impl Into<String>) -> Request {
        Request {
            method: "GET".into(),
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
            timeout: Duration::from_mins(1),
            limit: 64 << 20,
            proxy: None,
            ca_file: None,
        }
    }
}

/// An HTTP answer, of whatever status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Header fields in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, whole.
    pub body: Vec<u8>,
}

/// A network interface with its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Name, such as `eth0`.
    pub name: String,
    /// Whether it is up.
    pub up: bool,
    /// Addresses with the length of their prefix, in the kernel's order.
    pub addresses: Vec<(IpAddr, u8)>,
}

/// Talking to the network.
pub trait Net {
    /// One HTTP exchange.
    fn http(&self, request: &Request) -> Result<Response>;
    /// The interfaces of the machine, in the kernel's order.
    fn interfaces(&self) -> Result<Vec<Interface>>;
    /// Addresses of a host name.
    fn resolve(&self, name: &str) -> Result<Vec<IpAddr>>;
    /// The name an address belongs to.
    fn reverse(&self, address: IpAddr) -> Result<Option<String>>;
    /// Connects to an address, says something and takes what comes back in one go, up to a
    /// limit; without a limit the connection is closed at once.
    fn ask(
        &self,
        address: SocketAddr,
        question: &[u8],
        limit: usize,
        patience: Duration,
    ) -> Result<Vec<u8>>;
}
