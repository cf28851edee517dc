//! `puppet help`: the subcommands, and for each its actions and flags.

use std::fmt::Write as _;

use super::flags::{self, Sub};
use super::ground::{fail, say};

/// One subcommand: its name, flags, use, a line and a paragraph about it, and its actions.
pub(super) struct About {
    pub(super) name: &'static str,
    pub(super) sub: Sub,
    usage: &'static str,
    line: &'static str,
    more: &'static str,
    actions: &'static [Action],
}

/// One action: its name, what follows it, and what it does.
type Action = (&'static str, &'static str, &'static str);

const ABOUT: &[About] = &[
    About {
        name: "agent",
        sub: Sub::Agent,
        usage: "[OPTIONS]",
        line: "Apply the catalog of a server to this machine",
        more: "Fetches plug-ins, sends facts, takes the catalog that the server compiles, applies it and\nsends a report. With --test it does so once, shows what it does, and ends with a code that says\nwhat happened. Every setting is a flag too, such as --server, --environment or --noop.",
        actions: &[],
    },
    About {
        name: "apply",
        sub: Sub::Apply,
        usage: "[OPTIONS] [FILE | DIRECTORY | -e CODE]",
        line: "Apply manifests to this machine",
        more: "Compiles a manifest and brings this machine to the state that it describes. Without a\nfile, standard input is read. With --noop nothing is changed. Every setting is a flag too,\nsuch as --modulepath, --tags or --noop.",
        actions: &[],
    },
    About {
        name: "catalog",
        sub: Sub::Catalog,
        usage: "<action> [OPTIONS] [NODE]",
        line: "Compile catalogs",
        more: "Compiles the catalog of a node and prints it as JSON. The manifest is that of the\nenvironment, or the one that --manifest names.",
        actions: &[
            ("compile", "[NODE]", "Compile the catalog of a node."),
            ("download", "", "Save this node's catalog from its server, as YAML."),
            ("find", "[NODE]", "The same."),
        ],
    },
    About {
        name: "config",
        sub: Sub::Config,
        usage: "<action> [--section SECTION]",
        line: "Print and change settings",
        more: "Prints settings, and changes lines of puppet.conf.",
        actions: &[
            ("delete", "SETTING", "Remove a setting from the file."),
            ("print", "[all | SETTING ...]", "Print settings."),
            ("set", "SETTING VALUE", "Write a setting into the file."),
        ],
    },
    About {
        name: "describe",
        sub: Sub::Describe,
        usage: "[OPTIONS] TYPE ...",
        line: "Describe resource types",
        more: "Prints what a resource type is for, its parameters and its providers.",
        actions: &[],
    },
    About {
        name: "epp",
        sub: Sub::Epp,
        usage: "<action> [OPTIONS] [TEMPLATE ...]",
        line: "Check and render EPP templates",
        more: "Checks, dumps and renders templates of the language.",
        actions: &[
            ("dump", "[TEMPLATE ...]", "Print the syntax tree."),
            ("render", "[TEMPLATE ...]", "Print the text that a template gives."),
            ("validate", "[TEMPLATE ...]", "Check the syntax."),
        ],
    },
    About {
        name: "facts",
        sub: Sub::Facts,
        usage: "[show] [OPTIONS] [FACT ...]",
        line: "Show facts",
        more: "Prints the facts of this machine.",
        actions: &[
            ("find", "[FACT ...]", "The same as show."),
            ("show", "[FACT ...]", "Print facts; this is the default."),
        ],
    },
    About {
        name: "filebucket",
        sub: Sub::Filebucket,
        usage: "<action> [OPTIONS] [FILE | DIGEST ...]",
        line: "Keep and restore copies of files",
        more: "Keeps files by their digest in a directory, and gives them back.",
        actions: &[
            ("backup", "FILE ...", "Keep files."),
            ("diff", "FILE|DIGEST FILE|DIGEST", "Compare two files."),
            ("get", "DIGEST", "Print a file."),
            ("list", "", "List what is kept."),
            ("restore", "FILE DIGEST", "Write a file back."),
        ],
    },
    About {
        name: "generate",
        sub: Sub::Generate,
        usage: "<action>",
        line: "Prepare types of modules",
        more: "Types are read from the modules at each run, so there is nothing to prepare.",
        actions: &[("types", "", "Succeeds and writes nothing: no file is needed.")],
    },
    About {
        name: "lookup",
        sub: Sub::Lookup,
        usage: "[OPTIONS] KEY ...",
        line: "Look up data",
        more: "Prints the value that Hiera finds for a key, or how it is found.",
        actions: &[],
    },
    About {
        name: "module",
        sub: Sub::Module,
        usage: "<action> [OPTIONS]",
        line: "List, install and remove modules",
        more: "Works with archives and directories on this machine. Nothing is downloaded.",
        actions: &[
            ("install", "ARCHIVE | DIRECTORY", "Install a module from a file or directory."),
            ("list", "", "List the modules of the environment."),
            ("uninstall", "NAME", "Remove a module."),
            ("upgrade", "ARCHIVE | DIRECTORY", "Replace a module by a newer one."),
        ],
    },
    About {
        name: "parser",
        sub: Sub::Parser,
        usage: "<action> [OPTIONS] [MANIFEST | DIRECTORY ...]",
        line: "Check manifests",
        more: "Checks the syntax of manifests, or prints their trees.",
        actions: &[
            ("dump", "[MANIFEST ...]", "Print the syntax tree."),
            ("validate", "[MANIFEST | DIRECTORY ...]", "Check the syntax."),
        ],
    },
    About {
        name: "resource",
        sub: Sub::Resource,
        usage: "[OPTIONS] TYPE [NAME [ATTRIBUTE=VALUE ...]]",
        line: "Show and change resources",
        more: "Prints the resources of a type that are on this machine, or changes one.",
        actions: &[],
    },
    About {
        name: "ssl",
        sub: Sub::Ssl,
        usage: "<action> [OPTIONS]",
        line: "Manage the key and the certificate of this node",
        more: "Makes what a node needs to speak to a server, and checks or removes it.",
        actions: &[
            ("bootstrap", "", "Make a key, ask for a certificate, and take it."),
            ("clean", "[--localca]", "Remove the key and the certificate."),
            ("download_cert", "", "Take the certificate, if it is signed."),
            ("submit_request", "", "Ask for a certificate."),
            ("verify", "", "Check that key and certificates belong together."),
        ],
    },
];

/// Subcommands of the original that are not here, and what to use instead.
pub(super) const UNSUPPORTED: &[(&str, &str)] = &[
    ("ca", "there is no certificate authority; it is part of a server"),
    ("cert", "there is no certificate authority; it is part of a server"),
    ("device", "network devices are not managed; use 'puppet apply' on the machine itself"),
    ("doc", "use 'puppet describe' for types and 'puppet help' for subcommands"),
    ("key", "there is no certificate authority; it is part of a server"),
    ("node", "there is no server that knows nodes; use 'puppet catalog compile NODE'"),
    ("plugin", "there is no server to download from; use 'puppet module install'"),
    (
        "report",
        "there is no server to send to; the last report is in 'puppet config print lastrunreport'",
    ),
    ("script", "manifests are compiled; use 'puppet apply'"),
    ("status", "there is no server; use 'fixpoint history' for past runs"),
];

const USAGE_OF_HELP: &str = "Try 'puppet help help help' for usage";

/// What is known of a subcommand.
pub(super) fn about(name: &str) -> Option<&'static About> {
    ABOUT.iter().find(|about| about.name == name)
}

