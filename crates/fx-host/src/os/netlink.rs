//! What the kernel says of links, addresses, routes and neighbours, asked over its routing
//! socket: one question each, answered in one go.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, netlink, recv, send,
    socket_with,
};

use crate::net::{Address, Counters, Interface, Neighbour, Route};

/// Heads of messages; all numbers are in the machine's own byte order.
const HEAD: usize = 16;
const DONE: u16 = 3;
const ERROR: u16 = 2;
/// A question that wants the whole table.
const DUMP: u16 = 0x301;

const LINK: Table = Table { ask: 18, answer: 16, head: 16 };
const ADDRESS: Table = Table { ask: 22, answer: 20, head: 8 };
const ROUTE: Table = Table { ask: 26, answer: 24, head: 12 };
const NEIGHBOUR: Table = Table { ask: 30, answer: 28, head: 12 };

/// The table of routes that is looked at unless rules say otherwise.
const MAIN: u32 = 254;
const UNICAST: u8 = 1;
/// A route that was only remembered.
const CLONED: u32 = 0x200;
/// States of neighbours that nobody asked for: none, and those that need no asking.
const NO_NEIGHBOUR: [u16; 2] = [0, 0x40];

/// The kernel gives answers of up to this many bytes.
const ROOM: usize = 32 * 1024;

/// One of the kernel's tables: the numbers of question and answer, and how long the fixed part
/// of an entry is.
struct Table {
    ask: u16,
    answer: u16,
    head: usize,
}

/// An entry of a table: the fixed part, and attributes by number.
struct Entry<'a> {
    head: &'a [u8],
    attributes: Attributes<'a>,
}

#[derive(Clone, Copy)]
struct Attributes<'a>(&'a [u8]);

/// The interfaces in the kernel's order. An address with a label of its own makes an interface
/// of that name behind the one it is on, of which nothing else is known.
pub(super) fn interfaces() -> io::Result<Vec<Interface>> {
    let socket = open()?;
    let mut list: Vec<Vec<Interface>> = Vec::new();
    let mut places = BTreeMap::new();
    each(&socket, &LINK, |entry| {
        let Some((index, interface)) = link(entry) else { return };
        places.insert(index, list.len());
        list.push(vec![interface]);
    })?;
    each(&socket, &ADDRESS, |entry| {
        let place = number(entry.head, 4).and_then(|index| places.get(&index));
        let Some(named) = place.and_then(|place| list.get_mut(*place)) else { return };
        let Some(address) = address(entry) else { return };
        let label = entry.attributes.text(3).unwrap_or_else(|| named[0].name.clone());
        let at = named.iter().position(|known| known.name == label).unwrap_or_else(|| {
            let (flags, kind) = (named[0].flags, named[0].kind);
            named.push(Interface { name: label, flags, kind, ..Interface::default() });
            named.len() - 1
        });
        named[at].addresses.push(address);
    })?;
    Ok(list.into_iter().flatten().collect())
}

/// The routes of the main table, those of version 4 first.
pub(super) fn routes() -> io::Result<Vec<Route>> {
    let socket = open()?;
    let names = link_names(&socket)?;
    let mut list = Vec::new();
    each(&socket, &ROUTE, |entry| {
        let [family, length, _, _, table, protocol, scope, kind, ..] = *entry.head else { return };
        let table = entry.attributes.number(15).unwrap_or(u32::from(table));
        let remembered = number(entry.head, 8).is_some_and(|flags| flags & CLONED != 0);
        if table != MAIN || kind != UNICAST || remembered {
            return;
        }
        let destination = match entry.attributes.address(1) {
            Some(address) => Some((address, length)),
            None if length == 0 => None,
            None => return,
        };
        let route = Route {
            v6: i32::from(family) == libc::AF_INET6,
            destination,
            protocol,
            scope,
            metric: entry.attributes.number(6),
            source: entry.attributes.address(7),
            ..Route::default()
        };
        let through = |attributes: Attributes<'_>, index: Option<u32>| {
            let interface = names.get(&index?)?.clone();
            Some(Route { gateway: attributes.address(5), interface, ..route.clone() })
        };
        match entry.attributes.get(9) {
            None => list.extend(through(entry.attributes, entry.attributes.number(4))),
            Some(hops) => {
                let hops = Chunks { rest: hops, head: 8 };
                list.extend(hops.filter_map(|hop| through(hop.attributes, number(hop.head, 4))));
            }
        }
    })?;
    list.sort_by_key(|route| route.v6);
    Ok(list)
}

