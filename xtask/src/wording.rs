//! Decisions by the words of a message. What happened is data; a sentence that we made is for
//! people. A look into text with a piece of a sentence is allowed only where the text is made
//! by another program, and the list says by which.

/// Looks into a text.
const LOOKS: &[&str] = &[
    ".starts_with(\"",
    ".ends_with(\"",
    ".contains(\"",
    ".strip_prefix(\"",
    ".strip_suffix(\"",
    ".split_once(\"",
    ".rsplit_once(\"",
];

/// Files that read sentences of others, and whose.
const READERS: &[(&str, &str)] = &[
    ("crates/fixpoint/src/personas/native/attempt/entries.rs", "dpkg's status file"),
    ("crates/fixpoint/src/personas/native/test/policies.rs", "what acceptance tests report"),
    ("crates/fx-cfengine/src/facts/distribution.rs", "release files"),
    ("crates/fx-chef/src/ohai/platform.rs", "release files"),
    ("crates/fx-facts/src/probe/virt.rs", "the firmware"),
    ("crates/fx-facter/src/virt.rs", "the firmware"),
    ("crates/fx-puppet-apply/src/augeas.rs", "augtool"),
    ("crates/fx-resources/src/cron.rs", "crontab"),
    ("crates/fx-resources/src/package/", "package managers"),
    ("crates/fx-store/src/open.rs", "SQLite"),
    ("crates/fx-formats/src/yaml/read.rs", "the YAML parser"),
    ("crates/fx-puppet-apply/src/sourced.rs", "the HTTP library and the resolver"),
    ("crates/fx-ruby/src/core/exception/similar.rs", "the messages that did_you_mean looks at"),
    ("crates/fx-ruby/src/raise.rs", "the labels of frames, as Ruby makes them"),
    ("crates/fx-chef/src/files.rs", "the labels of frames, as Ruby makes them"),
    ("crates/fx-puppet/src/compile/relations.rs", "the key of a source, `class NAME`"),
];

/// The lines of shipped code that look into a text with a piece of a sentence, from 1.
pub(crate) fn decisions<'a>(
    name: &str,
    code: impl Iterator<Item = (usize, &'a str)>,
) -> Vec<(usize, String)> {
    if READERS.iter().any(|(file, _)| name.starts_with(file)) {
        return Vec::new();
    }
    code.filter_map(|(number, line)| Some((number + 1, piece(line)?.to_owned()))).collect()
}

/// The first piece of a sentence that a line looks for.
fn piece(line: &str) -> Option<&str> {
    LOOKS.iter().find_map(|look| {
        let (_, rest) = line.split_once(look)?;
        rest.split('"').next().filter(|text| is_sentence(text))
    })
}

/// Whether a text has two words, or is one word of some length with a blank beside it.
fn is_sentence(text: &str) -> bool {
    let words: Vec<&str> = text
        .split(' ')
        .map(|word| word.trim_matches(['\'', ',', ':', '.']))
        .filter(|word| word.len() > 1 && word.chars().all(|c| c.is_ascii_alphabetic()))
        .collect();
    let at_edge = text.starts_with(' ') || text.ends_with(' ');
    words.len() > 1 || at_edge && words.first().is_some_and(|word| word.len() > 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_sentences_are_told_from_marks() {
        let table = [
            (r#"if message.ends_with(" repaired") {"#, Some(" repaired")),
            (r#"message.starts_with("could not find user ")"#, Some("could not find user ")),
            (r#"text.split_once("' returned ")"#, Some("' returned ")),
            (r#"line.starts_with("% ")"#, None),
            (r#"path.ends_with(".rb")"#, None),
            (r#"name.contains("::")"#, None),
            (r#"text.split_once(" = ")"#, None),
            (r#"word == "two words""#, None),
        ];
        for (line, expected) in table {
            assert_eq!(piece(line), expected, "{line}");
        }
    }

    #[test]
    fn a_reader_of_another_program_is_left_alone() {
        let line = [(0, r#"out.contains("no crontab for")"#)];
        assert!(decisions("crates/fx-resources/src/cron.rs", line.into_iter()).is_empty());
        assert_eq!(decisions("crates/x/src/a.rs", line.into_iter()).len(), 1);
    }
}
