//! Versions against tables: Debian's made with dpkg itself, RPM's by its known rules.

use std::cmp::Ordering;

use super::{apk, dpkg, python, rpm, ruby};

#[test]
fn debian_versions_are_ordered_as_dpkg_orders_them() {
    let table = include_str!("dpkg_order.txt");
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(' ').collect()).collect();
    let mut pairs = 0;
    for (i, left) in rows.iter().enumerate() {
        for (j, right) in rows.iter().enumerate() {
            for a in left {
                for b in right {
                    assert_eq!(dpkg(a, b), i.cmp(&j), "{a} and {b}");
                    pairs += 1;
                }
            }
        }
    }
    assert!(pairs > 5_000, "{pairs}");
}

fn check(compare: fn(&str, &str) -> Ordering, table: &str) {
    for row in table.lines().filter(|row| !row.trim().is_empty()) {
        let mut words = row.split_whitespace();
        let (a, sign, b) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        let order = match sign {
            "<" => Ordering::Less,
            "=" => Ordering::Equal,
            _ => Ordering::Greater,
        };
        assert_eq!(compare(a, b), order, "{row}");
        assert_eq!(compare(b, a), order.reverse(), "{row}, turned round");
    }
}

#[test]
fn rpm_versions_are_ordered_by_runs() {
    check(
        rpm,
        "1.0 = 1.0
         1.0 < 2.0
         2.0 < 2.0.1
         2.0.1 < 2.0.1a
         5.5p1 < 5.5p2
         5.5p1 < 5.5p10
         10xyz < 10.1xyz
         xyz10 < xyz10.1
         xyz.4 < 8
         xyz.4 < 2
         5.5p2 < 5.6p1
         5.6p1 < 6.5p1
         6.0 < 6.0.rc1
         10a2 < 10b1
         1.0a < 1.0aa
         10.0001 = 10.1
         10.0001 < 10.0039
         4.999.9 < 5.0
         20101121 < 20101122
         2_0 = 2.0
         2.0 = 2_0
         a+ = a_
         + = _
         1.0~rc1 < 1.0
         1.0~rc1 < 1.0~rc2
         1.0~rc1~git123 < 1.0~rc1
         1.0~rc1 < 1.0arc1
         1.0^ > 1.0
         1.0^git1 > 1.0
         1.0^git1 < 1.0^git2
         1.0^git1 < 1.01
         1.0^20160101 < 1.0.1
         1.0^20160102 > 1.0^20160101^git1
         1.0~rc1^git1 > 1.0~rc1
         1.0^git1~pre < 1.0^git1
         1:1.0 > 2.0
         0:1.0-1 = 1.0-1
         1.0-1 < 1.0-2
         1.0 = 1.0-2
         1.0-1.fc38 < 1.0-1.fc39
         1.0-10.el9 > 1.0-9.el9",
    );
}

#[test]
fn alpine_python_and_ruby_versions_follow_their_own_rules() {
    check(
        apk,
        "1.24.0-r7 < 1.24.0-r10
         1.24.0_rc1-r0 < 1.24.0-r0
         1.24.0_alpha1-r0 < 1.24.0_rc1-r0
         1.24.0-r0 < 1.24.0_p1-r0
         3.1.4-r5 = 3.1.4-r5",
    );
    check(
        python,
        "1.0 = 1.0.0
         1.9 < 1.10
         2.0rc1 < 2.0
         2.0a1 < 2.0b1
         2.0.dev1 < 2.0a1
         2.0 < 2.0.post1
         1.0rc2 < 1.0rc10",
    );
    check(
        ruby,
        "1.0 = 1.0.0
         1.9.3 < 1.10
         2.0.rc1 < 2.0
         2.0.0.pre1 < 2.0.0
         2.0.a < 2.0.b
         1.0 < 1.0.1
         2.0-x < 2.0",
    );
}

/// Every pair of the list, as `rpm.vercmp` of rpm 4.18.0 compares them.
#[test]
fn rpm_versions_compare_as_rpm_compares_them() {
    let table = include_str!("rpm_pairs.txt");
    let mut rows = 0;
    for row in table.lines() {
        let words: Vec<&str> = row.split(' ').collect();
        let [a, sign, b] = words[..] else { panic!("{row}") };
        let expected = match sign {
            "<" => Ordering::Less,
            ">" => Ordering::Greater,
            _ => Ordering::Equal,
        };
        assert_eq!(rpm(a, b), expected, "{row}");
        assert_eq!(rpm(b, a), expected.reverse(), "{row}, turned");
        rows += 1;
    }
    assert!(rows > 1000, "{rows}");
}
