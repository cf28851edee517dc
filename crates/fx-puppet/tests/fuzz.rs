//! Mutated manifests and templates through the parser, the checks and the compiler: whatever
//! the bytes, they answer and do not panic.
//!
//! The mutations follow from a number, so that a finding can be repeated. In an ordinary test
//! run it takes a second; `FX_FUZZ_SECONDS=1800 cargo test -p fx-puppet --release --test fuzz`
//! runs as long as asked, `FX_FUZZ_SEED` starts elsewhere. The compiler works on a machine in
//! memory.

#![expect(clippy::disallowed_methods, reason = "a file shows how far it came")]

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fx_engine::Cancel;
use fx_fuzz::{Material, Random};
use fx_host::MemoryHost;
use fx_puppet::{CatalogRequest, Machine};
use fx_puppet_syntax::Strictness;
use fx_source::{Severity, SourceMap};

/// Manifests that use every form of the language once.
const SEEDS: &[&str] = &[
    "class a(String $x = 'd', Optional[Integer[0, 9]] $y = undef, Hash[String, Array[Variant[Integer, Enum['p', 'q']]]] $h = {}) inherits b {\n  $v = \"t ${x} ${h['k'][0]} $y\"\n  notify { $v: message => @(END/L) }\n    text ${x}\\n\n    | END\n}\nclass b { $p = 1 }\n",
    "define d($a, $b = [1, 2]) {\n  file { \"/t/${title}\": ensure => file, content => \"${a}\\n\", mode => '0644', require => Notify['n'] }\n  ~> exec { \"/bin/true ${name}\": refreshonly => true }\n}\nnotify { 'n': } -> d { ['x', 'y']: a => 1 }\nD<| title == 'x' and a != 2 |> { b => [3] }\n@notify { 'virt': tag => 't' }\nrealize(Notify['virt'])\n",
    "$r = [1, 2, 3].map |$i| { $i * 2 }.filter |Integer $i| { $i > 2 }\n$s = { 'a' => 1, b => [*$r] }.each |$k, $v| { notice(\"${k}=${v}\") }\ncase $r[0] { 1, 2: { } /x(.)/: { notice($1) } default: { fail('no') } }\n$q = $r ? { Array => 'a', default => undef }\nif $q =~ /^a/ and !($q in ['b']) { } elsif 1 < 2 { } else { }\nunless true { }\n",
    "type T = Struct[{ a => Integer, Optional[b] => T2 }]\ntype T2 = Array[Variant[Integer, T2]]\nfunction f(Integer $a, String *$rest) >> Integer { if $a > 3 { return(1) } $a + f($a + 1) }\nnotice(f(0), assert_type(T, { a => 1 }), T2 =~ Type, Integer('0x1f', 16), sprintf('%-5s|%05.1f', 'a', 1.5))\n",
    "node 'web.example.com', /^db\\d+/ { include a }\nnode default { class { 'a': x => 'y', * => { y => 1 } } }\nFile { mode => '0600' }\nFile['/t/x'] { owner => 'root' }\n@@host { 'h': ip => '10.0.0.1' }\nHost <<| |>>\nstage { 'pre': before => Stage['main'] }\n",
    "$big = 9223372036854775807\nnotice(0x1F + 017 - 1.5e3 * -2 % 3 << 1 >> 2, [1] + 2 << 3, { a => 1 } - 'a', 'x'[0, 1], [1, 2, 3][-1], \"\\u{1F600}\\t\\$\")\nnotice(regsubst('abc', '(b)', '<\\1>', 'G'), split('a.b', '[.]'), versioncmp('1.2', '1.10'), lookup('k', default_value => 1), dig({ a => [1] }, 'a', 0))\n$x = Sensitive('s')\nnotice(type($x), Timestamp('2020-01-01'), SemVer('1.2.3'), Timespan({ hours => 1 }), Binary('aGk='), String(1.5, '%e'))\n",
    "notice(inline_epp('<%- | $a = 1 | -%>\\n<% [1,2].each |$i| { -%>x<%= $i + $a %> <%# c %>\\n<% } -%>'))\nnotice([3, 1, 2].sort |$a, $b| { compare($a, $b) }, [1, [2]].flatten, 'a'.upcase, range(1, 3), ['a', 'b'].reduce |$m, $x| { \"${m}${x}\" })\n$f = Deferred('f', [1])\nresources { 'host': purge => true }\ntidy { '/t': age => '1w', recurse => 1 }\ncreate_resources('notify', { 'cr' => { message => 'm' } })\n",
];

/// Pieces that are inserted: what the grammar treats in some special way.
const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "=>",
    "+>",
    "->",
    "~>",
    "<-",
    "<~",
    "<|",
    "|>",
    "<<|",
    "|>>",
    ";",
    ",",
    "::",
    ":",
    "\"",
    "'",
    "\\",
    "${",
    "$",
    "@",
    "@@",
    "@(END)",
    "| END",
    "#",
    "/*",
    "*/",
    "\n",
    "\r\n",
    "|$x|",
    "|",
    "*",
    "!",
    "-",
    "=~",
    "!~",
    "==",
    "<=",
    "in ",
    "and ",
    "or ",
    "?",
    "/",
    "/(",
    "%",
    "<<",
    "class ",
    "define ",
    "node ",
    "function ",
    "type ",
    "inherits ",
    "if ",
    "else ",
    "elsif ",
    "unless ",
    "case ",
    "default",
    "undef",
    "true",
    "Integer[",
    "Struct[{",
    "Variant[",
    "Type[",
    "Resource[",
    "File[",
    "99999999999999999999",
    "0x",
    "1e999",
    "-9223372036854775808",
    "\u{0}",
    "é",
    "\u{10ff80}",
    "\u{feff}",
    "[[[[[[[[",
    "{{{{{{",
    "((((((",
    "${${${",
    "!!!!!!",
    "------",
    "notice(",
    "include ",
    "f(",
    "x.y.z(",
    "<%",
    "%>",
    "<%=",
    "-%>",
    "%%",
    "sprintf('%999999d', 1)",
    "Integer[1, 5].each |$i| { ",
];

