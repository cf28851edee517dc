//! The flags of the Chef tools in one table, read as Ruby's OptionParser reads them: long flags may
//! be cut short where that is unique, short ones may be grouped and hold their value.

/// Which of the tools know a flag.
pub(super) const CLIENT: u8 = 1;
pub(super) const SOLO: u8 = 2;
pub(super) const APPLY: u8 = 4;
pub(super) const OHAI: u8 = 8;
const RUNS: u8 = CLIENT | SOLO;
const ALL: u8 = CLIENT | SOLO | APPLY;

/// Whether a flag takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Nothing,
    /// Nothing, and `--no-…` is there as well.
    Either,
    Value,
    /// A value where the next word is none of the flags; `--no-…` is there as well.
    Maybe,
}
use Takes::{Either, Maybe, Nothing, Value};

/// One flag: its letter, its name, whether it takes a value, who knows it.
struct Flag(&'static str, &'static str, Takes, u8);

const FLAGS: &[Flag] = &[
    Flag("c", "config", Value, RUNS | OHAI),
    Flag("j", "json-attributes", Value, ALL),
    Flag("o", "override-runlist", Value, RUNS),
    Flag("r", "runlist", Value, CLIENT),
    Flag("r", "recipe-url", Value, SOLO),
    Flag("", "recipe-url", Value, CLIENT),
    Flag("E", "environment", Value, RUNS),
    Flag("l", "log_level", Value, ALL | OHAI),
    Flag("", "log-level", Value, ALL),
    Flag("L", "logfile", Value, ALL | OHAI),
    Flag("F", "format", Value, ALL),
    Flag("N", "node-name", Value, RUNS),
    Flag("n", "named-run-list", Value, RUNS),
    Flag("", "policy-name", Value, RUNS),
    Flag("", "policy-group", Value, RUNS),
    Flag("", "config-option", Value, RUNS),
    Flag("", "config-file-jail", Value, RUNS),
    Flag("", "chef-license", Value, ALL),
    Flag("", "cookbook-path", Value, ALL),
    Flag("S", "server", Value, RUNS),
    Flag("s", "splay", Value, RUNS),
    Flag("s", "stdin", Nothing, APPLY),
    Flag("e", "execute", Value, APPLY),
    Flag("", "yaml", Nothing, APPLY),
    Flag("K", "validation_key", Value, RUNS),
    Flag("k", "client_key", Value, RUNS),
    Flag("P", "pid", Value, CLIENT),
    Flag("", "lockfile", Value, RUNS),
    Flag("", "run-lock-timeout", Value, RUNS),
    Flag("", "chef-zero-host", Value, RUNS),
    Flag("", "chef-zero-port", Value, RUNS),
    Flag("", "slow-report", Maybe, RUNS),
    Flag("u", "user", Value, RUNS),
    Flag("g", "group", Value, RUNS),
    Flag("t", "target", Value, RUNS | OHAI),
    Flag("i", "interval", Value, RUNS),
    Flag("d", "daemonize", Maybe, CLIENT),
    Flag("d", "daemonize", Nothing, SOLO),
    Flag("d", "directory", Value, OHAI),
    Flag("z", "local-mode", Nothing, RUNS),
    Flag("W", "why-run", Nothing, ALL),
    Flag("f", "fork", Either, RUNS),
    Flag("R", "enable-reporting", Nothing, RUNS),
    Flag("", "once", Nothing, RUNS),
    Flag("", "color", Either, ALL),
    Flag("", "force-formatter", Nothing, ALL),
    Flag("", "force-logger", Nothing, ALL),
    Flag("", "profile-ruby", Either, ALL),
    Flag("", "minimal-ohai", Nothing, ALL),
    Flag("", "always-dump-stacktrace", Either, ALL),
    Flag("", "skip-cookbook-sync", Either, RUNS),
    Flag("", "listen", Either, RUNS),
    Flag("", "fips", Either, RUNS),
    Flag("", "ez", Nothing, RUNS),
    Flag("", "legacy-mode", Nothing, RUNS),
    Flag("", "disable-config", Nothing, RUNS),
    Flag("", "delete-entire-chef-repo", Nothing, RUNS),
    Flag("v", "version", Nothing, ALL | OHAI),
    Flag("h", "help", Nothing, ALL | OHAI),
    Flag("", "fx-report", Value, ALL),
    Flag("", "fx-facts", Value, ALL),
    Flag("", "fx-collection", Value, ALL),
    Flag("", "fx-findings", Nothing, ALL),
];

/// What was given: flags by their long names with their values, in order, and the other words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) flags: Vec<(&'static str, Option<String>)>,
    pub(super) words: Vec<String>,
}

/// Why the words cannot be read, in the words of OptionParser.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    message: String,
    class: &'static str,
}

impl Refused {
    fn new(what: &str, flag: &str, class: &'static str) -> Refused {
        Refused { message: format!("{what}: {flag}"), class }
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (OptionParser::{})", self.message, self.class)
    }
}

/// Reads the words that a tool was started with.
pub(super) fn read(tool: u8, args: &[String]) -> Result<Given, Refused> {
    let mut given = Given::default();
    let mut rest = args.iter().cloned().peekable();
    while let Some(arg) = rest.next() {
        if arg == "--" {
            given.words.extend(rest);
            break;
        }
        if let Some(long) = arg.strip_prefix("--") {
            let (name, inline) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (long, None),
            };
            let (flag, off) = long_flag(tool, name, &arg)?;
            let value = value_of(flag, &arg, inline, &mut rest)?;
            if !off {
                given.flags.push((flag.1, value));
            } else if flag.1 == "fork" {
                // The only one whose absence is something else than its being switched off.
                given.flags.push(("no-fork", None));
            }
        } else if arg.len() > 1 && arg.starts_with('-') {
            group(tool, &arg[1..], &mut rest, &mut given)?;
        } else {
            given.words.push(arg);
        }
    }
    Ok(given)
}

