//! `check` and `compile` on cookbooks, which compile in a copy of the machine, and `explain
//! --why`. Without root there is no copy, and nothing to try but the refusal.

#![expect(clippy::disallowed_methods, reason = "tests lay out and run their own files")]

use std::path::Path;
use std::process::Command;

fn is_root() -> bool {
    let meta = std::fs::metadata("/proc/self").expect("there is a /proc");
    std::os::unix::fs::MetadataExt::uid(&meta) == 0
}

fn run(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(args)
        .current_dir(dir)
        .output()
        .expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// The seed's cookbook, with its mistake or without.
fn cookbook(dir: &Path, recipe: &str) {
    let book = dir.join("cookbooks/seed");
    std::fs::create_dir_all(book.join("recipes")).expect("directories can be made");
    std::fs::write(book.join("metadata.rb"), "name 'seed'\n").expect("files can be written");
    std::fs::write(book.join("recipes/default.rb"), recipe).expect("files can be written");
}

const BAD: &str =
    "file '/foo' do\n  content 'bar'\nend\n\nif File.exist?('/foo')\n  execute 'myapp /foo'\nend\n";
const GOOD: &str = "file '/foo' do\n  content 'bar'\nend\n\nexecute 'myapp /foo' do\n  only_if { File.exist?('/foo') }\nend\n";

#[test]
fn check_finds_the_read_that_comes_too_early() {
    let dir = tempfile::tempdir().expect("a scratch directory can be made");
    cookbook(dir.path(), BAD);
    let (code, _, told) = run(dir.path(), &["check", "--color", "never", "cookbooks/seed"]);
    assert_eq!(code, 0, "a warning is no error: {told}");
    if !is_root() {
        return;
    }
    assert!(told.contains("warning[chef-two-passes]"), "{told}");
    assert!(told.contains("5 | if File.exist?('/foo')"), "{told}");
    assert!(told.contains("1 | file '/foo' do"), "{told}");
    assert!(told.contains("only_if"), "{told}");
    cookbook(dir.path(), GOOD);
    let (code, _, told) = run(dir.path(), &["check", "--color", "never", "."]);
    assert_eq!((code, told.as_str()), (0, ""));
    assert!(!Path::new("/foo").exists(), "the machine itself is left alone");
}

#[test]
fn check_tells_what_does_not_parse_and_what_does_not_compile() {
    let dir = tempfile::tempdir().expect("a scratch directory can be made");
    cookbook(dir.path(), "file '/foo' do\n");
    let (code, _, told) = run(dir.path(), &["check", "--color", "never", "cookbooks/seed"]);
    assert!(code == 1 && told.contains("error[ruby-syntax]"), "{told}");
    if is_root() {
        cookbook(dir.path(), "file '/foo' do\n  contents 'x'\nend\n");
        let (code, _, told) = run(dir.path(), &["check", "--color", "never", "cookbooks/seed"]);
        assert!(code == 1 && told.contains("undefined method `contents'"), "{told}");
        assert!(told.contains("default.rb:2:3") && told.contains("'content'"), "{told}");
    }
}

#[test]
fn compile_prints_the_collection() {
    let dir = tempfile::tempdir().expect("a scratch directory can be made");
    cookbook(dir.path(), GOOD);
    let (code, out, told) = run(dir.path(), &["compile", "--run-list", "recipe[seed]", "."]);
    if !is_root() {
        assert_eq!(code, 1, "{told}");
        return;
    }
    assert_eq!(code, 0, "{told}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("the collection is JSON");
    assert_eq!(json["resources"][0]["type"], "file");
    assert_eq!(json["resources"][0]["props"]["content"], "bar");
    assert_eq!(json["resources"][1]["name"], "myapp /foo");
    let (code, _, told) = run(dir.path(), &["compile", "."]);
    assert!(code == 1 && told.contains("--run-list"), "{told}");
}

#[test]
fn explain_tells_why_a_step_happens() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().expect("a scratch directory can be made");
    cookbook(
        dir.path(),
        "file '/foo' do\n  content 'bar'\n  notifies :create, 'file[/late]'\nend\nfile '/late' do\n  action :nothing\nend\nexecute 'never' do\n  only_if { false }\nend\n",
    );
    let (code, out, told) = run(dir.path(), &["explain", "--why", "/late", "cookbooks/seed"]);
    assert_eq!(code, 0, "{told}");
    assert!(out.contains("delayed notification from file[/foo]"), "{out}");
    let (_, out, _) = run(dir.path(), &["explain", "--why", "never", "cookbooks/seed"]);
    assert!(out.contains("only_if { block at") && out.contains("is false"), "{out}");
}

#[test]
fn a_command_of_another_user_keeps_the_group_unless_one_is_named() {
    if !is_root() {
        eprintln!("SKIPPED: only root runs commands as another user");
        return;
    }
    let dir = tempfile::tempdir().expect("there is room");
    let recipe = "id = ->(**o) { Mixlib::ShellOut.new(%w(id -u), **o).run_command.stdout.strip + ' ' +\n  Mixlib::ShellOut.new(%w(id -G), **o).run_command.stdout.strip }\nputs 'alone ' + id.(user: 'nobody')\nputs 'group ' + id.(user: 'nobody', group: 'daemon')\nputs 'login ' + id.(user: 'nobody', login: true)\n";
    std::fs::write(dir.path().join("r.rb"), recipe).expect("files can be written");
    let (code, out, err) = run(dir.path(), &["chef-apply", "r.rb"]);
    assert_eq!(code, 0, "{err}");
    let lines: Vec<&str> = out.lines().filter(|line| line.contains("65534")).collect();
    assert_eq!(lines, ["alone 65534 0", "group 65534 1 0", "login 65534 0"], "{out}");
}

#[test]
fn what_cannot_be_looked_at_is_not_taken_for_gone() {
    if !is_root() {
        eprintln!("SKIPPED: only root meets links of other users here");
        return;
    }
    let dir = tempfile::tempdir().expect("there is room");
    std::fs::create_dir(dir.path().join("real")).expect("directories can be made");
    std::fs::write(dir.path().join("real/f"), "x").expect("files can be written");
    // A link of another user is not followed: what is behind it is not known.
    let link = dir.path().join("link");
    std::os::unix::fs::symlink("real", &link).expect("links can be made");
    std::os::unix::fs::lchown(&link, Some(65534), Some(65534)).expect("root may");
    for resource in ["file", "directory", "link"] {
        let recipe = format!("{resource}('{}/f') {{ action :delete }}\n", link.display());
        std::fs::write(dir.path().join("r.rb"), recipe).expect("files can be written");
        let (code, out, err) = run(dir.path(), &["chef-apply", "r.rb"]);
        assert_ne!(code, 0, "{resource}: {out}{err}");
        assert!(
            out.contains("Permission denied") || err.contains("Permission denied"),
            "{resource}: {out}{err}"
        );
    }
    assert!(dir.path().join("real/f").exists());
}

#[test]
fn a_check_that_root_refuses_to_read_is_no_success() {
    use std::os::unix::fs::PermissionsExt;
    if !is_root() {
        eprintln!("SKIPPED: only root refuses to read");
        return;
    }
    let dir = tempfile::tempdir().expect("there is room");
    cookbook(dir.path(), GOOD);
    let recipe = dir.path().join("cookbooks/seed/recipes/default.rb");
    std::fs::set_permissions(&recipe, PermissionsExt::from_mode(0o666)).expect("it is ours");
    let (code, out, err) = run(dir.path(), &["check", "cookbooks/seed"]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(err.contains("error[chef-compile]") && err.contains("refusing to read"), "{err}");
}
