//! The child runner: output, limits, groups, privileges.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::time::Duration;

use fx_host::{Clock, Commands, Edits, Exit, Files, OsHost, Spec, Stream, WriteOptions};

fn run(spec: &Spec) -> fx_host::Ended {
    OsHost::new().run(spec).unwrap()
}

#[test]
fn output_exit_and_lines_are_told() {
    let mut lines = Vec::new();
    let spec = Spec::shell("echo one; echo two >&2; printf three; exit 7");
    let ended = OsHost::new()
        .run_streaming(&spec, &mut |line| lines.push((line.stream, line.bytes.to_vec())))
        .unwrap();
    assert_eq!(
        (ended.exit, &ended.stdout[..], &ended.stderr[..]),
        (Exit::Code(7), &b"one\nthree"[..], &b"two\n"[..])
    );
    lines.sort_by_key(|(stream, _)| *stream == Stream::Stderr);
    assert_eq!(
        lines,
        [
            (Stream::Stdout, b"one".to_vec()),
            (Stream::Stdout, b"three".to_vec()),
            (Stream::Stderr, b"two".to_vec())
        ]
    );
}

#[test]
fn merged_output_keeps_its_order() {
    let spec = Spec { merge_stderr: true, ..Spec::shell("echo a; echo b >&2; echo c") };
    assert_eq!(run(&spec).stdout, b"a\nb\nc\n");
}

#[test]
fn an_argument_is_never_read_by_a_shell() {
    assert_eq!(run(&Spec::argv(["printf", "%s", "$(id); `x` \n'"])).stdout, b"$(id); `x` \n'");
}

#[test]
fn input_is_piped_in_whole_or_closed() {
    let big = vec![b'x'; 1 << 20];
    assert_eq!(run(&Spec::argv(["cat"]).stdin(big.clone())).stdout, big);
    assert_eq!(run(&Spec::argv(["cat"])).stdout, b"");
    assert!(
        run(&Spec::argv(["true"]).stdin(big)).exit.success(),
        "a child may leave its input unread"
    );
}

#[test]
fn output_beyond_the_limit_is_dropped_and_said() {
    let spec = Spec { output_limit: 1000, ..Spec::shell("yes | head -c 100000") };
    let ended = run(&spec);
    assert_eq!((ended.stdout.len(), ended.truncated), (1000, true));
}

#[test]
fn the_time_limit_ends_the_whole_group() {
    let host = OsHost::new();
    let dir = tempfile::tempdir().unwrap();
    let marker = dir.path().join("pid");
    let spec = Spec::shell(format!(
        "sh -c 'echo $$ > {}; exec sleep 1000' & sleep 1000",
        marker.display()
    ));
    let ended = host.run(&spec.timeout(Duration::from_millis(300))).unwrap();
    assert_eq!(ended.exit, Exit::TimedOut);
    assert!(ended.elapsed < Duration::from_secs(3), "{:?}", ended.elapsed);
    let pid: i32 = String::from_utf8(host.read(&marker).unwrap()).unwrap().trim().parse().unwrap();
    let gone = (0..200).any(|_| {
        host.sleep(Duration::from_millis(10));
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        state.is_empty() || state.contains(") Z ")
    });
    assert!(gone, "the grandchild {pid} is gone");
}

/// (what the command starts; whether it outlives a command that ends by itself)
#[test]
fn what_leaves_its_group_ends_with_the_time_limit() {
    let dir = tempfile::tempdir().unwrap();
    for (name, start) in [
        ("session", "setsid sh -c 'echo $$ > PID; exec sleep 41' &"),
        ("twice", "setsid sh -c 'setsid sh -c \"echo \\$\\$ > PID; exec sleep 41\" & sleep 41' &"),
        ("orphan", "(setsid sh -c 'echo $$ > PID; exec sleep 41' &);"),
    ] {
        let pid = dir.path().join(name);
        let start = start.replace("PID", &pid.display().to_string());
        let wait = format!("while [ ! -s {} ]; do sleep 0.01; done", pid.display());
        let late = Spec::shell(format!("{start} {wait}; sleep 40")).timeout(Duration::from_secs(1));
        assert_eq!(run(&late).exit, Exit::TimedOut, "{name}");
        let number: i32 = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        assert!(!is_alive(number), "{name}: {number} is still there");

        std::fs::remove_file(&pid).unwrap();
        let whole = Spec::shell(format!("{start} {wait}"));
        assert_eq!(run(&whole).exit, Exit::Code(0), "{name}");
        let number: i32 = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        assert!(is_alive(number), "{name}: a daemon stays");
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(number).unwrap(),
            rustix::process::Signal::KILL,
        )
        .unwrap();
    }
}

