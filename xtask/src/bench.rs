//! `cargo xtask bench LANGUAGE PROGRAM OTHER [RUNS]`: processor time and memory of two programs on
//! the same policies, in one run, as ratios. OTHER is an original, or another build of ours.
//!
//! The two take turns, so that whatever else the machine does meets both. Processor time is
//! compared, not wall time.

mod policies;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use policies::{CFENGINE, CHEF, COOKBOOK, PUPPET, Row};

use crate::usage::{self, Usage};

/// How a language is run.
struct Language {
    /// The name under which our program takes it.
    persona: &'static str,
    rows: &'static [Row],
    policy: &'static str,
    args: fn(&mut Command, &Path),
}

fn language(name: &str) -> Result<Language> {
    Ok(match name {
        "cfengine" => Language {
            persona: "cf-agent",
            rows: CFENGINE,
            policy: "policy.cf",
            args: |command, dir| {
                command.arg("-Kf").arg(dir.join("policy.cf"));
                command.env("CFENGINE_TEST_OVERRIDE_WORKDIR", dir.join("work"));
            },
        },
        "puppet" => Language {
            persona: "puppet",
            rows: PUPPET,
            policy: "site.pp",
            args: |command, dir| {
                command.arg("apply").arg("--confdir").arg(dir.join("conf"));
                command.arg("--vardir").arg(dir.join("var")).arg(dir.join("site.pp"));
            },
        },
        "chef" => Language {
            persona: "chef-client",
            rows: CHEF,
            policy: "cookbooks/bench/recipes/default.rb",
            args: |command, dir| {
                command.args(["-z", "-o", "bench", "-c"]).arg(dir.join("client.rb"));
                command.current_dir(dir);
            },
        },
        _ => bail!("there are rows for cfengine, puppet and chef"),
    })
}

/// A program that is measured.
struct Program<'a> {
    path: &'a str,
    is_ours: bool,
}

impl Program<'_> {
    /// Ours says its own name.
    fn new(path: &str) -> Result<Program<'_>> {
        let output = Command::new(path).arg("--version").output();
        let output = output.with_context(|| path.to_owned())?;
        Ok(Program { path, is_ours: output.stdout.starts_with(b"fixpoint") })
    }
}

pub(crate) fn run() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(2).collect();
    let (name, one, other, runs) = match &args[..] {
        [name, one, other] => (name, one, other, 5),
        [name, one, other, runs] => (name, one, other, runs.parse()?),
        _ => bail!("usage: cargo xtask bench cfengine|puppet|chef PROGRAM OTHER [RUNS]"),
    };
    let language = language(name)?;
    let programs = [Program::new(one)?, Program::new(other)?];
    println!(
        "{:<24} {:>9} {:>9} {:>7} {:>8} {:>8}",
        "row", "ms", "other ms", "times", "MB", "other MB"
    );
    for row in language.rows {
        let [one, other] = measure(row, &language, &programs, runs)?;
        for (phase, (one, other)) in one.iter().zip(&other).enumerate() {
            let name = match (row.twice, phase) {
                (false, _) => row.name.to_owned(),
                (true, 0) => format!("{} first", row.name),
                (true, _) => format!("{} converged", row.name),
            };
            println!(
                "{name:<24} {:>9.1} {:>9.1} {:>7.2} {:>8.1} {:>8.1}",
                one.cpu_ms,
                other.cpu_ms,
                other.cpu_ms / one.cpu_ms.max(0.1),
                one.peak_kb as f64 / 1024.0,
                other.peak_kb as f64 / 1024.0
            );
        }
    }
    Ok(())
}

/// The medians of each program, phase by phase.
fn measure(
    row: &Row,
    language: &Language,
    programs: &[Program<'_>; 2],
    runs: usize,
) -> Result<[Vec<Usage>; 2]> {
    let phases = if row.twice { 2 } else { 1 };
    let mut samples = [vec![Vec::new(); phases], vec![Vec::new(); phases]];
    for number in 0..runs {
        for (program, samples) in programs.iter().zip(&mut samples) {
            let dir = Scratch::new(number)?;
            lay_out(row, language, program, &dir.0)?;
            for phase in samples {
                let used = once(language, program, &dir.0)?;
                if used.code != 0 {
                    bail!("{}: {} ended with {}", row.name, program.path, used.code);
                }
                phase.push(used);
            }
        }
    }
    Ok(samples.map(|phases| phases.into_iter().map(median).collect()))
}

fn median(mut samples: Vec<Usage>) -> Usage {
    samples.sort_by(|a, b| a.cpu_ms.total_cmp(&b.cpu_ms));
    samples[samples.len() / 2]
}

/// Writes what a run needs.
fn lay_out(row: &Row, language: &Language, program: &Program<'_>, dir: &Path) -> Result<()> {
    put(&dir.join(language.policy), &(row.policy)(dir))?;
    match language.persona {
        "cf-agent" if !program.is_ours => {
            // The agent checks its policy with the program beside it.
            let checker = std::fs::canonicalize(program.path)?.with_file_name("cf-promises");
            std::os::unix::fs::symlink(checker, dir.join("work/bin/cf-promises"))?;
        }
        "chef-client" => {
            for (name, text) in COOKBOOK {
                put(&dir.join("cookbooks/bench").join(name), text)?;
            }
            let config = format!(
                "chef_repo_path '{0}'\ncookbook_path ['{0}/cookbooks']\ncache_path '{0}/cache'\nfile_cache_path '{0}/cache'\nfile_backup_path '{0}/backup'\nnode_name 'bench'\nlocal_mode true\n",
                dir.display()
            );
            put(&dir.join("client.rb"), &config)?;
        }
        _ => {}
    }
    Ok(())
}

fn once(language: &Language, program: &Program<'_>, dir: &Path) -> Result<Usage> {
    let mut command = Command::new(program.path);
    if program.is_ours {
        command.arg(language.persona);
    }
    (language.args)(&mut command, dir);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    usage::wait_any(child.with_context(|| program.path.to_owned())?.id())
}

/// Writes a file that nobody else can write: the originals refuse others.
fn put(file: &Path, text: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if let Some(parent) = file.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(file, text)?;
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
