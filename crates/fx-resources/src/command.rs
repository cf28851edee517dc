//! Commands of the machine's own tools: argument vectors, the C locale, names checked.
//!
//! A shell never takes part here. What policy itself asks to run is `exec`'s work.

use std::ffi::OsString;
use std::time::Duration;

use fx_engine::Failure;
use fx_host::{Act, Ended, Exit, Look, Spec};

/// A tool's command: C locale, so that its output can be read by programs.
pub fn tool<I: IntoIterator<Item = S>, S: Into<OsString>>(argv: I) -> Spec {
    // LC_ALL outranks LANG; LANGUAGE outranks both for messages, so it goes.
    let mut spec = Spec::argv(argv).env("LC_ALL", "C");
    spec.env.push(("LANGUAGE".into(), None));
    spec
}

/// A tool's command with a time limit for those that change things.
pub fn changing<I: IntoIterator<Item = S>, S: Into<OsString>>(argv: I) -> Spec {
    tool(argv).timeout(Duration::from_hours(1))
}

/// Runs a command that must succeed; its failure carries what it printed.
pub fn succeed(act: &dyn Act, spec: &Spec) -> Result<Ended, Failure> {
    succeeded(spec, act.run(spec)?)
}

/// The same for a command that only reads and prints.
pub fn query(look: &dyn Look, spec: &Spec) -> Result<Ended, Failure> {
    succeeded(spec, look.query(spec)?)
}

fn succeeded(spec: &Spec, ended: Ended) -> Result<Ended, Failure> {
    match failure(spec, &ended) {
        Some(failure) => Err(failure),
        None => Ok(ended),
    }
}

/// Runs a command that only reads and whose code is an answer; a signal or time limit is
/// still a failure.
pub fn ask(look: &dyn Look, spec: &Spec) -> Result<Ended, Failure> {
    answered(spec, look.query(spec)?)
}

/// The same for a command that policy names, of which nobody knows what it does.
pub fn ask_guard(act: &dyn Act, spec: &Spec) -> Result<Ended, Failure> {
    answered(spec, act.run(spec)?)
}

fn answered(spec: &Spec, ended: Ended) -> Result<Ended, Failure> {
    match ended.exit {
        Exit::Code(_) => Ok(ended),
        _ => Err(failure(spec, &ended).unwrap_or_else(|| Failure::new(spec.display()))),
    }
}

/// The failure a command's end stands for, with both streams; `None` for success.
pub fn failure(spec: &Spec, ended: &Ended) -> Option<Failure> {
    let mut output = ended.stdout.clone();
    output.extend_from_slice(&ended.stderr);
    Failure::of_command(&spec.display(), ended.exit, &output)
}

/// Standard output as text.
pub fn stdout(ended: &Ended) -> String {
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

/// Refuses names that a tool could take for an option or that break its file formats.
pub fn check_name(what: &str, name: &str) -> Result<(), Failure> {
    let reason = if name.is_empty() {
        "is empty"
    } else if name.starts_with('-') {
        "starts with '-'"
    } else if name.contains(|c: char| c.is_control()) {
        "contains a control character"
    } else {
        return Ok(());
    };
    Err(Failure::new(format!("{what} name '{}' {reason}", name.escape_debug())))
}

/// Refuses a value that would break out of its field in a file with separators.
pub fn check_field(what: &str, value: &str, separators: &[char]) -> Result<(), Failure> {
    let bad = value.chars().find(|c| separators.contains(c) || c.is_control());
    match bad {
        None => Ok(()),
        Some(bad) => Err(Failure::new(format!(
            "{what} '{}' must not contain '{}'",
            value.escape_debug(),
            bad.escape_debug()
        ))),
    }
}

/// Checks the names of a host that stand beside each other in a line.
pub fn check_hosts(
    name: &str,
    others: Option<&[String]>,
    separators: &[char],
) -> Result<(), Failure> {
    for name in std::iter::once(name).chain(others.into_iter().flatten().map(String::as_str)) {
        check_name("host", name)?;
        check_field("host name", name, separators)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::{MemoryHost, Reply};

    #[test]
    fn a_failing_tool_tells_its_code_and_output() {
        let host = MemoryHost::new();
        host.on(["tool", "--now"], Reply::exit(7).stderr("no such thing\n"));
        let failure = succeed(&host, &tool(["tool", "--now"])).unwrap_err();
        assert_eq!(failure.to_string(), "'tool --now' returned 7");
        assert_eq!(failure.output(), Some("no such thing"));
        assert_eq!(ask(&host, &tool(["tool", "--now"])).unwrap().exit, Exit::Code(7));
        assert_eq!(host.calls()[0].env[0], ("LC_ALL".into(), Some("C".into())));
    }

    #[test]
    fn names_that_could_be_options_or_lines_are_refused() {
        for name in ["", "-rf", "a\nb", "a\0"] {
            assert!(check_name("package", name).is_err(), "{name:?}");
        }
        check_name("package", "libstdc++6:i386").unwrap();
        check_name("package", "a;$(reboot)").unwrap();
        assert!(check_field("home", "/home:x", &[':']).is_err());
    }
}
