//! Semantic versions and ranges, as the language's SemVer types compare them.

use std::cmp::Ordering;

/// A version taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    /// Major, minor, patch.
    pub numbers: [u64; 3],
    /// What stands behind the dash.
    pub prerelease: Vec<String>,
    /// What stands behind the plus; it does not count in comparisons.
    pub build: Option<String>,
}

impl Version {
    /// Reads a full version; `None` if it is none.
    pub(crate) fn parse(text: &str) -> Option<Version> {
        let (rest, build) = match text.split_once('+') {
            Some((rest, build)) => (rest, Some(build)),
            None => (text, None),
        };
        let (core, prerelease) = match rest.split_once('-') {
            Some((core, prerelease)) => (core, Some(prerelease)),
            None => (rest, None),
        };
        let good = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let number = |part: &str| {
            (part == "0" || !part.starts_with('0')).then(|| part.parse().ok()).flatten()
        };
        let numbers: Vec<u64> = core.split('.').map(number).collect::<Option<_>>()?;
        let prerelease: Vec<String> =
            prerelease.map(|text| text.split('.').map(str::to_owned).collect()).unwrap_or_default();
        let parts_good = prerelease.iter().all(|part| good(part))
            && build.is_none_or(|build| build.split('.').all(good));
        let numbers = <[u64; 3]>::try_from(numbers).ok()?;
        parts_good.then(|| Version { numbers, prerelease, build: build.map(str::to_owned) })
    }

    /// Precedence: numbers, then prereleases before the release.
    pub(crate) fn compare(&self, other: &Version) -> Ordering {
        let part = |a: &String, b: &String| match (a.parse::<u64>(), b.parse::<u64>()) {
            (Ok(a), Ok(b)) => a.cmp(&b),
            (Ok(_), Err(_)) => Ordering::Less,
            (Err(_), Ok(_)) => Ordering::Greater,
            (Err(_), Err(_)) => a.cmp(b),
        };
        self.numbers.cmp(&other.numbers).then_with(|| {
            match (self.prerelease.is_empty(), other.prerelease.is_empty()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => {
                    let parts =
                        self.prerelease.iter().zip(&other.prerelease).map(|(a, b)| part(a, b));
                    let first = parts.into_iter().find(|order| *order != Ordering::Equal);
                    first.unwrap_or_else(|| self.prerelease.len().cmp(&other.prerelease.len()))
                }
            }
        })
    }
}

/// One comparison of a range.
type Bound = (&'static str, Version);

/// Reads a range: alternatives of bounds that hold together; `None` if it is none.
pub(crate) fn parse_range(text: &str) -> Option<Vec<Vec<Bound>>> {
    text.split("||").map(|part| parse_simple(part.trim())).collect()
}

fn parse_simple(text: &str) -> Option<Vec<Bound>> {
    if let Some((from, to)) = text.split_once(" - ") {
        return Some(vec![(">=", partial(from)?.0), ("<=", partial(to)?.0)]);
    }
    let mut bounds = Vec::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let operator = [">=", "<=", ">", "<", "=", "~", "^"]
            .into_iter()
            .find(|operator| word.starts_with(operator))
            .unwrap_or("");
        let rest = &word[operator.len()..];
        let version = if rest.is_empty() { words.next()? } else { rest };
        let (low, given) = partial(version)?;
        let next = |place: usize| {
            let mut numbers = low.numbers;
            numbers[place] += 1;
            numbers[place + 1..].fill(0);
            Version { numbers, prerelease: Vec::new(), build: None }
        };
        match operator {
            "" | "=" if given == 3 => bounds.push(("=", low)),
            "" | "=" => {
                if given > 0 {
                    bounds.push(("<", next(given - 1)));
                }
                bounds.insert(0, (">=", low));
            }
            "~" => {
                let upper = next(usize::from(given > 1));
                bounds.push((">=", low));
                bounds.push(("<", upper));
            }
            "^" => {
                let place = low
                    .numbers
                    .iter()
                    .position(|number| *number > 0)
                    .unwrap_or(given.clamp(1, 3) - 1);
                let upper = next(place);
                bounds.push((">=", low));
                bounds.push(("<", upper));
            }
            ">" if given < 3 && given > 0 => bounds.push((">=", next(given - 1))),
            "<=" if given < 3 && given > 0 => bounds.push(("<", next(given - 1))),
            operator => bounds.push((operator, low)),
        }
    }
    Some(bounds)
}

