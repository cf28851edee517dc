//! edit_line bundles: three passes in their own order, inserting and deleting lines.

use std::rc::Rc;

use fx_cfengine::eval::frames::Frame;
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::policy::Bundle;
use fx_cfengine::promise::{classes, vars};
use fx_cfengine::regex;
use fx_cfengine::text::{Str, decode, path};
use fx_engine::Level;

use crate::agent::Agent;
use crate::change::line as line_of;
use crate::promise;

use super::lines::{Lines, Marks};
use super::region::{self, Region, line_selected, match_chunk, same_line};

/// Normal order of an edit_line bundle.
const ORDER: &[&str] = &[
    "vars",
    "classes",
    "delete_lines",
    "field_edits",
    "insert_lines",
    "replace_patterns",
    "reports",
];

/// A file being edited.
pub(crate) struct Edit {
    pub(crate) file: Str,
    pub(crate) lines: Lines,
    /// Whether the lines are those of a template, which replace what the file has.
    pub(crate) rendering: bool,
    /// Lines that would be inserted, in their order.
    pub(crate) withheld: Vec<Str>,
}

/// Runs an edit_line bundle whose frame is on the stack.
pub(crate) fn run(ctx: &mut Agent<'_>, bundle: &Rc<Bundle>, edit: &mut Edit, empty_before: bool) {
    ctx.put_edit("filename", Rc::clone(&edit.file));
    ctx.put_edit("empty_before_use", if empty_before { "true" } else { "false" });
    let outer = ctx.pass;
    for pass in 1..=crate::passes::PASSES {
        for kind in ORDER {
            let Some(section) = bundle.section(kind) else { continue };
            ctx.stack.push(Frame::Section);
            for item in &section.promises {
                ctx.pass = pass;
                ctx.expand_promise(item, &mut |ctx, expanded| {
                    log_edit(ctx, expanded, outer);
                    keep(ctx, expanded, edit)
                });
                ctx.banner = None;
                if ctx.stopped() || ctx.bundle_aborted {
                    break;
                }
            }
            ctx.stack.pop();
            if ctx.stopped() || ctx.bundle_aborted {
                ctx.bundle_aborted = false;
                ctx.pass = outer;
                return;
            }
        }
    }
    ctx.pass = outer;
}

// What -v logs of an edit: the pass is that of the files promise, a class that is defined has
// none, and a report that is made has one more.
fn log_edit(ctx: &mut Agent<'_>, expanded: &Rc<Expanded>, outer: u32) {
    if !ctx.logs(Level::Verbose) {
        return;
    }
    let kind = &*expanded.promise.kind;
    if kind == "classes" && ctx.defined(&fx_cfengine::text::canonify(&expanded.promiser)) {
        return;
    }
    let pass = std::mem::replace(&mut ctx.pass, outer);
    ctx.promise_banner(expanded);
    ctx.pass = pass;
    if kind == "reports" {
        ctx.banner = Some(Rc::clone(expanded));
    }
}

fn keep(ctx: &mut Agent<'_>, expanded: &Rc<Expanded>, edit: &mut Edit) -> Outcome {
    let outcome = match &*expanded.promise.kind {
        "vars" | "meta" => vars::keep_among_others(ctx, expanded),
        "classes" => classes::keep(ctx, expanded),
        "delete_lines" => delete_lines(ctx, expanded, edit),
        "insert_lines" => insert_lines(ctx, expanded, edit),
        "field_edits" => super::fields::edit(ctx, expanded, edit),
        "replace_patterns" => super::replace::replace(ctx, expanded, edit),
        "reports" => promise::reports::keep(ctx, expanded),
        _ => Outcome::Kept,
    };
    ctx.note_handle(expanded, outcome);
    outcome
}

/// Says how an edit promise ended, in the original's words.
pub(super) fn conclude(
    ctx: &mut Agent<'_>,
    promise: &Expanded,
    kind: &str,
    result: Outcome,
) -> Outcome {
    let name = &promise.promiser;
    match result {
        Outcome::Kept => ctx.settle(
            Level::Verbose,
            result,
            promise,
            &format!("No changes done for the {kind} promise '{name}'"),
        ),
        Outcome::Repaired => {
            let text = format!("{kind} promise '{name}' repaired");
            ctx.settle_last(Level::Info, result, promise, &text)
        }
        Outcome::Warn => ctx.settle_last(
            Level::Warning,
            result,
            promise,
            &format!("Warnings encountered when actuating {kind} promise '{name}'"),
        ),
        _ => ctx.settle_last(
            Level::Error,
            result,
            promise,
            &format!("Errors encountered when actuating {kind} promise '{name}'"),
        ),
    }
}

