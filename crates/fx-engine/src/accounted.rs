//! Whether effects that code of policy has now are those of a change, and so recorded with it.
//!
//! Ruby code acts through a recorder. What it does outside of a change is an effect of
//! evaluation; inside of one it is that change, and is not recorded a second time.

use std::cell::{Cell, RefCell};

/// How many changes are being made around the code that acts.
#[derive(Debug, Default)]
pub struct Accounted {
    depth: Cell<u32>,
    /// The same for each action around the one that is under way.
    outer: RefCell<Vec<u32>>,
}

/// Ends one, also when the work of a change panics and the run continues.
struct Ends<'a>(&'a Cell<u32>);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

impl Accounted {
    /// Does work whose effects are accounted for by a change.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.depth.set(self.depth.get() + 1);
        let _ends = Ends(&self.depth);
        work()
    }

    /// Whether what acts now is accounted for.
    pub fn holds(&self) -> bool {
        self.depth.get() > 0
    }

    /// An action begins: what it does is not the change that it is part of.
    pub fn enter(&self) {
        self.outer.borrow_mut().push(self.depth.replace(0));
    }

    /// An action ends.
    pub fn leave(&self) {
        self.depth.set(self.outer.borrow_mut().pop().unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn an_action_inside_a_change_accounts_for_itself() {
        let accounted = Accounted::default();
        assert!(!accounted.holds());
        accounted.during(|| {
            assert!(accounted.holds());
            accounted.enter();
            assert!(!accounted.holds());
            accounted.during(|| assert!(accounted.holds()));
            accounted.leave();
            assert!(accounted.holds());
        });
        assert!(!accounted.holds());
    }

    #[test]
    fn a_change_that_panics_has_ended() {
        let accounted = Accounted::default();
        let work = AssertUnwindSafe(|| accounted.during(|| panic!("a defect")));
        assert!(catch_unwind(work).is_err());
        assert!(!accounted.holds());
    }
}
