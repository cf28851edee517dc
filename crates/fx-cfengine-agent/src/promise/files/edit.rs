//! Content: written whole, edited by lines, or rendered from templates, with backups.

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::log;
use fx_cfengine::mustache;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::policy::{Bundle, Rval};
use fx_cfengine::reason::reason;
use fx_cfengine::text::{Str, canonify, decode, encode, from_path, int_from, path};
use fx_engine::{Failure, Level};
use fx_host::{Kind, WriteOptions};

use crate::action::Action;
use crate::agent::Agent;
use crate::change;
use crate::edit::bundle::{self, Edit};
use crate::edit::lines::Lines;
use crate::edit::template;
use crate::edit::xml::Document;
use crate::edit::xml_bundle::{self, XmlEdit};
use crate::wording;

use super::{as_promised, changed, copy, create, failed, rename};

/// Largest file that is edited unless policy says otherwise.
const EDIT_LIMIT: i64 = 100_000;

/// Makes `content` the whole content of the file.
pub(super) fn write_content(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, file: &str) -> Outcome {
    let mut result = Outcome::Kept;
    let content = promise.scalar("content").cloned().unwrap_or_default();
    let content = ctx.expand(&content, None, Some("this"));
    let bytes = encode(&content);
    if ctx.host().read(&path(file)).is_ok_and(|old| *old == *bytes) {
        return result;
    }
    let real = match follow(ctx, file) {
        Err(error) if error.is_not_found() => Ok(file.to_owned()),
        other => other,
    };
    let changes = [change::content(ctx.host(), &path(file), &bytes)];
    ctx.change(promise, &mut result, &changes, &wording::write_content(file, &content), |act| {
        act.write(&path(&real?), &bytes, &WriteOptions::default())
    });
    result
}

/// Edits or renders a file.
pub(super) fn schedule(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &Str,
    exists: bool,
) -> Outcome {
    if !ctx.acquire(promise, &format!("fileedit-{file}")) {
        return Outcome::Skipped;
    }
    // What is wrong with the file itself is logged at once.
    if !file.starts_with('/') {
        ctx.error(&format!(
            "Relative file name '{file}' was marked for editing but has no invariant meaning"
        ));
        let mut result = Outcome::Kept;
        not_opened(ctx, promise, file, &mut result);
        return result;
    }
    let text = load(ctx, promise, file);
    let outer = ctx.buffer_log();
    let result = edit(ctx, promise, file, exists, text);
    let messages = ctx.end_buffer(outer);
    if result == Outcome::Repaired {
        for text in &messages {
            ctx.info(text);
        }
    }
    result
}

fn not_opened(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, file: &str, result: &mut Outcome) {
    let text = format!("File '{file}' was marked for editing but could not be opened");
    failed(ctx, promise, result, &text);
}

