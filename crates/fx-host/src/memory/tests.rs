//! The fake machine behaves as a kernel does, as far as resources can tell.

use std::io::ErrorKind;
use std::path::Path;

use crate::{
    Accounts, Clock, Commands, Edits, Env, Exit, FaultOn, Files, HostError, Kind, MemoryHost,
    Operation, Queries, Reply, Spec, Time, WriteOptions,
};

fn path(text: &str) -> &Path {
    Path::new(text)
}

fn kind<T: std::fmt::Debug>(result: Result<T, HostError>) -> ErrorKind {
    result.unwrap_err().kind()
}

#[test]
fn a_new_file_is_private_and_a_replaced_one_keeps_what_it_had() {
    let host = MemoryHost::linux();
    let keep = WriteOptions::default();
    host.write(path("/etc/new"), b"a", &keep).unwrap();
    assert_eq!(host.lstat(path("/etc/new")).unwrap().mode, 0o600);
    host.put_mode("/etc/old", "a", 0o640);
    host.set_owner(path("/etc/old"), Some(5), Some(6)).unwrap();
    host.set_xattr(path("/etc/old"), "user.note", Some(b"kept")).unwrap();
    host.write(path("/etc/old"), b"b", &keep).unwrap();
    let meta = host.lstat(path("/etc/old")).unwrap();
    assert_eq!((meta.mode, meta.uid, meta.gid), (0o640, 5, 6));
    assert_eq!(host.xattr(path("/etc/old"), "user.note").unwrap().unwrap(), b"kept");
    assert_eq!(host.read(path("/etc/old")).unwrap(), b"b");
}

#[test]
fn writing_replaces_a_final_link_and_breaks_a_hard_link() {
    let host = MemoryHost::linux();
    host.put("/etc/a", "one");
    host.put_link("/etc/soft", "a");
    host.hard_link(path("/etc/a"), path("/etc/hard")).unwrap();
    assert_eq!(host.lstat(path("/etc/a")).unwrap().nlink, 2);
    host.write(path("/etc/soft"), b"two", &WriteOptions::default()).unwrap();
    host.write(path("/etc/hard"), b"three", &WriteOptions::default()).unwrap();
    assert_eq!(host.lstat(path("/etc/soft")).unwrap().kind, Kind::File);
    assert_eq!(host.read(path("/etc/a")).unwrap(), b"one");
    assert_eq!(host.lstat(path("/etc/a")).unwrap().nlink, 1);
}

#[test]
fn links_are_followed_on_the_way_up_to_a_limit() {
    let host = MemoryHost::linux();
    host.put("/data/real/file", "x");
    host.put_link("/data/dir", "real");
    host.put_link("/data/up", "../data/dir/file");
    host.put_link("/data/loop", "loop");
    assert_eq!(host.read(path("/data/dir/file")).unwrap(), b"x");
    assert_eq!(host.real_path(path("/data/up")).unwrap(), path("/data/real/file"));
    assert_eq!(host.read_link(path("/data/up")).unwrap(), path("../data/dir/file"));
    let error = host.stat(path("/data/loop")).unwrap_err();
    assert_eq!(error.errno(), Some(libc::ELOOP));
    assert_eq!(host.read(path("/data/real/../dir/./file")).unwrap(), b"x");
}

#[test]
fn refusals_are_those_of_the_kernel() {
    let host = MemoryHost::linux();
    host.put("/etc/file", "x");
    assert_eq!(kind(host.read(path("/etc/none"))), ErrorKind::NotFound);
    assert_eq!(kind(host.read(path("/etc/file/below"))), ErrorKind::NotADirectory);
    assert_eq!(kind(host.read(path("/etc"))), ErrorKind::IsADirectory);
    assert_eq!(kind(host.make_dir(path("/etc/file"), 0o755)), ErrorKind::AlreadyExists);
    assert_eq!(kind(host.make_dir(path("/no/where"), 0o755)), ErrorKind::NotFound);
    assert_eq!(kind(host.remove_dir(path("/etc"))), ErrorKind::DirectoryNotEmpty);
    assert_eq!(kind(host.remove_file(path("/etc"))), ErrorKind::IsADirectory);
    assert_eq!(kind(host.rename(path("/etc"), path("/etc/sub"))), ErrorKind::InvalidInput);
    host.become_user(1000, 1000);
    let write = host.write(path("/etc/file"), b"y", &WriteOptions::default());
    assert_eq!(kind(write), ErrorKind::PermissionDenied);
    assert_eq!(kind(host.set_mode(path("/etc/file"), 0o777)), ErrorKind::PermissionDenied);
    assert_eq!(host.read(path("/etc/file")).unwrap(), b"x");
}

#[test]
fn renaming_moves_files_and_trees_and_replaces() {
    let host = MemoryHost::linux();
    host.put("/a/file", "x");
    host.put("/a/sub/deep", "y");
    host.put("/b", "old");
    host.rename(path("/a/file"), path("/b")).unwrap();
    assert_eq!(host.text("/b"), "x");
    host.rename(path("/a"), path("/c")).unwrap();
    assert_eq!(host.text("/c/sub/deep"), "y");
    assert!(!host.exists(path("/a")).unwrap());
}

