//! file_select: which files an operation applies to.

use std::rc::Rc;

use fx_cfengine::eval::expr;
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::log;
use fx_cfengine::mode;
use fx_cfengine::regex;
use fx_cfengine::text::{Str, decode, from_path, int_from, path};
use fx_host::{Kind, Meta};
use rustc_hash::FxHashSet;

use crate::agent::Agent;

/// Whether a file is selected by the body of the promise.
pub(super) fn selected(ctx: &Agent<'_>, promise: &Rc<Expanded>, file: &str, meta: &Meta) -> bool {
    let Some(result) = promise.scalar("file_result") else { return true };
    let mut set: FxHashSet<&str> = FxHashSet::default();
    let base = file.rsplit('/').next().unwrap_or(file);
    let any = |name: &str, test: &dyn Fn(&Str) -> bool| {
        promise.list(name).map(|list| list.iter().any(test))
    };
    if any("leaf_name", &|pattern| regex::full_or_same(pattern, base)) != Some(false) {
        set.insert("leaf_name");
    }
    match any("path_name", &|pattern| regex::full_or_same(pattern, file)) {
        None => {
            set.insert("leaf_path");
        }
        Some(true) => {
            set.insert("path_name");
        }
        Some(false) => {}
    }
    if file_type(promise, meta) {
        set.insert("file_types");
    }
    let owner = |name: &Str| {
        name.parse().is_ok_and(|id: u32| id == meta.uid)
            || ctx
                .host()
                .user_by_id(meta.uid)
                .ok()
                .flatten()
                .is_some_and(|user| regex::full_or_same(name, &user.name))
    };
    if any("search_owners", &owner) != Some(false) {
        set.insert("owner");
        set.insert("search_owners");
    }
    let group = |name: &Str| {
        name.parse().is_ok_and(|id: u32| id == meta.gid)
            || ctx
                .host()
                .group_by_id(meta.gid)
                .ok()
                .flatten()
                .is_some_and(|group| regex::full_or_same(name, &group.name))
    };
    if any("search_groups", &group) != Some(false) {
        set.insert("group");
        set.insert("search_groups");
    }
    let mode_matches = |text: &Str| {
        mode::parse(text)
            .is_some_and(|mask| meta.mode & mask.plus == mask.plus && meta.mode & mask.minus == 0)
    };
    if any("search_mode", &mode_matches) != Some(false) {
        set.insert("mode");
        set.insert("search_mode");
    }
    for (name, value) in
        [("atime", meta.atime.secs), ("ctime", meta.ctime.secs), ("mtime", meta.mtime.secs)]
    {
        if in_range(promise, name, value) {
            set.insert(name);
        }
    }
    if in_range(promise, "search_size", meta.size as i64) {
        set.insert("size");
        set.insert("search_size");
    }
    if promise.has("issymlinkto") && meta.is_symlink() {
        let target =
            ctx.host().read_link(&path(file)).map(|target| from_path(&target)).unwrap_or_default();
        if any("issymlinkto", &|pattern| regex::full_or_same(pattern, &target)) == Some(true) {
            set.insert("issymlinkto");
        }
    }
    if let Some(program) = promise.scalar("exec_program").cloned() {
        let program = program.replace("$(this.promiser)", file).replace("${this.promiser}", file);
        let spec = ctx.command_spec(&program, false);
        if let Ok(ended) = ctx.in_evaluation("exec_program", |act| act.run(&spec)) {
            let line = decode(&ended.stdout);
            if promise
                .scalar("exec_regex")
                .is_some_and(|pattern| line.lines().any(|line| regex::full_or_same(pattern, line)))
            {
                set.insert("exec_regex");
            }
            if ended.exit.success() {
                set.insert("exec_program");
            }
        }
    }
    let selected = expr::parse(result)
        .and_then(|parsed| parsed.eval(&|name| set.contains(name)))
        .unwrap_or(false);
    log!(ctx, Verbose, "file_select result '{result}' on '{file}' was '{selected}'");
    selected
}

fn file_type(promise: &Expanded, meta: &Meta) -> bool {
    let Some(wanted) = promise.list("file_types") else { return true };
    let mut kinds: Vec<&str> = match meta.kind {
        Kind::File => vec!["reg", "plain"],
        Kind::Directory => vec!["dir"],
        Kind::Symlink => vec!["symlink"],
        Kind::Fifo => vec!["fifo"],
        Kind::Socket => vec!["socket"],
        Kind::CharDevice => vec!["char"],
        Kind::BlockDevice => vec!["block"],
    };
    kinds.push("all");
    wanted.iter().any(|wanted| kinds.contains(&&**wanted))
}

fn in_range(promise: &Expanded, name: &str, value: i64) -> bool {
    let Some(text) = promise.scalar(name) else { return true };
    let Some((from, to)) = text.split_once(',') else { return false };
    let from = int_from(from.trim()).unwrap_or(0);
    let to = match to.trim() {
        "inf" => i64::MAX,
        to => int_from(to).map_or(i64::MAX, |to| if to == 999_999_999 { i64::MAX } else { to }),
    };
    value >= from && value <= to
}
