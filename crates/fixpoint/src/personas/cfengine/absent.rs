//! The tools of CFEngine that are not here yet. They answer `--version` and `--help`, refuse what
//! the original does not know in its words, and the rest in one sentence.

use crate::persona::Invocation;

use super::options::{self, Flag, Takes};
use super::{called_as, complain, say, words};

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

/// Answers for a tool that is not here.
pub(crate) fn absent(invocation: &Invocation) -> u8 {
    let args = words(invocation);
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == invocation.name) else {
        complain(&format!("   error: {} is not supported", invocation.name));
        return 1;
    };
    let parsed = match options::parse(&tool.flags(), &args) {
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
            return 1;
        }
    };
    if parsed.flags.iter().any(|(name, _)| name == "version") {
        say(crate::version::version(invocation.name));
        return 0;
    }
    if parsed.flags.iter().any(|(name, _)| name == "help") {
        say(&tool.usage());
        return 0;
    }
    match parsed.rest.first() {
        Some(command) if !tool.commands.is_empty() && !tool.commands.contains(&&**command) => {
            let command = command.to_ascii_uppercase();
            say(&format!("   error: '{command}' is not a valid {} command", tool.name));
        }
        _ => complain(&format!("   error: {} is not supported", invocation.name)),
    }
    1
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