fn edit(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &Str,
    exists: bool,
    text: Option<String>,
) -> Outcome {
    let mut result = Outcome::Kept;
    let empty = promise.bool("empty_file_before_editing").unwrap_or(false);
    let mut edit = Edit {
        file: Rc::clone(file),
        lines: Lines::default(),
        rendering: false,
        withheld: Vec::new(),
    };
    if promise.has("edit_line") || promise.has("edit_xml") {
        match text {
            Some(text) => {
                if !empty {
                    edit.lines = Lines::from_text(&text);
                }
            }
            None => {
                not_opened(ctx, promise, file, &mut result);
                return result;
            }
        }
    }
    let mut args: Vec<Rval> = Vec::new();
    if let Some(call) = promise.get("edit_line").cloned() {
        let (name, given) = match &call {
            Rval::Scalar(name) => (Rc::clone(name), Vec::new()),
            Rval::Call(call) => (Rc::clone(&call.name), call.args.clone()),
            _ => return result,
        };
        args = given;
        log!(ctx, Verbose, "Handling file edits in edit_line bundle '{name}'");
        match ctx.find_bundle("edit_line", &name) {
            Some(bundle) => run_bundle(ctx, promise, &bundle, &args, &mut edit, empty),
            None => ctx.error(&format!("Did not find bundle '{name}' for edit operation")),
        }
    }
    if promise.has("edit_xml") {
        edit_xml(ctx, promise, file, empty, &mut result);
        return result;
    }
    let method = promise.scalar("template_method").cloned().unwrap_or_else(|| "cfengine".into());
    let template = promise.scalar("edit_template").cloned();
    match (&*method, template) {
        ("cfengine", Some(template)) => {
            render_lines(ctx, promise, file, exists, &template, &args, &mut edit, &mut result);
        }
        ("mustache", Some(template)) => match ctx.host().read(&path(&template)) {
            Ok(bytes) => {
                let text = decode(&bytes);
                render(ctx, promise, file, exists, &text, &template, &mut result);
            }
            Err(_) => {
                let text = format!("Template file '{template}' could not be opened for reading");
                failed(ctx, promise, &mut result, &text);
            }
        },
        ("inline_mustache", _) => match promise.scalar("edit_template_string").cloned() {
            Some(text) => render(ctx, promise, file, exists, &text, "inline", &mut result),
            None => {
                let text =
                    format!("'edit_template_string' not set for promiser: '{}'", promise.promiser);
                failed(ctx, promise, &mut result, &text);
            }
        },
        _ => {}
    }
    finish(ctx, promise, file, &edit, &mut result);
    result
}

// The text of a file whose lines or elements are edited.
fn load(ctx: &Agent<'_>, promise: &Expanded, file: &str) -> Option<String> {
    if !promise.has("edit_line") && !promise.has("edit_xml") {
        return None;
    }
    let place = path(file);
    let meta = match ctx.host().stat(&place) {
        Ok(meta) => meta,
        Err(error) => {
            let level = if promise.has("edit_xml") { Level::Error } else { Level::Verbose };
            ctx.log(
                level,
                &format!(
                    "The proposed file '{file}' could not be loaded. (stat: {})",
                    reason(&error)
                ),
            );
            return None;
        }
    };
    let control = ctx
        .control
        .agent
        .get("editfilesize")
        .and_then(Rval::as_scalar)
        .and_then(|text| int_from(text));
    let limit = promise.int("max_file_size").or(control).unwrap_or(EDIT_LIMIT);
    if limit != 0 && meta.size as i64 > limit {
        ctx.info(&format!(
            "File '{file}' is bigger than the edit limit. max_file_size = {} > {limit} bytes",
            meta.size
        ));
        return None;
    }
    if !meta.is_file() {
        ctx.info(&format!("{file} is not a plain file"));
        return None;
    }
    let text = decode(&ctx.host().read(&place).ok()?);
    if !promise.bool("recognize_join").unwrap_or(false) || promise.has("edit_xml") {
        return Some(text);
    }
    Some(joined(&text))
}

// Lines that end in a backslash go on with the next, as the manual has it; the original
// loses what stood before the backslash.
fn joined(text: &str) -> String {
    text.replace("\\\n", "")
}

// As ItemListsEqual logs it, line for line, where only a warning is promised.
fn warn_of_lines(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    old: &[Str],
    new: &[Str],
    result: &mut Outcome,
) {
    // Nothing is said where no line is left.
    if new.is_empty() {
        return;
    }
    for at in 0..old.len().max(new.len()) {
        let text = match (old.get(at), new.get(at)) {
            (Some(old), Some(new)) if old == new => continue,
            (Some(old), Some(_)) => format!("edit_line warning promised: - {old}"),
            _ if at == 0 || old.is_empty() => {
                "File content wants to change from from/to full/empty but only a warning promised"
                    .to_owned()
            }
            (Some(old), None) => format!(" ! edit_line change warning promised: (remove) {old}"),
            (None, Some(new)) => format!(" ! edit_line change warning promised: (add) {new}"),
            (None, None) => continue,
        };
        *result = result.merge(ctx.settle(Level::Warning, Outcome::Warn, promise, &text));
    }
}

