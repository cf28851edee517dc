//! `fixpoint ruby --time-limit`: a program that goes on past it ends, with a line that says so.

#![expect(clippy::disallowed_methods, reason = "tests run the program themselves")]

use std::process::Command;
use std::time::{Duration, Instant};

/// The limit and what follows it take half a second; the rest is for a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// Exit code, standard output and standard error.
fn ruby(program: &str) -> (Option<i32>, String, String) {
    let began = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(["ruby", "--time-limit=0.3", "-e", program])
        .output()
        .expect("it starts");
    let took = began.elapsed();
    assert!(took < PATIENCE, "{program}: {took:?}");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_program_that_rescues_its_time_limit_ends_with_a_line_that_says_so() {
    let table = [
        "begin; loop { }; rescue Exception; retry; end",
        "begin; loop { }; ensure; loop { }; end",
        "at_exit { puts 'no' }; begin; sleep; rescue Exception; retry; end",
        "Thread.new { begin; loop { }; rescue Exception; retry; end }.join",
        "loop { begin; [2, 1].sort_by { loop { } }; rescue Exception; end }",
        "def f; f; rescue Exception; f; end; f",
        "begin; system('sleep 100'); rescue Exception; end while true",
        "require 'timeout'; loop { begin; Timeout.timeout(60) { loop { } }; rescue Exception; end }",
    ];
    for program in table {
        let (code, said, error) = ruby(program);
        assert_eq!((code, said.as_str()), (Some(1), ""), "{program}: {error}");
        assert!(
            error.ends_with("-e: the program went on past its time limit\n"),
            "{program}: {error}"
        );
    }
}

#[test]
fn a_program_that_lets_its_time_limit_through_ends_with_the_exception() {
    let (code, said, error) = ruby("begin; loop { }; ensure; puts 'ensured'; end");
    assert_eq!((code, said.as_str()), (Some(1), "ensured\n"));
    assert!(error.contains("execution expired (Timeout::Error)"), "{error}");
}
