//! Bytes as the letters of crypt(3), six bits each, and back. Each method has an order of its
//! own for the bits; here are those that more than one uses.

/// The letters, by their value.
pub(super) const LETTERS: &[u8; 64] =
    b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Those of bcrypt.
const BCRYPT: &[u8; 64] = b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// What a letter stands for.
pub(super) fn value(letter: u8) -> Option<u32> {
    LETTERS.iter().position(|known| *known == letter).map(|at| at as u32)
}

/// Puts the lowest bits first, so many letters of them.
pub(super) fn group(out: &mut String, mut bits: u32, letters: usize) {
    for _ in 0..letters {
        out.push(char::from(LETTERS[(bits & 63) as usize]));
        bits >>= 6;
    }
}

/// Bytes from the first to the last, the lowest bits first.
pub(super) fn spell(bytes: &[u8]) -> String {
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let bits = three.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
        group(&mut out, bits, three.len() + 1);
    }
    out
}

/// The bytes that [`spell`] makes such a text of; bits left over must be none.
pub(super) fn unspell(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for four in text.as_bytes().chunks(4) {
        let bits = four.iter().rev().try_fold(0, |sum, letter| Some(sum << 6 | value(*letter)?))?;
        let bytes = four.len().checked_sub(1).filter(|bytes| *bytes > 0)?;
        if bits >> (8 * bytes) != 0 {
            return None;
        }
        out.extend_from_slice(&bits.to_le_bytes()[..bytes]);
    }
    Some(out)
}

/// A salt of bcrypt without the bits of its last letter that do not count.
pub(super) fn cut_bcrypt(salt: &str) -> Option<String> {
    let last = salt.bytes().last()?;
    let at = BCRYPT.iter().position(|known| *known == last)?;
    let mut cut = salt[..salt.len() - 1].to_owned();
    cut.push(char::from(BCRYPT[at & 0x30]));
    Some(cut)
}
