//! Mutated policy through the parser: whatever the bytes, it answers and does not panic.
//!
//! The mutations follow from a number, so that a finding can be repeated. In an ordinary
//! test run it takes a fraction of a second; `FX_FUZZ_SECONDS=1800 cargo test -p
//! fx-cfengine-syntax --release --test fuzz` runs as long as asked, `FX_FUZZ_SEED` starts
//! elsewhere.

#![expect(clippy::disallowed_methods, reason = "the environment says how long, a file how far")]

use std::time::{Duration, Instant};

use fx_cfengine_syntax::parse;
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

/// A small generator with a known sequence.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

fn mutate(random: &mut Random, text: &mut Vec<u8>) {
    let at = random.below(text.len() + 1);
    match random.below(8) {
        0 if !text.is_empty() => {
            let at = random.below(text.len());
            text[at] = random.next() as u8;
        }
        1 | 2 => {
            let piece = PIECES[random.below(PIECES.len())];
            text.splice(at..at, piece.bytes());
        }
        3 => {
            let end = (at + random.below(40)).min(text.len());
            text.drain(at..end);
        }
        4 => {
            let end = (at + random.below(200)).min(text.len());
            let copy = text[at..end].to_vec();
            let to = random.below(text.len() + 1);
            text.splice(to..to, copy);
        }
        5 => text.truncate(at),
        6 => {
            let other = SEEDS[random.below(SEEDS.len())].as_bytes();
            let from = random.below(other.len());
            text.splice(at..at, other[from..].iter().copied());
        }
        _ => {
            let piece = PIECES[random.below(PIECES.len())].repeat(1 + random.below(300));
            text.splice(at..at, piece.bytes());
        }
    }
    text.truncate(20_000);
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn no_bytes_make_the_parser_panic() {
    let seconds = number("FX_FUZZ_SECONDS", 0);
    let seed = number("FX_FUZZ_SEED", 1).max(1);
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
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
            mutate(&mut random, &mut text);
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
            std::env::temp_dir().join("fx-cfengine-syntax-fuzz.txt"),
            format!(
                "{inputs} inputs in {} s from seed {seed}, no panic\n",
                begun.elapsed().as_secs()
            ),
        )
        .expect("the result is written");
    }
}
