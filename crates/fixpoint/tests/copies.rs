//! What the verbs do in a copy of the machine stays there, ends with them, and is read back
//! without being led astray.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test runs the program from outside"
)]

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_fixpoint");

fn is_root() -> bool {
    let meta = std::fs::metadata("/proc/self").unwrap();
    let root = std::os::unix::fs::MetadataExt::uid(&meta) == 0;
    if !root {
        eprintln!("SKIPPED: a copy of the machine needs root");
    }
    root
}

/// A shell line in a directory of its own, with the program in `$F`.
struct Scene(tempfile::TempDir);

impl Scene {
    fn new(files: &[(&str, &str)]) -> Scene {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        for (name, text) in files {
            let text = text.replace("@DIR@", &dir.path().display().to_string());
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        Scene(dir)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new("bash");
        command
            .args(["-c", line])
            .current_dir(self.0.path())
            .env("F", PROGRAM)
            .env("NO_COLOR", "1")
            .env("FIXPOINT_STATE", self.at("state"))
            .stdin(Stdio::null());
        command
    }

    fn shell(&self, line: &str) -> String {
        let output = self.command(line).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        format!("{}{}{}", text(&output.stdout), text(&output.stderr), output.status)
    }
}

fn swappiness() -> String {
    std::fs::read_to_string("/proc/sys/vm/swappiness").unwrap()
}

#[test]
fn settings_of_the_kernel_are_the_same_after_every_preview() {
    if !is_root() {
        return;
    }
    let before = swappiness();
    let other = if before.trim() == "61" { "62" } else { "61" };
    let write = format!("/bin/sh -c 'echo {other} > /proc/sys/vm/swappiness'");
    let scene = Scene::new(&[
        ("a.rb", &format!("sysctl 'vm.swappiness' do\n value {other}\nend\n`{write}`\n")),
        (
            "a.cf",
            &format!(
                "bundle agent main\n{{\n vars: \"x\" string => execresult(\"{write}\", \"useshell\");\n}}\n"
            ),
        ),
        (
            "a.pp",
            &format!("exec {{ \"{write}\": }}\n$x = generate('/bin/sh', '-c', \"{write}\")\n"),
        ),
    ]);
    for file in ["a.rb", "a.cf", "a.pp"] {
        for verb in ["plan", "explain", "try", "check"] {
            scene.shell(&format!("$F {verb} {file}"));
            let after = swappiness();
            if after != before {
                std::fs::write("/proc/sys/vm/swappiness", &before).unwrap();
            }
            assert_eq!(after, before, "{verb} {file}");
        }
    }
    // And it is no success either.
    let told = scene.shell("$F try a.rb");
    assert!(
        told.contains("verdict: a run failed") && told.contains("cannot be set in a copy"),
        "{told}"
    );
}

#[test]
fn descriptors_the_caller_left_open_lead_nowhere() {
    if !is_root() {
        return;
    }
    let escape = "/bin/sh -c 'for fd in 0 3 4 5 6 7 8 9 63; do echo out > /proc/self/fd/$fd@DIR@/ESCAPED; echo out > /proc/self/fd/$fd; done; true'";
    let scene = Scene::new(&[
        (
            "a.cf",
            &format!(
                "bundle agent main\n{{\n vars: \"x\" string => execresult(\"{escape}\", \"useshell\");\n commands: \"{escape}\" contain => s;\n}}\nbody contain s {{ useshell => \"true\"; }}\n"
            ),
        ),
        ("a.pp", &format!("exec {{ \"{escape}\": provider => shell }}\n").replace("$fd", "\\$fd")),
        ("f", "precious"),
    ]);
    for file in ["a.cf", "a.pp"] {
        for verb in ["plan", "try", "explain"] {
            scene.shell(&format!("$F {verb} {file} 9</ 63</ 0</ 7<>f"));
            assert!(!scene.at("ESCAPED").exists(), "{verb} {file}");
            assert_eq!(
                std::fs::read_to_string(scene.at("f")).unwrap(),
                "precious",
                "{verb} {file}"
            );
        }
    }
    // On the machine itself a command has no such descriptor either.
    let told = scene.shell("echo \"exec { '/bin/ls /proc/self/fd': logoutput => true }\" > l.pp; $F puppet apply l.pp 9</ 7<>f");
    assert!(
        told.contains("returns: 2") && !told.contains("returns: 9") && !told.contains("returns: 7"),
        "{told}"
    );
}

#[test]
fn links_and_pipes_put_in_place_of_the_record_are_not_followed() {
    if !is_root() {
        return;
    }
    let record = "/run/fixpoint-copy/services";
    let scene = Scene::new(&[("secret", "canary:*:1\n")]);
    let secret = scene.at("secret");
    for (number, line) in [
        format!("ln -sf {} {record}", secret.display()),
        format!("mkfifo {record}"),
        format!("rm -rf /run/fixpoint-copy; ln -s {} /run/fixpoint-copy", scene.0.path().display()),
        format!("mkdir {record}"),
        format!("truncate -s 8T {record}"),
    ]
    .iter()
    .enumerate()
    {
        let file = format!("{number}.pp");
        let policy = format!("exec {{ '/bin/sh -c \"{line}\"': }}\n");
        std::fs::write(scene.at(&file), policy).unwrap();
        std::fs::copy(&secret, scene.at("services")).unwrap();
        let began = Instant::now();
        let told = scene.shell(&format!("timeout -s KILL 20 $F try --runs 1 {file}"));
        std::fs::remove_file(scene.at("services")).unwrap();
        assert!(told.contains("verdict: one run only"), "{line}: {told}");
        assert!(!told.contains("canary"), "{line}: {told}");
        assert!(began.elapsed() < Duration::from_secs(15), "{line}: {:?}", began.elapsed());
    }
}

/// Processes with this word on their command line.
fn named(word: &str) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if line.windows(word.len()).any(|part| part == word.as_bytes()) {
            found.push(pid);
        }
    }
    found
}

