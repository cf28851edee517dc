//! Canaries: values that policy marks as secret are in no output, log, report, state, argument or
//! environment of a tool. What is looked at is everything that a run leaves on the machine, byte
//! by byte; only the policy itself and the targets it manages may hold them.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests lay out and run their own files, and say what they skip"
)]

#[path = "canaries/cfengine.rs"]
mod cfengine;
#[path = "canaries/chef.rs"]
mod chef;
#[path = "canaries/puppet.rs"]
mod puppet;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use fx_host::{OsHost, Sandbox, SandboxOptions, Spec};

/// The word each canary begins with, as it is, in hexadecimal, and in base64 at each offset.
const FORMS: &[&[u8]] = &[b"CANARY", b"43414e415259", b"Q0FOQVJZ", b"NBTkFSW", b"DQU5BUl"];

/// What holds secrets by its nature: the policy, what policy manages, and backups of the latter.
const MAY_HOLD: &[&str] = &[
    "/srv/policy",
    "/srv/target",
    "/etc/shadow",
    "/etc/shadow-",
    "/var/spool/cron",
    "/etc/fstab",
    "/etc/hosts",
];

/// Tools whose arguments and environment are recorded.
const TOOLS: &str =
    "useradd usermod userdel groupadd chpasswd chage passwd crontab systemctl mount su";

/// One language: what it is given, how it is run, and what must be seen so that silence proves
/// something.
struct Case {
    name: &'static str,
    /// Below `/srv/policy`.
    files: Vec<(String, String)>,
    /// What `fresh` does before a command.
    set_up: &'static str,
    /// Lines for a shell in `/srv/policy`; the program is `$F`.
    commands: Vec<String>,
    /// More places that policy writes.
    targets: &'static [&'static str],
    /// A file that policy wrote, with the canary it then holds.
    written: (&'static str, &'static str),
    /// Texts that are somewhere in the output.
    witness: &'static [&'static str],
    /// Canaries that are in the policy, at least.
    least: usize,
}

impl Case {
    fn script(&self) -> String {
        let program = env!("CARGO_BIN_EXE_fixpoint");
        let mut script = format!(
            "F={program}; cd /srv/policy; export FIXPOINT_STATE=/srv/state HOME=/root
mkdir -p /srv/out /srv/logs
for tool in {TOOLS}; do
  path=$(command -v $tool) || continue
  cp \"$path\" /srv/real-$tool && rm \"$path\"
  printf '#!/bin/sh\\n{{ echo \"%s $*\"; env; }} >> /srv/out/children\\nexec /srv/real-%s \"$@\"\\n' $tool $tool > \"$path\"
  chmod 755 \"$path\"
done
fresh() {{ {}
}}
",
            self.set_up.trim()
        );
        for (number, command) in self.commands.iter().enumerate() {
            let out = format!("/srv/out/{number:03}");
            let shown = command.replace('\'', "");
            let _infallible = writeln!(
                script,
                "( echo '== {shown}'; {command} ) > {out} 2>&1 < /dev/null; echo \"exit $?\" >> {out}"
            );
        }
        script
    }

    /// The canaries of its files.
    fn canaries(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (_, text) in &self.files {
            for (at, word) in text.match_indices("CANARY") {
                let end = |c: char| !c.is_ascii_alphanumeric();
                let rest = &text[at + word.len()..];
                found.insert(rest[..rest.find(end).unwrap_or(rest.len())].to_owned());
            }
        }
        found
    }
}

