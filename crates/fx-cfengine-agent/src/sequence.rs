//! The bundle sequence: from the command line, from policy, or `main`.

use std::rc::Rc;

use fx_cfengine::log;
use fx_cfengine::policy::{Bundle, Rval};
use fx_cfengine::text::Str;

use crate::agent::Agent;

const STARS: &str = "*****************************************************************";

impl Agent<'_> {
    /// Runs the bundles of the sequence.
    pub(crate) fn run_sequence(&mut self) {
        if self.config.bundles.is_some() {
            self.info("Using command line specified bundlesequence");
        }
        if !self.verify_sequence() {
            return;
        }
        let sequence = self.sequence();
        log!(
            self,
            Verbose,
            "Using bundlesequence =>  {}",
            Rval::List(sequence.clone().into()).show()
        );
        for item in &sequence {
            let (name, args): (Str, &[Rval]) = match item {
                Rval::Scalar(name) => (Rc::clone(name), &[]),
                Rval::Call(call) => (Rc::clone(&call.name), &call.args),
                _ => continue,
            };
            let Some(bundle) = self.agent_bundle(&name) else {
                log!(self, Verbose, "Ignoring missing bundle '{name}'");
                continue;
            };
            self.bundle_banner(&bundle, args);
            self.push_bundle(&bundle, args, false);
            if !self.stopped() {
                self.run_bundle(&bundle);
            }
            self.stack.pop();
            self.end_banner(&bundle);
            self.bundle_aborted = false;
            if self.stopped() {
                break;
            }
        }
    }

    pub(crate) fn bundle_banner(&self, bundle: &Bundle, args: &[Rval]) {
        if !self.logs(fx_engine::Level::Verbose) {
            return;
        }
        let args: Vec<String> =
            args.iter().map(Rval::show).map(|arg| format!("\"{arg}\"")).collect();
        let shown =
            if args.is_empty() { String::new() } else { format!("( {{{}}})", args.join(",")) };
        self.verbose(&format!("B: {STARS}"));
        self.verbose(&format!("B: BEGIN bundle {}{shown}", bundle.head.name));
        self.verbose(&format!("B: {STARS}"));
    }

    pub(crate) fn end_banner(&self, bundle: &Bundle) {
        log!(self, Verbose, "B: {STARS}");
        log!(self, Verbose, "B: END bundle {}", bundle.head.name);
        log!(self, Verbose, "B: {STARS}");
    }
}
