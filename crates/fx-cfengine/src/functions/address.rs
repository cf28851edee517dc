//! Addresses as the original reads them: what counts as one, and which lie in a range. Its
//! readers are its own, not the system's: no capital letters, no IPv4 inside IPv6, and plain
//! prefixes of text where no range is written.

use std::net::{Ipv4Addr, Ipv6Addr};

/// An address as a key to sort by: IPv4 before IPv6, ports left aside.
pub(super) fn address(text: &str) -> Option<(u8, u128)> {
    v4(text)
        .map(|number| (0, u128::from(number)))
        .or_else(|| v6(text).map(|groups| (1, u128::from(Ipv6Addr::from(groups)))))
}

fn decimal(text: &str, most: u32) -> Option<u32> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| {
            text.bytes().try_fold(0_u32, |sum, byte| {
                let sum = sum * 10 + u32::from(byte - b'0');
                (sum <= most).then_some(sum)
            })
        })
        .flatten()
}

// Leading zeros are decimal; a port may follow.
fn v4(text: &str) -> Option<u32> {
    let (octets, port) = match text.split_once(':') {
        Some((octets, port)) => (octets, Some(port)),
        None => (text, None),
    };
    if let Some(port) = port {
        decimal(port, 65_535)?;
    }
    let mut parts = octets.split('.');
    let mut number = 0;
    for _ in 0..4 {
        number = number << 8 | decimal(parts.next()?, 255)?;
    }
    parts.next().is_none().then_some(number)
}

fn group(text: &str) -> Option<u16> {
    text.bytes().try_fold(0_u16, |sum, byte| {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        (sum < 0x1000).then(|| sum << 4 | u16::from(digit))
    })
}

// Groups after `::` are put in from the end; in brackets the original puts them in turned
// around, before a port not at all, and with all eight fields written only the last of them.
fn v6(text: &str) -> Option<[u16; 8]> {
    let (inner, tail) = match text.strip_prefix('[') {
        Some(rest) => {
            let (inner, tail) = rest.split_once(']')?;
            (inner, Some(tail))
        }
        None => (text, None),
    };
    let with_port = match tail {
        None | Some("") => false,
        Some(tail) => {
            decimal(tail.strip_prefix(':')?, 65_535)?;
            true
        }
    };
    let mut fields: Vec<&str> = inner.split(':').collect();
    let mut groups = [0; 8];
    let mut late = Vec::new();
    let mut compressed = false;
    let mut state = 0;
    let last = group(fields.pop()?)?;
    for field in fields {
        let value = group(field)?;
        match state {
            0 => groups[0] = value,
            1 if field.is_empty() => compressed = true,
            1 => groups[1] = value,
            2..=6 if field.is_empty() => {
                if compressed {
                    return None;
                }
                // The state stays: the next field takes the place of the empty one.
                compressed = true;
                continue;
            }
            2..=6 if compressed => late.push(value),
            2..=6 => groups[state] = value,
            _ => return None,
        }
        state += 1;
    }
    match state {
        0 | 1 => return None,
        7 => {
            if inner.ends_with(':') {
                return None;
            }
            groups[7] = last;
        }
        _ if !compressed => return None,
        _ => {
            late.push(last);
            if with_port {
                late.clear();
            } else if tail.is_none() {
                late.reverse();
            }
            for (at, value) in late.iter().take(6).enumerate() {
                groups[7 - at] = *value;
            }
        }
    }
    Some(groups)
}

// The number at the start of a text, or the one that was there before, as sscanf(3) leaves it.
fn scan(text: &str, radix: u32, kept: i64) -> i64 {
    let text = text.trim_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    i64::from_str_radix(&digits[..end], radix).map_or(kept, |number| sign * number)
}