/// Runs a case in a copy of the machine and looks at all that has changed there.
fn nothing_is_found(case: &Case) {
    let options = SandboxOptions { trusted: true, ..SandboxOptions::default() };
    let sandbox = match Sandbox::new(&options) {
        Ok(sandbox) => sandbox,
        Err(error) => {
            eprintln!("SKIPPED canaries of {}: {error}", case.name);
            return;
        }
    };
    assert!(case.canaries().len() >= case.least, "{} canaries", case.canaries().len());
    let shell = |line: String| {
        let spec = Spec { merge_stderr: true, ..Spec::shell(line) };
        let ended = sandbox.run(&OsHost::new(), &spec).expect("a shell runs in the copy");
        assert!(ended.stdout.is_empty(), "{}", String::from_utf8_lossy(&ended.stdout));
    };
    for (name, text) in &case.files {
        let path = Path::new("/srv/policy").join(name);
        shell(format!("mkdir -p {}", path.parent().expect("a directory").display()));
        sandbox.write(&path, text.as_bytes()).expect("a file");
    }
    sandbox.write("/srv/policy/script".as_ref(), case.script().as_bytes()).expect("a file");
    shell("sh /srv/policy/script".to_owned());

    let (path, canary) = case.written;
    let bytes = sandbox.read(path.as_ref()).expect("the copy is there").unwrap_or_default();
    assert!(holds(&bytes, canary.as_bytes()), "{path} was not written");
    let saved = sandbox.read("/srv/out/saved.plan".as_ref()).expect("the copy is there");
    assert!(saved.is_some_and(|saved| !saved.is_empty()), "no plan was saved");

    let (mut shown, mut found, mut looked_at) = (String::new(), Vec::new(), 0);
    for (path, at) in left(&sandbox) {
        let name = path.to_string_lossy();
        let is_in = |place: &&str| path.starts_with(place);
        if MAY_HOLD.iter().chain(case.targets).any(is_in) {
            continue;
        }
        if FORMS.iter().any(|form| holds(name.as_bytes(), form)) {
            found.push(format!("the name of {name}"));
        }
        let bytes = fs::read(&at).expect("a file of the copy");
        looked_at += 1;
        found.extend(lines_with_canaries(&bytes).map(|line| format!("{name}: {line}")));
        if path.starts_with("/srv/out") {
            shown.push_str(&String::from_utf8_lossy(&bytes));
        }
    }
    if let Ok(place) = std::env::var("FX_CANARIES_KEEP") {
        fs::write(Path::new(&place).join(case.name), &shown).expect("a file");
    }
    assert!(found.is_empty(), "{} places:\n{}", found.len(), found.join("\n"));
    assert!(looked_at > case.commands.len(), "{looked_at} files");
    for text in case.witness {
        assert!(shown.contains(text), "{text:?} is nowhere");
    }
}

/// The files that were made or changed: their names inside, and where they are.
fn left(sandbox: &Sandbox) -> Vec<(PathBuf, PathBuf)> {
    let mut files = Vec::new();
    for layer in sandbox.layers() {
        let mut open = vec![(layer.mount.clone(), sandbox.upper(layer))];
        while let Some((inside, at)) = open.pop() {
            let Ok(about) = fs::symlink_metadata(&at) else { continue };
            let kind = about.file_type();
            if kind.is_dir() {
                for entry in fs::read_dir(&at).expect("a directory").flatten() {
                    open.push((inside.join(entry.file_name()), entry.path()));
                }
            } else if kind.is_file() && !kind.is_fifo() {
                files.push((inside, at));
            }
        }
    }
    files.sort();
    files
}

fn lines_with_canaries(bytes: &[u8]) -> impl Iterator<Item = String> {
    let holding = |line: &&[u8]| FORMS.iter().any(|form| holds(line, form));
    bytes.split(|byte| *byte == b'\n').filter(holding).map(|line| {
        let at = FORMS.iter().filter_map(|form| find(line, form)).min().unwrap_or_default();
        let part = &line[at.saturating_sub(120)..line.len().min(at + 80)];
        String::from_utf8_lossy(part).into_owned()
    })
}

fn holds(line: &[u8], form: &[u8]) -> bool {
    find(line, form).is_some()
}

fn find(line: &[u8], form: &[u8]) -> Option<usize> {
    line.windows(form.len()).position(|window| window == form)
}

#[test]
fn no_secret_of_a_manifest_is_anywhere_but_in_its_target() {
    nothing_is_found(&puppet::case());
}

#[test]
fn no_secret_of_a_recipe_is_anywhere_but_in_its_target() {
    nothing_is_found(&chef::case());
}

#[test]
fn no_password_of_a_promise_is_anywhere_but_in_its_target() {
    nothing_is_found(&cfengine::case());
}
