//! Serial numbers of revoked certificates, as TLS and every request look at them.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use fx_fleet::Fleet;

/// The serial numbers. A copy is another handle of the same set.
#[derive(Clone, Debug, Default)]
pub struct RevokedSerials(Arc<RwLock<BTreeSet<String>>>);

impl RevokedSerials {
    pub fn contains(&self, serial: &str) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(serial)
    }

    /// Takes over what the store has: another server may have revoked something.
    pub fn refresh(&self, fleet: &Fleet) -> fx_fleet::Result<()> {
        let all = fleet.revocations()?.into_iter().map(|(serial, _)| serial).collect();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = all;
        Ok(())
    }
}
