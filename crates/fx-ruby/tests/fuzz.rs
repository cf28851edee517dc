//! Mutated programs never crash the runtime: each ends, or ends in a Ruby exception within
//! its limits. The same seed gives the same programs. `FX_FUZZ_SECONDS` asks for a longer
//! run; a batch runs in a child process, so that an abort or a hang is seen and named.

#![expect(clippy::disallowed_methods, reason = "tests read their own files and run themselves")]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use fx_ruby::{Hooks, Limits, Options, Vm, on_big_stack};

/// Programs a batch runs in one process.
const BATCH: u64 = 250;
/// No batch takes this many seconds of processor time unless a program hangs.
const CPU: u64 = 60;
/// Nor this long on a busy machine, unless one waits for something.
const HANG: Duration = Duration::from_mins(20);
/// Address space of a batch: eight times what its heap limit allows one program.
const MEMORY_KB: u64 = 4 << 20;

/// Pieces that programs are mended and broken with.
const WORDS: &[&str] = &[
    "end",
    "do |x|",
    "{ |a, *b, k: 1, **o| ",
    "}",
    "if ",
    "while ",
    "begin; ",
    "rescue => e; ",
    "ensure; ",
    "retry",
    "redo",
    "break ",
    "next ",
    "return ",
    "yield ",
    "super",
    "self",
    "nil",
    "def m(a, b = 1, *c, d:, e: 2, **f, &g) ",
    "class X < X; ",
    "module M; ",
    "-> { ",
    "(",
    ")",
    "[",
    "]",
    "[*",
    "**h",
    "&blk",
    "&:sym",
    "*",
    "%w[a b]",
    "\"#{",
    "}\"",
    "<<~T\n",
    "\nT\n",
    "/(a|b)*?\\k<x>(?<x>.)/",
    "=~",
    "$~",
    "$1",
    "@iv",
    "@@cv",
    "CONST",
    "::",
    ".",
    "&.",
    "..",
    "...",
    "=",
    "+=",
    "||=",
    "<=>",
    "==",
    "===",
    "=>",
    "in [a, *]",
    "case x\nwhen 1 then ",
    "1_000_000_000_000_000_000_000",
    "-1",
    "1e400",
    "0.1r",
    "2i",
    ":\"a b\"",
    "?x",
    "__method__",
    "eval(\"1+\")",
    "instance_eval { ",
    "define_method(:q) { ",
    "send(:puts, 1)",
    "method(:p)",
    "Class.new { ",
    "Struct.new(:a)",
    "Comparable",
    "freeze",
    ".dup",
    ".each_slice(0)",
    ".pack(\"N*\")",
    ".unpack(\"m\")",
    ".gsub(/x/) { ",
    ".sort_by { ",
    ".inject(:+)",
    ".zip",
    ".cycle",
    ".lazy",
    "catch(:t) { throw :t }",
    "raise \"x\"",
    "loop { ",
    "ObjectSpace",
    "binding.local_variables",
    "Integer(\"0x1f\", 36)",
    "\"a\".encode(\"UTF-16LE\")",
    ".force_encoding(\"BINARY\")",
    "\"\\xff\"",
    "require \"yaml\"; YAML.load(\"- &a [*a]\")",
    "require \"json\"; JSON.parse(\"[1e\")",
    "Time.at(1e18)",
    "rand(0)",
    "srand",
    ".tr(\"a-z\", \"z-a\")",
    "\"%*d\" % [1 << 70, 2]",
    "* 10**9",
    "** 10**9",
    "<< 10**9",
    "[0] * (1 << 40)",
    "\"a\" * (1 << 40)",
    "BEGIN { ",
    "END { ",
    "alias a b",
    "undef m",
    "defined?(x)",
    "not ",
    " and ",
    " or ",
    "then ",
    "unless ",
    "until ",
    "for a in b; ",
    "=begin\n",
    "__END__\n",
    "\0",
    "\u{feff}",
    "é",
    "#",
    "\\",
];

struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.roll() % n.max(1) as u64) as usize
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut all = Vec::new();
    for case in fx_cases::read(&dir) {
        let text = case.section("t.rb").as_bytes();
        // A piece of a few lines is a better start than a whole program.
        let lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
        all.extend(lines.chunks(6).map(<[_]>::concat));
    }
    all
}

