//! Why something had to be repaired: for the first time, because the policy changed, or
//! because the machine drifted away from a policy that did not. Judged as steps are recorded, from
//! the records of earlier runs; a command that runs anyway is not judged.

use fx_engine::{Change, Outcome, Step};
use fx_source::SourceMap;
use fx_store::{Store, StoreError};
use sha2::{Digest, Sha256};

/// A change: the property, what it was and what it is now, as digests, so that no secret gets
/// into the store.
pub(crate) struct Changed {
    property: String,
    from: String,
    to: String,
}

impl Changed {
    /// A change without its values.
    pub(crate) fn of(change: &Change) -> Changed {
        let digests = [&change.from, &change.to].map(|value| digest(value.to_string().as_bytes()));
        let [from, to] = digests;
        Changed { property: change.property.to_string(), from, to }
    }
}

/// What a repair was due to, and with which policy the resource was in order before.
#[derive(Default)]
pub(crate) struct Cause {
    pub(crate) word: &'static str,
    pub(crate) before: Option<String>,
}

fn digest(bytes: &[u8]) -> String {
    fx_formats::hex(&Sha256::digest(bytes)[..16])
}

/// Digest of all text that a run read as policy.
pub(crate) fn policy(sources: &SourceMap) -> String {
    let mut hash = Sha256::new();
    for file in sources.files() {
        hash.update(file.name().as_bytes());
        hash.update([0]);
        hash.update(file.bytes());
        hash.update([0]);
    }
    fx_formats::hex(&hash.finalize()[..16])
}

/// What the repair of a step was due to; nothing for what was not repaired.
pub(crate) fn cause(
    store: &Store,
    run: i64,
    policy: &str,
    step: &Step,
    changes: &[Changed],
) -> Result<Cause, StoreError> {
    if step.outcome != Outcome::Repaired || step.open_ended {
        return Ok(Cause::default());
    }
    let resource = step.resource.to_string();
    let (mut as_left, mut as_wished) = (0, 0);
    let mut judged = 0;
    for Changed { property, from, to } in changes {
        if let Some(left) = store.baseline(&resource, property)? {
            judged += 1;
            as_left += usize::from(left == *from);
            as_wished += usize::from(left == *to);
        }
        store.set_baseline(&resource, property, to)?;
    }
    Ok(match store.last_in_order(&resource, run)? {
        None => Cause { word: "first change", before: None },
        Some(before) if before == policy => Cause { word: "drift", before: None },
        Some(_) if judged > 0 && as_wished == judged && as_left == 0 => {
            Cause { word: "drift", before: None }
        }
        before => Cause { word: "policy change", before },
    })
}
