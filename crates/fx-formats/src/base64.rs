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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_reads_back_the_same(bytes: Vec<u8>) {
            let text = super::encode(&bytes);
            prop_assert!(text.len() % 4 == 0 && text.is_ascii());
            prop_assert_eq!(super::decode(&text), Some(bytes));
        }
    }

    #[test]
    fn the_examples_of_the_standard_come_out() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foobar", "Zm9vYmFy")] {
            assert_eq!(super::encode(bytes.as_bytes()), text);
        }
        assert_eq!(super::decode("Zg="), None);
    }
}
