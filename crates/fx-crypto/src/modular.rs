//! Powers modulo an odd number, by Montgomery's products over a fixed count of 64-bit limbs.
//!
//! Signatures of requests are made and verified by the dozen in every run, and this is what they
//! cost. Nothing here branches on a number or looks up by it, but for the exponent of
//! [`Modulus::power_public`], which everybody knows.

/// A number, its lowest limb first.
pub(crate) type Limbs<const N: usize> = [u64; N];

/// An odd modulus whose highest bit is set, and what products need of it.
pub(crate) struct Modulus<const N: usize> {
    n: Limbs<N>,
    /// `-1/n` modulo a limb.
    inverse: u64,
    /// The square of the radix modulo `n`.
    square: Limbs<N>,
}

/// A number times the radix modulo the modulus.
#[derive(Clone, Copy)]
pub(crate) struct Shifted<const N: usize>(Limbs<N>);

/// Bits of an exponent that are taken at once.
const WINDOW: u32 = 4;

impl<const N: usize> Modulus<N> {
    /// `None` where the number is even or too small for its limbs.
    pub(crate) fn new(bytes: &[u8]) -> Option<Modulus<N>> {
        let n: Limbs<N> = limbs(bytes)?;
        if n[0] & 1 == 0 || n[N - 1] >> 63 == 0 {
            return None;
        }
        // Each turn doubles the bits that are right, of which an odd number has three at first.
        let mut inverse = n[0];
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2_u64.wrapping_sub(n[0].wrapping_mul(inverse)));
        }
        let mut modulus = Modulus { n, inverse: inverse.wrapping_neg(), square: [0; N] };
        modulus.square = modulus.radix_squared();
        Some(modulus)
    }

    /// Two to the power of all bits, shifted: squares and doublings by the bits of their count.
    fn radix_squared(&self) -> Limbs<N> {
        // The radix itself is one, shifted.
        let mut power = subtract(&[0; N], &self.n).0;
        let bits = 64 * N as u32;
        for at in (0..u32::BITS - bits.leading_zeros()).rev() {
            power = self.product(&power, &power);
            if bits >> at & 1 == 1 {
                power = self.sum(&power, &power);
            }
        }
        power
    }

    /// `a * b / radix`. One of them may be larger than the modulus.
    #[inline(always)]
    fn product(&self, a: &Limbs<N>, b: &Limbs<N>) -> Limbs<N> {
        let mut sum = [0_u64; N];
        let mut top = 0_u64;
        for &digit in b {
            // A digit of the product, and what makes the lowest limb nought, in one turn.
            let (low, mut carry) = step(sum[0], a[0], digit, 0);
            let factor = low.wrapping_mul(self.inverse);
            let (_, mut reducing) = step(low, self.n[0], factor, 0);
            for at in 1..N {
                let low;
                (low, carry) = step(sum[at], a[at], digit, carry);
                (sum[at - 1], reducing) = step(low, self.n[at], factor, reducing);
            }
            (sum[N - 1], top) = split(u128::from(top) + u128::from(carry) + u128::from(reducing));
        }
        self.reduced(&sum, top)
    }

    /// A number below twice the modulus, with what is above its limbs, below the modulus.
    #[inline(always)]
    fn reduced(&self, number: &Limbs<N>, top: u64) -> Limbs<N> {
        let (less, borrow) = subtract(number, &self.n);
        // It is below where the difference has to borrow and there is nothing above.
        let keep = (borrow & (top ^ 1)).wrapping_neg();
        let mut out = [0; N];
        for at in 0..N {
            out[at] = (number[at] & keep) | (less[at] & !keep);
        }
        out
    }

    fn sum(&self, a: &Limbs<N>, b: &Limbs<N>) -> Limbs<N> {
        let mut out = [0; N];
        let mut carry = 0;
        for at in 0..N {
            let wide = u128::from(a[at]) + u128::from(b[at]) + u128::from(carry);
            (out[at], carry) = split(wide);
        }
        self.reduced(&out, carry)
    }

    /// `a - b`, both below the modulus.
    pub(crate) fn difference(&self, a: &Limbs<N>, b: &Limbs<N>) -> Limbs<N> {
        let (less, borrow) = subtract(a, b);
        let mask = borrow.wrapping_neg();
        let mut out = [0; N];
        let mut carry = 0;
        for at in 0..N {
            let wide = u128::from(less[at]) + u128::from(self.n[at] & mask) + u128::from(carry);
            (out[at], carry) = split(wide);
        }
        out
    }

    /// A number of as many limbs, below the modulus.
    pub(crate) fn below(&self, number: &Limbs<N>) -> Limbs<N> {
        self.reduced(number, 0)
    }

    pub(crate) fn shifted(&self, number: &Limbs<N>) -> Shifted<N> {
        Shifted(self.product(number, &self.square))
    }

    /// A number of twice as many limbs.
    pub(crate) fn shifted_wide(&self, low: &Limbs<N>, high: &Limbs<N>) -> Shifted<N> {
        let cube = self.product(&self.square, &self.square);
        let (low, high) = (self.product(low, &self.square), self.product(high, &cube));
        Shifted(self.sum(&low, &high))
    }

    pub(crate) fn plain(&self, number: Shifted<N>) -> Limbs<N> {
        let mut one = [0; N];
        one[0] = 1;
        self.product(&one, &number.0)
    }

    /// The product of a shifted number and a plain one, plain.
    pub(crate) fn times(&self, a: Shifted<N>, b: &Limbs<N>) -> Limbs<N> {
        self.product(b, &a.0)
    }

    /// A power with an exponent that nobody may learn.
    pub(crate) fn power(&self, base: Shifted<N>, exponent: &Limbs<N>) -> Shifted<N> {
        let mut table = [subtract(&[0; N], &self.n).0; 1 << WINDOW];
        for at in 1..table.len() {
            table[at] = self.product(&table[at - 1], &base.0);
        }
        let mut power = table[0];
        for limb in exponent.iter().rev() {
            for at in (0..u64::BITS).step_by(WINDOW as usize).rev() {
                for _ in 0..WINDOW {
                    power = self.product(&power, &power);
                }
                let factor = chosen(&table, (limb >> at) & ((1 << WINDOW) - 1));
                power = self.product(&power, &factor);
            }
        }
        Shifted(power)
    }

    /// A power with an exponent that is known to all.
    pub(crate) fn power_public(&self, base: Shifted<N>, exponent: u64) -> Shifted<N> {
        let mut power = base.0;
        for at in (0..u64::BITS - exponent.leading_zeros()).rev().skip(1) {
            power = self.product(&power, &power);
            if exponent >> at & 1 == 1 {
                power = self.product(&power, &base.0);
            }
        }
        Shifted(power)
    }

    /// Whether a number is below the modulus; not in constant time.
    pub(crate) fn is_above(&self, number: &Limbs<N>) -> bool {
        subtract(number, &self.n).1 == 1
    }
}

