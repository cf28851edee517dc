//! Where the process begins. Who asks a tool for its version and for nothing else is answered
//! from what the kernel laid on the stack; all other starts go on to the C library untouched.
//!
//! Scripts and inventories ask for versions all day. Most of what such an answer cost was the
//! C library asking the processor for its features, forty times, which a virtual machine traps;
//! the answer needs none of them.

#![expect(unsafe_code, reason = "the arguments are read where the kernel put them")]

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod first;

/// What one tool says of its version.
struct Answer {
    tool: &'static str,
    flags: [&'static str; 2],
    /// With the end of the line: it is written as it stands here.
    line: &'static str,
}

const CFENGINE: &str = "CFEngine Core 3.21.0\n";
const CHEF: &str = "Chef Infra Client: 18.11.21\n";

const fn answer(tool: &'static str, flag: &'static str, line: &'static str) -> Answer {
    Answer { tool, flags: ["--version", flag], line }
}

/// The tools that answer, by the names they are called by.
static ANSWERS: [Answer; 17] = [
    answer("cf-agent", "-V", CFENGINE),
    answer("cf-promises", "-V", CFENGINE),
    answer("cf-check", "-V", CFENGINE),
    answer("cf-execd", "-V", CFENGINE),
    answer("cf-key", "-V", CFENGINE),
    answer("cf-monitord", "-V", CFENGINE),
    answer("cf-net", "-V", CFENGINE),
    answer("cf-runagent", "-V", CFENGINE),
    answer("cf-secret", "-V", CFENGINE),
    answer("cf-serverd", "-V", CFENGINE),
    answer("chef-apply", "-v", CHEF),
    answer("chef-client", "-v", CHEF),
    answer("chef-solo", "-v", CHEF),
    answer("facter", "-v", "4.3.0\n"),
    answer("fixpoint", "-V", concat!("fixpoint ", env!("CARGO_PKG_VERSION"), "\n")),
    answer("ohai", "-v", "Ohai: 18.2.21\n"),
    answer("puppet", "-V", "7.23.0\n"),
];

/// The line that a tool says of its version, without the end of the line; empty for a tool
/// that says none.
#[must_use]
pub fn version(tool: &str) -> &'static str {
    ANSWERS.iter().find(|answer| answer.tool == tool).map_or("", |answer| answer.line.trim_end())
}
