//! Averages of a value over the weeks and over this run, and the classes that say how unusual a
//! value is.

/// Larger values are damage.
const SANE: f64 = 9_999_999.0;
const HIGH: f64 = 1_000_000.0;
/// Smaller differences are noise.
const NOISE: f64 = 6.0;

/// How much of a scalar's average is its newest value.
const SCALAR_WEIGHT: f64 = 0.7;

/// A value and what is known of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in super::super) struct Point {
    pub(in super::super) q: f64,
    pub(in super::super) expect: f64,
    pub(in super::super) var: f64,
    pub(in super::super) dq: f64,
}

/// How fast old values are forgotten.
pub(in super::super) fn sane_rate(rate: Option<f64>) -> f64 {
    rate.filter(|rate| (0.1..=0.9).contains(rate)).unwrap_or(0.6)
}

fn average(new: f64, old: f64, age: f64, rate: f64) -> f64 {
    match (old > SANE, new > SANE) {
        (true, true) => return 0.0,
        (true, false) => return new,
        (false, true) => return old,
        _ => {}
    }
    let weight = if age < 2.0 { rate } else { 1.0 - rate };
    (weight * new + (1.0 - weight) * old).max(0.0)
}

// A value without what is hardly true. `chance` decides about those that are far off.
fn cleaned(new: f64, week: &Point, local: &Point, chance: f64) -> f64 {
    if week.expect == 0.0 {
        return new;
    }
    if new > HIGH * 4.0 {
        return 0.0;
    }
    if new > HIGH {
        return week.expect;
    }
    if (new - week.expect).abs() < NOISE {
        return new;
    }
    let dev = (week.var + local.var).sqrt();
    let delta = ((new - week.expect).powi(2) + (new - local.expect).powi(2)).sqrt();
    if delta <= 4.0 * dev || chance < 0.7 {
        return new;
    }
    if new > week.expect { week.expect + 2.0 * dev } else { week.expect - 2.0 * dev }
}

/// The next state of a value: that of the week, and that of this run.
pub(in super::super) fn next(
    value: f64,
    week: &Point,
    local: &Point,
    ages: (f64, f64),
    rate: f64,
    chance: f64,
) -> (Point, Point) {
    let kept = |number: f64| number.max(0.0);
    let week =
        Point { q: kept(week.q), expect: kept(week.expect), var: kept(week.var), dq: week.dq };
    let this = cleaned(value, &week, local, chance);
    let expect = average(this, week.expect, ages.0, rate);
    let delta = (this - week.expect).powi(2);
    let var = if week.var > delta * 2.0 { delta } else { average(delta, week.var, ages.0, rate) };
    let new = Point { q: this, expect, var, dq: 0.0 };
    let local = Point {
        q: this,
        expect: average(expect, local.expect, ages.1, rate),
        var: average(var, local.var, ages.1, rate),
        dq: 0.0,
    };
    (new, local)
}

/// The next state of a value that has one average, whatever the time.
pub(in super::super) fn next_scalar(value: f64, old: Option<&Point>) -> Point {
    let Some(old) = old else { return Point { q: value, expect: value, var: 0.0, dq: 0.0 } };
    let mean = |new: f64, old: f64| SCALAR_WEIGHT * new + (1.0 - SCALAR_WEIGHT) * old;
    Point {
        q: value,
        expect: mean(value, old.expect),
        var: mean((value - old.expect).powi(2), old.var),
        dq: value - old.q,
    }
}

/// The deviation that is published with a value.
pub(in super::super) fn deviation(week: &Point, local: &Point) -> f64 {
    (week.var + local.var).sqrt()
}