fn delete_lines(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, edit: &mut Edit) -> Outcome {
    let name = Rc::clone(&promise.promiser);
    let not_matching = promise.bool("not_matching").unwrap_or(false);
    if name.contains('\n') && not_matching {
        ctx.error("Makes no sense to promise multi-line delete with not_matching. Cannot be satisfied for all lines as a block.");
    }
    let include_start = promise.bool("include_start_delimiter").unwrap_or(false);
    let include_end = promise.bool("include_end_delimiter").unwrap_or(false);
    let mut found = Region::default();
    if promise.has("select_region") {
        match region::select(ctx, promise, &edit.lines, &edit.file) {
            Some(selected) => found = selected,
            None => {
                let why = if include_start || include_end {
                    "this is a good thing, as policy suggests deleting the markers"
                } else {
                    "but the delimiters were expected in the file"
                };
                let text = format!(
                    "The promised line deletion '{name}' could not select an edit region in '{}' ({why})",
                    edit.file
                );
                return ctx.settle(Level::Error, Outcome::Interrupted, promise, &text);
            }
        }
        if found.end.is_none()
            && let Some(outcome) = endless(ctx, promise, edit, "delete")
        {
            return outcome;
        }
    }
    if !ctx.acquire(promise, &format!("deleteline-{name}-{}", edit.file)) {
        return Outcome::Skipped;
    }
    let chunk: Vec<&str> = name.split('\n').collect();
    let mut result = Outcome::Kept;
    let first = found.begin.map_or(0, |begin| if include_start { begin } else { begin + 1 });
    let last = found.end.map(|end| if include_end { end + 1 } else { end });
    // A literal line that is nowhere in the file needs no scan.
    let absent = !not_matching
        && chunk.iter().any(|line| regex::is_literal(line) && !edit.lines.contains(line));
    let mut gone = vec![false; if absent { 0 } else { edit.lines.len() }];
    let mut touched = false;
    let mut at = first;
    while !absent && at < edit.lines.len() && Some(at) != last {
        let line = edit.lines.as_slice()[at].clone();
        let matches = match_chunk(&chunk, edit.lines.as_slice(), at, last, true);
        let matches = if not_matching { usize::from(matches == 0) } else { matches };
        if matches == 0 || !line_selected(promise, "delete", &line) {
            at += 1;
            continue;
        }
        touched = true;
        let should = format!("delete line '{line}' from {}", edit.file);
        let edited = [line_of(&edit.file, Some(&line), None)];
        if !ctx.may_edit(promise, &mut result, &edited, &should) {
            at += 1;
            continue;
        }
        for index in 0..matches {
            let line = edit.lines.as_slice()[at + index].clone();
            gone[at + index] = true;
            let text =
                format!("Deleted the promised line {} '{line}' from {}", index + 1, edit.file);
            ctx.settle(Level::Info, Outcome::Repaired, promise, &text);
            result = result.merge(Outcome::Repaired);
            edit.lines.edits += 1;
        }
        at += matches;
    }
    if gone.iter().any(|gone| *gone) {
        edit.lines.remove_marked(&gone);
    }
    if !touched {
        ctx.settle(
            Level::Verbose,
            Outcome::Kept,
            promise,
            &format!("No need to delete lines from {}, ok", edit.file),
        );
    }
    conclude(ctx, promise, "delete_lines", result)
}

// What becomes of a promise whose region has no end though one was promised.
fn endless(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    edit: &Edit,
    verb: &str,
) -> Option<Outcome> {
    let end = promise.scalar("select_end").cloned()?;
    if region::open_end(ctx, promise) {
        return None;
    }
    let text = format!(
        "The promised end pattern '{end}' was not found when selecting region to {verb} in '{}'",
        edit.file
    );
    Some(ctx.settle(Level::Error, Outcome::Interrupted, promise, &text))
}

struct Insertion {
    before: bool,
    kind: Str,
    policy: Option<Vec<Str>>,
}

impl Insertion {
    fn keeps_all(&self) -> bool {
        &*self.kind == "preserve_all_lines"
    }

    fn block(&self) -> bool {
        matches!(&*self.kind, "preserve_all_lines" | "preserve_block" | "file_preserve_block")
    }
}

