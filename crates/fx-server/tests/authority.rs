//! The certificate authority over its endpoints.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]
#![allow(clippy::disallowed_methods, reason = "how much is tried is up to who runs it")]

#[path = "support/bench.rs"]
mod support;

use fx_server::Caller;
use fx_wire::x509::{Certificate, RequestOptions, Revocations, blocks};
use serde_json::Value;
use support::{NOW, admin, bench, csr, extension, node, text};

#[test]
fn a_node_gets_its_certificate() {
    let bench = bench(Vec::new());
    let options = RequestOptions {
        extensions: vec![extension("1.3.6.1.4.1.34380.1.1.13", "web")],
        ..RequestOptions::default()
    };
    let wanted = csr("n1", 10, &options);
    let get = |path: &str| bench.send(Caller::Anonymous, "GET", path, b"");
    let missing = get("/puppet-ca/v1/certificate/n1");
    assert_eq!((missing.status, text(&missing).as_str()), (404, "Could not find certificate n1"));
    let taken = bench.submit(&wanted, "n1");
    assert_eq!((taken.status, taken.content_type, taken.body.len()), (200, Some("text/plain"), 0));
    let again = bench.submit(&wanted, "n1");
    let duplicate = "n1 already has a requested certificate; ignoring certificate request";
    assert_eq!((again.status, text(&again).as_str()), (400, duplicate));
    assert_eq!(text(&get("/puppet-ca/v1/certificate_request/n1")), wanted.to_pem());
    assert_eq!(bench.wish("n1", "signed").status, 204);
    let certificate = Certificate::from_pem(&text(&get("/puppet-ca/v1/certificate/n1"))).unwrap();
    assert_eq!(certificate.name().as_deref(), Some("n1"));
    assert_eq!(certificate.serial(), [2]);
    assert_eq!(certificate.extensions(), options.extensions);
    assert_eq!(certificate.public_key(), wanted.public_key());
    assert_eq!(bench.authority.certificate().has_signed(&certificate), Ok(true));
    assert_eq!(get("/puppet-ca/v1/certificate_request/n1").status, 404);
    assert_eq!(text(&get("/puppet-ca/v1/certificate/ca")), bench.authority.certificate().to_pem());
}

#[test]
fn what_is_not_to_be_signed_is_refused() {
    let bench = bench(Vec::new());
    let with = |extensions: Vec<_>, names: &[&str]| RequestOptions {
        extensions,
        alt_names: names.iter().map(|&name| name.to_owned()).collect(),
        ..RequestOptions::default()
    };
    // At submission: garbage, and names that are not sound or not the path's.
    let garbage =
        bench.send(Caller::Anonymous, "PUT", "/puppet-ca/v1/certificate_request/n1", b"x");
    assert_eq!(garbage.status, 422, "an agent takes 400 for a duplicate");
    for (name, subject, said) in [
        ("n1", "n2", "Instance name \"n2\" does not match requested key \"n1\""),
        ("Node", "Node", "Certificate names must be lower case."),
        ("*.x", "*.x", "Subject contains a wildcard, which is not allowed: *.x"),
        ("a-", "a-", "Subject hostname format is invalid"),
    ] {
        let reply = bench.submit(&csr(subject, 20, &with(vec![], &[])), name);
        assert_eq!((reply.status, text(&reply).as_str()), (400, said), "{name}");
    }
    // At signing: rights, other names, extensions of strangers.
    let arc = "1.3.6.1.4.1.34380.1";
    for (at, (options, said)) in [
        (with(vec![extension(&format!("{arc}.3.13"), "x")], &[]), "an authorization extension"),
        (with(vec![extension(&format!("{arc}.3.39"), "true")], &[]), "an authorization extension"),
        (with(vec![], &["other"]), "extra subject alternative names (DNS:other)"),
        (with(vec![extension("1.2.3.4", "x")], &[]), "not permitted: 1.2.3.4"),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("bad{at}");
        assert_eq!(bench.submit(&csr(&name, 30, &options), &name).status, 200);
        let reply = bench.wish(&name, "signed");
        assert_eq!(reply.status, 409, "{said}");
        assert!(text(&reply).contains(said), "{}", text(&reply));
        assert_eq!(bench.fleet.certificate(&name), Ok(None));
        // Nor by a program that agrees to everything.
        let auto = format!("auto{at}");
        assert_eq!(bench.submit(&csr(&auto, 31, &options), &auto).status, 400, "{said}");
        assert_eq!(bench.fleet.certificate(&auto), Ok(None));
    }
}

