//! guest_environments: there is no virtualization monitor to talk to, and that is said.

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::outcome::Outcome;
use fx_engine::Level;

use crate::agent::Agent;

/// Keeps a guest_environments promise, as far as that goes.
pub(crate) fn keep(ctx: &mut Agent<'_>, promise: &Rc<Expanded>) -> Outcome {
    if !promise.has("environment_host") {
        ctx.error("No environment_host defined for environment promise");
        return Outcome::Kept;
    }
    if !ctx.acquire_alone(promise, "virtual") {
        return Outcome::Skipped;
    }
    let kind = promise.scalar("environment_type").cloned().unwrap_or_default();
    let monitor = match &*kind {
        "xen" | "xen_net" => "xen:///",
        "kvm" | "kvm_net" => "qemu:///session",
        "esx" | "esx_net" => "esx://127.0.0.1",
        "vbox" => "vbox:///session",
        "test" | "test_net" => {
            let text = format!(
                "Promises of type 'guest_environments' are not supported on this host ('{}')",
                promise.promiser
            );
            return ctx.settle(Level::Error, Outcome::Failed, promise, &text);
        }
        _ => {
            ctx.error(&format!("Environment type '{kind}' not currently supported"));
            return Outcome::Kept;
        }
    };
    ctx.error(&format!("Failed to connect to virtualization monitor '{monitor}'"));
    Outcome::Kept
}
