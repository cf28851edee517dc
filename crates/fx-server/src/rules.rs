//! Who may do what: rules in order, the first that matches decides, and nothing is allowed that
//! none of them allows. The table of the original's defaults is data.

use regex::Regex;

use crate::caller::{Caller, Identity};
use crate::message::Head;

/// Which paths a rule is about.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// This path and everything below it.
    Path(String),
    /// One segment below this path; it is what [`Who::Capture`] of 1 means.
    Below(String),
    /// All paths that begin with this text, as the original's rules mean it.
    Prefix(String),
    Regex(Regex),
}

impl Pattern {
    /// What the pattern captures of a path; nothing where it does not match.
    fn captures(&self, path: &str) -> Option<Vec<String>> {
        match self {
            Pattern::Path(prefix) => {
                let rest = path.strip_prefix(prefix.as_str())?;
                (rest.is_empty() || rest.starts_with('/')).then(Vec::new)
            }
            Pattern::Prefix(prefix) => path.starts_with(prefix.as_str()).then(Vec::new),
            Pattern::Below(prefix) => {
                let rest = path.strip_prefix(prefix.as_str())?.strip_prefix('/')?;
                (!rest.is_empty() && !rest.contains('/')).then(|| vec![rest.to_owned()])
            }
            Pattern::Regex(regex) => {
                let found = regex.captures(path)?;
                let groups = found.iter().skip(1);
                Some(groups.map(|group| group.map_or("", |group| group.as_str()).into()).collect())
            }
        }
    }
}

/// Who is meant.
#[derive(Clone, Debug)]
pub enum Who {
    /// Everybody with a certificate.
    Any,
    Name(String),
    /// All below a domain.
    Domain(String),
    Pattern(Regex),
    /// The name that the path has, counted from 1.
    Capture(usize),
    /// Who has all of these extensions with one of the values.
    Extensions(Vec<(String, Vec<String>)>),
}

impl Who {
    fn is(&self, identity: &Identity, captures: &[String]) -> bool {
        let name = &identity.name;
        match self {
            Who::Any => true,
            Who::Name(wanted) => name == wanted,
            Who::Domain(domain) => {
                name.strip_suffix(domain.as_str()).is_some_and(|rest| rest.ends_with('.'))
            }
            Who::Pattern(regex) => regex.is_match(name),
            Who::Capture(at) => {
                at.checked_sub(1).and_then(|at| captures.get(at)).is_some_and(|part| part == name)
            }
            Who::Extensions(wanted) => wanted.iter().all(|(key, values)| {
                identity.extensions.iter().any(|(has, text)| has == key && values.contains(text))
            }),
        }
    }
}

/// What a rule grants.
#[derive(Clone, Debug)]
pub enum Access {
    /// Everybody, also without a certificate.
    Anyone,
    /// These, unless they are among those.
    Only { allow: Vec<Who>, deny: Vec<Who> },
}

/// One rule.
#[derive(Clone, Debug)]
pub struct Rule {
    pub name: String,
    pub order: u16,
    pub path: Pattern,
    /// All methods where none is given.
    pub methods: Vec<String>,
    pub query: Vec<(String, Vec<String>)>,
    pub access: Access,
}

/// Rules in the order in which they are tried.
#[derive(Clone, Debug)]
pub struct Rules(Vec<Rule>);

/// Who a default rule allows.
#[derive(Clone, Copy)]
enum Grant {
    Anyone,
    AnyCertificate,
    /// The node that the path names.
    Own,
    /// Who has the right to administrate certificates.
    Admin,
    Nobody,
}

use Grant::{Admin, AnyCertificate, Anyone, Nobody, Own};

