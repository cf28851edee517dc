//! CFEngine's acceptance tests: policies that report by themselves whether they pass. Each runs in a copy of the
//! machine of its own, which goes with all that the policy did.

use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use fx_host::{Env, Exit, OsHost, SandboxOptions, Spec};
use fx_test::Work;
use serde_json::{Map, Value, json};

use crate::personas::native::copy;

/// The longest that one test may take.
const LONGEST: Duration = Duration::from_mins(15);

/// What a policy needs around it: a work directory with the tools, and a place for files. The program and the
/// policy are the arguments.
const AROUND: &str = r#"
work=$(mktemp -d) && mkdir "$work/bin" "$work/tmp" && chmod 1777 "$work/tmp" || exit 125
for tool in cf-agent cf-promises cf-key cf-serverd cf-execd cf-monitord cf-runagent cf-net cf-secret cf-check; do
    ln -s "$1" "$work/bin/$tool"
done
CFENGINE_TEST_OVERRIDE_WORKDIR=$work TEMP=$work/tmp exec "$work/bin/cf-agent" -Klf "./$2" -D AUTO,DEBUG 2>&1
"#;

/// How a test ended, in the words of an example's status.
#[derive(Debug, PartialEq, Eq)]
struct Verdict {
    status: &'static str,
    why: String,
}

impl Verdict {
    fn new(status: &'static str, why: impl Into<String>) -> Verdict {
        Verdict { status, why: why.into() }
    }

    fn of(good: bool, why: String) -> Verdict {
        if good { Verdict::new("passed", "") } else { Verdict::new("failed", why) }
    }
}

/// The tests as one part of a run: a copy of the machine takes as much of it as it may.
pub(super) fn parts(files: Vec<String>, options: &Map<String, Value>) -> Vec<Work> {
    let only: Vec<String> = options
        .get("only")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|text| text.as_str().map(str::to_owned))
        .collect();
    let wanted =
        move |file: &String| only.is_empty() || only.iter().any(|text| file.contains(text));
    let files: Vec<String> = files.into_iter().filter(wanted).collect();
    vec![Work::Other(Box::new(move |events| tell(&files, events)))]
}

fn tell(files: &[String], events: &Sender<String>) {
    let say = |event: Value| {
        // Whoever told went away, and has said why.
        drop(events.send(event.to_string()));
    };
    let place = |file: &str| format!("./{}", file.trim_start_matches("./"));
    let id = |file: &str| format!("{}[1]", place(file));
    let groups: Vec<Value> = files.iter().map(|file| json!([id(file), place(file)])).collect();
    say(json!({ "loaded": groups, "errors": 0, "matching": [], "code": 1 }));
    say(json!({ "chosen": files.len() }));
    let host = OsHost::cancelled_by(fx_host::stop_on_signals());
    for file in files {
        let name = place(file);
        say(json!({ "group": name, "top": id(file) }));
        say(json!({ "running": name }));
        let began = Instant::now();
        let verdict = run(&host, file).unwrap_or_else(|why| Verdict::new("failed", why));
        let failed = verdict.status == "failed";
        let raised =
            failed.then(|| json!({ "class": "FAIL", "message": verdict.why, "trace": [] }));
        let shown = failed.then(|| {
            let lines: Vec<String> =
                verdict.why.lines().map(|line| format!("     {line}")).collect();
            format!("  0) {name}\n{}\n", lines.join("\n"))
        });
        say(json!({ "example": {
            "description": "passes", "full": format!("{name} passes"), "location": format!("{name}:1"),
            "file": name, "id": format!("{name}[1:1]"), "line": 1, "status": verdict.status,
            "time": began.elapsed().as_secs_f64(), "pending": (verdict.status == "pending").then_some(verdict.why),
            "fixed": null, "top": [format!("{name}:1"), name], "shown": shown, "raised": raised,
        } }));
        say(json!({ "left": true, "top": id(file) }));
        if fx_host::stop_signal().is_some() {
            break;
        }
    }
    say(json!({ "done": false, "rest": [] }));
}

/// Runs one test in a copy that is gone afterwards.
fn run(host: &OsHost, file: &str) -> Result<Verdict, String> {
    let sandbox = copy::make(SandboxOptions::default()).map_err(|error| {
        format!("a test of policy runs in a copy of the machine, which root can make: {error}")
    })?;
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
    let words =
        ["/bin/sh".into(), "-c".into(), AROUND.into(), "sh".into(), program.into(), file.into()];
    let words: [std::ffi::OsString; 6] = words;
    let spec = Spec { cwd: Some(host.cwd()), ..Spec::argv(words) }.timeout(LONGEST);
    let ended = sandbox.run(host, &spec).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&ended.stdout);
    Ok(judge(file, &ended.exit, &text))
}

