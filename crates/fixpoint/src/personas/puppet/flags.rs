//! The flags of all subcommands in one table: their names, whether they take a value, and which
//! subcommands know them. Settings are flags of every subcommand, too.

use fx_puppet::settings::{Kind, kind};

/// Subcommands that have flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sub {
    Agent,
    Apply,
    Catalog,
    Config,
    Describe,
    Epp,
    Facts,
    Filebucket,
    Generate,
    Lookup,
    Module,
    Parser,
    Resource,
    Ssl,
}

/// Whether a flag takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    /// The next word, unless that is a flag.
    Maybe,
}

/// One flag.
struct Flag {
    long: &'static str,
    short: Option<char>,
    takes: Takes,
    known_by: &'static [Sub],
    /// What it is for, as help shows it.
    about: &'static str,
}

const fn flag(
    long: &'static str,
    short: Option<char>,
    takes: Takes,
    known_by: &'static [Sub],
    about: &'static str,
) -> Flag {
    Flag { long, short, takes, known_by, about }
}

use Sub::{
    Agent, Apply, Catalog, Config, Describe, Epp, Facts, Filebucket, Generate, Lookup, Module,
    Parser, Resource, Ssl,
};
use Takes::{Maybe, Nothing, Value};

const ALL: &[Sub] = &[
    Agent, Apply, Catalog, Config, Describe, Epp, Facts, Filebucket, Generate, Lookup, Module,
    Parser, Resource, Ssl,
];

/// Subcommands that compile for a node.
const WITH_NODE: &[Sub] = &[Catalog, Describe, Epp, Facts, Lookup, Resource];

