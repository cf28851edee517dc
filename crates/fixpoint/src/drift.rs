//! Why something had to be repaired: for the first time, because the policy changed, or
//! because the machine drifted away from a policy that did not. Judged when a run ends, from
//! the records of earlier runs; a command that runs anyway is not judged.

use std::cell::RefCell;

use fx_engine::{Event, Outcome, Sink, Step};
use fx_source::SourceMap;
use fx_store::{Store, StoreError};
use sha2::{Digest, Sha256};

/// The changes of a run: step, property, what it was and what it is now, as digests, so that
/// no secret gets into the store.
#[derive(Default)]
pub(crate) struct Changes(RefCell<Vec<(u32, String, String, String)>>);

impl Sink for Changes {
    fn event(&self, event: &Event<'_>) {
        if let Event::ChangeMade { step, change } = event
            && !change.property.is_empty()
        {
            let digests =
                [&change.from, &change.to].map(|value| digest(value.to_string().as_bytes()));
            let [from, to] = digests;
            self.0.borrow_mut().push((step.number(), change.property.to_string(), from, to));
        }
    }
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Digest of all text a run was told by.
pub(crate) fn policy(sources: &SourceMap) -> String {
    let mut hash = Sha256::new();
    for file in sources.files() {
        hash.update(file.name().as_bytes());
        hash.update([0]);
        hash.update(file.bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// What the repair of a step was due to; nothing for what was not repaired.
pub(crate) fn cause(
    store: &Store,
    run: i64,
    policy: &str,
    step: &Step,
    changes: &Changes,
) -> Result<&'static str, StoreError> {
    if step.outcome != Outcome::Repaired || step.open_ended {
        return Ok("");
    }
    let resource = step.resource.to_string();
    let changes = changes.0.borrow();
    let own = changes.iter().filter(|(number, ..)| *number == step.id.number());
    let (mut as_left, mut as_wished) = (0, 0);
    let mut judged = 0;
    for (_, property, from, to) in own {
        if let Some(left) = store.baseline(&resource, property)? {
            judged += 1;
            as_left += usize::from(left == *from);
            as_wished += usize::from(left == *to);
        }
        store.set_baseline(&resource, property, to)?;
    }
    Ok(match store.last_in_order(&resource, run)? {
        None => "first change",
        Some(before) if before == policy => "drift",
        Some(_) if judged > 0 && as_wished == judged && as_left == 0 => "drift",
        Some(_) => "policy change",
    })
}