/// Classes of a value.
pub(in super::super) fn classes(
    name: &str,
    value: f64,
    week: &Point,
    local: &Point,
) -> Vec<String> {
    if week.var == 0.0 || local.var == 0.0 {
        return Vec::new();
    }
    let (delta, other) = (value - week.expect, value - local.expect);
    let direction = if delta > 0.0 && other > 0.0 {
        "high"
    } else if delta < 0.0 && other < 0.0 {
        "low"
    } else {
        "normal"
    };
    let base = format!("{name}_{direction}");
    let dev = (delta * delta / (1.0 + week.var) + other * other / (1.0 + local.var)).sqrt();
    let unit = std::f64::consts::SQRT_2;
    if delta.abs() < NOISE {
        let odd = (dev > 2.0 * unit).then(|| format!("{base}_microanomaly"));
        return std::iter::once(base).chain(odd).collect();
    }
    let mut classes = vec![format!("{base}_{}", if dev <= unit { "normal" } else { "dev1" })];
    for (limit, word) in [(2.0, "dev2"), (3.0, "anomaly")] {
        if dev > limit * unit {
            classes.push(format!("{base}_{word}"));
        }
    }
    classes
}

/// Whether a class of a value is one that later runs are to know of, too.
pub(in super::super) fn is_odd(class: &str) -> bool {
    ["_dev2", "_anomaly", "_microanomaly", "_ldt"].iter().any(|end| class.ends_with(end))
}

/// All values of a moment of the week, as the original's database has them.
pub(in super::super) fn to_bytes(now: i64, points: &[Point]) -> Vec<u8> {
    let mut bytes = now.to_le_bytes().to_vec();
    for point in points {
        let Point { q, expect, var, dq } = *point;
        for number in [q, expect, var, dq] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }
    bytes
}

/// Reads them again; places that a file lacks are empty.
pub(in super::super) fn from_bytes(bytes: &[u8], count: usize) -> Vec<Point> {
    let numbers = bytes.get(8..).unwrap_or_default().chunks_exact(8).map(|part| {
        let number = f64::from_le_bytes(part.try_into().unwrap_or_default());
        if number.is_finite() { number } else { 0.0 }
    });
    let numbers: Vec<f64> = numbers.collect();
    let mut points: Vec<Point> = numbers
        .chunks_exact(4)
        .map(|part| Point { q: part[0], expect: part[1], var: part[2], dq: part[3] })
        .collect();
    points.resize(count, Point::default());
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sample_is_that_of_the_original() {
        let none = Point::default();
        let (week, local) = next(59.94, &none, &none, (0.0, 0.0), 0.7, 0.0);
        assert_eq!(format!("{:.2}", week.expect), "41.96");
        assert_eq!(format!("{:.2}", deviation(&week, &local)), "65.39");
        assert_eq!(classes("cpu", 59.94, &week, &local), ["cpu_high_normal"]);
    }

    #[test]
    fn a_scalar_begins_with_its_value() {
        let first = next_scalar(7.0, None);
        assert_eq!((first.expect, first.var), (7.0, 0.0));
        let second = next_scalar(17.0, Some(&first));
        assert_eq!(format!("{:.1} {:.1}", second.expect, second.var), "14.0 70.0");
    }

    #[test]
    fn averages_survive_their_bytes_and_unusual_values_are_named() {
        let point = Point { q: 1.0, expect: 2.0, var: 3.0, dq: 4.0 };
        let bytes = to_bytes(7, &[point; 3]);
        assert_eq!(bytes.len(), 8 + 3 * 32);
        assert_eq!(from_bytes(&bytes, 100)[2], point);
        assert_eq!(from_bytes(b"short", 100).len(), 100);
        let calm = Point { q: 10.0, expect: 10.0, var: 1.0, dq: 0.0 };
        let found = classes("x", 60.0, &calm, &calm);
        assert_eq!(found, ["x_high_dev1", "x_high_dev2", "x_high_anomaly"]);
        assert_eq!(classes("x", 11.0, &calm, &calm), ["x_high"]);
        assert!(cleaned(5_000_000.0, &calm, &calm, 0.0) < 1.0);
        let rates = [Some(2.0), None, Some(0.7)].map(|rate| format!("{:.1}", sane_rate(rate)));
        assert_eq!(rates, ["0.6", "0.6", "0.7"]);
    }
}
