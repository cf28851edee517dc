//! acl: the entries of POSIX access control lists that policy asks for. Lists of Windows are
//! refused.

use std::rc::Rc;

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::reason::reason;
use fx_cfengine::text::{Str, path};
use fx_host::{Act, Meta};
use fx_resources::acl::{ACCESS, Acl, DEFAULT, Who};

use crate::agent::Agent;
use crate::change::{ABSENT, of_file};
use crate::wording;

use super::{acl_syntax, as_promised, failed};

/// Verifies the ACL of one file.
pub(super) fn verify(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    meta: &Meta,
    result: &mut Outcome,
) {
    if promise.scalar("acl_type").is_some_and(|kind| &**kind == "ntfs") {
        failed(ctx, promise, result, "NTFS ACLs are not supported on this system");
        return;
    }
    if meta.is_symlink() {
        return;
    }
    const DEFAULTS: [&str; 2] = ["acl_default", "acl_directory_inherit"];
    let misplaced = !meta.is_dir() && DEFAULTS.iter().any(|name| promise.has(name));
    if misplaced {
        ctx.error("acl_default can only be set on directories.");
        ctx.log_place(fx_engine::Level::Error, &promise.promise);
    }
    if misplaced || !acl_syntax::sound(ctx, promise) {
        let text = format!("Syntax error in access control list for '{file}'");
        failed(ctx, promise, result, &text);
        ctx.log_place(fx_engine::Level::Error, &promise.promise);
        return;
    }
    let aces = promise.list("aces").unwrap_or_default();
    if !entries(ctx, promise, file, &aces, Some(meta), result) {
        ctx.log_place(fx_engine::Level::Error, &promise.promise);
        return;
    }
    if !meta.is_dir() {
        return;
    }
    let wanted = promise.scalar("acl_default").or_else(|| promise.scalar("acl_directory_inherit"));
    match wanted.map(|word| &**word) {
        None | Some("nochange") => {
            let text = format_args!("No change required for '{file}' with acl_default=nochange");
            as_promised(ctx, promise, text);
        }
        Some("specify") => {
            let aces = promise
                .list("specify_default_aces")
                .or_else(|| promise.list("specify_inherit_aces"))
                .unwrap_or_default();
            if !entries(ctx, promise, file, &aces, None, result) {
                ctx.log_place(fx_engine::Level::Error, &promise.promise);
            }
        }
        Some("access" | "parent") => same_as_access(ctx, promise, file, meta, result),
        Some(_) => cleared(ctx, promise, file, result),
    }
}

/// The list as it is; that of a file without one follows from its mode.
fn existing(ctx: &Agent<'_>, file: &str, name: &str, meta: Option<&Meta>) -> Result<Acl, String> {
    match ctx.host().xattr(&path(file), name) {
        Ok(Some(bytes)) => Acl::decode(&bytes).ok_or_else(|| "Invalid argument".to_owned()),
        Ok(None) => Ok(meta.map_or_else(Acl::default, |meta| Acl::from_mode(meta.mode))),
        Err(error) => Err(reason(&error)),
    }
}

// The access list where the file's state is given, else the default list of a directory.
fn entries(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    aces: &[Str],
    meta: Option<&Meta>,
    result: &mut Outcome,
) -> bool {
    let (name, word) = if meta.is_some() { (ACCESS, "Access") } else { (DEFAULT, "Default") };
    let old = match existing(ctx, file, name, meta) {
        Ok(old) => old,
        Err(why) => {
            let text = format!("No {word} ACL for '{file}' could be read. (acl_get_file: {why})");
            failed(ctx, promise, result, &text);
            return false;
        }
    };
    let overwrite = promise.scalar("acl_method").is_some_and(|method| &**method == "overwrite");
    let mut new = if overwrite { Acl::default() } else { old.clone() };
    let mut masked = false;
    for ace in aces {
        let Some((who, mode)) = entity(ctx, ace) else {
            failed(ctx, promise, result, &format!("ACL: Error parsing entity in '{ace}'"));
            return false;
        };
        masked |= who == Who::Mask;
        let Some(bits) = mode_bits(mode, new.get(who).unwrap_or(0)) else {
            failed(ctx, promise, result, &format!("ACL: Error parsing mode-string in '{mode}'"));
            return false;
        };
        new.set(who, bits);
    }
    if !masked && !new.is_empty() {
        new.fit_mask();
    }
    if new == old {
        let text = format_args!("'{word}' ACL on '{file}' needs no modification.");
        as_promised(ctx, promise, text);
        return true;
    }
    let list = new.text(ctx.host());
    let words = wording::change_acl(file, word, &list);
    let property = if name == ACCESS { "acl" } else { "default acl" };
    let changes = [of_file(file, property, old.text(ctx.host()), list.as_str())];
    if !ctx.may(promise, result, &changes, &words.should) {
        return true;
    }
    if !new.is_complete() {
        let text =
            format!("Invalid ACL in '{list}' at index 0 (acl_check: Missing or wrong entry)");
        failed(ctx, promise, result, &text);
        return false;
    }
    let set = |act: &dyn Act| act.set_xattr(&path(file), name, Some(&new.encode()));
    ctx.change(promise, result, &changes, &words, set).is_some()
}

