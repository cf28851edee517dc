//! Faults planted in the fake machine: the n-th request of a kind fails with an errno.
//!
//! The loop form "for every n, fail the n-th request" is how resources are shown to
//! survive any single refusal.

use crate::Operation;

use super::tree::Errno;

/// Which requests a fault counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultOn {
    /// Requests of one kind.
    Operation(Operation),
    /// Requests that change files.
    Changes,
    /// Requests that change files or start commands.
    Effects,
    /// Every request.
    Anything,
}

impl FaultOn {
    fn counts(self, operation: Operation) -> bool {
        match self {
            FaultOn::Operation(wanted) => wanted == operation,
            FaultOn::Changes => operation.changes_files(),
            FaultOn::Effects => operation.is_effect(),
            FaultOn::Anything => true,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Fault {
    on: FaultOn,
    left: u64,
    errno: Errno,
    /// Every later request of the kind fails as well.
    forever: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    planted: Vec<Fault>,
    hit: u64,
}

impl Faults {
    pub(super) fn plant(&mut self, on: FaultOn, nth: u64, errno: Errno, forever: bool) {
        self.planted.push(Fault { on, left: nth.max(1), errno, forever });
    }

    pub(super) fn clear(&mut self) {
        self.planted.clear();
    }

    pub(super) fn hits(&self) -> u64 {
        self.hit
    }

    /// Counts a request and says whether it must fail.
    pub(super) fn check(&mut self, operation: Operation) -> Option<Errno> {
        let mut errno = None;
        for fault in &mut self.planted {
            if !fault.on.counts(operation) || fault.left == 0 {
                continue;
            }
            fault.left -= 1;
            if fault.left == 0 {
                errno = errno.or(Some(fault.errno));
                if fault.forever {
                    fault.left = 1;
                }
            }
        }
        self.hit += u64::from(errno.is_some());
        errno
    }
}
