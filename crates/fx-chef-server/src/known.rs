//! Who may sign, and who is in which group, remembered as long as nobody changes it.
//!
//! Each change of what this is read from puts a new mark into the store, in its transaction; so a
//! server sees at its next request what another one over the same store has changed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use fx_fleet::Documents;

use crate::context::{Answer, Context, GLOBAL};

/// Names that are remembered at the same time.
const MOST: usize = 20_000;

/// What was read for a name within an organization.
pub(crate) type Entries<T> = BTreeMap<(String, String), Arc<T>>;

#[derive(Default)]
struct Remembered<T> {
    /// The mark of the store that it was read under.
    mark: Vec<u8>,
    entries: Entries<T>,
}

/// One kind of thing that is remembered.
pub(crate) struct Known<T>(Mutex<Remembered<T>>);

impl<T> Default for Known<T> {
    fn default() -> Known<T> {
        Known(Mutex::new(Remembered { mark: Vec::new(), entries: Entries::new() }))
    }
}

impl<T> Known<T> {
    fn find(&self, mark: &[u8], key: &(String, String)) -> Option<Arc<T>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entries.get(key).filter(|_| all.mark == mark).map(Arc::clone)
    }

    fn keep(&self, mark: &[u8], key: (String, String), value: &Arc<T>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.mark != mark || all.entries.len() >= MOST {
            all.entries.clear();
            mark.clone_into(&mut all.mark);
        }
        all.entries.insert(key, Arc::clone(value));
    }
}

/// Whether documents of a kind say who may sign or who is in a group.
fn matters(kind: &str) -> bool {
    matches!(
        kind,
        "organization" | "user" | "user_key" | "client" | "client_key" | "member" | "group"
    )
}

/// Ends a transaction: what was remembered no longer holds where it changed such documents.
pub(crate) fn finish(docs: &mut Documents<'_>, fresh: impl Fn() -> String) -> Answer<()> {
    if docs.has_changed(matters) {
        docs.put(GLOBAL, "mark", "access", fresh().as_bytes())?;
    }
    Ok(())
}

impl Context<'_, '_> {
    /// What was read for a name of the organization of this request, or what `read` finds now.
    pub(crate) fn known<T>(
        &mut self,
        known: &Known<T>,
        name: &str,
        read: impl FnOnce(&mut Self) -> Answer<T>,
    ) -> Answer<Arc<T>> {
        // What this transaction changed itself is nobody else's yet.
        if self.docs.has_changed(matters) {
            return read(self).map(Arc::new);
        }
        // A transaction sees one state of the store.
        let mark = match self.mark.take() {
            Some(mark) => mark,
            None => self.docs.get(GLOBAL, "mark", "access")?.unwrap_or_default(),
        };
        let key = (self.org.clone(), name.to_owned());
        let found = match known.find(&mark, &key) {
            Some(found) => found,
            None => {
                let value = Arc::new(read(self)?);
                known.keep(&mark, key, &value);
                value
            }
        };
        self.mark = Some(mark);
        Ok(found)
    }
}