fn within(limit: Duration, holds: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        if holds() {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

#[test]
fn a_signal_ends_a_try_with_all_that_is_in_it() {
    if !is_root() {
        return;
    }
    let scene = Scene::new(&[(
        "slow.pp",
        "exec { '/bin/sh -c \"trap true TERM INT HUP; sleep 98765 & setsid sleep 98765 & while true; do wait; done\"': }\n",
    )]);
    let mounts = || std::fs::read_to_string("/proc/self/mountinfo").unwrap().lines().count();
    let before = mounts();
    for signal in ["TERM", "INT", "HUP"] {
        let mut child = Command::new(PROGRAM)
            .args(["try", "slow.pp"])
            .current_dir(scene.0.path())
            .env("FIXPOINT_STATE", scene.at("state"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        assert!(within(Duration::from_secs(30), || named("98765").len() > 2), "it is at work");
        let began = Instant::now();
        Command::new("kill")
            .args([&format!("-{signal}"), &child.id().to_string()])
            .status()
            .unwrap();
        let status = child.wait().unwrap();
        let took = began.elapsed();
        assert!(took < Duration::from_secs(2), "{signal}: {took:?}");
        assert_eq!((status.code(), status.signal()), (Some(1), None), "{signal}");
        let mut told = String::new();
        std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut told).unwrap();
        assert!(told.contains("stopped by signal"), "{signal}: {told}");
        assert!(within(Duration::from_secs(10), || named("98765").is_empty()), "{signal}");
        assert_eq!(mounts(), before);
    }
}

#[test]
fn no_time_is_given_beyond_the_limit() {
    if !is_root() {
        return;
    }
    let scene = Scene::new(&[("slow.pp", "exec { '/bin/sleep 87654': timeout => 0 }\n")]);
    let told = scene.shell("$F try --runs 1 --timeout 1 slow.pp");
    assert!(told.contains("did not end in its time") && told.contains("a run failed"), "{told}");
    assert!(within(Duration::from_secs(10), || named("87654").is_empty()));
}

#[test]
fn secrets_of_a_run_are_in_no_diff() {
    if !is_root() {
        return;
    }
    let scene = Scene::new(&[
        (
            "open.pp",
            "file { '@DIR@/t': content => Sensitive('CANARY'), mode => '0644' }\nfile { '@DIR@/plain': content => 'shown' }\n",
        ),
        (
            "titled.pp",
            "file { 'some title': path => '@DIR@/t', content => Sensitive('CANARY'), mode => '0644' }\n",
        ),
        ("changed.pp", "file { '@DIR@/old': content => Sensitive('CANARY') }\n"),
        ("old", "before"),
    ]);
    for file in ["open.pp", "titled.pp", "changed.pp"] {
        for options in ["", "--format json", "--runs 1"] {
            let told = scene.shell(&format!("$F try {options} {file}"));
            assert!(!told.contains("CANARY"), "{file} {options}: {told}");
            assert!(told.contains("exit status: 0"), "{file} {options}: {told}");
        }
    }
    assert!(scene.shell("$F try open.pp").contains("+shown"), "other files are shown as ever");
    assert!(!Path::new(&scene.at("t")).exists());
}

/// A function of a module in each language of functions, and one that is built in.
const ACTING: &[(&str, &str)] = &[
    (
        "exec.cf",
        "bundle agent main\n{\n vars: \"x\" string => execresult(\"/usr/bin/touch @DIR@/RAN\", \"noshell\");\n classes: \"c\" expression => returnszero(\"/usr/bin/touch @DIR@/RAN\", \"noshell\");\n reports: \"$(x)\";\n}\n",
    ),
    ("generate.pp", "$x = generate('/usr/bin/touch', '@DIR@/RAN')\nnotify { \"x${x}\": }\n"),
    ("function.pp", "notify { \"said ${demo::act('@DIR@/RAN')}\": }\n"),
    ("write.pp", "notify { \"said ${demo::write('@DIR@/RAN')}\": }\n"),
];

const MODULE: &str = "mkdir -p modules/demo/lib/puppet/functions/demo
for f in act:'`/usr/bin/touch #{path}; echo heard`' write:'File.write(path, %q(x)); %q(heard)'; do
  printf 'Puppet::Functions.create_function(:\"demo::%s\") do\n dispatch(:go) { param %%q(String), :path }\n def go(path)\n  %s\n end\nend\n' \"${f%%:*}\" \"${f#*:}\" > modules/demo/lib/puppet/functions/demo/${f%%:*}.rb
done; ";

#[test]
fn checking_and_compiling_act_in_a_copy_or_not_at_all() {
    let scene = Scene::new(ACTING);
    let root = is_root();
    scene.shell(MODULE);
    for verb in [
        "check exec.cf",
        "check --format sarif exec.cf",
        "check generate.pp",
        "check --modulepath modules function.pp",
        "compile --node n generate.pp",
        "compile --node n --modulepath modules function.pp",
        "compile --node n --modulepath modules -o out.json write.pp",
    ] {
        let told = scene.shell(&format!("$F {verb}"));
        assert!(!scene.at("RAN").exists(), "{verb}: {told}");
        if root {
            assert!(told.ends_with("exit status: 0"), "{verb}: {told}");
        }
    }
    if root {
        let told = std::fs::read_to_string(scene.at("out.json")).unwrap();
        assert!(told.contains("said heard"), "{told}");
        let told = scene.shell("mkdir facts; echo '{}' > facts/one.json; echo '{}' > facts/two.json; $F compile --nodes facts --out-dir all --modulepath modules function.pp; cat all/*.json");
        assert_eq!(told.matches("\"title\":\"said heard").count(), 2, "{told}");
        // What a policy says is said once, though it is evaluated twice.
        let told = scene.shell(
            "(echo \"warning('once')\"; cat generate.pp) > twice.pp; $F compile --node n twice.pp",
        );
        assert_eq!(told.matches("once").count(), 1, "{told}");
    }
}

#[test]
fn an_ordinary_user_is_told_what_was_not_run() {
    if !is_root() {
        return;
    }
    let scene = Scene::new(ACTING);
    let user = "chmod 777 . && cp $F fx && chmod 755 fx && setpriv --reuid 65534 --regid 65534 --clear-groups ./fx";
    for (verb, code, told) in [
        ("check exec.cf", 0, "was not called"),
        ("check generate.pp", 0, ""),
        ("compile --node n generate.pp", 1, "in a copy of the machine only"),
    ] {
        let said = scene.shell(&format!("{user} {verb}"));
        assert!(
            said.contains(told) && said.ends_with(&format!("exit status: {code}")),
            "{verb}: {said}"
        );
        assert!(!scene.at("RAN").exists(), "{verb}: {said}");
    }
}

#[test]
fn source_lines_with_secrets_are_not_explained() {
    if !is_root() {
        return;
    }
    let scene = Scene::new(&[
        (
            "a.pp",
            "file { '/srv/fx-s': content => Sensitive('CANARY'), mode => '0600' }\nuser { 'fxu': password => Sensitive(\"CANARY\") }\nexec { 'x': command => Sensitive('/bin/echo CANARY') }\n",
        ),
        (
            "b.pp",
            "$s = Sensitive('CANARY')\nfile { '/srv/fx-t': content => $s, mode => '0600' }\nnotify { 'n': message => Sensitive('CANARY') }\n",
        ),
        (
            "a.rb",
            "file('/srv/fx-u') { content 'CANARY'; sensitive true }\nfile '/srv/fx-v' do content 'CANARY'\n  sensitive true\nend\n",
        ),
    ]);
    for file in ["a.pp", "b.pp", "a.rb"] {
        for options in ["", "--format json", "--format html", "--why fx", "--why n"] {
            let told = scene.shell(&format!("$F explain {options} {file}"));
            assert!(!told.contains("CANARY"), "{file} {options}: {told}");
        }
        assert!(scene.shell(&format!("$F explain --format json {file}")).contains("[redacted]"));
    }
}
