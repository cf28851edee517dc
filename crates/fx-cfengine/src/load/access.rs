//! `agentaccess`: who may run the policy at all.
//!
//! Whether the files themselves are safe to read is decided where they are read.

use crate::eval::Context;
use crate::policy::Rval;
use crate::text::{Str, path};

impl Context<'_> {
    /// Ends the run unless the user is one that `body agent control` allows.
    pub(crate) fn check_access(&mut self) {
        let Some(Rval::List(allowed)) = self.control.agent.get("agentaccess").cloned() else {
            return;
        };
        let ids = |ctx: &Context<'_>, wanted: u32| {
            allowed.iter().filter_map(Rval::as_scalar).any(|name| ctx.uid_of(name) == Some(wanted))
        };
        if ids(self, self.host().euid()) {
            return;
        }
        let mut files: Vec<Str> = Vec::new();
        let bundles = self.policy.bundles.iter().map(|bundle| &bundle.head.file);
        for file in bundles.chain(self.policy.bodies.iter().map(|body| &body.file)) {
            if !files.contains(file) {
                files.push(file.clone());
            }
        }
        for file in files {
            let owner = self.host().stat(&path(&file)).map(|meta| meta.uid);
            if !owner.is_ok_and(|owner| ids(self, owner)) {
                self.error(&format!(
                    "File '{file}' is not owned by an authorized user (security exception)"
                ));
                return self.exit(1);
            }
        }
        self.error("You are denied access to run this policy");
        self.exit(1);
    }

    fn uid_of(&self, name: &str) -> Option<u32> {
        if let Ok(id) = name.parse() {
            return Some(id);
        }
        let found = self.host().user(name).ok().flatten().map(|user| user.uid);
        if found.is_none() && name != "*" {
            self.info(&format!("Could not get UID for user '{name}', (getpwnam: not found)"));
        }
        found
    }
}
