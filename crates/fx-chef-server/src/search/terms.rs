//! The words of all documents of an index, each kept once under a number.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

/// The number of a word.
pub(super) type Term = u32;

struct Known {
    text: Arc<str>,
    /// How many documents have it; numbers of words that nobody has are given anew.
    uses: u32,
}

#[derive(Default)]
pub(super) struct Terms {
    by_text: BTreeMap<Arc<str>, Term>,
    known: Vec<Known>,
    free: Vec<Term>,
}

impl Terms {
    /// The number of a word that one more document has.
    pub(super) fn take(&mut self, text: &str) -> Term {
        if let Some(term) = self.by_text.get(text) {
            self.known[*term as usize].uses += 1;
            return *term;
        }
        let text: Arc<str> = text.into();
        let known = Known { text: Arc::clone(&text), uses: 1 };
        let term = match self.free.pop() {
            Some(term) => {
                self.known[term as usize] = known;
                term
            }
            None => {
                self.known.push(known);
                (self.known.len() - 1) as Term
            }
        };
        self.by_text.insert(text, term);
        term
    }

    /// One document less has it.
    pub(super) fn give_back(&mut self, term: Term) {
        let known = &mut self.known[term as usize];
        known.uses -= 1;
        if known.uses == 0 {
            self.by_text.remove(&known.text);
            known.text = "".into();
            self.free.push(term);
        }
    }

    pub(super) fn text(&self, term: Term) -> &str {
        &self.known[term as usize].text
    }

    pub(super) fn exact(&self, text: &str) -> Option<Term> {
        self.by_text.get(text).copied()
    }

    /// Words that begin with this and fit, sorted by number.
    pub(super) fn fitting(&self, prefix: &str, fits: impl Fn(&str) -> bool) -> Vec<Term> {
        let range = (Bound::Included(prefix), Bound::Unbounded);
        let some = self.by_text.range::<str, _>(range);
        let some = some.take_while(|(text, _)| text.starts_with(prefix));
        let mut found: Vec<Term> =
            some.filter(|(text, _)| fits(text)).map(|(_, term)| *term).collect();
        found.sort_unstable();
        found
    }

    /// Words between two, sorted by number.
    pub(super) fn between(&self, from: &str, to: &str, inclusive: bool) -> Vec<Term> {
        let edge = |text| if inclusive { Bound::Included(text) } else { Bound::Excluded(text) };
        if from > to || (from == to && !inclusive) {
            return Vec::new();
        }
        let some = self.by_text.range::<str, _>((edge(from), edge(to)));
        let mut found: Vec<Term> = some.map(|(_, term)| *term).collect();
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::Terms;

    #[test]
    fn words_that_nobody_has_leave_nothing_behind() {
        let mut terms = Terms::default();
        for round in 0..1000 {
            let some: Vec<_> = (0..10).map(|at| terms.take(&format!("w{round}x{at}"))).collect();
            let stays = terms.take("stays");
            assert_eq!(terms.text(stays), "stays");
            for term in some {
                terms.give_back(term);
            }
        }
        assert_eq!((terms.known.len(), terms.by_text.len()), (11, 1));
        assert_eq!(terms.fitting("st", |_| true).len(), 1);
        assert_eq!(terms.exact("w1x1"), None);
    }
}
