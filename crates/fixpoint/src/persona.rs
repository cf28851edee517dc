//! Which tool we are: an exact table from name to entry point.
//!
//! Called through a link named like an original, or as `fixpoint NAME …`, the persona of
//! that name runs. Names are compared whole: nothing is guessed from suffixes.

use std::ffi::OsString;
use std::path::Path;

use crate::personas::{
    cfengine, chef, facter, knife, native, neighbours, puppet, puppetserver, ruby, stand_in,
};

/// How a persona was called.
pub(crate) struct Invocation {
    /// Name of the tool, for its messages.
    pub(crate) name: &'static str,
    /// Arguments after the name.
    pub(crate) args: Vec<OsString>,
}

type Entry = fn(&Invocation) -> u8;

/// Names that a link may have and that `fixpoint NAME` takes, with what they run.
const PERSONAS: &[(&str, Entry)] = &[
    ("cf-agent", cfengine::agent),
    ("cf-check", cfengine::check),
    ("cf-execd", cfengine::execd),
    ("cf-key", cfengine::key),
    ("cf-monitord", cfengine::monitord),
    ("cf-net", cfengine::net),
    ("cf-promises", cfengine::promises),
    ("cf-runagent", cfengine::runagent),
    ("cf-secret", cfengine::secret),
    ("cf-serverd", cfengine::serverd),
    ("chef-apply", chef::apply),
    ("chef-client", chef::client),
    ("chef-solo", chef::solo),
    ("facter", facter::main),
    ("knife", knife::main),
    ("ohai", chef::ohai),
    ("puppet", puppet::main),
];

/// Programs that we stand in for inside a copy of the machine, and nowhere else.
const STAND_INS: &[(&str, Entry)] = &[("systemctl", stand_in::systemctl)];

/// Names that only `fixpoint NAME` takes: a link named `ruby` or `puppetserver` would shadow the
/// real one, of which this is a part.
const VERBS_WITH_OWN_FLAGS: &[(&str, Entry)] =
    &[("puppetserver", puppetserver::main), ("ruby", ruby::main)];

/// The names a link may have.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    PERSONAS.iter().map(|(name, _)| *name)
}

/// Runs the persona that the arguments name; the native one when they name none.
pub(crate) fn run(argv: Vec<OsString>) -> u8 {
    let mut args = argv.into_iter();
    let program = args.next().unwrap_or_default();
    let link = Path::new(&program).file_name().unwrap_or_default().to_owned();
    let args: Vec<OsString> = args.collect();
    let by_link = PERSONAS.iter().chain(STAND_INS);
    if let Some((name, entry)) = by_link.clone().find(|(name, _)| link == *name) {
        return entry(&Invocation { name, args });
    }
    let word = args.first().cloned().unwrap_or_default();
    let known = PERSONAS.iter().chain(VERBS_WITH_OWN_FLAGS);
    if let Some((name, entry)) = known.clone().find(|(name, _)| word == *name) {
        return entry(&Invocation { name, args: args[1..].to_vec() });
    }
    let beside = |word: &OsString| neighbours::names().find(|name| *word == **name);
    if let Some(name) = beside(&link).or_else(|| beside(&word)) {
        return neighbours::main(&Invocation { name, args });
    }
    native::main(&Invocation { name: "fixpoint", args })
}

#[cfg(test)]
mod tests {
    use super::PERSONAS;

    #[test]
    fn every_tool_tells_the_version_that_its_policy_sees() {
        for (name, _) in PERSONAS {
            let number = match *name {
                "facter" => fx_facter::VERSION,
                "puppet" => fx_puppet::VERSION,
                "ohai" => "18.2.21",
                chef if chef.starts_with("chef-") || chef == "knife" => fx_chef::VERSION,
                _ => "3.21.0",
            };
            let told = crate::version::version(name);
            assert_eq!(told.rsplit(' ').next(), Some(number), "{name}");
        }
    }
}
