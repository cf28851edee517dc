//! The network: names and addresses, ranges, requests.

use std::net::IpAddr;

use fx_host::Request;

use crate::eval::Context;
use crate::json::{Json, Object};
use crate::policy::Rval;
use crate::text::decode;

use super::{FnResult, arg, container, text, truth};

pub(super) fn call(ctx: &mut Context<'_>, name: &str, args: &[Rval]) -> FnResult {
    let first = arg(args, 0);
    match name {
        // What does not resolve is given back as it is.
        "host2ip" => {
            let found = ctx.host().resolve(first).unwrap_or_default();
            text(found.first().map_or_else(|| first.to_owned(), ToString::to_string))
        }
        "ip2host" => {
            let address = first.parse().ok();
            let found = address.and_then(|address| ctx.host().reverse(address).ok().flatten());
            text(found.unwrap_or_else(|| first.to_owned()))
        }
        "iprange" => {
            let interface = if args.len() > 1 { Some(arg(args, 1)) } else { None };
            let interfaces = ctx.host().interfaces().unwrap_or_default();
            let mut addresses = interfaces
                .iter()
                .filter(|known| interface.is_none_or(|wanted| known.name == wanted))
                .flat_map(|known| known.addresses.iter().map(|(address, _)| *address));
            truth(addresses.any(|address| in_range(first, address)))
        }
        "isipinsubnet" => {
            let mut inside = false;
            for index in 1..args.len() {
                inside |= arg(args, index).parse().is_ok_and(|address| in_range(first, address));
            }
            truth(inside)
        }
        "url_get" => fetch(ctx, args),
        "selectservers" => text("0"),
        "network_connections" => container(ctx.network_connections()),
        "ldaparray" | "ldaplist" | "ldapvalue" | "regldap" => {
            ctx.error("LDAP support only available in CFEngine Enterprise");
            None
        }
        _ => {
            ctx.error(&format!("Function '{name}' is not supported on this host"));
            None
        }
    }
}

// CIDR, ranges like 10.0.0.1-5, prefixes like 10.0, or a plain address.
fn in_range(range: &str, address: IpAddr) -> bool {
    if let Some((base, bits)) = range.split_once('/') {
        let (Ok(base), Ok(bits)) = (base.parse::<IpAddr>(), bits.parse::<u32>()) else {
            return false;
        };
        return match (base, address) {
            (IpAddr::V4(base), IpAddr::V4(address)) if bits <= 32 => {
                let shift = 32 - bits;
                (u64::from(u32::from(base)) >> shift) == (u64::from(u32::from(address)) >> shift)
            }
            (IpAddr::V6(base), IpAddr::V6(address)) if bits <= 128 => {
                bits == 0
                    || (u128::from(base) >> (128 - bits)) == (u128::from(address) >> (128 - bits))
            }
            _ => false,
        };
    }
    let IpAddr::V4(address) = address else { return range.parse() == Ok(address) };
    let octets = address.octets();
    let parts: Vec<&str> = range.split('.').collect();
    parts.len() <= 4
        && parts.iter().zip(octets).all(|(part, octet)| match part.split_once('-') {
            Some((from, to)) => {
                from.parse::<u8>().is_ok_and(|from| octet >= from)
                    && to.parse::<u8>().is_ok_and(|to| octet <= to)
            }
            None => part.parse() == Ok(octet),
        })
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
    match ctx.host().http(&request) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_addresses() {
        let table = [
            ("10.0.0.0/8", "10.1.2.3", true),
            ("10.0.0.1-5", "10.0.0.3", true),
            ("10.0.0.1-5", "10.0.0.9", false),
            ("::1/128", "::1", true),
            ("192.168", "192.168.4.4", true),
        ];
        for (range, address, expected) in table {
            assert_eq!(
                in_range(range, address.parse().expect("an address")),
                expected,
                "{range} {address}"
            );
        }
    }
}
