//! The ruby persona.

use crate::persona::Invocation;

pub(crate) fn main(invocation: &Invocation) -> u8 {
    let _ = (invocation.name, &invocation.args);
    64
}
