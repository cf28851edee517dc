//! Writes down the phases of a run as they are reported, and what is said besides where that is
//! wanted. Shared by the tests that check an order; it checks nothing itself.

use std::cell::RefCell;

use fx_engine::{Event, Level, Sink};

/// Phases of a run, one a line.
pub(crate) struct Phases {
    lines: RefCell<String>,
    /// Messages down to this level are written down, too.
    besides: Option<Level>,
}

impl Phases {
    /// Phases, and what is said down to a level, if one is given.
    pub(crate) fn new(besides: Option<Level>) -> Phases {
        Phases { lines: RefCell::default(), besides }
    }

    /// All of it.
    pub(crate) fn text(&self) -> String {
        self.lines.borrow().clone()
    }
}

impl Sink for Phases {
    fn event(&self, event: &Event<'_>) {
        if let Event::Message { level, text, .. } = event {
            let line = match text.strip_prefix("phase: ") {
                Some(phase) => phase,
                None if self.besides.is_some_and(|most| *level <= most) => text,
                None => return,
            };
            let mut lines = self.lines.borrow_mut();
            lines.push_str(line);
            lines.push('\n');
        }
    }
}
