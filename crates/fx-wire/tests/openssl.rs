//! What the authority signs, judged by the openssl program.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "the judge is a program of the machine")]

use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use fx_crypto::Random;
use fx_wire::x509::{Authority, Extension, Key, Request, RequestOptions, Revoked, Wanted};

const YEAR: u64 = 365 * 24 * 60 * 60;

/// The output of openssl, both streams.
fn openssl(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("openssl").args(args).current_dir(dir).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

fn random(buffer: &mut [u8]) {
    use std::io::Read;
    std::fs::File::open("/dev/urandom").unwrap().read_exact(buffer).unwrap();
}

#[test]
fn openssl_accepts_what_is_signed_and_refuses_what_is_revoked() {
    if Command::new("openssl").arg("version").output().is_err() {
        eprintln!("SKIPPED: there is no openssl program to judge by");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(dir.path().join(name), text).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let mut source = random;
    let curve = Key::curve("prime256v1", Random(&mut source)).unwrap();
    let rsa = Key::rsa(2048, Random(&mut source)).unwrap();
    for (kind, ca_key, key) in [("curve", curve.clone(), rsa.clone()), ("rsa", rsa, curve)] {
        let root = Authority::root(ca_key.clone(), "Puppet Root CA: 1", 1, now, YEAR).unwrap();
        let signing = Key::curve("secp384r1", Random(&mut source)).unwrap();
        let signing = root.intermediate(signing, "Puppet CA: puppet", 2, now, YEAR).unwrap();
        let role = Extension { oid: "1.3.6.1.4.1.34380.1.1.13".into(), text: "web".into() };
        let options = RequestOptions {
            attributes: vec![Extension { oid: "1.2.840.113549.1.9.7".into(), text: "pw".into() }],
            extensions: vec![role.clone()],
            alt_names: vec!["www".into(), "IP:10.0.0.1".into()],
        };
        let request = Request::new(&key, "node1", &options).unwrap();
        write("request.pem", request.to_pem());
        let shown =
            openssl(dir.path(), &["req", "-in", "request.pem", "-verify", "-noout", "-text"]);
        assert!(shown.contains("verify OK"), "{kind}: {shown}");
        assert!(shown.contains("DNS:node1, DNS:www, IP Address:10.0.0.1"), "{kind}: {shown}");
        let wanted = Wanted {
            name: "node1",
            public_key: request.public_key(),
            serial: vec![3],
            alt_names: request.alt_names().unwrap(),
            extensions: vec![role],
            lifetime: YEAR,
        };
        let certificate = signing.sign(&wanted, now).unwrap();
        write("node.pem", certificate.to_pem());
        write("ca.pem", signing.certificate().to_pem() + &root.certificate().to_pem());
        let above = root.revoke(&[], 0, now, YEAR).unwrap().to_pem();
        let verify =
            ["verify", "-crl_check_all", "-CRLfile", "crl.pem", "-CAfile", "ca.pem", "node.pem"];
        write("crl.pem", signing.revoke(&[], 0, now, YEAR).unwrap().to_pem() + &above);
        assert_eq!(openssl(dir.path(), &verify), "node.pem: OK\n", "{kind}");
        let gone = [Revoked { serial: certificate.serial(), at: now }];
        write("crl.pem", signing.revoke(&gone, 1, now, YEAR).unwrap().to_pem() + &above);
        let refused = openssl(dir.path(), &verify);
        assert!(refused.contains("certificate revoked"), "{kind}: {refused}");
    }
}
