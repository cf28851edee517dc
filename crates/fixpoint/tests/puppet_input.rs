//! Standard input that cannot be read: reported as the original reports it. Recorded from Puppet
//! 7.23 with a directory as standard input.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test runs the program")]

use std::fs::File;
use std::process::Command;

#[test]
fn a_directory_as_standard_input_is_an_error_of_the_run() {
    let run = "Error: Could not run: Is a directory @ io_fread - <STDIN>\n".to_owned();
    let usage = |face: &str| {
        format!(
            "Error: Is a directory @ io_fread - <STDIN>\nError: Try 'puppet help {face} dump' for usage\n"
        )
    };
    let dir = tempfile::tempdir().unwrap();
    for (args, expected) in [
        (&["apply"][..], run.clone()),
        (&["apply", "--catalog", "-"], run),
        (&["parser", "dump"], usage("parser")),
        (&["epp", "dump"], usage("epp")),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
        command.arg("puppet").args(args).env("FIXPOINT_STATE", dir.path().join("state"));
        let output = command.stdin(File::open(dir.path()).unwrap()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), expected, "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{args:?}");
        assert_eq!(output.status.code(), Some(1), "{args:?}");
    }
}