fn insert_lines(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, edit: &mut Edit) -> Outcome {
    let name = Rc::clone(&promise.promiser);
    let how = Insertion {
        before: promise.scalar("before_after").is_some_and(|word| &**word == "before"),
        kind: promise.scalar("insert_type").cloned().unwrap_or_else(|| "literal".into()),
        policy: promise.list("whitespace_policy"),
    };
    if !sane_insertion(ctx, promise, &how) {
        let text = format!("The promised line insertion '{name}' breaks its own promises");
        return ctx.settle(Level::Error, Outcome::Failed, promise, &text);
    }
    let mut marks = Marks { begin: (!edit.lines.is_empty()).then_some(0), ..Marks::default() };
    if promise.has("select_region") {
        match region::select(ctx, promise, &edit.lines, &edit.file) {
            Some(found) => {
                marks.begin = found.begin;
                marks.end = found.end;
            }
            None => {
                let text = format!(
                    "The promised line insertion '{name}' could not select an edit region in '{}'",
                    edit.file
                );
                return ctx.settle(Level::Error, Outcome::Interrupted, promise, &text);
            }
        }
        if marks.end.is_none()
            && let Some(outcome) = endless(ctx, promise, edit, "insert")
        {
            return outcome;
        }
    }
    let operand = if how.keeps_all() {
        format!("insertline-{name}-{}-{}", edit.file, promise.promise.line)
    } else {
        format!("insertline-{name}-{}", edit.file)
    };
    if !ctx.acquire(promise, &operand) {
        return Outcome::Skipped;
    }
    let mut result = Outcome::Kept;
    match promise.scalar("select_line_matching").cloned() {
        None => insert_in_region(ctx, promise, edit, &how, &mut marks, &mut result),
        Some(pattern) => {
            let first = promise.scalar("first_last").is_some_and(|word| &**word == "first");
            let range = marks.begin.unwrap_or(0)..marks.end.unwrap_or(edit.lines.len());
            let mut positions = range.filter(|at| {
                edit.lines.get(*at).is_some_and(|line| regex::full_or_same(&pattern, line))
            });
            let found = if first { positions.next() } else { positions.next_back() };
            let Some(at) = found else {
                let text = format!(
                    "The promised line insertion '{name}' could not select a locator matching regex '{pattern}' in '{}'",
                    edit.file
                );
                return ctx.settle(Level::Error, Outcome::Interrupted, promise, &text);
            };
            marks.location = Some(at);
            marks.prev = at.checked_sub(1);
            insert_at(ctx, promise, edit, &how, &mut marks, &mut result);
        }
    }
    conclude(ctx, promise, "insert_lines", result)
}

fn sane_insertion(ctx: &Agent<'_>, promise: &Expanded, how: &Insertion) -> bool {
    let has = |name: &str| promise.has(&format!("insert_if_{name}_from_list"));
    let positive = ["startwith", "match", "contains"].iter().filter(|name| has(name)).count();
    let negative =
        ["not_startwith", "not_match", "not_contains"].iter().filter(|name| has(name)).count();
    let mut sane = true;
    if negative > 1 {
        ctx.error("Line insertion selection promise is meaningless - the alternatives are mutually exclusive (only one is allowed)");
        sane = false;
    }
    if positive > 0 && negative > 0 {
        ctx.error("Line insertion selection promise is meaningless - cannot mix positive and negative constraints");
        sane = false;
    }
    let policy = how.policy.as_deref().unwrap_or(&[]);
    let exact = policy.iter().any(|word| &**word == "exact_match");
    let ignoring = policy.iter().any(|word| &**word != "exact_match");
    if ignoring && &*how.kind == "preserve_block" {
        ctx.error("Line insertion should not use whitespace policy with preserve_block");
        sane = false;
    }
    if exact && ignoring {
        ctx.error("Line insertion selection promise is meaningless - cannot mix exact_match with other ignore whitespace options");
        sane = false;
    }
    sane
}

fn kept(ctx: &mut Agent<'_>, promise: &Expanded, text: &str) {
    ctx.settle(Level::Verbose, Outcome::Kept, promise, text);
}