/// Why an action is missing or wrong, in the original's words.
pub(super) fn no_action(name: &str, action: Option<&str>) -> String {
    match action {
        Some(action) => {
            format!("'{name}' has no '{action}' action.  See `puppet help {name}`.")
        }
        None => format!("'{name}' has no default action.  See `puppet help {name}`."),
    }
}

/// An action with more or fewer words than it takes.
pub(super) fn wrong_number(name: &str, action: &str, takes: usize, given: usize) -> u8 {
    let plural = if takes == 1 { "" } else { "s" };
    fail(format_args!(
        "puppet {name} {action} takes {takes} argument{plural}, but you gave {given}"
    ));
    fail(format_args!("Try 'puppet help {name} {action}' for usage"))
}

/// The version that the original gives a subcommand which has actions; its older ones have none.
fn version_of(name: &str) -> Option<&'static str> {
    match name {
        "agent" | "apply" | "describe" | "filebucket" | "lookup" | "resource" | "ssl" => None,
        "generate" => Some("0.1.0"),
        "module" => Some("1.0.0"),
        _ => Some("0.0.1"),
    }
}

/// `puppet help [SUBCOMMAND [ACTION]]`; the exit code.
pub(super) fn run(words: &[String]) -> u8 {
    let cannot = |name: &str, detail: &str| {
        fail(format_args!(
            "Could not load help for the face {name}.\nPlease check the error logs for more information.\n\nDetail: \"{detail}\""
        ));
        fail(USAGE_OF_HELP)
    };
    if let Some(flag) = words.iter().find(|word| word.starts_with('-')) {
        return fail(format_args!("Could not parse application options: invalid option: {flag}"));
    }
    match words {
        [] => say(&overview()),
        [name] if name == "help" => say(
            "\nUSAGE: puppet help [SUBCOMMAND [ACTION]]\n\nLists the subcommands, or the actions and flags of one.",
        ),
        [name, rest @ ..] if rest.len() < 2 => {
            if let Some((_, why)) = UNSUPPORTED.iter().find(|(known, _)| known == name) {
                return fail(not_here(name, why));
            }
            let Some(about) = about(name) else {
                return cannot(name, &format!("Could not find Puppet Face {name}"));
            };
            match rest.first() {
                None => say(&text(about, None)),
                Some(action) => match about.actions.iter().find(|(known, ..)| known == action) {
                    Some(action) => say(&text(about, Some(action))),
                    None => match version_of(name) {
                        Some(version) => {
                            let face = format!("Puppet::Face[:{name}, {version}]");
                            cannot(name, &format!("Unable to load action {action} from {face}"))
                        }
                        None => {
                            fail(format_args!(
                                "The legacy subcommand '{name}' does not support supplying an action"
                            ));
                            fail(USAGE_OF_HELP)
                        }
                    },
                },
            }
        }
        _ => {
            fail(
                "The 'puppet help' command takes two (optional) arguments: a subcommand and an action",
            );
            fail(USAGE_OF_HELP)
        }
    }
}

