//! Powers modulo an odd number, by Montgomery's products over a fixed count of 64-bit limbs.
//!
//! A server verifies the signature of each request, and this is most of what a small one costs. It is
//! for public keys only: nothing here hides a number from whoever measures the time it takes.

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
    #[inline]
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
    #[inline]
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

    pub(crate) fn shifted(&self, number: &Limbs<N>) -> Shifted<N> {
        Shifted(self.product(number, &self.square))
    }

    pub(crate) fn plain(&self, number: Shifted<N>) -> Limbs<N> {
        let mut one = [0; N];
        one[0] = 1;
        self.product(&one, &number.0)
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

/// The limbs of `sum + a * b + carry`.
#[inline]
fn step(sum: u64, a: u64, b: u64, carry: u64) -> (u64, u64) {
    split(u128::from(sum) + u128::from(a) * u128::from(b) + u128::from(carry))
}

#[inline]
fn split(wide: u128) -> (u64, u64) {
    (wide as u64, (wide >> 64) as u64)
}

/// The difference, and one where it borrowed.
#[inline]
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
