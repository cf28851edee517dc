//! Texts changed by chance for the tests of parsers, and how long to go on. The changes follow
//! from a number, so that a finding can be repeated. What is done with a text is the test's
//! affair; nothing of this is in the program.

#![forbid(unsafe_code)]

/// A small generator with a known sequence.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a number.
    pub fn new(seed: u64) -> Random {
        Random(seed.max(1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The next of all numbers.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// The next of the numbers below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.number() % limit.max(1) as u64) as usize
    }
}

/// What texts are made of and changed with.
#[derive(Clone, Copy, Debug)]
pub struct Material {
    /// Texts to begin with.
    pub seeds: &'static [&'static str],
    /// Pieces to put in.
    pub pieces: &'static [&'static str],
    /// How often a piece may stand in a row.
    pub most_in_a_row: usize,
    /// Where texts are cut.
    pub longest: usize,
}

impl Material {
    /// Changes a text in one place.
    pub fn mutate(&self, random: &mut Random, text: &mut Vec<u8>) {
        let at = random.below(text.len() + 1);
        match random.below(8) {
            0 if !text.is_empty() => {
                let at = random.below(text.len());
                text[at] = random.number() as u8;
            }
            1 | 2 => {
                let piece = self.pieces[random.below(self.pieces.len())];
                text.splice(at..at, piece.bytes());
            }
            3 => {
                let end = (at + random.below(40)).min(text.len());
                text.drain(at..end);
            }
            4 => {
                let end = (at + random.below(200)).min(text.len());
                let copy = text[at..end].to_vec();
                let to = random.below(text.len() + 1);
                text.splice(to..to, copy);
            }
            5 => text.truncate(at),
            6 => {
                let other = self.seeds[random.below(self.seeds.len())].as_bytes();
                let from = random.below(other.len());
                text.splice(at..at, other[from..].iter().copied());
            }
            _ => {
                let piece = self.pieces[random.below(self.pieces.len())];
                let row = piece.repeat(1 + random.below(self.most_in_a_row));
                text.splice(at..at, row.bytes());
            }
        }
        text.truncate(self.longest);
    }
}

/// How long to go on, in seconds, and the number to begin with: `FX_FUZZ_SECONDS` and
/// `FX_FUZZ_SEED`, in an ordinary test run no time and 1.
pub fn asked() -> (u64, u64) {
    (
        from_environment("FX_FUZZ_SECONDS").unwrap_or(0),
        from_environment("FX_FUZZ_SEED").unwrap_or(1).max(1),
    )
}

#[expect(clippy::disallowed_methods, reason = "the environment says how long")]
fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_number_makes_the_same_texts() {
        let material = Material {
            seeds: &["one two three"],
            pieces: &["(", "\""],
            most_in_a_row: 9,
            longest: 99,
        };
        let made = |seed: u64| {
            let (mut random, mut text) = (Random::new(seed), b"one".to_vec());
            (0..500).for_each(|_| material.mutate(&mut random, &mut text));
            assert!(text.len() <= 99);
            text
        };
        assert_eq!(made(5), made(5));
        assert_ne!(made(5), made(6));
    }
}
