//! packages.
use std::rc::Rc;

use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::functions::FnResult;
use crate::outcome::Outcome;
use crate::policy::Rval;

#[derive(Default)]
pub(crate) struct State {}

pub(crate) fn keep(ctx: &mut Context<'_>, promise: &Rc<Expanded>) -> Outcome {
    super::unsupported(ctx, promise)
}

pub(crate) fn run_scheduled(_ctx: &mut Context<'_>) -> Outcome {
    Outcome::Skipped
}

pub(crate) fn matching(_ctx: &mut Context<'_>, _name: &str, _args: &[Rval]) -> FnResult {
    None
}
