//! Three passes over a bundle in normal order, then custom promise types in written order.

use std::borrow::Cow;
use std::rc::Rc;

use fx_cfengine::eval::frames::{Frame, PromiseFrame};
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::log;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::policy::{Bundle, Head, Promise, Rval};
use fx_cfengine::promise::{classes, vars};
use fx_engine::{Request, ResourceId, Why};
use fx_source::Origin;

use crate::agent::Agent;

use super::promise;

/// Normal order of an agent bundle.
const ORDER: &[&str] = &[
    "meta",
    "vars",
    "defaults",
    "classes",
    "users",
    "files",
    "packages",
    "guest_environments",
    "methods",
    "processes",
    "services",
    "commands",
    "storage",
    "databases",
    "reports",
];

/// Number of passes.
pub(crate) const PASSES: u32 = 3;

impl Agent<'_> {
    /// Runs a bundle whose frame is on the stack.
    pub(crate) fn run_bundle(&mut self, bundle: &Rc<Bundle>) -> Outcome {
        self.processes.clear();
        let before = self.tally;
        let result = if bundle.top_down.unwrap_or_else(|| self.control.top_down()) {
            self.run_top_down(bundle)
        } else {
            self.run_in_order(bundle)
        };
        self.log_tally(bundle, before);
        result
    }

    fn run_in_order(&mut self, bundle: &Rc<Bundle>) -> Outcome {
        let mut result = Outcome::Skipped;
        for pass in 1..=PASSES {
            self.note_pass(bundle, pass);
            for kind in ORDER {
                let Some(section) = bundle.section(kind) else { continue };
                if section.promises.is_empty() {
                    continue;
                }
                self.type_banner(kind, pass);
                self.stack.push(Frame::Section);
                for promise in &section.promises {
                    self.pass = pass;
                    let outcome = self.expand_promise(promise, &mut keep);
                    result = result.merge(outcome);
                    if self.stopped() || self.bundle_aborted {
                        break;
                    }
                }
                if *kind == "packages" && !self.stopped() {
                    promise::packages::run_scheduled(self);
                }
                if *kind == "storage" && !self.stopped() {
                    promise::storage::finish(self);
                }
                self.stack.pop();
                if self.stopped() || self.bundle_aborted {
                    self.bundle_aborted = false;
                    return result;
                }
                if *kind == "classes" {
                    self.resolve_bundle(bundle);
                    self.resolve_section(bundle, "defaults", &mut vars::default_variable);
                }
            }
            for section in bundle.sections.iter().filter(|section| !section.built_in) {
                self.stack.push(Frame::Section);
                for promise in &section.promises {
                    self.pass = pass;
                    let outcome = self.expand_promise(promise, &mut keep);
                    result = result.merge(outcome);
                    if self.stopped() || self.bundle_aborted {
                        self.stack.pop();
                        self.bundle_aborted = false;
                        return result;
                    }
                }
                self.stack.pop();
            }
        }
        result
    }

    /// Says once in which order a bundle's promise types are taken.
    pub(crate) fn note_order(&self) {
        if self.config.trace {
            let fields = [("kinds".into(), fx_value::Value::from(ORDER.join(", ")))];
            self.run.ledger.note("cf.order", &fields, &Origin::default());
        }
    }

    /// The mode of `evaluation_order => "top_down"`: three passes too, but promises as they
    /// are written, whatever their type.
    fn run_top_down(&mut self, bundle: &Rc<Bundle>) -> Outcome {
        let mut written: Vec<(&str, &Rc<Promise>)> = bundle
            .sections
            .iter()
            .flat_map(|section| section.promises.iter().map(|promise| (&*section.kind, promise)))
            .collect();
        // Sections of one type were joined; the place in the file separates them again.
        written.sort_by_key(|(_, promise)| promise.span.map(|span| span.start));
        let mut result = Outcome::Skipped;
        for pass in 1..=PASSES {
            self.note_pass(bundle, pass);
            let mut last = "";
            for (kind, promise) in &written {
                if *kind != last {
                    self.type_banner(kind, pass);
                }
                last = kind;
                self.stack.push(Frame::Section);
                self.pass = pass;
                let outcome = self.expand_promise(promise, &mut keep);
                // What waits for the end of a section has none to wait for.
                if !self.stopped() {
                    match *kind {
                        "packages" => promise::packages::run_scheduled(self),
                        "storage" => promise::storage::finish(self),
                        _ => {}
                    }
                }
                result = result.merge(outcome);
                self.stack.pop();
                if self.stopped() || self.bundle_aborted {
                    self.bundle_aborted = false;
                    return result;
                }
            }
        }
        result
    }

    fn note_pass(&self, bundle: &Bundle, pass: u32) {
        if self.config.trace {
            let fields = [
                ("bundle".into(), fx_value::Value::from(&*bundle.head.name)),
                ("pass".into(), fx_value::Value::from(pass)),
            ];
            self.run.ledger.note("cf.pass", &fields, &Origin::default());
        }
    }

    fn type_banner(&self, kind: &str, pass: u32) {
        if !self.logs(fx_engine::Level::Verbose) {
            return;
        }
        match kind {
            "classes" => {
                self.verbose("C: .........................................................");
                self.verbose(&format!("C: BEGIN classes / conditions (pass {pass})"));
            }
            "vars" => {
                self.verbose("V: .........................................................");
                self.verbose(&format!("V: BEGIN variables (pass {pass})"));
            }
            _ => {}
        }
    }

    /// Tells of the promise that was put off until its turn was certain.
    pub(crate) fn flush_banner(&mut self) {
        if let Some(expanded) = self.banner.take() {
            self.promise_banner(&expanded);
            // Once more for the bundle a service is kept by.
            if &*expanded.promise.kind == "services" {
                self.promise_banner(&expanded);
            }
        }
    }

    // How a promise ended, as people look for it in a log.
    fn status_banner(&mut self, expanded: &Expanded, outcome: Outcome) {
        self.banner = None;
        let kind = &*expanded.promise.kind;
        if outcome == Outcome::Skipped || matches!(kind, "vars" | "classes" | "meta" | "defaults") {
            return;
        }
        let word = match outcome {
            Outcome::Repaired => "REPAIRED",
            Outcome::Kept => "was KEPT",
            Outcome::Denied => "NOT KEPT - denied",
            _ => "NOT KEPT!",
        };
        match outcome {
            Outcome::Kept => self.tally.kept += 1,
            Outcome::Repaired => self.tally.repaired += 1,
            _ => self.tally.not_kept += 1,
        }
        if !self.logs(fx_engine::Level::Verbose) {
            return;
        }
        self.verbose(&format!("A: Promise {word}"));
        let name: String = expanded.promiser.chars().take(30).collect();
        let more = if expanded.promiser.chars().count() > 30 { "..." } else { "" };
        self.verbose(&format!("P: END {kind} promise ({name}{more})"));
    }

    // What became of the promises of a bundle and of those it called.
    fn log_tally(&self, bundle: &Bundle, before: Tally) {
        if !self.logs(fx_engine::Level::Verbose) {
            return;
        }
        let (name, now) = (&bundle.head.name, self.tally);
        let kept = now.kept - before.kept;
        let repaired = now.repaired - before.repaired;
        let not_kept = now.not_kept - before.not_kept;
        self.verbose("A: ...................................................");
        self.verbose(&format!(
            "A: Bundle Accounting Summary for '{name}' in namespace {}",
            bundle.head.namespace
        ));
        let all = kept + repaired + not_kept;
        if all == 0 {
            self.verbose(&format!("A: Zero promises executed for bundle '{name}'"));
        } else {
            self.verbose(&format!("A: Promises kept in '{name}' = {kept}"));
            self.verbose(&format!("A: Promises not kept in '{name}' = {not_kept}"));
            self.verbose(&format!("A: Promises repaired in '{name}' = {repaired}"));
            let compliance = f64::from(kept + repaired) / f64::from(all) * 100.0;
            self.verbose(&format!(
                "A: Aggregate compliance (promises kept/repaired) for bundle '{name}' = {compliance:.1}%"
            ));
        }
        self.verbose("A: ...................................................");
    }

    /// After the last bundle.
    pub(crate) fn log_end(&self) {
        if !self.logs(fx_engine::Level::Verbose) {
            return;
        }
        self.verbose("Waiting for background processes");
        self.verbose("No more background processes to wait for");
        let version = self.policy_version().unwrap_or_else(|| "(not specified)".into());
        let tally = self.tally;
        let total = f64::from(tally.kept + tally.repaired + tally.not_kept) / 100.0;
        // Nothing at all is what C prints for zero by zero.
        let part = |count: u32| {
            if total == 0.0 {
                "-nan".to_owned()
            } else {
                format!("{:.2}", f64::from(count) / total)
            }
        };
        self.verbose(&format!(
            "Logging total compliance, total 'Outcome of version {version} (agent-0): Promises observed to be kept {}%, Promises repaired {}%, Promises not repaired {}%'",
            part(tally.kept),
            part(tally.repaired),
            part(tally.not_kept)
        ));
    }

    pub(crate) fn promise_banner(&self, expanded: &Expanded) {
        if !self.logs(fx_engine::Level::Verbose) {
            return;
        }
        let promise = &expanded.promise;
        let handle = self.promise_frame().map(PromiseFrame::handle).unwrap_or_default();
        self.verbose("P: .........................................................");
        self.verbose(&format!(
            "P: BEGIN promise '{handle}' of type \"{}\" (pass {})",
            promise.kind, self.pass
        ));
        self.verbose(&format!("P:    Promiser/affected object: '{}'", brief(&expanded.promiser)));
        let args = &promise.bundle.args;
        if args.is_empty() {
            self.verbose(&format!("P:    Part of bundle: {}", promise.bundle.name));
        } else {
            let given = args.iter().filter_map(|arg| {
                self.vars.get(&promise.bundle.scope, arg).map(|found| found.value().to_rval())
            });
            let given = Rval::List(given.collect()).show();
            let name = &promise.bundle.name;
            self.verbose(&format!("P:    From parameterized bundle: {name}( {given})"));
        }
        self.verbose(&format!("P:    Base context class: {}", promise.guard));
        let condition = expanded.get("if").or_else(|| expanded.get("ifvarclass"));
        if let Some(condition) = condition {
            self.verbose(&format!("P:    \"if\" class condition: {}", condition.show()));
        } else if let Some(condition) = expanded.get("unless") {
            self.verbose(&format!("P:    \"unless\" class condition: {}", condition.show()));
        }
        self.verbose(&format!("P:    Stack path: {}", self.stack_path()));
        if let Some(comment) = &expanded.comment {
            self.verbose("P:");
            self.verbose(&format!("P:    Comment:  {comment}"));
        }
    }

    // Bundles, types and promises that led here, with the number of the iteration.
    fn stack_path(&self) -> String {
        let mut path = String::new();
        let mut turn = 0;
        for frame in &self.stack {
            match frame {
                Frame::Bundle(bundle) => {
                    path.push_str(&format!("/{}/{}", bundle.head.namespace, bundle.head.name));
                }
                Frame::Promise(frame) => {
                    path.push_str(&format!("/{}", frame.promise.kind));
                    turn = frame.turn;
                }
                Frame::Iteration(expanded) => {
                    path.push_str(&format!("/'{}'", brief(&expanded.promiser)));
                }
                Frame::Section | Frame::Body { .. } => {}
            }
        }
        format!("{path}[{turn}]")
    }

    /// Opens a step in the ledger around an act, and closes it with the outcome.
    pub(crate) fn in_step(
        &mut self,
        expanded: &Rc<Expanded>,
        act: impl FnOnce(&mut Agent<'_>, &Rc<Expanded>) -> Outcome,
    ) -> Outcome {
        // These are logged when it is certain that they are not done yet.
        match &*expanded.promise.kind {
            "reports" | "methods" | "commands" | "processes" | "services"
            | "guest_environments" => self.banner = Some(Rc::clone(expanded)),
            "users" | "files" | "packages" | "storage" | "databases" => {
                self.promise_banner(expanded);
            }
            // Promises of modules have none.
            _ => {}
        }
        let outcome = self.in_ledger(expanded, act);
        self.status_banner(expanded, outcome);
        outcome
    }

    fn in_ledger(
        &mut self,
        expanded: &Rc<Expanded>,
        act: impl FnOnce(&mut Agent<'_>, &Rc<Expanded>) -> Outcome,
    ) -> Outcome {
        let promise = &expanded.promise;
        let id = ResourceId::new(promise.kind.to_string(), Rc::clone(&expanded.promiser));
        let mut request = Request::new(id, "keep");
        (request.phase, request.why) = self.words.of(promise, self.pass);
        if let Some(others) = expanded.list("depends_on") {
            let words = format!("{}, depends_on {}", request.why, others.join(", "));
            request.why = request.why.worded(words);
        }
        if let Some(span) = promise.span {
            request.origin = Origin::at(span);
        }
        request.mode = self.mode(expanded);
        if &*promise.kind == "reports" {
            request.purpose = fx_engine::Purpose::Tell;
        }
        let attempt = self.run.open(request);
        let step = attempt.id();
        // The copy has processes of its own only.
        if &*promise.kind == "processes" && self.run.ledger.in_copy() {
            self.run.ledger.not_seen(step);
        }
        if &*promise.kind == "packages" {
            attempt.installs();
        } else if !foreseeable(expanded) {
            attempt.open_ended();
        }
        let outer = self.why.begin();
        let outcome = act(self, expanded);
        let cause = self.why.end(outer, outcome.is_failure());
        // What an earlier pass has dealt with is one promise, not two.
        if outcome == Outcome::Skipped && self.pass > 1 {
            self.run.ledger.uncount(step);
        }
        let ended = match outcome.shared(cause) {
            // What is put down for later says so before it is known to be withheld.
            fx_engine::Outcome::Repaired if !attempt.makes_changes() => {
                fx_engine::Outcome::WouldRepair
            }
            ended => ended,
        };
        attempt.close(ended);
        outcome
    }
}

/// Whether all that keeping the promise does can be known beforehand. The others run commands.
pub(crate) fn foreseeable(promise: &Expanded) -> bool {
    match &*promise.promise.kind {
        "files" => promise.scalar("transformer").is_none(),
        "commands" | "packages" | "processes" | "services" | "storage" | "databases"
        | "guest_environments" => false,
        kind => fx_cfengine::vocabulary::is_built_in(kind),
    }
}

// A promiser of several lines is shown by the first and the last of them.
fn brief(promiser: &str) -> Cow<'_, str> {
    const LONGEST: usize = 19;
    let (Some((first, _)), Some((_, last))) =
        (promiser.split_once('\n'), promiser.rsplit_once('\n'))
    else {
        return Cow::Borrowed(promiser);
    };
    let cut = |text: &str| -> String { text.chars().take(LONGEST).collect() };
    Cow::Owned(format!("{}...{}", cut(first), cut(last)))
}

