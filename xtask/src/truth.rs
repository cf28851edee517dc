//! `cargo xtask truth PROGRAM`: are the claims of a plan right? Each line of the standard
//! input is the arguments of one policy; it is planned and then tried, and each claim that
//! the plan calls certain is compared with what the run did.
//!
//! Runs policies as root in throw-away copies of the machine; does not judge the originals.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

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
    let program = std::env::args().nth(2).context("usage: cargo xtask truth PROGRAM < LIST")?;
    let mut tally = Tally::default();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        tally.policies += 1;
        match compare(&program, &words) {
            Ok(found) => {
                tally.certain += found.certain;
                tally.wrong += found.wrong.len() as u32;
                tally.unknown += found.unknown;
                for wrong in found.wrong {
                    println!("{line}: {wrong}");
                }
            }
            Err(error) => {
                tally.unreadable += 1;
                println!("{line}: not compared: {error:#}");
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

struct Found {
    certain: u32,
    unknown: u32,
    wrong: Vec<String>,
}

fn compare(program: &str, words: &[&str]) -> Result<Found> {
    let plan = output(program, &["plan", "--format", "json"], words)?;
    let tried = output(program, &["try", "--runs", "1", "--format", "json"], words)?;
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
            "would-repair" => "repaired".to_owned(),
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

fn output(program: &str, verb: &[&str], words: &[&str]) -> Result<String> {
    let mut command = Command::new("timeout");
    let ended = command.arg("120").arg(program).args(verb).args(words).output()?;
    if ended.stdout.is_empty() {
        bail!("{} said: {}", verb[0], String::from_utf8_lossy(&ended.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}
