//! What Ruby programs do to files, as `fixpoint ruby` does it: the same files, the same
//! exceptions, the same exit codes as CRuby, and nothing lost on the way.
//!
//! What is expected was taken from ruby 3.1.2; `FX_REAL_RUBY=/usr/bin/ruby` runs the first
//! table with that program instead.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests lay out and run their own files, and say what they skip"
)]

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use fx_host::{OsHost, Sandbox, SandboxOptions, Spec};

fn ruby(dir: &Path, program: &str) -> Output {
    let mut command = match std::env::var_os("FX_REAL_RUBY") {
        Some(real) => Command::new(real),
        None => {
            let mut ours = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
            ours.args(["ruby", "--messages=3.1"]);
            ours
        }
    };
    let libraries = ["-rfileutils", "-rtempfile", "-rtmpdir", "-rstringio"];
    command
        .args(libraries)
        .arg("-e")
        .arg(program)
        .current_dir(dir)
        .output()
        .expect("the stage is set")
}

/// `a` with a second name, a link to it, a link to nothing, a directory.
fn stage() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("the stage is set");
    std::fs::write(dir.path().join("a"), "old\n").expect("the stage is set");
    std::fs::set_permissions(dir.path().join("a"), PermissionsExt::from_mode(0o640))
        .expect("the stage is set");
    std::fs::hard_link(dir.path().join("a"), dir.path().join("hard")).expect("the stage is set");
    symlink("a", dir.path().join("link")).expect("the stage is set");
    symlink("missing", dir.path().join("dangling")).expect("the stage is set");
    std::fs::create_dir(dir.path().join("dir")).expect("the stage is set");
    dir
}

/// What a program prints; `!` before an exception that it raises.
fn printed(dir: &Path, program: &str) -> String {
    let caught = format!(
        "begin; {program}\nrescue SystemCallError, IOError => e; puts \"!#{{e.class}}: #{{e.message}}\"; end"
    );
    let output = ruby(dir, &caught);
    let errors = String::from_utf8_lossy(&output.stderr);
    format!("{}{errors}", String::from_utf8_lossy(&output.stdout))
}

