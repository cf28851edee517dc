//! Sudden changes of a value against its last ten: leaps.

/// How many values are compared.
const LENGTH: usize = 10;
const SHARE: f64 = LENGTH as f64 + 1.0;
/// A value that is so many times the last one is an error of counting.
const ABSURD: f64 = 1000.0;
const PADDING: f64 = 0.2;
const NOTHING: f64 = 0.001;

/// One value and its past.
#[derive(Clone, Debug)]
struct Past {
    last: [f64; LENGTH],
    average: f64,
    largest: f64,
    chi: f64,
    limit: f64,
}

/// The past of all values.
#[derive(Clone, Debug)]
pub(in super::super) struct Leaps {
    at: usize,
    is_full: bool,
    values: Vec<Past>,
}

impl Leaps {
    pub(in super::super) fn new(count: usize) -> Leaps {
        let past = Past { last: [0.0; LENGTH], average: 0.0, largest: 0.0, chi: 0.0, limit: 0.1 };
        Leaps { at: 0, is_full: false, values: vec![past; count] }
    }

    /// Takes the next values; what cannot be true is replaced by the value before.
    pub(in super::super) fn take(&mut self, values: &mut [f64]) {
        let before = self.at;
        self.at = (self.at + 1) % LENGTH;
        self.is_full |= self.at == 0;
        for (past, value) in self.values.iter_mut().zip(values) {
            past.take(value, before, self.at, self.is_full);
        }
    }

    /// Whether a value of the last turn was a leap.
    pub(in super::super) fn has_leapt(&self, slot: usize) -> bool {
        self.is_full && self.values.get(slot).is_some_and(|past| past.chi > past.limit)
    }
}

impl Past {
    // The original means to subtract the sum of the last values as well, and its sum is always
    // zero: limits are those of the values themselves.
    fn take(&mut self, value: &mut f64, before: usize, at: usize, is_full: bool) {
        if self.last[before] > 0.0 && *value / self.last[before] > ABSURD {
            *value = self.last[before];
        }
        self.average += *value / SHARE;
        let scale = LENGTH as f64 * SHARE * self.average;
        let chi = |value: f64| (LENGTH as f64 * value).abs() / scale.sqrt();
        let is_nothing = scale < NOTHING;
        if is_full && at == 0 {
            self.limit = if is_nothing { 0.5 } else { PADDING + chi(self.largest) };
            self.largest = 0.0;
        }
        self.largest = self.largest.max(*value);
        self.chi = if is_nothing { 0.0 } else { chi(*value) };
        self.average -= self.last[at] / SHARE;
        self.last[at] = *value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // What cf-monitord 3.21 measured of a file, and its lines `LDT(…) chi = … thresh …`.
    const MEASURED: &str = "5 5 6 7 6 7 5 6 7 5 7 5 6 7 5 7 5 6 7 5 7 5 6 7 6 7 5 6 7 6 7 5 6 5 6 \
        7 6 7 5 6 5 6 200 5 6 5 6 7 5 7 5 6 7 6 7 5 200 5 6 7 5 6 5 6 7 5 6 5 6 7 200 6 5 6 7 5 6 \
        5 6 7 5 7 5 6 5 6 7 5 7 5 6 7 6 7 5 6 5 200 7 5 7 5 6 7 6 7 5 6 5 6 7 200 7 5 6 7 6";

    #[test]
    fn leaps_are_those_of_the_original() {
        let (mut leaps, mut found) = (Leaps::new(1), Vec::new());
        for (number, word) in MEASURED.split_ascii_whitespace().enumerate() {
            let mut values: [f64; 1] = [word.parse().unwrap()];
            leaps.take(&mut values);
            if leaps.has_leapt(0) {
                let Past { chi, limit, .. } = &leaps.values[0];
                found.push(format!("{number} {} {chi:.2} {limit:.2}", leaps.at));
            }
        }
        let recorded =
            ["42 3 39.30 2.92", "70 1 39.37 2.95", "97 8 39.30 2.95", "111 2 39.22 2.95"];
        assert_eq!(found, recorded);
    }

    #[test]
    fn an_error_of_counting_is_no_leap() {
        let mut leaps = Leaps::new(2);
        for _ in 0..20 {
            leaps.take(&mut [3.0, 0.0]);
        }
        let mut values = [9000.0, 0.0];
        leaps.take(&mut values);
        assert_eq!(values.map(f64::to_bits), [3.0, 0.0].map(f64::to_bits));
        assert!(!leaps.has_leapt(0) && !leaps.has_leapt(1) && !leaps.has_leapt(7));
    }
}