fn run_bundle(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    target: &Rc<Bundle>,
    args: &[Rval],
    edit: &mut Edit,
    empty: bool,
) {
    let inherits = promise.bool("inherit").unwrap_or(false);
    if !ctx.acquire(promise, &format!("masterfilelock-{}-{}", edit.file, target.head.name)) {
        return;
    }
    ctx.push_bundle(target, args, inherits);
    if !ctx.stopped() {
        ctx.resolve_bundle(target);
        bundle::run(ctx, target, edit, empty);
    }
    ctx.stack.pop();
}

#[expect(clippy::too_many_arguments, reason = "one rendering with what it reads and writes")]
fn render_lines(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &Str,
    exists: bool,
    name: &str,
    args: &[Rval],
    edit: &mut Edit,
    result: &mut Outcome,
) {
    let Ok(bytes) = ctx.host().read(&path(name)) else {
        let text = format!("Unable to open template file '{name}' to make '{}'", promise.promiser);
        *result = result.merge(ctx.settle(Level::Error, Outcome::Interrupted, promise, &text));
        return;
    };
    let text = decode(&bytes);
    let target = match template::to_bundle(ctx, &text, name) {
        Ok(target) => Rc::new(target),
        Err(text) => {
            *result = result.merge(ctx.settle(Level::Error, Outcome::Interrupted, promise, &text));
            return;
        }
    };
    if !exists && !create::create(ctx, promise, file, false, result) {
        let text =
            format!("Failed to create file '{file}' for rendering cfengine template '{name}'");
        failed(ctx, promise, result, &text);
        return;
    }
    edit.rendering = true;
    edit.withheld.clear();
    let empty = promise.bool("empty_file_before_editing").unwrap_or(false);
    run_bundle(ctx, promise, &target, args, edit, empty);
    edit.lines.edits = edit.lines.edits.max(1);
}

fn render(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &Str,
    exists: bool,
    template: &str,
    name: &str,
    result: &mut Outcome,
) {
    let data = match promise.get("template_data") {
        Some(Rval::Data(json)) => Rc::clone(json),
        _ => Rc::new(fx_cfengine::functions::default_template_data(ctx, None)),
    };
    let rendered = mustache::render(template, &data).map_err(|wrong| {
        ctx.log(wrong.level, &wrong.text);
    });
    let Ok(text) = rendered else {
        failed(
            ctx,
            promise,
            result,
            &format!(
                "Error rendering mustache template '{}'",
                if name == "inline" { template } else { name }
            ),
        );
        return;
    };
    let bytes = encode(&text).into_owned();
    if ctx.host().read(&path(file)).is_ok_and(|old| old == bytes) {
        return;
    }
    let should = format!("update rendering of '{file}' from mustache template '{name}'");
    let changes = [change::content(ctx.host(), &path(file), &bytes)];
    if !ctx.may(promise, result, &changes, &should) {
        return;
    }
    if !exists && !create::create(ctx, promise, file, false, result) {
        let text =
            format!("Failed to create file '{file}' for rendering mustache template '{name}'");
        failed(ctx, promise, result, &text);
        return;
    }
    if save(ctx, promise, file, &bytes) {
        let text = format!("Updated rendering of '{file}' from mustache template '{name}'");
        changed(ctx, promise, result, &text);
    } else {
        let text =
            format!("Failed to update rendering of '{file}' from mustache template '{name}'");
        failed(ctx, promise, result, &text);
    }
}

