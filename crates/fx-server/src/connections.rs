//! How many connections there are, in all and of each peer.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Counts connections. A copy counts the same ones.
#[derive(Clone, Default)]
pub(crate) struct Connections(Arc<Mutex<Counts>>);

#[derive(Default)]
struct Counts {
    all: usize,
    by_peer: BTreeMap<IpAddr, usize>,
}

/// One connection; it counts until this is dropped.
pub(crate) struct Counted {
    connections: Connections,
    peer: IpAddr,
}

impl Connections {
    /// Counts a connection, where there is room for it.
    pub(crate) fn count(&self, peer: IpAddr, most: usize, most_of_peer: usize) -> Option<Counted> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_peer = counts.by_peer.get(&peer).copied().unwrap_or(0);
        if counts.all >= most || of_peer >= most_of_peer {
            return None;
        }
        counts.all += 1;
        counts.by_peer.insert(peer, of_peer + 1);
        Some(Counted { connections: self.clone(), peer })
    }

    /// How many connections a peer has.
    pub(crate) fn of(&self, peer: IpAddr) -> usize {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.by_peer.get(&peer).copied().unwrap_or(0)
    }

    pub(crate) fn all(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).all
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.connections.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.all -= 1;
        match counts.by_peer.get(&self.peer).copied() {
            Some(count) if count > 1 => counts.by_peer.insert(self.peer, count - 1),
            _ => counts.by_peer.remove(&self.peer),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_count_until_they_are_dropped() {
        let connections = Connections::default();
        let (a, b) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
        let count = |peer: IpAddr| connections.count(peer, 3, 2);
        let first = count(a).unwrap();
        let _second = count(a).unwrap();
        assert!(count(a).is_none(), "two of one peer");
        let _third = count(b).unwrap();
        assert!(count(b).is_none(), "three in all");
        drop(first);
        assert!(count(a).is_some());
        assert_eq!(connections.all(), 2);
    }
}
