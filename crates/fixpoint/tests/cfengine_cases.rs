//! Whole policies with the output the real cf-agent gave, one file a behaviour.
//!
//! A case names the sentence it holds, its arguments, its policy and the recorded output.
//! `FX_RECORD=/usr/bin/cf-agent cargo test -p fixpoint --test cfengine_cases` records the
//! outputs anew from the original; ordinary runs need no original.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test runs programs from outside"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

struct Case {
    path: PathBuf,
    head: String,
    tool: String,
    args: Vec<String>,
    policy: String,
    output: String,
}

fn read(path: &Path) -> Case {
    let text = fs::read_to_string(path).unwrap();
    let (head, rest) = text.split_once("--- policy\n").unwrap();
    let (policy, output) = rest.split_once("--- output\n").unwrap();
    let field =
        |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    let args = field("args: ");
    assert!(head.starts_with("# seed "), "{}: the first line names the sentence", path.display());
    Case {
        path: path.to_owned(),
        head: head.to_owned(),
        tool: Some(field("tool: "))
            .filter(|tool| !tool.is_empty())
            .unwrap_or("cf-agent")
            .to_owned(),
        args: args.split_whitespace().map(str::to_owned).collect(),
        policy: policy.to_owned(),
        output: output.to_owned(),
    }
}

/// What the agent prints and how it ends, with the scratch directory written as DIR.
fn run(case: &Case, agent: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().to_str().unwrap();
    let write = |name: &str, text: &str| {
        let file = dir.path().join(name);
        fs::write(&file, text.replace("DIR", at)).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    };
    // A line `=== name` begins a further file.
    let mut files = case.policy.split("=== ");
    write("case.cf", files.next().unwrap());
    for file in files {
        let (name, text) = file.split_once('\n').unwrap();
        write(name, text);
    }
    let work = dir.path().join("work");
    for sub in ["inputs", "state", "bin", "modules", "outputs", "ppkeys"] {
        fs::create_dir_all(work.join(sub)).unwrap();
        fs::set_permissions(work.join(sub), fs::Permissions::from_mode(0o700)).unwrap();
    }
    for tool in ["cf-promises", "cf-agent"] {
        // The original has a program for each; ours asks what it was called as.
        let program = match agent {
            [original] => PathBuf::from(original).with_file_name(tool),
            _ => PathBuf::from(agent[0]),
        };
        std::os::unix::fs::symlink(program, work.join("bin").join(tool)).unwrap();
    }
    let args = case.args.iter().map(|arg| arg.replace("DIR", at));
    let output = Command::new(agent[0])
        .args(&agent[1..])
        .args(["-f", &format!("{at}/case.cf")])
        .args(args)
        .env("CFENGINE_TEST_OVERRIDE_WORKDIR", &work)
        .env("USER", "root")
        .env("TZ", "UTC")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    format!("{}exit {}\n", text.replace(at, "DIR"), output.status.code().unwrap_or(-1))
}

#[test]
fn policies_end_as_the_original_ends_them() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cfengine_cases");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 20, "{} cases", paths.len());
    let record = std::env::var("FX_RECORD").ok();
    let mut wrong = Vec::new();
    for path in paths {
        let case = read(&path);
        if let Some(original) = &record {
            let tool = Path::new(original).with_file_name(&case.tool);
            let output = run(&case, &[tool.to_str().unwrap()]);
            fs::write(
                &case.path,
                format!("{}--- policy\n{}--- output\n{output}", case.head, case.policy),
            )
            .unwrap();
            continue;
        }
        let output = run(&case, &[env!("CARGO_BIN_EXE_fixpoint"), &case.tool]);
        if output != case.output {
            wrong.push(format!(
                "{}\n--- expected\n{}--- got\n{output}",
                path.file_name().unwrap().display(),
                case.output
            ));
        }
    }
    assert!(wrong.is_empty(), "{} cases differ\n{}", wrong.len(), wrong.join("\n"));
}
