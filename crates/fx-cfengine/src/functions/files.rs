//! Questions about files: existence, kind, status, names that match.

use std::rc::Rc;

use fx_host::{Kind, Meta};

use crate::eval::Context;
use crate::json::Json;
use crate::policy::Rval;
use crate::regex;
use crate::text::{Str, decode, from_path, int_from, path};

use super::{FnResult, Given, arg, container, list, primitives, text, truth};

// A relative name is looked for where files promises have taken us.
fn here(ctx: &Context<'_>, name: &str) -> Str {
    if name.is_empty() || name.starts_with('/') {
        name.into()
    } else {
        format!("{}/{name}", ctx.cwd).into()
    }
}

/// `fileexists`, `isdir`, `islink`, `isplain`, `isexecutable`, `filesize`.
pub(crate) fn test_file(ctx: &mut Context<'_>, Given { name, args, .. }: Given<'_>) -> FnResult {
    let file = arg(args, 0);
    let file = &*here(ctx, file);
    let Ok(Some(meta)) = ctx.host().lstat_opt(&path(file)) else {
        return if name == "filesize" { None } else { truth(false) };
    };
    match name {
        "fileexists" => truth(true),
        "isdir" => truth(meta.is_dir()),
        "islink" => truth(meta.is_symlink()),
        "isplain" => truth(meta.is_file()),
        "isexecutable" => {
            truth(ctx.host().stat(&path(file)).is_ok_and(|meta| executable(ctx, &meta)))
        }
        _ => text(meta.size.to_string()),
    }
}

/// `filestat`.
pub(crate) fn filestat(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let file = arg(args, 0);
    stat(ctx, file, arg(args, 1))
}

/// `filesexist`.
pub(crate) fn filesexist(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let names = primitives(&ctx.data_arg(args.first()?, false)?);
    truth(
        !names.is_empty()
            && names.iter().all(|name| ctx.host().stat(&path(&here(ctx, name))).is_ok()),
    )
}

/// `findfiles`.
pub(crate) fn findfiles(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let mut found: Vec<Str> = Vec::new();
    for index in 0..args.len() {
        let pattern = arg(args, index);
        if !pattern.starts_with('/') {
            ctx.warning(&format!("Non-absolute path in findfiles(), skipping: {pattern}"));
            continue;
        }
        for file in find_files(ctx, pattern) {
            let file: Str = file.into();
            if !found.contains(&file) {
                found.push(file);
            }
        }
    }
    list(found)
}

/// `findfiles_up`, `search_up`.
pub(crate) fn find_upwards(ctx: &mut Context<'_>, Given { name, args, .. }: Given<'_>) -> FnResult {
    find_up(ctx, name, args)
}

/// `lsdir`.
pub(crate) fn lsdir(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let file = arg(args, 0);
    let pattern = arg(args, 1);
    let full = crate::text::bool_from(arg(args, 2))?;
    match ctx.host().list(&path(file)) {
        Err(error) => {
            ctx.error(&format!(
                "Directory '{file}' could not be accessed in lsdir(), (opendir: {})",
                crate::reason::reason(&error)
            ));
            list(Vec::new())
        }
        Ok(entries) => {
            let names = [".".to_owned(), "..".to_owned()]
                .into_iter()
                .chain(entries.iter().map(|entry| from_path(std::path::Path::new(&entry.name))));
            let matching = names.filter(|name| pattern.is_empty() || regex::full(pattern, name));
            list(
                matching
                    .map(|name| if full { format!("{file}/{name}").into() } else { name.into() })
                    .collect(),
            )
        }
    }
}

/// `diskfree`.
pub(crate) fn diskfree(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let file = arg(args, 0);
    match ctx.host().stat(&path(file)) {
        Ok(_) => {
            let limit = std::time::Duration::from_secs(10);
            text((ctx.host().space(&path(file), limit).ok()?.available / 1024).to_string())
        }
        Err(error) => {
            let why = crate::reason::reason(&error);
            ctx.error(&format!("Couldn't get filesystem info for '{file}'. (statfs: {why})"));
            text("0")
        }
    }
}

/// `isnewerthan`, `accessedbefore`, `changedbefore`.
pub(crate) fn compare_ages(ctx: &mut Context<'_>, Given { name, args, .. }: Given<'_>) -> FnResult {
    let file = arg(args, 0);
    compare(ctx, name, file, arg(args, 1))
}

