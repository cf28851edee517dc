//! Hosts that this one has spoken to, in the file that CFEngine's own tools keep.

use fx_formats::lmdb::{self, Contents, Damaged};

use super::keys::Digest;

const MAP_SIZE: u64 = 100 << 20;

/// Who called whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    Incoming,
    Outgoing,
}

impl Direction {
    fn letter(self) -> char {
        match self {
            Direction::Incoming => 'i',
            Direction::Outgoing => 'o',
        }
    }
}

/// One line of the record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contact {
    pub direction: Direction,
    pub address: String,
    pub digest: String,
    /// Seconds since 1970.
    pub last: i64,
}

/// How removing a host ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    Removed,
    Unknown,
    /// The host has several addresses, or the address several hosts.
    Incoherent,
}

/// The whole record.
#[derive(Clone, Debug, Default)]
pub struct LastSeen {
    contents: Contents,
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn key(kind: &str, name: &str) -> Vec<u8> {
    format!("{kind}{name}\0").into_bytes()
}

/// Intervals between contacts: the last one, the expected one, its variance, the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Intervals {
    last: i64,
    q: [f64; 4],
}

impl Intervals {
    // Later releases put a flag of eight bytes before it.
    fn parse(bytes: &[u8]) -> Option<Intervals> {
        let bytes = match bytes.len() {
            40 => bytes,
            48 => &bytes[8..],
            _ => return None,
        };
        let at = |index: usize| bytes[8 * index..8 * index + 8].try_into().unwrap_or([0; 8]);
        let q = std::array::from_fn(|index| f64::from_le_bytes(at(index + 1)));
        Some(Intervals { last: i64::from_le_bytes(at(0)), q })
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = self.last.to_le_bytes().to_vec();
        self.q.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
        out
    }

    fn after(self, now: i64) -> Intervals {
        const NEW: f64 = 0.4;
        let [old, expected, variance, _] = self.q;
        let new = (now - self.last) as f64;
        let off = new - expected;
        let q = [
            new,
            NEW * new + (1.0 - NEW) * expected,
            NEW * off * off + (1.0 - NEW) * variance,
            new - old,
        ];
        Intervals { last: now, q }
    }
}

impl LastSeen {
    pub fn from_bytes(bytes: &[u8]) -> Result<LastSeen, Damaged> {
        Ok(LastSeen { contents: lmdb::read(bytes)? })
    }

    /// The file as the next transaction leaves it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let contents = Contents {
            transaction: self.contents.transaction + 1,
            map_size: self.contents.map_size.max(MAP_SIZE),
            entries: self.contents.entries.clone(),
        };
        lmdb::write(&contents)
    }

    fn value(&self, kind: &str, name: &str) -> Option<String> {
        self.contents.entries.get(&key(kind, name)).map(|value| text(value))
    }

    /// Records a contact.
    pub fn saw(&mut self, digest: &Digest, address: &str, direction: Direction, now: i64) {
        let address = address.strip_prefix("::ffff:").unwrap_or(address);
        let digest = digest.as_str();
        let quality = key(&format!("q{}", direction.letter()), digest);
        let entries = &mut self.contents.entries;
        let old = entries.get(&quality).and_then(|bytes| Intervals::parse(bytes));
        let new = match old {
            Some(old) => old.after(now),
            None => Intervals { last: now, q: [0.0; 4] },
        };
        entries.insert(quality, new.bytes());
        entries.insert(key("k", digest), format!("{address}\0").into_bytes());
        entries.insert(key("a", address), format!("{digest}\0").into_bytes());
    }

    /// The host that was last seen at an address.
    pub fn digest_of(&self, address: &str) -> Option<String> {
        self.value("a", address)
    }

    /// Where a host was last seen.
    pub fn address_of(&self, digest: &str) -> Option<String> {
        self.value("k", digest)
    }

    /// All contacts.
    pub fn contacts(&self) -> Vec<Contact> {
        let entries = self.contents.entries.iter().filter_map(|(name, value)| {
            let name = text(name);
            let (direction, digest) = match name.get(..2)? {
                "qi" => (Direction::Incoming, &name[2..]),
                "qo" => (Direction::Outgoing, &name[2..]),
                _ => return None,
            };
            let last = Intervals::parse(value)?.last;
            let address = self.address_of(digest)?;
            Some(Contact { direction, address, digest: digest.to_owned(), last })
        });
        entries.collect()
    }

    /// Removes a host by its address or digest, unless the record is not one to one there and
    /// that matters.
    pub fn remove(&mut self, name: &str, must_cohere: bool) -> Removal {
        let (digest, address) = match Digest::parse(name) {
            Some(_) => (Some(name.to_owned()), self.address_of(name)),
            None => (self.digest_of(name), Some(name.to_owned())),
        };
        let (Some(digest), Some(address)) = (digest, address) else { return Removal::Unknown };
        if must_cohere && !self.coheres() {
            return Removal::Incoherent;
        }
        for kind in ["k", "qi", "qo"] {
            self.contents.entries.remove(&key(kind, &digest));
        }
        self.contents.entries.remove(&key("a", &address));
        Removal::Removed
    }

    /// Whether each address has one host and each host one address.
    pub fn coheres(&self) -> bool {
        self.contents.entries.iter().all(|(name, value)| {
            let (name, value) = (text(name), text(value));
            match name.split_at_checked(1) {
                Some(("a", address)) => self.address_of(&value).as_deref() == Some(address),
                Some(("k", digest)) => self.digest_of(&value).as_deref() == Some(digest),
                _ => true,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(letter: char) -> Digest {
        Digest::parse(&format!("MD5={}", String::from(letter).repeat(32))).unwrap()
    }

    #[test]
    fn contacts_are_recorded_and_survive_the_file() {
        let mut seen = LastSeen::default();
        seen.saw(&digest('a'), "::ffff:10.0.0.1", Direction::Incoming, 1000);
        seen.saw(&digest('a'), "10.0.0.1", Direction::Incoming, 1300);
        seen.saw(&digest('b'), "10.0.0.2", Direction::Outgoing, 1000);
        let seen = LastSeen::from_bytes(&seen.to_bytes()).unwrap();
        let contacts = seen.contacts();
        assert_eq!(contacts.len(), 2);
        assert_eq!((contacts[0].last, &*contacts[0].address), (1300, "10.0.0.1"));
        assert_eq!(seen.digest_of("10.0.0.2").as_deref(), Some(digest('b').as_str()));
        let after = Intervals { last: 1000, q: [0.0; 4] }.after(1300);
        assert_eq!(after.q, [300.0, 120.0, 36000.0, 300.0]);
    }

    #[test]
    fn hosts_are_removed_where_the_record_is_one_to_one() {
        let mut seen = LastSeen::default();
        seen.saw(&digest('a'), "10.0.0.1", Direction::Incoming, 1000);
        assert_eq!(seen.remove("10.0.0.9", true), Removal::Unknown);
        seen.saw(&digest('a'), "10.0.0.2", Direction::Incoming, 1000);
        assert_eq!(seen.remove("10.0.0.2", true), Removal::Incoherent);
        assert_eq!(seen.remove("10.0.0.2", false), Removal::Removed);
        assert_eq!(seen.contacts(), []);
    }
}
