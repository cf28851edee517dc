//! The Mersenne twister, so that drawn numbers equal the original's.

const SIZE: usize = 624;

struct Twister {
    state: [u32; SIZE],
    at: usize,
}

impl Twister {
    /// Seeded by the words of a number, lowest first, as Ruby does.
    fn new(key: &[u32]) -> Twister {
        let mut state = [0_u32; SIZE];
        // One word is a plain seed; more are mixed into a fixed one.
        state[0] = if key.len() > 1 { 19_650_218 } else { key.first().copied().unwrap_or(0) };
        for index in 1..SIZE {
            let last = state[index - 1];
            state[index] =
                1_812_433_253_u32.wrapping_mul(last ^ (last >> 30)).wrapping_add(index as u32);
        }
        if key.len() <= 1 {
            return Twister { state, at: SIZE };
        }
        let mut index = 1;
        for place in 0..SIZE {
            let place = place % key.len().max(1);
            let word = key.get(place).copied().unwrap_or(0).wrapping_add(place as u32);
            let last = state[index - 1];
            state[index] =
                (state[index] ^ (last ^ (last >> 30)).wrapping_mul(1_664_525)).wrapping_add(word);
            index += 1;
            if index >= SIZE {
                state[0] = state[SIZE - 1];
                index = 1;
            }
        }
        for _ in 0..SIZE - 1 {
            let last = state[index - 1];
            state[index] = (state[index] ^ (last ^ (last >> 30)).wrapping_mul(1_566_083_941))
                .wrapping_sub(index as u32);
            index += 1;
            if index >= SIZE {
                state[0] = state[SIZE - 1];
                index = 1;
            }
        }
        state[0] = 0x8000_0000;
        Twister { state, at: SIZE }
    }

    fn next(&mut self) -> u32 {
        if self.at >= SIZE {
            for index in 0..SIZE {
                let joined = (self.state[index] & 0x8000_0000)
                    | (self.state[(index + 1) % SIZE] & 0x7fff_ffff);
                let odd = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
                self.state[index] = self.state[(index + 397) % SIZE] ^ (joined >> 1) ^ odd;
            }
            self.at = 0;
        }
        let mut word = self.state[self.at];
        self.at += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }
}

/// The first number up to a limit.
pub(crate) fn limited(seed: u128, limit: u64) -> u64 {
    let mut words: Vec<u32> = (0..4).map(|word| (seed >> (32 * word)) as u32).collect();
    while words.len() > 1 && words.last() == Some(&0) {
        words.pop();
    }
    let mut twister = Twister::new(&words);
    if limit == 0 {
        return 0;
    }
    let mut mask = limit;
    for shift in [1, 2, 4, 8, 16, 32] {
        mask |= mask >> shift;
    }
    'again: loop {
        let mut value = 0_u64;
        for part in [1, 0] {
            if (mask >> (part * 32)) & 0xffff_ffff != 0 {
                value |= u64::from(twister.next()) << (part * 32);
                value &= mask;
                if limit < value {
                    continue 'again;
                }
            }
        }
        return value;
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn draws_what_ruby_draws() {
        // Random.new(42).rand(100), Random.new(1).rand(1000)
        assert_eq!(super::limited(42, 99), 51);
        assert_eq!(super::limited(1, 999), 37);
        // The greatest number there is: Random.new(69).rand(23), Random.new(5).rand(3)
        assert_eq!(super::limited(69, 22), 22);
        assert_eq!(super::limited(5, 2), 2);
    }
}