fn executable(ctx: &Context<'_>, meta: &Meta) -> bool {
    if ctx.host().euid() == 0 {
        return meta.is_dir() || meta.mode & 0o111 != 0;
    }
    let bits = if meta.uid == ctx.host().euid() {
        0o100
    } else if meta.gid == ctx.host().egid() {
        0o010
    } else {
        0o001
    };
    meta.mode & bits != 0
}

fn compare(ctx: &Context<'_>, name: &str, first: &str, second: &str) -> FnResult {
    let a = ctx.host().stat(&path(first)).ok()?;
    let b = ctx.host().stat(&path(second)).ok()?;
    truth(match name {
        "isnewerthan" => a.mtime.secs > b.mtime.secs,
        "accessedbefore" => a.atime.secs < b.atime.secs,
        _ => a.ctime.secs < b.ctime.secs,
    })
}

// Directories are distinguished and the special bits are not.
fn permission_string(meta: &Meta) -> String {
    let mut out = String::from(if meta.is_dir() { 'd' } else { '-' });
    for shift in [6, 3, 0] {
        let bits = (meta.mode >> shift) & 7;
        out.push(if bits & 4 != 0 { 'r' } else { '-' });
        out.push(if bits & 2 != 0 { 'w' } else { '-' });
        out.push(if bits & 1 != 0 { 'x' } else { '-' });
    }
    out
}

fn stat(ctx: &Context<'_>, file: &str, field: &str) -> FnResult {
    let meta = ctx.host().lstat(&path(file)).ok()?;
    let base = file.rsplit('/').next().unwrap_or(file);
    text(match field {
        "size" => meta.size.to_string(),
        "gid" => meta.gid.to_string(),
        "uid" => meta.uid.to_string(),
        "ino" => meta.ino.to_string(),
        "nlink" => meta.nlink.max(1).to_string(),
        "ctime" => meta.ctime.secs.to_string(),
        "mtime" => meta.mtime.secs.to_string(),
        "atime" => meta.atime.secs.to_string(),
        "permstr" => permission_string(&meta),
        "permoct" => format!("{:o}", meta.mode & 0o777),
        "modeoct" => format!("{:o}", meta.kind.bits() | meta.mode),
        "mode" => (meta.kind.bits() | meta.mode).to_string(),
        "type" => match meta.kind {
            Kind::File => "regular file",
            Kind::Directory => "directory",
            Kind::Symlink => "symlink",
            Kind::Fifo => "FIFO/pipe",
            Kind::Socket => "socket",
            Kind::CharDevice => "character device",
            Kind::BlockDevice => "block device",
        }
        .to_owned(),
        "devno" => meta.dev.to_string(),
        "dev_minor" => ((meta.dev & 0xff) | ((meta.dev >> 12) & 0xff_ff00)).to_string(),
        "dev_major" => (((meta.dev >> 8) & 0xfff) | ((meta.dev >> 32) & 0xffff_f000)).to_string(),
        "basename" => base.to_owned(),
        "dirname" => super::string::dirname(file),
        "linktarget" | "linktarget_shallow" => {
            if !meta.is_symlink() {
                file.to_owned()
            } else if field == "linktarget_shallow" {
                from_path(&ctx.host().read_link(&path(file)).ok()?)
            } else {
                from_path(&follow(ctx, file)?)
            }
        }
        "xattr" => {
            let names = ctx.host().xattrs(&path(file)).unwrap_or_default();
            let mut out = String::new();
            for name in names {
                let name = decode(std::os::unix::ffi::OsStrExt::as_bytes(name.as_os_str()));
                if let Ok(Some(value)) = ctx.host().xattr(&path(file), &name) {
                    out.push_str(&format!("{name}={}\n", decode(&value)));
                }
            }
            out
        }
        _ => String::new(),
    })
}

// Follows links by name, so that a dangling one gives its last target.
fn follow(ctx: &Context<'_>, file: &str) -> Option<std::path::PathBuf> {
    let mut at = path(file);
    for _ in 0..32 {
        match ctx.host().lstat(&at) {
            Ok(meta) if meta.is_symlink() => {
                let target = ctx.host().read_link(&at).ok()?;
                at = if target.is_absolute() { target } else { at.parent()?.join(target) };
            }
            _ => return Some(at),
        }
    }
    Some(at)
}