#[test]
fn a_request_that_its_key_did_not_sign_is_refused() {
    let bench = bench(Vec::new());
    let pem = csr("n1", 40, &RequestOptions::default()).to_pem();
    let der = blocks(&pem, "CERTIFICATE REQUEST").unwrap().remove(0);
    let mut changed = der.clone();
    let at = der.windows(2).position(|part| part == b"n1").unwrap();
    changed[at + 1] = b'2';
    let changed = fx_wire::x509::Request::from_der(changed).unwrap();
    let reply = bench.submit(&changed, "n2");
    assert_eq!(reply.status, 400);
    assert_eq!(bench.fleet.requests(), Ok(vec![]), "it takes no room");
}

/// `FX_GARBAGE=1000000` sends more.
#[test]
fn garbage_is_no_request_and_the_next_one_is_served() {
    let bench = bench(Vec::new());
    let sent = csr("auto1", 45, &RequestOptions::default());
    let der = blocks(&sent.to_pem(), "CERTIFICATE REQUEST").unwrap().remove(0);
    let mut random = fx_fuzz::Random::new(7);
    let rounds = std::env::var("FX_GARBAGE").ok().and_then(|text| text.parse().ok());
    for round in 0..rounds.unwrap_or(1_000) {
        let mut bytes = der.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            if bytes.is_empty() {
                break;
            }
            match random.below(4) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes[at] = [0, 0x30, 0x80, 0x84, 0xff][random.below(5)],
                2 => bytes.insert(at, random.number() as u8),
                _ => drop(bytes.drain(at..(at + random.below(30)).min(bytes.len()))),
            }
        }
        if bytes == der {
            continue;
        }
        // As it is, and in the form that requests have.
        let text = match round % 3 {
            0 => bytes,
            _ => {
                let body = fx_formats::base64::encode(&bytes);
                let label = "CERTIFICATE REQUEST-----";
                format!("-----BEGIN {label}\n{body}\n-----END {label}\n").into_bytes()
            }
        };
        let path = "/puppet-ca/v1/certificate_request/auto1";
        let reply = bench.send(Caller::Anonymous, "PUT", path, &text);
        assert!([400, 422].contains(&reply.status), "round {round}: {}", reply.status);
    }
    assert_eq!(bench.fleet.requests(), Ok(vec![]));
    assert_eq!(bench.submit(&sent, "auto1").status, 200);
    assert!(bench.fleet.certificate("auto1").unwrap().is_some());
}

#[test]
fn a_request_is_signed_at_once_where_the_site_wants_it() {
    let bench = bench(Vec::new());
    assert_eq!(bench.submit(&csr("auto1", 50, &RequestOptions::default()), "auto1").status, 200);
    assert!(bench.fleet.certificate("auto1").unwrap().is_some());
}

#[test]
fn a_revocation_holds_at_once_and_is_in_the_list() {
    let bench = bench(Vec::new());
    bench.submit(&csr("n1", 60, &RequestOptions::default()), "n1");
    let early = bench.wish("n1", "revoked");
    assert_eq!(early.status, 409);
    assert!(text(&early).contains("without a signed certificate"));
    assert_eq!(bench.wish("n1", "signed").status, 204);
    assert_eq!(bench.wish("n1", "signed").status, 409);
    let pem = bench.fleet.certificate("n1").unwrap().unwrap().text;
    let caller = Caller::of(&Certificate::from_pem(&pem).unwrap());
    let path = "/puppet/v3/node/n1?environment=production";
    assert_eq!(bench.send(caller.clone(), "GET", path, b"").status, 200);
    assert_eq!(bench.wish("n1", "revoked").status, 204);
    assert_eq!(bench.send(caller, "GET", path, b"").status, 403, "the same connection");
    let list =
        bench.send(Caller::Anonymous, "GET", "/puppet-ca/v1/certificate_revocation_list/ca", b"");
    let list = Revocations::bundle(&text(&list)).unwrap().remove(0);
    assert_eq!((list.number(), list.revoked()[0].serial.as_slice()), (1, &[2][..]));
    assert_eq!(list.is_signed_by(bench.authority.certificate()), Ok(true));
    assert_eq!(bench.wish("n1", "revoked").status, 204, "twice is no error");
    let known = bench.submit(&csr("n1", 61, &RequestOptions::default()), "n1");
    assert!(text(&known).contains("already has a revoked certificate"));
    let gone = bench.send(admin(), "DELETE", "/puppet-ca/v1/certificate_status/n1", b"");
    assert_eq!(gone.status, 204);
    assert_eq!(bench.wish("n1", "signed").status, 404);
}

