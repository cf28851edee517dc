//! Which known name a misspelt one was meant to be.

/// The nearest of some names, if it is near enough to be meant and does not differ on purpose:
/// for names of which not all are known.
pub fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    meant(name, known.filter(|other| !differ_on_purpose(name, other)))
}

/// The nearest of some names, if it is near enough to be meant: for a name that is surely wrong.
pub fn meant<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let most = match name.len() {
        0..=2 => return None,
        3..=7 => 1,
        _ => 2,
    };
    known
        .filter(|other| other.len().abs_diff(name.len()) <= most && *other != name)
        .map(|other| (distance(name, other), other))
        .filter(|(far, other)| *far <= most && other.len() > 2)
        .min()
        .map(|(_, other)| other)
}

// `web1` and `web2` are two names, not one misspelt; so are `user` and `users`, `defined` and
// `undefined`.
fn differ_on_purpose(a: &str, b: &str) -> bool {
    let letters = |text: &str| -> String { text.chars().filter(|c| !c.is_ascii_digit()).collect() };
    let opposite = |a: &str, b: &str| a.strip_prefix("un") == Some(b);
    let prefixed = |a: &str, b: &str| a.strip_suffix(b).is_some_and(|start| start.ends_with('_'));
    letters(a) == letters(b)
        || prefixed(a, b)
        || prefixed(b, a)
        || a.trim_end_matches('s') == b.trim_end_matches('s')
        || opposite(a, b)
        || opposite(b, a)
}

/// How many letters are to be changed, added or left out to make one word of another; two that
/// changed places are one slip.
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut least = (row[j] + usize::from(x != y)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_others_are_not() {
        let known = ["webserver", "web1", "database", "abc", "user", "content", "package"];
        let table = [
            ("websrever", Some("webserver")),
            ("web2", None),
            ("databse", Some("database")),
            ("ab", None),
            ("mailserver", None),
            ("users", None),
            ("contnet", Some("content")),
            ("packge", Some("package")),
            ("undatabase", None),
            ("u_content", None),
        ];
        for (name, expected) in table {
            assert_eq!(nearest(name, known.into_iter()), expected, "{name}");
        }
        assert_eq!(meant("users", known.into_iter()), Some("user"));
    }

    #[test]
    fn letters_that_changed_places_are_one_slip() {
        let table =
            [("ab", "ba", 1), ("content", "contnet", 1), ("a", "", 1), ("kitten", "sitting", 3)];
        for (a, b, expected) in table {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }
}
