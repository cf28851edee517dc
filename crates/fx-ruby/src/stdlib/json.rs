//! JSON natives: reading text into values and writing values as text.

use crate::vm::Vm;

pub(crate) fn init(vm: &mut Vm) { let _ = vm; }