const TABLE: &[(&str, &str)] = &[
    // Written where it is: the inode, the second name and the mode stay.
    (
        "i = File.stat('a').ino; File.write('a', 'new'); puts File.stat('a').ino == i, File.read('hard')",
        "true\nnew\n",
    ),
    ("File.write('a', 'new'); printf('%o', File.stat('a').mode)", "100640"),
    ("File.open('a', 'w') {}; p File.size('hard')", "0\n"),
    ("File.open('a', 'a') { |f| f.puts 1; f.puts 2 }; print File.read('hard')", "old\n1\n2\n"),
    ("File.open('a', 'r+') { |f| f.seek(1); f.write('LD') }; print File.read('hard')", "oLD\n"),
    ("File.open('a', 'r+') { |f| f.read; f.write('more') }; print File.read('hard')", "old\nmore"),
    ("File.open('a', 'w+') { |f| f.write('abc'); f.rewind; p f.read, f.size }", "\"abc\"\n3\n"),
    (
        "File.open('a', 'a+') { |f| p f.read; f.write('x'); f.rewind; p f.read }",
        "\"old\\n\"\n\"old\\nx\"\n",
    ),
    ("File.write('a', 'ZZ', 1); p File.read('a')", "\"oZZ\\n\"\n"),
    (
        "File.open('a', 'w') { |f| f.seek(3); f.write('x') }; p File.read('a')",
        "\"\\u0000\\u0000\\u0000x\"\n",
    ),
    ("File.truncate('a', 1); p File.read('hard')", "\"o\"\n"),
    ("File.truncate('link', 6); p File.read('hard')", "\"old\\n\\u0000\\u0000\"\n"),
    ("File.open('a', 'r+') { |f| f.truncate(2) }; p File.read('a')", "\"ol\"\n"),
    // Links lead to what they point to.
    ("File.write('link', 'new'); p File.symlink?('link'), File.read('hard')", "true\n\"new\"\n"),
    (
        "File.open('link', 'a') { |f| f << 'x' }; p File.symlink?('link'), File.read('hard')",
        "true\n\"old\\nx\"\n",
    ),
    (
        "File.write('dangling', 'made'); p File.symlink?('dangling'), File.read('missing')",
        "true\n\"made\"\n",
    ),
    ("File.open('link', 'wx')", "!Errno::EEXIST: File exists @ rb_sysopen - link\n"),
    (
        "File.open('dangling', File::WRONLY | File::CREAT | File::EXCL)",
        "!Errno::EEXIST: File exists @ rb_sysopen - dangling\n",
    ),
    (
        "File.chmod(0600, 'link'); printf('%o %o', File.stat('a').mode, File.lstat('link').mode)",
        "100600 120777",
    ),
    (
        "File.utime(5, 6, 'link'); p File.mtime('a').to_i, File.lstat('link').mtime.to_i == 6",
        "6\nfalse\n",
    ),
    // What is open is seen, and is the file itself whatever its name does.
    (
        "f = File.open('a', 'w'); f.write('x'); f.flush; p File.read('hard'); f.write('y'); f.close; p File.read('a')",
        "\"x\"\n\"xy\"\n",
    ),
    (
        "f = File.open('a', 'w'); f.write('x'); File.rename('a', 'b'); f.write('y'); f.close; p File.exist?('a'), File.read('b')",
        "false\n\"xy\"\n",
    ),
    (
        "f = File.open('a', 'w'); f.write('x'); File.unlink('a'); f.close; p File.exist?('a'), File.read('hard')",
        "false\n\"x\"\n",
    ),
    ("f = File.open('a', 'w'); f.write('x'); f.close; system('cat', 'hard')", "x"),
    (
        "f = File.open('a', 'a'); f.sync = true; f.write('x'); system('cat', 'hard'); f.close",
        "old\nx",
    ),
    ("f = File.open('a', 'a'); f.syswrite('x'); system('cat', 'hard')", "old\nx"),
    ("f = File.open('new', 'w', 0604); f.close; printf('%o', File.stat('new').mode)", "100604"),
    ("File.umask(0077); File.write('new', ''); printf('%o', File.stat('new').mode)", "100600"),
    ("File.write('/dev/null', 'x'); p File.ftype('/dev/null')", "\"characterSpecial\"\n"),
    (
        "File.write('/proc/self/oom_score_adj', '500'); puts File.read('/proc/self/oom_score_adj')",
        "500\n",
    ),
    (
        "File.open('/proc/self/oom_score_adj', 'w') { |f| f.puts 'words' }",
        "!Errno::EINVAL: Invalid argument @ fptr_finalize_flush - /proc/self/oom_score_adj\n",
    ),
    // Errors.
    ("File.write('dir', 'x')", "!Errno::EISDIR: Is a directory @ rb_sysopen - dir\n"),
    (
        "File.write('none/x', 'x')",
        "!Errno::ENOENT: No such file or directory @ rb_sysopen - none/x\n",
    ),
    ("File.write('a/x', 'x')", "!Errno::ENOTDIR: Not a directory @ rb_sysopen - a/x\n"),
    ("File.open('none', 'r+')", "!Errno::ENOENT: No such file or directory @ rb_sysopen - none\n"),
    (
        "File.truncate('none', 1)",
        "!Errno::ENOENT: No such file or directory @ rb_file_s_truncate - none\n",
    ),
    (
        "File.chmod(0600, 'none')",
        "!Errno::ENOENT: No such file or directory @ apply2files - none\n",
    ),
    ("File.symlink('x', 'a')", "!Errno::EEXIST: File exists @ syserr_fail2_in - a\n"),
    (
        "File.rename('none', 'b')",
        "!Errno::ENOENT: No such file or directory @ rb_file_s_rename - (none, b)\n",
    ),
    ("f = File.open('a'); f.write('x')", "!IOError: not opened for writing\n"),
    ("f = File.open('a', 'w'); f.close; f.write('x')", "!IOError: closed stream\n"),
    (
        "File.write('/dev/full', 'x')",
        "!Errno::ENOSPC: No space left on device @ fptr_finalize_flush - /dev/full\n",
    ),
    (
        "f = File.open('/dev/full', 'w'); f.write('x'); f.flush",
        "!Errno::ENOSPC: No space left on device @ rb_io_flush_raw - /dev/full\n",
    ),
    (
        "f = File.open('/dev/full', 'w'); f.write('x' * 9000)",
        "!Errno::ENOSPC: No space left on device @ io_write - /dev/full\n",
    ),
    (
        "f = File.open('/dev/full', 'w'); f.write('x'); f.close rescue puts $!.class; p f.closed?",
        "Errno::ENOSPC\ntrue\n",
    ),
    // Libraries.
    ("p IO.copy_stream('hard', 'b'), File.read('b')", "4\n\"old\\n\"\n"),
    ("p IO.copy_stream(StringIO.new('abc'), 'link'), File.read('hard')", "3\n\"abc\"\n"),
    (
        "FileUtils.cp('a', 'b'); printf('%s %o', File.read('b').strip, File.stat('b').mode)",
        "old 100640",
    ),
    (
        "File.write('b', 'bb'); FileUtils.cp('b', 'link'); p File.symlink?('link'), File.read('hard')",
        "true\n\"bb\"\n",
    ),
    (
        "FileUtils.mv('a', 'dangling'); p File.symlink?('dangling'), File.read('dangling')",
        "false\n\"old\\n\"\n",
    ),
    (
        "FileUtils.install('a', 'b', mode: 0755); printf('%s %o', File.read('b').strip, File.stat('b').mode)",
        "old 100755",
    ),
    (
        "FileUtils.ln_s('a', 'new'); FileUtils.ln_sf('hard', 'new'); puts File.readlink('new')",
        "hard\n",
    ),
    (
        "FileUtils.cp('none', 'b')",
        "!Errno::ENOENT: No such file or directory @ rb_sysopen - none\n",
    ),
    (
        "t = Tempfile.new('x'); t.write('abc'); t.close; puts File.read(t.path), t.path.nil?; printf('%o', File.stat(t.path).mode); t.unlink; p t.path",
        "abc\nfalse\n100600nil\n",
    ),
    (
        "d = Dir.mktmpdir { |d| File.write(d + '/x', '1'); printf(\"%o\\n\", File.stat(d).mode); d }; p File.exist?(d)",
        "40700\nfalse\n",
    ),
    (
        "f = File.open('a'); g = File.open('hard'); p f.flock(File::LOCK_EX), g.flock(File::LOCK_EX | File::LOCK_NB); f.flock(File::LOCK_UN); p g.flock(File::LOCK_SH | File::LOCK_NB)",
        "0\nfalse\n0\n",
    ),
];

