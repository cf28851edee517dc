//! Each production of the original's grammar: texts that its rules make, with the tree that Puppet 7.23 builds of
//! them, or its error. A line of `grammar.tsv` is the production, the text, and the tree in Puppet's notation.
//!
//! Six of the 233 productions are not there: definitions and mappings of types, parents of nodes, and what stands in
//! them. Both refuse those with the same words, ours while it reads and the original when it checks.

use fx_source::{Severity, SourceMap};

/// The tree of a text in Puppet's notation, or its error.
fn read(text: &str) -> String {
    let sources = SourceMap::new();
    let id = sources.add("t.pp", text.as_bytes().to_vec());
    let (program, found) = fx_puppet_syntax::parse(text.as_bytes(), id);
    match found.into_iter().find(|one| one.severity == Severity::Error) {
        Some(error) => format!("E {}", error.message),
        None => fx_puppet_syntax::pn::tree(&program).text(false),
    }
}

#[test]
fn every_production_gives_the_tree_of_the_original() {
    let table = include_str!("grammar.tsv");
    let mut wrong = Vec::new();
    let mut productions = std::collections::BTreeSet::new();
    for line in table.lines() {
        let [rule, text, expected] = line.splitn(3, '\t').collect::<Vec<_>>()[..] else {
            panic!("not three fields: {line}");
        };
        productions.insert(rule);
        let text = text.replace("\\n", "\n").replace("\\\\", "\\");
        let given = read(&text).replace('\n', "\\n");
        if given != expected {
            wrong.push(format!("{rule}\n  {text}\n  expected {expected}\n  given    {given}"));
        }
    }
    assert!(productions.len() > 200, "only {} productions", productions.len());
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