const MATERIAL: Material =
    Material { seeds: SEEDS, pieces: PIECES, most_in_a_row: 200, longest: 6_000 };

/// Parses, checks and dumps; whether the text is a program.
fn parses(text: &[u8]) -> bool {
    let sources = SourceMap::new();
    let file = sources.add("fuzz.pp", text.to_vec());
    let (program, found) = fx_puppet_syntax::parse(text, file);
    let good = found.iter().all(|found| found.severity != Severity::Error);
    for found in &found {
        let _shown = found.primary().map(|span| sources.location(span));
    }
    let _found = fx_puppet_syntax::validate(&program, Strictness::Warning);
    let _template = fx_puppet_syntax::parse_epp(text, file);
    good && fx_puppet_syntax::dump(&program).len() < usize::MAX
}

fn request() -> CatalogRequest {
    CatalogRequest {
        manifest: PathBuf::from("/env/manifests/site.pp"),
        modulepath: vec![PathBuf::from("/env/modules")],
        environment_dir: Some(PathBuf::from("/env")),
        environment: "production".into(),
        ..CatalogRequest::default()
    }
}

/// What of a panic can be said.
fn report(seed: u64, inputs: u64, text: &[u8]) -> String {
    format!("seed {seed}, input {inputs}:\n{}", String::from_utf8_lossy(text))
}

fn run(seconds: u64, seed: u64, stop: &Arc<AtomicBool>, clock: &AtomicU64) {
    let mut random = Random::new(seed);
    let begun = Instant::now();
    let mut inputs = 0_u64;
    let mut compiled = 0_u64;
    let mut text: Vec<u8> = SEEDS.concat().into_bytes();
    while inputs < 300 || begun.elapsed() < Duration::from_secs(seconds) {
        if random.below(3) > 0 {
            text = SEEDS[random.below(SEEDS.len())].as_bytes().to_vec();
        } else if random.below(50) == 0 {
            text = SEEDS.concat().into_bytes();
        }
        for _ in 0..=random.below(2) {
            MATERIAL.mutate(&mut random, &mut text);
        }
        inputs += 1;
        let shown = text.clone();
        let good = std::panic::catch_unwind(|| parses(&shown));
        assert!(good.is_ok(), "{}", report(seed, inputs, &text));
        if !good.unwrap_or(false) {
            continue;
        }
        compiled += 1;
        clock.fetch_add(1, Ordering::SeqCst);
        stop.store(false, Ordering::SeqCst);
        let flag = Arc::clone(stop);
        let outcome = std::panic::catch_unwind(|| {
            let host = Rc::new(MemoryHost::new());
            for dir in ["/env", "/env/manifests", "/env/modules"] {
                host.put_dir(Path::new(dir), 0o755);
            }
            host.put("/env/manifests/site.pp", &shown);
            let machine = Machine::new(host, Cancel::from_flag(flag));
            fx_puppet::catalog(&machine, &request(), "web.example.com", Vec::new()).is_ok()
        });
        assert!(outcome.is_ok(), "{}", report(seed, inputs, &text));
    }
    if seconds > 0 {
        let shown = format!("{inputs} inputs, {compiled} of them compiled, seed {seed}\n");
        std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/fx-puppet-fuzz.txt"), shown)
            .expect("a file for the figures");
    }
}

#[test]
fn no_bytes_make_the_compiler_panic() {
    let (seconds, seed) = fx_fuzz::asked();
    let stop = Arc::new(AtomicBool::new(false));
    let clock = Arc::new(AtomicU64::new(0));
    let done = Arc::new(AtomicBool::new(false));
    // An input that goes on and on is stopped; that it can be is part of the promise.
    let watch = {
        let (stop, clock, done) = (Arc::clone(&stop), Arc::clone(&clock), Arc::clone(&done));
        std::thread::spawn(move || {
            let mut seen = (0, Instant::now());
            while !done.load(Ordering::SeqCst) {
                std::thread::park_timeout(Duration::from_millis(100));
                let now = clock.load(Ordering::SeqCst);
                if now != seen.0 {
                    seen = (now, Instant::now());
                } else if seen.1.elapsed() > Duration::from_secs(2) {
                    stop.store(true, Ordering::SeqCst);
                }
            }
        })
    };
    let worker = std::thread::Builder::new()
        .stack_size(fx_puppet::STACK)
        .spawn(move || run(seconds, seed, &stop, &clock))
        .expect("a thread for the compiler");
    let ended = worker.join();
    done.store(true, Ordering::SeqCst);
    watch.join().expect("the watch ends");
    if let Err(panic) = ended {
        std::panic::resume_unwind(panic);
    }
}
