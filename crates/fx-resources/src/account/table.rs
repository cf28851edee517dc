//! The account files: rows of fields separated by colons. They are bytes, since nothing says
//! in which encoding a full name is.

use std::path::Path;

use fx_host::{HostError, Look};

/// Users.
pub const PASSWD: &str = "/etc/passwd";
/// Groups and their members.
pub const GROUP: &str = "/etc/group";
/// Hashes of passwords and their ages.
pub const SHADOW: &str = "/etc/shadow";

/// The rows of one of the files; lines without a field besides the name are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table(Vec<Row>);

/// The fields of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row(Vec<Vec<u8>>);

impl Table {
    /// Reads a file that must be there.
    pub fn read(look: &dyn Look, path: &str) -> Result<Table, HostError> {
        look.read(Path::new(path)).map(|content| Table::parse(&content))
    }

    /// Reads a file that a machine may do without.
    pub fn read_opt(look: &dyn Look, path: &str) -> Result<Option<Table>, HostError> {
        Ok(look.read_opt(Path::new(path))?.map(|content| Table::parse(&content)))
    }

    /// The rows in the content of a file.
    pub fn parse(content: &[u8]) -> Table {
        let row = |line: &[u8]| Row(line.split(|byte| *byte == b':').map(<[u8]>::to_vec).collect());
        let rows = crate::text::lines(content).map(row);
        Table(rows.filter(|row| row.0.len() > 1).collect())
    }

    /// The first row of this name.
    pub fn row(&self, name: &[u8]) -> Option<&Row> {
        self.0.iter().find(|row| row.name() == name)
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.0.iter()
    }

    /// Names of the groups that have this member, in the order of the file.
    pub fn groups_of(&self, member: &[u8]) -> impl Iterator<Item = &[u8]> {
        let is_member =
            move |row: &&Row| row.field(3).split(|byte| *byte == b',').any(|name| name == member);
        self.0.iter().filter(is_member).map(Row::name)
    }
}

impl Row {
    /// Whose row it is.
    pub fn name(&self) -> &[u8] {
        self.field(0)
    }

    /// A field; empty where the row is short.
    pub fn field(&self, at: usize) -> &[u8] {
        self.0.get(at).map_or(b"", Vec::as_slice)
    }

    /// A field as text.
    pub fn text(&self, at: usize) -> String {
        String::from_utf8_lossy(self.field(at)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, proptest};

    #[test]
    fn rows_are_found_by_name_and_groups_by_member() {
        let table = Table::parse(b"root:x:0:\n# note\nops:x:5:ann,bob\nops:x:6:\nadm:x:4:ann\n+\n");
        let ops = table.row(b"ops").unwrap();
        assert_eq!((ops.text(2), ops.field(9)), ("5".to_owned(), &b""[..]));
        assert_eq!(table.row(b"op"), None);
        assert_eq!(table.rows().count(), 4);
        assert_eq!(table.groups_of(b"ann").collect::<Vec<_>>(), [b"ops", b"adm"]);
    }

    proptest! {
        #[test]
        fn any_content_is_read(content in prop::collection::vec(any::<u8>(), 0..60)) {
            let table = Table::parse(&content);
            for row in table.rows() {
                assert!(table.row(row.name()).is_some());
            }
        }
    }
}
