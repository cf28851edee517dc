//! Exceptions: making them, throwing them, and where they came from.

use fx_ruby_syntax::Sym;
use fx_ruby_syntax::ast::CodeKind;

use crate::core::trace;
use crate::heap::{ExcData, Ext};
use crate::names as n;
use crate::object::{Body, c};
use crate::value::{NIL, Tag, Value};
use crate::vm::{NO_METHOD, Pending, R, Res, Unwind, Vm};

impl Vm {
    /// Raises an exception of a core class with a message.
    #[cold]
    pub fn fail<T>(&mut self, class: u32, message: impl Into<Vec<u8>>) -> Res<T> {
        let e = self.make_error(class, message)?;
        self.throw(e)
    }

    pub fn make_error(&mut self, class: u32, message: impl Into<Vec<u8>>) -> R {
        let message = self.str(message);
        let data = ExcData { message: Some(message), ..ExcData::default() };
        Ok(self.heap.object(class, Ext::Exception(Box::new(data))))
    }

    pub fn name_error(&mut self, class: u32, message: &str, name: Sym, recv: Value) -> R {
        let e = self.make_error(class, message)?;
        self.ivar_set(e, n::IV_NAME, Value::sym(name));
        self.ivar_set(e, n::IV_RECEIVER, recv);
        Ok(e)
    }

    pub fn arg_error<T>(&mut self, message: impl Into<Vec<u8>>) -> Res<T> {
        self.fail(c::ARGUMENT_ERROR, message)
    }

    pub fn type_error<T>(&mut self, message: impl Into<Vec<u8>>) -> Res<T> {
        self.fail(c::TYPE_ERROR, message)
    }

    /// Sends an exception object on its way up.
    #[cold]
    pub fn throw<T>(&mut self, exception: Value) -> Res<T> {
        let errinfo = self.errinfo;
        let frames = self.capture();
        self.heap.bytes += frames.len() * 12;
        if let Ext::Exception(data) = &mut self.heap.obj_mut(exception).ext {
            if !data.captured {
                data.frames = frames;
                data.captured = true;
            }
            if data.cause.is_none() {
                data.cause = Some(if errinfo == exception { NIL } else { errinfo });
            }
        }
        if self.tracing & trace::RAISE != 0 {
            self.trace(trace::RAISE, None, exception)?;
        }
        self.pending.set(Pending::Raise(exception));
        Err(Unwind)
    }

    /// The frames that lead here, innermost first.
    pub fn capture(&mut self) -> Vec<(u32, u32, Sym)> {
        let mut out: Vec<(u32, u32, Sym)> = Vec::new();
        let first = self.frames.len().saturating_sub(1000);
        for i in (first..self.frames.len()).rev() {
            let f = self.frames[i];
            let label = match f.code.kind {
                CodeKind::Program | CodeKind::Eval | CodeKind::Method | CodeKind::Class => {
                    self.frame_label(f)
                }
                CodeKind::Block | CodeKind::Lambda => {
                    let label = self.frame_label(f);
                    let name = self.sym_str(label);
                    if name.starts_with("block ") {
                        f.name
                    } else {
                        let text = format!("{}{name}", within(f.code.level));
                        self.intern(&text)
                    }
                }
            };
            out.push((f.code.file, f.pos, label));
        }
        out
    }

    /// What a frame is called where places are reported, without its class.
    pub fn frame_name(&self, frame: crate::vm::Frame) -> String {
        let name = self.sym_str(frame.name);
        let block = matches!(frame.code.kind, CodeKind::Block | CodeKind::Lambda);
        if !block || name.starts_with("block ") {
            return name.into_owned();
        }
        format!("{}{name}", within(frame.code.level))
    }

    pub fn format_frames(&mut self, frames: &[(u32, u32, Sym)]) -> Value {
        let mut lines = Vec::new();
        for (file, pos, label) in frames {
            if self.is_internal(*file) {
                continue;
            }
            let path = self.path_of(*file);
            let text =
                format!("{path}:{}:in {}", self.line_of(*file, *pos), self.quoted_sym(*label));
            lines.push(self.str(text));
        }
        self.arr(lines)
    }

    pub fn backtrace(&mut self, exception: Value) -> Value {
        let Some(Ext::Exception(data)) = self.heap.ext(exception) else { return NIL };
        if let Some(set) = data.backtrace {
            return set;
        }
        if !data.captured {
            return NIL;
        }
        let frames = data.frames.clone();
        let list = self.format_frames(&frames);
        if let Ext::Exception(data) = &mut self.heap.obj_mut(exception).ext {
            data.backtrace = Some(list);
        }
        list
    }

