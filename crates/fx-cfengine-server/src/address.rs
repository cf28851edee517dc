//! Addresses as server policy writes them: whole, the first octets, a network, a range in an
//! octet, or a pattern.

use std::net::IpAddr;

use fx_cfengine::regex;

/// Whether an address is one of those that a text of policy means.
pub fn matches_address(pattern: &str, address: &str) -> bool {
    if pattern == address {
        return true;
    }
    if let Some((network, bits)) = pattern.split_once('/') {
        return in_network(network, bits, address);
    }
    let is_plain = pattern.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-'));
    if is_plain && address.contains('.') {
        return octets(pattern, address);
    }
    !pattern.is_empty() && regex::full(pattern, address)
}

// Octets may be left out at the end, and be ranges.
fn octets(pattern: &str, address: &str) -> bool {
    let mut parts = address.split('.');
    for wanted in pattern.trim_end_matches('.').split('.') {
        let Some(part) = parts.next() else { return false };
        let fits = match wanted.split_once('-') {
            None => wanted == part,
            Some((low, high)) => match (low.parse::<u8>(), high.parse::<u8>(), part.parse()) {
                (Ok(low), Ok(high), Ok(part)) => (low..=high).contains(&part),
                _ => false,
            },
        };
        if !fits {
            return false;
        }
    }
    true
}

fn in_network(network: &str, bits: &str, address: &str) -> bool {
    let parsed = (network.parse::<IpAddr>(), bits.parse::<u32>(), address.parse::<IpAddr>());
    let (Ok(network), Ok(bits), Ok(address)) = parsed else { return false };
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) if bits <= 32 => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            u32::from(network) & mask == u32::from(address) & mask
        }
        (IpAddr::V6(network), IpAddr::V6(address)) if bits <= 128 => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            u128::from(network) & mask == u128::from(address) & mask
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_matched_as_policy_means_them() {
        let table = [
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.10", false),
            ("10.0", "10.0.7.9", true),
            ("10.0.", "10.0.7.9", true),
            ("10.0", "10.01.7.9", false),
            ("10.0", "110.0.7.9", false),
            ("10.0.0.0/8", "10.200.1.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("0.0.0.0/0", "11.0.0.1", true),
            ("10.0.0.0/33", "10.0.0.0", false),
            ("10.0.0.1-50", "10.0.0.50", true),
            ("10.0.0.1-50", "10.0.0.51", false),
            ("fe80::/16", "fe80::1", true),
            ("fe80::/16", "10.0.0.1", false),
            ("::1", "::1", true),
            (".*", "1.2.3.4", true),
            ("1\\.2\\..*", "1.2.3.4", true),
            ("1\\.2", "1.2.3.4", false),
            ("", "1.2.3.4", false),
            ("[", "1.2.3.4", false),
        ];
        for (pattern, address, expected) in table {
            assert_eq!(matches_address(pattern, address), expected, "{pattern} {address}");
        }
    }
}