/// How many promises ended how.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) kept: u32,
    pub(crate) repaired: u32,
    pub(crate) not_kept: u32,
}

/// The words of a step, shared by all steps they are the same for: a long bundle
/// has tens of thousands of them.
#[derive(Default)]
pub(crate) struct Words {
    phases: Vec<Rc<str>>,
    /// The bundle's head, the guard, and what they make.
    last: Option<(Rc<Head>, Rc<str>, Why)>,
}

impl Words {
    fn of(&mut self, promise: &Promise, pass: u32) -> (Rc<str>, Why) {
        while self.phases.len() <= pass as usize {
            self.phases.push(format!("pass {}", self.phases.len()).into());
        }
        let phase = Rc::clone(&self.phases[pass as usize]);
        if let Some((known, guard, why)) = &self.last
            && Rc::ptr_eq(known, &promise.bundle)
            && *guard == promise.guard
        {
            return (phase, why.clone());
        }
        let why = fx_cfengine::why_of(promise);
        self.last = Some((Rc::clone(&promise.bundle), Rc::clone(&promise.guard), why.clone()));
        (phase, why)
    }
}

/// Acts on a promise of any type.
pub(crate) fn keep(ctx: &mut Agent<'_>, expanded: &Rc<Expanded>) -> Outcome {
    let kind = &*expanded.promise.kind;
    let outcome = match kind {
        "vars" | "meta" => {
            log!(ctx, Verbose, "V:     Computing value of '{}'", expanded.promiser);
            vars::keep_among_others(ctx, expanded)
        }
        "defaults" => vars::default_variable(ctx, expanded),
        "classes" => classes::keep(ctx, expanded),
        _ => ctx.in_step(expanded, |ctx, expanded| match kind {
            "reports" => promise::reports::keep(ctx, expanded),
            "methods" => promise::methods::keep(ctx, expanded),
            "commands" => promise::commands::keep(ctx, expanded),
            "files" => promise::files::keep(ctx, expanded),
            "processes" => promise::processes::keep(ctx, expanded),
            "services" => promise::services::keep(ctx, expanded),
            "packages" => promise::packages::keep(ctx, expanded),
            "users" => promise::users::keep(ctx, expanded),
            "storage" => promise::storage::keep(ctx, expanded),
            "databases" => promise::databases::keep(ctx, expanded),
            "guest_environments" => promise::guest_environments::keep(ctx, expanded),
            _ => promise::custom::keep(ctx, expanded),
        }),
    };
    log!(ctx, Debug, "{kind} promise '{}': {outcome:?}", expanded.promiser);
    ctx.note_handle(expanded, outcome);
    outcome
}
