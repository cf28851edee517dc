//! Requests signed by the key of a client or user: the text that is signed, and the headers.
//!
//! Versions 1.0 and 1.1 put the text itself under the padding of a signature; from 1.2 on it is
//! digested first, as everywhere else.

use fx_crypto::digest::Algorithm;
use fx_crypto::rsa_key;
use fx_formats::base64;

use crate::x509::{Key, PublicKey};

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    V1_0,
    V1_1,
    V1_2,
    V1_3,
}

impl Protocol {
    fn version(self) -> &'static str {
        match self {
            Protocol::V1_0 => "1.0",
            Protocol::V1_1 => "1.1",
            Protocol::V1_2 => "1.2",
            Protocol::V1_3 => "1.3",
        }
    }

    fn algorithm(self) -> Algorithm {
        match self {
            Protocol::V1_0 | Protocol::V1_1 | Protocol::V1_2 => Algorithm::Sha1,
            Protocol::V1_3 => Algorithm::Sha256,
        }
    }

    /// The digest of a body, as the header has it.
    pub fn content_hash(self, body: &[u8]) -> String {
        hashed(self.algorithm(), body)
    }
}

/// What a request says of its own signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Described(pub Protocol);

/// The description of the signature is not one that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Unsupported authentication protocol version")]
pub struct Bad;

impl Described {
    /// Reads `algorithm=sha1;version=1.1;`. The algorithm may be missing.
    pub fn parse(text: &str) -> Result<Described, Bad> {
        let (mut version, mut algorithm) = (None, None);
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            match part.split_once('=').ok_or(Bad)? {
                ("version", value) => version = Some(value),
                ("algorithm", value) => algorithm = Some(value),
                _ => {}
            }
        }
        let protocol = match version.ok_or(Bad)? {
            "1.0" => Protocol::V1_0,
            "1.1" => Protocol::V1_1,
            "1.2" => Protocol::V1_2,
            "1.3" => Protocol::V1_3,
            _ => return Err(Bad),
        };
        let expected = protocol.algorithm().name();
        match algorithm {
            Some(given) if !given.eq_ignore_ascii_case(expected) => Err(Bad),
            _ => Ok(Described(protocol)),
        }
    }
}

/// What of a request is signed.
#[derive(Clone, Copy, Debug)]
pub struct Signable<'a> {
    pub method: &'a str,
    /// As it is sent, without the query.
    pub path: &'a str,
    /// The value of its header.
    pub content_hash: &'a str,
    pub timestamp: &'a str,
    /// Name of the client or user.
    pub name: &'a str,
    /// The value of its header; `0` where there is none.
    pub api_version: &'a str,
}

impl Signable<'_> {
    /// The text that is signed.
    fn text(&self, protocol: Protocol) -> String {
        let (method, path) = (self.method.to_uppercase(), canonical_path(self.path));
        let Signable { content_hash, timestamp, name, api_version, .. } = self;
        let hash = |text: &str| hashed(Algorithm::Sha1, text.as_bytes());
        match protocol {
            Protocol::V1_3 => format!(
                "Method:{method}\nPath:{path}\nX-Ops-Content-Hash:{content_hash}\nX-Ops-Sign:version=1.3\nX-Ops-Timestamp:{timestamp}\nX-Ops-UserId:{name}\nX-Ops-Server-API-Version:{api_version}"
            ),
            old => {
                let name = if old == Protocol::V1_0 { (*name).to_owned() } else { hash(name) };
                format!(
                    "Method:{method}\nHashed Path:{}\nX-Ops-Content-Hash:{content_hash}\nX-Ops-Timestamp:{timestamp}\nX-Ops-UserId:{name}",
                    hash(&path)
                )
            }
        }
    }
}

/// A path with single slashes and none at its end.
fn canonical_path(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for character in path.chars() {
        if character != '/' || !out.ends_with('/') {
            out.push(character);
        }
    }
    if out.len() > 1 && out.ends_with('/') {
        out.pop();
    }
    out
}

