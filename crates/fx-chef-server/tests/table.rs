//! Who may do what: each endpoint as each kind of caller meets it. The table is `table.txt`; where the
//! program gives another, the test says which rows differ, and UPDATE_TABLE=1 writes it anew.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]
#![allow(clippy::disallowed_methods, reason = "reads and writes the table")]

#[path = "support/site.rs"]
mod site;

#[path = "support/rows.rs"]
mod rows;

use std::fmt::Write;

use rows::{body, filled};
use site::Site;

#[test]
fn each_endpoint_is_open_to_whom_the_table_says() {
    let mut table = String::from("method path: ");
    writeln!(table, "{}", site::CALLERS.join(" ")).unwrap();
    // Each row meets a site in which nothing was changed before.
    let site = Site::new();
    for (method, path) in fx_chef_server::endpoints() {
        let at = filled(&path);
        let statuses: Vec<String> = site::CALLERS
            .iter()
            .map(|caller| site.tried(caller, method, &at, body(method, &at)).to_string())
            .collect();
        writeln!(table, "{method} {path}: {}", statuses.join(" ")).unwrap();
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/table.txt");
    if std::env::var_os("UPDATE_TABLE").is_some() {
        std::fs::write(file, &table).unwrap();
    }
    let known = std::fs::read_to_string(file).unwrap();
    let differing: Vec<String> = table
        .lines()
        .zip(known.lines())
        .filter(|(now, known)| now != known)
        .map(|(now, known)| format!("{now}\n  the table: {known}"))
        .collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert_eq!(table.lines().count(), known.lines().count(), "endpoints that the table lacks");
}

/// Rules that hold for every row, whatever the table says.
#[test]
fn nobody_changes_anything_without_a_signature_of_the_organization() {
    let site = Site::new();
    for (method, path) in fx_chef_server::endpoints() {
        let at = filled(&path);
        let open = at.contains("principals")
            || at.contains("required_recipe")
            || at.contains("file_store");
        let unsigned = site.tried("nobody", method, &at, body(method, &at));
        let is_status = ["/_status", "/version", "/server_api_version"].contains(&at.as_str());
        if !open && !is_status {
            assert!(matches!(unsigned, 400 | 401), "{method} {at}: {unsigned}");
        }
        let stranger = site.tried("stranger", method, &at, body(method, &at));
        if at.starts_with("/organizations/acme/") && !open {
            assert!(
                stranger >= 401,
                "{method} {at} for a client of another organization: {stranger}"
            );
        }
        let forged = site.tried("forged", method, &at, body(method, &at));
        if !open && !is_status {
            assert!(forged >= 400, "{method} {at} with a key of somebody else: {forged}");
        }
    }
}
