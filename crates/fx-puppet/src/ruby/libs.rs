//! What the `lib` folders of modules hold below `puppet`: each folder is listed once, and only
//! in the modules that have it. A name nobody has is answered without asking the machine.
//! Nothing is read here.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::rc::Rc;

use fx_host::{Entry, Look};
use rustc_hash::FxHashMap;

/// Names in one folder, by the number of the library they are in, in byte order.
type Listing = Rc<[(usize, Vec<Entry>)]>;

/// The libraries of an environment and its modules, the first of a name counts.
pub(crate) struct Libs {
    host: Rc<dyn Look>,
    dirs: Vec<PathBuf>,
    numbers: FxHashMap<Vec<u8>, usize>,
    folders: RefCell<FxHashMap<String, Listing>>,
}

impl Libs {
    pub(super) fn new(host: Rc<dyn Look>, dirs: Vec<PathBuf>) -> Libs {
        let bytes = |dir: &PathBuf| dir.as_os_str().as_bytes().to_vec();
        let numbers = dirs.iter().enumerate().map(|(at, dir)| (bytes(dir), at)).collect();
        Libs { host, dirs, numbers, folders: RefCell::default() }
    }

    /// All libraries, whether there is something in them or not.
    pub(super) fn dirs(&self) -> &[PathBuf] {
        &self.dirs
    }

    /// Where a folder such as `puppet/type` is.
    fn listing(&self, folder: &str) -> Listing {
        if let Some(known) = self.folders.borrow().get(folder) {
            return Rc::clone(known);
        }
        let list = |at: usize| {
            let names = self.host.list_trusted(&self.dirs[at].join(folder)).ok()?;
            Some((at, names))
        };
        let found: Listing = match folder.rsplit_once('/') {
            None => (0..self.dirs.len()).filter_map(list).collect(),
            Some((parent, name)) => {
                let above = self.listing(parent);
                let holders = above.iter().filter(|(_, names)| holds(names, name));
                holders.filter_map(|(at, _)| list(*at)).collect()
            }
        };
        self.folders.borrow_mut().insert(folder.to_owned(), Rc::clone(&found));
        found
    }

    /// A name below a folder, in each library that has it.
    pub(super) fn all(&self, folder: &str, name: &str) -> Vec<PathBuf> {
        let listing = self.listing(folder);
        let holders = listing.iter().filter(|(_, names)| holds(names, name));
        let paths = holders.map(|(at, _)| self.dirs[*at].join(folder).join(name));
        // What is refused here is not loaded, and ends the run.
        paths.filter(|path| self.host.check_trusted(path).is_ok()).collect()
    }

    /// Names of the Ruby files of a folder, library by library.
    pub(super) fn names(&self, folder: &str) -> Vec<String> {
        let listing = self.listing(folder);
        let all = listing.iter().flat_map(|(_, names)| names);
        let ruby = all.filter_map(|item| item.name.to_str()?.strip_suffix(".rb"));
        ruby.map(str::to_owned).collect()
    }

    /// Ruby files of a folder by name.
    pub(super) fn ruby_files(&self, folder: &str) -> FxHashMap<String, PathBuf> {
        let mut found = FxHashMap::default();
        for (at, names) in &*self.listing(folder) {
            let dir = self.dirs[*at].join(folder);
            for item in names {
                if let Some(name) = item.name.to_str().and_then(|name| name.strip_suffix(".rb")) {
                    found.entry(name.to_owned()).or_insert_with(|| dir.join(&item.name));
                }
            }
        }
        found
    }

    /// Whether a library may hold a file; yes, where it is not known here.
    pub(super) fn may_hold(&self, dir: &[u8], file: &str) -> bool {
        let Some((folder, name)) = file.rsplit_once('/') else { return true };
        let is_ours = folder == "puppet" || folder.starts_with("puppet/");
        if !is_ours || folder.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return true;
        }
        let Some(number) = self.numbers.get(dir) else { return true };
        let listing = self.listing(folder);
        listing.iter().any(|(at, names)| at == number && holds(names, name))
    }
}

fn holds(names: &[Entry], name: &str) -> bool {
    names.binary_search_by(|entry| entry.name.as_os_str().cmp(OsStr::new(name))).is_ok()
}

#[cfg(test)]
mod tests {
    use fx_host::MemoryHost;

    use super::*;

    #[test]
    fn a_name_is_found_where_it_is_and_nowhere_else() {
        let host = MemoryHost::new();
        for path in ["/m/a/lib/puppet/type/x.rb", "/m/b/lib/puppet/type/x.rb", "/m/b/lib/y.rb"] {
            host.put(path, "");
        }
        let dirs = ["/m/a/lib", "/m/b/lib", "/m/c/lib"].map(PathBuf::from).to_vec();
        let libs = Libs::new(Rc::new(host), dirs);
        let both = ["/m/a/lib/puppet/type/x.rb", "/m/b/lib/puppet/type/x.rb"].map(PathBuf::from);
        assert_eq!(libs.all("puppet/type", "x.rb"), both);
        assert_eq!(libs.ruby_files("puppet/type")["x"], both[0]);
        assert!(libs.all("puppet/provider/x", "y.rb").is_empty());
        let asked = [
            ("/m/a/lib", "puppet/type/x.rb", true),
            ("/m/c/lib", "puppet/type/x.rb", false),
            ("/m/a/lib", "puppet/type/y.rb", false),
            // Not of those that are listed: the machine is asked.
            ("/m/a/lib", "y.rb", true),
            ("/elsewhere", "puppet/type/x.rb", true),
            ("/m/a/lib", "puppet/../y.rb", true),
        ];
        for (dir, file, may) in asked {
            assert_eq!(libs.may_hold(dir.as_bytes(), file), may, "{dir} {file}");
        }
    }
}
