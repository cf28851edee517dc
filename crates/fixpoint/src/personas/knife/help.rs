//! What knife says about itself: its options, and its calls by what they are about.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::calls::{CALLS, Call};

/// Options that every call knows, with the original's words.
const OPTIONS: &[(&str, &str)] = &[
    ("-s, --server-url URL", "Chef Infra Server URL."),
    ("-k, --key KEY", "Chef Infra Server API client key."),
    ("    --[no-]color", "Use colored output, defaults to enabled."),
    ("-c, --config CONFIG", "The configuration file to use."),
    ("    --config-option OPTION=VALUE", "Override a single configuration option."),
    ("-d, --disable-editing", "Do not open EDITOR, just accept the data as is."),
    (
        "-F, --format FORMAT",
        "Which format to use for output. (valid options: 'summary', 'text' or 'json')",
    ),
    ("-u, --user USER", "Chef Infra Server API client username."),
    ("    --profile PROFILE", "The credentials profile to select."),
    ("-V, --verbose", "More verbose output."),
    ("-v, --version", "Show Chef Infra Client version."),
    ("-y, --yes", "Say yes to all prompts for confirmation."),
    ("-h, --help", "Show this help message."),
];

/// The line of a call.
pub(super) fn usage(call: &Call) -> String {
    let takes_no_options = call.words[0] == "tag" || call.words.ends_with(&["environment", "set"]);
    let options = if takes_no_options { "" } else { " (options)" };
    format!("knife {}{options}", call.usage)
}

/// How knife is called.
pub(super) fn options() -> String {
    let mut out = "Usage: knife sub-command (options)\n".to_owned();
    for (option, words) in OPTIONS {
        let _ = writeln!(out, "    {option:<32} {words}");
    }
    out
}

/// Calls by what they are about; all of them where the word says nothing of it.
pub(super) fn calls(about: &str) -> String {
    let is_known = CALLS.iter().any(|call| call.words[0] == about);
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for call in CALLS.iter().filter(|call| !is_known || call.words[0] == about) {
        let name = match call.words {
            ["data", "bag", ..] => "DATA BAG".to_owned(),
            words => words[0].to_uppercase(),
        };
        groups.entry(name).or_default().push(usage(call));
    }
    let about = if is_known { format!("{about} ") } else { String::new() };
    let mut out =
        format!("Available {about}subcommands: (for details, knife SUB-COMMAND --help)\n\n");
    for (name, mut lines) in groups {
        lines.sort();
        let _ = writeln!(out, "** {name} COMMANDS **\n{}\n", lines.join("\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from knife 18.11.21, of the calls that are here.
    #[test]
    fn calls_are_listed_by_what_they_are_about() {
        assert_eq!(
            calls("tag"),
            "Available tag subcommands: (for details, knife SUB-COMMAND --help)\n\n\
             ** TAG COMMANDS **\nknife tag create NODE TAG ...\nknife tag delete NODE TAG ...\n\
             knife tag list NODE\n\n"
        );
        let all = calls("nonsense");
        assert!(all.starts_with("Available subcommands: (for details, knife SUB-COMMAND --help)\n\n** CLIENT COMMANDS **\nknife client create CLIENTNAME (options)\n"), "{all}");
        assert!(
            all.contains(
                "\n\n** DATA BAG COMMANDS **\nknife data bag create BAG [ITEM] (options)\n"
            )
        );
        assert!(all.contains("\nknife node environment set NODE ENVIRONMENT\n"));
        let groups = all.lines().filter(|line| line.starts_with("** ")).count();
        assert_eq!(
            (groups, all.lines().filter(|line| line.starts_with("knife ")).count()),
            (9, CALLS.len())
        );
    }

    #[test]
    fn options_stand_in_columns() {
        let text = options();
        assert!(text.starts_with("Usage: knife sub-command (options)\n    -s, --server-url URL             Chef Infra Server URL.\n"), "{text}");
        assert!(text.contains("\n        --[no-]color                 Use colored output"));
    }
}
