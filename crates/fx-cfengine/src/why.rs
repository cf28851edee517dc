//! Why a promise is not kept, collected while it is acted on, for the record of its step.

use std::cell::RefCell;

use fx_engine::Failure;

/// How much a cause says: the later in this list, the more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    /// An error that was logged on the way.
    Logged,
    /// What was logged of the outcome itself.
    Settled,
    /// What a change failed by.
    Typed,
}

/// The first cause of the greatest weight.
#[derive(Debug, Default)]
pub struct Why(RefCell<Option<(Weight, Failure)>>);

impl Why {
    fn note(&self, weight: Weight, failure: impl FnOnce() -> Failure) {
        let mut known = self.0.borrow_mut();
        if known.as_ref().is_none_or(|(known, _)| *known < weight) {
            *known = Some((weight, failure()));
        }
    }

    /// A change failed by this.
    pub fn typed(&self, failure: &Failure) {
        self.note(Weight::Typed, || failure.clone());
    }

    /// The outcome was logged as a failure, in these words.
    pub(crate) fn settled(&self, text: &str) {
        self.note(Weight::Settled, || Failure::new(text));
    }

    /// An error was logged, which may be the reason.
    pub(crate) fn logged(&self, text: &str) {
        self.note(Weight::Logged, || Failure::new(text));
    }

    /// Begins anew, for a step inside another; what was known is given back.
    pub fn begin(&self) -> Outer {
        Outer(self.0.take())
    }

    /// What the step failed by, if it failed. The step around it keeps its own cause, and
    /// without one it failed by the same.
    pub fn end(&self, outer: Outer, failed: bool) -> Option<Failure> {
        let inner = self.0.take().filter(|_| failed);
        let cause = inner.as_ref().map(|(_, failure)| failure.clone());
        self.0.replace(outer.0.or(inner.map(|(_, failure)| (Weight::Logged, failure))));
        cause
    }
}

/// The cause of the step around one, set aside.
pub struct Outer(Option<(Weight, Failure)>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_cause_of_the_greatest_weight_counts() {
        let why = Why::default();
        let outer = why.begin();
        why.logged("on the way");
        why.typed(&Failure::NoUser("nobody".to_owned()));
        why.settled("in words");
        assert_eq!(why.end(outer, true), Some(Failure::NoUser("nobody".to_owned())));
    }

    #[test]
    fn a_step_fails_by_what_is_inside_unless_it_knows_better() {
        let why = Why::default();
        let outer = why.begin();
        let inner = why.begin();
        why.settled("inside");
        assert_eq!(why.end(inner, true), Some(Failure::new("inside")));
        let kept = why.begin();
        why.logged("an error of a step that was kept");
        assert_eq!(why.end(kept, false), None);
        assert_eq!(why.end(outer, true), Some(Failure::new("inside")));
    }
}
