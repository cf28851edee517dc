//! Who sends a request. Made once for each connection, from the certificate that TLS verified.

use fx_wire::x509::{Certificate, oids};

/// Who sends a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// No certificate was shown.
    Anonymous,
    Node(Identity),
}

/// What a certificate says of its holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub name: String,
    /// In hexadecimal, upper case, without zeros before it.
    pub serial: String,
    /// Puppet's extensions: short name, or identifier where it has none, and text.
    pub extensions: Vec<(String, String)>,
}

impl Caller {
    /// The holder of a certificate that was verified; anonymous where it names nobody.
    pub fn of(certificate: &Certificate) -> Caller {
        let Some(name) = certificate.name() else { return Caller::Anonymous };
        let extensions = certificate.extensions().into_iter();
        let extensions =
            extensions.map(|one| (oids::short_name(&one.oid).to_owned(), one.text)).collect();
        Caller::Node(Identity { name, serial: serial_text(&certificate.serial()), extensions })
    }

    pub fn identity(&self) -> Option<&Identity> {
        match self {
            Caller::Anonymous => None,
            Caller::Node(identity) => Some(identity),
        }
    }
}

/// A serial number as it is kept.
pub fn serial_text(bytes: &[u8]) -> String {
    let text: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    match text.trim_start_matches('0') {
        "" => "0".into(),
        rest => rest.into(),
    }
}

/// The bytes of a serial number that was kept.
pub(crate) fn serial_bytes(text: &str) -> Vec<u8> {
    let even = if text.len() % 2 == 1 { format!("0{text}") } else { text.to_owned() };
    (0..even.len() / 2)
        .filter_map(|at| u8::from_str_radix(even.get(2 * at..2 * at + 2)?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_are_kept_without_zeros() {
        for (bytes, text) in [(&[0u8, 10][..], "A"), (&[1, 0], "100"), (&[0xff], "FF")] {
            assert_eq!(serial_text(bytes), text);
            assert_eq!(serial_text(&serial_bytes(text)), text);
        }
        assert_eq!(serial_text(&[0]), "0");
    }
}
