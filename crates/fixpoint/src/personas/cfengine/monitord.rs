//! cf-monitord: not here yet.

use crate::persona::Invocation;

use super::tools;

pub(crate) fn monitord(invocation: &Invocation) -> u8 {
    match tools::read(invocation) {
        Ok(call) => {
            call.log.error("cf-monitord is not supported");
            1
        }
        Err(code) => code,
    }
}
