//! The line that each tool prints of its version.

const CFENGINE: &str = "CFEngine Core 3.21.0";
const CHEF: &str = "Chef Infra Client: 18.11.21";
const OHAI: &str = "Ohai: 18.2.21";
const OWN: &str = concat!("fixpoint ", env!("CARGO_PKG_VERSION"));

/// What a tool answers to `--version`; empty for a name that is none.
pub(crate) fn version(tool: &str) -> &'static str {
    match tool {
        "facter" => fx_facter::VERSION,
        "fixpoint" => OWN,
        "ohai" => OHAI,
        "puppet" => fx_puppet::VERSION,
        "chef-apply" | "chef-client" | "chef-solo" | "knife" => CHEF,
        cfengine if cfengine.starts_with("cf-") => CFENGINE,
        _ => "",
    }
}
