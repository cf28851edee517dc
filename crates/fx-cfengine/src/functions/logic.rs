//! Conditions: and, or, not, ifelse, comparison, classes and versions.

use crate::eval::Context;
use crate::eval::classes::Class;
use crate::eval::table_order::{set_order, string_hash};
use crate::policy::Rval;
use crate::regex;
use crate::text::{Str, canonify, int_from, real_from};

use super::{FnResult, Given, arg, list, text, truth};

/// `and`.
pub(crate) fn and(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    truth(args.iter().enumerate().all(|(index, _)| ctx.defined(arg(args, index))))
}

/// `or`.
pub(crate) fn or(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    truth(args.iter().enumerate().any(|(index, _)| ctx.defined(arg(args, index))))
}

/// `not`.
pub(crate) fn not(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let expression = arg(args, 0);
    truth(!ctx.defined(expression))
}

/// `ifelse`.
pub(crate) fn call_ifelse(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    ifelse(ctx, args)
}

/// `classmatch`.
pub(crate) fn classmatch(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    truth(any_matches(ctx, args))
}

/// `classesmatching`.
pub(crate) fn classesmatching(
    ctx: &mut Context<'_>,
    Given { name, args, .. }: Given<'_>,
) -> FnResult {
    if lacks_argument(ctx, name, args) {
        return None;
    }
    list(matching(ctx, args))
}

/// `countclassesmatching`.
pub(crate) fn countclassesmatching(
    ctx: &mut Context<'_>,
    Given { name, args, .. }: Given<'_>,
) -> FnResult {
    if lacks_argument(ctx, name, args) {
        return None;
    }
    text(matching(ctx, args).len().to_string())
}

/// `classify`.
pub(crate) fn classify(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let class = canonify(arg(args, 0));
    truth(ctx.defined(&class))
}

/// `isvariable`.
pub(crate) fn isvariable(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    truth(ctx.lookup(arg(args, 0), None, None).is_some())
}

/// `strcmp`.
pub(crate) fn strcmp(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    truth(arg(args, 0) == arg(args, 1))
}

/// `regcmp`.
pub(crate) fn regcmp(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let found = regex::full_captures(arg(args, 0), arg(args, 1));
    if let Some(found) = &found {
        ctx.put_matches(found);
    }
    truth(found.is_some())
}

/// `islessthan`.
pub(crate) fn islessthan(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    compare(args, std::cmp::Ordering::is_lt)
}

/// `isgreaterthan`.
pub(crate) fn isgreaterthan(_: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    compare(args, std::cmp::Ordering::is_gt)
}

/// `splayclass`.
pub(crate) fn splayclass(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    splay(ctx, args)
}

/// `hostrange`.
pub(crate) fn hostrange(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    host_range(ctx, args)
}

/// `randomint`.
pub(crate) fn randomint(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    random(ctx, args)
}

/// `cf_version_maximum`, `cf_version_minimum`, `cf_version_after`, `cf_version_at`, `cf_version_before`, `cf_version_between`.
pub(crate) fn compare_version(
    ctx: &mut Context<'_>,
    Given { name, args, .. }: Given<'_>,
) -> FnResult {
    version(ctx, name, args)
}

// Conditions and values in pairs, then the value for all other cases.
fn ifelse(ctx: &mut Context<'_>, args: &[Rval]) -> FnResult {
    if args.len().is_multiple_of(2) {
        ctx.fatal("in built-in FnCall ifelse: even number of arguments");
        return None;
    }
    for pair in args.chunks(2) {
        match pair {
            [condition, value] if ctx.defined(arg(std::slice::from_ref(condition), 0)) => {
                return Some(value.clone());
            }
            [last] => return Some(last.clone()),
            _ => {}
        }
    }
    None
}

// What a class is held against: its name, and its tags where any are asked for.
struct Wanted<'a> {
    name: regex::Full<'a>,
    exact: &'a str,
    tags: Vec<&'a str>,
}

