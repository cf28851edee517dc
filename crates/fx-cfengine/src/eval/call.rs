//! Calling functions: arguments are expanded, nested calls made first, results cached
//! where the function is one of those.

use std::rc::Rc;

use crate::functions::{self, Given};
use crate::policy::{Call, Rval};
use crate::text::has_scalar;
use crate::vocabulary::{
    self, CACHED, COLLECTING, DELAYED, Mismatch, UNSAFE, VARIADIC, check_value,
};

use super::{Context, log};

/// Deepest nesting of calls.
const MAX_DEPTH: usize = 32;

/// Functions that start a program of the policy's choice.
const RUN_COMMANDS: [&str; 4] = ["execresult", "execresult_as_data", "returnszero", "usemodule"];

impl Context<'_> {
    /// Calls a function; `None` when it fails or its arguments are not known yet.
    pub(crate) fn call_function(&mut self, call: &Rc<Call>) -> Option<Rval> {
        self.call_at(call, 0)
    }

    fn call_at(&mut self, call: &Rc<Call>, depth: usize) -> Option<Rval> {
        if self.stopped() || depth > MAX_DEPTH {
            return None;
        }
        if !self.control.evaluate_functions {
            log!(
                self,
                Verbose,
                "Skipping function '{}', because evaluation was turned off in the evaluator",
                call.name
            );
            return None;
        }
        if self.config.no_commands && RUN_COMMANDS.contains(&&*call.name) {
            self.run.ledger.guard_not_run();
            return None;
        }
        let Some(function) = vocabulary::find_function(&call.name) else {
            let promise = self.promise_frame().map(|frame| Rc::clone(&frame.promise));
            match promise {
                Some(promise) => self.error(&format!(
                    "No such FnCall '{}' in promise '{}' near line {}",
                    call.name, promise.bundle.file, promise.line
                )),
                None => {
                    self.error(&format!("No such FnCall '{}', context info unavailable", call.name))
                }
            }
            return None;
        };
        if function.has(UNSAFE) && self.config.simulate.is_some() {
            let safe = self.current_tags().iter().any(|tag| &**tag == "simulate_safe");
            if !safe {
                log!(self, Warning, "Not calling unsafe function '{}' in simulate mode", call.name);
                return None;
            }
        }
        if !function.has(VARIADIC) && call.args.len() != function.params.len() {
            self.error(&format!(
                "Arguments to function '{}' do not tally. Expected {} not {}",
                call.name,
                function.params.len(),
                call.args.len()
            ));
            if let Some(frame) = self.promise_frame() {
                self.log_place(fx_engine::Level::Error, &frame.promise);
            }
            self.exit(1);
            return None;
        }
        let args = if function.has(DELAYED) {
            call.args.clone()
        } else {
            self.call_args(call, function.has(COLLECTING), depth)
        };
        if !function.has(DELAYED) && unresolved(&args) {
            let allowed = &*call.name == "ifelse"
                && args.len() == 3
                && !matches!(args.first(), Some(Rval::Call(_)));
            if !allowed {
                return None;
            }
        }
        let key = function.has(CACHED).then(|| cache_key(&call.name, &args));
        if let Some(key) = &key
            && self.control.cache_functions
            && !self.promise_frame().is_some_and(|frame| frame.immediate)
            && let Some(found) = self.cache.get(key)
        {
            return Some(found.clone());
        }
        for (arg, (kind, range)) in call.args.iter().zip(function.params) {
            if matches!(arg, Rval::Call(_)) {
                continue;
            }
            if let Err(mismatch) = check_value(&call.name, arg, *kind, range, true)
                && mismatch != Mismatch::Unexpanded
            {
                if let (Some(number), Rval::Scalar(text)) = (mismatch.number(), arg) {
                    self.error(&crate::text::number_problem(text, number));
                }
                self.fatal(&format!(
                    "In function '{}', error in variable '{}', '{}'",
                    call.name,
                    arg.show(),
                    mismatch.text()
                ));
                return None;
            }
        }
        if !function.has(VARIADIC) && args.len() != function.params.len() {
            // Of each argument that was wanted the first that came is logged.
            let first = args.first().map_or("?".to_owned(), Rval::show);
            self.error(&format!(
                "Argument template mismatch handling function {}( {})",
                call.name,
                Rval::List(args.into()).show()
            ));
            for (at, (_, range)) in function.params.iter().enumerate() {
                self.error(&format!("  arg[{at}] range {range}\t {first} "));
            }
            self.fatal("Bad arguments");
            return None;
        }
        let result = (function.run)(self, Given { name: &call.name, args: &args, call });
        for wrong in crate::regex::take_wrong() {
            self.error(&wrong);
        }
        let result = result?;
        if let Some(key) = key
            && self.control.cache_functions
        {
            self.cache.insert(key, result.clone());
        }
        Some(result)
    }

    fn call_args(&mut self, call: &Call, collecting: bool, depth: usize) -> Vec<Rval> {
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            let value = match arg {
                Rval::Call(inner) => self.call_at(inner, depth + 1).unwrap_or_else(|| arg.clone()),
                other => self.expand_rval(other, None, None),
            };
            match value {
                Rval::List(items) if collecting => {
                    let json = crate::json::Json::Array(
                        items.iter().map(functions::rval_to_json).collect(),
                    );
                    args.push(Rval::Data(Rc::new(json)));
                }
                Rval::List(items) => args.extend(items.iter().cloned()),
                Rval::Data(_) if !collecting => {}
                other => args.push(other),
            }
        }
        args
    }

    fn current_tags(&self) -> Vec<crate::text::Str> {
        let Some(frame) = self.promise_frame() else { return Vec::new() };
        match frame.promise.attribute("meta").map(|attribute| &attribute.value) {
            Some(Rval::List(items)) => {
                items.iter().filter_map(|item| item.as_scalar().cloned()).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn unresolved(args: &[Rval]) -> bool {
    args.iter().any(|arg| match arg {
        Rval::Data(_) => false,
        Rval::Scalar(text) => {
            has_scalar(text)
                && !["this", "this.k", "this.k[1]", "this.v"].iter().any(|name| {
                    text.contains(&format!("$({name})")) || text.contains(&format!("${{{name}}}"))
                })
        }
        _ => true,
    })
}

fn cache_key(name: &str, args: &[Rval]) -> String {
    let mut key = name.to_owned();
    for arg in args {
        key.push('\0');
        key.push_str(&arg.show());
    }
    key
}