fn mutated(dice: &mut Dice, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut text = seeds[dice.below(seeds.len())].clone();
    for _ in 0..=dice.below(8) {
        let at = dice.below(text.len() + 1);
        let to = (at + dice.below(24)).min(text.len());
        match dice.below(6) {
            0 => drop(text.drain(at..to)),
            1 => {
                let copy = text[at..to].to_vec();
                let times = if dice.below(40) == 0 { 3000 } else { 1 + dice.below(3) };
                let there = dice.below(text.len() + 1);
                drop(text.splice(there..there, copy.repeat(times)));
            }
            2 => {
                let other = &seeds[dice.below(seeds.len())];
                let from = dice.below(other.len() + 1);
                let piece = other[from..(from + dice.below(80)).min(other.len())].to_vec();
                drop(text.splice(at..to, piece));
            }
            3 => {
                if let Some(byte) = text.get_mut(at) {
                    *byte = (dice.roll() & 0xff) as u8;
                }
            }
            _ => {
                let word = WORDS[dice.below(WORDS.len())];
                drop(text.splice(at..at, word.bytes()));
            }
        }
    }
    text
}

fn run(program: Vec<u8>) {
    let host = fx_host::MemoryHost::new();
    host.tick(Duration::from_millis(1));
    let mut vm = Vm::new(Options {
        host: Rc::new(host),
        out: Box::new(std::io::sink()),
        err: Box::new(std::io::sink()),
        limits: Limits { time: Some(Duration::from_millis(400)), heap: 512 << 20, depth: 2_000 },
        hooks: Hooks::default(),
        script: "t.rb".into(),
        argv: Vec::new(),
    });
    drop(vm.run_script(&program, "t.rb"));
}

fn batch(seed: u64, last: PathBuf) {
    let ended = on_big_stack(move || {
        let seeds = seeds();
        let mut dice = Dice(seed);
        for _ in 0..BATCH {
            let program = mutated(&mut dice, &seeds);
            std::fs::write(&last, &program).expect("the place for the last program");
            run(program);
        }
    });
    assert!(ended.is_some(), "a program made the runtime panic");
}

#[test]
fn mutated_programs_end_within_their_limits() {
    if let (Ok(seed), Some(last)) =
        (std::env::var("FX_FUZZ_SEED"), std::env::var_os("FX_FUZZ_LAST"))
    {
        return batch(seed.parse().expect("a number"), last.into());
    }
    let seconds = std::env::var("FX_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(2);
    let from: u64 = std::env::var("FX_FUZZ_FROM").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let last = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("fuzz-last-{}.rb", std::process::id()));
    let start = Instant::now();
    let mut seed = from;
    while start.elapsed() < Duration::from_secs(seconds) {
        let me = std::env::current_exe().expect("this test");
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(format!("ulimit -v {MEMORY_KB} && ulimit -t {CPU} && exec \"$0\" --exact mutated_programs_end_within_their_limits"))
            .arg(me)
            .env("FX_FUZZ_SEED", seed.to_string())
            .env("FX_FUZZ_LAST", &last)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a shell");
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child") {
                break Some(status);
            }
            if began.elapsed() > HANG {
                child.kill().expect("a child");
                break None;
            }
            std::thread::park_timeout(Duration::from_millis(20));
        };
        let output = child.wait_with_output().expect("a child");
        if !status.is_some_and(|s| s.success()) {
            let program = std::fs::read(&last).unwrap_or_default();
            let kept = last.with_file_name(format!("fuzz-{seed}.rb"));
            std::fs::write(&kept, &program).expect("a place to keep it");
            panic!(
                "seed {seed}: {}: kept as {}\n{}\n{}",
                status.map_or("hangs".to_owned(), |s| s.to_string()),
                kept.display(),
                String::from_utf8_lossy(&program),
                String::from_utf8_lossy(&output.stderr),
            );
        }
        seed += 1;
    }
    drop(std::fs::remove_file(&last));
    let done = (seed - from) * BATCH;
    drop(writeln!(std::io::stderr(), "{done} programs, seeds {from} to {seed}"));
    assert!(done > 0);
}
