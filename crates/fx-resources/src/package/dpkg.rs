//! Debian's own record of installed packages, `/var/lib/dpkg/status`, read without dpkg.
//!
//! The file has some megabytes; it is read once and again only after it has changed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use fx_engine::Failure;
use fx_host::{Look, Time};

const STATUS: &str = "/var/lib/dpkg/status";

/// One paragraph, as far as it matters here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) architecture: String,
    pub(super) version: String,
    /// What the administrator wants: `install`, `hold`, `deinstall`, `purge`.
    pub(super) want: String,
    /// What is: `installed`, `config-files`, `half-configured` and so on.
    pub(super) status: String,
}

type Index = BTreeMap<String, Vec<Entry>>;
type Stamp = (u64, u64, Time);

/// The record with what was read last.
#[derive(Default)]
pub(super) struct Record {
    cache: RefCell<Option<(Stamp, Rc<Index>)>>,
}

impl Record {
    fn index(&self, host: &dyn Look) -> Result<Rc<Index>, Failure> {
        let path = Path::new(STATUS);
        let Some(meta) = host.stat_opt(path)? else { return Ok(Rc::default()) };
        let stamp = (meta.ino, meta.size, meta.mtime);
        if let Some((known, index)) = &*self.cache.borrow()
            && *known == stamp
        {
            return Ok(Rc::clone(index));
        }
        let index = Rc::new(parse(&host.read(path)?));
        *self.cache.borrow_mut() = Some((stamp, Rc::clone(&index)));
        Ok(index)
    }

    /// What is recorded of a package. Without an architecture an installed one is
    /// preferred over what is left of another.
    pub(super) fn find(&self, host: &dyn Look, name: &str) -> Result<Option<Entry>, Failure> {
        let index = self.index(host)?;
        let (name, architecture) = match name.split_once(':') {
            Some((name, architecture)) => (name, Some(architecture)),
            None => (name, None),
        };
        let entries = index.get(name).map_or(&[][..], Vec::as_slice);
        let fits = |entry: &&Entry| {
            architecture.is_none_or(|wanted| {
                wanted == "any" || wanted == entry.architecture || entry.architecture == "all"
            })
        };
        let installed = entries.iter().filter(fits).find(|entry| entry.status == "installed");
        Ok(installed.or_else(|| entries.iter().find(fits)).cloned())
    }

    /// Gives every paragraph with its name, in the order of names.
    pub(super) fn each(
        &self,
        host: &dyn Look,
        give: &mut dyn FnMut(&str, &Entry),
    ) -> Result<(), Failure> {
        for (name, entries) in self.index(host)?.iter() {
            for entry in entries {
                give(name, entry);
            }
        }
        Ok(())
    }

    /// Forgets what was read, after a command that changes the record.
    pub(super) fn forget(&self) {
        *self.cache.borrow_mut() = None;
    }
}

fn parse(text: &[u8]) -> Index {
    let text = String::from_utf8_lossy(text);
    let mut index = Index::new();
    let mut name = String::new();
    let mut entry = Entry::default();
    for line in text.lines().chain([""]) {
        if line.is_empty() {
            let entry = std::mem::take(&mut entry);
            if !name.is_empty() {
                index.entry(std::mem::take(&mut name)).or_default().push(entry);
            }
        } else if let Some(value) = line.strip_prefix("Package: ") {
            value.trim().clone_into(&mut name);
        } else if let Some(value) = line.strip_prefix("Version: ") {
            value.trim().clone_into(&mut entry.version);
        } else if let Some(value) = line.strip_prefix("Architecture: ") {
            value.trim().clone_into(&mut entry.architecture);
        } else if let Some(value) = line.strip_prefix("Status: ") {
            let mut words = value.split_whitespace();
            words.next().unwrap_or_default().clone_into(&mut entry.want);
            words.nth(1).unwrap_or_default().clone_into(&mut entry.status);
        }
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::MemoryHost;

    const TEXT: &str = "\
Package: zlib1g
Status: install ok installed
Priority: required
Architecture: amd64
Multi-Arch: same
Version: 1:1.2.13.dfsg-1
Description: compression library - runtime
 Package: not a field but a folded line
 .
 zlib is a library.

Package: zlib1g
Status: deinstall ok config-files
Architecture: i386
Version: 1:1.2.11.dfsg-2

Package: vim
Status: hold ok installed
Architecture: amd64
Version: 2:9.0.1378-2
";

    #[test]
    fn paragraphs_are_found_by_name_and_architecture() {
        let host = MemoryHost::linux();
        host.put(STATUS, TEXT);
        let record = Record::default();
        let version = |name: &str| record.find(&host, name).unwrap().map(|entry| entry.version);
        assert_eq!(version("zlib1g").as_deref(), Some("1:1.2.13.dfsg-1"));
        assert_eq!(version("zlib1g:i386").as_deref(), Some("1:1.2.11.dfsg-2"));
        assert_eq!(version("zlib1g:arm64"), None);
        assert_eq!(version("not"), None);
        let vim = record.find(&host, "vim").unwrap().unwrap();
        assert_eq!((vim.want.as_str(), vim.status.as_str()), ("hold", "installed"));
    }

    #[test]
    fn the_record_is_read_again_only_after_it_changed() {
        let host = MemoryHost::linux();
        host.put(STATUS, TEXT);
        let record = Record::default();
        record.find(&host, "vim").unwrap();
        record.find(&host, "zlib1g").unwrap();
        host.put(STATUS, "");
        assert_eq!(record.find(&host, "vim").unwrap(), None);
        let requests = host.take_requests();
        let reads = requests.iter().filter(|request| request.starts_with("read ")).count();
        assert_eq!(reads, 2);
    }
}
