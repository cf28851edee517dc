//! Texts of a megabyte made to exhaust the parser or the stack: each ends in time with an
//! error that names its place.

#![expect(clippy::disallowed_methods, reason = "tests lay out and run their own files")]

use std::process::Command;
use std::time::{Duration, Instant};

/// A build without optimisation is several times slower than the one that ships.
const PATIENCE: Duration = Duration::from_secs(if cfg!(debug_assertions) { 15 } else { 2 });

fn ruby(text: &str) -> (Option<i32>, String) {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let path = dir.path().join("bomb.rb");
    std::fs::write(&path, text).expect("a file");
    let began = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .arg("ruby")
        .arg(&path)
        .output()
        .expect("it starts");
    let took = began.elapsed();
    let start = text.get(..30).unwrap_or(text);
    assert!(took < PATIENCE, "{start}…: {took:?}");
    let text = [output.stdout, output.stderr].concat();
    let code = output.status.code();
    assert!(code.is_some(), "{start}…: {:?}", output.status);
    (code, String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn a_megabyte_of_nesting_is_an_error_with_its_place() {
    const MEGA: usize = 1_000_000;
    let repeated = |unit: &str| unit.repeat(MEGA / unit.len());
    let mut bombs: Vec<String> = [
        "(",
        "[",
        "{",
        "->{",
        "\"#{",
        "begin;",
        "a.",
        "-",
        "!",
        "~",
        "not ",
        "if 1\n",
        "def a\n",
        "class A\n",
        "f(",
        "{a:",
        "a{",
        "a do ",
        "case 1\nwhen 1\n",
        "x = <<A\n#{",
        "while 1\n",
    ]
    .iter()
    .map(|unit| repeated(unit))
    .collect();
    for (first, link, last) in [
        ("x = 1", "+1", "\np x"),
        ("x = []\nx", " << 1", ""),
        ("x = []\nx", ".dup", ""),
        ("p(true", "&&true", ")"),
        ("p(nil", "||nil", ")"),
        ("p 1", " if 1", ""),
        ("A", "::A", ""),
        ("a", "[0]", ""),
        ("if 1\n", "elsif 1\n", "end"),
        ("begin\n", "rescue A\n", "end"),
        ("case 1\nin 1", "|1", "\nend"),
    ] {
        bombs.push(format!("{first}{}{last}", repeated(link)));
    }
    for bomb in bombs {
        let (code, text) = ruby(&bomb);
        let start = bomb.get(..30).unwrap_or(&bomb);
        assert_eq!(code, Some(1), "{start}…: {}", text.get(..300).unwrap_or(&text));
        assert!(text.contains("bomb.rb:"), "{start}…: {}", text.get(..300).unwrap_or(&text));
    }
}

#[test]
fn what_people_write_is_not_refused() {
    let sum = format!("p 1{}", "+1".repeat(9_999));
    assert_eq!(ruby(&sum), (Some(0), "10000\n".into()));
    let ruler = format!("# {}\np 1\n", "-".repeat(10_000));
    assert_eq!(ruby(&ruler), (Some(0), "1\n".into()));
    let nested = format!("p {}1{}", "(".repeat(3_000), ")".repeat(3_000));
    assert_eq!(ruby(&nested), (Some(0), "1\n".into()));
    let list = format!("p [{}].size", "1,".repeat(300_000));
    assert_eq!(ruby(&list), (Some(0), "300000\n".into()));
}

#[test]
fn deep_data_and_templates_are_exceptions() {
    for (program, class) in [
        ("require 'json'; JSON.parse('[' * 1_000_000)", "JSON::"),
        ("require 'yaml'; YAML.load('[' * 1_000_000)", "Psych::"),
        ("require 'erb'; ERB.new('<% if 1 %>' * 100_000).result", "SyntaxError"),
        ("eval('1' + '+1' * 300_000)", "SyntaxError"),
        ("Regexp.new('(' * 1_000_000)", "RegexpError"),
    ] {
        let (code, text) =
            ruby(&format!("begin\n{program}\nrescue Exception => e\nputs e.class\nend"));
        assert_eq!(code, Some(0), "{program}: {text}");
        assert!(text.starts_with(class), "{program}: {text}");
    }
}

#[test]
fn a_recipe_that_is_a_bomb_fails_with_its_place() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let path = dir.path().join("bomb.rb");
    std::fs::write(&path, format!("x = 1{}", "+1".repeat(300_000))).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(["chef-client", "-z", "bomb.rb"])
        .current_dir(dir.path())
        .env("HOME", dir.path())
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("bomb.rb:1") && text.contains("nesting too deep"), "{text}");
}

#[test]
fn a_pattern_that_takes_too_many_steps_is_an_error_with_its_place() {
    for pattern in
        [r"\A(?<re>(?:a|\g<re>\g<re>)+)+b\z", r"\A(a|aa)+\1?\z", r"(?<re>(?:a|aa)+\g<re>?)+b\z"]
    {
        let (code, told) = ruby(&format!("text = 'a' * 60 + 'c'\n/{pattern}/.match?(text)\n"));
        assert_eq!(code, Some(1), "{pattern}: {told}");
        assert!(told.contains("bomb.rb:2:in `<main>': "), "{pattern}: {told}");
        assert!(told.ends_with(&format!(": /{pattern}/ (RegexpError)\n")), "{pattern}: {told}");
    }
}
