//! Evaluation state: the policy, variables, classes, the stack, and what a run remembers.
//!
//! One context a run, passed down as `&mut`. It schedules nothing: which bundle and which
//! promise is next is decided in `agent`.

pub(crate) mod bundle;
pub(crate) mod call;
pub mod classes;
pub(crate) mod expand;
pub mod expr;
pub mod frames;
pub(crate) mod iterate;
mod machine;
pub mod persistent;
pub mod promise;
pub(crate) mod resolve;
pub(crate) mod table_order;
pub mod value;
pub mod vars;
pub(crate) mod why_not;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use fx_engine::{Level, Run};
use fx_source::{Origin, SourceMap};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::config::Config;
use crate::policy::{Policy, Rval};
use crate::text::Str;

use classes::{ClassTable, Persistent};
use expr::Expr;
use frames::Frame;
use vars::{Scope, Variables};

/// Why and how the run ends before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Exit status.
    pub code: u8,
}

/// Everything evaluation needs.
pub struct Context<'a> {
    pub run: Run<'a>,
    pub(crate) sources: &'a SourceMap,
    pub config: Config,
    pub policy: Rc<Policy>,
    pub vars: Variables,
    /// Variables of `sys` that few ask for.
    pub(crate) late_sys: OnceCell<Scope>,
    pub matches: Scope,
    pub(crate) hard: ClassTable,
    pub(crate) soft: ClassTable,
    pub(crate) negated: FxHashSet<Str>,
    pub(crate) persistent: Persistent,
    pub stack: Vec<Frame>,
    /// The directory commands start in: ours, until a files promise moves us.
    pub cwd: Str,
    /// 0 before evaluation proper, then 1 to 3.
    pub pass: u32,
    pub stop: Option<Stop>,
    /// Digests of promises that have been acted on in this run.
    pub done: FxHashSet<u128>,
    /// Handles of promises that were kept or repaired.
    pub(crate) handles: FxHashSet<Str>,
    pub(crate) cache: FxHashMap<String, Rval>,
    pub(crate) exprs: RefCell<FxHashMap<Str, Option<Rc<Expr>>>>,
    pub control: Control,
    pub level: Cell<Level>,
    /// Where in the policy a check is, for what it has to say.
    pub(crate) place: Cell<Option<fx_source::Span>>,
    /// Messages of level info, while they are buffered.
    pub(crate) log_buffer: RefCell<Option<Vec<String>>>,
    pub bundle_aborted: bool,
    /// Whether a body put in place last has a guard, so that it may come out otherwise.
    pub(crate) body_guarded: bool,
    /// Whether the promise at hand was found to be acted on now.
    pub acquired: bool,
    /// Whether the promise under way says the same again in each pass.
    pub repeats: bool,
    pub(crate) bundle_names: FxHashSet<Str>,
    /// Why the promise at hand is not kept, as far as is known.
    pub why: crate::why::Why,
    /// Promises that were passed over since the last look, where reasons are wanted.
    pub passed_over: Vec<why_not::PassedOver>,
    /// The process table, once it was read.
    pub processes: crate::process_table::Cache,
    /// Names of default bodies that exist, so that promises without need not ask.
    pub(crate) default_bodies: FxHashSet<Str>,
    pub(crate) validated_only: bool,
    /// Policy files as they were parsed.
    pub(crate) parsed: Vec<fx_source::FileId>,
    /// The machine's time zone, once it was asked for.
    pub(crate) zone: OnceCell<jiff::tz::TimeZone>,
}

/// Settings from control bodies that evaluation asks for often.
#[derive(Debug, Default)]
pub struct Control {
    pub ignore_missing_bundles: bool,
    pub(crate) ignore_missing_inputs: bool,
    pub(crate) cache_functions: bool,
    pub(crate) abort_classes: Vec<Str>,
    pub(crate) abort_bundle_classes: Vec<Str>,
    pub(crate) evaluate_functions: bool,
    pub package_inventory: Vec<Str>,
    pub package_module: Option<Str>,
    pub select_end_match_eof: bool,
    pub(crate) domain: Option<Str>,
    /// Where commands look for libraries.
    pub(crate) child_library_path: Option<Str>,
    /// Variables that commands get.
    pub(crate) environment: Vec<(Str, Str)>,
    /// Whether `body common control` asks for promises in written order.
    pub(crate) top_down_common: bool,
    /// All control bodies, evaluated, by the tool that they are for.
    pub bodies: BTreeMap<Str, BTreeMap<Str, Rval>>,
    /// `body agent control`, evaluated.
    pub agent: BTreeMap<Str, Rval>,
}

impl Control {
    /// A setting of a control body, as text.
    pub fn text(&self, body: &str, name: &str) -> Option<&Str> {
        self.bodies.get(body)?.get(name)?.as_scalar()
    }

    /// A setting of a control body that says yes or no.
    pub fn truth(&self, body: &str, name: &str) -> Option<bool> {
        self.text(body, name).and_then(|text| crate::text::bool_from(text))
    }

    /// A setting of a control body that is a number.
    pub fn number(&self, body: &str, name: &str) -> Option<i64> {
        self.text(body, name).and_then(|text| crate::text::int_from(text))
    }

