//! Messages to the log.

use fx_engine::Level;
use fx_source::Origin;

use super::{Call, Native, native};
use crate::eval::{Evaluated, interpolated};
use crate::value::Value;

pub(super) static TABLE: &[Native] = &[
    native("notice", &["Any values*"], |call| say(call, Level::Notice)),
    native("warning", &["Any values*"], |call| say(call, Level::Warning)),
    native("err", &["Any values*"], |call| say(call, Level::Error)),
    native("info", &["Any values*"], |call| say(call, Level::Info)),
    native("debug", &["Any values*"], |call| say(call, Level::Debug)),
    native("alert", &["Any values*"], |call| shout(call, "alert")),
    native("crit", &["Any values*"], |call| shout(call, "crit")),
    native("emerg", &["Any values*"], |call| shout(call, "emerg")),
];

fn text(call: &Call<'_>) -> String {
    let words: Vec<String> = call.args.iter().map(interpolated).collect();
    format!("Scope({}): {}", call.scope.frame.name, words.join(" "))
}

fn say(call: &Call<'_>, level: Level) -> Evaluated {
    call.evaluator.run.ledger.message(level, &text(call), &Origin::at(call.span));
    Ok(Value::Undef)
}

/// Levels that only this language has.
fn shout(call: &Call<'_>, level: &'static str) -> Evaluated {
    let fields = [
        ("level".into(), fx_value::Value::from(level)),
        ("text".into(), fx_value::Value::from(text(call).as_str())),
    ];
    call.evaluator.run.ledger.note("puppet.log", &fields, &Origin::at(call.span));
    Ok(Value::Undef)
}