fn same_as_access(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    meta: &Meta,
    result: &mut Outcome,
) {
    // The access list may have been changed a moment ago, and the mode with it.
    let meta = ctx.host().lstat(&path(file)).unwrap_or_else(|_| meta.clone());
    let both = existing(ctx, file, ACCESS, Some(&meta))
        .and_then(|access| existing(ctx, file, DEFAULT, None).map(|default| (access, default)));
    let (access, default) = match both {
        Ok(both) => both,
        Err(why) => {
            let text = format!("Could not find default ACL for '{file}'. (acl_get_file: {why})");
            failed(ctx, promise, result, &text);
            return;
        }
    };
    if access == default {
        as_promised(ctx, promise, format_args!("Default ACL on '{file}' as promised"));
        return;
    }
    let (from, to) = (default.text(ctx.host()), access.text(ctx.host()));
    let changes = [of_file(file, "default acl", from, to)];
    ctx.change(promise, result, &changes, &wording::copy_acl(file), |act| {
        act.set_xattr(&path(file), DEFAULT, Some(&access.encode()))
    });
}

fn cleared(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, file: &str, result: &mut Outcome) {
    let old = match existing(ctx, file, DEFAULT, None) {
        Ok(old) if old.is_empty() => {
            as_promised(ctx, promise, format_args!("Default ACL on '{file}' as promised"));
            return;
        }
        Ok(old) => old.text(ctx.host()),
        Err(why) => {
            let text = format!("Unable to read default acl for '{file}'. (acl_get_file: {why})");
            failed(ctx, promise, result, &text);
            return;
        }
    };
    let changes = [of_file(file, "default acl", old, ABSENT)];
    ctx.change(promise, result, &changes, &wording::clear_acl(file), |act| {
        act.set_xattr(&path(file), DEFAULT, None)
    });
}

// Whom an entry of policy names, and its mode with what follows.
fn entity<'t>(ctx: &Agent<'_>, ace: &'t str) -> Option<(Who, &'t str)> {
    let (kind, rest) = ace.split_once(':')?;
    match kind {
        "all" => Some((Who::Others, rest)),
        "mask" => Some((Who::Mask, rest)),
        "user" | "group" => {
            let (name, mode) = rest.split_once(':')?;
            let who = match (kind, name) {
                ("user", "*") => Who::Owner,
                ("user", _) => Who::User(ctx.host().user(name).ok().flatten()?.uid),
                (_, "*") => Who::OwningGroup,
                _ => Who::Group(ctx.host().group(name).ok().flatten()?.gid),
            };
            Some((who, mode))
        }
        _ => None,
    }
}

// `=rw,+x` or `rw`, up to the word that allows; permissions of other systems stand in
// brackets and are passed over.
fn mode_bits(text: &str, before: u8) -> Option<u8> {
    let mode = text.split(':').next().unwrap_or_default();
    let mut bits = before;
    for clause in mode.split(',') {
        let (operator, letters) = match clause.as_bytes().first() {
            Some(operator @ (b'=' | b'+' | b'-')) => (*operator, &clause[1..]),
            _ => (b'=', clause),
        };
        let mut named = 0;
        for letter in letters.chars() {
            match letter {
                // Those of the system are the same.
                '(' | ')' => {}
                'r' => named |= 4,
                'w' => named |= 2,
                'x' => named |= 1,
                _ => return None,
            }
        }
        bits = match operator {
            b'+' => bits | named,
            b'-' => bits & !named,
            _ => named,
        };
    }
    Some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_set_add_and_take_away() {
        let table = [
            ("=rw", 1, Some(6)),
            ("rwx:allow", 0, Some(7)),
            ("+x", 4, Some(5)),
            ("-w,+x", 6, Some(5)),
            ("=r(w)", 1, Some(6)),
            ("=r(D)", 7, None),
            ("q", 0, None),
            ("", 7, Some(0)),
        ];
        for (text, before, expected) in table {
            assert_eq!(mode_bits(text, before), expected, "{text}");
        }
    }
}