fn is_alive(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.rsplit(')').next().is_some_and(|rest| !rest.trim().is_empty() && !rest.starts_with(" Z"))
}

#[test]
fn a_child_that_ignores_term_is_killed() {
    let spec = Spec::shell("trap '' TERM; while :; do sleep 0.05; done")
        .timeout(Duration::from_millis(100));
    let ended = run(&spec);
    assert_eq!(ended.exit, Exit::TimedOut);
    assert!(ended.elapsed >= Duration::from_secs(2), "it was given time to end by itself");
}

#[test]
fn a_grandchild_that_keeps_the_pipe_open_does_not_hold_us_up() {
    let ended = run(&Spec::shell("echo done; sleep 30 & exit 0"));
    assert_eq!((ended.exit, &ended.stdout[..]), (Exit::Code(0), &b"done\n"[..]));
    assert!(ended.elapsed < Duration::from_secs(10));
}

#[test]
fn environment_directory_and_mask_are_as_asked() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = Spec::shell("echo $A-$HOME; pwd; umask").env("A", "b");
    spec.clear_env = true;
    spec.cwd = Some(dir.path().to_owned());
    spec.umask = Some(0o027);
    assert_eq!(run(&spec).stdout, format!("b-\n{}\n0027\n", dir.path().display()).into_bytes());
    assert_eq!(run(&Spec::argv(["pwd"])).stdout, b"/\n");
}

#[test]
fn privileges_are_dropped_for_good() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED privileges_are_dropped_for_good: needs root");
        return;
    }
    let spec = Spec { uid: Some(65534), ..Spec::argv(["cat", "/proc/self/status"]) };
    let status = String::from_utf8(run(&spec).stdout).unwrap();
    let field = |name: &str| {
        status
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap()
            .split_whitespace()
            .skip(1)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(field("Uid:"), ["65534"; 4]);
    assert_eq!(field("Gid:"), ["65534"; 4]);
    assert_eq!(field("Groups:"), ["65534"]);
}

#[test]
fn a_program_that_is_not_there_is_a_clear_error() {
    let error = OsHost::new().run(&Spec::argv(["/no/such/program", "x"])).unwrap_err();
    assert_eq!(error.to_string(), "cannot run '/no/such/program x': No such file or directory");
    assert!(error.is_not_found());
}

#[test]
fn files_written_before_are_in_place_when_a_command_starts() {
    let host = OsHost::new();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("script");
    host.write(
        &path,
        b"#!/bin/sh\necho ran\n",
        &WriteOptions { mode: Some(0o755), ..WriteOptions::default() },
    )
    .unwrap();
    assert_eq!(host.run(&Spec::argv([&path])).unwrap().stdout, b"ran\n");
}

#[test]
fn a_conversation_goes_line_by_line() {
    let host = OsHost::new();
    let mut child =
        host.start(&Spec::shell("while read line; do echo \"got $line\"; done; exit 3")).unwrap();
    let limit = Duration::from_secs(10);
    child.send(b"one\n").unwrap();
    assert_eq!(child.next_line(limit).unwrap().unwrap(), b"got one");
    child.send(b"two\nthree\n").unwrap();
    assert_eq!(child.next_line(limit).unwrap().unwrap(), b"got two");
    child.close_input();
    assert_eq!(child.next_line(limit).unwrap().unwrap(), b"got three");
    assert_eq!(child.next_line(limit).unwrap(), None);
    assert_eq!(child.wait().unwrap(), Exit::Code(3));
}

#[test]
fn a_silent_child_is_not_waited_for_beyond_the_limit() {
    let mut child = OsHost::new().start(&Spec::argv(["sleep", "1000"])).unwrap();
    let error = child.next_line(Duration::from_millis(50)).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
}

#[test]
fn cancelling_ends_a_command_within_a_second() {
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let host = OsHost::cancelled_by(std::sync::Arc::clone(&flag));
    let ended = host
        .run_streaming(
            &Spec::shell("trap '' TERM; echo up; while :; do sleep 0.05; done"),
            &mut |_| {
                flag.store(true, std::sync::atomic::Ordering::SeqCst);
            },
        )
        .unwrap();
    assert_eq!(ended.exit, Exit::Cancelled);
    assert!(ended.elapsed < Duration::from_secs(1), "{:?}", ended.elapsed);
}