// Inserts at the start or end of the region, unless the whole chunk is there already.
fn insert_in_region(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    edit: &mut Edit,
    how: &Insertion,
    marks: &mut Marks,
    result: &mut Outcome,
) {
    if edit.lines.is_empty() {
        marks.location = None;
        marks.prev = None;
        insert_at(ctx, promise, edit, how, marks, result);
        return;
    }
    let Some(begin) = marks.begin else { return };
    if how.before {
        marks.location = Some(begin);
        marks.prev = None;
        insert_at(ctx, promise, edit, how, marks, result);
        return;
    }
    let last = marks.end.map_or(edit.lines.len() - 1, |end| end.saturating_sub(1).max(begin));
    if !how.keeps_all() {
        let chunk: Vec<&str> = promise.promiser.split('\n').collect();
        let candidates = edit.lines.contains(chunk[0]);
        // One line in the whole file is what the index answers; only blocks and regions scan.
        let indexed = chunk.len() == 1 && begin == 0 && last + 1 == edit.lines.len();
        if candidates
            && (indexed
                || (begin..=last)
                    .any(|at| match_chunk(&chunk, edit.lines.as_slice(), at, marks.end, false) > 0))
        {
            let text = format!(
                "Promised chunk '{}' exists within selected region of {}",
                promise.promiser, edit.file
            );
            kept(ctx, promise, &text);
            return;
        }
    }
    marks.location = Some(last);
    marks.prev = (last > begin).then(|| last - 1);
    insert_at(ctx, promise, edit, how, marks, result);
}

fn insert_at(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    edit: &mut Edit,
    how: &Insertion,
    marks: &mut Marks,
    result: &mut Outcome,
) {
    if matches!(&*how.kind, "file" | "file_preserve_block") {
        insert_file(ctx, promise, edit, how, marks, result);
    } else {
        let chunk = Rc::clone(&promise.promiser);
        insert_chunk(ctx, promise, edit, how, marks, result, &chunk);
    }
}

fn insert_file(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    edit: &mut Edit,
    how: &Insertion,
    marks: &mut Marks,
    result: &mut Outcome,
) {
    let name = Rc::clone(&promise.promiser);
    let place = path(&name);
    let text = match ctx.host().stat(&place) {
        Ok(meta) if meta.is_dir() => {
            let text = format!("Could not insert lines from a directory '{name}'");
            *result = result.merge(ctx.settle(Level::Error, Outcome::Interrupted, promise, &text));
            return;
        }
        _ => match ctx.host().read(&place) {
            Ok(bytes) => decode(&bytes),
            Err(error) => {
                let text = format!(
                    "Could not read file '{name}'. (fopen: {})",
                    fx_cfengine::reason::reason(&error)
                );
                *result =
                    result.merge(ctx.settle(Level::Error, Outcome::Interrupted, promise, &text));
                return;
            }
        },
    };
    let expand = promise.bool("expand_scalars").unwrap_or(false);
    let head = Rc::clone(&promise.promise.bundle);
    for line in text.lines() {
        let line: Str = if expand {
            ctx.expand_text(line, Some(&head.namespace), Some(&head.name)).into()
        } else {
            line.into()
        };
        if !line_selected(promise, "insert", &line) {
            continue;
        }
        if !how.block() && in_region(edit, marks, &line, how) {
            kept(
                ctx,
                promise,
                &format!("Promised file line '{line}' exists within file '{}'", edit.file),
            );
            continue;
        }
        let before = (marks.location, marks.prev);
        let count = edit.lines.len();
        insert_chunk(ctx, promise, edit, how, marks, result, &line);
        // The chunk moved its own marks; the next line goes after what was inserted.
        if edit.lines.len() == count {
            (marks.location, marks.prev) = before;
            advance(edit, marks);
        }
    }
}

fn in_region(edit: &Edit, marks: &Marks, line: &str, how: &Insertion) -> bool {
    let Some(begin) = marks.begin else { return false };
    let end = marks.end.unwrap_or(edit.lines.len());
    let policy = how.policy.as_deref();
    let exact = policy.is_none_or(|policy| policy.iter().all(|word| &**word == "exact_match"));
    if exact {
        if !edit.lines.contains(line) {
            return false;
        }
        if begin == 0 && end == edit.lines.len() {
            return true;
        }
    }
    edit.lines.as_slice()[begin.min(end)..end].iter().any(|known| same_line(line, known, policy))
}

fn advance(edit: &Edit, marks: &mut Marks) {
    let next = |at: usize| (at + 1 < edit.lines.len()).then_some(at + 1);
    let start = (!edit.lines.is_empty()).then_some(0);
    marks.prev = match marks.prev {
        Some(at) => next(at),
        None => start,
    };
    marks.location = match marks.location {
        Some(at) => next(at),
        None => start,
    };
}

