//! Command lines of policy as programs to start, in the environment that the agent gives them.

use std::time::Duration;

use fx_host::{Ended, Exit, HostError, Spec};

use crate::eval::Context;
use crate::reason::bare_reason;
use crate::text::{os, path};

/// A command line as a program to start: through a shell, or split at blanks and quotes.
pub fn spec_for(ctx: &Context<'_>, line: &str, shell: bool) -> Spec {
    let spec = if shell {
        Spec::shell(os(line))
    } else {
        Spec::argv(split_command(line).iter().map(|word| os(word)))
    };
    let mut spec = in_environment(ctx, spec);
    spec.cwd = Some(path(&ctx.cwd));
    spec
}

/// What a command that could not be started leaves: in the original it is the child that starts it,
/// and that prints why it cannot.
pub fn unstarted(line: &str, error: &HostError) -> Ended {
    let (program, why) = (command_arg0(line), bare_reason(error));
    failed_child(&format!("Couldn't run '{program}'. (execv: {why})"))
}

/// A child that prints an error and ends with status 1.
pub fn failed_child(text: &str) -> Ended {
    Ended {
        exit: Exit::Code(1),
        stdout: format!("   error: {text}\n").into_bytes(),
        stderr: Vec::new(),
        truncated: false,
        pid: 0,
        elapsed: Duration::ZERO,
    }
}

/// What the agent takes out of its own environment at start, so that no child's output is in
/// the user's language or as wide as the terminal.
pub(crate) const UNSET: [&str; 4] = ["COLUMNS", "LANG", "LANGUAGE", "LC_MESSAGES"];

/// A command in the agent's environment: without those, and with what
/// `body agent control` adds.
pub fn in_environment(ctx: &Context<'_>, mut spec: Spec) -> Spec {
    spec.env.extend(UNSET.iter().map(|name| (os(name), None)));
    if let Some(place) = &ctx.control.child_library_path {
        spec.env.push((os("LD_LIBRARY_PATH"), Some(os(place))));
    }
    let added = ctx.control.environment.iter();
    spec.env.extend(added.map(|(name, value)| (os(name), Some(os(value)))));
    spec
}

/// Splits a command line as the original does: blanks separate, quotes group.
pub fn split_command(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n']);
        let Some(first) = rest.chars().next() else { return words };
        if matches!(first, '"' | '\'' | '`') {
            match rest[1..].find(first) {
                Some(end) => {
                    words.push(rest[1..=end].to_owned());
                    rest = &rest[end + 2..];
                    continue;
                }
                None => {
                    words.push(rest[1..].to_owned());
                    return words;
                }
            }
        }
        let end = rest.find([' ', '\t', '\n']).unwrap_or(rest.len());
        words.push(rest[..end].to_owned());
        rest = &rest[end..];
    }
}

/// Whether a file can be started by us; why not is logged.
pub fn is_executable(ctx: &Context<'_>, file: &str) -> bool {
    let Ok(meta) = ctx.host().stat(&path(file)) else {
        ctx.error(&format!("Proposed executable file '{file}' doesn't exist"));
        return false;
    };
    if meta.mode & 0o2 != 0 {
        ctx.error(&format!("SECURITY ALERT: promised executable '{file}' is world writable! "));
        ctx.error("SECURITY ALERT: CFEngine will not execute this - requires human inspection");
        return false;
    }
    let user = ctx.host().euid();
    if user == 0 || user == meta.uid { meta.mode & 0o100 != 0 } else { meta.mode & 0o011 != 0 }
}

/// The first word of a command line, quotes respected.
pub fn command_arg0(command: &str) -> String {
    let trimmed = command.trim_start();
    match trimmed.chars().next() {
        Some(quote @ ('"' | '\'' | '`')) => {
            trimmed[1..].split(quote).next().unwrap_or_default().to_owned()
        }
        _ => trimmed.split([' ', '\t']).next().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_split_at_blanks_and_quotes() {
        let table = [
            ("/bin/echo a  b", vec!["/bin/echo", "a", "b"]),
            ("\"/bin/x y\" 'a b' c", vec!["/bin/x y", "a b", "c"]),
            ("", vec![]),
        ];
        for (line, expected) in table {
            assert_eq!(split_command(line), expected, "{line}");
        }
        assert_eq!(command_arg0("\"/bin/x y\" z"), "/bin/x y");
    }
}
