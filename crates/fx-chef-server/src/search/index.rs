//! What can be found, by the words that it has. Documents themselves stay in the store: an index
//! holds their names and which content it has seen, so that it is brought up to date by reading only
//! what changed, whoever changed it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::context::{Answer, Context};

use super::query::Query;
use super::terms::{Term, Terms};
use super::words::Words;

/// A document as it was seen.
struct Seen {
    /// Of its content.
    version: Vec<u8>,
    words: Box<[Term]>,
    /// Values of several words, for phrases.
    values: Box<[Term]>,
}

/// The documents of one kind.
#[derive(Default)]
pub(super) struct Index {
    terms: Terms,
    documents: BTreeMap<String, Seen>,
}

impl Index {
    /// Reads what changed since the last time; `prefix` chooses among the names of a kind, and
    /// `words` says what a document is found by.
    pub(super) fn refresh(
        &mut self,
        context: &mut Context<'_, '_>,
        kind: &str,
        prefix: &str,
        words: &dyn Fn(&Value) -> Words,
    ) -> Answer<()> {
        let mut current = context.versions(kind, prefix)?;
        let gone: Vec<String> =
            self.documents.keys().filter(|name| !current.contains_key(*name)).cloned().collect();
        for name in gone {
            self.remove(&name);
        }
        current.retain(|name, version| {
            self.documents.get(name).is_none_or(|seen| seen.version != *version)
        });
        for (name, version) in current {
            self.remove(&name);
            if let Some(document) = context.own(kind, &name)? {
                self.add(name, version, &words(&document));
            }
        }
        Ok(())
    }

    /// Takes these documents instead of all others; the number stands for the form they have.
    pub(super) fn replace(&mut self, all: impl Iterator<Item = (String, Words)>, form: u8) {
        let old: Vec<String> = self.documents.keys().cloned().collect();
        for name in &old {
            self.remove(name);
        }
        for (name, words) in all {
            self.add(name, vec![form], &words);
        }
    }

    fn add(&mut self, name: String, version: Vec<u8>, words: &Words) {
        let mut take = |texts: Vec<&str>| -> Box<[Term]> {
            let mut terms: Vec<Term> =
                texts.into_iter().map(|text| self.terms.take(text)).collect();
            terms.sort_unstable();
            terms.into()
        };
        let seen = Seen { version, words: take(words.each()), values: take(words.phrases()) };
        self.documents.insert(name, seen);
    }

    fn remove(&mut self, name: &str) {
        let Some(seen) = self.documents.remove(name) else { return };
        for term in seen.words.iter().chain(&seen.values) {
            self.terms.give_back(*term);
        }
    }

    #[cfg(test)]
    pub(super) fn of_one(words: &Words) -> Index {
        let mut index = Index::default();
        index.add("one".to_owned(), Vec::new(), words);
        index
    }

    /// Names of what fits, in order.
    pub(super) fn find(&self, query: &Query) -> Vec<&str> {
        let prepared = Prepared::of(query, &self.terms);
        let fitting = self.documents.iter().filter(|(_, seen)| prepared.fits(seen, &self.terms));
        fitting.map(|(name, _)| name.as_str()).collect()
    }
}

/// A query with the words that fit its parts.
enum Prepared<'a> {
    All,
    /// One of these.
    Any(Vec<Term>),
    Phrase(Vec<&'a str>),
    Clauses {
        must: Vec<Prepared<'a>>,
        may: Vec<Prepared<'a>>,
        not: Vec<Prepared<'a>>,
    },
}

impl<'a> Prepared<'a> {
    fn of(query: &'a Query, terms: &Terms) -> Prepared<'a> {
        use super::query::Occurs;
        match query {
            Query::All => Prepared::All,
            Query::Word(pieces) => Prepared::Any(match super::query::exact(pieces) {
                Some(text) => terms.exact(&text).into_iter().collect(),
                None => {
                    let prefix = super::query::prefix(pieces);
                    terms.fitting(prefix, |word| super::query::matches(pieces, word))
                }
            }),
            Query::Phrase(phrase) => Prepared::Phrase(phrase.iter().map(String::as_str).collect()),
            Query::Range { from, to, inclusive } => {
                Prepared::Any(terms.between(from, to, *inclusive))
            }
            Query::Clauses(clauses) => {
                let all = |wanted: Occurs| {
                    let some = clauses.iter().filter(move |(occurs, _)| *occurs == wanted);
                    some.map(|(_, one)| Prepared::of(one, terms)).collect::<Vec<_>>()
                };
                Prepared::Clauses {
                    must: all(Occurs::Must),
                    may: all(Occurs::May),
                    not: all(Occurs::Not),
                }
            }
        }
    }

    fn fits(&self, seen: &Seen, terms: &Terms) -> bool {
        match self {
            Prepared::All => true,
            Prepared::Any(some) => share(some, &seen.words),
            Prepared::Phrase(phrase) => match phrase.as_slice() {
                [word] => {
                    terms.exact(word).is_some_and(|term| seen.words.binary_search(&term).is_ok())
                }
                phrase => seen.values.iter().any(|value| {
                    let words: Vec<&str> = terms.text(*value).split_whitespace().collect();
                    words.windows(phrase.len().max(1)).any(|some| some == phrase)
                }),
            },
            Prepared::Clauses { must, may, not } => {
                let is_free = !must.is_empty() || may.is_empty();
                must.iter().all(|one| one.fits(seen, terms))
                    && !not.iter().any(|one| one.fits(seen, terms))
                    && (is_free || may.iter().any(|one| one.fits(seen, terms)))
            }
        }
    }
}

/// Whether two sorted lists have something in common; the shorter one is looked up in the other.
fn share(a: &[Term], b: &[Term]) -> bool {
    let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
    few.iter().any(|term| many.binary_search(term).is_ok())
}

/// An index that several requests use.
type Shared = Arc<Mutex<Index>>;

/// Indexes by organization and name.
#[derive(Default)]
pub(crate) struct Indexes(Mutex<HashMap<(String, String), Shared>>);

impl Indexes {
    pub(super) fn of(&self, org: &str, index: &str) -> Shared {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry((org.to_owned(), index.to_owned())).or_default())
    }

    /// Nothing is left of an organization that is gone.
    pub(crate) fn forget(&self, org: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(known, _), _| known != org);
    }
}