/// The help of a subcommand whose flags ask for it.
pub(super) fn of(name: &str, words: &[String]) -> u8 {
    let Some(about) = about(name) else { return run(&[]) };
    let action =
        words.first().and_then(|word| about.actions.iter().find(|(known, ..)| known == word));
    say(&text(about, action))
}

/// Why a subcommand of the original is not here.
pub(super) fn not_here(name: &str, why: &str) -> String {
    format!("the subcommand '{name}' is not supported: {why}")
}

fn overview() -> String {
    let mut out = String::from(
        "\nUsage: puppet <subcommand> [options] <action> [options]\n\nAvailable subcommands:\n\n",
    );
    for about in ABOUT {
        let _infallible = writeln!(out, "    {:<17} {}", about.name, about.line);
    }
    let _infallible = writeln!(out, "    {:<17} Print this help", "help");
    out.push_str("\nNot available ('puppet help NAME' says why): ");
    let names: Vec<&str> = UNSUPPORTED.iter().map(|(name, _)| *name).collect();
    out.push_str(&names.join(", "));
    out.push_str(
        "\n\nSee 'puppet help <subcommand> <action>' for help on a specific subcommand action.\nSee 'puppet help <subcommand>' for help on a specific subcommand.\nPuppet v",
    );
    out.push_str(fx_puppet::VERSION);
    out
}

fn text(about: &About, action: Option<&Action>) -> String {
    let mut out = match action {
        Some((name, rest, line)) => {
            let rest = format!("{name} [OPTIONS] {rest}");
            format!("\nUSAGE: puppet {} {}\n\n{line}\n", about.name, rest.trim_end())
        }
        None => format!("\nUSAGE: puppet {} {}\n\n{}\n", about.name, about.usage, about.more),
    };
    out.push_str("\nOPTIONS:\n");
    for (written, line) in flags::listed(about.sub) {
        let _infallible = writeln!(out, "  {written:<30} - {line}");
    }
    out.push_str(
        "  --SETTING VALUE                - Any setting; 'puppet config print' lists them.\n",
    );
    if action.is_none() && !about.actions.is_empty() {
        out.push_str("\nACTIONS:\n");
        for (name, _, line) in about.actions {
            let _infallible = writeln!(out, "  {name:<9} {line}");
        }
    }
    out.push_str("\nSee 'puppet help' for all subcommands.");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subcommand_has_help_with_its_flags_and_actions() {
        for one in ABOUT {
            let text = text(one, None);
            assert!(text.contains(&format!("USAGE: puppet {} ", one.name)), "{text}");
            assert!(text.contains("--debug"), "{text}");
            assert!(one.actions.iter().all(|(name, ..)| text.contains(name)), "{text}");
            assert!(overview().contains(one.line));
        }
        assert!(UNSUPPORTED.iter().all(|(name, _)| about(name).is_none()));
    }
}
