//! Classes in guards that nothing defines: neither the policy nor a machine of any kind.

use fx_cfengine_syntax as ast;
use fx_source::{Diagnostic, Span};

use crate::eval::Context;
use crate::eval::expr::{self, Expr};
use crate::facts::{DAYS, MONTHS};

use super::symbols::Symbols;
use super::{nearest, text_of};

/// Attributes that hold class expressions.
const CONDITIONS: &[&str] =
    &["if", "ifvarclass", "unless", "expression", "not", "and", "or", "xor", "select_class"];

/// Classes that machines other than this one have, by how they begin.
const PLATFORMS: &[&str] = &[
    "aix",
    "alma",
    "alpine",
    "amazon",
    "android",
    "archlinux",
    "arm",
    "aarch64",
    "centos",
    "cisco",
    "coreos",
    "cumulus",
    "cygwin",
    "darwin",
    "debian",
    "devuan",
    "dragonfly",
    "eos",
    "fedora",
    "freebsd",
    "gentoo",
    "hp_ux",
    "hpux",
    "i386",
    "i486",
    "i586",
    "i686",
    "ia64",
    "illumos",
    "kali",
    "linux",
    "macos",
    "mandrake",
    "mandriva",
    "mingw",
    "mint",
    "netbsd",
    "openbsd",
    "opensuse",
    "openvz",
    "oracle",
    "pop",
    "ppc",
    "raspbian",
    "redhat",
    "rhel",
    "rocky",
    "s390",
    "scientific",
    "sco",
    "slackware",
    "smartos",
    "smartmachine",
    "solaris",
    "sparc",
    "sun4",
    "sunos",
    "suse",
    "sles",
    "SLES",
    "SuSE",
    "ubuntu",
    "unix",
    "vmware",
    "VMware",
    "virt_",
    "vz",
    "windows",
    "Windows",
    "x86",
    "xen",
    "docker",
    "kvm",
    "lxc",
    "container",
    "systemd",
    "upstart",
    "launchd",
];

/// Classes of the agent itself, by how they begin.
const AGENTS: &[&str] = &[
    "am_policy_hub",
    "policy_server",
    "agent",
    "any",
    "bootstrap_mode",
    "cfengine",
    "cf_",
    "common",
    "community",
    "compiled_on",
    "debug_mode",
    "enterprise",
    "executor",
    "failsafe",
    "feature",
    "from_cfexecd",
    "hub",
    "inform_mode",
    "ipv4",
    "ipv6",
    "mac_",
    "monitor",
    "net_iface",
    "nova",
    "opt_",
    "runagent",
    "server",
    "specific",
    "trigger_",
    "update",
    "verbose_mode",
    "GMT_",
    "Lcycle_",
    "Yr",
    "Day",
    "Hr",
    "Min",
    "Q1",
    "Q2",
    "Q3",
    "Q4",
    "_have_",
    "64_bit",
    "32_bit",
    "DEBUG",
    "EXTRA",
    "AUTO",
];

const TIMES_OF_DAY: &[&str] = &["Night", "Morning", "Afternoon", "Evening"];

fn calendar<'a>() -> impl Iterator<Item = &'a str> {
    [&MONTHS[..], &DAYS, TIMES_OF_DAY].into_iter().flatten().copied()
}

pub(super) fn check(
    ctx: &Context<'_>,
    symbols: &Symbols,
    block: &ast::Block,
    out: &mut Vec<Diagnostic>,
) {
    let mut look = |text: &str, span: Span| expression(ctx, symbols, text, span, out);
    let mut guard = |guard: &Option<ast::Guard>| match guard {
        Some(ast::Guard::Plain(name) | ast::Guard::Variable(name)) => look(&name.text, name.span),
        None => {}
    };
    match block {
        ast::Block::Settings(body) => {
            body.attributes.iter().for_each(|attribute| guard(&attribute.guard));
        }
        ast::Block::Bundle(bundle) => {
            for promise in bundle.sections.iter().flat_map(|section| &section.promises) {
                guard(&promise.guard);
            }
            for promise in bundle.sections.iter().flat_map(|section| &section.promises) {
                for attribute in &promise.attributes {
                    if CONDITIONS.contains(&&*attribute.name.text) {
                        condition(&attribute.value, &mut look);
                    }
                }
            }
        }
    }
}

fn condition(value: &ast::Rval, look: &mut dyn FnMut(&str, Span)) {
    match &value.kind {
        ast::RvalKind::List(items) => items.iter().for_each(|item| condition(item, look)),
        ast::RvalKind::Quoted(_) => {
            if let Some(text) = text_of(value) {
                look(text, value.span);
            }
        }
        _ => {}
    }
}

fn expression(
    ctx: &Context<'_>,
    symbols: &Symbols,
    text: &str,
    span: Span,
    out: &mut Vec<Diagnostic>,
) {
    let Some(parsed) = expr::parse(text) else { return };
    let mut names = Vec::new();
    leaves(&parsed, &mut names, 0);
    for name in names {
        let base = name.rsplit(':').next().unwrap_or(name);
        if symbols.may_be_class(base)
            || ctx.hard.contains_key(base)
            || ctx.soft.contains_key(name)
            || is_known(base)
        {
            continue;
        }
        // A class may come from the command line, from augments, from a module or be the
        // name of a host, so only what looks like another one is surely wrong.
        let known = symbols
            .classes
            .iter()
            .map(String::as_str)
            .chain(ctx.hard.keys().map(|name| &**name).filter(|name| !is_host_bound(name)))
            .chain(calendar());
        if let Some(near) = nearest(base, known) {
            out.push(
                Diagnostic::warning("cf-class", format!("nothing defines class '{base}'"))
                    .label(span, "")
                    .help(format!("did you mean '{near}'?")),
            );
        }
    }
}

// Classes that separate one host or one moment from another are near each other by nature.
fn is_host_bound(name: &str) -> bool {
    name.contains(|c: char| c.is_ascii_digit())
}

fn is_known(name: &str) -> bool {
    PLATFORMS.iter().chain(AGENTS).any(|start| name.starts_with(start))
        || calendar().any(|known| known == name)
}

fn leaves<'e>(node: &'e Expr, out: &mut Vec<&'e str>, depth: usize) {
    if depth > 64 {
        return;
    }
    match node {
        Expr::Or(items) | Expr::And(items) => {
            for item in items {
                leaves(item, out, depth + 1);
            }
        }
        Expr::Not(item) => leaves(item, out, depth + 1),
        Expr::Name(name) => out.push(name),
        Expr::Unexpanded => {}
    }
}
