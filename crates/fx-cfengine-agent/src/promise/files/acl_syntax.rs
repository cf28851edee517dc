//! What can be wrong with the entries of an acl body, in the words of the original.

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::text::Str;
use fx_engine::Level;

use crate::agent::Agent;

/// Whether all entries can be read. As in the original the last word is that of the list that
/// is looked at last.
pub(super) fn sound(ctx: &Agent<'_>, promise: &Expanded) -> bool {
    let posix = promise.scalar("acl_type").is_some_and(|kind| &**kind == "posix");
    let mut valid = true;
    for list in ["aces", "specify_default_aces", "specify_inherit_aces"] {
        for ace in promise.list(list).unwrap_or_default() {
            valid = entry(ctx, promise, &ace, posix);
            if !valid {
                complain(ctx, promise, &format!("ACL: The ACE '{ace}' contains errors"));
                break;
            }
        }
    }
    valid
}

fn complain(ctx: &Agent<'_>, promise: &Expanded, text: &str) {
    ctx.error(text);
    ctx.log_place(Level::Error, &promise.promise);
}

fn entry(ctx: &Agent<'_>, promise: &Expanded, ace: &Str, posix: bool) -> bool {
    let rest = if let Some(named) = ace.strip_prefix("user:").or_else(|| ace.strip_prefix("group:"))
    {
        match named.split_once(':') {
            Some(("", _)) => {
                ctx.error(&format!("ACL: ACE '{ace}': id cannot be empty or contain ':'"));
                return false;
            }
            Some((_, rest)) => rest,
            None => {
                ctx.error(&format!("ACL: Nothing following id string in ACE '{ace}'"));
                return false;
            }
        }
    } else if let Some(rest) = ace.strip_prefix("all:") {
        rest
    } else if let Some(rest) = ace.strip_prefix("mask:") {
        if !posix {
            complain(ctx, promise, "This ACL type does not support mask ACE.");
            return false;
        }
        rest
    } else {
        complain(ctx, promise, &format!("ACL: ACE '{ace}' does not start with user:/group:/all"));
        return false;
    };
    let (mode, kind) = match rest.split_once(':') {
        Some((mode, kind)) => (mode, Some(kind)),
        None => (rest, None),
    };
    if !sound_mode(ctx, promise, mode, posix) {
        complain(ctx, promise, &format!("ACL: Malformed mode-string in ACE '{ace}'"));
        return false;
    }
    if kind == Some("deny") {
        complain(ctx, promise, "Deny permission not supported by this ACL type");
    }
    if kind.is_none_or(|kind| kind == "allow") {
        return true;
    }
    ctx.error(&format!("ACL: Malformed perm_type syntax in ACE '{ace}'"));
    false
}

// Clauses of an operator, letters and letters of the system in brackets.
fn sound_mode(ctx: &Agent<'_>, promise: &Expanded, mode: &str, posix: bool) -> bool {
    if mode.is_empty() {
        return true;
    }
    let native: &[char] = if posix { &['r', 'w', 'x'] } else { &[] };
    let mut rest = mode;
    loop {
        rest = rest.trim_start_matches(['=', '+', '-']).trim_start_matches(['r', 'w', 'x']);
        if let Some(inner) = rest.strip_prefix('(') {
            let after = inner.trim_start_matches(native);
            match after.strip_prefix(')') {
                Some(after) => rest = after,
                None => {
                    let wrong = after.chars().next().unwrap_or('\0');
                    let text = format!(
                        "ACL: Invalid native permission '{wrong}', or missing native end separator"
                    );
                    complain(ctx, promise, &text);
                    return false;
                }
            }
        }
        if rest.is_empty() {
            return true;
        }
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None => {
                complain(ctx, promise, "ACL: Mode string contains invalid characters");
                return false;
            }
        }
    }
}