#[test]
fn the_nth_request_of_a_kind_fails_and_only_that() {
    let host = MemoryHost::linux();
    host.fail_nth(FaultOn::Operation(Operation::Write), 2, libc::ENOSPC);
    let write = |name: &str| host.write(path(name), b"x", &WriteOptions::default());
    write("/etc/one").unwrap();
    let error = write("/etc/two").unwrap_err();
    assert_eq!(error.to_string(), "cannot write '/etc/two': No space left on device");
    assert!(!host.exists(path("/etc/two")).unwrap());
    write("/etc/three").unwrap();
    assert_eq!(host.faults_hit(), 1);
    host.fail_from(FaultOn::Changes, 1, libc::EROFS);
    write("/etc/four").unwrap_err();
    write("/etc/five").unwrap_err();
    host.heal();
    write("/etc/six").unwrap();
}

#[test]
fn commands_answer_in_turn_and_change_the_machine() {
    let host = MemoryHost::linux();
    host.on(["tick"], Reply::prints("1\n"));
    host.on(["tick"], Reply::exit(3).stderr("late\n"));
    host.on(["/bin/sh", "-c", "touch /x"], Reply::exit(0).effect(|host, _| host.put("/x", "")));
    assert_eq!(host.run(&Spec::argv(["tick"])).unwrap().stdout, b"1\n");
    let mut lines = Vec::new();
    let late = host
        .run_streaming(&Spec::argv(["tick"]), &mut |line| lines.push(line.bytes.to_vec()))
        .unwrap();
    assert_eq!((late.exit, lines), (Exit::Code(3), vec![b"late".to_vec()]));
    assert_eq!(host.run(&Spec::argv(["tick"])).unwrap().exit, Exit::Code(3));
    host.run(&Spec::shell("touch /x")).unwrap();
    assert!(host.exists(path("/x")).unwrap());
    let error = host.run(&Spec::argv(["nothing"])).unwrap_err();
    assert_eq!(error.to_string(), "cannot run 'nothing': No such file or directory");
    assert_eq!(host.call_lines(), ["tick", "tick", "tick", "touch /x", "nothing"]);
}

#[test]
fn programs_are_found_along_the_path_by_their_x_bit() {
    let host = MemoryHost::linux();
    host.put("/usr/bin/plain", "");
    host.put_program("/bin/plain");
    host.put_link("/usr/bin/other", "/bin/plain");
    assert_eq!(host.find_program("plain").unwrap(), path("/bin/plain"));
    assert_eq!(host.find_program("other").unwrap(), path("/usr/bin/other"));
    assert_eq!(host.find_program("/usr/bin/plain"), None);
    host.set_var("PATH", "/usr/bin");
    assert_eq!(host.find_program("plain"), None);
}

#[test]
fn signals_end_processes_of_the_fake_proc() {
    let host = MemoryHost::linux();
    host.put("/proc/12/cmdline", "sleep\0");
    host.put_dir("/proc/12/task/12", 0o755);
    host.signal(12, libc::SIGHUP).unwrap();
    host.signal(12, libc::SIGTERM).unwrap();
    assert!(!host.exists(path("/proc/12")).unwrap());
    assert_eq!(host.signal(12, libc::SIGKILL).unwrap_err().errno(), Some(libc::ESRCH));
    assert_eq!(host.signals(), [(12, libc::SIGHUP), (12, libc::SIGTERM)]);
}

#[test]
fn accounts_come_from_the_files_of_the_machine() {
    let host = MemoryHost::linux();
    host.put("/etc/group", "root:x:0:\nbroken\nops:x:20:ann,bob\n");
    assert_eq!(host.user("nobody").unwrap().unwrap().uid, 65534);
    assert_eq!(host.user_by_id(0).unwrap().unwrap().name, "root");
    assert_eq!(host.group("ops").unwrap().unwrap().members, ["ann", "bob"]);
    assert_eq!(host.group_by_id(21).unwrap(), None);
    assert_eq!(host.users().unwrap().len(), 3);
}

#[test]
fn clock_and_randomness_repeat_exactly() {
    let draw = || {
        let host = MemoryHost::new();
        host.sleep(std::time::Duration::from_millis(1500));
        let mut bytes = [0; 8];
        host.random(&mut bytes);
        (host.now(), bytes)
    };
    assert_eq!(draw(), draw());
    assert_eq!(draw().0, Time { secs: 1_767_225_601, nanos: 500_000_000 });
}

#[test]
fn the_snapshot_names_everything_once_in_byte_order() {
    let host = MemoryHost::new();
    host.put("/b/file", b"line\n\xff");
    host.hard_link(path("/b/file"), path("/b/same")).unwrap();
    host.put_link("/a", "b/file");
    host.make_fifo(path("/b/pipe"), 0o640).unwrap();
    let expected = "\
/ dir 0755 0:0
/a link 0777 0:0 -> b/file
/b dir 0755 0:0
/b/file file 0644 0:0 line\\n\\xff
/b/pipe fifo 0640 0:0
/b/same file 0644 0:0 = /b/file
";
    assert_eq!(host.snapshot(), expected);
    let before = host.snapshot_with_times();
    host.advance(std::time::Duration::from_secs(1));
    host.put("/b/file", b"line\n\xff");
    assert_ne!(host.snapshot_with_times(), before);
}
