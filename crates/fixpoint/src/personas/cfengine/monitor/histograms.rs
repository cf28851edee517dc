//! How often a value was how far from its average, for each day of the week: the file
//! `histograms`, which the original keeps from one run to the next and nobody else reads.

use std::fmt::Write;

use super::averages::Point;

/// Steps from two deviations below the average to two above.
const GRAINS: usize = 64;
const DAYS: usize = 7;
/// The largest count of a value that was read back.
const SCALE: f64 = 1000.0;

/// Counts by step, value and day.
#[derive(Clone, Debug)]
pub(in super::super) struct Histograms {
    count: usize,
    counts: Vec<f64>,
}

impl Histograms {
    pub(in super::super) fn new(count: usize) -> Histograms {
        Histograms { count, counts: vec![0.0; GRAINS * count * DAYS] }
    }

    fn place(&self, step: usize, slot: usize, day: usize) -> usize {
        (step * self.count + slot) * DAYS + day
    }

    /// Reads the file of an earlier monitor; what is missing is zero.
    pub(in super::super) fn read(count: usize, text: &str) -> Histograms {
        let mut histograms = Histograms::new(count);
        let mut largest = vec![1.0; count];
        for (step, line) in text.lines().take(GRAINS).enumerate() {
            let numbers = line.split_ascii_whitespace().skip(1).take(count * DAYS);
            for (at, word) in numbers.enumerate() {
                let number = word.parse().unwrap_or(0.0);
                let number = if f64::is_finite(number) { number.max(0.0) } else { 0.0 };
                let largest = &mut largest[at / DAYS];
                *largest = number.max(*largest);
                let place = histograms.place(step, at / DAYS, at % DAYS);
                histograms.counts[place] = number * SCALE / *largest;
            }
        }
        histograms
    }

    /// Counts values against their averages of a week ago.
    pub(in super::super) fn count(&mut self, day: usize, values: &[f64], week: &[Point]) {
        for (slot, (value, week)) in values.iter().zip(week).take(self.count).enumerate() {
            let step = 0.5 + (value - week.expect) * GRAINS as f64 / (4.0 * week.var.sqrt());
            let step = GRAINS as f64 / 2.0 + step.trunc();
            if step.is_finite() && (0.0..GRAINS as f64).contains(&step) {
                let place = self.place(step as usize, slot, day % DAYS);
                self.counts[place] += 1.0;
            }
        }
    }

    /// The text of the file.
    pub(in super::super) fn text(&self) -> String {
        let mut text = String::new();
        for (step, row) in self.counts.chunks(self.count * DAYS).enumerate() {
            let _ = write!(text, "{step} ");
            for count in row {
                let _ = write!(text, "{count:.0} ");
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_where_the_original_counts_them() {
        let mut histograms = Histograms::new(100);
        // One value before, of which 0.7 is remembered: the original counts the same one at 38.
        let week = Point { q: 10.0, expect: 7.0, var: 70.0, dq: 0.0 };
        let calm = Point::default();
        histograms.count(2, &[10.0, 10.0, 0.0, 7000.0], &[week, calm, calm, week]);
        let text = histograms.text();
        assert_eq!(text.lines().count(), 64);
        let counted: Vec<(usize, usize)> = text
            .lines()
            .enumerate()
            .flat_map(|(step, line)| {
                let words = line.split(' ').skip(1).enumerate();
                words
                    .filter(|(_, word)| *word == "1")
                    .map(move |(at, _)| (step, at))
                    .collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(counted, [(38, 2)]);
        assert_eq!(Histograms::read(100, &text).text(), text.replace(" 1 ", " 1000 "));
        assert_eq!(Histograms::read(100, "junk -1 nan\n\n").counts.len(), 64 * 700);
    }

    // 64 rows of 1 + 700 numbers: as long as the original's file.
    #[test]
    fn an_empty_file_is_as_long_as_the_originals() {
        assert_eq!(Histograms::new(100).text().len(), 89_846);
    }
}
