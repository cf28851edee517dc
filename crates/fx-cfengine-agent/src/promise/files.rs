//! files: the order of work of one promise on each path it stands for.
//!
//! Each operation records its own outcome; the promise's is their merge.

mod acl;
mod acl_syntax;
mod changes;
pub(super) mod consider;
mod copy;
mod create;
mod edit;
mod leaf;
mod link;
mod recurse;
mod rename;
mod select;
mod setxid;

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::log;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::policy::Rval;
use fx_cfengine::regex;
use fx_cfengine::text::{Str, from_path, path};
use fx_engine::Level;
use rustc_hash::FxHashSet;

use crate::agent::Agent;

pub(crate) use changes::Memory;

/// What files promises remember in a run.
#[derive(Default)]
pub(crate) struct EditState {
    single_copied: FxHashSet<Str>,
    rotated: FxHashSet<Str>,
    /// Backups that the repository has from this run.
    archived: FxHashSet<String>,
    /// The mask of modes this process was started with, once it was asked for.
    umask: Option<u32>,
}

/// Keeps a files promise.
pub(crate) fn keep(ctx: &mut Agent<'_>, promise: &Rc<Expanded>) -> Outcome {
    leaf::log_unknown_owners(ctx, promise);
    let literal = promise.has("copy_from")
        || promise.scalar("pathtype").is_some_and(|kind| &**kind == "literal");
    if literal {
        return verify(ctx, promise, &promise.promiser.clone());
    }
    let result = locate(ctx, promise, &promise.promiser.clone(), 0);
    if result != Outcome::Skipped {
        ctx.put_this("promiser", Rc::clone(&promise.promiser));
        let expanded = with_path(ctx, promise);
        ctx.settle_quietly(result, &expanded);
        ctx.remove_this("promiser");
    }
    result
}

/// The promise with `$(this.promiser)` and `$(match.N)` of its attributes filled in.
fn with_path(ctx: &Agent<'_>, promise: &Rc<Expanded>) -> Rc<Expanded> {
    fn open(value: &Rval) -> bool {
        match value {
            Rval::Scalar(text) => text.contains('$'),
            Rval::List(items) => items.iter().any(open),
            Rval::Call(call) => call.args.iter().any(open),
            _ => false,
        }
    }
    if !promise.attributes.iter().any(|(_, value)| open(value)) {
        return Rc::clone(promise);
    }
    let head = &promise.promise.bundle;
    let attributes = promise
        .attributes
        .iter()
        .map(|(name, value)| {
            let keep =
                matches!(&**name, "edit_line" | "edit_xml" | "edit_template_string" | "content");
            let value = if open(value) && (!keep || matches!(&**name, "edit_line" | "edit_xml")) {
                ctx.expand_rval(value, Some(&head.namespace), Some(&head.name))
            } else {
                value.clone()
            };
            (Rc::clone(name), value)
        })
        .collect();
    Rc::new(Expanded {
        promise: Rc::clone(&promise.promise),
        promiser: Rc::clone(&promise.promiser),
        promisee: promise.promisee.clone(),
        attributes,
        comment: promise.comment.clone(),
    })
}

// As IsPathRegex does: a pattern, but not one whose slash is inside brackets.
fn is_path_regex(ctx: &Agent<'_>, text: &str) -> bool {
    if !regex::is_meant(text) {
        return false;
    }
    if has_inner_slash(text) {
        ctx.error(&format!(
            "Path regular expression {text} seems to use expressions containing the directory symbol /"
        ));
        ctx.error("Use a work-around to avoid pathological behaviour");
        return false;
    }
    true
}

fn has_inner_slash(text: &str) -> bool {
    let (mut round, mut square) = (0_i32, 0_i32);
    for byte in text.bytes() {
        match byte {
            b'(' => round += 1,
            b')' => round -= 1,
            b'[' => square += 1,
            b']' => square -= 1,
            b'/' if round != 0 || square != 0 => return true,
            _ => {}
        }
    }
    false
}