    /// A setting of a control body that is a list; one text is a list of one.
    pub fn list(&self, body: &str, name: &str) -> Vec<Str> {
        match self.bodies.get(body).and_then(|known| known.get(name)) {
            Some(Rval::List(items)) => {
                items.iter().filter_map(|item| item.as_scalar().cloned()).collect()
            }
            Some(Rval::Scalar(text)) => vec![Rc::clone(text)],
            _ => Vec::new(),
        }
    }

    /// Whether promises are kept as they are written; the agent's word comes first.
    pub fn top_down(&self) -> bool {
        match self.agent.get("evaluation_order").and_then(Rval::as_scalar) {
            Some(order) => &**order == "top_down",
            None => self.top_down_common,
        }
    }
}

impl Context<'_> {
    /// Whether policy is only checked, as cf-promises does.
    pub(crate) fn checks_only(&self) -> bool {
        self.config.component == crate::load::lower::Component::Promises
    }

    /// Whether a message of this level is wanted now.
    pub fn logs(&self, level: Level) -> bool {
        level <= self.level.get()
    }

    /// Says something, if its level is wanted.
    pub fn log(&self, level: Level, text: &str) {
        if !self.logs(level) {
            return;
        }
        self.vars.note_change();
        // One line end at the end of a message is not part of it.
        let text = text.strip_suffix('\n').unwrap_or(text);
        if level == Level::Info
            && let Some(buffer) = self.log_buffer.borrow_mut().as_mut()
        {
            buffer.push(text.to_owned());
            return;
        }
        let origin = self.place.get().map_or_else(Origin::default, Origin::at);
        self.run.ledger.message(level, text, &origin);
    }

    /// From now on messages of level info are kept, for the caller to log or drop, as the original
    /// does with edits of files that do not change in the end. What was kept before is given
    /// back.
    pub fn buffer_log(&self) -> Option<Vec<String>> {
        self.log_buffer.replace(Some(Vec::new()))
    }

    /// What was kept since [`Context::buffer_log`]; `outer` is what that gave.
    pub fn end_buffer(&self, outer: Option<Vec<String>>) -> Vec<String> {
        self.log_buffer.replace(outer).unwrap_or_default()
    }

    /// What was said so far is to be seen: something that may take long comes next.
    pub fn show_now(&self) {
        self.run.ledger.flush();
    }

    // What stands before lines for the curious, from now on.
    pub(crate) fn note_prefix(&self, prefix: &str) {
        let fields = [("text".into(), fx_value::Value::from(prefix))];
        self.run.ledger.note("cf.prefix", &fields, &Origin::default());
    }

    pub fn error(&self, text: &str) {
        self.why.logged(text);
        self.log(Level::Error, text);
    }

    pub fn warning(&self, text: &str) {
        self.log(Level::Warning, text);
    }

    pub fn info(&self, text: &str) {
        self.log(Level::Info, text);
    }

    pub fn verbose(&self, text: &str) {
        self.log(Level::Verbose, text);
    }

    /// Ends the run with an error; code that is already under way finishes harmlessly.
    pub fn fatal(&mut self, text: &str) {
        if self.stop.is_none() {
            self.error(&format!("Fatal CFEngine error: {text}"));
            self.stop = Some(Stop { code: 1 });
        }
    }

    /// What is said of a promise of a mode in every pass.
    pub fn log_default_rxdirs(&self, promise: &crate::policy::Promise, promiser: &str) {
        self.warning(&format!(
            "Using the default value 'false' for attribute rxdirs (promiser: {promiser}, file: {}:{}), please set it explicitly",
            promise.bundle.file, promise.line
        ));
    }

    /// Says where a promise stands, after what was said of it.
    pub fn log_place(&self, level: Level, promise: &crate::policy::Promise) {
        let bundle = &promise.bundle;
        self.log(
            level,
            &format!(
                "Promise belongs to bundle '{}' in file '{}' near line {}",
                bundle.name, bundle.file, promise.line
            ),
        );
        if let Some(comment) = promise.scalar("comment") {
            let comment = self.expand(comment, None, Some("this"));
            self.log(level, &format!("Comment is '{comment}'"));
        }
        match self.expand_rval(&promise.promisee, None, Some("this")) {
            Rval::Scalar(to) => self.log(level, &format!("This was a promise to '{to}'")),
            to @ Rval::List(_) => {
                let to = crate::policy_text::value(&to);
                self.log(level, &format!("This was a promise to '{to}'"));
            }
            _ => {}
        }
    }

    /// Ends the run with an exit status, the message having been given.
    pub(crate) fn exit(&mut self, code: u8) {
        if self.stop.is_none() {
            self.stop = Some(Stop { code });
        }
    }

    /// The exit status, as far as is known.
    pub fn status(&self) -> u8 {
        self.stop.map_or(0, |stop| stop.code)
    }

    pub fn stopped(&self) -> bool {
        self.stop.is_some() || self.run.cancel.is_cancelled()
    }

    /// Whether this is the last pass, in which what is unresolved stays so.
    pub fn last_pass(&self) -> bool {
        self.pass == 3
    }
}

/// `format!` only when the level is wanted.
#[macro_export]
macro_rules! log {
    ($ctx:expr, $level:ident, $($arg:tt)*) => {
        if $ctx.logs(fx_engine::Level::$level) {
            $ctx.log(fx_engine::Level::$level, &format!($($arg)*));
        }
    };
}
pub(crate) use log;
