//! The command lines of CFEngine's tools around the agent: a table of their flags, what all of them
//! answer the same way, and their log.

use std::io::Write;

use fx_engine::Level;

use crate::persona::Invocation;

use super::options::{self, Flag, Takes};
use super::{called_as, complain, say, words};

/// A command line that was read.
pub(super) struct Call {
    flags: Vec<(String, Option<String>)>,
    /// Words that are no flags.
    pub(super) rest: Vec<String>,
    pub(super) log: Log,
}

impl Call {
    pub(super) fn has(&self, name: &str) -> bool {
        self.flags.iter().any(|(known, _)| known == name)
    }

    /// The value of a flag that was given last.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let last = self.flags.iter().rev().find(|(known, _)| known == name);
        last.and_then(|(_, value)| value.as_deref())
    }

    /// All values of a flag, and the parts of each that commas separate.
    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let values = self.flags.iter().filter(|(known, _)| known == name);
        let values = values.filter_map(|(_, value)| value.as_deref());
        let parts = values.flat_map(|value| value.split(','));
        parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }
}

/// Lines of a tool's log, up to a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Log(pub(super) Level);

impl Log {
    pub(super) fn line(self, level: Level, text: &str) {
        if level <= self.0 {
            let word = match level {
                Level::Error => "error",
                Level::Warning => "warning",
                Level::Notice => "notice",
                Level::Info => "info",
                Level::Verbose => "verbose",
                _ => "debug",
            };
            let _closed = writeln!(std::io::stdout(), "{word:>8}: {text}");
        }
    }

    pub(super) fn error(self, text: &str) {
        self.line(Level::Error, text);
    }

    pub(super) fn notice(self, text: &str) {
        self.line(Level::Notice, text);
    }
}

/// How a tool refuses a flag that it does not know.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refuses {
    /// The line of getopt(3) and how the tool is used.
    WithUsage,
    /// That line alone.
    WithLine,
    /// A line of its own.
    Itself,
}

struct Tool {
    name: &'static str,
    /// `LONG,LETTER`, and `=` where the flag takes a value, `?` where it may.
    flags: &'static str,
    /// What may stand in the place of a command.
    commands: &'static [&'static str],
    refuses: Refuses,
}

const TOOLS: &[Tool] = &[
    Tool {
        name: "cf-key",
        flags: "help,h inform,I debug,d verbose,v version,V log-level,g= output-file,f= key-type,T= \
                show-hosts,s no-truncate,N remove-keys,r= force-removal,x install-license,l= \
                print-digest,p= trust-key,t= color,C? timestamp numeric,n ,M",
        commands: &[],
        refuses: Refuses::WithUsage,
    },
    Tool {
        name: "cf-serverd",
        flags: "help,h log-level,g= debug,d verbose,v version,V file,f= define,D= negate,N= no-lock,K \
                inform,I diagnostic,x no-fork,F ld-library-path,L= generate-avahi-conf,A color,C? \
                timestamp,l graceful-detach,t? ignore-preferred-augments ,M",
        commands: &[],
        refuses: Refuses::WithUsage,
    },
    Tool {
        name: "cf-execd",
        flags: "help,h debug,d verbose,v dry-run,n version,V file,f= define,D= negate,N= no-lock,K \
                inform,I diagnostic,x log-level,g= no-fork,F once,O no-winsrv,W ld-library-path,L= \
                color,C? timestamp,l ignore-preferred-augments skip-db-check? \
                with-runagent-socket= ,M",
        commands: &[],
        refuses: Refuses::WithUsage,
    },
    Tool {
        name: "cf-monitord",
        flags: "help,h debug,d verbose,v dry-run,n version,V no-lock,K file,f= log-level,g= inform,I \
                diagnostic,x no-fork,F histograms,H tcpdump,T color,C? timestamp,l \
                ignore-preferred-augments ,M",
        commands: &[],
        refuses: Refuses::WithUsage,
    },
    Tool {
        name: "cf-runagent",
        flags: "help,h background,b? debug,d verbose,v log-level,g= dry-run,n version,V file,f= \
                define-class,D= select-class,s= inform,I remote-options,o= diagnostic,x hail,H= \
                interactive,i timeout,t= color,C? timestamp,l ignore-preferred-augments \
                log-modules= remote-bundles= ,M",
        commands: &[],
        refuses: Refuses::WithUsage,
    },
    Tool {
        name: "cf-net",
        flags: "help,h manpage,M host,H= debug,d verbose,v log-level,g= inform,I tls-version,t= \
                ciphers,c=",
        commands: &["help", "connect", "stat", "get", "opendir"],
        refuses: Refuses::WithLine,
    },
    Tool {
        name: "cf-check",
        flags: "help,h manpage,M version,V debug,d verbose,v log-level,g= inform,I",
        commands: &[],
        refuses: Refuses::WithLine,
    },
    Tool {
        name: "cf-secret",
        flags: "help,h manpage,M debug,d verbose,v log-level,g= inform,I key,k= host,H= output,o=",
        commands: &[],
        refuses: Refuses::Itself,
    },
];

