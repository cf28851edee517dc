//! Files that claim any size: memory stays bounded, and the run goes on.
//!
//! Needs root for a copy of the machine; says so where it cannot run.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test runs the program from outside"
)]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use fx_host::{Exit, OsHost, Sandbox, SandboxOptions, Spec};

/// More than is ever read as a whole.
const LARGE: u64 = fx_host::limits::WHOLE + (32 << 20);

const APPLY: &[&str] = &["puppet", "apply"];
const CHEF: &[&str] = &["chef-apply"];
const AGENT: &[&str] = &["cf-agent", "-KIf"];

/// Runs a policy in a copy of the machine, with address space for the stack of the deepest
/// program and little more.
fn run(dir: &Path, args: &[&str], policy: &str) -> String {
    let shared = vec![dir.to_owned()];
    let copy = Sandbox::new(&SandboxOptions { shared, ..SandboxOptions::default() }).unwrap();
    let name = match args {
        ["puppet", ..] => "a.pp",
        ["cf-agent", ..] => "a.cf",
        _ => "a.rb",
    };
    let file = dir.join(name);
    fs::write(&file, policy.replace("DIR", dir.to_str().unwrap())).unwrap();
    let line = format!(
        "ulimit -v 4000000; exec {} {} {}",
        env!("CARGO_BIN_EXE_fixpoint"),
        args.join(" "),
        file.display()
    );
    let spec = Spec { merge_stderr: true, ..Spec::shell(line).timeout(Duration::from_secs(100)) };
    let ended = copy.run(&OsHost::new(), &spec).unwrap();
    let shown = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(matches!(ended.exit, Exit::Code(_)), "{args:?} ended with {:?}\n{shown}", ended.exit);
    shown
}

fn sparse(path: &Path, size: u64) {
    fs::File::create(path).unwrap().set_len(size).unwrap();
}

fn scratch(test: &str) -> Option<tempfile::TempDir> {
    let dir = tempfile::tempdir().unwrap();
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        eprintln!("SKIPPED {test}: a copy of the machine needs root");
        return None;
    }
    if fs::File::create(dir.path().join("big")).unwrap().set_len(8 << 40).is_err() {
        eprintln!("SKIPPED {test}: this file system has no files of 8 TiB");
        return None;
    }
    Some(dir)
}

#[test]
fn a_users_sparse_file_is_replaced_and_the_run_goes_on() {
    let agent = "bundle agent main { files:\n\
                 \"DIR/big\" content => \"x\";\n\"DIR/after\" create => \"true\", content => \"x\"; }";
    for (args, policy) in [
        (APPLY, "file { 'DIR/big': content => 'x' } -> file { 'DIR/after': content => 'x' }"),
        (
            CHEF,
            "file 'DIR/big' do\n content 'x'\n backup false\nend\nfile 'DIR/after' do\n content 'x'\nend",
        ),
        (AGENT, agent),
    ] {
        let Some(dir) = scratch("a_users_sparse_file_is_replaced_and_the_run_goes_on") else {
            return;
        };
        let shown = run(dir.path(), args, policy);
        for name in ["big", "after"] {
            let made = fs::metadata(dir.path().join(name)).map_or(0, |meta| meta.len());
            assert_eq!(made, 1, "{name}: {shown}");
        }
    }
}

#[test]
fn a_large_file_is_copied_kept_and_compared_as_a_stream() {
    let agent = "bundle agent main { files: \"DIR/copy\" copy_from => c; }\n\
                 body copy_from c { source => \"DIR/source\"; compare => \"digest\"; }";
    for (args, policy) in [
        (APPLY, "file { 'DIR/copy': source => 'DIR/source' }"),
        (CHEF, "remote_file 'DIR/copy' do\n source 'file://DIR/source'\nend"),
        (AGENT, agent),
    ] {
        let Some(dir) = scratch("a_large_file_is_copied_kept_and_compared_as_a_stream") else {
            return;
        };
        let at = |name: &str| dir.path().join(name);
        // The copy is as large and differs in its last byte alone.
        for (name, end) in [("source", b"s"), ("copy", b"c")] {
            sparse(&at(name), LARGE);
            let file = fs::OpenOptions::new().write(true).open(at(name)).unwrap();
            std::os::unix::fs::FileExt::write_all_at(&file, end, LARGE - 1).unwrap();
        }
        let shown = run(dir.path(), args, policy);
        let copy = fs::File::open(at("copy")).unwrap();
        let mut end = [0; 1];
        std::os::unix::fs::FileExt::read_exact_at(&copy, &mut end, LARGE - 1).unwrap();
        assert_eq!(&end, b"s", "{args:?}: {shown}");
        let blocks = copy.metadata().unwrap().blocks();
        assert!(blocks < 1000, "{args:?}: holes stay holes, not {blocks} blocks");
    }
}
