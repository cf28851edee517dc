//! Names in directories that are left alone: what file systems keep for themselves, names
//! that `suspiciousnames` lists, and one that looks like a way out of the directory.

use fx_engine::Level;

use crate::eval::{Context, log};
use crate::policy::Rval;
use crate::text::path;

/// Whether an entry of a directory is looked at. `plain` says that it is a file or a link,
/// which alone can have a suspicious name.
pub(in crate::agent::promise) fn considered(
    ctx: &Context<'_>,
    dir: &str,
    name: &str,
    plain: bool,
) -> bool {
    if plain && suspicious(ctx, name) {
        ctx.log(
            Level::Warning,
            &format!("Filename '{dir}/{name}' is classified as suspiscious, skipping"),
        );
        return false;
    }
    match name {
        "..." => {
            ctx.log(
                Level::Warning,
                &format!("Possible path traversal attempt detected in '{dir}/{name}', skipping"),
            );
            false
        }
        "lost+found" | ".cfengine.rm" => {
            log!(ctx, Verbose, "Filename '{dir}/{name}' is classified as ignorable, skipping");
            false
        }
        _ => true,
    }
}

/// Whether a path is a file or a link.
pub(super) fn is_plain(ctx: &Context<'_>, file: &str) -> bool {
    ctx.host().lstat(&path(file)).is_ok_and(|meta| meta.is_file() || meta.is_symlink())
}

fn suspicious(ctx: &Context<'_>, name: &str) -> bool {
    match ctx.control.agent.get("suspiciousnames") {
        Some(Rval::List(names)) => {
            names.iter().filter_map(Rval::as_scalar).any(|known| **known == *name)
        }
        _ => false,
    }
}
