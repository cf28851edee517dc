//! services: a bundle for each service, its own or the standard one.

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::policy::{Call, Rval};
use fx_cfengine::text::{Str, canonify};

use crate::agent::Agent;

/// Keeps a services promise.
pub(crate) fn keep(ctx: &mut Agent<'_>, promise: &Rc<Expanded>) -> Outcome {
    let itself = promise
        .list("service_dependencies")
        .is_some_and(|names| names.iter().any(|name| **name == *promise.promiser));
    if itself {
        ctx.error(&format!("Service promiser '{}' has itself as dependency", promise.promiser));
        return Outcome::Kept;
    }
    let policy: Str = promise
        .scalar("service_policy")
        .filter(|policy| !policy.is_empty())
        .cloned()
        .unwrap_or_else(|| "start".into());
    if !ctx.acquire_alone(promise, &promise.promiser) {
        return Outcome::Skipped;
    }
    if promise.scalar("service_type").is_some_and(|kind| &**kind == "windows") {
        ctx.info("Service type windows not supported on this platform.");
        return Outcome::Skipped;
    }
    let call = match promise.get("service_bundle") {
        Some(call) => call.clone(),
        None => {
            let head = &promise.promise.bundle;
            let own = format!("service_{}", canonify(&promise.promiser));
            let name: Str = match ctx.policy.bundle("agent", &head.namespace, &own) {
                Some(_) => own.into(),
                None => "default:standard_services".into(),
            };
            let args =
                vec![Rval::Scalar(Rc::clone(&promise.promiser)), Rval::Scalar(Rc::clone(&policy))];
            Rval::Call(Rc::new(Call { name, args }))
        }
    };
    ctx.put_this("service_policy", policy);
    Outcome::Kept.merge(super::methods::run(ctx, &call, promise))
}
