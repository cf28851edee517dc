//! The server over sockets: TLS, certificates that are revoked, limits, hostile requests.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]
#![allow(clippy::disallowed_methods, reason = "certificates are valid by the real clock")]

#[path = "support/client.rs"]
mod client;
#[path = "support/bench.rs"]
mod support;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use client::Client;
use fx_fleet::Fleet;
use fx_server::{App, Limits, Tls, serve};
use fx_wire::x509::{Authority, Certificate, Key, RequestOptions, Wanted};
use support::{bench_at, csr, key, open_gate};

struct Running {
    address: SocketAddr,
    authority: Authority,
    fleet: Fleet,
    app: Arc<App>,
    _dir: tempfile::TempDir,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn start(limits: Limits) -> Running {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let bench = bench_at(now, Vec::new());
    let own = key(500);
    let wanted = Wanted {
        name: "localhost",
        public_key: own.public().clone(),
        serial: vec![0x70],
        alt_names: Vec::new(),
        extensions: Vec::new(),
        lifetime: 10_000,
    };
    let certificate = bench.authority.sign(&wanted, now).unwrap();
    let tls = Tls {
        chain: vec![certificate],
        key: own,
        authorities: vec![bench.authority.certificate().clone()],
        revoked: bench.revoked.clone(),
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let app = Arc::new(bench.app);
    let (flag, served) = (Arc::clone(&stop), Arc::clone(&app));
    let thread = std::thread::spawn(move || serve(listener, served, &tls, limits, flag).unwrap());
    let (authority, fleet) = (bench.authority, bench.fleet);
    Running { address, authority, fleet, app, _dir: bench.dir, stop, thread: Some(thread) }
}

impl Running {
    fn node(&self, name: &str, seed: u64) -> (Certificate, Key) {
        let wanted = csr(name, seed, &RequestOptions::default());
        let target = format!("/puppet-ca/v1/certificate_request/{name}");
        let body = wanted.to_pem();
        let mut anonymous = self.connect(None);
        assert_eq!(anonymous.send("PUT", &target, &[], body.as_bytes()).unwrap().status, 200);
        let body = br#"{"desired_state":"signed"}"#;
        let path = format!("/puppet-ca/v1/certificate_status/{name}");
        let wish = support::request(support::admin(), "PUT", &path, body);
        assert_eq!(self.app.answer(&wish).status, 204);
        let pem = self.fleet.certificate(name).unwrap().unwrap().text;
        (Certificate::from_pem(&pem).unwrap(), key(seed))
    }

    fn connect(&self, own: Option<&(Certificate, Key)>) -> Client {
        let roots = [self.authority.certificate().clone()];
        Client::connect(self.address, &roots, own.map(|(certificate, key)| (certificate, key)))
    }
}

const NODE: &str = "/puppet/v3/node/n1?environment=production";
const JSON: &[(&str, &str)] = &[("Accept", "application/json")];

#[test]
fn a_certificate_makes_the_caller() {
    let server = start(Limits::default());
    let own = server.node("n1", 10);
    let mut client = server.connect(Some(&own));
    let reply = client.send("GET", NODE, JSON, b"").unwrap();
    assert_eq!((reply.status, reply.text().contains("\"n1\"")), (200, true));
    assert!(reply.head.contains("x-puppet-version: 7.23.0"), "{}", reply.head);
    let other = client.send("GET", "/puppet/v3/node/n2?environment=production", JSON, b"").unwrap();
    assert_eq!(other.status, 403, "on the same connection");
    assert!(!other.head.contains("content-type"), "{}", other.head);
    assert_eq!(server.connect(None).send("GET", NODE, JSON, b"").unwrap().status, 403);
}

#[test]
fn a_certificate_of_another_authority_is_no_certificate() {
    let server = start(Limits::default());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let stranger = Authority::root(key(77), "Puppet CA: test", 1, now, 10_000).unwrap();
    let own = key(78);
    let wanted = Wanted {
        name: "n1",
        public_key: own.public().clone(),
        serial: vec![9],
        alt_names: Vec::new(),
        extensions: Vec::new(),
        lifetime: 1000,
    };
    let forged = (stranger.sign(&wanted, now).unwrap(), own);
    assert!(server.connect(Some(&forged)).send("GET", NODE, JSON, b"").is_none());
    // One that has expired, of the right authority.
    let own = key(79);
    let wanted = Wanted { public_key: own.public().clone(), lifetime: 1, ..wanted };
    let old = (server.authority.sign(&wanted, now - 1_000_000).unwrap(), own);
    assert!(server.connect(Some(&old)).send("GET", NODE, JSON, b"").is_none());
}

#[test]
fn a_revocation_ends_open_connections_and_new_ones() {
    let server = start(Limits { refresh: Duration::from_millis(50), ..Limits::default() });
    let (own, other) = (server.node("n1", 10), server.node("n2", 11));
    let mut open = server.connect(Some(&own));
    assert_eq!(open.send("GET", NODE, JSON, b"").unwrap().status, 200);
    // Another server over the same store revokes it.
    server.fleet.revoke(&["n1".into()], 1, |_, _| Ok(String::new())).unwrap();
    let begun = Instant::now();
    while open.send("GET", NODE, JSON, b"").unwrap().status != 403 {
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
    assert!(server.connect(Some(&own)).send("GET", NODE, JSON, b"").is_none());
    let path = "/puppet/v3/node/n2?environment=production";
    assert_eq!(server.connect(Some(&other)).send("GET", path, JSON, b"").unwrap().status, 200);
}

#[test]
fn paths_that_lead_out_are_refused() {
    let server = start(Limits::default());
    let own = server.node("n1", 10);
    let dots =
        ["..", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "..%00", "%c0%ae%c0%ae", "....//", "..;"];
    let ends = ["etc/passwd", "x", "%2fetc%2fpasswd", "..%5c..%5cetc"];
    let bases = [
        "file_content/modules/m/",
        "file_content/modules/",
        "file_metadata/modules/m/",
        "file_metadatas/plugins/",
        "static_file_content/modules/m/files/",
        "file_bucket_file/sha256/",
    ];
    let mut client = server.connect(Some(&own));
    let mut tried = 0;
    for base in bases {
        for dot in dots {
            for end in ends {
                for depth in [1, 3] {
                    let up = format!("{dot}/").repeat(depth);
                    let query = "environment=production&code_id=x";
                    let target = format!("/puppet/v3/{base}{up}{end}?{query}");
                    let fields = [("Accept", "application/octet-stream, application/json")];
                    let Some(reply) = client.send("GET", &target, &fields, b"") else {
                        client = server.connect(Some(&own));
                        continue;
                    };
                    assert!([400, 403, 404].contains(&reply.status), "{target}: {}", reply.status);
                    tried += 1;
                    if reply.head.contains("connection: close") {
                        client = server.connect(Some(&own));
                    }
                }
            }
        }
    }
    assert!(tried > 400, "{tried}");
}

#[test]
fn bodies_without_end_are_refused() {
    let server = start(Limits::default());
    let path = "/puppet-ca/v1/certificate_request/n1";
    // Declared too large: nothing of it is read.
    let mut client = server.connect(None);
    client.raw(
        format!("PUT {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1073741824\r\n\r\n").as_bytes(),
    );
    let reply = client.read(false).unwrap();
    assert_eq!(reply.status, 413);
    assert!(reply.head.contains("connection: close"));
    // Not declared, and larger than allowed.
    let mut client = server.connect(None);
    client.raw(
        format!("PUT {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n").as_bytes(),
    );
    let chunk = [b"4000\r\n".to_vec(), vec![b'x'; 0x4000], b"\r\n".to_vec()].concat();
    for _ in 0..8 {
        client.raw(&chunk);
    }
    assert_eq!(client.read(false).map(|reply| reply.status), Some(413));
    // Who may not send a body does not get to send it.
    let mut client = server.connect(None);
    client.raw(b"PUT /puppet/v3/report/n1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
    assert_eq!(client.read(false).unwrap().status, 403);
    assert_eq!(
        server.connect(None).send("GET", "/status/v1/simple", &[], b"").unwrap().text(),
        "running"
    );
}

#[test]
fn bodies_that_are_slow_are_refused() {
    let limits = Limits { body_patience: Duration::from_millis(500), ..Limits::default() };
    let server = start(limits);
    let path = "/puppet-ca/v1/certificate_request/n1";
    let mut client = server.connect(None);
    client.raw(
        format!("PUT {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nslow").as_bytes(),
    );
    assert_eq!(client.read(false).unwrap().status, 408);
}

/// The client is in the middle of its body when the answer comes, and far from its end.
#[test]
fn an_answer_before_the_end_of_a_body_arrives() {
    let server = start(Limits::default());
    for path in ["/puppet/v3/report/n1", "/puppet/v3/report/../n1", "/puppet/v3/nothing/n1"] {
        let mut client = server.connect(None);
        let head = format!("PUT {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n");
        client.raw(head.as_bytes());
        let part = vec![b'x'; 100_000];
        for _ in 0..30 {
            client.raw(&part);
        }
        let status = client.read(false).map(|reply| reply.status);
        assert!(status.is_some_and(|status| status >= 400), "{path}: {status:?}");
    }
}

#[test]
fn one_peer_has_a_limit_and_idle_connections_end() {
    let limits = Limits {
        connections_of_peer: 3,
        patience: Duration::from_millis(300),
        ..Limits::default()
    };
    let server = start(limits);
    let idle: Vec<_> =
        (0..3).map(|_| std::net::TcpStream::connect(server.address).unwrap()).collect();
    // They say nothing, so their time ends, and there is room again.
    let begun = Instant::now();
    loop {
        let roots = [server.authority.certificate().clone()];
        let mut client = Client::connect(server.address, &roots, None);
        if client
            .send("GET", "/status/v1/simple", &[], b"")
            .is_some_and(|reply| reply.status == 200)
        {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
    drop(idle);
}

#[test]
fn catalogs_that_wait_for_a_compiler_keep_nobody_else_waiting() {
    let limits = Limits { answering: 2, catalogs: 1, waiting: 2, ..Limits::default() };
    let server = start(limits);
    let nodes = ["waits1", "waits2", "waits3", "waits4"];
    let nodes = nodes.iter().zip(40..).map(|(name, seed)| (*name, server.node(name, seed)));
    let nodes: Vec<_> = nodes.collect();
    let simple = |server: &Running| {
        server.connect(None).send("GET", "/status/v1/simple", &[], b"").unwrap().status
    };
    let ask = |(name, own): &(&str, (Certificate, Key))| {
        let target = format!("/puppet/v3/catalog/{name}?environment=production");
        server.connect(Some(own)).send("GET", &target, JSON, b"").unwrap().status
    };
    let ask = &ask;
    let (sender, ended) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        for node in &nodes {
            let sender = sender.clone();
            scope.spawn(move || sender.send(ask(node)).unwrap());
        }
        // One is made, two wait, and one has no room to wait.
        assert_eq!(ended.recv().unwrap(), 503);
        for _ in 0..5 {
            assert_eq!(simple(&server), 200);
        }
        open_gate();
        let others: Vec<u16> = ended.iter().take(3).collect();
        assert_eq!(others, [200, 200, 200]);
    });
}
