//! acl: POSIX access control lists, read and written as the extended attributes in which
//! the kernel keeps them. Lists of Windows are refused.

use std::rc::Rc;

use fx_host::{Act, Meta};

use crate::agent::change::{ABSENT, of_file};
use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::load::reason;
use crate::outcome::Outcome;
use crate::text::{Str, path};
use crate::wording;

use super::{acl_syntax, as_promised, failed};

const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";

/// Whom an entry is about; in the order the kernel wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Owner,
    User(u32),
    Group,
    NamedGroup(u32),
    Mask,
    Other,
}

/// One entry: whom it is about, and the bits `rwx`.
type Entry = (Who, u16);

/// Verifies the ACL of one file.
pub(super) fn verify(
    ctx: &mut Context<'_>,
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
fn existing(
    ctx: &Context<'_>,
    file: &str,
    name: &str,
    meta: Option<&Meta>,
) -> Result<Vec<Entry>, String> {
    match ctx.host().xattr(&path(file), name) {
        Ok(Some(bytes)) => decode(&bytes).ok_or_else(|| "Invalid argument".to_owned()),
        Ok(None) => Ok(meta.map_or_else(Vec::new, |meta| {
            let bits = |shift: u32| (meta.mode >> shift & 7) as u16;
            vec![(Who::Owner, bits(6)), (Who::Group, bits(3)), (Who::Other, bits(0))]
        })),
        Err(error) => Err(reason(&error)),
    }
}

// The access list where the file's state is given, else the default list of a directory.
fn entries(
    ctx: &mut Context<'_>,
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
    let mut new = if overwrite { Vec::new() } else { old.clone() };
    let mut masked = false;
    for ace in aces {
        let Some((who, mode)) = entity(ctx, ace) else {
            failed(ctx, promise, result, &format!("ACL: Error parsing entity in '{ace}'"));
            return false;
        };
        masked |= who == Who::Mask;
        let before = new.iter().find(|(known, _)| *known == who).map_or(0, |(_, bits)| *bits);
        let Some(bits) = mode_bits(mode, before) else {
            failed(ctx, promise, result, &format!("ACL: Error parsing mode-string in '{mode}'"));
            return false;
        };
        put(&mut new, who, bits);
    }
    if !masked && !new.is_empty() {
        let mask = new
            .iter()
            .filter(|(who, _)| matches!(who, Who::User(_) | Who::Group | Who::NamedGroup(_)))
            .fold(0, |all, (_, bits)| all | bits);
        put(&mut new, Who::Mask, mask);
    }
    if new == old {
        let text = format_args!("'{word}' ACL on '{file}' needs no modification.");
        as_promised(ctx, promise, text);
        return true;
    }
    let list = shown(ctx.host(), &new);
    let words = wording::change_acl(file, word, &list);
    let property = if name == ACCESS { "acl" } else { "default acl" };
    let changes = [of_file(file, property, shown(ctx.host(), &old), list.as_str())];
    if !ctx.may(promise, result, &changes, &words.should) {
        return true;
    }
    let complete = [Who::Owner, Who::Group, Who::Other]
        .iter()
        .all(|wanted| new.iter().any(|(who, _)| who == wanted));
    if !complete {
        let text =
            format!("Invalid ACL in '{list}' at index 0 (acl_check: Missing or wrong entry)");
        failed(ctx, promise, result, &text);
        return false;
    }
    let set = |act: &dyn Act| act.set_xattr(&path(file), name, Some(&encode(&new)));
    ctx.change(promise, result, &changes, &words, set).is_some()
}

fn same_as_access(
    ctx: &mut Context<'_>,
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
    let (from, to) = (shown(ctx.host(), &default), shown(ctx.host(), &access));
    let changes = [of_file(file, "default acl", from, to)];
    ctx.change(promise, result, &changes, &wording::copy_acl(file), |act| {
        act.set_xattr(&path(file), DEFAULT, Some(&encode(&access)))
    });
}

fn cleared(ctx: &mut Context<'_>, promise: &Rc<Expanded>, file: &str, result: &mut Outcome) {
    let old = match existing(ctx, file, DEFAULT, None) {
        Ok(old) if old.is_empty() => {
            as_promised(ctx, promise, format_args!("Default ACL on '{file}' as promised"));
            return;
        }
        Ok(old) => shown(ctx.host(), &old),
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

fn put(list: &mut Vec<Entry>, who: Who, bits: u16) {
    list.retain(|(known, _)| *known != who);
    let at = list.partition_point(|(known, _)| *known < who);
    list.insert(at, (who, bits));
}

// Whom an entry of policy names, and its mode with what follows.
fn entity<'t>(ctx: &Context<'_>, ace: &'t str) -> Option<(Who, &'t str)> {
    let (kind, rest) = ace.split_once(':')?;
    match kind {
        "all" => Some((Who::Other, rest)),
        "mask" => Some((Who::Mask, rest)),
        "user" | "group" => {
            let (name, mode) = rest.split_once(':')?;
            let who = match (kind, name) {
                ("user", "*") => Who::Owner,
                ("user", _) => Who::User(ctx.host().user(name).ok().flatten()?.uid),
                (_, "*") => Who::Group,
                _ => Who::NamedGroup(ctx.host().group(name).ok().flatten()?.gid),
            };
            Some((who, mode))
        }
        _ => None,
    }
}

// `=rw,+x` or `rw`, up to the word that allows; permissions of other systems stand in
// brackets and are passed over.
fn mode_bits(text: &str, before: u16) -> Option<u16> {
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

// The kernel's form: a version, then tag, bits and number of each entry.
fn encode(list: &[Entry]) -> Vec<u8> {
    let mut out = 2_u32.to_le_bytes().to_vec();
    for (who, bits) in list {
        let (tag, id): (u16, u32) = match who {
            Who::Owner => (1, u32::MAX),
            Who::User(id) => (2, *id),
            Who::Group => (4, u32::MAX),
            Who::NamedGroup(id) => (8, *id),
            Who::Mask => (16, u32::MAX),
            Who::Other => (32, u32::MAX),
        };
        out.extend(tag.to_le_bytes());
        out.extend(bits.to_le_bytes());
        out.extend(id.to_le_bytes());
    }
    out
}

fn decode(bytes: &[u8]) -> Option<Vec<Entry>> {
    let (version, rest) = bytes.split_first_chunk::<4>()?;
    if u32::from_le_bytes(*version) != 2 || !rest.len().is_multiple_of(8) {
        return None;
    }
    let mut list = Vec::new();
    for entry in rest.chunks_exact(8) {
        let tag = u16::from_le_bytes([entry[0], entry[1]]);
        let bits = u16::from_le_bytes([entry[2], entry[3]]);
        let id = u32::from_le_bytes([entry[4], entry[5], entry[6], entry[7]]);
        let who = match tag {
            1 => Who::Owner,
            2 => Who::User(id),
            4 => Who::Group,
            8 => Who::NamedGroup(id),
            16 => Who::Mask,
            32 => Who::Other,
            _ => return None,
        };
        put(&mut list, who, bits);
    }
    Some(list)
}

fn shown(host: &dyn fx_host::Look, list: &[Entry]) -> String {
    let user = |id: u32| match host.user_by_id(id) {
        Ok(Some(user)) => user.name,
        _ => id.to_string(),
    };
    let group = |id: u32| match host.group_by_id(id) {
        Ok(Some(group)) => group.name,
        _ => id.to_string(),
    };
    let one = |(who, bits): &Entry| {
        let letters: String = [(4, 'r'), (2, 'w'), (1, 'x')]
            .iter()
            .map(|(bit, letter)| if bits & bit == 0 { '-' } else { *letter })
            .collect();
        match who {
            Who::Owner => format!("user::{letters}"),
            Who::User(id) => format!("user:{}:{letters}", user(*id)),
            Who::Group => format!("group::{letters}"),
            Who::NamedGroup(id) => format!("group:{}:{letters}", group(*id)),
            Who::Mask => format!("mask::{letters}"),
            Who::Other => format!("other::{letters}"),
        }
    };
    list.iter().map(one).collect::<Vec<_>>().join(",")
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

    #[test]
    fn lists_are_read_back_as_written_in_the_order_of_the_kernel() {
        let mut list = Vec::new();
        for (who, bits) in
            [(Who::Other, 4), (Who::User(7), 6), (Who::Owner, 7), (Who::Group, 5), (Who::Mask, 7)]
        {
            put(&mut list, who, bits);
        }
        assert_eq!(
            shown(&fx_host::MemoryHost::new(), &list),
            "user::rwx,user:7:rw-,group::r-x,mask::rwx,other::r--"
        );
        assert_eq!(decode(&encode(&list)), Some(list));
        assert_eq!(decode(b"\x01\0\0\0"), None);
    }
}
