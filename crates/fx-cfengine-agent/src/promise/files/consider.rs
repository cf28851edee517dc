//! Names in directories that are left alone: what file systems keep for themselves, names
//! that `suspiciousnames` lists, and one that looks like a way out of the directory.

use fx_cfengine::log;
use fx_cfengine::policy::Rval;
use fx_cfengine::text::path;
use fx_engine::Level;

use crate::agent::Agent;

/// Whether an entry of a directory is looked at. `plain` says that it is a file or a link,
/// which alone can have a suspicious name.
pub(in crate::promise) fn considered(ctx: &Agent<'_>, dir: &str, name: &str, plain: bool) -> bool {
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
pub(super) fn is_plain(ctx: &Agent<'_>, file: &str) -> bool {
    ctx.host().lstat(&path(file)).is_ok_and(|meta| meta.is_file() || meta.is_symlink())
}

fn suspicious(ctx: &Agent<'_>, name: &str) -> bool {
    match ctx.control.agent.get("suspiciousnames") {
        Some(Rval::List(names)) => {
            names.iter().filter_map(Rval::as_scalar).any(|known| **known == *name)
        }
        _ => false,
    }
}