fn hashed(algorithm: Algorithm, bytes: &[u8]) -> String {
    base64::encode(&algorithm.bytes(bytes))
}

/// How many characters of a signature one header holds.
const LINE: usize = 60;

/// A private key that signs requests, read once.
pub struct SigningKey(rsa_key::PrivateKey);

impl SigningKey {
    /// `None` where the key is not of RSA.
    pub fn new(key: &Key) -> Option<SigningKey> {
        rsa_key::PrivateKey::from_der(key.rsa_der()?).ok().map(SigningKey)
    }
}

/// The headers of a signed request, but for the version of the API; `None` where the key is too
/// small for the text.
pub fn sign(
    signable: &Signable<'_>,
    protocol: Protocol,
    SigningKey(key): &SigningKey,
) -> Option<Vec<(String, String)>> {
    let text = signable.text(protocol);
    let signature = match protocol {
        Protocol::V1_0 | Protocol::V1_1 => key.sign_text(text.as_bytes()),
        Protocol::V1_2 | Protocol::V1_3 => {
            let algorithm = protocol.algorithm();
            let digest = algorithm.bytes(text.as_bytes());
            key.sign(&algorithm.name().to_uppercase(), &digest)
        }
    };
    let signature = base64::encode(&signature.ok()?);
    let described =
        format!("algorithm={};version={};", protocol.algorithm().name(), protocol.version());
    let mut headers = vec![
        ("X-Ops-Sign".to_owned(), described),
        ("X-Ops-Userid".to_owned(), signable.name.to_owned()),
        ("X-Ops-Timestamp".to_owned(), signable.timestamp.to_owned()),
        ("X-Ops-Content-Hash".to_owned(), signable.content_hash.to_owned()),
    ];
    let lines = (0..signature.len()).step_by(LINE);
    headers.extend(lines.enumerate().map(|(number, at)| {
        let line = &signature[at..signature.len().min(at + LINE)];
        (format!("X-Ops-Authorization-{}", number + 1), line.to_owned())
    }));
    Some(headers)
}

/// A public key that verifies requests, read once.
pub struct Verifier(rsa_key::PublicKey);

impl Verifier {
    /// `None` where the key is not of RSA.
    pub fn new(key: &PublicKey) -> Option<Verifier> {
        rsa_key::PublicKey::from_der(key.rsa_der()?).ok().map(Verifier)
    }

