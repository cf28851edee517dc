//! Looking for one byte, eight at a time: comments and line ends are most of a policy file.

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Where `byte` first stands.
pub fn find_byte(text: &[u8], byte: u8) -> Option<usize> {
    let wanted = LOW * u64::from(byte);
    let (words, rest) = text.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word) ^ wanted;
        // Bytes that are zero now; only those above the first may be wrong.
        let found = word.wrapping_sub(LOW) & !word & HIGH;
        if found != 0 {
            return Some(at * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    rest.iter().position(|other| *other == byte).map(|at| words.len() * 8 + at)
}

/// Offsets of the first byte of each line.
pub(crate) fn line_starts(text: &[u8]) -> Vec<u32> {
    let wanted = LOW * u64::from(b'\n');
    let mut starts = Vec::with_capacity(1 + text.len() / 32);
    starts.push(0);
    let (words, rest) = text.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word) ^ wanted;
        // The high bit of exactly the bytes that are zero now.
        let mut found = !(((word & !HIGH) + !HIGH) | word | !HIGH);
        while found != 0 {
            starts.push((at * 8) as u32 + found.trailing_zeros() / 8 + 1);
            found &= found - 1;
        }
    }
    let from = words.len() * 8;
    let last = rest.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    starts.extend(last.map(|(at, _)| (from + at) as u32 + 1));
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_found_where_it_first_stands() {
        for length in 0..40 {
            for at in 0..length {
                let mut text = vec![b'\x0b'; length];
                text[at] = b'\n';
                text[length - 1] = b'\n';
                assert_eq!(find_byte(&text, b'\n'), Some(at), "{length} {at}");
            }
            assert_eq!(find_byte(&vec![b'\x8a'; length], b'\n'), None);
        }
    }

    #[test]
    fn lines_start_after_each_line_end() {
        let text = b"a\n\n\x0b\n0123456789\n\xff\x8a\n\nlast";
        let plain: Vec<u32> = std::iter::once(0)
            .chain(text.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i as u32 + 1))
            .collect();
        assert_eq!(line_starts(text), plain);
    }
}
