//! POSIX access control lists of files, in memory and in the kernel's form.
//!
//! The kernel keeps a list in an extended attribute, so neither a library nor `setfacl` is
//! needed. Which entries a list should have is for the language to say.

use std::collections::BTreeMap;

use fx_host::Look;

use crate::account;

/// The attribute that holds who may use a file.
pub const ACCESS: &str = "system.posix_acl_access";
/// The attribute of a directory that holds the first list of what is made in it.
pub const DEFAULT: &str = "system.posix_acl_default";

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
    /// The most that users and groups by number and the owning group may get.
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

/// Entries by whose they are; permissions as `rwx` in an octal digit. Without entries it is
/// the default list of a directory that has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acl(BTreeMap<Who, u8>);

impl Acl {
    /// The list that a mode stands for.
    pub fn from_mode(mode: u32) -> Acl {
        let digit = |shift: u32| (mode >> shift & 7) as u8;
        let entries =
            [(Who::Owner, digit(6)), (Who::OwningGroup, digit(3)), (Who::Others, digit(0))];
        Acl(entries.into())
    }

    /// Whether it has no entry at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it has the three entries without which the kernel takes no list.
    pub fn is_complete(&self) -> bool {
        [Who::Owner, Who::OwningGroup, Who::Others].iter().all(|who| self.0.contains_key(who))
    }

    /// Permissions of an entry.
    pub fn get(&self, who: Who) -> Option<u8> {
        self.0.get(&who).copied()
    }

    /// Sets the permissions of an entry.
    pub fn set(&mut self, who: Who, permissions: u8) {
        self.0.insert(who, permissions & 7);
    }

    /// Makes the mask let through all that the entries under it give.
    pub fn fit_mask(&mut self) {
        let masked = |who: &Who| matches!(who, Who::User(_) | Who::OwningGroup | Who::Group(_));
        let under = self.0.iter().filter(|(who, _)| masked(who));
        let mask = under.fold(0, |mask, (_, permissions)| mask | permissions);
        self.0.insert(Who::Mask, mask);
    }

    /// The kernel's form.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = VERSION.to_le_bytes().to_vec();
        for (who, permissions) in &self.0 {
            let (tag, id) = who.tag();
            bytes.extend(tag.to_le_bytes());
            bytes.extend(u16::from(*permissions).to_le_bytes());
            bytes.extend(id.to_le_bytes());
        }
        bytes
    }

    /// Reads the kernel's form; `None` if the bytes are none.
    pub fn decode(bytes: &[u8]) -> Option<Acl> {
        let (version, entries) = bytes.split_first_chunk::<4>()?;
        if u32::from_le_bytes(*version) != VERSION || entries.len() % 8 != 0 {
            return None;
        }
        let mut list = Acl::default();
        for entry in entries.chunks_exact(8) {
            let tag = u16::from_le_bytes([entry[0], entry[1]]);
            let id = u32::from_le_bytes([entry[4], entry[5], entry[6], entry[7]]);
            list.set(Who::from_tag(tag, id)?, entry[2]);
        }
        Some(list)
    }

    /// As `getfacl --omit-header` prints it, on one line; a number stands for an account
    /// that has no name.
    pub fn text(&self, look: &dyn Look) -> String {
        let entry = |(who, permissions): (&Who, &u8)| {
            let subject = match who {
                Who::Owner => "user:".to_owned(),
                Who::User(id) => format!("user:{}", account::user_label(look, *id)),
                Who::OwningGroup => "group:".to_owned(),
                Who::Group(id) => format!("group:{}", account::group_label(look, *id)),
                Who::Mask => "mask:".to_owned(),
                Who::Others => "other:".to_owned(),
            };
            let letters: String = [(4, 'r'), (2, 'w'), (1, 'x')]
                .iter()
                .map(|(bit, letter)| if permissions & bit == 0 { '-' } else { *letter })
                .collect();
            format!("{subject}:{letters}")
        };
        self.0.iter().map(entry).collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::MemoryHost;
    use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};

    #[test]
    fn a_list_is_in_the_order_of_the_kernel_with_a_mask_that_fits() {
        let mut list = Acl::from_mode(0o640);
        assert!(list.is_complete());
        list.set(Who::Group(4), 7);
        list.set(Who::User(9), 1);
        list.fit_mask();
        let text = "user::rw-,user:9:--x,group::r--,group:adm:rwx,mask::rwx,other::---";
        assert_eq!(list.text(&MemoryHost::linux()), text);
        assert_eq!(list.encode().len(), 4 + 6 * 8);
        assert_eq!(list.get(Who::Mask), Some(7));
    }

    #[test]
    fn what_is_not_the_kernels_form_is_no_list() {
        let bytes = Acl::from_mode(0o644).encode();
        for bad in [&b""[..], b"\x01\0\0\0", &bytes[..10], b"\x02\0\0\0\x03\0\x07\0\0\0\0\0"] {
            assert_eq!(Acl::decode(bad), None, "{bad:?}");
        }
        assert_eq!(Acl::decode(b"\x02\0\0\0"), Some(Acl::default()));
        assert!(!Acl::default().is_complete());
    }

    fn who() -> impl Strategy<Value = Who> {
        prop_oneof![
            Just(Who::Owner),
            any::<u32>().prop_map(Who::User),
            Just(Who::OwningGroup),
            any::<u32>().prop_map(Who::Group),
            Just(Who::Mask),
            Just(Who::Others),
        ]
    }

    proptest! {
        #[test]
        fn any_list_is_read_back_as_written(
            entries in prop::collection::vec((who(), 0_u8..8), 0..12),
        ) {
            let list = Acl(entries.into_iter().collect());
            assert_eq!(Acl::decode(&list.encode()), Some(list));
        }

        // With the right version more of the reader is reached.
        #[test]
        fn any_bytes_are_read_without_a_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..80),
            versioned: bool,
        ) {
            let start = if versioned { VERSION.to_le_bytes().to_vec() } else { Vec::new() };
            let bytes = [start, bytes].concat();
            if let Some(list) = Acl::decode(&bytes) {
                assert_eq!(Acl::decode(&list.encode()), Some(list));
            }
        }
    }
}
