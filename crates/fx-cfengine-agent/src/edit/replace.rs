//! replace_patterns: what a pattern matches is replaced, line by line, until it no longer
//! matches.

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::eval::vars::Scope;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::regex;
use fx_cfengine::text::{Str, decode, encode};
use fx_engine::Level;

use crate::action::Action;
use crate::agent::Agent;
use crate::change::line as line_of;

use super::bundle::{Edit, conclude};
use super::region;

/// Most replacements on one line.
const MAX_REPLACE: u32 = 21;

/// Keeps a replace_patterns promise.
pub(super) fn replace(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, edit: &mut Edit) -> Outcome {
    let name = Rc::clone(&promise.promiser);
    let Some(value) = promise.scalar("replace_value").cloned() else {
        let text = format!("The promised pattern replace '{name}' has no replacement string");
        return ctx.settle(Level::Error, Outcome::Failed, promise, &text);
    };
    let range = match region::lines_of(ctx, promise, &edit.lines, &edit.file, "pattern replace") {
        Ok(range) => range,
        Err(outcome) => return outcome,
    };
    if !ctx.acquire(promise, &format!("replace-{name}-{}", edit.file)) {
        return Outcome::Skipped;
    }
    let once = promise.scalar("occurrences").is_some_and(|word| &**word == "first");
    if once {
        ctx.warning("Setting replace-occurrences policy to 'first' is not convergent");
    }
    let mut result = Outcome::Kept;
    let mut found_any = false;
    for at in range {
        let Some(line) = edit.lines.get(at).cloned() else { break };
        let (text, replaced) = replace_line(ctx, promise, &name, &value, &line, once);
        found_any |= replaced;
        let anchored = name.starts_with('^') && name.ends_with('$');
        if !anchored && regex::find(&name, &text).is_some() {
            let message = format!(
                "Promised replacement '{text}' on line '{line}' for pattern '{name}' is not convergent while editing '{}' (regular expression matches the replacement string)",
                edit.file
            );
            result =
                result.merge(ctx.settle(Level::Error, Outcome::Interrupted, promise, &message));
            ctx.log_place(Level::Error, &promise.promise);
            break;
        }
        // A dry run logs it for every line, whether the pattern is in it or not.
        let rehearsing = ctx.action(promise) != Action::Fix;
        if !replaced && !rehearsing {
            continue;
        }
        if rehearsing {
            let should = format!("replace pattern '{name}' in '{}'", edit.file);
            if replaced {
                let edited = [line_of(&edit.file, Some(&line), Some(&text))];
                ctx.may_edit(promise, &mut result, &edited, &should);
            } else {
                ctx.should(promise, &mut result, &should);
            }
            continue;
        }
        edit.lines.set(at, text.as_str().into());
        edit.lines.edits += 1;
        let message = format!("Replaced pattern '{name}' in '{}'", edit.file);
        result = result.merge(ctx.settle(Level::Info, Outcome::Repaired, promise, &message));
        if once {
            break;
        }
        if regex::find(&name, &text).is_some() {
            let message = format!(
                "Promised replacement '{text}' for pattern '{name}' is not properly convergent while editing '{}' (pattern still matches the end-state replacement string '{text}', consider use of a negative look ahead)",
                edit.file
            );
            result =
                result.merge(ctx.settle(Level::Error, Outcome::Interrupted, promise, &message));
        }
    }
    if !found_any {
        let message = format!("No match for pattern '{name}' in '{}'", edit.file);
        ctx.settle(Level::Verbose, Outcome::Kept, promise, &message);
    }
    ctx.matches = Scope::default();
    conclude(ctx, promise, "replace_patterns", result)
}

fn replace_line(
    ctx: &mut Agent<'_>,
    promise: &Expanded,
    pattern: &str,
    value: &Str,
    line: &str,
    once: bool,
) -> (String, bool) {
    let head = Rc::clone(&promise.promise.bundle);
    let Some(compiled) = regex::compile(pattern) else { return (line.to_owned(), false) };
    let mut bytes = encode(line).into_owned();
    let mut replaced = false;
    let mut matched = 0;
    let mut rounds = 1;
    while let Some(found) = regex::captures_bytes(&compiled, &bytes, 0) {
        if matched == bytes.len() {
            break;
        }
        rounds += 1;
        if rounds > MAX_REPLACE {
            break;
        }
        matched = found.end - found.start;
        ctx.matches = Scope::default();
        ctx.put_matches(&found);
        let new = ctx.expand_text(value, Some(&head.namespace), Some(&head.name));
        bytes.splice(found.start..found.end, encode(&new).iter().copied());
        replaced = true;
        if once {
            break;
        }
    }
    (decode(&bytes), replaced)
}
