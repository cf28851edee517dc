//! An access control list in memory, and the kernel's form of it. Pure data.

use std::collections::BTreeMap;

/// Whose permissions an entry holds, in the order the kernel wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// The owner.
    Owner,
    /// A user by number.
    User(u32),
    /// The owning group.
    OwningGroup,
    /// A group by number.
    Group(u32),
    /// The most that users and groups by name and the owning group may get.
    Mask,
    /// Everybody else.
    Others,
}

/// The version of the kernel's form.
const VERSION: u32 = 2;
/// The number in entries that name nobody.
const NOBODY: u32 = u32::MAX;

impl Who {
    fn tag(self) -> (u16, u32) {
        match self {
            Who::Owner => (0x01, NOBODY),
            Who::User(id) => (0x02, id),
            Who::OwningGroup => (0x04, NOBODY),
            Who::Group(id) => (0x08, id),
            Who::Mask => (0x10, NOBODY),
            Who::Others => (0x20, NOBODY),
        }
    }

    fn from_tag(tag: u16, id: u32) -> Option<Who> {
        Some(match tag {
            0x01 => Who::Owner,
            0x02 => Who::User(id),
            0x04 => Who::OwningGroup,
            0x08 => Who::Group(id),
            0x10 => Who::Mask,
            0x20 => Who::Others,
            _ => return None,
        })
    }
}

/// Entries by whose they are; permissions as `rwx` in an octal digit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acl(BTreeMap<Who, u8>);

impl Acl {
    /// The list a mode stands for.
    pub fn from_mode(mode: u32) -> Acl {
        let digit = |shift: u32| (mode >> shift & 7) as u8;
        let entries =
            [(Who::Owner, digit(6)), (Who::OwningGroup, digit(3)), (Who::Others, digit(0))];
        Acl(entries.into())
    }

    /// The permission bits the kernel shows for it: the mask stands in for the group.
    pub fn mode(&self) -> u32 {
        let get = |who| u32::from(self.get(who).unwrap_or(0));
        let group = self.get(Who::Mask).map_or_else(|| get(Who::OwningGroup), u32::from);
        get(Who::Owner) << 6 | group << 3 | get(Who::Others)
    }

    /// Whether it says no more than a mode does.
    pub fn is_minimal(&self) -> bool {
        self.0.len() == 3
    }

    /// Permissions of an entry.
    pub fn get(&self, who: Who) -> Option<u8> {
        self.0.get(&who).copied()
    }

    /// Sets an entry or, with `None`, takes it away; the three of the mode only lose all
    /// permissions.
    pub fn set(&mut self, who: Who, perms: Option<u8>) {
        let basic = matches!(who, Who::Owner | Who::OwningGroup | Who::Others);
        match perms {
            Some(perms) => self.0.insert(who, perms & 7),
            None if basic => self.0.insert(who, 0),
            None => self.0.remove(&who),
        };
    }

    /// Takes away entries besides those of the mode that are not wanted.
    pub fn retain(&mut self, wanted: impl Fn(Who) -> bool) {
        self.0.retain(|who, _| {
            matches!(who, Who::Owner | Who::OwningGroup | Who::Others) || wanted(*who)
        });
    }

    /// Makes the mask let through all that the entries under it give; without such
    /// entries there is no mask.
    pub fn fit_mask(&mut self) {
        let named = |who: &Who| matches!(who, Who::User(_) | Who::Group(_));
        if !self.0.keys().any(named) {
            self.0.remove(&Who::Mask);
            return;
        }
        let under = self.0.iter().filter(|(who, _)| named(who) || **who == Who::OwningGroup);
        let mask = under.fold(0, |mask, (_, perms)| mask | perms);
        self.0.insert(Who::Mask, mask);
    }

    /// The kernel's form.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = VERSION.to_le_bytes().to_vec();
        for (who, perms) in &self.0 {
            let (tag, id) = who.tag();
            bytes.extend(tag.to_le_bytes());
            bytes.extend(u16::from(*perms).to_le_bytes());
            bytes.extend(id.to_le_bytes());
        }
        bytes
    }

    /// Reads the kernel's form; `None` if it is none.
    pub fn decode(bytes: &[u8]) -> Option<Acl> {
        let (version, entries) = bytes.split_first_chunk::<4>()?;
        if u32::from_le_bytes(*version) != VERSION || entries.len() % 8 != 0 {
            return None;
        }
        let mut list = BTreeMap::new();
        for entry in entries.chunks_exact(8) {
            let tag = u16::from_le_bytes([entry[0], entry[1]]);
            let id = u32::from_le_bytes([entry[4], entry[5], entry[6], entry[7]]);
            list.insert(Who::from_tag(tag, id)?, entry[2] & 7);
        }
        let has = |who| list.contains_key(&who);
        (has(Who::Owner) && has(Who::OwningGroup) && has(Who::Others)).then_some(Acl(list))
    }
}

/// As `getfacl --omit-header --numeric` writes it, on one line.
impl std::fmt::Display for Acl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (number, (who, perms)) in self.0.iter().enumerate() {
            if number > 0 {
                f.write_str(",")?;
            }
            match who {
                Who::Owner => f.write_str("user::")?,
                Who::User(id) => write!(f, "user:{id}:")?,
                Who::OwningGroup => f.write_str("group::")?,
                Who::Group(id) => write!(f, "group:{id}:")?,
                Who::Mask => f.write_str("mask::")?,
                Who::Others => f.write_str("other::")?,
            }
            for (bit, letter) in [(4, 'r'), (2, 'w'), (1, 'x')] {
                write!(f, "{}", if perms & bit == 0 { '-' } else { letter })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_form_survives_the_round_trip() {
        let mut list = Acl::from_mode(0o640);
        assert!(list.is_minimal());
        list.set(Who::Group(5), Some(7));
        list.set(Who::User(9), Some(1));
        list.fit_mask();
        assert_eq!(
            list.to_string(),
            "user::rw-,user:9:--x,group::r--,group:5:rwx,mask::rwx,other::---"
        );
        let bytes = list.encode();
        assert_eq!(bytes.len(), 4 + 6 * 8);
        assert_eq!(Acl::decode(&bytes), Some(list.clone()));
        assert_eq!(list.mode(), 0o670);
        for bad in [&b""[..], b"\x02\0\0\0", b"\x01\0\0\0", &bytes[..10]] {
            assert_eq!(Acl::decode(bad), None);
        }
    }
}
