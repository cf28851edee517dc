//! Programs that people use beside the originals and that fixpoint does not have: each gets one
//! sentence that says what to use instead.

use crate::persona::Invocation;
use crate::{exit, terminal};

/// Name, and what fixpoint has instead.
const INSTEAD: &[(&str, &str)] = &[
    ("berks", "keep cookbooks in one directory and run them with `chef-client -z`"),
    ("bolt", "run policy on each machine with `fixpoint run`"),
    ("cf-hub", "`fixpoint history` lists what this machine's runs did"),
    ("chef", "`fixpoint check DIR` checks cookbooks and `chef-client -z` runs them"),
    ("chef-shell", "`fixpoint explain` shows what a recipe does, `fixpoint ruby` runs Ruby"),
    ("cookstyle", "`fixpoint check DIR` finds mistakes in cookbooks"),
    ("inspec", "`fixpoint plan` says where the machine is not as policy wants it"),
    ("kitchen", "`fixpoint try DIR` converges a cookbook twice in a copy of this machine"),
    ("pdk", "`fixpoint check DIR` checks a module, `fixpoint test` runs its specs"),
    ("r10k", "`fixpoint deploy` puts a control repository and its modules in place"),
];

/// The names.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    INSTEAD.iter().map(|(name, _)| *name)
}

/// Says what to use instead.
pub(crate) fn main(call: &Invocation) -> u8 {
    let instead = INSTEAD.iter().find(|(name, _)| *name == call.name);
    if let Some((name, instead)) = instead {
        terminal::complain(format!("there is no '{name}' here: {instead}"));
    }
    exit::USAGE
}