#[test]
fn programs_do_to_files_what_they_do_with_the_original() {
    let mut wrong = Vec::new();
    for (program, expected) in TABLE {
        let dir = stage();
        let got = printed(dir.path(), program);
        if got != *expected {
            wrong.push(format!("{program}\n  expected {expected:?}\n  got      {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_are_there_however_the_program_ends() {
    let ends = [
        ("", 0),
        ("exit", 0),
        ("exit 3", 3),
        ("exit! 4", 4),
        ("abort 'why'", 1),
        ("raise 'why'", 1),
        ("throw :x", 1),
        ("at_exit { exit 5 }", 5),
        ("Thread.new { File.write('thread', '1') }.join", 0),
    ];
    for (end, code) in ends {
        let dir = stage();
        let program =
            format!("File.write('b', 'x'); $f = File.open('c', 'w'); $f.write('y')\n{end}");
        let output = ruby(dir.path(), &program);
        assert_eq!(output.status.code(), Some(code), "{end}: {output:?}");
        assert_eq!(std::fs::read(dir.path().join("b")).expect("the stage is set"), b"x", "{end}");
        assert_eq!(std::fs::read(dir.path().join("c")).expect("the stage is set"), b"y", "{end}");
    }
}

#[test]
fn what_cannot_be_written_at_the_end_is_a_message_and_a_code() {
    let dir = stage();
    let output = ruby(dir.path(), "$f = File.open('/dev/full', 'w'); $f.write('x')");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("/dev/full") && errors.contains("No space left"), "{errors}");
    let full = std::fs::File::options().write(true).open("/dev/full").expect("the stage is set");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
    let status =
        command.args(["ruby", "-e", "puts 1"]).stdout(full).status().expect("the stage is set");
    assert_eq!(status.code(), Some(1), "standard output is full");
}

#[test]
fn a_link_of_another_user_is_not_written_through() {
    let dir = stage();
    let ours = dir.path().join("a");
    let planted = dir.path().join("planted");
    symlink(&ours, &planted).expect("the stage is set");
    if std::os::unix::fs::lchown(&planted, Some(1001), Some(1001)).is_err() {
        eprintln!("SKIPPED a_link_of_another_user_is_not_written_through: needs root");
        return;
    }
    std::fs::set_permissions(&ours, PermissionsExt::from_mode(0o600)).expect("the stage is set");
    for change in [
        "File.write('planted', 'x')",
        "File.open('planted', 'a') { |f| f << 'x' }",
        "File.open('planted', 'r+') { |f| f << 'x' }",
        "File.truncate('planted', 0)",
        "File.chmod(0666, 'planted')",
        "File.chown(1001, 1001, 'planted')",
        "File.utime(1, 1, 'planted')",
        "FileUtils.cp('hard', 'planted')",
        "IO.copy_stream(StringIO.new('x'), 'planted')",
    ] {
        let got = printed(dir.path(), change);
        assert!(got.starts_with("!Errno::EACCES"), "{change}: {got}");
        assert_eq!(std::fs::read(&ours).expect("the stage is set"), b"old\n", "{change}");
        let meta = std::fs::metadata(&ours).expect("the stage is set");
        assert_eq!((meta.mode() & 0o7777, meta.uid()), (0o600, 0), "{change}");
    }
}

#[test]
fn standard_output_can_be_written_by_its_name() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let got = printed(dir.path(), &format!("File.write('{name}', 'x')"));
        assert_eq!(got, "x", "{name}");
    }
}

#[test]
fn a_pipe_that_nobody_reads_or_a_stranger_made_holds_nothing_up() {
    let dir = stage();
    let got = printed(dir.path(), "File.mkfifo('pipe'); File.write('pipe', 'x')");
    assert!(got.starts_with("!Errno::ENXIO"), "{got}");
    let pipe = dir.path().join("pipe");
    if std::os::unix::fs::lchown(&pipe, Some(1001), Some(1001)).is_err() {
        eprintln!("SKIPPED the second half: needs root");
        return;
    }
    // Somebody reads from it.
    let reader =
        std::fs::File::options().read(true).write(true).open(&pipe).expect("the stage is set");
    let got = printed(dir.path(), "File.open('pipe', 'a') { |f| f << 'secret' }");
    assert!(got.starts_with("!Errno::EACCES"), "{got}");
    drop(reader);
}

/// Runs shell lines in a copy of the machine that has a file system of 16 KiB with 4 KiB and
/// an original of nine bytes in it.
fn on_small_disk(name: &str, lines: &str) -> Option<String> {
    let sandbox = match Sandbox::new(&SandboxOptions { trusted: true, ..SandboxOptions::default() })
    {
        Ok(sandbox) => sandbox,
        Err(error) => {
            eprintln!("SKIPPED {name}: {error}");
            return None;
        }
    };
    let fixpoint = env!("CARGO_BIN_EXE_fixpoint");
    let line = format!(
        "mkdir -p /srv/full && mount -t tmpfs -o size=16k tmpfs /srv/full && cd /srv/full || exit 9\n\
         head -c 4096 /dev/zero > fill; echo ORIGINAL > b\n\
         r() {{ {fixpoint} ruby -rfileutils -rstringio -e \"begin; $1; rescue SystemCallError => e; puts e.class; end\"; }}\n\
         {lines}"
    );
    let spec = Spec { merge_stderr: true, ..Spec::shell(line) };
    let ended = sandbox.run(&OsHost::new(), &spec).expect("the stage is set");
    Some(String::from_utf8_lossy(&ended.stdout).into_owned())
}

#[test]
fn a_full_disk_is_an_exception_and_takes_nothing_away() {
    let name = "a_full_disk_is_an_exception_and_takes_nothing_away";
    let changes = [
        "File.write('b', 'x' * 20000)",
        "File.open('b', 'w') { |f| 20000.times { f.write('x') } }",
        "f = File.open('b', 'w'); f.write('x' * 20000); f.close",
        "File.open('b', 'a') { |f| f.write('x' * 20000) }",
        "File.open('b', 'r+') { |f| f.write('x' * 20000) }",
        "IO.copy_stream(StringIO.new('x' * 20000), 'b')",
        "File.write('/tmp/big', 'x' * 20000); FileUtils.cp('/tmp/big', 'b')",
        "FileUtils.mv('/tmp/big', 'b')",
    ];
    let lines: String =
        changes.iter().map(|change| format!("r \"{change}\"; cat b; stat -c %s b\n")).collect();
    let Some(got) = on_small_disk(name, &lines) else { return };
    assert_eq!(got, "Errno::ENOSPC\nORIGINAL\n9\n".repeat(changes.len()), "{got}");
}

#[test]
fn a_recipe_on_a_full_disk_fails_and_takes_nothing_away() {
    let name = "a_recipe_on_a_full_disk_fails_and_takes_nothing_away";
    let fixpoint = env!("CARGO_BIN_EXE_fixpoint");
    let lines = format!(
        "echo \"File.write('/srv/full/b', 'x' * 20000)\" > /tmp/a.rb\n\
         {fixpoint} chef-apply /tmp/a.rb > /tmp/out 2>&1; echo $?; cat b; grep -c Errno::ENOSPC /tmp/out\n\
         echo \"ruby_block('x') {{ block {{ File.open('/srv/full/b', 'w') {{ |f| f << 'x' * 20000 }} }} }}\" > /tmp/b.rb\n\
         {fixpoint} chef-apply /tmp/b.rb > /tmp/out 2>&1; echo $?; cat b\n\
         {fixpoint} run /tmp/b.rb > /tmp/out 2>&1; test $? -ne 0 && echo failed; cat b\n"
    );
    let Some(got) = on_small_disk(name, &lines) else { return };
    let lines: Vec<&str> = got.lines().collect();
    assert_eq!(lines[..2], ["1", "ORIGINAL"], "{got}");
    assert_ne!(lines[2], "0", "{got}");
    assert_eq!(lines[3..], ["1", "ORIGINAL", "failed", "ORIGINAL"], "{got}");
}

#[test]
fn a_file_system_that_cannot_be_written_is_an_exception() {
    let name = "a_file_system_that_cannot_be_written_is_an_exception";
    let changes = [
        "File.write('b', 'x')",
        "File.open('b', 'a')",
        "File.write('n', 'x')",
        "File.unlink('b')",
        "File.chmod(0600, 'b')",
        "File.chown(0, 0, 'b')",
        "File.utime(0, 0, 'b')",
        "File.rename('b', 'c')",
        "File.truncate('b', 1)",
        "File.symlink('a', 'l')",
        "File.link('b', 'l')",
        "File.mkfifo('f')",
        "Dir.mkdir('d')",
        "FileUtils.touch('b')",
        "FileUtils.mkdir_p('d/e')",
        "FileUtils.install('/etc/passwd', 'b')",
    ];
    let lines: String = changes.iter().map(|change| format!("r \"{change}\"\n")).collect();
    let lines = format!("mount -o remount,ro /srv/full || exit 9; cd /srv/full\n{lines}cat b");
    let Some(got) = on_small_disk(name, &lines) else { return };
    assert_eq!(got, format!("{}ORIGINAL\n", "Errno::EROFS\n".repeat(changes.len())), "{got}");
}
