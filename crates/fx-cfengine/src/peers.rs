//! Other hosts: our own key, the keys that are trusted, and whom we have spoken to. All of it lies
//! in the work directory as the original keeps it.

use std::path::PathBuf;

use fx_host::{Act, HostError, Look, WriteOptions, limits};
use fx_wire::cfengine::{Digest, Direction, KeyError, LastSeen, PrivateKey, PublicKey};

use crate::text::{decode, path};

/// A key is a small file.
const LARGEST_KEY: u64 = 64 << 10;

/// Why a key cannot be used.
#[derive(Debug)]
pub enum Unusable {
    File(HostError),
    Key(KeyError),
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unusable::File(error) => error.fmt(out),
            Unusable::Key(error) => error.fmt(out),
        }
    }
}

/// Whether a key is one that we trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trusted {
    Yes,
    Unknown,
    /// A file of its name holds another key.
    Different,
}

/// The files of a work directory that are about other hosts.
#[derive(Clone, Debug)]
pub struct Peers {
    workdir: String,
}

impl Peers {
    pub fn new(workdir: &str) -> Peers {
        Peers { workdir: workdir.to_owned() }
    }

    /// A file of the directory of keys.
    pub fn file(&self, name: &str) -> PathBuf {
        path(&format!("{}/ppkeys/{name}", self.workdir))
    }

    pub fn private_file(&self) -> PathBuf {
        self.file("localhost.priv")
    }

    pub fn public_file(&self) -> PathBuf {
        self.file("localhost.pub")
    }

    pub fn lastseen_file(&self) -> PathBuf {
        path(&format!("{}/state/cf_lastseen.lmdb", self.workdir))
    }

    /// Our own key pair.
    pub fn own_key(&self, look: &dyn Look) -> Result<PrivateKey, Unusable> {
        let bytes = look.read_limited(&self.private_file(), LARGEST_KEY).map_err(Unusable::File)?;
        PrivateKey::from_pem(&decode(&bytes)).map_err(Unusable::Key)
    }

    /// The public half of it, which more may read.
    pub fn own_public_key(&self, look: &dyn Look) -> Result<PublicKey, Unusable> {
        read_public(look, &self.public_file())
    }

    /// Whether the key of a user is trusted.
    pub fn trusts(&self, look: &dyn Look, user: &str, key: &PublicKey) -> Trusted {
        match read_public(look, &self.file(&format!("{user}-{}.pub", key.digest()))) {
            Ok(known) if known == *key => Trusted::Yes,
            Ok(_) => Trusted::Different,
            Err(_) => Trusted::Unknown,
        }
    }

    /// The trusted key of a user by its digest, or by an address that was seen.
    pub fn known(&self, look: &dyn Look, user: &str, address: &str) -> Option<PublicKey> {
        let digest = self.seen(look).digest_of(address)?;
        Digest::parse(&digest)?;
        read_public(look, &self.file(&format!("{user}-{digest}.pub"))).ok()
    }

    /// Trusts a key from now on.
    pub fn trust(&self, act: &dyn Act, user: &str, key: &PublicKey) -> Result<(), HostError> {
        let file = self.file(&format!("{user}-{}.pub", key.digest()));
        let options = WriteOptions { mode: Some(0o600), ..WriteOptions::default() };
        act.write(&file, key.to_pem().as_bytes(), &options).and_then(|()| act.settle())
    }

    /// Whom we have spoken to; nobody where the file is not there or cannot be read.
    pub fn seen(&self, look: &dyn Look) -> LastSeen {
        let bytes = look.read_limited(&self.lastseen_file(), limits::DATA).unwrap_or_default();
        LastSeen::from_bytes(&bytes).unwrap_or_default()
    }

    /// Records contacts.
    pub fn saw(
        &self,
        act: &dyn Act,
        contacts: &[(Digest, String)],
        direction: Direction,
    ) -> Result<(), HostError> {
        self.change_seen(act, |seen, now| {
            for (digest, address) in contacts {
                seen.saw(digest, address, direction, now);
            }
            true
        })
        .map(|_| ())
    }

    /// Changes the record under the lock of the original's own name; whether it was changed.
    pub fn change_seen(
        &self,
        act: &dyn Act,
        change: impl FnOnce(&mut LastSeen, i64) -> bool,
    ) -> Result<bool, HostError> {
        let file = self.lastseen_file();
        let lock = path(&format!("{}.lock", file.display()));
        let _alone = act.lock(&lock, std::time::Duration::from_secs(5))?;
        let mut seen = self.seen(act);
        if !change(&mut seen, act.now().secs) {
            return Ok(false);
        }
        let options = WriteOptions { mode: Some(0o600), ..WriteOptions::default() };
        act.write(&file, &seen.to_bytes(), &options).and_then(|()| act.settle())?;
        Ok(true)
    }
}

/// A public key of a file.
pub fn read_public(look: &dyn Look, file: &std::path::Path) -> Result<PublicKey, Unusable> {
    let bytes = look.read_limited(file, LARGEST_KEY).map_err(Unusable::File)?;
    PublicKey::from_pem(&decode(&bytes)).map_err(Unusable::Key)
}