/// Machines nearby whose hardware address is known.
pub(super) fn neighbours() -> io::Result<Vec<Neighbour>> {
    let socket = open()?;
    let names = link_names(&socket)?;
    let mut list = Vec::new();
    each(&socket, &NEIGHBOUR, |entry| {
        let state = entry.head.get(8..10).map_or(0, |two| u16::from_ne_bytes([two[0], two[1]]));
        let interface = number(entry.head, 4).and_then(|index| names.get(&index));
        let (address, mac) = (entry.attributes.address(1), entry.attributes.get(2).and_then(mac));
        if let (Some(interface), Some(address), Some(mac)) = (interface, address, mac)
            && !NO_NEIGHBOUR.contains(&state)
        {
            list.push(Neighbour { address, interface: interface.clone(), mac });
        }
    })?;
    Ok(list)
}

fn open() -> io::Result<OwnedFd> {
    let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
    // The protocol of routing is number zero, which is none.
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &netlink::SocketAddrNetlink::new(0, 0))?;
    Ok(socket)
}

fn link_names(socket: &OwnedFd) -> io::Result<BTreeMap<u32, String>> {
    let mut names = BTreeMap::new();
    each(socket, &LINK, |entry| {
        if let (Some(index), Some(name)) = (number(entry.head, 4), entry.attributes.text(3)) {
            names.insert(index, name);
        }
    })?;
    Ok(names)
}

/// Asks for a whole table and hands on its entries.
fn each(socket: &OwnedFd, table: &Table, mut take: impl FnMut(&Entry<'_>)) -> io::Result<()> {
    // Length, question, flags, number, sender, and the family, which is any.
    let mut question = [0; HEAD + 4];
    question[..4].copy_from_slice(&(HEAD as u32 + 4).to_ne_bytes());
    question[4..6].copy_from_slice(&table.ask.to_ne_bytes());
    question[6..8].copy_from_slice(&DUMP.to_ne_bytes());
    send(socket, &question, SendFlags::empty())?;
    let mut room: Vec<u8> = Vec::with_capacity(ROOM);
    loop {
        // Of the room only what an answer fills is touched.
        room.clear();
        recv(socket, spare_capacity(&mut room), RecvFlags::empty())?;
        let mut rest = room.as_slice();
        if rest.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        while let Some(size) = number(rest, 0).map(|size| size as usize)
            && let Some(message) = rest.get(..size).filter(|message| message.len() >= HEAD)
        {
            let kind = u16::from_ne_bytes([message[4], message[5]]);
            let body = &message[HEAD..];
            match kind {
                DONE => return Ok(()),
                ERROR => {
                    let code = number(body, 0).map_or(0, u32::cast_signed);
                    return Err(io::Error::from_raw_os_error(-code));
                }
                kind if kind == table.answer && body.len() >= table.head => {
                    let (head, attributes) = body.split_at(table.head);
                    take(&Entry { head, attributes: Attributes(attributes) });
                }
                _ => {}
            }
            rest = rest.get(padded(size)..).unwrap_or_default();
        }
    }
}

fn link(entry: &Entry<'_>) -> Option<(u32, Interface)> {
    const STATES: [&str; 7] =
        ["unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up"];
    let state = entry.attributes.get(16).and_then(|state| STATES.get(usize::from(*state.first()?)));
    let interface = Interface {
        name: entry.attributes.text(3)?,
        flags: number(entry.head, 8)?,
        kind: entry.head.get(2..4).map(|two| u16::from_ne_bytes([two[0], two[1]]))?,
        mac: entry.attributes.get(1).filter(|mac| mac.iter().any(|byte| *byte != 0)).and_then(mac),
        mtu: entry.attributes.number(4).map(u64::from),
        state: state.copied(),
        queue: entry.attributes.number(13),
        counters: entry.attributes.get(23).map(counters),
        addresses: Vec::new(),
    };
    Some((number(entry.head, 4)?, interface))
}

fn counters(table: &[u8]) -> Counters {
    let at = |index: usize| -> u64 {
        let bytes = table.get(index * 8..index * 8 + 8).and_then(|eight| eight.try_into().ok());
        bytes.map_or(0, u64::from_ne_bytes)
    };
    Counters {
        received_packets: at(0),
        sent_packets: at(1),
        received: at(2),
        sent: at(3),
        receive_errors: at(4),
        send_errors: at(5),
        receive_dropped: at(6),
        send_dropped: at(7),
        collisions: at(9),
        receive_missed: at(15),
        carrier_errors: at(17),
    }
}

fn address(entry: &Entry<'_>) -> Option<Address> {
    let [_, prefix, flags, scope, ..] = *entry.head else { return None };
    let (first, local) = (entry.attributes.address(1), entry.attributes.address(2));
    Some(Address {
        ip: local.or(first)?,
        prefix,
        scope,
        broadcast: entry.attributes.address(4),
        peer: first.filter(|first| local.is_some_and(|local| local != *first)),
        flags: entry.attributes.number(8).unwrap_or(u32::from(flags)),
    })
}

impl<'a> Attributes<'a> {
    fn get(self, wanted: u16) -> Option<&'a [u8]> {
        let mut rest = self.0;
        while let [a, b, c, d, ..] = *rest {
            let size = usize::from(u16::from_ne_bytes([a, b]));
            let value = rest.get(4..size)?;
            // The two highest bits say how the value is written.
            if u16::from_ne_bytes([c, d]) & 0x3fff == wanted {
                return Some(value);
            }
            rest = rest.get(padded(size)..)?;
        }
        None
    }

    fn number(self, wanted: u16) -> Option<u32> {
        number(self.get(wanted)?, 0)
    }

    fn text(self, wanted: u16) -> Option<String> {
        let value = self.get(wanted)?;
        let end = value.iter().position(|byte| *byte == 0).unwrap_or(value.len());
        Some(String::from_utf8_lossy(&value[..end]).into_owned())
    }

    fn address(self, wanted: u16) -> Option<IpAddr> {
        let value = self.get(wanted)?;
        if let Ok(four) = <[u8; 4]>::try_from(value) {
            return Some(IpAddr::V4(Ipv4Addr::from(four)));
        }
        <[u8; 16]>::try_from(value).ok().map(|bytes| IpAddr::V6(Ipv6Addr::from(bytes)))
    }
}