const FLAGS: &[Flag] = &[
    flag("help", Some('h'), Nothing, ALL, "Print this help."),
    flag("version", Some('V'), Nothing, ALL, "Print the version and end."),
    flag("debug", Some('d'), Nothing, ALL, "Log in detail what is done."),
    flag("verbose", Some('v'), Nothing, ALL, "Log what is done."),
    flag(
        "test",
        Some('t'),
        Nothing,
        &[Agent, Apply],
        "Log verbosely, show diffs, and end with a code that says what happened.",
    ),
    flag(
        "detailed-exitcodes",
        None,
        Nothing,
        &[Agent, Apply],
        "End with 2 after changes, 4 after failures, 6 after both.",
    ),
    flag(
        "parseonly",
        None,
        Nothing,
        &[Apply],
        "Accepted for old scripts; manifests are checked by `puppet parser validate`.",
    ),
    flag(
        "write-catalog-summary",
        None,
        Nothing,
        &[Apply],
        "Write the classes and resources of the catalog into the state directory.",
    ),
    flag(
        "loadclasses",
        Some('L'),
        Nothing,
        &[Apply],
        "Include the classes that the last run wrote down.",
    ),
    flag(
        "use-nodes",
        None,
        Nothing,
        &[Apply],
        "Accepted for old scripts; node definitions are always used.",
    ),
    flag("no-use-nodes", None, Nothing, &[Apply], "Accepted for old scripts; it has no effect."),
    flag("no-color", None, Nothing, &[Agent, Apply], "Print without colors."),
    flag(
        "catalog",
        None,
        Value,
        &[Apply],
        "Apply a compiled catalog from a file; - is standard input.",
    ),
    flag("execute", Some('e'), Value, &[Apply], "Apply this code instead of a file."),
    flag(
        "logdest",
        Some('l'),
        Value,
        &[Apply],
        "Log to console, syslog or a file; several are separated by commas.",
    ),
    flag("localca", None, Nothing, &[Ssl], "Remove the certificates of the authority, too."),
    flag("enable", None, Nothing, &[Agent], "Allow runs again."),
    flag("disable", None, Maybe, &[Agent], "Allow no runs; a word says why."),
    flag("fingerprint", None, Nothing, &[Agent], "Print the fingerprint of the certificate."),
    flag("digest", None, Value, &[Agent], "The digest of the fingerprint, such as SHA512."),
    flag("node", None, Value, WITH_NODE, "Act for the node of this name."),
    flag("facts", None, Value, WITH_NODE, "Take facts from a JSON or YAML file."),
    flag(
        "render-as",
        None,
        Value,
        &[Catalog, Config, Epp, Facts, Generate, Lookup, Module, Parser],
        "The form of the output, such as json or yaml.",
    ),
    flag(
        "merge",
        None,
        Value,
        &[Lookup],
        "How values of all levels are merged: first, unique, hash or deep.",
    ),
    flag("type", None, Value, &[Lookup], "The data type that the value must have."),
    flag("default", None, Value, &[Lookup], "The value when no level has the key."),
    flag(
        "knock-out-prefix",
        None,
        Value,
        &[Lookup],
        "Deep merge: a value with this prefix removes the value of weaker levels.",
    ),
    flag("sort-merged-arrays", None, Nothing, &[Lookup], "Deep merge: sort merged arrays."),
    flag("merge-hash-arrays", None, Nothing, &[Lookup], "Deep merge: merge hashes in arrays."),
    flag("explain", None, Nothing, &[Lookup], "Show each place that was searched."),
    flag("explain-options", None, Nothing, &[Lookup], "Show where the lookup options come from."),
    flag("e", Some('e'), Value, &[Epp, Parser], "Take the text from here instead of a file."),
    flag("format", None, Value, &[Epp, Parser], "The form of a dumped tree: old, pn or json."),
    flag("pretty", None, Nothing, &[Epp, Parser], "Break a dumped tree into lines."),
    flag("validate", None, Nothing, &[Epp, Parser], "Check what is dumped."),
    flag("values", None, Value, &[Epp], "Values for the template, as a hash of the language."),
    flag("values_file", None, Value, &[Epp], "A file with values for the template."),
    flag(
        "header",
        None,
        Nothing,
        &[Epp],
        "Print a line with the name before each of several templates.",
    ),
    flag("no-header", None, Nothing, &[Epp], "Print no such line."),
    flag("continue_on_error", None, Nothing, &[Epp], "Check all templates even when one is wrong."),
    flag("section", None, Value, &[Config], "The section of the file of settings."),
    flag("tree", None, Nothing, &[Module], "Draw modules below those that need them."),
    flag("list", Some('l'), Nothing, &[Describe], "List all types."),
    flag("short", Some('s'), Nothing, &[Describe], "Print names only."),
    flag("providers", Some('p'), Nothing, &[Describe], "Describe the providers too."),
    flag("meta", Some('m'), Nothing, &[Describe], "Describe what every resource takes too."),
    flag("types", Some('t'), Nothing, &[Resource], "List all types."),
    flag("to_yaml", Some('y'), Nothing, &[Resource], "Print as YAML."),
    flag("param", Some('p'), Value, &[Resource], "Print this attribute too."),
    flag(
        "local",
        Some('l'),
        Nothing,
        &[Filebucket],
        "Use the filebucket of this machine; there is no other here.",
    ),
    flag("bucket", Some('b'), Value, &[Filebucket], "The directory of the filebucket."),
    flag("fromdate", Some('f'), Value, &[Filebucket], "List files from this date on."),
    flag("todate", Some('t'), Value, &[Filebucket], "List files up to this date."),
    flag(
        "compile",
        Some('c'),
        Nothing,
        &[Lookup],
        "Evaluate the manifests first, so that their variables can be used.",
    ),
    flag("no-validate", None, Nothing, &[Epp, Parser], "Dump without a check."),
    flag("extra", None, Value, &[Catalog, Facts], "Accepted for old scripts; it has no effect."),
    flag("terminus", None, Value, &[Catalog, Facts], "Accepted for old scripts; it has no effect."),
    flag("show-legacy", None, Nothing, &[Facts], "Show facts of old names too."),
    flag("value-only", None, Nothing, &[Facts], "Print the value alone; for one fact."),
    flag("timing", None, Nothing, &[Facts], "Accepted; facts are gathered at once."),
    flag("no-cache", None, Nothing, &[Facts], "Accepted; nothing is cached."),
    flag("no-block", None, Nothing, &[Facts], "Accepted; no fact is blocked."),
    flag("custom-dir", None, Value, &[Facts], "A directory of facts in Ruby."),
    flag("external-dir", None, Value, &[Facts], "A directory of facts in files and programs."),
    flag(
        "edit",
        Some('e'),
        Nothing,
        &[Resource],
        "Not supported: change the resource by ATTRIBUTE=VALUE.",
    ),
    flag("host", Some('H'), Value, &[Resource], "Not supported: there is no remote machine."),
    flag("fail", None, Nothing, &[Resource], "End with 1 when the resource could not be changed."),
    flag(
        "remote",
        Some('r'),
        Nothing,
        &[Filebucket],
        "Not supported: there is no server; use --local.",
    ),
    flag(
        "force",
        Some('f'),
        Nothing,
        &[Module, Generate],
        "Replace what is there, whatever its state.",
    ),
    flag("target-dir", Some('i'), Value, &[Module], "Install into this directory."),
    flag("ignore-dependencies", None, Nothing, &[Module], "Do not look at what the module needs."),
    flag(
        "ignore-changes",
        Some('c'),
        Nothing,
        &[Module],
        "Go on although files of the module were changed.",
    ),
    flag("strict-semver", None, Nothing, &[Module], "Accepted; versions are always semantic."),
    flag("format", None, Value, &[Generate], "Accepted; there is one form."),
];

