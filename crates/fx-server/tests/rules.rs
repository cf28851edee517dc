//! Every endpoint against every kind of caller.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]
#![allow(clippy::disallowed_methods, reason = "how much is tried is up to who runs it")]

#[path = "support/bench.rs"]
mod support;

use std::fmt::Write;

use fx_server::{Access, Caller, Pattern, Rule, Who};
use support::{Bench, admin, bench, node};

/// Method, path, and who may: without certificate, another node, the node itself, the administrator.
#[rustfmt::skip]
const TABLE: &[(&str, &str, [bool; 4])] = &[
    ("GET",    "/puppet-ca/v1/certificate/n1",                          [true, true, true, true]),
    ("GET",    "/puppet-ca/v1/certificate/ca",                          [true, true, true, true]),
    ("GET",    "/puppet-ca/v1/certificate_request/n1",                  [true, true, true, true]),
    ("PUT",    "/puppet-ca/v1/certificate_request/n1",                  [true, true, true, true]),
    ("DELETE", "/puppet-ca/v1/certificate_request/n1",                  [false, false, false, false]),
    ("GET",    "/puppet-ca/v1/certificate_revocation_list/ca",          [true, true, true, true]),
    ("GET",    "/puppet-ca/v1/certificate_revocation_list/x",           [false, false, false, false]),
    ("PUT",    "/puppet-ca/v1/certificate_revocation_list",             [false, false, false, true]),
    ("GET",    "/puppet-ca/v1/certificate_status/n1",                   [false, false, false, true]),
    ("PUT",    "/puppet-ca/v1/certificate_status/n1",                   [false, false, false, true]),
    ("DELETE", "/puppet-ca/v1/certificate_status/n1",                   [false, false, false, true]),
    ("GET",    "/puppet-ca/v1/certificate_statuses/x",                  [false, false, false, true]),
    ("GET",    "/puppet-ca/v1/certificate_statuses/",                   [false, false, false, true]),
    ("PUT",    "/puppet-ca/v1/clean",                                   [false, false, false, true]),
    ("POST",   "/puppet-ca/v1/sign",                                    [false, false, false, true]),
    ("POST",   "/puppet-ca/v1/sign/all",                                [false, false, false, true]),
    ("POST",   "/puppet-ca/v1/certificate_renewal",                     [false, true, true, true]),
    ("GET",    "/puppet-ca/v1/expirations",                             [false, true, true, true]),
    ("GET",    "/puppet-ca/v1/nothing",                                 [false, false, false, false]),
    ("GET",    "/puppet/v3/catalog/n1?environment=production",          [false, false, true, false]),
    ("POST",   "/puppet/v3/catalog/n1?environment=production",          [false, false, true, false]),
    ("POST",   "/puppet/v4/catalog",                                    [false, false, false, false]),
    ("GET",    "/puppet/v3/node/n1?environment=production",             [false, false, true, false]),
    ("PUT",    "/puppet/v3/report/n1?environment=production",           [false, false, true, false]),
    ("PUT",    "/puppet/v3/facts/n1?environment=production",            [false, false, true, false]),
    ("GET",    "/puppet/v3/facts/n1?environment=production",            [false, false, false, false]),
    ("GET",    "/puppet/v3/file_metadata/modules/m/there?environment=production",  [false, true, true, true]),
    ("GET",    "/puppet/v3/file_metadatas/modules/m/there?environment=production", [false, true, true, true]),
    ("GET",    "/puppet/v3/file_content/modules/m/there?environment=production",   [false, true, true, true]),
    ("GET",    "/puppet/v3/static_file_content/a/b/files/c?environment=production&code_id=1", [false, true, true, true]),
    ("GET",    "/puppet/v3/file_bucket_file/sha256/0",                  [false, true, true, true]),
    ("HEAD",   "/puppet/v3/file_bucket_file/sha256/0",                  [false, true, true, true]),
    ("PUT",    "/puppet/v3/file_bucket_file/sha256/0",                  [false, true, true, true]),
    ("GET",    "/puppet/v3/environments",                               [false, true, true, true]),
    ("GET",    "/puppet/v3/environment_classes?environment=production", [false, false, false, false]),
    ("GET",    "/puppet/v3/environment_modules",                        [false, false, false, false]),
    ("DELETE", "/puppet-admin-api/v1/environment-cache",                [false, false, false, false]),
    ("DELETE", "/puppet-admin-api/v1/jruby-pool",                       [false, false, false, false]),
    ("GET",    "/status/v1/simple",                                     [true, true, true, true]),
    ("GET",    "/status/v1/simple/server",                              [true, true, true, true]),
    ("GET",    "/status/v1/services",                                   [true, true, true, true]),
    ("GET",    "/status/v1/services/ca",                                [true, true, true, true]),
    ("GET",    "/metrics/v2/list",                                      [false, false, false, true]),
    ("POST",   "/metrics/v2",                                           [false, false, false, true]),
    ("GET",    "/metrics/v1/mbeans",                                    [false, false, false, false]),
    ("POST",   "/pdb/cmd/v1?command=deactivate_node&version=3",         [false, false, false, true]),
    ("GET",    "/pdb/query/v4/nodes",                                   [false, false, false, true]),
    ("POST",   "/pdb/query/v4",                                         [false, false, false, true]),
    ("GET",    "/pdb/meta/v1/version",                                  [false, true, true, true]),
    ("GET",    "/pdb/meta/v1/server-time",                              [false, true, true, true]),
    ("GET",    "/pdb/admin/v1/archive",                                 [false, false, false, false]),
];

