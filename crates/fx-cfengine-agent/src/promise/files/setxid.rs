//! Programs of root that run as root: each is reported once, in a list kept across runs.

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::eval::vars::Found;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::text::{decode, encode, path};
use fx_host::{Meta, WriteOptions};

use crate::agent::Agent;
use crate::change::{ABSENT, of_file};

use super::changed;

const SETUID: u32 = 0o4000;
const SETGID: u32 = 0o2000;

/// As VerifySetUidGid does: reports a flag that is new, or that is about to be removed.
pub(super) fn verify(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    meta: &Meta,
    wanted: u32,
    result: &mut Outcome,
) {
    if meta.uid != 0 || meta.mode & (SETUID | SETGID) == 0 {
        return;
    }
    for (flag, word) in [(SETUID, "setuid"), (SETGID, "setgid")] {
        if meta.mode & flag == 0 {
            continue;
        }
        if wanted & flag == 0 {
            let should = format!("remove {word} (root) flag from '{file}'");
            // The bits are changed with the rest of the mode, and recorded with it.
            let flag = [of_file(file, word, "root", ABSENT)];
            if ctx.may(promise, result, &flag, &should) {
                let text = format!("Removed {word} (root) flag from '{file}'");
                changed(ctx, promise, result, &text);
            }
        } else if flag == SETUID || !meta.is_dir() {
            note(ctx, file, word);
        }
    }
}

fn note(ctx: &mut Agent<'_>, file: &str, word: &str) {
    let host = ctx.vars.get("sys", "uqhost").and_then(Found::scalar).unwrap_or_default();
    let list = format!("{}/cfagent.{}.log", ctx.config.paths.logs, host.to_lowercase());
    let known = ctx.host().read(&path(&list)).map(|bytes| decode(&bytes)).unwrap_or_default();
    if known.lines().any(|line| line == file) {
        return;
    }
    if ctx.host().euid() == 0 {
        let text = format!("NEW {} root PROGRAM '{file}' ", word.to_uppercase());
        ctx.log(fx_engine::Level::Notice, &text);
    }
    if ctx.config.dry_run {
        return;
    }
    let options = WriteOptions { mode: Some(0o600), ..WriteOptions::default() };
    let text = format!("{file}\n{known}");
    let text = encode(&text);
    if let Err(error) = ctx.own_state(|act| act.write(&path(&list), &text, &options)) {
        ctx.verbose(&error.to_string());
    }
}
