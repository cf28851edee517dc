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
    /// Files with our own certificate and its key, for servers that want to know who we are.
    pub identity: Option<(PathBuf, PathBuf)>,
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
            identity: None,
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Name, such as `eth0`.
    pub name: String,
    /// Up, loopback and so on, as the kernel's bits.
    pub flags: u32,
    /// Kind of hardware by its number in ARP; 1 is Ethernet.
    pub kind: u16,
    /// Hardware address in lower case.
    pub mac: Option<String>,
    /// Largest packet.
    pub mtu: Option<u64>,
    /// State as the kernel names it.
    pub state: Option<&'static str>,
    /// Packets that may wait to be sent.
    pub queue: Option<u32>,
    /// What went through it.
    pub counters: Option<Counters>,
    /// In the kernel's order.
    pub addresses: Vec<Address>,
}

impl Interface {
    /// Whether it is up.
    pub fn is_up(&self) -> bool {
        self.flags & 1 != 0
    }
}

/// What went through an interface since it is there.
#[expect(missing_docs, reason = "the names say it; bytes where no unit is named")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub received: u64,
    pub received_packets: u64,
    pub receive_errors: u64,
    pub receive_dropped: u64,
    pub receive_missed: u64,
    pub sent: u64,
    pub sent_packets: u64,
    pub send_errors: u64,
    pub send_dropped: u64,
    pub carrier_errors: u64,
    pub collisions: u64,
}

/// An address of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address.
    pub ip: IpAddr,
    /// Length of its prefix.
    pub prefix: u8,
    /// How far it reaches, as the kernel's number: 0 everywhere, 253 the link, 254 the host.
    pub scope: u8,
    /// Where all of the network are reached.
    pub broadcast: Option<IpAddr>,
    /// The other end of a line with two ends.
    pub peer: Option<IpAddr>,
    /// Temporary, tentative and so on, as the kernel's bits.
    pub flags: u32,
}

impl Address {
    /// An address with the reach that its number gives, and nothing more known of it.
    pub fn new(ip: IpAddr, prefix: u8) -> Address {
        let on_link = match ip {
            IpAddr::V4(ip) => ip.is_link_local(),
            IpAddr::V6(ip) => ip.is_unicast_link_local(),
        };
        let scope = match () {
            () if ip.is_loopback() => 254,
            () if on_link => 253,
            () => 0,
        };
        Address { ip, prefix, scope, broadcast: None, peer: None, flags: 0 }
    }
}

/// A route of the main table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// Whether it is of version 6.
    pub v6: bool,
    /// Network and length of its prefix; none is everything.
    pub destination: Option<(IpAddr, u8)>,
    /// Where packets are handed to.
    pub gateway: Option<IpAddr>,
    /// Through which interface.
    pub interface: String,
    /// The address packets come from.
    pub source: Option<IpAddr>,
    /// The lower the better.
    pub metric: Option<u32>,
    /// Who made it, as the kernel's number.
    pub protocol: u8,
    /// How far it reaches, as the kernel's number.
    pub scope: u8,
}

/// A machine nearby.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its address.
    pub address: IpAddr,
    /// The interface it is reached by.
    pub interface: String,
    /// Its hardware address in lower case.
    pub mac: String,
}

/// Looking at the network.
pub trait Net {
    /// One HTTP exchange that only reads: GET or HEAD; another method is refused.
    fn fetch(&self, request: &Request) -> Result<Response>;
    /// The interfaces of the machine, in the kernel's order.
    fn interfaces(&self) -> Result<Vec<Interface>>;
    /// The routes of the main table, those of version 4 first, else in the kernel's order.
    fn routes(&self) -> Result<Vec<Route>>;
    /// The machines nearby whose hardware address is known.
    fn neighbours(&self) -> Result<Vec<Neighbour>>;
    /// Addresses of a host name.
    fn resolve(&self, name: &str) -> Result<Vec<IpAddr>>;
    /// The name an address belongs to.
    fn reverse(&self, address: IpAddr) -> Result<Option<String>>;
}

/// Talking to others. Reachable only where a change is made: see [`crate::Act`].
pub trait Requests {
    /// One HTTP exchange.
    fn http(&self, request: &Request) -> Result<Response>;
    /// A connection to an address, for protocols of others.
    fn dial(&self, address: SocketAddr, patience: Duration) -> Result<std::net::TcpStream>;
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
