//! `cargo xtask bench LANGUAGE OURS ORIGINAL [RUNS]`: processor time and memory of our program
//! and of an original on the same policies, in one run, as ratios.
//!
//! The policies are made here; they write below a scratch directory only. Processor time is
//! compared, not wall time, because other work on the machine does not count in it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::usage::{self, Usage};

/// A policy, and how often it is run in the same place: the second time finds nothing to do.
struct Row {
    name: &'static str,
    policy: fn(&Path) -> String,
    twice: bool,
}

const CFENGINE: &[Row] = &[
    Row { name: "hello", policy: |_| cf_main("reports:\n \"hello\";"), twice: false },
    Row { name: "files_1k", policy: |dir| cf_files(dir, 1_000), twice: true },
    Row { name: "iterate_10k", policy: |_| cf_iterate(100), twice: false },
    Row { name: "lines_1k", policy: |dir| cf_lines(dir, 1_000), twice: true },
];

const PUPPET: &[Row] = &[
    Row { name: "hello", policy: |_| "notice('hello')\n".to_owned(), twice: false },
    Row { name: "files_1k", policy: |dir| pp_files(dir, 1_000), twice: true },
    Row { name: "chain_500", policy: |_| pp_chain(500), twice: false },
    Row { name: "loops_10k", policy: |_| pp_loops(), twice: false },
];

pub(crate) fn run() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(2).collect();
    let (language, ours, original, runs) = match &args[..] {
        [language, ours, original] => (language, ours, original, 5),
        [language, ours, original, runs] => (language, ours, original, runs.parse()?),
        _ => bail!("usage: cargo xtask bench cfengine|puppet OURS ORIGINAL [RUNS]"),
    };
    let rows = match language.as_str() {
        "cfengine" => CFENGINE,
        "puppet" => PUPPET,
        _ => bail!("there are rows for cfengine and puppet"),
    };
    println!(
        "{:<22} {:>9} {:>9} {:>7} {:>8} {:>8}",
        "row", "ours ms", "orig. ms", "times", "ours MB", "orig. MB"
    );
    for row in rows {
        let ours = measure(row, language, ours, true, runs)?;
        let original = measure(row, language, original, false, runs)?;
        for (phase, (ours, original)) in ours.iter().zip(&original).enumerate() {
            let name = match (row.twice, phase) {
                (false, _) => row.name.to_owned(),
                (true, 0) => format!("{} first", row.name),
                (true, _) => format!("{} converged", row.name),
            };
            println!(
                "{name:<22} {:>9.1} {:>9.1} {:>7.1} {:>8.1} {:>8.1}",
                ours.cpu_ms,
                original.cpu_ms,
                original.cpu_ms / ours.cpu_ms.max(0.1),
                ours.peak_kb as f64 / 1024.0,
                original.peak_kb as f64 / 1024.0
            );
        }
    }
    Ok(())
}

/// The median of each phase.
fn measure(
    row: &Row,
    language: &str,
    program: &str,
    is_ours: bool,
    runs: usize,
) -> Result<Vec<Usage>> {
    let phases = if row.twice { 2 } else { 1 };
    let mut samples: Vec<Vec<Usage>> = vec![Vec::new(); phases];
    for number in 0..runs {
        let dir = Scratch::new(number)?;
        let file = dir.0.join(if language == "puppet" { "site.pp" } else { "policy.cf" });
        std::fs::write(&file, (row.policy)(&dir.0))?;
        private(&file)?;
        if language == "cfengine" && !is_ours {
            // The agent checks its policy with the program beside it.
            let checker = std::fs::canonicalize(program)?.with_file_name("cf-promises");
            std::os::unix::fs::symlink(checker, dir.0.join("work/bin/cf-promises"))?;
        }
        for phase in &mut samples {
            let used = once(language, program, is_ours, &dir.0, &file)?;
            if used.code != 0 {
                bail!("{}: {program} ended with {}", row.name, used.code);
            }
            phase.push(used);
        }
    }
    Ok(samples.into_iter().map(median).collect())
}

fn median(mut samples: Vec<Usage>) -> Usage {
    samples.sort_by(|a, b| a.cpu_ms.total_cmp(&b.cpu_ms));
    samples[samples.len() / 2]
}

fn once(language: &str, program: &str, is_ours: bool, dir: &Path, file: &Path) -> Result<Usage> {
    let mut command = Command::new(program);
    match language {
        "puppet" => {
            if is_ours {
                command.arg("puppet");
            }
            command.arg("apply").arg("--confdir").arg(dir.join("conf"));
            command.arg("--vardir").arg(dir.join("var")).arg(file);
        }
        _ => {
            if is_ours {
                command.arg("cf-agent");
            }
            command.arg("-Kf").arg(file);
            command.env("CFENGINE_TEST_OVERRIDE_WORKDIR", dir.join("work"));
        }
    }
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    usage::wait_any(child.with_context(|| program.to_owned())?.id())
}

/// The originals refuse policy that others can write.
fn private(file: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600))?)
}

/// A directory that is removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(number: usize) -> Result<Scratch> {
        let dir = std::env::temp_dir().join(format!("fx-bench-{}-{number}", std::process::id()));
        for part in ["out", "work/inputs", "work/bin"] {
            std::fs::create_dir_all(dir.join(part))?;
        }
        Ok(Scratch(dir))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left over lies below the temporary directory and is named after us.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn cf_main(body: &str) -> String {
    format!(
        "body common control {{ bundlesequence => {{ \"main\" }}; }}\nbundle agent main\n{{\n{body}\n}}\n"
    )
}

fn cf_files(dir: &Path, count: u32) -> String {
    let mut body = "files:\n".to_owned();
    for number in 0..count {
        let _ = writeln!(
            body,
            " \"{}/out/f{number:05}\" create => \"true\", perms => m(\"640\"), content => \"file {number}\";",
            dir.display()
        );
    }
    cf_main(&body) + "body perms m(mode) { mode => \"$(mode)\"; }\n"
}

fn cf_iterate(count: u32) -> String {
    let list: Vec<String> = (0..count).map(|number| format!("\"i{number}\"")).collect();
    let list = list.join(",");
    cf_main(&format!(
        "vars: \"a\" slist => {{ {list} }}; \"b\" slist => {{ {list} }};\nclasses: \"c_$(a)_$(b)\" expression => \"any\";"
    ))
}

fn cf_lines(dir: &Path, count: u32) -> String {
    let lines: Vec<String> = (0..count).map(|number| format!("\"line {number}\"")).collect();
    let edit = format!(
        "bundle edit_line lines\n{{\nvars: \"l\" slist => {{ {} }};\ninsert_lines: \"$(l)\";\n}}\n",
        lines.join(",")
    );
    cf_main(&format!("files: \"{}/out/f\" create => \"true\", edit_line => lines;", dir.display()))
        + &edit
}

fn pp_files(dir: &Path, count: u32) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        let _ = writeln!(
            text,
            "file {{ '{}/out/f{number:05}': content => 'file {number}', mode => '0640' }}",
            dir.display()
        );
        text
    })
}

fn pp_chain(count: u32) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        let after = if number == 0 {
            String::new()
        } else {
            format!(" require => Notify['n{}']", number - 1)
        };
        let _ = writeln!(text, "notify {{ 'n{number}':{after} }}");
        text
    })
}

fn pp_loops() -> String {
    "$n = Integer[1, 10000].map |$i| { $i * 2 }\n$m = $n.filter |$i| { $i % 3 == 0 }\nnotice($m.reduce |$a, $b| { $a + $b })\n".to_owned()
}