    pub fn is_exception(&self, v: Value) -> bool {
        matches!(self.heap.ext(v), Some(Ext::Exception(_)))
    }

    pub fn exc_mut(&mut self, v: Value) -> Option<&mut ExcData> {
        if !v.is_obj() {
            return None;
        }
        match &mut self.heap.obj_mut(v).ext {
            Ext::Exception(data) => Some(data),
            _ => None,
        }
    }

    /// The exception being raised, taken off its way.
    pub fn take_raise(&mut self) -> Option<Value> {
        match self.pending.get() {
            Pending::Raise(e) => {
                self.pending.set(Pending::None);
                Some(e)
            }
            _ => None,
        }
    }

    #[cold]
    pub fn time_up(&mut self) -> Res<()> {
        self.deadline = None;
        let class = self.timeout_class();
        self.fail(class, "execution expired")
    }

    fn timeout_class(&mut self) -> u32 {
        let timeout = self.intern("Timeout");
        let error = self.intern("Error");
        if let Some(m) =
            self.classes[c::OBJECT as usize].consts.get(&timeout).and_then(|k| k.value.as_class())
            && let Some(e) =
                self.classes[m as usize].consts.get(&error).and_then(|k| k.value.as_class())
        {
            return e;
        }
        let module = self.define_module(c::OBJECT, "Timeout");
        let class = self.define_class(module, "ExitException", c::EXCEPTION);
        let _ = class;
        self.define_class(module, "Error", c::RUNTIME_ERROR)
    }

    #[cold]
    pub fn too_deep<T>(&mut self) -> Res<T> {
        self.fail(c::SYSTEM_STACK, "stack level too deep")
    }

    #[cold]
    pub fn wrong_args<T>(&mut self, given: usize, min: usize, max: Option<usize>) -> Res<T> {
        let expected = match max {
            Some(max) if max == min => format!("{min}"),
            Some(max) => format!("{min}..{max}"),
            None => format!("{min}+"),
        };
        self.arg_error(format!("wrong number of arguments (given {given}, expected {expected})"))
    }

    /// `undefined method …` and `undefined local variable or method …`.
    #[cold]
    pub fn undefined_method<T>(
        &mut self,
        recv: Value,
        name: Sym,
        args: &[Value],
        vcall: bool,
        private: Option<&str>,
    ) -> Res<T> {
        let quoted = self.quoted_sym(name);
        let what = self.describe(recv)?;
        let message = match private {
            Some(kind) => format!("{kind} method {quoted} called for {what}"),
            None if vcall => {
                format!("undefined local variable or method {quoted} for {what}")
            }
            None if name == n::SUPER => format!("super: no superclass method for {what}"),
            None => format!("undefined method {quoted} for {what}"),
        };
        let class = if vcall && private.is_none() { c::NAME_ERROR } else { c::NO_METHOD };
        let e = self.name_error(class, &message, name, recv)?;
        let list = self.arr(args.to_vec());
        self.ivar_set(e, n::IV_ARGS, list);
        self.throw(e)
    }

    /// An object as NoMethodError names it when it shows its contents.
    pub(crate) fn describe_by_inspect(&mut self, recv: Value) -> Res<String> {
        Ok(match recv.tag() {
            Tag::Nil => "nil:NilClass".into(),
            Tag::True => "true:TrueClass".into(),
            Tag::False => "false:FalseClass".into(),
            Tag::Class => {
                let id = recv.index() as u32;
                let kind = if self.classes[id as usize].is_module() { "Module" } else { "Class" };
                let name = self.class_name(id);
                if name.starts_with('#') { name } else { format!("{name}:{kind}") }
            }
            _ if recv == self.main => "main:Object".into(),
            _ => {
                let class = self.real_class(recv);
                let class = self.class_name(class);
                let text = if self.has_method(recv, n::INSPECT) {
                    self.forgetting(|vm| vm.inspect_string(recv))?.unwrap_or_default()
                } else {
                    String::new()
                };
                // Ruby 3.1 has no such end; a line of the log is no place for all facts.
                if text.is_empty() || text.len() > 65 {
                    format!("#<{class}:0x{:016x}>", self.object_id(recv) * 8)
                } else if text.starts_with('#') {
                    text
                } else {
                    format!("{text}:{class}")
                }
            }
        })
    }

    pub fn method_body(&self, id: u32) -> Option<Body> {
        if id == NO_METHOD { None } else { Some(self.methods[id as usize].body) }
    }
}

/// How a block is called where places are reported, by how deep it is.
fn within(level: u32) -> String {
    if level > 1 { format!("block ({level} levels) in ") } else { "block in ".to_owned() }
}