/// A flag that was given.
#[derive(Debug, PartialEq, Eq)]
struct Given {
    /// As it was written, without its value.
    written: String,
    /// Its long name; nothing where the subcommand does not know it.
    known: Option<&'static str>,
    /// Empty where it has none.
    value: String,
    /// It takes a value, and the line ends.
    lacks_value: bool,
}

/// The flags of a command line.
#[derive(Debug, Default)]
pub(super) struct Flags {
    given: Vec<Given>,
}

/// Flags, and the words that are none.
pub(super) fn read(sub: Sub, args: &[String]) -> (Flags, Vec<String>) {
    let (mut flags, mut words) = (Flags::default(), Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if !arg.starts_with('-') || arg == "-" {
            words.push(arg.clone());
            continue;
        }
        let joined = arg.split_once('=').filter(|(name, _)| name.starts_with("--"));
        let written = joined.map_or(arg.as_str(), |(name, _)| name);
        let known = FLAGS.iter().find(|flag| flag.known_by.contains(&sub) && flag.is(written));
        let takes_value = known.is_some_and(|flag| flag.takes == Value)
            || setting(written).is_some_and(|kind| kind != Kind::Bool);
        let value = match joined {
            Some((_, value)) => Some(value.to_owned()),
            None if takes_value => args.next().cloned(),
            None if known.is_some_and(|flag| flag.takes == Maybe) => {
                let is_word = args.as_slice().first().is_some_and(|next| !next.starts_with('-'));
                if is_word { args.next().cloned() } else { Some(String::new()) }
            }
            None => Some(String::new()),
        };
        flags.given.push(Given {
            written: written.to_owned(),
            known: known.map(|flag| flag.long),
            lacks_value: value.is_none(),
            value: value.unwrap_or_default(),
        });
    }
    (flags, words)
}

impl Flag {
    fn is(&self, written: &str) -> bool {
        match written.strip_prefix("--") {
            Some(long) => long == self.long,
            None => {
                let mut letters = written.chars().skip(1);
                self.short.is_some() && letters.next() == self.short && letters.next().is_none()
            }
        }
    }
}

/// The flags of a subcommand as help lists them: how each is written, and what it is for.
pub(super) fn listed(sub: Sub) -> impl Iterator<Item = (String, &'static str)> {
    FLAGS.iter().filter(move |flag| flag.known_by.contains(&sub)).map(|flag| {
        let dashes = if flag.long.len() == 1 { "-" } else { "--" };
        let short = flag.short.filter(|short| flag.long != short.to_string());
        let short = short.map_or_else(String::new, |short| format!("-{short}, "));
        let value = if flag.takes == Value {
            format!(" {}", flag.long.to_uppercase().replace('-', "_"))
        } else {
            String::new()
        };
        (format!("{short}{dashes}{}{value}", flag.long), flag.about)
    })
}

/// The kind of the setting that a flag is, if it is one.
fn setting(written: &str) -> Option<Kind> {
    written.strip_prefix("--").and_then(kind)
}

impl Flags {
    /// The value of a flag of the table, by its long name; empty where it takes none.
    pub(super) fn get(&self, long: &str) -> Option<&str> {
        debug_assert!(FLAGS.iter().any(|flag| flag.long == long), "{long} is in no table");
        self.all(long).last()
    }

    /// Whether a flag of the table was given.
    pub(super) fn has(&self, long: &str) -> bool {
        self.get(long).is_some()
    }

    /// All values of a flag.
    pub(super) fn all(&self, long: &str) -> impl Iterator<Item = &str> {
        let given = self.given.iter().filter(move |given| given.known == Some(long));
        given.map(|given| given.value.as_str())
    }

    /// The value of a flag that is a setting, by its name.
    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        self.long().rev().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Names without dashes and values of all flags that were written in full.
    pub(super) fn long(&self) -> impl DoubleEndedIterator<Item = (&str, &str)> {
        let long = |given: &'_ Given| given.written.starts_with("--");
        let given = self.given.iter().filter(move |given| long(given));
        given.map(|given| (&given.written[2..], given.value.as_str()))
    }

    /// Names of the settings that were given.
    pub(super) fn settings(&self) -> impl Iterator<Item = String> {
        let names = self.long().map(|(name, _)| name.strip_prefix("no-").unwrap_or(name));
        names.filter(|name| kind(name).is_some()).map(str::to_owned)
    }

    /// The flags as they were given.
    pub(super) fn written(&self) -> impl Iterator<Item = String> {
        self.given.iter().map(|given| match given.value.as_str() {
            "" => given.written.clone(),
            value if given.written.starts_with("--") => format!("{}={value}", given.written),
            value => format!("{}{value}", given.written),
        })
    }

