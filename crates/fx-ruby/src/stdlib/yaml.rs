//! YAML natives: events of a document.

use crate::vm::Vm;

pub(crate) fn init(vm: &mut Vm) { let _ = vm; }
