//! Lists of plug-ins, shared: each agent wants those of all modules in each run, and looking at some
//! hundred files for each of them was three quarters of what a server did.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fx_server::{FileWish, Listing, Refusal, Tree};

use super::environments::Snapshot;

/// What a list is of. Two wishes with the same key have the same answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ListKey {
    snapshot: u64,
    wish: FileWish,
    tree: Tree,
}

impl ListKey {
    /// The client is left out: trees of all modules are the same for everybody.
    pub(crate) fn new(snapshot: &Snapshot, wish: &FileWish, tree: &Tree) -> ListKey {
        let wish = FileWish { client: String::new(), ..wish.clone() };
        ListKey { snapshot: snapshot.id, wish, tree: tree.clone() }
    }
}

/// A list and when it was begun.
type Found = Mutex<Option<(Instant, Listing)>>;

/// The lists by what they are of.
#[derive(Default)]
pub(crate) struct Lists(Mutex<HashMap<ListKey, Arc<Found>>>);

/// A list is not older than this when it is sent: a plug-in that changes is there a second later.
const FRESH: Duration = Duration::from_secs(1);
/// Agents want a few lists; whoever asks for many different ones gets no memory for it.
const MOST: usize = 64;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lists {
    /// The list; whoever comes while somebody looks waits for him and takes what he found.
    pub(crate) fn get(
        &self,
        key: ListKey,
        look: impl FnOnce() -> Result<Listing, Refusal>,
    ) -> Result<Listing, Refusal> {
        let found = {
            let mut all = locked(&self.0);
            if all.len() >= MOST && !all.contains_key(&key) {
                all.clear();
            }
            Arc::clone(all.entry(key).or_default())
        };
        let mut found = locked(&found);
        if let Some((began, list)) = &*found
            && began.elapsed() < FRESH
        {
            return Ok(list.clone());
        }
        let began = Instant::now();
        let list = look()?;
        *found = Some((began, list.clone()));
        Ok(list)
    }

    /// Forgets all: the next request looks again.
    pub(crate) fn flush(&self) {
        locked(&self.0).clear();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn key(snapshot: u64, path: &str) -> ListKey {
        let wish = FileWish {
            mount: "plugins".into(),
            client: String::new(),
            path: vec![path.into()],
            checksum: "sha256".into(),
            follows_links: true,
            with_permissions: false,
        };
        ListKey { snapshot, wish, tree: Tree::default() }
    }

    #[test]
    fn a_list_is_looked_up_once_until_it_is_flushed() {
        let (lists, looks) = (Lists::default(), Cell::new(0));
        let get = |key| {
            let look = || {
                looks.set(looks.get() + 1);
                Ok(Listing::of(&[]))
            };
            lists.get(key, look).map(drop).unwrap();
            looks.get()
        };
        assert_eq!(get(key(1, "a")), 1);
        assert_eq!(get(key(1, "a")), 1);
        assert_eq!(get(key(1, "b")), 2, "another path");
        assert_eq!(get(key(2, "a")), 3, "another version of the code");
        lists.flush();
        assert_eq!(get(key(1, "a")), 4);
    }

    #[test]
    fn a_look_that_failed_is_not_kept() {
        let lists = Lists::default();
        let failed = lists.get(key(1, "a"), || Err(Refusal::Busy));
        assert!(matches!(failed, Err(Refusal::Busy)));
        assert!(lists.get(key(1, "a"), || Ok(Listing::of(&[]))).is_ok());
    }
}