impl<'a> Wanted<'a> {
    fn new(args: &'a [Rval]) -> Wanted<'a> {
        let exact = arg(args, 0);
        let tags = (1..args.len()).map(|index| arg(args, index)).collect();
        Wanted { name: regex::Full::new(exact), exact, tags }
    }

    fn holds(&self, name: &str, class: &Class) -> bool {
        (name == self.exact || self.name.matches(name))
            && (self.tags.is_empty()
                || self.tags.iter().any(|tag| {
                    class.tags.iter().any(|known| **known == **tag || regex::full(tag, known))
                }))
    }
}

pub(super) fn lacks_argument(ctx: &mut Context<'_>, name: &str, args: &[Rval]) -> bool {
    if args.is_empty() {
        ctx.fatal(&format!("Function '{name}' requires at least one argument"));
    }
    args.is_empty()
}

fn any_matches(ctx: &mut Context<'_>, args: &[Rval]) -> bool {
    if lacks_argument(ctx, "classmatch", args) {
        return false;
    }
    let wanted = Wanted::new(args);
    let mut global = ctx.hard.iter().chain(ctx.soft.iter());
    global.any(|(name, class)| wanted.holds(name, class))
        || !ctx.local_classes(|name, class| wanted.holds(name, class)).is_empty()
}

// Classes whose name, and one of whose tags, match: those of this bundle call, then the
// global ones. The original puts each match before those it has.
fn matching(ctx: &Context<'_>, args: &[Rval]) -> Vec<Str> {
    let wanted = Wanted::new(args);
    let holds = |name: &str, class: &Class| wanted.holds(name, class);
    let mut names = set_order(ctx.global_classes(holds));
    names.extend(set_order(ctx.local_classes(holds)));
    names.reverse();
    names
}

fn compare(args: &[Rval], wanted: fn(std::cmp::Ordering) -> bool) -> FnResult {
    let (a, b) = (arg(args, 0), arg(args, 1));
    let ordering = match (number(a), number(b)) {
        (Some(x), Some(y)) => x.partial_cmp(&y)?,
        _ => a.cmp(b),
    };
    truth(wanted(ordering))
}

fn number(text: &str) -> Option<f64> {
    let first = text.chars().next()?;
    (first.is_ascii_digit() || matches!(first, '-' | '+' | '.')).then(|| real_from(text)).flatten()
}

fn splay(ctx: &Context<'_>, args: &[Rval]) -> FnResult {
    // Five-minute slots of an hour, or of a day, by the low bits of the hash.
    let daily = arg(args, 1) != "hourly";
    let slots = if daily { 12 * 24 } else { 12 };
    let slot = (string_hash(arg(args, 0)) & 8191) * slots / 8192;
    let minute = (slot % 12) * 5;
    let mut name = format!("Min{minute:02}_{:02}", (minute + 5) % 60);
    if daily {
        name = format!("{name}.Hr{:02}", slot / 12);
    }
    ctx.verbose(&format!("Computed context for '{}' splayclass: '{name}'", arg(args, 0)));
    truth(ctx.defined(&name))
}

fn host_range(ctx: &Context<'_>, args: &[Rval]) -> FnResult {
    let (base, range) = (arg(args, 0), arg(args, 1));
    let host = ctx
        .vars
        .get("sys", "uqhost")
        .and_then(super::super::eval::vars::Found::scalar)
        .unwrap_or_default();
    let parsed = range.split_once('-').and_then(|(from, to)| {
        Some((from.trim().parse::<i64>().ok()?, to.trim().parse::<i64>().ok()?))
    });
    let Some((from, to)) = parsed else {
        ctx.error("HostRange syntax error: second arg should have X-Y format where X and Y are decimal numbers");
        return None;
    };
    let inside = host
        .strip_prefix(base)
        .and_then(|rest| rest.parse::<i64>().ok())
        .is_some_and(|n| n >= from && n <= to);
    truth(inside)
}

fn random(ctx: &Context<'_>, args: &[Rval]) -> FnResult {
    let (mut from, mut to) = (int_from(arg(args, 0))?, int_from(arg(args, 1))?);
    if from == to {
        return text(from.to_string());
    }
    if from > to {
        std::mem::swap(&mut from, &mut to);
    }
    let mut bytes = [0_u8; 8];
    ctx.host().random(&mut bytes);
    let span = (to - from) as u64;
    text((from + (u64::from_le_bytes(bytes) % span) as i64).to_string())
}

// Up to three numbers with points between them; what comes after is not looked at.
fn leading_numbers(text: &str) -> Vec<i64> {
    let mut out = Vec::new();
    let mut rest = text;
    while out.len() < 3 {
        rest = rest.trim_start();
        let sign = usize::from(rest.starts_with(['-', '+']));
        let digits = rest[sign..].bytes().take_while(u8::is_ascii_digit).count();
        let Ok(number) = rest[..sign + digits].parse() else { break };
        out.push(number);
        match rest[sign + digits..].strip_prefix('.') {
            Some(after) => rest = after,
            None => break,
        }
    }
    out
}

fn version(ctx: &Context<'_>, name: &str, args: &[Rval]) -> FnResult {
    let compare = |index: usize| -> Option<std::cmp::Ordering> {
        let parts = leading_numbers(arg(args, index));
        if parts.is_empty() {
            let which = match (name, index) {
                ("cf_version_between", 0) => "lower ",
                ("cf_version_between", _) => "upper ",
                _ => "",
            };
            ctx.error(&format!(
                "{name}: Format of {which}version comparison string '{}' is incorrect",
                arg(args, index)
            ));
            return None;
        }
        let ours = [3, 21, 0];
        Some(ours[..parts.len()].cmp(&parts[..]))
    };
    let first = compare(0)?;
    truth(match name {
        "cf_version_maximum" => first.is_le(),
        "cf_version_minimum" => first.is_ge(),
        "cf_version_after" => first.is_gt(),
        "cf_version_at" => first.is_eq(),
        "cf_version_before" => first.is_lt(),
        // Both are read before they are judged.
        _ => {
            let second = compare(1)?;
            first.is_ge() && second.is_le()
        }
    })
}