    /// Whether a signature, the lines of its headers joined, is that of the key.
    pub fn verify(&self, signable: &Signable<'_>, protocol: Protocol, signature: &str) -> bool {
        let Some(signature) = base64::decode_relaxed(signature) else { return false };
        let text = signable.text(protocol);
        match protocol {
            Protocol::V1_0 | Protocol::V1_1 => self.0.verify_text(text.as_bytes(), &signature),
            Protocol::V1_2 | Protocol::V1_3 => {
                let algorithm = protocol.algorithm();
                let digest = algorithm.bytes(text.as_bytes());
                let hash = algorithm.name().to_uppercase();
                self.0.verify(&hash, &digest, &signature) == Ok(true)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x509::tests::Noise;
    use fx_crypto::Random;

    const REQUEST: Signable<'_> = Signable {
        method: "post",
        path: "/organizations//acme/nodes/",
        content_hash: "x/nXQty7DfoYsxsIUOBMbvysCAY=",
        timestamp: "2026-01-02T03:04:05Z",
        name: "spec-user",
        api_version: "1",
    };

    #[test]
    fn the_text_is_that_of_the_original() {
        assert_eq!(Protocol::V1_1.content_hash(b"{\"name\":\"n\"}"), REQUEST.content_hash);
        assert_eq!(
            Protocol::V1_3.content_hash(b"{\"name\":\"n\"}"),
            "5deyrbj7n5GHY4IpsKLPJBxfFVhnzTHILLsgxkLmJVQ="
        );
        for (protocol, text) in [
            (
                Protocol::V1_0,
                "Method:POST\nHashed Path:K3HFRr5hi/qQPNFKkqbN7+hLbEA=\nX-Ops-Content-Hash:x/nXQty7DfoYsxsIUOBMbvysCAY=\nX-Ops-Timestamp:2026-01-02T03:04:05Z\nX-Ops-UserId:spec-user",
            ),
            (
                Protocol::V1_1,
                "Method:POST\nHashed Path:K3HFRr5hi/qQPNFKkqbN7+hLbEA=\nX-Ops-Content-Hash:x/nXQty7DfoYsxsIUOBMbvysCAY=\nX-Ops-Timestamp:2026-01-02T03:04:05Z\nX-Ops-UserId:EAF7Wv/hbAudWV5ZkwKz40Z/lO0=",
            ),
            (
                Protocol::V1_3,
                "Method:POST\nPath:/organizations/acme/nodes\nX-Ops-Content-Hash:x/nXQty7DfoYsxsIUOBMbvysCAY=\nX-Ops-Sign:version=1.3\nX-Ops-Timestamp:2026-01-02T03:04:05Z\nX-Ops-UserId:spec-user\nX-Ops-Server-API-Version:1",
            ),
        ] {
            assert_eq!(REQUEST.text(protocol), text);
        }
    }

    #[test]
    fn paths_have_single_slashes_and_none_at_the_end() {
        for (path, canonical) in
            [("/", "/"), ("//", "/"), ("/a//b///", "/a/b"), ("/a%2F", "/a%2F"), ("/a", "/a")]
        {
            assert_eq!(canonical_path(path), canonical);
        }
    }

    #[test]
    fn descriptions_name_versions_and_fitting_algorithms() {
        for (text, protocol) in [
            ("algorithm=sha1;version=1.1;", Some(Protocol::V1_1)),
            ("version=1.0", Some(Protocol::V1_0)),
            ("algorithm=sha256;version=1.3;", Some(Protocol::V1_3)),
            ("version=1.2;algorithm=sha1", Some(Protocol::V1_2)),
            ("algorithm=sha256;version=1.1;", None),
            ("algorithm=sha1;version=1.3;", None),
            ("algorithm=sha1;version=2.0;", None),
            ("algorithm=sha1;", None),
            ("version", None),
            ("", None),
        ] {
            assert_eq!(Described::parse(text).ok().map(|one| one.0), protocol, "{text}");
        }
    }

    #[test]
    fn a_signature_is_that_of_its_key_and_request_alone() {
        let mut noise = Noise(7_046_029_254_386_353_087);
        let mut random = |bytes: &mut [u8]| noise.fill(bytes);
        let key = Key::rsa(2048, Random(&mut random)).unwrap();
        let other = Key::rsa(2048, Random(&mut random)).unwrap();
        for protocol in [Protocol::V1_0, Protocol::V1_1, Protocol::V1_2, Protocol::V1_3] {
            let signing = SigningKey::new(&key).unwrap();
            let headers = sign(&REQUEST, protocol, &signing).unwrap();
            let value = |name: &str| headers.iter().find(|(known, _)| known == name).unwrap();
            assert_eq!(Described::parse(&value("X-Ops-Sign").1), Ok(Described(protocol)));
            let lines = headers.iter().filter(|(name, _)| name.starts_with("X-Ops-Authorization-"));
            let signature: String = lines.map(|(_, line)| line.as_str()).collect();
            let verify = |request: &Signable<'_>, signature: &str, key: &Key| {
                Verifier::new(key.public()).unwrap().verify(request, protocol, signature)
            };
            assert!(verify(&REQUEST, &signature, &key));
            assert!(!verify(&REQUEST, &signature, &other));
            let changed = Signable { path: "/organizations/acme/roles", ..REQUEST };
            assert!(!verify(&changed, &signature, &key));
            assert!(!verify(&REQUEST, "", &key));
        }
    }
}
