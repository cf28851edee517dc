//! The cfengine persona.

use crate::persona::Invocation;

pub(crate) fn agent(invocation: &Invocation) -> u8 {
    let _ = (invocation.name, &invocation.args);
    64
}

pub(crate) fn promises(invocation: &Invocation) -> u8 {
    let _ = (invocation.name, &invocation.args);
    64
}