fn edit_xml(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &Str,
    empty: bool,
    result: &mut Outcome,
) {
    let (name, args) = match promise.get("edit_xml").cloned() {
        Some(Rval::Scalar(name)) => (name, Vec::new()),
        Some(Rval::Call(call)) => (Rc::clone(&call.name), call.args.clone()),
        _ => return,
    };
    log!(ctx, Verbose, "Handling file edits in edit_xml bundle '{name}'");
    let Some(target) = ctx.find_bundle("edit_xml", &name) else {
        ctx.error(&format!("Did not find bundle '{name}' for edit operation"));
        return;
    };
    if !ctx.acquire(promise, &format!("masterfilelock-{file}-{}", target.head.name)) {
        return;
    }
    let old = ctx.host().read(&path(file)).map(|bytes| decode(&bytes)).unwrap_or_default();
    let Some(document) = Document::parse(if empty { "" } else { &old }) else {
        // Told, but no failure of the promise in the original.
        ctx.error(&format!("Unable to load XML document '{file}'"));
        as_promised(ctx, promise, format_args!("No edit changes to file '{file}' need saving"));
        return;
    };
    let mut edit = XmlEdit { file: Rc::clone(file), document, edits: 0 };
    ctx.push_bundle(&target, &args, promise.bool("inherit").unwrap_or(false));
    if !ctx.stopped() {
        ctx.resolve_bundle(&target);
        xml_bundle::run(ctx, &target, &mut edit);
    }
    ctx.stack.pop();
    let text = edit.document.to_text();
    if (edit.edits == 0 && !empty) || text == old || edit.document.root().is_none() {
        as_promised(ctx, promise, format_args!("No edit changes to xml file '{file}' need saving"));
        return;
    }
    let changes = [change::content(ctx.host(), &path(file), &encode(&text))];
    if !ctx.may(promise, result, &changes, &format!("edit xml file '{file}'")) {
        return;
    }
    if save(ctx, promise, file, &encode(&text)) {
        changed(ctx, promise, result, &format!("Edited xml file '{file}'"));
    } else {
        failed(ctx, promise, result, &format!("Failed to edit XML file '{file}'"));
    }
}

fn finish(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &Str,
    edit: &Edit,
    result: &mut Outcome,
) {
    if !matches!(result, Outcome::Kept | Outcome::Repaired) {
        return;
    }
    let by_lines = promise.has("edit_line")
        || (promise.has("edit_template")
            && promise.scalar("template_method").is_none_or(|method| &**method == "cfengine"));
    if !by_lines || edit.lines.edits == 0 {
        as_promised(ctx, promise, format_args!("No edit changes to file '{file}' need saving"));
        return;
    }
    let old = ctx.host().read(&path(file)).map(|bytes| decode(&bytes)).unwrap_or_default();
    let old = match promise.bool("recognize_join") {
        Some(true) => Lines::from_text(&joined(&old)),
        _ => Lines::from_text(&old),
    };
    let same = old.as_slice() == edit.lines.as_slice();
    if !same && ctx.action(promise) == Action::Warn {
        warn_of_lines(ctx, promise, old.as_slice(), edit.lines.as_slice(), result);
    }
    if same {
        as_promised(ctx, promise, format_args!("No edit changes to file '{file}' need saving"));
        return;
    }
    // Of a template the original says what should be inserted, whatever the file has.
    let text = if edit.rendering && !edit.withheld.is_empty() {
        edit.withheld.iter().map(|line| format!("{line}\n")).collect()
    } else {
        edit.lines.to_text()
    };
    let changes = [change::content(ctx.host(), &path(file), &encode(&text))];
    if !ctx.may(promise, result, &changes, &format!("edit file '{file}'")) {
        return;
    }
    if save(ctx, promise, file, &encode(&text)) {
        changed(ctx, promise, result, &format!("Edited file '{file}'"));
    } else {
        failed(ctx, promise, result, &format!("Unable to save file '{file}' after editing"));
    }
}