/// Entries that stand in an attribute one after the other, each with its own length in front.
struct Chunks<'a> {
    rest: &'a [u8],
    head: usize,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let [a, b, ..] = *self.rest else { return None };
        let size = usize::from(u16::from_ne_bytes([a, b]));
        let (head, attributes) = self.rest.get(..size)?.split_at_checked(self.head)?;
        self.rest = self.rest.get(padded(size)..).unwrap_or_default();
        Some(Entry { head, attributes: Attributes(attributes) })
    }
}

fn padded(size: usize) -> usize {
    size.next_multiple_of(4)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

fn mac(bytes: &[u8]) -> Option<String> {
    let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    (!pairs.is_empty()).then(|| pairs.join(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_end_early_are_none() {
        let whole = [8, 0, 3, 0, b'l', b'o', 0, 0, 8, 0, 4, 0, 0, 0, 1, 0];
        assert_eq!(Attributes(&whole).text(3).as_deref(), Some("lo"));
        assert_eq!(Attributes(&whole).number(4), Some(65536u32.to_le()));
        for end in 0..whole.len() {
            assert_eq!(Attributes(&whole[..end]).number(4), None, "{end}");
        }
        assert_eq!(Attributes(&[0, 0, 3, 0]).text(3), None);
    }

    #[test]
    fn the_loopback_link_is_told_with_its_address() {
        let list = interfaces().unwrap();
        let lo = list.iter().find(|interface| interface.name == "lo").unwrap();
        assert_eq!((lo.kind, lo.mac.as_deref(), lo.mtu), (772, None, Some(65536)));
        if lo.is_up() {
            let first = lo.addresses.first().unwrap();
            assert_eq!((first.ip, first.prefix), (IpAddr::V4(Ipv4Addr::LOCALHOST), 8));
        }
    }
}