/// The original's defaults: path, methods, who.
#[rustfmt::skip]
const DEFAULTS: &[(&str, &[&str], Grant)] = &[
    ("/puppet/v3/catalog",                        &["GET", "POST"], Own),
    ("/puppet/v3/node",                           &["GET"],         Own),
    ("/puppet/v3/report",                         &["PUT"],         Own),
    ("/puppet/v3/facts",                          &["PUT"],         Own),
    ("/puppet/v3/environments",                   &["GET"],         AnyCertificate),
    ("/puppet/v3/file_bucket_file",               &[],              AnyCertificate),
    ("/puppet/v3/file_content",                   &["GET"],         AnyCertificate),
    ("/puppet/v3/file_metadata",                  &["GET"],         AnyCertificate),
    ("/puppet/v3/file_metadatas",                 &["GET"],         AnyCertificate),
    ("/puppet/v3/static_file_content",            &["GET"],         AnyCertificate),
    ("/puppet/v3/tasks",                          &["GET"],         AnyCertificate),
    ("/puppet/v4/catalog",                        &["POST"],        Nobody),
    ("/puppet-ca/v1/certificate_revocation_list/ca", &["GET"],      Anyone),
    ("/puppet-ca/v1/certificate",                 &["GET"],         Anyone),
    ("/puppet-ca/v1/certificate_request",         &["GET", "PUT"],  Anyone),
    ("/puppet-ca/v1/certificate_renewal",         &["POST"],        AnyCertificate),
    ("/puppet-ca/v1/expirations",                 &["GET"],         AnyCertificate),
    ("/puppet-ca/v1/certificate_status",          &["GET", "PUT", "DELETE"], Admin),
    ("/puppet-ca/v1/certificate_statuses",        &["GET"],         Admin),
    ("/puppet-ca/v1/certificate_revocation_list", &["PUT"],         Admin),
    ("/puppet-ca/v1/clean",                       &["PUT"],         Admin),
    ("/puppet-ca/v1/sign",                        &["POST"],        Admin),
    ("/pdb/cmd",                                  &["POST"],        Admin),
    ("/pdb/query",                                &["GET", "POST"], Admin),
    ("/pdb/meta",                                 &["GET"],         AnyCertificate),
    ("/metrics/v2",                               &["GET", "POST"], Admin),
    ("/status/v1/services",                       &["GET"],         Anyone),
    ("/status/v1/simple",                         &["GET"],         Anyone),
];

impl Rules {
    /// The defaults with a site's own rules before and after them, by their order.
    pub fn new(own: Vec<Rule>) -> Rules {
        let mut all: Vec<Rule> = DEFAULTS.iter().map(default_rule).chain(own).collect();
        all.sort_by(|a, b| (a.order, &a.name).cmp(&(b.order, &b.name)));
        Rules(all)
    }

    /// A site's own rules: its file has the original's defaults in it. What the original has no
    /// endpoints for keeps ours.
    pub fn of_site(own: Vec<Rule>) -> Rules {
        let ours = DEFAULTS.iter().filter(|(path, ..)| path.starts_with("/pdb/"));
        let mut all: Vec<Rule> = ours.map(default_rule).chain(own).collect();
        all.sort_by(|a, b| (a.order, &a.name).cmp(&(b.order, &b.name)));
        Rules(all)
    }

    pub(crate) fn allows(&self, head: &Head) -> bool {
        let path = head.path.to_string();
        for rule in &self.0 {
            let fits = |method: &String| {
                // What may be read may be looked for.
                *method == head.method || (head.method == "HEAD" && method == "GET")
            };
            if !rule.methods.is_empty() && !rule.methods.iter().any(fits) {
                continue;
            }
            let has = |(name, values): &(String, Vec<String>)| {
                head.query.get(name).is_some_and(|value| values.iter().any(|one| one == value))
            };
            if !rule.query.iter().all(has) {
                continue;
            }
            let Some(captures) = rule.path.captures(&path) else { continue };
            return match (&rule.access, &head.caller) {
                (Access::Anyone, _) => true,
                (Access::Only { .. }, Caller::Anonymous) => false,
                (Access::Only { allow, deny }, Caller::Node(identity)) => {
                    let among = |list: &[Who]| list.iter().any(|who| who.is(identity, &captures));
                    among(allow) && !among(deny)
                }
            };
        }
        false
    }
}

fn default_rule(row: &(&str, &[&str], Grant)) -> Rule {
    let (path, methods, who) = *row;
    let only = |allow: Vec<Who>| Access::Only { allow, deny: Vec::new() };
    let admin = || vec![("pp_cli_auth".to_owned(), vec!["true".to_owned()])];
    Rule {
        name: path.to_owned(),
        order: 500,
        path: match who {
            Own => Pattern::Below(path.to_owned()),
            _ => Pattern::Path(path.to_owned()),
        },
        methods: methods.iter().map(|&method| method.to_owned()).collect(),
        query: Vec::new(),
        access: match who {
            Anyone => Access::Anyone,
            AnyCertificate => only(vec![Who::Any]),
            Own => only(vec![Who::Capture(1)]),
            Admin => only(vec![Who::Extensions(admin())]),
            Nobody => only(Vec::new()),
        },
    }
}