/// A version that may leave out its end or have `x` there; and how many parts it gives.
fn partial(text: &str) -> Option<(Version, usize)> {
    let text = text.trim();
    if let Some(version) = Version::parse(text) {
        return Some((version, 3));
    }
    let mut numbers = [0; 3];
    let mut given = 0;
    for (index, part) in text.split('.').enumerate() {
        if matches!(part, "x" | "X" | "*" | "") {
            break;
        }
        *numbers.get_mut(index)? = part.parse().ok()?;
        given = index + 1;
    }
    Some((Version { numbers, prerelease: Vec::new(), build: None }, given))
}

/// Whether a version lies in a range; what cannot be read does not.
pub(crate) fn satisfies(version: &str, range: &str) -> bool {
    let (Some(version), Some(range)) = (Version::parse(version), parse_range(range)) else {
        return false;
    };
    range.iter().any(|bounds| {
        let holds = bounds.iter().all(|(operator, bound)| {
            let order = version.compare(bound);
            match *operator {
                ">=" => order != Ordering::Less,
                "<=" => order != Ordering::Greater,
                ">" => order == Ordering::Greater,
                "<" => {
                    order == Ordering::Less
                        && (version.prerelease.is_empty() || version.numbers != bound.numbers)
                }
                _ => order == Ordering::Equal,
            }
        });
        // A prerelease is only meant where a bound names one of the same version.
        let named = version.prerelease.is_empty()
            || bounds
                .iter()
                .any(|(_, bound)| !bound.prerelease.is_empty() && bound.numbers == version.numbers);
        holds && named
    })
}

/// Whether two ranges hold the same versions, however they are written.
pub(crate) fn same_range(a: &str, b: &str) -> bool {
    range_text(a).is_some_and(|a| Some(a) == range_text(b))
}

/// A range in its plain form, such as `>=1.0.0 <2.0.0`.
pub(crate) fn range_text(text: &str) -> Option<String> {
    let range = parse_range(text)?;
    let version = |version: &Version| {
        let mut text = version.numbers.map(|number| number.to_string()).join(".");
        if !version.prerelease.is_empty() {
            text = format!("{text}-{}", version.prerelease.join("."));
        }
        text
    };
    let bound = |(operator, bound): &Bound| {
        if *operator == "=" { version(bound) } else { format!("{operator}{}", version(bound)) }
    };
    let part = |bounds: &Vec<Bound>| bounds.iter().map(bound).collect::<Vec<_>>().join(" ");
    Some(range.iter().map(part).collect::<Vec<_>>().join(" || "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_what_they_say() {
        let table = [
            ("1.5.0", "1.x", true),
            ("2.0.0", "1.x", false),
            ("1.2.9", "~1.2.3", true),
            ("1.3.0", "~1.2.3", false),
            ("1.9.0", "^1.2.0", true),
            ("0.3.0", "^0.2.0", false),
            ("1.2.3", ">=1.0.0 <2.0.0", true),
            ("2.0.0-rc1", ">=1.0.0 <2.0.0", false),
            ("1.0.0", "0.9.0 - 1.0.0", true),
            ("3.0.0", "<1.0.0 || >=3.0.0", true),
        ];
        for (version, range, expected) in table {
            assert_eq!(satisfies(version, range), expected, "{version} in {range}");
        }
        assert_eq!(range_text("1.x").as_deref(), Some(">=1.0.0 <2.0.0"));
        assert_eq!(range_text("^1.2.0").as_deref(), Some(">=1.2.0 <2.0.0"));
        assert_eq!(Version::parse("1.2"), None);
    }
}
