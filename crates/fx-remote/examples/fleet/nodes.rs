//! Nodes of the fleet: their keys, certificates and connections.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use fx_crypto::Random;
use fx_remote::puppet::Server;
use fx_remote::{Client, Identity, Timeouts, Trust};
use fx_wire::x509::{Certificate, Key, Request, RequestOptions};

/// A node that can speak to the server.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) name: String,
    identity: Identity,
    trust: Trust,
    host: String,
    port: u16,
}

fn place(server: &str) -> (String, u16) {
    let (host, port) = server.rsplit_once(':').unwrap();
    (host.to_owned(), port.parse().unwrap())
}

fn connect(trust: &Trust, identity: Option<&Identity>, (host, port): &(String, u16)) -> Server {
    let headers = vec![
        ("X-Puppet-Version".to_owned(), "7.23.0".to_owned()),
        ("User-Agent".to_owned(), "fleet".to_owned()),
    ];
    let times = Timeouts { connect: Duration::from_secs(30), read: Duration::from_mins(5) };
    Server::new(Client::new(trust, identity, headers, times).unwrap(), host, *port)
}

impl Node {
    /// A new connection.
    pub(crate) fn server(&self) -> Server {
        connect(&self.trust, Some(&self.identity), &(self.host.clone(), self.port))
    }
}

/// Makes nodes whose requests the server signs by itself.
pub(crate) fn enroll(server: &str, dir: &str, count: usize) {
    let place = place(server);
    let dir = Path::new(dir);
    fs::create_dir_all(dir).unwrap();
    let stranger = connect(&Trust::Anyone, None, &place);
    let authority = stranger.certificate("ca").unwrap();
    assert!(authority.is_success(), "{}", authority.text());
    fs::write(dir.join("ca.pem"), &authority.body).unwrap();
    let mut source = fs::File::open("/dev/urandom").unwrap();
    for at in 0..count {
        let name = format!("fleet{at:05}.example.com");
        let mut noise = |buffer: &mut [u8]| source.read_exact(buffer).unwrap();
        let key = Key::curve("prime256v1", Random(&mut noise)).unwrap();
        let request = Request::new(&key, &name, &RequestOptions::default()).unwrap();
        let sent = stranger.request_certificate(&name, &request.to_pem()).unwrap();
        assert!(sent.is_success(), "{name}: {} {}", sent.status, sent.text());
        let signed = stranger.certificate(&name).unwrap();
        assert!(signed.is_success(), "{name} is not signed: {}", signed.status);
        fs::write(dir.join(format!("{name}.key")), key.to_pem().unwrap()).unwrap();
        fs::write(dir.join(format!("{name}.crt")), signed.body).unwrap();
    }
    println!("{count} nodes have a certificate");
}

/// The first nodes that were enrolled, by name.
pub(crate) fn load(server: &str, dir: &str, most: usize) -> Vec<Node> {
    let (host, port) = place(server);
    let text = |path: &Path| fs::read_to_string(path).unwrap();
    let authorities = Certificate::bundle(&text(&Path::new(dir).join("ca.pem"))).unwrap();
    let trust = Trust::Authorities { certificates: authorities, revocations: Vec::new() };
    let mut keys: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "key"))
        .collect();
    keys.sort();
    let nodes: Vec<Node> = keys
        .into_iter()
        .take(most)
        .map(|path| Node {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            identity: Identity {
                key: Key::from_pem(&text(&path)).unwrap(),
                certificate: Certificate::from_pem(&text(&path.with_extension("crt"))).unwrap(),
            },
            trust: trust.clone(),
            host: host.clone(),
            port,
        })
        .collect();
    assert!(!nodes.is_empty(), "{dir} has no nodes; enroll some first");
    nodes
}
