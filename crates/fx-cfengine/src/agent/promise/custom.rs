//! custom.
use std::rc::Rc;

use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::outcome::Outcome;

#[derive(Default)]
pub(crate) struct State {}

pub(crate) fn keep(ctx: &mut Context<'_>, promise: &Rc<Expanded>) -> Outcome {
    super::unsupported(ctx, promise)
}

pub(crate) fn terminate(_ctx: &mut Context<'_>) {}