// Each component of the path is a pattern; those that match are looked into.
fn locate(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, wild: &Str, depth: usize) -> Outcome {
    if !is_path_regex(ctx, wild) {
        log!(ctx, Verbose, "Using literal pathtype for '{wild}'");
        return verify(ctx, promise, wild);
    }
    log!(ctx, Verbose, "Using regex pathtype for '{wild}' (see pathtype)");
    if depth > 64 {
        return Outcome::Skipped;
    }
    let parts: Vec<&str> = wild.split('/').filter(|part| !part.is_empty()).collect();
    let Some(at) = parts.iter().position(|part| regex::is_meant(part)) else {
        return verify(ctx, promise, wild);
    };
    let mut base = parts[..at].iter().fold(String::new(), |base, part| base + "/" + part);
    // No directory is meant where a path begins with a pattern.
    let nowhere = !wild.starts_with('/') && base.is_empty();
    if !wild.starts_with('/') && !base.is_empty() {
        base.remove(0);
    }
    let dir = if base.is_empty() { "/".to_owned() } else { base.clone() };
    let entries = if nowhere { None } else { ctx.host().list(&path(&dir)).ok() };
    let Some(entries) = entries else {
        log!(ctx, Verbose, "Using best-effort expanded (but non-existent) file base path '{wild}'");
        return verify(ctx, promise, wild);
    };
    let last = at + 1 == parts.len();
    let mut result = Outcome::Skipped;
    let mut count = 0;
    for entry in entries {
        let name = from_path(std::path::Path::new(&entry.name));
        if !regex::full_or_same(parts[at], &name) || !consider::considered(ctx, &dir, &name, false)
        {
            continue;
        }
        count += 1;
        let mut next = format!("{base}/{name}");
        for part in &parts[at + 1..] {
            next.push('/');
            next.push_str(part);
        }
        let next: Str = next.into();
        if !last && next != *wild {
            result = result.merge(locate(ctx, promise, &next, depth + 1));
        } else {
            if let Some(found) = regex::full_captures(&promise.promiser, &next) {
                ctx.matches = fx_cfengine::eval::vars::Scope::default();
                ctx.put_matches(&found);
            }
            result = result.merge(verify(ctx, promise, &next));
        }
    }
    if count == 0 {
        log!(ctx, Verbose, "No promiser file objects matched as regular expression '{wild}'");
        if promise.bool("create").unwrap_or(false) {
            result = result.merge(verify(ctx, promise, &promise.promiser.clone()));
        }
    }
    result
}

/// What a promise asks for, as far as the order of work needs to know.
struct Wanted {
    create: bool,
    touch: bool,
    delete: bool,
    rename: bool,
    perms: bool,
    copy: bool,
    link: bool,
    changes: bool,
    select: bool,
    search: bool,
    edit_line: bool,
    edit_xml: bool,
    edit: bool,
    transformer: bool,
    acl: bool,
    content: bool,
}

impl Wanted {
    fn of(promise: &Expanded) -> Wanted {
        let edit_line = promise.has("edit_line");
        let edit_xml = promise.has("edit_xml");
        Wanted {
            create: promise.bool("create").unwrap_or(false),
            touch: promise.bool("touch").unwrap_or(false),
            delete: promise.has("delete"),
            rename: promise.has("rename"),
            perms: promise.has("perms"),
            copy: promise.has("copy_from"),
            link: promise.has("link_from"),
            changes: promise.has("changes"),
            select: promise.has("file_select"),
            search: promise.has("depth_search"),
            edit_line,
            edit_xml,
            edit: edit_line
                || edit_xml
                || promise.has("edit_template")
                || promise.has("edit_template_string"),
            transformer: promise.has("transformer"),
            acl: promise.has("aces"),
            content: promise.has("content"),
        }
    }

    fn nothing(&self) -> bool {
        !(self.transformer
            || self.rename
            || self.delete
            || self.copy
            || self.create
            || self.touch
            || self.link
            || self.perms
            || self.changes
            || self.acl
            || self.edit
            || self.content)
    }
}

fn sane(ctx: &Agent<'_>, wanted: &Wanted, promise: &Expanded, file: &str) -> bool {
    let mut wrong: Option<String> = None;
    let mut check = |bad: bool, text: String| {
        if bad && wrong.is_none() {
            wrong = Some(text);
        }
    };
    check(
        wanted.link && wanted.copy,
        format!(
            "Promise constraint conflicts - '{file}' file cannot both be a copy of and a link to the source"
        ),
    );
    check(
        wanted.link && !promise.has("source"),
        format!("Promise to establish a link at '{file}' has no source"),
    );
    check(
        wanted.edit_line && wanted.edit_xml,
        format!(
            "Promise constraint conflicts - '{file}' editing file as both line and xml makes no sense"
        ),
    );
    check(
        wanted.search && wanted.edit,
        "Recursive depth_searches are not compatible with general file editing".into(),
    );
    check(
        wanted.delete && (wanted.create || wanted.copy || wanted.edit || wanted.rename),
        format!(
            "Promise constraint conflicts - '{file}' cannot be deleted and exist at the same time"
        ),
    );
    check(
        wanted.rename && (wanted.create || wanted.copy || wanted.edit),
        format!(
            "Promise constraint conflicts - '{file}' cannot be renamed/moved and exist there at the same time"
        ),
    );
    check(
        wanted.delete && wanted.search && !wanted.select,
        format!(
            "Dangerous or ambiguous promise - '{file}' specifies recursive deletion but has no file selection criteria"
        ),
    );
    check(
        wanted.select && !promise.has("file_result"),
        "File select constraint body promised no result (check body definition)".into(),
    );
    check(
        (wanted.copy || wanted.link) && wanted.transformer,
        format!(
            "File object(s) '{file}' cannot both be a copy of source and transformed simultaneously"
        ),
    );
    check(
        wanted.search && promise.bool("report_diffs").unwrap_or(false),
        "Difference reporting is not allowed during a depth_search".into(),
    );
    check(
        wanted.edit && promise.scalar("file_type").is_some_and(|kind| &**kind == "fifo"),
        "Editing is not allowed on fifos".into(),
    );
    match wrong {
        Some(text) => {
            ctx.error(&text);
            ctx.log_place(Level::Error, &promise.promise);
            false
        }
        None => true,
    }
}