#[test]
fn statuses_list_requests_first() {
    let bench = bench(Vec::new());
    for (seed, name) in [(70, "b"), (71, "a")] {
        bench.submit(&csr(name, seed, &RequestOptions::default()), name);
    }
    bench.wish("a", "signed");
    let all = |target: &str| -> Value {
        serde_json::from_slice(&bench.send(admin(), "GET", target, b"").body).unwrap()
    };
    let found = all("/puppet-ca/v1/certificate_statuses/any");
    assert_eq!((&found[0]["name"], &found[0]["state"]), (&"b".into(), &"requested".into()));
    assert_eq!((&found[1]["name"], &found[1]["state"]), (&"a".into(), &"signed".into()));
    assert_eq!(found[1]["serial_number"], 2);
    assert_eq!(found[1]["dns_alt_names"], serde_json::json!(["DNS:a"]));
    assert_eq!(found[1]["fingerprint"], found[1]["fingerprints"]["SHA256"]);
    let some = all("/puppet-ca/v1/certificate_statuses/any?state=requested");
    assert_eq!(some.as_array().unwrap().len(), 1);
    let bare = bench.send(admin(), "GET", "/puppet-ca/v1/certificate_statuses/", b"");
    assert_eq!((bare.status, text(&bare).as_str()), (400, "Missing URL Segment"));
}

#[test]
fn wishes_that_make_no_sense_have_their_code() {
    let bench = bench(Vec::new());
    bench.submit(&csr("n1", 80, &RequestOptions::default()), "n1");
    let put = |body: &str| {
        bench.send(admin(), "PUT", "/puppet-ca/v1/certificate_status/n1", body.as_bytes())
    };
    for (body, status) in [
        ("", 400),
        ("x", 400),
        ("{}", 400),
        (r#"{"desired_state":"gone"}"#, 400),
        (r#"{"desired_state":"signed","cert_ttl":"x"}"#, 400),
    ] {
        assert_eq!(put(body).status, status, "{body}");
    }
    assert_eq!(bench.wish("nobody", "signed").status, 404);
    let short = put(r#"{"desired_state":"signed","cert_ttl":60}"#);
    assert_eq!(short.status, 204);
    assert_eq!(bench.fleet.certificate("n1").unwrap().unwrap().not_after, NOW + 60);
}

#[test]
fn names_are_signed_and_cleaned_together() {
    let bench = bench(Vec::new());
    for (seed, name) in [(90, "a"), (91, "b")] {
        bench.submit(&csr(name, seed, &RequestOptions::default()), name);
    }
    let signed = bench.send(admin(), "POST", "/puppet-ca/v1/sign", br#"{"certnames":["a","x"]}"#);
    assert_eq!(text(&signed), r#"{"signed":["a"],"no-csr":["x"],"signing-errors":[]}"#);
    let signed = bench.send(admin(), "POST", "/puppet-ca/v1/sign/all", b"");
    assert_eq!(text(&signed), r#"{"signed":["b"],"no-csr":[],"signing-errors":[]}"#);
    let clean = |body: &[u8]| bench.send(admin(), "PUT", "/puppet-ca/v1/clean", body);
    let said = "The following certs do not exist and cannot be revoked: [\"x\"]";
    assert_eq!(text(&clean(br#"{"certnames":["a","x"]}"#)), said);
    assert_eq!(text(&clean(br#"{"certnames":["b"]}"#)), "Successfully cleaned all certs.");
    assert_eq!(clean(b"{}").status, 400);
    assert_eq!(bench.fleet.certificates(), Ok(vec![]));
    assert_eq!(bench.fleet.revocations().unwrap().len(), 2);
}

#[test]
fn a_certificate_is_renewed_by_its_holder_once() {
    let bench = bench(Vec::new());
    bench.submit(&csr("n1", 95, &RequestOptions::default()), "n1");
    bench.wish("n1", "signed");
    let old = Certificate::from_pem(&bench.fleet.certificate("n1").unwrap().unwrap().text).unwrap();
    let renew =
        |caller: Caller| bench.send(caller, "POST", "/puppet-ca/v1/certificate_renewal", b"");
    assert_eq!(renew(node("n1")).status, 403, "another certificate of that name");
    let reply = renew(Caller::of(&old));
    let new = Certificate::from_pem(&text(&reply)).unwrap();
    assert_eq!((new.public_key(), new.serial()), (old.public_key(), vec![3]));
    assert_eq!(renew(Caller::of(&old)).status, 403);
}

#[test]
fn a_list_is_sent_when_it_is_newer() {
    let bench = bench(Vec::new());
    let path = "/puppet-ca/v1/certificate_revocation_list/ca";
    for (since, status) in [
        ("Fri, 15 Jan 2027 08:00:00 GMT", 304),
        ("Fri, 15 Jan 2027 07:59:59 GMT", 200),
        ("whenever", 200),
    ] {
        let mut request = support::request(Caller::Anonymous, "GET", path, b"");
        request.head.fields.push(("if-modified-since".into(), since.into()));
        assert_eq!(bench.app.answer(&request).status, status, "{since}");
    }
}
