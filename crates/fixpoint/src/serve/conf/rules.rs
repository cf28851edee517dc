//! Rules of `auth.conf`, as rows of the server's table.

use fx_server::{Access, Pattern, Rule, Who};
use regex::Regex;

use super::tree::Part;

pub(super) fn read(part: &Part<'_>) -> Result<Vec<Rule>, String> {
    let mut rules: Vec<Rule> = Vec::new();
    for (name, member) in part.members()? {
        match name {
            "version" if member.number()? == 1 => {}
            "version" => return Err(member.wrong("only version 1 is known")),
            "allow-header-cert-info" => {
                if member.flag()? {
                    return Err(member.wrong(
                        "certificates in headers are not taken: let TLS end in this server, behind a balancer for TCP",
                    ));
                }
            }
            "rules" => {
                for item in member.items() {
                    let named = item.value["name"].as_str().map(|name| item.at_line_of(name));
                    let rule = rule(&named.unwrap_or(item.clone()))?;
                    if rules.iter().any(|known| known.name == rule.name) {
                        return Err(item.wrong(&format!("two rules are named '{}'", rule.name)));
                    }
                    rules.push(rule);
                }
            }
            other => return Err(member.wrong(&format!("'{other}' is not known; remove it"))),
        }
    }
    Ok(rules)
}

fn rule(part: &Part<'_>) -> Result<Rule, String> {
    let (mut name, mut order, mut request, mut anyone) = (None, None, None, false);
    let (mut allow, mut deny) = (None, None);
    for (key, member) in part.members()? {
        match key {
            "name" => name = Some(member.text()?),
            "sort-order" => {
                let number = u16::try_from(member.number()?).ok().filter(|n| (1..=999).contains(n));
                order = Some(number.ok_or_else(|| member.wrong("it must be from 1 to 999"))?);
            }
            "match-request" => request = Some(matched(&member)?),
            "allow" => allow = Some(callers(&member)?),
            "deny" => deny = Some(callers(&member)?),
            "allow-unauthenticated" => anyone = member.flag()?,
            other => return Err(member.wrong(&format!("'{other}' is not known; remove it"))),
        }
    }
    let missing = |what: &str| part.wrong(&format!("a rule needs '{what}'"));
    let Request { path, methods, query } = request.ok_or_else(|| missing("match-request"))?;
    let access = match (anyone, allow, deny) {
        (true, None, None) => Access::Anyone,
        (true, ..) => {
            return Err(part.wrong("'allow-unauthenticated' goes with neither 'allow' nor 'deny'"));
        }
        (false, None, None) => return Err(missing("allow")),
        (false, allow, deny) => {
            Access::Only { allow: allow.unwrap_or_default(), deny: deny.unwrap_or_default() }
        }
    };
    Ok(Rule {
        name: name.ok_or_else(|| missing("name"))?,
        order: order.ok_or_else(|| missing("sort-order"))?,
        path,
        methods,
        query,
        access,
    })
}

struct Request {
    path: Pattern,
    methods: Vec<String>,
    query: Vec<(String, Vec<String>)>,
}

fn regex(part: &Part<'_>, text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| part.wrong(&format!("this pattern is not known: {error}")))
}

fn matched(part: &Part<'_>) -> Result<Request, String> {
    let (mut path, mut kind) = (None, None);
    let (mut methods, mut query) = (Vec::new(), Vec::new());
    for (key, member) in part.members()? {
        match key {
            "path" => path = Some((member.text()?, member)),
            "type" => kind = Some((member.text()?, member)),
            "method" => {
                for item in member.items() {
                    let method = item.text()?.to_uppercase();
                    if !matches!(
                        method.as_str(),
                        "GET" | "PUT" | "POST" | "DELETE" | "HEAD" | "ANY"
                    ) {
                        return Err(item.wrong(&format!("'{method}' is no method")));
                    }
                    methods.push(method);
                }
            }
            "query-params" => {
                for (name, values) in member.members()? {
                    let values = values.items().iter().map(Part::text).collect::<Result<_, _>>()?;
                    query.push((name.to_owned(), values));
                }
            }
            other => return Err(member.wrong(&format!("'{other}' is not known; remove it"))),
        }
    }
    if methods.iter().any(|method| method == "ANY") {
        methods.clear();
    }
    let (text, at) = path.ok_or_else(|| part.wrong("'path' is missing"))?;
    let (kind, kind_at) = kind.ok_or_else(|| part.wrong("'type' is missing"))?;
    let path = match kind.as_str() {
        "path" => Pattern::Prefix(text),
        "regex" => Pattern::Regex(regex(&at, &text)?),
        other => return Err(kind_at.wrong(&format!("'{other}' is neither path nor regex"))),
    };
    Ok(Request { path, methods, query })
}