/// The value of a flag: what stands with it, or the next word.
fn value_of(
    flag: &Flag,
    shown: &str,
    inline: Option<String>,
    rest: &mut std::iter::Peekable<impl Iterator<Item = String>>,
) -> Result<Option<String>, Refused> {
    match flag.2 {
        Nothing | Either if inline.is_some() => {
            Err(Refused::new("needless argument", shown, "NeedlessArgument"))
        }
        Nothing | Either => Ok(None),
        Value | Maybe if inline.is_some() => Ok(inline),
        Value => match rest.next() {
            Some(value) => Ok(Some(value)),
            None => Err(Refused::new("missing argument", shown, "MissingArgument")),
        },
        Maybe => Ok(rest.next_if(|word| !word.starts_with('-'))),
    }
}

/// Letters behind one dash; the first that takes a value has what follows.
fn group(
    tool: u8,
    letters: &str,
    rest: &mut std::iter::Peekable<impl Iterator<Item = String>>,
    given: &mut Given,
) -> Result<(), Refused> {
    let mut letters = letters.chars();
    while let Some(letter) = letters.next() {
        let shown = format!("-{letter}");
        let known = |flag: &&Flag| flag.3 & tool != 0 && flag.0.starts_with(letter);
        let Some(flag) = FLAGS.iter().find(known) else {
            return Err(Refused::new("invalid option", &shown, "InvalidOption"));
        };
        let attached = letters.as_str();
        let takes = matches!(flag.2, Value | Maybe);
        let inline = (takes && !attached.is_empty()).then(|| attached.to_owned());
        let value = value_of(flag, &shown, inline, rest)?;
        given.flags.push((flag.1, value));
        if takes {
            break;
        }
    }
    Ok(())
}

/// The flag of this name, or the only one that begins like it; whether it is switched off.
fn long_flag(tool: u8, name: &str, shown: &str) -> Result<(&'static Flag, bool), Refused> {
    let forms = FLAGS.iter().filter(|flag| flag.3 & tool != 0).flat_map(|flag| {
        let off = matches!(flag.2, Either | Maybe).then(|| (format!("no-{}", flag.1), flag, true));
        std::iter::once((flag.1.to_owned(), flag, false)).chain(off)
    });
    let mut begins = Vec::new();
    for (form, flag, off) in forms {
        if form == name {
            return Ok((flag, off));
        }
        if form.starts_with(name) {
            begins.push((flag, off));
        }
    }
    match begins[..] {
        [] => Err(Refused::new("invalid option", shown, "InvalidOption")),
        [one] => Ok(one),
        _ => Err(Refused::new("ambiguous option", shown, "AmbiguousOption")),
    }
}

/// Whether a flag is known to a tool and takes a value, for its help.
pub(super) fn known(tool: u8) -> impl Iterator<Item = (&'static str, &'static str, bool)> {
    let flags = FLAGS.iter().filter(move |flag| flag.3 & tool != 0);
    flags.map(|flag| (flag.0, flag.1, flag.2 == Value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(tool: u8, line: &str) -> String {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        match read(tool, &args) {
            Ok(given) => {
                let flag = |(name, value): &(&str, Option<String>)| match value {
                    Some(value) => format!("{name}={value}"),
                    None => (*name).to_owned(),
                };
                let mut words: Vec<String> = given.flags.iter().map(flag).collect();
                words.extend(given.words.iter().map(|word| format!("[{word}]")));
                words.join(" ")
            }
            Err(refused) => refused.to_string(),
        }
    }

    #[test]
    fn letters_may_be_grouped_and_hold_their_value() {
        let table = [
            ("-zW", "local-mode why-run"),
            ("-zo a,b", "local-mode override-runlist=a,b"),
            ("-zoa -lwarn x.rb", "local-mode override-runlist=a log_level=warn [x.rb]"),
            ("--why --no-color --config=c.rb", "why-run config=c.rb"),
            ("--slow-report 5", "slow-report=5"),
            ("--slow-report -z", "slow-report local-mode"),
            ("--no-slow-report", ""),
            ("-z -- -W", "local-mode [-W]"),
        ];
        for (line, expected) in table {
            assert_eq!(told(CLIENT, line), expected, "{line}");
        }
        assert_eq!(told(SOLO, "-r x.tgz"), "recipe-url=x.tgz");
        assert_eq!(told(CLIENT, "-r x"), "runlist=x");
    }

    #[test]
    fn what_is_not_known_is_refused_as_the_original_does() {
        let invalid = |flag: &str| format!("invalid option: {flag} (OptionParser::InvalidOption)");
        assert_eq!(told(CLIENT, "--foo=1"), invalid("--foo=1"));
        assert_eq!(told(CLIENT, "-zq"), invalid("-q"));
        assert_eq!(told(APPLY, "-z"), invalid("-z"));
        assert_eq!(told(OHAI, "-W"), invalid("-W"));
        assert_eq!(told(OHAI, "-l"), "missing argument: -l (OptionParser::MissingArgument)");
        let missing = "missing argument: --node (OptionParser::MissingArgument)";
        assert_eq!(told(CLIENT, "--node"), missing);
        assert_eq!(told(CLIENT, "--fo"), "ambiguous option: --fo (OptionParser::AmbiguousOption)");
        let needless = "needless argument: --once=1 (OptionParser::NeedlessArgument)";
        assert_eq!(told(CLIENT, "--once=1"), needless);
    }
}