    /// Whether help is wanted.
    pub(super) fn wants_help(&self) -> bool {
        self.has("help")
    }

    /// Why a flag cannot be taken by a subcommand that refuses those it does not know.
    pub(super) fn refusal(&self, sub: Sub) -> Option<String> {
        self.given.iter().find_map(|given| {
            if given.lacks_value && given.known.is_none() {
                return Some(format!(
                    "Could not initialize global default settings: Error parsing arguments\nWrapped exception:\noption '{}' needs a parameter",
                    given.written
                ));
            }
            let why = given.refusal(sub)?;
            Some(format!("Could not parse application options: {why}"))
        })
    }
}

impl Given {
    fn refusal(&self, sub: Sub) -> Option<String> {
        let (name, value) = (&self.written, &self.value);
        let long = name.strip_prefix("--").unwrap_or_default();
        let setting = long
            .strip_prefix("no-")
            .map_or_else(|| kind(long), |name| kind(name).filter(|kind| *kind == Kind::Bool));
        if self.known.is_none() && setting.is_none() {
            let meant = long.trim_start_matches("no-");
            let is_meant = |flag: &&Flag| flag.known_by.contains(&sub) && flag.long == meant;
            let hint = match FLAGS.iter().find(is_meant) {
                Some(flag) => format!("\nDid you mean?  {}", flag.long),
                None => String::new(),
            };
            // A flag that is not known has a value only where that is joined to it.
            let joined = if value.is_empty() { String::new() } else { format!("={value}") };
            return Some(format!("invalid option: {name}{joined}{hint}"));
        }
        if self.lacks_value {
            return Some(format!("missing argument: {name}"));
        }
        let is_needless = setting == Some(Kind::Bool) && !value.is_empty();
        is_needless.then(|| format!("needless argument: {name}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_line(sub: Sub, line: &str) -> (Flags, Vec<String>) {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        read(sub, &args)
    }

    #[test]
    fn a_letter_means_what_its_subcommand_says() {
        let (flags, words) = read_line(Apply, "-l /log -t site.pp");
        assert_eq!((flags.get("logdest"), flags.has("test")), (Some("/log"), true));
        assert_eq!(words, ["site.pp"]);
        let (flags, words) = read_line(Filebucket, "-l -f 2026-01-01 -t 2026-02-01 list");
        assert!(flags.has("local"));
        assert_eq!(flags.get("fromdate"), Some("2026-01-01"));
        assert_eq!(flags.get("todate"), Some("2026-02-01"));
        assert_eq!(words, ["list"]);
        // Providers are shown of a type, they are not its name.
        let (flags, words) = read_line(Describe, "-p -s file");
        assert!(flags.has("providers") && flags.has("short"));
        assert_eq!(words, ["file"]);
        let (flags, words) = read_line(Resource, "-p home user");
        assert_eq!((flags.get("param"), words.len()), (Some("home"), 1));
    }

    #[test]
    fn settings_are_flags_of_every_subcommand() {
        let (flags, words) = read_line(Lookup, "--environment test --noop --merge=deep k");
        assert_eq!(flags.setting("environment"), Some("test"));
        assert_eq!(flags.setting("noop"), Some(""));
        assert_eq!(flags.get("merge"), Some("deep"));
        assert_eq!(words, ["k"]);
    }

    #[test]
    fn what_is_not_known_is_refused_with_a_hint() {
        let refusal = |line: &str| read_line(Apply, line).0.refusal(Apply);
        let start = "Could not parse application options: ";
        for (line, expected) in [
            ("--bogus", "invalid option: --bogus"),
            ("--bogus=1 x", "invalid option: --bogus=1"),
            ("-q", "invalid option: -q"),
            ("--no-test", "invalid option: --no-test\nDid you mean?  test"),
            ("--noop=yes", "needless argument: --noop=yes"),
        ] {
            assert_eq!(refusal(line), Some(format!("{start}{expected}")), "{line}");
        }
        let lacking = "Could not initialize global default settings: Error parsing arguments\nWrapped exception:\noption '--tags' needs a parameter";
        assert_eq!(refusal("--tags").as_deref(), Some(lacking));
        assert_eq!(refusal("-e"), Some(format!("{start}missing argument: -e")));
        assert_eq!(refusal("--no-noop --modulepath /m -e x -V"), None);
    }

    #[test]
    fn no_subcommand_knows_two_flags_by_one_name() {
        for (at, one) in FLAGS.iter().enumerate() {
            for other in &FLAGS[at + 1..] {
                let meet = one.known_by.iter().any(|sub| other.known_by.contains(sub));
                let same =
                    one.long == other.long || (one.short == other.short && one.short.is_some());
                assert!(!(meet && same), "{} and {}", one.long, other.long);
            }
        }
    }
}