// One path, in the order of VerifyFilePromise.
fn verify(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, file: &Str) -> Outcome {
    let wanted = Wanted::of(promise);
    log_default_rxdirs(ctx, promise, &promise.promiser);
    if !sane(ctx, &wanted, promise, file) {
        return Outcome::Kept;
    }
    if !ctx.acquire(promise, file) {
        return Outcome::Skipped;
    }
    ctx.put_this("promiser", Rc::clone(file));
    let expanded = with_path(ctx, promise);
    let mut result = Outcome::Kept;
    let skipped = !work(ctx, promise, &expanded, &wanted, file, &mut result);
    changes::save(ctx, &expanded, &mut result);
    if !skipped {
        if wanted.nothing() {
            let bare = file.strip_suffix("/.").filter(|dir| !wanted.search && !dir.is_empty());
            ctx.warning(&format!(
                "No action was requested for file '{}'. Maybe a typo in the policy?",
                bare.unwrap_or(file)
            ));
        }
        let name = promise
            .promiser
            .strip_suffix("/.")
            .filter(|dir| {
                let made = wanted.create || wanted.touch;
                !wanted.search
                    && !dir.is_empty()
                    && (!made || ctx.host().lstat_opt(&path(dir)).ok().flatten().is_some())
            })
            .unwrap_or(&promise.promiser);
        if ctx.simulation.is_some() {
            let bare = file.strip_suffix("/.").filter(|dir| !wanted.search && !dir.is_empty());
            ctx.simulated_outcome(bare.unwrap_or(file), result, wanted.rename);
        }
        match result {
            Outcome::Kept => {
                let text = format_args!("No changes done for the files promise '{name}'");
                as_promised(ctx, &expanded, text);
                ctx.log_outcome_string(result, &expanded);
            }
            Outcome::Repaired => {
                let text = format!("files promise '{name}' repaired");
                ctx.settle_last(Level::Verbose, result, &expanded, &text);
            }
            Outcome::Warn => {
                let text = format!("Warnings encountered when actuating files promise '{name}'");
                ctx.settle_last(Level::Warning, result, &expanded, &text);
            }
            _ => {
                let text = format!("Errors encountered when actuating files promise '{name}'");
                ctx.settle_last(Level::Error, result, &expanded, &text);
            }
        }
    }
    ctx.remove_this("promiser");
    result
}

