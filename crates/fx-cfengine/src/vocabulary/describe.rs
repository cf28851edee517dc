//! The language described as data, as `cf-promises -s json` prints it for editors and
//! checkers. Parameters of functions carry no description here.

use crate::json::{Json, Object, put};

use super::{
    Attribute, CACHED, COLLECTING, Function, Status, Type, VARIADIC, bodies, functions, promises,
};

/// Functions by what they are about; those that work on data are not listed.
const CATEGORIES: &[(&str, &[&str])] = &[
    (
        "files",
        &[
            "accessedbefore",
            "changedbefore",
            "dirname",
            "diskfree",
            "file_hash",
            "fileexists",
            "filesexist",
            "filesize",
            "filestat",
            "findfiles",
            "findfiles_up",
            "isdir",
            "isexecutable",
            "islink",
            "isnewerthan",
            "isplain",
            "laterthan",
            "lsdir",
            "search_up",
            "translatepath",
        ],
    ),
    (
        "utils",
        &[
            "bundlestate",
            "cf_version_after",
            "cf_version_at",
            "cf_version_before",
            "cf_version_between",
            "cf_version_maximum",
            "cf_version_minimum",
            "classesmatching",
            "classmatch",
            "countclassesmatching",
            "datastate",
            "execresult",
            "execresult_as_data",
            "getclassmetatags",
            "getvariablemetatags",
            "isvariable",
            "returnszero",
            "splayclass",
            "usemodule",
        ],
    ),
    ("internal", &["callstack_callers", "callstack_promisers"]),
    (
        "io",
        &[
            "classfiltercsv",
            "countlinesmatching",
            "data_readstringarray",
            "data_readstringarrayidx",
            "parseintarray",
            "parsejson",
            "parserealarray",
            "parsestringarray",
            "parsestringarrayidx",
            "parseyaml",
            "read_module_protocol",
            "readcsv",
            "readdata",
            "readenvfile",
            "readfile",
            "readintarray",
            "readintlist",
            "readjson",
            "readrealarray",
            "readreallist",
            "readstringarray",
            "readstringarrayidx",
            "readstringlist",
            "readyaml",
            "regline",
        ],
    ),
    (
        "system",
        &[
            "data_sysctlvalues",
            "findprocesses",
            "getenv",
            "getuid",
            "getuserinfo",
            "getusers",
            "groupexists",
            "hostinnetgroup",
            "now",
            "packagesmatching",
            "packageupdatesmatching",
            "processexists",
            "registryvalue",
            "sysctlvalue",
            "userexists",
        ],
    ),
    (
        "communication",
        &[
            "host2ip",
            "hostrange",
            "hostsseen",
            "hostswithclass",
            "hubknowledge",
            "ip2host",
            "iprange",
            "isipinsubnet",
            "ldaparray",
            "ldaplist",
            "ldapvalue",
            "network_connections",
            "peerleader",
            "peerleaders",
            "peers",
            "readtcp",
            "regldap",
            "remoteclassesmatching",
            "remotescalar",
            "selectservers",
            "url_get",
        ],
    ),
];

/// The whole description.
pub(crate) fn describe() -> Json {
    let bodies = bodies::BODIES.iter().map(|(name, attributes)| {
        (*name, of_type(attributes.iter().map(|one| (one, "body")).collect()))
    });
    let bundles = promises::BUNDLES.iter().map(|(name, types)| {
        let types = types.iter().map(|name| Json::str(name)).collect();
        (*name, object([("promiseTypes", Json::Array(types)), ("status", Json::str("normal"))]))
    });
    let kinds = promises::PROMISES.iter().map(|(name, own)| (*name, promise_type(own)));
    let functions = functions::FUNCTIONS.iter().map(|one| (one.name, function(one)));
    object([
        ("bodyTypes", object(bodies)),
        ("bundleTypes", object(bundles)),
        ("functions", object(functions)),
        ("promiseTypes", object(kinds)),
    ])
}

fn object<'a>(fields: impl IntoIterator<Item = (&'a str, Json)>) -> Json {
    let mut out = Object::new();
    for (name, value) in fields {
        put(&mut out, name.into(), value);
    }
    Json::Object(out)
}

fn promise_type(own: &'static [Attribute]) -> Json {
    let common = promises::COMMON.iter().map(|one| (one, "global"));
    let own = own.iter().map(|one| {
        (one, if SHARED_BY_EDITS.contains(&one.name) { "bundle" } else { "promiseType" })
    });
    of_type(common.chain(own).collect())
}

/// Attributes that all promise types of an edit bundle have.
const SHARED_BY_EDITS: &[&str] = &["select_region", "build_xpath", "select_xpath"];

fn of_type(attributes: Vec<(&'static Attribute, &str)>) -> Json {
    let described = attributes.into_iter().map(|(one, seen)| {
        let mut fields = vec![
            ("attribute", Json::str(one.name)),
            ("status", Json::str(status(one.status))),
            ("type", Json::str(word(one.kind))),
            ("visibility", Json::str(seen)),
        ];
        if !matches!(one.kind, Type::Body | Type::Bundle) {
            fields.push(("range", Json::str(one.range)));
        }
        (one.name, object(fields))
    });
    object([("attributes", object(described)), ("status", Json::str("normal"))])
}

fn function(one: &Function) -> Json {
    let category = CATEGORIES
        .iter()
        .find(|(_, names)| names.contains(&one.name))
        .map_or("data", |(category, _)| category);
    let params = one.params.iter().map(|(kind, range)| {
        object([
            ("description", Json::str("")),
            ("range", Json::str(range)),
            ("type", Json::str(word(*kind))),
        ])
    });
    let old = if one.name == "splitstring" { Status::Deprecated } else { Status::Normal };
    object([
        ("cached", Json::Bool(one.has(CACHED))),
        ("category", Json::str(category)),
        ("collecting", Json::Bool(one.has(COLLECTING))),
        ("parameters", Json::Array(params.collect())),
        ("returnType", Json::str(word(one.result))),
        ("status", Json::str(status(old))),
        ("variadic", Json::Bool(one.has(VARIADIC))),
    ])
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Normal => "normal",
        Status::Deprecated => "deprecated",
        Status::Removed => "removed",
    }
}

fn word(kind: Type) -> &'static str {
    match kind {
        Type::Context => "context",
        Type::Body => "body",
        Type::Bundle => "bundle",
        other => other.word(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_known_is_described() {
        let Json::Object(all) = describe() else { panic!("an object") };
        let count = |name: &str| all.get(name).map_or(0, Json::len);
        let counts = ["bodyTypes", "bundleTypes", "functions", "promiseTypes"].map(count);
        assert_eq!(counts, [41, 6, 186, 30]);
        let text = describe().compact();
        for part in [
            r#""attribute":"acl_directory_inherit","range":"nochange,parent,specify,clear","status":"deprecated","type":"option","visibility":"body""#,
            r#""and":{"cached":false,"category":"data","collecting":false,"parameters":[],"returnType":"context","status":"normal","variadic":true}"#,
        ] {
            assert!(text.contains(part), "{part}");
        }
    }
}
