//! Which names things may have.

fn all(text: &str, more: &str) -> bool {
    !text.is_empty() && text.chars().all(|one| one.is_ascii_alphanumeric() || more.contains(one))
}

/// Cookbooks, environments, clients and parts of recipes.
pub(crate) fn is_plain(text: &str) -> bool {
    all(text, "._-")
}

/// Nodes, roles, data bags, their items, and keys.
pub(crate) fn is_wide(text: &str) -> bool {
    all(text, "._:-")
}

/// Policies, their groups and revisions, and artifacts.
pub(crate) fn is_policy(text: &str) -> bool {
    is_wide(text) && text.len() <= 255
}

pub(crate) fn is_user(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || "_-".contains(one))
}

pub(crate) fn is_organization(text: &str) -> bool {
    text.len() <= 255
        && is_user(text)
        && text.starts_with(|one: char| one.is_ascii_lowercase() || one.is_ascii_digit())
}

pub(crate) fn is_full_name(text: &str) -> bool {
    text.chars().count() <= 1023 && text.starts_with(|one: char| !one.is_whitespace())
}

/// First, last and shown names of people.
pub(crate) fn is_of_a_person(text: &str) -> bool {
    text.chars().all(|one| one.is_alphanumeric() || "_!'. -".contains(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_original() {
        type Rule = fn(&str) -> bool;
        let cases: &[(Rule, &[&str], &[&str])] = &[
            (is_plain, &["a", "a.b_c-1"], &["", "a:b", "a b", "a/b", "é"]),
            (is_wide, &["a:b", "n.x"], &["", "a b", "a/b", "a\n"]),
            (is_user, &["bob", "b_-1"], &["Bob", "b.b", ""]),
            (is_organization, &["acme", "1a"], &["-a", "_a", "A", ""]),
            (is_full_name, &["A B"], &[" A", ""]),
            (is_of_a_person, &["Ann O'Neil", "Zoë", ""], &["a<b", "a\tb"]),
        ];
        for (rule, good, bad) in cases {
            assert!(good.iter().all(|name| rule(name)), "{good:?}");
            assert!(!bad.iter().any(|name| rule(name)), "{bad:?}");
        }
        assert!(!is_policy(&"a".repeat(256)));
    }
}