// False when the file is not selected, so that nothing at all is recorded.
// `raw` still has `$(this.promiser)` in its attributes, which is another for each file found.
fn work(
    ctx: &mut Agent<'_>,
    raw: &Rc<Expanded>,
    promise: &Rc<Expanded>,
    wanted: &Wanted,
    file: &Str,
    result: &mut Outcome,
) -> bool {
    if promise.has("template_data") && !matches!(promise.get("template_data"), Some(Rval::Data(_)))
    {
        let text = format!("No template data for the promise '{}'", promise.promiser);
        *result = result.merge(ctx.settle(Level::Error, Outcome::Failed, promise, &text));
        return true;
    }
    let mut file = Rc::clone(file);
    let place = path(&file);
    let found = ctx.host().lstat_opt(&place);
    let Ok(mut meta) = seen(ctx, promise, found, result) else { return true };
    let was_there = meta.is_some();
    if meta.is_none() {
        if wanted.create || wanted.touch {
            if !create::create(ctx, promise, &file, wanted.search, result) {
                return true;
            }
            meta = ctx.host().lstat_opt(&place).ok().flatten();
        }
    } else if wanted.create || wanted.touch {
        as_promised(ctx, promise, format_args!("File '{file}' exists as promised"));
    }
    if wanted.delete && !was_there {
        ctx.settle(
            Level::Verbose,
            Outcome::Kept,
            promise,
            &format!("File '{file}' does not exist as promised"),
        );
        return true;
    }
    if !wanted.search
        && let Some(dir) = file.strip_suffix("/.")
    {
        file = if dir.is_empty() { "/".into() } else { dir.into() };
    }
    if !wanted.search {
        enter_parent(ctx, &file);
    }
    let place = path(&file);
    if was_there
        && let Some(found) = &meta
        && wanted.select
        && !select::selected(ctx, promise, &file, found)
        && !(wanted.search && found.is_dir())
    {
        return false;
    }
    // What is no link was seen already.
    let found = match &meta {
        Some(itself) if !itself.is_symlink() => Ok(meta.clone()),
        _ => ctx.host().stat_opt(&place),
    };
    let Ok(found) = seen(ctx, promise, found, result) else { return true };
    let exists = match found {
        None => {
            if wanted.create || wanted.touch {
                if !create::create(ctx, promise, &file, wanted.search, result) {
                    return true;
                }
                true
            } else {
                false
            }
        }
        Some(found) => {
            if !found.is_dir() && wanted.search {
                return true;
            }
            true
        }
    };
    if promise.bool("link_children").unwrap_or(false)
        && let Some(source) = promise.scalar("source")
        && let Ok(found) = ctx.host().stat(&path(source))
        && !found.is_dir()
    {
        ctx.error(&format!(
            "Cannot promise to link the children of '{source}' as it is not a directory!"
        ));
        return true;
    }
    let was_link = wanted.link || meta.as_ref().is_some_and(fx_host::Meta::is_symlink);
    let seen = Seen { exists, was_there, was_link };
    act_on(ctx, raw, promise, wanted, &file, &seen, result);
    true
}

/// What was found of a file before it is worked on.
struct Seen {
    exists: bool,
    /// Before the promise created it.
    was_there: bool,
    was_link: bool,
}

// The parts of a promise in their order, on a file that was looked at.
fn act_on(
    ctx: &mut Agent<'_>,
    raw: &Rc<Expanded>,
    promise: &Rc<Expanded>,
    wanted: &Wanted,
    file: &Str,
    seen: &Seen,
    result: &mut Outcome,
) {
    let exists = seen.exists;
    let leaf_work =
        wanted.rename || wanted.perms || wanted.changes || wanted.transformer || wanted.acl;
    if (exists && leaf_work) || ((exists || seen.was_there) && wanted.delete) {
        recurse::search(ctx, raw, file, wanted.search, result);
        if ctx.stopped() {
            return;
        }
        if promise.bool("include_basedir").unwrap_or(false) && wanted.search {
            recurse::search(ctx, raw, file, false, result);
        } else if *result == Outcome::Kept && !promise.bool("include_basedir").unwrap_or(false) {
            log!(ctx, Verbose, "Basedir '{file}' not promising anything");
        }
        if ctx.stopped() {
            return;
        }
    }
    if wanted.copy {
        let outcome = copy::schedule(ctx, promise, file);
        *result = result.merge(outcome);
    }
    if wanted.link {
        let source = promise.scalar("source").cloned().unwrap_or_default();
        let outcome = if promise.bool("link_children").unwrap_or(false) {
            link::children(ctx, promise, file, &source, 1)
        } else {
            link::schedule(ctx, promise, file, &source)
        };
        *result = result.merge(outcome);
    }
    if wanted.content {
        content(ctx, promise, wanted, file, exists, result);
        return;
    }
    if wanted.edit {
        // The method is that of CFEngine by default, so this holds for edit_line as well; a
        // file that is not there fails to open then.
        let templated = promise
            .scalar("template_method")
            .is_none_or(|method| matches!(&**method, "mustache" | "inline_mustache" | "cfengine"));
        if exists || (templated && promise.bool("create") != Some(false)) {
            let outcome = edit::schedule(ctx, promise, file, exists);
            *result = result.merge(outcome);
        } else {
            log!(ctx, Verbose, "Cannot render file '{file}': file does not exist");
            return;
        }
    }
    verify_leaf(ctx, promise, wanted, file, seen.was_link, result);
}