/// An entry of a table, all of which are read.
fn chosen<const N: usize>(table: &[Limbs<N>], index: u64) -> Limbs<N> {
    let mut out = [0; N];
    for (at, entry) in (0_u64..).zip(table) {
        let other = at ^ index;
        // All ones where nothing differs.
        let mask = ((other | other.wrapping_neg()) >> 63).wrapping_sub(1);
        for (one, limb) in out.iter_mut().zip(entry) {
            *one |= limb & mask;
        }
    }
    out
}

/// The limbs of `sum + a * b + carry`.
#[inline(always)]
fn step(sum: u64, a: u64, b: u64, carry: u64) -> (u64, u64) {
    split(u128::from(sum) + u128::from(a) * u128::from(b) + u128::from(carry))
}

#[inline(always)]
fn split(wide: u128) -> (u64, u64) {
    (wide as u64, (wide >> 64) as u64)
}

/// The difference, and one where it borrowed.
#[inline(always)]
fn subtract<const N: usize>(a: &Limbs<N>, b: &Limbs<N>) -> (Limbs<N>, u64) {
    let mut out = [0; N];
    let mut borrow = 0;
    for at in 0..N {
        let wide = u128::from(a[at]).wrapping_sub(u128::from(b[at])).wrapping_sub(borrow);
        out[at] = wide as u64;
        borrow = (wide >> 64) & 1;
    }
    (out, borrow as u64)
}

/// `a * b + c`, its lower and its higher half.
pub(crate) fn product_plus<const N: usize>(
    a: &Limbs<N>,
    b: &Limbs<N>,
    c: &Limbs<N>,
) -> (Limbs<N>, Limbs<N>) {
    let (mut low, mut sum) = ([0; N], *c);
    for (out, &digit) in low.iter_mut().zip(b) {
        let mut carry = 0;
        for (one, limb) in sum.iter_mut().zip(a) {
            (*one, carry) = step(*one, *limb, digit, carry);
        }
        *out = sum[0];
        sum.rotate_left(1);
        sum[N - 1] = carry;
    }
    (low, sum)
}

/// A number from its bytes, the highest first; `None` where it does not fit.
pub(crate) fn limbs<const N: usize>(bytes: &[u8]) -> Option<Limbs<N>> {
    let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    let bytes = &bytes[start..];
    if bytes.len() > 8 * N {
        return None;
    }
    let mut out = [0; N];
    for (at, byte) in bytes.iter().rev().enumerate() {
        out[at / 8] |= u64::from(*byte) << (8 * (at % 8));
    }
    Some(out)
}

/// The bytes of a number, the highest first.
pub(crate) fn bytes<const N: usize>(limbs: &Limbs<N>, out: &mut Vec<u8>) {
    for limb in limbs.iter().rev() {
        out.extend_from_slice(&limb.to_be_bytes());
    }
}
