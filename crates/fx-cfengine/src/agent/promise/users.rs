//! users.
use std::rc::Rc;

use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::outcome::Outcome;

pub(crate) fn keep(ctx: &mut Context<'_>, promise: &Rc<Expanded>) -> Outcome {
    super::unsupported(ctx, promise)
}
