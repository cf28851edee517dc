//! reports: lines for people, files, and values returned to the caller of a bundle.

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::eval::value::{DataType, Value, Variable};
use fx_cfengine::outcome::Outcome;
use fx_cfengine::text::{decode, encode, has_variable, path};
use fx_engine::Level;
use fx_source::Origin;

use crate::action::Action;
use crate::agent::Agent;
use crate::change::line;
use crate::wording;

/// Keeps a reports promise.
pub(crate) fn keep(ctx: &mut Agent<'_>, promise: &Rc<Expanded>) -> Outcome {
    if !ctx.last_pass() && has_variable(&promise.promiser) {
        return Outcome::Skipped;
    }
    let locked = !ctx.acquire(promise, &promise.promiser);
    if let Some(index) = promise.scalar("bundle_return_value_index") {
        const OTHERS: [&str; 4] = ["report_to_file", "file_to_print", "showstate", "lastseen"];
        if OTHERS.iter().any(|other| promise.has(other)) {
            ctx.error(&format!(
                "bundle_return_value promise for '{}' in bundle '{}' with too many constraints (ignored)",
                promise.promiser, promise.promise.bundle.name
            ));
        }
        let name = if index.is_empty() {
            "last-result".to_owned()
        } else {
            format!("last-result[{index}]")
        };
        let variable = Variable {
            kind: DataType::String,
            value: Value::Scalar(Rc::clone(&promise.promiser)),
            tags: Rc::from(["source=bundle".into()]),
            comment: None,
        };
        let scope = Rc::clone(&promise.promise.bundle.scope);
        ctx.vars.assign(&scope, name.into(), variable);
        return Outcome::Kept;
    }
    if locked {
        return Outcome::Skipped;
    }
    if ctx.action(promise) != Action::Fix {
        if let Some(file) = promise.scalar("report_to_file") {
            ctx.withhold(&[line(file, None, Some(&promise.promiser))]);
        }
        let text = format!("Need to repair reports promise: {}", promise.promiser);
        return ctx.settle(Level::Warning, Outcome::Warn, promise, &text);
    }
    match promise.scalar("report_to_file") {
        Some(file) => {
            let text = format!("{}\n", promise.promiser);
            let added = [line(file, None, Some(&promise.promiser))];
            let text = encode(&text);
            if let Err(failure) = ctx.make(&added, |act| act.append(&path(file), &text, 0o600)) {
                ctx.error(&format!(
                    "Could not open log file '{file}', message '{}'. (fopen: {})",
                    promise.promiser,
                    wording::why(&failure)
                ));
            }
        }
        None => ctx.report(&promise.promiser),
    }
    let mut result = Outcome::Kept;
    if let Some(file) = promise.scalar("file_to_print") {
        let lines = promise.int("number_of_lines").unwrap_or(5);
        if !print_file(ctx, file, lines) {
            result = Outcome::Failed;
        }
    }
    ctx.settle_quietly(result, promise)
}

fn print_file(ctx: &Agent<'_>, file: &str, lines: i64) -> bool {
    let bytes = match ctx.host().read(&path(file)) {
        Ok(bytes) => bytes,
        Err(error) => {
            let why = fx_cfengine::reason::reason(&error);
            ctx.error(&format!("Printing of file '{file}' was not possible. (fopen: {why})"));
            return false;
        }
    };
    let text = decode(&bytes);
    let all: Vec<&str> = text.lines().collect();
    let wanted = lines.unsigned_abs() as usize;
    let skip = if lines < 0 { all.len().saturating_sub(wanted) } else { 0 };
    for line in all.iter().skip(skip).take(wanted) {
        ctx.report(line);
    }
    true
}

impl Agent<'_> {
    /// A line of a report, whatever the log level.
    pub(crate) fn report(&self, text: &str) {
        let fields = [("text".into(), fx_value::Value::from(&*encode(text)))];
        self.run.ledger.note("cf.report", &fields, &Origin::default());
    }
}
