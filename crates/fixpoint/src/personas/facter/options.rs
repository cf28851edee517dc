//! What Facter is given: flags, queries and its configuration file. The caching of facts has no
//! effect here.

use std::path::{Path, PathBuf};

use fx_engine::Level;
use fx_facter::Format;
use fx_host::Files;

use super::groups::Groups;

/// What to do.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) format: Format,
    pub(crate) legacy: bool,
    pub(crate) strict: bool,
    pub(crate) timing: bool,
    pub(crate) puppet: bool,
    pub(crate) external: bool,
    pub(crate) custom: bool,
    pub(crate) block: bool,
    pub(crate) external_dirs: Vec<PathBuf>,
    pub(crate) custom_dirs: Vec<PathBuf>,
    pub(crate) blocked: Vec<String>,
    pub(crate) queries: Vec<String>,
    /// What is logged, down to this level.
    pub(crate) level: Option<Level>,
}

/// What the flags come to.
pub(crate) enum Asked {
    Facts(Box<Options>),
    Version,
    Help,
    /// Flags that do not go together, or that nobody knows.
    Wrong(String),
    /// The groups of facts that can be left out or kept.
    Groups(Groups),
}

/// Flags that exclude each other.
const CONFLICTS: &[(&str, &[&str])] = &[
    ("--color", &["--no-color"]),
    ("--json", &["-y", "--yaml", "--hocon"]),
    ("--yaml", &["-j", "--hocon"]),
    ("-j", &["--hocon"]),
    ("-y", &["-j", "--hocon"]),
    ("--puppet", &["--no-ruby", "--no-custom-facts"]),
    ("-p", &["--no-ruby", "--no-custom-facts"]),
    ("--no-external-facts", &["--external-dir"]),
    ("--custom-dir", &["--no-custom-facts", "--no-ruby"]),
];
const TWICE: &[(&str, &str)] = &[
    ("-j", "--json"),
    ("-y", "--yaml"),
    ("-p", "--puppet"),
    ("-h", "--help"),
    ("-v", "--version"),
    ("-l", "--log-level"),
    ("-d", "--debug"),
    ("-c", "--config"),
];

/// Where the configuration lies unless it is named.
const CONFIG: &str = "/etc/puppetlabs/facter/facter.conf";

/// Reads the flags, and the configuration that they or the usual place name.
pub(crate) fn read(args: &[String], files: &dyn Files) -> Asked {
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if let Some((_, long)) = TWICE.iter().find(|(short, long)| has(short) && has(long)) {
        return Asked::Wrong(format!("option {long} cannot be specified more than once."));
    }
    for (flag, others) in CONFLICTS {
        if has(flag)
            && let Some(other) = others.iter().find(|other| has(other))
        {
            return Asked::Wrong(format!(
                "{flag} and {other} options conflict: please specify only one."
            ));
        }
    }
    let mut options = Options {
        external: true,
        custom: true,
        block: true,
        level: Some(Level::Warning),
        ..Options::default()
    };
    let mut config = None;
    let mut lists = false;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().cloned().unwrap_or_default();
        match arg.as_str() {
            "-v" | "--version" => return Asked::Version,
            "-h" | "--help" | "help" => return Asked::Help,
            "-j" | "--json" => options.format = Format::Json,
            "-y" | "--yaml" => options.format = Format::Yaml,
            "--hocon" => options.format = Format::Hocon,
            "--show-legacy" => options.legacy = true,
            "--strict" => options.strict = true,
            "-t" | "--timing" => options.timing = true,
            "-p" | "--puppet" => options.puppet = true,
            "--no-block" => options.block = false,
            "--no-external-facts" => options.external = false,
            "--no-custom-facts" | "--no-ruby" => options.custom = false,
            "--external-dir" => options.external_dirs.push(value().into()),
            "--custom-dir" => options.custom_dirs.push(value().into()),
            "-c" | "--config" => config = Some(value()),
            "-l" | "--log-level" => {
                let name = value();
                match level(&name) {
                    Ok(level) => options.level = level,
                    Err(()) => return Asked::Wrong(format!("invalid log level : {name}")),
                }
            }
            "-d" | "--debug" => options.level = Some(Level::Debug),
            "--verbose" => options.level = Some(Level::Info),
            "--no-color" | "--color" | "--no-cache" | "--trace" | "--sequential"
            | "--http-debug" => {}
            "--list-block-groups" | "--list-cache-groups" => lists = true,
            flag if flag.starts_with('-') && flag.len() > 1 => {
                return Asked::Wrong(format!("unrecognised option '{flag}'"));
            }
            query => options.queries.push(query.to_owned()),
        }
    }
    let path = config.unwrap_or_else(|| CONFIG.to_owned());
    let config = match files.read_trusted_data_opt(Path::new(&path)) {
        Ok(Some(text)) => fx_puppet::parse_hocon(&String::from_utf8_lossy(&text)).ok(),
        _ => None,
    };
    let own = config.as_ref().and_then(|config| config["fact-groups"].as_object());
    let own: Vec<(String, Vec<String>)> =
        own.into_iter().flatten().map(|(name, facts)| (name.clone(), texts(facts))).collect();
    let groups = Groups::read(&own);
    if lists {
        return Asked::Groups(groups);
    }
    if let Some(config) = config {
        configure(&mut options, &config, &groups);
    }
    Asked::Facts(Box::new(options))
}

/// The level of a name; nothing for none at all.
fn level(name: &str) -> Result<Option<Level>, ()> {
    Ok(Some(match name {
        "none" | "fatal" => return Ok(None),
        "trace" | "debug" => Level::Debug,
        "info" => Level::Info,
        "warn" => Level::Warning,
        "error" => Level::Error,
        _ => return Err(()),
    }))
}

fn texts(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::Array(items) => {
            items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
        }
        serde_json::Value::String(text) => vec![text.clone()],
        _ => Vec::new(),
    }
}

/// Takes over what the configuration says and no flag does.
fn configure(options: &mut Options, config: &serde_json::Value, groups: &Groups) {
    let global = &config["global"];
    if options.external_dirs.is_empty() {
        options.external_dirs =
            texts(&global["external-dir"]).into_iter().map(PathBuf::from).collect();
    }
    if options.custom_dirs.is_empty() {
        options.custom_dirs = texts(&global["custom-dir"]).into_iter().map(PathBuf::from).collect();
    }
    options.external &= global["no-external-facts"].as_bool() != Some(true);
    options.custom &= global["no-custom-facts"].as_bool() != Some(true)
        && global["no-ruby"].as_bool() != Some(true);
    if options.block {
        for name in texts(&config["facts"]["blocklist"]) {
            options.blocked.extend(groups.facts(&name));
        }
    }
}
