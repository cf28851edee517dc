//! The version of Augeas, as its own tools print it: they are what resources of that type use.

use fx_host::{Look, Spec};
use fx_value::Value;

use crate::{map, text_of};

const TOOL: &str = "augparse";

pub(crate) fn augeas(host: &dyn Look) -> Value {
    if host.find_program(TOOL).is_none() {
        return Value::Undef;
    }
    let mut spec = Spec::argv([TOOL, "--version"]);
    // It prints its version on standard error.
    spec.merge_stderr = true;
    let answer = host.query(&spec).map(|ended| ended.stdout).unwrap_or_default();
    match version(&String::from_utf8_lossy(&answer)) {
        Some(version) => map([("version", text_of(version))]),
        None => Value::Undef,
    }
}

// `augparse 1.14.0 …` at the beginning of a line; what follows the third number is cut off.
fn version(answer: &str) -> Option<&str> {
    answer.lines().find_map(|line| {
        let text = line.strip_prefix(TOOL)?.strip_prefix(' ')?;
        let mut parts = text.splitn(3, '.');
        let (major, minor, rest) = (parts.next()?, parts.next()?, parts.next()?);
        let is_number =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let patch = rest.bytes().take_while(u8::is_ascii_digit).count();
        let whole = major.len() + minor.len() + 2 + patch;
        (is_number(major) && is_number(minor) && patch > 0).then(|| &text[..whole])
    })
}

#[cfg(test)]
mod tests {
    use fx_host::{MemoryHost, Reply};

    use super::*;

    #[test]
    fn the_version_is_that_of_the_tools() {
        let host = MemoryHost::linux();
        assert_eq!(augeas(&host), Value::Undef);
        assert!(host.calls().is_empty(), "nothing is run where there are no tools");
        host.put_program("/usr/bin/augparse");
        host.on(
            ["augparse", "--version"],
            Reply::prints("augparse 1.14.0 <http://augeas.net/>\nCopyright (C) 2007-2016\n"),
        );
        assert_eq!(augeas(&host).to_json(), serde_json::json!({ "version": "1.14.0" }));
    }

    #[test]
    fn only_three_numbers_are_a_version() {
        let table = [
            ("augparse 1.14.0\n", Some("1.14.0")),
            ("warning\naugparse 1.2.3-rc1 x\n", Some("1.2.3")),
            ("augparse 1.14\n", None),
            ("augparse 1.x.3\n", None),
            ("augtool 1.14.0\n", None),
            ("", None),
        ];
        for (answer, expected) in table {
            assert_eq!(version(answer), expected, "{answer:?}");
        }
    }
}
