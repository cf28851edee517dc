//! acl: POSIX access control lists, written as the extended attribute the kernel keeps.

use std::rc::Rc;

use fx_host::Meta;

use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::outcome::Outcome;

use super::failed;

/// Verifies the ACL of one file.
pub(super) fn verify(
    ctx: &mut Context<'_>,
    promise: &Rc<Expanded>,
    file: &str,
    _meta: &Meta,
    result: &mut Outcome,
) {
    failed(ctx, promise, result, &format!("Access control lists are not supported ('{file}')"));
}