/// Files a glob names, sorted; `**` stands for up to six levels of directories.
pub(crate) fn find_files(ctx: &Context<'_>, pattern: &str) -> Vec<String> {
    let mut out = Vec::new();
    if pattern.contains("**") {
        // Two stars stand for any number of directories up to six, none included where
        // something follows; nearer files come first.
        if pattern.contains("**/") {
            glob(ctx, &pattern.replace("**/", ""), &mut out);
        }
        for level in 1..=6 {
            glob(ctx, &pattern.replace("**", &vec!["*"; level].join("/")), &mut out);
        }
    } else {
        glob(ctx, pattern, &mut out);
    }
    let mut seen = std::collections::HashSet::new();
    out.retain(|file| seen.insert(file.clone()));
    out
}

fn glob(ctx: &Context<'_>, pattern: &str, out: &mut Vec<String>) {
    let trailing = pattern.ends_with('/') && pattern.len() > 1;
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    let mut paths: Vec<String> = vec![String::new()];
    for (index, part) in parts.iter().enumerate() {
        let last = index + 1 == parts.len();
        let mut next = Vec::new();
        for base in &paths {
            if !part.contains(['*', '?', '[', '\\']) {
                let candidate = format!("{base}/{part}");
                if !last || ctx.host().lstat(&path(&candidate)).is_ok() {
                    next.push(candidate);
                }
                continue;
            }
            let dir = if base.is_empty() { "/" } else { base };
            let Ok(entries) = ctx.host().list(&path(dir)) else { continue };
            for entry in entries {
                let name = from_path(std::path::Path::new(&entry.name));
                if name.starts_with('.') && !part.starts_with('.') {
                    continue;
                }
                if glob_match(part, &name) {
                    let candidate = format!("{base}/{name}");
                    if last || ctx.host().stat(&path(&candidate)).is_ok_and(|meta| meta.is_dir()) {
                        next.push(candidate);
                    }
                }
            }
        }
        paths = next;
    }
    if trailing {
        paths.retain(|candidate| ctx.host().stat(&path(candidate)).is_ok_and(|meta| meta.is_dir()));
    }
    paths.sort();
    out.extend(paths.into_iter().filter(|path| !path.is_empty()));
}

/// Whether a name matches one component of a glob.
pub(crate) fn glob_match(pattern: &str, name: &str) -> bool {
    let expression = fx_formats::glob::regex(pattern, false);
    regex::find(&format!("^{expression}$"), name).is_some()
}

fn find_up(ctx: &Context<'_>, name: &str, args: &[Rval]) -> FnResult {
    let pattern = arg(args, 1);
    let levels = if args.len() > 2 { int_from(arg(args, 2))? } else { 999_999_999 };
    let start = arg(args, 0);
    let missing = match args.len() {
        0 => Some("path as first"),
        1 => Some("glob as second"),
        _ => None,
    };
    if let Some(what) = missing {
        ctx.error(&format!("Function {name} requires {what} argument"));
        return None;
    }
    if !ctx.host().stat(&path(start)).is_ok_and(|meta| meta.is_dir()) {
        ctx.error(&format!("Function {name}, path '{start}' is not a directory"));
        return None;
    }
    if pattern.starts_with('/') {
        ctx.error(&format!("Function {name}, glob '{pattern}' cannot be an absolute path"));
        return None;
    }
    if pattern.ends_with('/') || pattern.is_empty() {
        return None;
    }
    let mut dir = crate::text::compress_path(arg(args, 0));
    dir.truncate(dir.trim_end_matches('/').len());
    let mut found = Vec::new();
    for _ in 0..=levels.max(0) {
        let mut matches = find_files(ctx, &format!("{dir}/{pattern}"));
        matches.sort();
        found.extend(matches.into_iter().map(|file| Json::Str(Rc::from(file.as_str()))));
        match dir.rfind('/') {
            Some(at) => dir.truncate(at),
            None => break,
        }
    }
    container(Json::Array(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_one_component() {
        let table = [
            ("*.cf", "a.cf", true),
            ("a?c", "abc", true),
            ("[!a]x", "bx", true),
            ("a.c", "abc", false),
        ];
        for (pattern, name, expected) in table {
            assert_eq!(glob_match(pattern, name), expected, "{pattern} {name}");
        }
    }
}