fn insert_chunk(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    edit: &mut Edit,
    how: &Insertion,
    marks: &mut Marks,
    result: &mut Outcome,
    chunk: &Str,
) {
    let parts: Vec<&str> = chunk.split('\n').collect();
    if !how.keeps_all()
        && let Some(at) = marks.location
        && match_chunk(&parts, edit.lines.as_slice(), at, None, false) > 0
    {
        let text = format!(
            "Promised chunk '{}' exists within selected region of {} (promise kept)",
            promise.promiser, edit.file
        );
        kept(ctx, promise, &text);
        return;
    }
    for part in parts {
        if !line_selected(promise, "insert", part) {
            continue;
        }
        if !how.block() && in_region(edit, marks, part, how) {
            let text = format!(
                "Promised chunk '{}' exists within selected region of '{}'",
                promise.promiser, edit.file
            );
            kept(ctx, promise, &text);
            continue;
        }
        insert_line(ctx, promise, edit, how, marks, result, part);
        if how.block()
            && how.before
            && marks.location.is_none()
            && marks.prev.is_none()
            && !edit.lines.is_empty()
        {
            marks.location = Some(0);
        }
        advance(edit, marks);
    }
}

fn insert_line(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    edit: &mut Edit,
    how: &Insertion,
    marks: &mut Marks,
    result: &mut Outcome,
    line: &str,
) {
    let file = Rc::clone(&edit.file);
    let policy = how.policy.as_deref();
    let mut put = |ctx: &mut Agent<'_>,
                   edit: &mut Edit,
                   marks: &mut Marks,
                   at: usize,
                   should: String,
                   did: String| {
        let edited = line_of(&edit.file, None, Some(line));
        // A template is one change of the whole content.
        let edited = if edit.rendering { &[][..] } else { std::slice::from_ref(&edited) };
        if ctx.may_edit(promise, result, edited, &should) {
            edit.lines.insert(at, line.into(), marks);
            edit.lines.edits += 1;
            ctx.settle(Level::Info, Outcome::Repaired, promise, &did);
            *result = result.merge(Outcome::Repaired);
        } else {
            edit.withheld.push(line.into());
            if edit.lines.is_empty() {
                // Into nothing, it counts as an edit also where it is not made.
                edit.lines.edits += 1;
            }
        }
    };
    if marks.prev.is_none() && how.before {
        if edit.lines.is_empty() {
            put(
                ctx,
                edit,
                marks,
                0,
                format!("insert promised line '{line}' into '{file}'"),
                format!("Inserted the promised line '{line}' into '{file}'"),
            );
        } else if edit.lines.get(0).is_some_and(|first| **first != *line) {
            put(
                ctx,
                edit,
                marks,
                0,
                format!("prepend promised line '{line}' to '{file}'"),
                format!("Prepended the promised line '{line}' to {file}"),
            );
        } else {
            kept(ctx, promise, &format!("Promised line '{line}' exists at start of file '{file}'"));
        }
        return;
    }
    if how.before {
        let neighbour =
            marks.location.and_then(|at| at.checked_sub(1)).and_then(|at| edit.lines.get(at));
        if !how.block() && neighbour.is_some_and(|known| same_line(line, known, policy)) {
            kept(
                ctx,
                promise,
                &format!("Promised line '{line}' exists before locator in '{file}'"),
            );
            return;
        }
        let at = marks.prev.map_or(edit.lines.len(), |prev| prev + 1);
        put(
            ctx,
            edit,
            marks,
            at,
            format!("insert line '{line}' into '{file}' before locator"),
            format!("Inserted the promised line '{line}' into '{file}' before locator"),
        );
        return;
    }
    let neighbour = marks.location.and_then(|at| edit.lines.get(at + 1));
    if !how.block() && neighbour.is_some_and(|known| same_line(line, known, policy)) {
        kept(ctx, promise, &format!("Promised line '{line}' exists after locator in '{file}'"));
        return;
    }
    let at = marks.location.map_or(edit.lines.len(), |location| location + 1);
    put(
        ctx,
        edit,
        marks,
        at,
        format!("insert line '{line}' into '{file}' after locator"),
        format!("Inserted the promised line '{line}' into '{file}' after locator"),
    );
}