/// Whether an address lies in a range, both as text: a network with a mask, ranges of
/// numbers between the dots, or the beginning of an address.
///
/// # Errors
///
/// What is wrong with the range, in the original's words.
pub(super) fn in_range(range: &str, address: &str) -> Result<bool, String> {
    if range == address {
        return Ok(true);
    }
    let (network, span) = (range.contains('/'), range.contains('-'));
    let old = range.contains('.') || address.contains('.');
    let new = range.contains(':') || address.contains(':');
    if old && new {
        return Ok(false);
    }
    if network && span {
        return Err(format!("Cannot mix CIDR notation with xxx-yyy range notation '{range}'"));
    }
    if !(old || new) {
        return Err(format!("Not a valid address range - or not a fully qualified name '{range}'"));
    }
    if !(network || span) {
        let rest = address.strip_prefix(range);
        return Ok(rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')));
    }
    match (old, network) {
        (true, true) => in_network_v4(range, address),
        (false, true) => in_network_v6(range, address),
        (true, false) => Ok(in_span(range, address, '.', 4)),
        (false, false) => Ok(in_span(range, address, ':', 8)),
    }
}

fn network(range: &str, most: u32) -> Option<(&str, u32)> {
    let (base, mask) = range.split_once('/')?;
    let end = mask.find(|c: char| !c.is_ascii_digit()).unwrap_or(mask.len());
    let bits = mask[..end].parse().ok().filter(|bits| *bits <= most)?;
    (!base.is_empty()).then_some((base, bits))
}

fn in_network_v4(range: &str, address: &str) -> Result<bool, String> {
    let (base, bits) = network(range, 32).ok_or_else(|| format!("Invalid IPv4 CIDR: {range}"))?;
    if bits == 0 {
        return Ok(true);
    }
    let (Ok(base), Ok(address)) = (base.parse::<Ipv4Addr>(), address.parse::<Ipv4Addr>()) else {
        return Ok(false);
    };
    Ok(u32::from(base) >> (32 - bits) == u32::from(address) >> (32 - bits))
}

// What is no address is taken for all zeros.
fn in_network_v6(range: &str, address: &str) -> Result<bool, String> {
    let (base, bits) = network(range, 128).ok_or_else(|| format!("Invalid IPv6 CIDR: {range}"))?;
    if bits % 8 != 0 {
        return Err("Cannot handle ipv6 masks which are not 8 bit multiples (fix me)".into());
    }
    let octets = |text: &str| text.parse::<Ipv6Addr>().unwrap_or(Ipv6Addr::UNSPECIFIED).octets();
    let bytes = (bits / 8) as usize;
    Ok(octets(base)[..bytes] == octets(address)[..bytes])
}

// Numbers between the dots or colons, each alone or as from-to. A range may have fewer fields.
fn in_span(range: &str, address: &str, separator: char, fields: usize) -> bool {
    let (mut from, mut to, mut number) = (-1, -1, -1);
    let mut values = address.split(separator);
    let mut value = "";
    for field in range.split(separator).take(fields) {
        if field.is_empty() {
            break;
        }
        value = values.next().unwrap_or(value);
        if let Some((low, high)) = field.split_once('-') {
            let radix = if separator == ':' { 16 } else { 10 };
            from = scan(low, radix, from);
            to = scan(high, radix, to);
            number = scan(value, radix, number);
            // The lower end of a span of an IPv6 address lies outside of it.
            if from < 0 || to < 0 || number > to || from > number || radix == 16 && from == number {
                return false;
            }
        } else {
            from = scan(field, 10, from);
            number = scan(value, 10, number);
            if from != number {
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_addresses() {
        let table = [
            ("10.0.0.0/8", "10.1.2.3", true),
            ("10.0.0.1-5", "10.0.0.3", true),
            ("10.0.0.1-5", "10.0.0.9", false),
            ("::1/128", "::1", true),
            ("192.168", "192.168.4.4", true),
            ("192.16", "192.168.4.4", false),
            ("0.0.0.0/0", "no address", true),
            ("fd00::5", "fd00:0:0:0:0:0:0:5", false),
            ("10.1-2", "10.1.20.3", true),
        ];
        for (range, address, expected) in table {
            assert_eq!(in_range(range, address), Ok(expected), "{range} {address}");
        }
    }

    #[test]
    fn ranges_that_are_none_are_told() {
        let table = [
            ("abc", "Not a valid address range - or not a fully qualified name 'abc'"),
            ("10.1.2.0/40", "Invalid IPv4 CIDR: 10.1.2.0/40"),
            ("10.0.0.0/8-", "Cannot mix CIDR notation with xxx-yyy range notation '10.0.0.0/8-'"),
            ("::/60", "Cannot handle ipv6 masks which are not 8 bit multiples (fix me)"),
        ];
        for (range, expected) in table {
            assert_eq!(in_range(range, "").err().as_deref(), Some(expected), "{range}");
        }
    }

    #[test]
    fn addresses_are_read_as_the_original_reads_them() {
        let table = [
            ("01.2.3.4", Some("1.2.3.4")),
            ("1.2.3.4:80", Some("1.2.3.4")),
            ("1.2.3.4:", None),
            ("1.2.3", None),
            ("300.1.1.1", None),
            ("FE80::1", None),
            ("fe80::1", Some("fe80::1")),
            ("::ffff:1.2.3.4", None),
            ("00001::1", Some("1::1")),
            ("12345::1", None),
            (":::", None),
            ("1:2:3::4:", Some("1:2:3::4:0")),
            ("1::3:4:5:6:7:8", Some("1::8")),
            ("1:2:3:4:5:6::8", Some("1:2:3:4:5:6:0:8")),
            ("1:2:3:4:5:6:7", None),
            ("[1:2::3:4]", Some("1:2::4:3")),
            ("[::2]:80", Some("::")),
            ("2001:db8::0:1:0:0:1", Some("2001:db8::1:0:0:1")),
        ];
        for (text, expected) in table {
            let expected = expected.map(|text| match text.parse::<Ipv4Addr>() {
                Ok(old) => (0, u128::from(u32::from(old))),
                Err(_) => (1, u128::from(text.parse::<Ipv6Addr>().expect("an address"))),
            });
            assert_eq!(address(text), expected, "{text}");
        }
    }
}
