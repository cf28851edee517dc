//! Base64 in the standard alphabet, with padding.

use base64ct::{Base64, Encoding};

/// The text for some bytes, on one line.
pub fn encode(bytes: &[u8]) -> String {
    Base64::encode_string(bytes)
}

/// The bytes of a text on one line; nothing where it is not base64.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    Base64::decode_vec(text).ok()
}

/// The bytes of a text that may have blanks and line ends in it, the alphabet of addresses, and
/// no padding; nothing where another character is in it.
pub fn decode_relaxed(text: &str) -> Option<Vec<u8>> {
    let codes: Option<Vec<u8>> = text
        .bytes()
        .filter(|byte| *byte != b'=' && !byte.is_ascii_whitespace())
        .map(|byte| match byte {
            b'-' => Some(62),
            b'_' => Some(63),
            byte => code(byte),
        })
        .collect();
    Some(joined(codes?.into_iter()))
}

/// The bytes of whatever belongs to the alphabet, up to the padding; all else is passed over.
pub fn decode_lenient(text: &[u8]) -> Vec<u8> {
    joined(text.iter().take_while(|byte| **byte != b'=').filter_map(|byte| code(*byte)))
}

/// The six bits that a character stands for.
pub fn code(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

/// Groups of six bits as bytes; what is left over is dropped.
fn joined(codes: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut out = Vec::with_capacity(codes.size_hint().0 / 4 * 3);
    let (mut number, mut bits) = (0_u32, 0);
    for code in codes {
        number = number << 6 | u32::from(code);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((number >> bits) as u8);
            number &= (1 << bits) - 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_reads_back_the_same(bytes: Vec<u8>) {
            let text = super::encode(&bytes);
            prop_assert!(text.len().is_multiple_of(4) && text.is_ascii());
            prop_assert_eq!(super::decode(&text), Some(bytes.clone()));
            prop_assert_eq!(super::decode_lenient(text.as_bytes()), bytes.clone());
            prop_assert_eq!(super::decode_relaxed(&text), Some(bytes));
        }
    }

    #[test]
    fn the_examples_of_the_standard_come_out() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foobar", "Zm9vYmFy")] {
            assert_eq!(super::encode(bytes.as_bytes()), text);
        }
        assert_eq!(super::decode("Zg="), None);
        assert_eq!(super::decode_lenient(b"Z!m\n9v=YmFy"), b"foo");
        assert_eq!(super::decode_relaxed("Zm9\nv"), Some(b"foo".to_vec()));
        assert_eq!(super::decode_relaxed("Zm!9v"), None);
    }

    #[test]
    fn relaxed_reading_allows_blanks_both_alphabets_and_no_padding() {
        let bytes = Some(vec![0xfb, 0xff, 0xfe, 0x61]);
        for text in ["+//+YQ==", "-__-YQ==", "+//+\n YQ\n", "+__+Y===Q"] {
            assert_eq!(super::decode_relaxed(text), bytes, "{text}");
        }
        assert_eq!(super::decode_relaxed("a*b"), None);
    }
}
