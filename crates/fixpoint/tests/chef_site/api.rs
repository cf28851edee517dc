//! Signed requests to a server of a test, over connections that are kept.

use std::time::{Duration, SystemTime};

use fx_remote::chef::{Again, Ask, AskError, Patience, Server, Signer, World};
use fx_remote::{Client, Content, Reach, Timeouts, Trust};
use fx_wire::chef::Protocol;
use fx_wire::x509::Key;
use serde_json::Value;

struct Now;

impl World for Now {
    fn timestamp(&self) -> String {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        jiff::Timestamp::from_second(now as i64).unwrap().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    fn random(&self, buffer: &mut [u8]) {
        fx_host::Env::random(&fx_host::OsHost::new(), buffer);
    }

    fn wait(&self, _: &Again<'_>) -> bool {
        true
    }
}

pub(crate) fn new_key() -> Key {
    let mut source = |buffer: &mut [u8]| Now.random(buffer);
    Key::rsa(2048, fx_crypto::Random(&mut source)).unwrap()
}

/// One caller and its connection.
pub(crate) struct Api(Server);

impl Api {
    pub(crate) fn new(url: &str, name: &str, key: &Key) -> Api {
        let limit = Duration::from_mins(1);
        let timeouts = Timeouts { connect: limit, read: limit };
        let reach = Reach { plain: true, proxy: None };
        let client = Client::reaching(&Trust::Anyone, None, Vec::new(), timeouts, &reach).unwrap();
        let signer = Signer { name: name.to_owned(), key: key.clone(), protocol: Protocol::V1_1 };
        let patience = Patience { retries: 0, delay: Duration::ZERO };
        Api(Server::new(client, url, Some(signer), patience).unwrap())
    }

    /// Status and body of an answer; why there is none otherwise.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<&[u8]>,
    ) -> Result<(u16, Vec<u8>), AskError> {
        let content = body.map(|bytes| Content { kind: "application/json", bytes });
        let ask =
            Ask { method, path, accept: "application/json", versions: &[0], headers: &[], content };
        self.0.ask(&ask, &Now).map(|answer| (answer.status, answer.body))
    }

    pub(crate) fn json(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let text = body.map(|body| body.to_string().into_bytes());
        let (status, body) = self.send(method, path, text.as_deref()).unwrap();
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }
}