/// Replaces a file's content, keeping owner and mode, with the backup the promise asks for.
fn save(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, file: &str, bytes: &[u8]) -> bool {
    let real = match follow(ctx, file) {
        Ok(real) => real,
        Err(error) => {
            ctx.error(&format!(
                "Can no longer access file '{file}', which needed editing. (lstat: {})",
                reason(&error)
            ));
            return false;
        }
    };
    let policy = promise.scalar("edit_backup").map_or("true", |word| word).to_owned();
    let none = matches!(&*policy, "false" | "no" | "off");
    let backup = copy::backup_name(ctx, &real, &policy, ".cf-before-edit");
    if !none {
        // As the original does: without its backup a file is not changed.
        if let Err(failure) = back_up(ctx, promise, &real, &backup, &policy) {
            ctx.error(&format!("Can't rename '{real}' to '{backup}' - so promised edits could not be moved into place. (rename: {})", wording::why(&failure)));
            return false;
        }
    }
    let changes = [change::content(ctx.host(), &path(&real), bytes)];
    match ctx.make(&changes, |act| act.write(&path(&real), bytes, &WriteOptions::default())) {
        Ok(_) => true,
        Err(failure) => {
            ctx.error(&format!("Can't rename '{real}.cf-after-edit' to '{real}' - so promised edits could not be moved into place. (rename: {})", wording::why(&failure)));
            false
        }
    }
}

fn back_up(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    backup: &str,
    policy: &str,
) -> Result<(), Failure> {
    let place = path(backup);
    let remove = |ctx: &Agent<'_>, kind: Kind| {
        ctx.make(&[change::removed(backup, kind)], |act| act.remove_file(&place))
    };
    if let Some(old) = ctx.host().lstat_opt(&place)? {
        remove(ctx, old.kind)?;
    }
    let kept = [change::created(backup, Kind::File)];
    ctx.make(&kept, |act| rename::keep(act, file, backup))?;
    if policy == "rotate" {
        let levels = promise.int("rotate").unwrap_or(0).max(1);
        let changes = rename::rotation(ctx.host(), backup);
        let done = ctx.make(&changes, |act| rename::rotate(act, backup, levels))?;
        if let Some(text) = done.made().flatten() {
            ctx.error(&text);
        }
        remove(ctx, Kind::File)?;
    } else if archive(ctx, promise, backup) {
        remove(ctx, Kind::File)?;
    }
    Ok(())
}

/// The file behind a chain of links, each of them one that a change may follow.
pub(super) fn follow(ctx: &Agent<'_>, file: &str) -> fx_host::Result<String> {
    if !ctx.host().lstat(&path(file))?.is_symlink() {
        return Ok(file.to_owned());
    }
    ctx.host().real_path_to_change(&path(file)).map(|real| from_path(&real))
}

/// Copies a backup into the repository; whether there is one and it has it now.
pub(super) fn archive(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, file: &str) -> bool {
    let repository = promise
        .scalar("repository")
        .cloned()
        .or_else(|| ctx.control.agent.get("default_repository").and_then(Rval::as_scalar).cloned());
    let Some(repository) = repository.filter(|repository| !repository.is_empty()) else {
        return false;
    };
    // The first backup of a run is the one to keep.
    if !ctx.edits.archived.insert(file.to_owned()) {
        ctx.info(&format!("The file '{file}' has already been moved to the repository once. Multiple update will cause loss of backup."));
        return true;
    }
    let name = canonify(file);
    let target = format!("{repository}/{name}");
    let mut result = Outcome::Kept;
    let _made = create::make_parents(ctx, promise, &target, &mut result);
    let Ok(meta) = ctx.host().stat(&path(file)) else { return false };
    let options = WriteOptions { mode: Some(meta.mode & 0o7777), ..WriteOptions::default() };
    // The backup is removed next, so the copy needs its name now.
    let changes = [change::copied(ctx.host(), file, &target)];
    let archived = ctx.make(&changes, |act| {
        act.copy_file(&path(file), &path(&target), &options).and_then(|()| act.settle())
    });
    match archived {
        Ok(_) => {
            ctx.info(&format!("Moved '{file}' to repository location '{target}'"));
            true
        }
        Err(_) => {
            ctx.info(&format!("Failed to move '{file}' to repository location '{target}'"));
            false
        }
    }
}