fn callers(part: &Part<'_>) -> Result<Vec<Who>, String> {
    part.items().iter().map(caller).collect()
}

fn caller(part: &Part<'_>) -> Result<Who, String> {
    if !part.value.is_object() {
        return named(part, &part.text()?);
    }
    let members = part.members()?;
    let [(key, member)] = members.as_slice() else {
        return Err(part.wrong("either 'certname' or 'extensions' is wanted"));
    };
    match *key {
        "certname" => named(member, &member.text()?),
        "extensions" => {
            let mut wanted = Vec::new();
            for (name, values) in member.members()? {
                let values = values.items().iter().map(Part::text).collect::<Result<_, _>>()?;
                wanted.push((name.to_owned(), values));
            }
            Ok(Who::Extensions(wanted))
        }
        other => Err(member.wrong(&format!("'{other}' is not known; remove it"))),
    }
}

fn named(part: &Part<'_>, text: &str) -> Result<Who, String> {
    if text == "*" {
        return Ok(Who::Any);
    }
    if let Some(number) = text.strip_prefix('$') {
        let number = number.parse().ok().filter(|number| *number > 0);
        return number.map(Who::Capture).ok_or_else(|| part.wrong("this names no group"));
    }
    if let Some(pattern) = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
        return regex(part, pattern).map(Who::Pattern);
    }
    if let Some(domain) = text.strip_prefix("*.") {
        return Ok(Who::Domain(domain.to_owned()));
    }
    if text.contains('*') {
        return Err(part.wrong("a star stands for a whole name or before a domain"));
    }
    Ok(Who::Name(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::tree::Part;
    use super::read;

    #[test]
    fn what_is_not_understood_is_named_with_its_line() {
        let check = |rule: &str, wanted: &str| {
            let text = format!("authorization: {{\n  version: 1\n  rules: [\n{rule}\n  ]\n}}\n");
            let value = fx_puppet::parse_hocon(&text).unwrap();
            let top = Part::top("auth.conf", &text, &value);
            let part = top.members().unwrap().remove(0).1;
            let found = read(&part).map(|rules| rules.len().to_string());
            assert_eq!(found.unwrap_or_else(|error| error), wanted);
        };
        let whole = "match-request: { path: \"/x\", type: path, method: [get, put] }\n";
        check(
            &format!("{{ {whole} allow: [\"*.a.b\", \"$1\", \"/x/\"]\n sort-order: 5\n name: n }}"),
            "1",
        );
        check(
            &format!(
                "{{ {whole} allow: {{ extensions: {{ pp_cli_auth: \"true\" }} }}\n sort-order: 5\n name: n }}"
            ),
            "1",
        );
        check(
            &format!("{{ {whole} alow: \"*\"\n sort-order: 5\n name: n }}"),
            "auth.conf:5: authorization.rules.alow: 'alow' is not known; remove it",
        );
        check(
            &format!("{{ {whole} sort-order: 5\n name: n }}"),
            "auth.conf:6: authorization.rules: a rule needs 'allow'",
        );
        check(
            &format!("{{ {whole} allow: \"x*y\"\n sort-order: 5\n name: n }}"),
            "auth.conf:5: authorization.rules.allow: a star stands for a whole name or before a domain",
        );
        let bad = "{ match-request: { path: \"(x\", type: regex }\n allow: x, name: n }";
        let text = format!("authorization: {{ rules: [\n{bad}\n] }}");
        let value = fx_puppet::parse_hocon(&text).unwrap();
        let top = Part::top("auth.conf", &text, &value);
        let error = read(&top.members().unwrap().remove(0).1).unwrap_err();
        assert!(
            error.starts_with("auth.conf:2: authorization.rules.match-request.path: "),
            "{error}"
        );
    }
}
