//! `cargo xtask truth PROGRAM`: are the claims of a plan right? Each policy is planned and
//! then tried, and each claim that the plan calls certain is compared with what the run did.
//!
//! The policies are lines of arguments on the standard input, or the recorded cases of a
//! conformance directory (`truth_cases.rs`). They run as root in throw-away copies of the
//! machine. Does not judge the originals.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::truth_cases;

/// What is planned and tried.
pub(crate) struct Policy {
    pub(crate) name: String,
    /// Arguments of the verbs.
    pub(crate) words: Vec<String>,
    /// Where they are called.
    pub(crate) dir: Option<PathBuf>,
}

impl From<String> for Policy {
    fn from(line: String) -> Policy {
        let words = line.split_whitespace().map(str::to_owned).collect();
        Policy { name: line, words, dir: None }
    }
}

/// What was counted over all policies.
#[derive(Default)]
struct Tally {
    policies: u32,
    unreadable: u32,
    certain: u32,
    wrong: u32,
    unknown: u32,
}

pub(crate) fn run() -> Result<()> {
    let (program, policies) = asked_for("truth")?;
    let mut tally = Tally::default();
    for policy in &policies {
        tally.policies += 1;
        match compare(&program, policy) {
            Ok(found) => {
                tally.certain += found.certain;
                tally.wrong += found.wrong.len() as u32;
                tally.unknown += found.unknown;
                for wrong in found.wrong {
                    println!("{}: {wrong}", policy.name);
                }
            }
            Err(error) => {
                tally.unreadable += 1;
                println!("{}: not compared: {error:#}", policy.name);
            }
        }
    }
    println!(
        "{} policies ({} not compared): {} certain claims, {} wrong; {} marked unknown",
        tally.policies, tally.unreadable, tally.certain, tally.wrong, tally.unknown
    );
    if tally.wrong > 0 {
        bail!("a claim called certain was wrong");
    }
    Ok(())
}

/// The program and the policies that the command line names, or the standard input lists.
pub(crate) fn asked_for(command: &str) -> Result<(String, Vec<Policy>)> {
    let mut args = std::env::args().skip(2);
    let usage = || format!("usage: cargo xtask {command} PROGRAM [KIND CONFORMANCE WITH] < LIST");
    let program = args.next().with_context(usage)?;
    let mut policies: Vec<Policy> = match args.next() {
        Some(kind) => {
            let dirs: Vec<PathBuf> = args.map(PathBuf::from).collect();
            let [cases, with] = &dirs[..] else { bail!("KIND takes two directories") };
            truth_cases::of(&kind, cases, with)?
        }
        None => {
            std::io::stdin().lock().lines().map_while(|line| line.ok().map(Policy::from)).collect()
        }
    };
    policies.retain(|policy| !policy.words.is_empty());
    Ok((program, policies))
}

struct Found {
    certain: u32,
    unknown: u32,
    wrong: Vec<String>,
}

fn compare(program: &str, policy: &Policy) -> Result<Found> {
    let plan = output(program, &["plan", "--format", "json"], policy)?;
    let tried = output(program, &["try", "--runs", "1", "--format", "json"], policy)?;
    let tried: Value = serde_json::from_str(&tried).context("no result of try")?;
    let mut did: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for step in tried["runs"][0]["steps"].as_array().into_iter().flatten() {
        did.entry(key(step)).or_default().push(text(step, "outcome"));
    }
    let mut seen: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut found = Found { certain: 0, unknown: 0, wrong: Vec::new() };
    for line in plan.lines() {
        let Ok(event) = serde_json::from_str::<Value>(line) else { continue };
        if event["event"] != "step_closed" || event["purpose"] != "act" {
            continue;
        }
        let nth = seen.entry(key(&event)).or_default();
        let done = did.get(&key(&event)).and_then(|list| list.get(*nth));
        *nth += 1;
        if event["certainty"] != "certain" {
            found.unknown += 1;
            continue;
        }
        found.certain += 1;
        let claimed = match &*text(&event, "outcome") {
            // What is only reported, by its own words, stays so in a run.
            "would-repair" if event["mode"] != "rehearse" => "repaired".to_owned(),
            other => other.to_owned(),
        };
        if done != Some(&claimed) {
            let done = done.map_or("nothing of the kind", String::as_str);
            found.wrong.push(format!(
                "{} {}: claimed {claimed}, the run had {done}",
                text(&event, "resource"),
                text(&event, "action")
            ));
        }
    }
    Ok(found)
}

fn key(step: &Value) -> (String, String) {
    (text(step, "resource"), text(step, "action"))
}

fn text(step: &Value, name: &str) -> String {
    step[name].as_str().unwrap_or_default().to_owned()
}

pub(crate) fn output(program: &str, verb: &[&str], policy: &Policy) -> Result<String> {
    let mut command = Command::new("timeout");
    if let Some(dir) = &policy.dir {
        command.current_dir(dir);
    }
    let ended = command.arg("120").arg(program).args(verb).args(&policy.words).output()?;
    if ended.stdout.is_empty() {
        bail!("{} said: {}", verb[0], String::from_utf8_lossy(&ended.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}
