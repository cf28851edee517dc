//! The network: names and addresses, ranges, requests.

use std::rc::Rc;

use fx_host::Request;

use crate::connect::Call;
use crate::eval::Context;
use crate::eval::value::{DataType, Value};
use crate::json::{Json, Object};
use crate::policy::Rval;
use crate::regex;
use crate::text::{Str, canonify, decode, encode, int_from};

use super::address::in_range;
use super::{FnResult, Given, arg, container, text, truth};

/// `host2ip`.
pub(crate) fn host2ip(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    // What does not resolve is given back as it is.
    let first = arg(args, 0);
    let found = ctx.host().resolve(first).unwrap_or_else(|error| {
        let why = crate::reason::bare_reason(&error);
        ctx.info(&format!(
            "Unable to lookup hostname '{first}' or cfengine service. (getaddrinfo: {why})"
        ));
        Vec::new()
    });
    text(found.first().map_or_else(|| first.to_owned(), ToString::to_string))
}

/// `ip2host`.
pub(crate) fn ip2host(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    const UNKNOWN: &str = "(getaddrinfo: Name or service not known)";
    let Ok(address) = first.parse() else {
        ctx.error(&format!("Unable to convert IP address '{first}'. {UNKNOWN}"));
        return text(first);
    };
    let found = ctx.host().reverse(address).ok().flatten();
    text(found.unwrap_or_else(|| {
        ctx.info(&format!("Couldn't reverse resolve '{first}'. {UNKNOWN}"));
        first.to_owned()
    }))
}

/// `iprange`.
pub(crate) fn iprange(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    let interfaces = ctx.host().interfaces().unwrap_or_default();
    let wanted: Vec<String> = (1..args.len()).map(|at| canonify(arg(args, at))).collect();
    let known: Vec<String> = interfaces
        .iter()
        .filter(|known| {
            wanted.is_empty() || wanted.iter().any(|name| *name == canonify(&known.name))
        })
        .flat_map(|known| known.addresses.iter().map(|address| address.ip))
        .filter(|address| *address != std::net::IpAddr::V6(std::net::Ipv6Addr::LOCALHOST))
        .map(|address| address.to_string())
        .collect();
    any_in_range(ctx, first, known.iter().map(String::as_str))
}

/// `isipinsubnet`.
pub(crate) fn isipinsubnet(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    any_in_range(ctx, first, (1..args.len()).map(|at| arg(args, at)))
}

/// `url_get`.
pub(crate) fn url_get(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    fetch(ctx, args)
}

/// `readtcp`.
pub(crate) fn readtcp(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    read_tcp(ctx, args)
}

/// `selectservers`.
pub(crate) fn selectservers(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    select_servers(ctx, args)
}

/// `network_connections`.
pub(crate) fn network_connections(ctx: &mut Context<'_>, _: Given<'_>) -> FnResult {
    container(ctx.network_connections())
}

/// `ldaparray`, `ldaplist`, `ldapvalue`, `regldap`.
pub(crate) fn ldap(ctx: &mut Context<'_>, _: Given<'_>) -> FnResult {
    ctx.error("LDAP support only available in CFEngine Enterprise");
    None
}

// As much of an answer as the original has room for.
const ROOM: usize = 4095;

fn room(text: &str) -> usize {
    int_from(text).and_then(|bytes| usize::try_from(bytes).ok()).map_or(ROOM, |size| size.min(ROOM))
}

fn read_tcp(ctx: &Context<'_>, args: &[Rval]) -> FnResult {
    if ctx.checks_only() {
        return None;
    }
    let question = encode(arg(args, 2));
    let call = Call {
        host: arg(args, 0),
        port: arg(args, 1),
        only_v4: false,
        patience: ctx.patience(None),
        question: &question,
        limit: room(arg(args, 3)),
    };
    match ctx.connect(&call) {
        Ok(answer) => text(decode(until_zero(&answer))),
        Err(why) => {
            ctx.info(&format!("readtcp: Couldn't connect. (socket: {why})"));
            None
        }
    }
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

// The hosts that accept a connection, or that answer a question with what matches.
fn select_servers(ctx: &mut Context<'_>, args: &[Rval]) -> FnResult {
    let name = arg(args, 0).strip_prefix("@(")?.strip_suffix(')')?;
    let Value::List(hosts) = ctx.lookup_function_arg(name)?.value() else { return None };
    if ctx.checks_only() {
        return text("0");
    }
    let (question, pattern) = (encode(arg(args, 2)).into_owned(), arg(args, 3));
    let limit = if question.is_empty() { 0 } else { room(arg(args, 4)) };
    let (scope, base) = ctx.qualify(arg(args, 5));
    let scope = scope?;
    let tags: Rc<[Str]> = Rc::from(["source=function".into(), "function=selectservers".into()]);
    let mut count = 0;
    for host in hosts.iter() {
        let call = Call {
            host,
            port: arg(args, 1),
            only_v4: false,
            patience: ctx.patience(None),
            question: &question,
            limit,
        };
        let Ok(answer) = ctx.connect(&call) else { continue };
        let answer = decode(until_zero(&answer));
        if question.is_empty() || pattern.is_empty() || regex::full(pattern, &answer) {
            let value = Value::Scalar(Rc::clone(host));
            ctx.vars.put(&scope, &format!("{base}[{count}]"), DataType::String, value, &tags);
            count += 1;
        }
    }
    text(count.to_string())
}

fn any_in_range<'a>(
    ctx: &Context<'_>,
    range: &str,
    addresses: impl Iterator<Item = &'a str>,
) -> FnResult {
    for address in addresses {
        match in_range(range, address) {
            Ok(true) => return truth(true),
            Ok(false) => {}
            Err(error) => ctx.error(&error),
        }
    }
    truth(false)
}

fn fetch(ctx: &Context<'_>, args: &[Rval]) -> FnResult {
    let url = arg(args, 0);
    let options = args
        .get(1)
        .and_then(|value| ctx.data_arg(value, false))
        .unwrap_or(Json::Object(Object::new()));
    let option = |name: &str| options.select(&[name]).and_then(Json::primitive);
    let mut request = Request::get(url);
    if let Some(limit) = option("url.max_content").and_then(|text| text.parse().ok()) {
        request.limit = limit;
    }
    let mut out = Object::new();
    match ctx.host().fetch(&request) {
        Ok(response) => {
            out.insert("returncode".into(), Json::Int(i64::from(response.status)));
            out.insert("rc".into(), Json::Int(0));
            out.insert("success".into(), Json::Bool(true));
            let headers: String =
                response.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
            out.insert("headers".into(), Json::Str(headers.into()));
            out.insert("content".into(), Json::Str(decode(&response.body).into()));
        }
        Err(error) => {
            out.insert("returncode".into(), Json::Int(0));
            out.insert("rc".into(), Json::Int(1));
            out.insert("success".into(), Json::Bool(false));
            out.insert("error_message".into(), Json::Str(error.to_string().into()));
            out.insert("content".into(), Json::str(""));
            out.insert("headers".into(), Json::str(""));
        }
    }
    container(Json::Object(out))
}
