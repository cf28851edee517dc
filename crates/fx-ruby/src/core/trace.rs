//! What `TracePoint` reports: a class or module opens or closes, an exception is raised. These are
//! rare enough that a look at a flag costs nothing; calls and lines are not, so they are refused.

use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{Args, NO_METHOD, R, Res, Vm};

pub(crate) const CLASS: u8 = 1;
pub(crate) const END: u8 = 2;
pub(crate) const RAISE: u8 = 4;

/// Sets which events are reported.
pub(crate) fn watch(vm: &mut Vm, a: Args) -> R {
    vm.tracing = vm.arg(a, 0).fixnum().and_then(|mask| u8::try_from(mask).ok()).unwrap_or(0);
    Ok(NIL)
}

impl Vm {
    /// Reports an event to the Ruby part. Until that asks again nothing is reported.
    #[cold]
    pub(crate) fn trace(&mut self, event: u8, pos: Option<u32>, value: Value) -> Res<()> {
        self.tracing = 0;
        let shown = self.frames.iter().rev().find(|frame| !self.is_internal(frame.code.file));
        let Some(frame) = shown.copied() else { return Ok(()) };
        let name = match event {
            CLASS => "class",
            END => "end",
            _ => "raise",
        };
        let name = Value::sym(self.intern(name));
        let line = self.line_of(frame.code.file, pos.unwrap_or(frame.pos));
        let path = self.path_of(frame.code.file).to_string();
        let path = self.str(path);
        let method = match frame.method {
            NO_METHOD => NIL,
            method => Value::sym(self.methods[method as usize].orig),
        };
        let class = if frame.method == NO_METHOD { NIL } else { Value::class(frame.owner) };
        let line = Value::fix(i64::from(line));
        let point = Value::sym(self.intern("TracePoint"));
        let point = self.call_name(Value::class(c::OBJECT), "const_get", &[point])?;
        self.call_name(point, "__fire", &[name, path, line, frame.self_val, method, class, value])?;
        Ok(())
    }
}