impl Tool {
    fn flags(&self) -> Vec<Flag> {
        let flag = |word: &'static str| {
            let (word, takes) = match (word.strip_suffix('='), word.strip_suffix('?')) {
                (Some(word), _) => (word, Takes::Value),
                (_, Some(word)) => (word, Takes::Optional),
                _ => (word, Takes::Nothing),
            };
            let (long, letter) = word.split_once(',').unwrap_or((word, ""));
            Flag::new(long, letter.chars().next(), takes, "")
        };
        self.flags.split_whitespace().map(flag).collect()
    }

    fn usage(&self) -> String {
        let line = |flag: &Flag| {
            let letter = flag.short.map(|letter| format!(", -{letter}")).unwrap_or_default();
            format!("\n  --{}{letter}", flag.long)
        };
        let flags = self.flags();
        let flags: String = flags.iter().filter(|flag| !flag.long.is_empty()).map(line).collect();
        format!("Usage: {} [OPTIONS]\n\nOptions:{flags}", self.name)
    }

    // What the original answers to a command line that it does not know: on standard error, and
    // on standard output.
    fn refusal(&self, called: &str, message: &str, unknown: &str) -> (String, String) {
        match self.refuses {
            Refuses::WithUsage => (format!("{called}: {message}"), self.usage()),
            Refuses::WithLine => (format!("{called}: {message}"), String::new()),
            Refuses::Itself => {
                let line = format!("   error: Unknown option '{unknown}'");
                (String::new(), format!("{line}\n{}", self.usage()))
            }
        }
    }
}

/// Reads the command line of a tool. `Err` is an exit code, all having been said.
pub(super) fn read(invocation: &Invocation) -> Result<Call, u8> {
    let args = words(invocation);
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == invocation.name) else {
        complain(&format!("   error: {} is not supported", invocation.name));
        return Err(1);
    };
    let flags = tool.flags();
    let parsed = if tool.commands.is_empty() {
        options::parse(&flags, &args)
    } else {
        options::parse_leading(&flags, &args)
    };
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(message) => {
            let unknown = args.iter().find(|arg| arg.starts_with('-')).cloned().unwrap_or_default();
            let called = called_as(invocation.name);
            let (error, output) = tool.refusal(&called, &message, &unknown);
            for (text, print) in [(error, complain as fn(&str)), (output, say)] {
                if !text.is_empty() {
                    print(&text);
                }
            }
            return Err(1);
        }
    };
    let call = Call { log: Log(level(&parsed)), flags: parsed.flags, rest: parsed.rest };
    if call.has("version") {
        say(crate::version::version(invocation.name));
        return Err(0);
    }
    if call.has("help") {
        say(&tool.usage());
        return Err(0);
    }
    Ok(call)
}

fn level(parsed: &options::Parsed) -> Level {
    let mut level = Level::Notice;
    for (name, value) in &parsed.flags {
        level = match (name.as_str(), value.as_deref()) {
            ("inform", _) => Level::Info,
            ("verbose", _) => Level::Verbose,
            ("debug", _) => Level::Debug,
            ("log-level", Some(word)) => super::flags::level(word).unwrap_or(level),
            _ => level,
        };
    }
    level
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_reads_its_own_flags_and_refuses_others() {
        for tool in TOOLS {
            let flags = tool.flags();
            let read = |word: &str| options::parse(&flags, &[word.to_owned()]).is_ok();
            assert!(read("--help") && read("-v"), "{}", tool.name);
            assert!(!read("--nonsense") && !read("-Q"), "{}", tool.name);
        }
    }
}