// The content that a promise gives as a whole.
fn content(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    wanted: &Wanted,
    file: &Str,
    mut exists: bool,
    result: &mut Outcome,
) {
    if wanted.edit {
        let text = "A file promise with content attribute cannot have edit operations";
        *result = result.merge(ctx.settle(Level::Error, Outcome::Failed, promise, text));
        return;
    }
    if !exists && promise.bool("create") != Some(false) {
        exists = create::create(ctx, promise, file, wanted.search, result);
    }
    let content = promise.scalar("content").cloned().unwrap_or_default();
    if exists {
        log!(ctx, Verbose, "Replacing '{file}' with content '{content}'");
        let outcome = edit::write_content(ctx, promise, file);
        *result = result.merge(outcome);
    } else {
        log!(
            ctx,
            Verbose,
            "Cannot render file '{file}' with content '{content}': file does not exist"
        );
    }
}

// The file itself, once all else was done.
fn verify_leaf(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    wanted: &Wanted,
    file: &Str,
    was_link: bool,
    result: &mut Outcome,
) {
    let place = path(file);
    let found = ctx.host().stat_opt(&place);
    let Ok(again) = seen(ctx, promise, found, result) else { return };
    match &again {
        Some(found) if found.is_file() => {
            if !wanted.select || select::selected(ctx, promise, file, found) {
                let is_link =
                    was_link && ctx.host().lstat(&place).is_ok_and(|itself| itself.is_symlink());
                leaf::verify(ctx, promise, file, is_link.then_some(found), result);
            }
        }
        Some(_) => {}
        None => {
            if wanted.changes {
                let text =
                    format!("Promised to monitor '{file}' for changes, but file does not exist");
                *result = result.merge(ctx.settle(Level::Error, Outcome::Failed, promise, &text));
            }
        }
    }
}

/// What a look found, if anything. A look that fails is a failure of the promise and no sign
/// of absence; only links that lead in a circle lead to nothing.
fn seen(
    ctx: &mut Agent<'_>,
    promise: &Expanded,
    found: fx_host::Result<Option<fx_host::Meta>>,
    result: &mut Outcome,
) -> Result<Option<fx_host::Meta>, Unseen> {
    match found {
        Ok(found) => Ok(found),
        Err(error) if error.is_loop() => Ok(None),
        Err(error) => {
            failed(ctx, promise, result, &error.to_string());
            Err(Unseen)
        }
    }
}

/// The failure to look was reported.
struct Unseen;

// The original moves to the directory of each file it works on, and stays there.
fn enter_parent(ctx: &mut Agent<'_>, file: &str) {
    let parent = match file.rfind('/') {
        None => return,
        Some(0) => "/",
        Some(at) => &file[..at],
    };
    if *ctx.cwd == *parent {
        return;
    }
    match ctx.host().stat(&path(parent)) {
        Ok(meta) if meta.is_dir() => ctx.cwd = parent.into(),
        Ok(_) => ctx.error(&format!("Failed to chdir into '{parent}'. (chdir: 'Not a directory')")),
        Err(error) => {
            let why = fx_cfengine::reason::reason(&error);
            ctx.error(&format!("Failed to chdir into '{parent}'. (chdir: '{why}')"));
        }
    }
}

// Told of a promise of a mode in every pass and of each file, directory or not.
fn log_default_rxdirs(ctx: &Agent<'_>, promise: &Expanded, promiser: &str) {
    if promise.has("mode") && promise.bool("rxdirs").is_none() {
        ctx.log_default_rxdirs(&promise.promise, promiser);
        promise.promise.tells_rxdirs.set(true);
    }
}

/// Records a change an operation made.
fn changed(ctx: &mut Agent<'_>, promise: &Expanded, result: &mut Outcome, text: &str) {
    *result = result.merge(ctx.settle(Level::Info, Outcome::Repaired, promise, text));
}

/// Records that an operation failed.
fn failed(ctx: &mut Agent<'_>, promise: &Expanded, result: &mut Outcome, text: &str) {
    *result = result.merge(ctx.settle(Level::Error, Outcome::Failed, promise, text));
}

/// Records that all is as promised.
fn as_promised(ctx: &mut Agent<'_>, promise: &Expanded, text: std::fmt::Arguments<'_>) {
    if ctx.logs(Level::Verbose) {
        ctx.promise_context(promise);
        ctx.verbose(&text.to_string());
    }
    ctx.settle_quietly(Outcome::Kept, promise);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promisers_are_patterns_by_component() {
        let table = [
            ("/etc/passwd", false),
            ("/etc/.*", true),
            ("/a/(b/c|d)", false),
            ("/a.b/c", false),
            ("/x/[ab]", true),
        ];
        for (text, expected) in table {
            assert_eq!(regex::is_meant(text) && !has_inner_slash(text), expected, "{text}");
        }
    }
}
