//! getopt_long(3) as CFEngine's tools use it: letters combine, long names abbreviate, and
//! what is no option may stand anywhere.

/// Whether a flag takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Value,
    /// Only joined to it: `--color=never`, `-Cnever`.
    Optional,
}

/// One flag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flag {
    pub(super) long: &'static str,
    pub(super) short: Option<char>,
    pub(super) takes: Takes,
    /// What it does, for `--help`.
    pub(super) help: &'static str,
}

impl Flag {
    pub(super) const fn new(
        long: &'static str,
        short: Option<char>,
        takes: Takes,
        help: &'static str,
    ) -> Flag {
        Flag { long, short, takes, help }
    }
}

/// Flags by long name in the order given, and the other words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parsed {
    pub(super) flags: Vec<(String, Option<String>)>,
    pub(super) rest: Vec<String>,
}

/// Reads a command line.
pub(super) fn parse(flags: &[Flag], args: &[String]) -> Result<Parsed, String> {
    read(flags, args, false)
}

/// Reads a command line up to the first word that is no flag: the rest is for that word.
pub(super) fn parse_leading(flags: &[Flag], args: &[String]) -> Result<Parsed, String> {
    read(flags, args, true)
}

fn read(flags: &[Flag], args: &[String], leading: bool) -> Result<Parsed, String> {
    let mut parsed = Parsed::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--" {
            parsed.rest.extend(args.cloned());
            break;
        }
        if let Some(long) = arg.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (long, None),
            };
            let exact = flags.iter().find(|flag| flag.long == name);
            let near: Vec<&Flag> = flags
                .iter()
                .filter(|flag| !name.is_empty() && flag.long.starts_with(name))
                .collect();
            let flag = match (exact, near.as_slice()) {
                (Some(flag), _) => flag,
                (None, []) => return Err(format!("unrecognized option '--{name}'")),
                // The C library takes the first of those that differ only by name.
                (None, [first, others @ ..])
                    if others
                        .iter()
                        .all(|other| other.takes == first.takes && other.short == first.short) =>
                {
                    first
                }
                (None, several) => {
                    let names: String =
                        several.iter().map(|flag| format!(" '--{}'", flag.long)).collect();
                    return Err(format!("option '--{name}' is ambiguous; possibilities:{names}"));
                }
            };
            let value = match (flag.takes, value) {
                (Takes::Nothing, Some(_)) => {
                    return Err(format!("option '--{}' doesn't allow an argument", flag.long));
                }
                (Takes::Value, None) => match args.next() {
                    Some(value) => Some(value.clone()),
                    None => return Err(format!("option '--{}' requires an argument", flag.long)),
                },
                (_, value) => value,
            };
            parsed.flags.push((flag.long.to_owned(), value));
        } else if arg.len() > 1 && arg.starts_with('-') {
            let mut letters = arg[1..].chars();
            while let Some(letter) = letters.next() {
                let Some(flag) = flags.iter().find(|flag| flag.short == Some(letter)) else {
                    return Err(format!("invalid option -- '{letter}'"));
                };
                let joined: String = letters.as_str().to_owned();
                let value = match flag.takes {
                    Takes::Nothing => {
                        parsed.flags.push((flag.long.to_owned(), None));
                        continue;
                    }
                    Takes::Value if joined.is_empty() => match args.next() {
                        Some(value) => Some(value.clone()),
                        None => return Err(format!("option requires an argument -- '{letter}'")),
                    },
                    Takes::Optional if joined.is_empty() => None,
                    _ => Some(joined),
                };
                parsed.flags.push((flag.long.to_owned(), value));
                break;
            }
        } else {
            parsed.rest.push(arg.clone());
            if leading {
                parsed.rest.extend(args.cloned());
                break;
            }
        }
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAGS: &[Flag] = &[
        Flag::new("file", Some('f'), Takes::Value, ""),
        Flag::new("no-lock", Some('K'), Takes::Nothing, ""),
        Flag::new("inform", Some('I'), Takes::Nothing, ""),
        Flag::new("ignore", None, Takes::Nothing, ""),
        Flag::new("color", Some('C'), Takes::Optional, ""),
        Flag::new("show-vars", None, Takes::Optional, ""),
        Flag::new("show-classes", None, Takes::Optional, ""),
    ];

    fn check(line: &str, expected: &str) {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let shown = match parse(FLAGS, &args) {
            Ok(parsed) => {
                let flags: Vec<String> = parsed
                    .flags
                    .iter()
                    .map(|(name, value)| {
                        value
                            .as_ref()
                            .map_or_else(|| name.clone(), |value| format!("{name}={value}"))
                    })
                    .collect();
                format!("{} | {}", flags.join(" "), parsed.rest.join(" "))
            }
            Err(message) => message,
        };
        assert_eq!(shown, expected, "{line}");
    }

    #[test]
    fn command_lines_read_as_getopt_long_does() {
        check("-KIf x.cf y", "no-lock inform file=x.cf | y");
        check("-fx.cf --no", "file=x.cf no-lock | ");
        check("--file=a -- -K", "file=a | -K");
        check("-C --color=never", "color color=never | ");
        check("--bogus", "unrecognized option '--bogus'");
        check("--i", "option '--i' is ambiguous; possibilities: '--inform' '--ignore'");
        check("-z", "invalid option -- 'z'");
        check("-f", "option requires an argument -- 'f'");
        check("--show-vars=a b", "show-vars=a | b");
        check("--show=a", "show-vars=a | ");
        check("--", " | ");
    }
}