/// What the output says of a test. A test that is to end with an error has that in its name.
fn judge(file: &str, exit: &Exit, text: &str) -> Verdict {
    let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
    let code = exit.code();
    if *exit == Exit::TimedOut {
        return Verdict::new(
            "failed",
            format!("it did not end within {} seconds", LONGEST.as_secs()),
        );
    }
    if name.ends_with(".x.cf") {
        let complained = text.contains("error:") || text.contains("aborted on defined class");
        let good = (1..128).contains(&code) && complained;
        return Verdict::of(good, told("Failed to exit with error!", text));
    }
    if code != 0 {
        return Verdict::new("failed", told(&format!("exit code {code}"), text));
    }
    if name.ends_with(".error.cf") {
        return Verdict::of(text.contains("error: "), told("No errors printed", text));
    }
    let said: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("R: "))
        .filter_map(|line| line.split_once(&*format!("{name} ")).map(|(_, said)| said))
        .collect();
    let find = |start: &str| said.iter().find_map(|one| one.strip_prefix(start));
    let ticket = |kind: &str| find(kind).map(|rest| rest.trim_start_matches('/').trim().to_owned());
    let passed = find("Pass").is_some();
    if let Some(ticket) = ticket("XFAIL").or_else(|| ticket("SFAIL")) {
        if passed {
            return Verdict::new("failed", "The test Passed, but failure was expected");
        }
        return Verdict::new("pending", format!("failure is expected: {ticket}"));
    }
    if find("FAIL/no_ticket_number").is_some() {
        return Verdict::new(
            "failed",
            "Tried to suppress failure, but no issue number is provided",
        );
    }
    if passed {
        return Verdict::new("passed", "");
    }
    if find("Skip/unsupported").is_some() {
        return Verdict::new("pending", "No platform support");
    }
    if find("Skip/needs_work").is_some() {
        return Verdict::new("pending", "Test needs work");
    }
    if let Some(ticket) = ticket("FLAKEY") {
        return Verdict::new("pending", format!("flakey: {ticket}"));
    }
    Verdict::new("failed", told("it did not report that it passes", text))
}

/// The cause, and the end of what was printed.
fn told(cause: &str, text: &str) -> String {
    const LAST: usize = 20;
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(LAST);
    format!("{cause}\n{}", lines[from..].join("\n")).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_how_a_test_ended() {
        let table = [
            ("a.cf", 0, "R: /x/a.cf Pass", "passed"),
            ("a.cf", 0, "R: /x/a.cf FAIL\nR: /x/a.cf Pass", "passed"),
            ("a.cf", 0, "R: /x/a.cf FAIL", "failed"),
            ("a.cf", 0, "R: /x/b.cf Pass", "failed"),
            ("a.cf", 0, "notice: a.cf Pass", "failed"),
            ("a.cf", 1, "R: /x/a.cf Pass", "failed"),
            ("a.cf", 0, "R: /x/a.cf XFAIL/CFE-1", "pending"),
            ("a.cf", 0, "R: /x/a.cf XFAIL/CFE-1\nR: /x/a.cf Pass", "failed"),
            ("a.cf", 0, "R: /x/a.cf SFAIL/CFE-1", "pending"),
            ("a.cf", 0, "R: /x/a.cf FAIL/no_ticket_number", "failed"),
            ("a.cf", 0, "R: /x/a.cf Skip/unsupported", "pending"),
            ("a.cf", 0, "R: /x/a.cf Skip/needs_work", "pending"),
            ("a.cf", 0, "R: /x/a.cf FLAKEY/CFE-2", "pending"),
            ("a.cf", 0, "", "failed"),
            ("a.x.cf", 1, "error: no", "passed"),
            ("a.x.cf", 0, "error: no", "failed"),
            ("a.x.cf", 1, "", "failed"),
            ("a.error.cf", 0, " error: no", "passed"),
            ("a.error.cf", 0, "fine", "failed"),
        ];
        for (file, code, text, expected) in table {
            assert_eq!(
                judge(file, &Exit::Code(code), text).status,
                expected,
                "{file} {code} {text}"
            );
        }
    }
}
