//! The flags of all subcommands in one table: their names, whether they take a value, and which
//! subcommands know them. Settings are flags of every subcommand, too.

use fx_puppet::settings::{Kind, kind};

/// Subcommands that have flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sub {
    Apply,
    Catalog,
    Config,
    Describe,
    Epp,
    Facts,
    Filebucket,
    Lookup,
    Module,
    Parser,
    Resource,
}

/// Whether a flag takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
}

/// One flag.
struct Flag {
    long: &'static str,
    short: Option<char>,
    takes: Takes,
    known_by: &'static [Sub],
}

const fn flag(
    long: &'static str,
    short: Option<char>,
    takes: Takes,
    known_by: &'static [Sub],
) -> Flag {
    Flag { long, short, takes, known_by }
}

use Sub::{
    Apply, Catalog, Config, Describe, Epp, Facts, Filebucket, Lookup, Module, Parser, Resource,
};
use Takes::{Nothing, Value};

const ALL: &[Sub] =
    &[Apply, Catalog, Config, Describe, Epp, Facts, Filebucket, Lookup, Module, Parser, Resource];

/// Subcommands that compile for a node.
const WITH_NODE: &[Sub] = &[Catalog, Describe, Epp, Facts, Lookup, Resource];

const FLAGS: &[Flag] = &[
    flag("version", Some('V'), Nothing, ALL),
    flag("debug", Some('d'), Nothing, ALL),
    flag("verbose", Some('v'), Nothing, ALL),
    flag("test", Some('t'), Nothing, &[Apply]),
    flag("detailed-exitcodes", None, Nothing, &[Apply]),
    flag("parseonly", None, Nothing, &[Apply]),
    flag("write-catalog-summary", None, Nothing, &[Apply]),
    flag("loadclasses", Some('L'), Nothing, &[Apply]),
    flag("use-nodes", None, Nothing, &[Apply]),
    flag("no-use-nodes", None, Nothing, &[Apply]),
    flag("no-color", None, Nothing, &[Apply]),
    flag("catalog", None, Value, &[Apply]),
    flag("execute", Some('e'), Value, &[Apply]),
    flag("logdest", Some('l'), Value, &[Apply]),
    flag("node", None, Value, WITH_NODE),
    flag("facts", None, Value, WITH_NODE),
    flag("render-as", None, Value, &[Catalog, Config, Epp, Facts, Lookup, Module, Parser]),
    flag("merge", None, Value, &[Lookup]),
    flag("type", None, Value, &[Lookup]),
    flag("default", None, Value, &[Lookup]),
    flag("knock-out-prefix", None, Value, &[Lookup]),
    flag("sort-merged-arrays", None, Nothing, &[Lookup]),
    flag("merge-hash-arrays", None, Nothing, &[Lookup]),
    flag("explain", None, Nothing, &[Lookup]),
    flag("explain-options", None, Nothing, &[Lookup]),
    flag("e", Some('e'), Value, &[Epp, Parser]),
    flag("format", None, Value, &[Epp, Parser]),
    flag("pretty", None, Nothing, &[Epp, Parser]),
    flag("validate", None, Nothing, &[Epp, Parser]),
    flag("values", None, Value, &[Epp]),
    flag("values_file", None, Value, &[Epp]),
    flag("header", None, Nothing, &[Epp]),
    flag("no-header", None, Nothing, &[Epp]),
    flag("continue_on_error", None, Nothing, &[Epp]),
    flag("section", None, Value, &[Config]),
    flag("tree", None, Nothing, &[Module]),
    flag("list", Some('l'), Nothing, &[Describe]),
    flag("short", Some('s'), Nothing, &[Describe]),
    flag("providers", Some('p'), Nothing, &[Describe]),
    flag("meta", Some('m'), Nothing, &[Describe]),
    flag("types", Some('t'), Nothing, &[Resource]),
    flag("to_yaml", Some('y'), Nothing, &[Resource]),
    flag("param", Some('p'), Value, &[Resource]),
    flag("local", Some('l'), Nothing, &[Filebucket]),
    flag("bucket", Some('b'), Value, &[Filebucket]),
    flag("fromdate", Some('f'), Value, &[Filebucket]),
    flag("todate", Some('t'), Value, &[Filebucket]),
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
            Some((_, value)) => value.to_owned(),
            None if takes_value => args.next().cloned().unwrap_or_default(),
            None => String::new(),
        };
        let known = known.map(|flag| flag.long);
        flags.given.push(Given { written: written.to_owned(), known, value });
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

    /// Why a flag cannot be taken by a subcommand that refuses those it does not know.
    pub(super) fn refusal(&self, sub: Sub) -> Option<String> {
        self.given.iter().find_map(|given| {
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
            return Some(format!("invalid option: {name}{hint}"));
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
        let (flags, words) = read_line(Sub::Apply, "-l /log -t site.pp");
        assert_eq!((flags.get("logdest"), flags.has("test")), (Some("/log"), true));
        assert_eq!(words, ["site.pp"]);
        let (flags, words) = read_line(Sub::Filebucket, "-l -f 2026-01-01 -t 2026-02-01 list");
        assert!(flags.has("local"));
        assert_eq!(flags.get("fromdate"), Some("2026-01-01"));
        assert_eq!(flags.get("todate"), Some("2026-02-01"));
        assert_eq!(words, ["list"]);
        // Providers are shown of a type, they are not its name.
        let (flags, words) = read_line(Sub::Describe, "-p -s file");
        assert!(flags.has("providers") && flags.has("short"));
        assert_eq!(words, ["file"]);
        let (flags, words) = read_line(Sub::Resource, "-p home user");
        assert_eq!((flags.get("param"), words.len()), (Some("home"), 1));
    }

    #[test]
    fn settings_are_flags_of_every_subcommand() {
        let (flags, words) = read_line(Sub::Lookup, "--environment test --noop --merge=deep k");
        assert_eq!(flags.setting("environment"), Some("test"));
        assert_eq!(flags.setting("noop"), Some(""));
        assert_eq!(flags.get("merge"), Some("deep"));
        assert_eq!(words, ["k"]);
    }

    #[test]
    fn what_is_not_known_is_refused_with_a_hint() {
        let refusal = |line: &str| read_line(Sub::Apply, line).0.refusal(Sub::Apply);
        let start = "Could not parse application options: ";
        for (line, expected) in [
            ("--bogus", "invalid option: --bogus"),
            ("-q", "invalid option: -q"),
            ("--no-test", "invalid option: --no-test\nDid you mean?  test"),
            ("--noop=yes", "needless argument: --noop=yes"),
        ] {
            assert_eq!(refusal(line), Some(format!("{start}{expected}")), "{line}");
        }
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
