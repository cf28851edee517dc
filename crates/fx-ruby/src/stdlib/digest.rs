//! Digest natives: md5, sha1, sha2.

use crate::vm::Vm;

pub(crate) fn init(vm: &mut Vm) { let _ = vm; }
