//! Server bundles: what they promise, evaluated in their order.

use std::rc::Rc;

use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::outcome::Outcome;
use crate::policy::Bundle;
use crate::promise::{classes, vars};

/// Normal order of a server bundle. Access comes after roles: at a request it is the other way
/// round, but both are known by then.
const ORDER: &[&str] = &["vars", "classes", "roles", "access"];

/// What server bundles promise.
#[derive(Default)]
pub struct ServerPolicy {
    pub roles: Vec<Rc<Expanded>>,
    pub access: Vec<Rc<Expanded>>,
}

impl Context<'_> {
    /// Evaluates common bundles, then server bundles, whatever the bundle sequence is.
    pub fn evaluate_server(&mut self) -> ServerPolicy {
        let mut promised = ServerPolicy::default();
        let policy = Rc::clone(&self.policy);
        self.pass = 1;
        for kind in ["common", "server"] {
            for bundle in policy.bundles.iter().filter(|bundle| &*bundle.head.kind == kind) {
                if kind == "server" && !bundle.head.args.is_empty() {
                    let name = &bundle.head.name;
                    self.warning(&format!(
                        "Cannot implicitly evaluate bundle 'server {name}', as this bundle takes arguments."
                    ));
                    continue;
                }
                self.push_bundle(bundle, &[], false);
                self.evaluate_sections(bundle, &mut promised);
                self.stack.pop();
                if self.stopped() {
                    return promised;
                }
            }
        }
        promised
    }

    fn evaluate_sections(&mut self, bundle: &Rc<Bundle>, promised: &mut ServerPolicy) {
        self.resolve_section(bundle, "meta", &mut vars::keep);
        for kind in ORDER {
            self.note_section(bundle, kind);
            match *kind {
                "vars" => self.resolve_section(bundle, kind, &mut vars::keep),
                "classes" => self.resolve_section(bundle, kind, &mut classes::keep),
                _ => {
                    let into =
                        if *kind == "roles" { &mut promised.roles } else { &mut promised.access };
                    self.resolve_section(bundle, kind, &mut |ctx, expanded| {
                        ctx.note_taken("server", expanded);
                        into.push(Rc::clone(expanded));
                        Outcome::Kept
                    });
                }
            }
        }
    }

    /// Names of all classes that hold.
    pub fn class_names(&self) -> Vec<String> {
        self.hard.keys().chain(self.soft.keys()).map(ToString::to_string).collect()
    }
}
