//! Where events go: a console style, a report, the store. Subscribers, never askers.

use crate::Event;

/// Receives every event in order. Takes `&self` so that several owners may share one; it
/// must not call back into the ledger.
pub trait Sink {
    /// Takes note of an event.
    fn event(&self, event: &Event<'_>);

    /// Shows what it holds back: something that may take long comes next.
    fn flush(&self) {}
}
