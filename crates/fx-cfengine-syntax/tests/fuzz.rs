//! Mutated policy through the parser: whatever the bytes, it answers and does not panic.
//!
//! The mutations follow from a number, so that a finding can be repeated. In an ordinary
//! test run it takes a fraction of a second; `FX_FUZZ_SECONDS=1800 cargo test -p
//! fx-cfengine-syntax --release --test fuzz` runs as long as asked, `FX_FUZZ_SEED` starts
//! elsewhere.

#![expect(clippy::disallowed_methods, reason = "a file shows how far it came")]

use std::time::{Duration, Instant};

use fx_cfengine_syntax::parse;
use fx_fuzz::{Material, Random};
use fx_source::SourceMap;

/// Policy that uses every form of the grammar once.
const SEEDS: &[&str] = &[
    "body common control\n{\n  inputs => { \"a.cf\", @(def.inputs) };\n  bundlesequence => { main(\"x\", @(l)), \"b\" };\n}\n",
    "bundle agent main(a, b)\n{\n  vars:\n    any::\n      \"x\" string => \"$(a)\", meta => { \"t\" };\n      \"l\" slist => { \"1\", '2', `3`, @(b) };\n      \"d\" data => '{ \"k\": [1, true, null] }';\n      \"j\" data => parsejson('[]'), unless => isvariable(\"j\");\n",
    "  classes:\n    \"c\" expression => and(not(\"x\"), regcmp(\".*\", \"$(y[1][$(z)])\"));\n  files:\n    linux.(debian|redhat)::\n      \"/tmp/$(x)\" -> { \"p1\", \"p2\" }\n        create => \"true\", perms => m(\"600\"), edit_line => ed(@(l));\n    \"${cls}\"::\n      \"/y\" copy_from => c;\n}\n",
    "body perms m(mode)\n{\n  linux::\n    mode => \"$(mode)\";\n    inherit_from => base(\"$(mode)\");\n  any::\n    owners => { \"root\" };\n}\n",
    "promise agent git\n{\n  interpreter => \"/usr/bin/python3\";\n  path => \"$(sys.inputdir)/git.py\";\n}\nbundle edit_line ed(l)\n{\n  insert_lines: \"$(l)\" location => end; # comment\n  replace_patterns: \"a\\\"b\\\\n\" replace_with => value('x');\n}\n",
    "@if minimum_version(3.18)\nbody file control { namespace => \"ns\"; }\n@else\nsyntax error here\n@endif\n@if feature(yaml)\nbundle common g { vars: \"v\" int => \"10k\"; reports: \"$(this.bundle)\"; }\n@endif\n",
];

/// Pieces that are inserted: what the grammar treats in some special way.
const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "=>",
    "->",
    ";",
    ",",
    "::",
    ":",
    "\"",
    "'",
    "`",
    "\\",
    "@(",
    "$(",
    "${",
    "@{",
    "#",
    "\n",
    "@if",
    "@endif",
    "@else",
    "bundle",
    "body",
    "promise",
    "agent",
    "vars:",
    "any::",
    "|",
    "&",
    "!",
    "\0",
    "\u{feff}",
    "\u{10ff80}",
    "é",
    "\r\n",
    "f(",
    "f(f(f(f(f(f(f(f(f(f(f(f(",
    "[[[[[[",
    "99999999999999999999",
    "minimum_version(",
    "minimum_version(99999999999999999999)",
];

const MATERIAL: Material =
    Material { seeds: SEEDS, pieces: PIECES, most_in_a_row: 300, longest: 20_000 };

#[test]
fn no_bytes_make_the_parser_panic() {
    let (seconds, seed) = fx_fuzz::asked();
    let mut random = Random::new(seed);
    let begun = Instant::now();
    let mut inputs = 0_u64;
    let sources = SourceMap::new();
    let file = sources.add("fuzz.cf", Vec::new());
    let mut text: Vec<u8> = SEEDS.concat().into_bytes();
    while inputs < 300 || begun.elapsed() < Duration::from_secs(seconds) {
        if random.below(20) == 0 {
            text = SEEDS[random.below(SEEDS.len())].as_bytes().to_vec();
        } else if random.below(50) == 0 {
            text = SEEDS.concat().into_bytes();
        }
        for _ in 0..=random.below(4) {
            MATERIAL.mutate(&mut random, &mut text);
        }
        inputs += 1;
        let shown = text.clone();
        let outcome = std::panic::catch_unwind(|| parse(file, &shown).1.len());
        assert!(
            outcome.is_ok(),
            "input {inputs} of seed {seed} makes the parser panic: {:?}",
            String::from_utf8_lossy(&text)
        );
    }
    if seconds > 0 {
        assert!(inputs > 0, "nothing was tried");
        std::fs::write(
            concat!(env!("CARGO_TARGET_TMPDIR"), "/fx-cfengine-syntax-fuzz.txt"),
            format!(
                "{inputs} inputs in {} s from seed {seed}, no panic\n",
                begun.elapsed().as_secs()
            ),
        )
        .expect("the result is written");
    }
}