fn callers() -> [Caller; 4] {
    [Caller::Anonymous, node("n2"), node("n1"), admin()]
}

fn is_allowed(bench: &Bench, caller: Caller, method: &str, target: &str) -> bool {
    let reply = bench.send(caller, method, target, b"");
    reply.status != 403 || !String::from_utf8_lossy(&reply.body).starts_with("Forbidden request")
}

#[test]
fn each_endpoint_is_open_to_whom_the_table_says() {
    let bench = bench(Vec::new());
    for (method, target, wanted) in TABLE {
        let got = callers().map(|caller| is_allowed(&bench, caller, method, target));
        assert_eq!(got, *wanted, "{method} {target}");
    }
}

#[test]
fn the_table_has_every_endpoint() {
    for (method, template) in fx_server::endpoints() {
        let fits = |path: &str| {
            let (path, _) = path.split_once('?').unwrap_or((path, ""));
            let mut parts = path[1..].split('/');
            template.split('/').all(|wanted| {
                wanted == "*" || parts.next().is_some_and(|part| wanted == ":" || wanted == part)
            }) && (template.ends_with('*') || parts.next().is_none())
        };
        let is_there = TABLE.iter().any(|(known, path, _)| *known == method && fits(path));
        assert!(is_there, "{method} {template}");
    }
}

#[test]
fn a_revoked_certificate_opens_nothing() {
    let bench = bench(Vec::new());
    bench.submit(&support::csr("n1", 9, &fx_wire::x509::RequestOptions::default()), "n1");
    bench.wish("n1", "signed");
    let pem = bench.fleet.certificate("n1").unwrap().unwrap().text;
    let caller = Caller::of(&fx_wire::x509::Certificate::from_pem(&pem).unwrap());
    bench.wish("n1", "revoked");
    for (method, target, _) in TABLE {
        assert!(!is_allowed(&bench, caller.clone(), method, target), "{method} {target}");
    }
}

/// Other ways to write a path: an encoding must not open what is closed.
#[test]
fn encodings_change_nothing() {
    let bench = bench(Vec::new());
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = move |most: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % most
    };
    let rounds: u64 =
        std::env::var("FX_ENCODINGS").ok().and_then(|text| text.parse().ok()).unwrap_or(5_000);
    for _ in 0..rounds {
        let (method, target, wanted) = &TABLE[random(TABLE.len() as u64) as usize];
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut written = String::from("/");
        for byte in path[1..].bytes() {
            match random(4) {
                0 if random(2) == 0 => write!(written, "%{byte:02x}").unwrap(),
                0 => write!(written, "%{byte:02X}").unwrap(),
                _ => written.push(char::from(byte)),
            }
        }
        let at = random(4) as usize;
        // Who may not by the plain path may not by any other way to write it.
        let target = format!("{written}?{query}");
        let got = is_allowed(&bench, callers()[at].clone(), method, &target);
        assert_eq!(got, wanted[at], "{method} {target}");
    }
}

#[test]
fn a_site_opens_and_closes_endpoints_by_its_own_rules() {
    let rule = |name: &str, order: u16, path: &str, allow: Vec<Who>, deny: Vec<Who>| Rule {
        name: name.into(),
        order,
        path: Pattern::Path(path.into()),
        methods: Vec::new(),
        query: Vec::new(),
        access: Access::Only { allow, deny },
    };
    let tool = vec![Who::Name("n2".into())];
    let bench = bench(vec![
        rule("classes", 400, "/puppet/v3/environment_classes", tool.clone(), Vec::new()),
        rule("no files", 300, "/puppet/v3/file_content", vec![Who::Any], tool),
    ]);
    let open = |caller: Caller, target: &str| is_allowed(&bench, caller, "GET", target);
    assert!(open(node("n2"), "/puppet/v3/environment_classes?environment=production"));
    assert!(!open(node("n1"), "/puppet/v3/environment_classes?environment=production"));
    assert!(!open(node("n2"), "/puppet/v3/file_content/modules/m/there?environment=production"));
    assert!(open(node("n1"), "/puppet/v3/file_content/modules/m/there?environment=production"));
}

#[test]
fn dashboards_get_the_figures_they_ask_for() {
    let bench = bench(Vec::new());
    let read = |name: &str| {
        let reply = bench.send(admin(), "GET", &format!("/metrics/v2/read/{name}"), b"");
        assert_eq!(reply.status, 200);
        serde_json::from_slice::<serde_json::Value>(&reply.body).unwrap()
    };
    let nodes = read("puppetlabs.puppetdb.population:name=num-nodes");
    assert_eq!((&nodes["value"]["Value"], &nodes["status"]), (&0.into(), &200.into()), "{nodes}");
    assert_eq!(read("java.lang:type=Memory")["status"], 404);
}
