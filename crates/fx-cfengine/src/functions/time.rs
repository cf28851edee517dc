//! Time: now, moments from dates, durations, formatting.

use crate::clock;
use crate::eval::Context;
use crate::policy::Rval;
use crate::text::int_from;

use super::{FnResult, Given, arg, text, truth};

/// `now`.
pub(crate) fn now(ctx: &mut Context<'_>, _: Given<'_>) -> FnResult {
    let now = ctx.host().now().secs;
    text(now.to_string())
}

/// `ago`.
pub(crate) fn call_ago(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let now = ctx.host().now().secs;
    text(ago(ctx, now, &numbers(args)?)?.to_string())
}

/// `accumulated`.
pub(crate) fn accumulated(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let n = numbers(args)?;
    let days = n[0] * 365 + n[1] * 30 + n[2];
    text((((days * 24 + n[3]) * 60 + n[4]) * 60 + n[5]).to_string())
}

/// `on`.
pub(crate) fn on(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    // The original takes the month from 0 and adds one to the day: January is 0, and
    // its first day too.
    let mut n = numbers(args)?;
    let months = n[0] * 12 + n[1];
    (n[0], n[1]) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    n[2] += 1;
    text(clock::local_to_epoch(ctx, &n)?.to_string())
}

/// `laterthan`.
pub(crate) fn laterthan(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let now = ctx.host().now().secs;
    let n = numbers(args)?;
    truth(now > clock::local_to_epoch(ctx, &n)?)
}

/// `strftime`.
pub(crate) fn strftime(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    // The length that is said of an empty text is that of a failure.
    if arg(args, 1).is_empty() {
        return None;
    }
    let moment = int_from(arg(args, 2))?;
    let utc = arg(args, 0) == "gmtime";
    text(clock::format(ctx, moment, utc, arg(args, 1))?)
}

fn numbers(args: &[Rval]) -> Option<Vec<i64>> {
    let numbers: Vec<i64> =
        (0..6).map(|index| int_from(arg(args, index))).collect::<Option<_>>()?;
    Some(numbers)
}

// Days and finer are durations; months and years go back in the calendar.
fn ago(ctx: &Context<'_>, now: i64, n: &[i64]) -> Option<i64> {
    let base = now - (n[5] + 60 * (n[4] + 60 * (n[3] + 24 * n[2])));
    if n[0] == 0 && n[1] == 0 {
        return Some(base);
    }
    let mut fields = clock::fields(ctx, base, false)?;
    let months = fields[0] * 12 + fields[1] - 1 - n[0] * 12 - n[1];
    fields[0] = months.div_euclid(12);
    fields[1] = months.rem_euclid(12) + 1;
    clock::local_to_epoch(ctx, &fields)
}
