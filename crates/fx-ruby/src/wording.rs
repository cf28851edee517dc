//! How messages and `inspect` are worded: as Ruby 3.1 and 3.2 do, or as 3.4 does. What is
//! said is the same; this file knows only the spelling.

use fx_ruby_syntax::Sym;
use fx_ruby_syntax::ast::CodeKind;

use crate::value::{Tag, Value};
use crate::vm::{Frame, Res, Vm};

/// A version whose wording is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wording {
    /// `` `name' ``, `{:a=>1}`, `nil:NilClass`.
    #[default]
    Ruby31,
    /// `'name'`, `{a: 1}`, `an instance of Foo`, methods named with their class.
    Ruby34,
}

impl Vm {
    /// A name in quotes.
    pub(crate) fn quoted(&self, name: &str) -> String {
        match self.wording {
            Wording::Ruby31 => format!("`{name}'"),
            Wording::Ruby34 => format!("'{name}'"),
        }
    }

    pub(crate) fn quoted_sym(&self, name: Sym) -> String {
        self.quoted(&self.sym_str(name))
    }

    /// An object as NoMethodError names it.
    pub fn describe(&mut self, recv: Value) -> Res<String> {
        match self.wording {
            Wording::Ruby31 => self.describe_by_inspect(recv),
            Wording::Ruby34 => Ok(self.describe_by_class(recv)),
        }
    }

    fn describe_by_class(&mut self, recv: Value) -> String {
        match recv.tag() {
            Tag::Nil => "nil".into(),
            Tag::True => "true".into(),
            Tag::False => "false".into(),
            Tag::Class => {
                let id = recv.index() as u32;
                let kind = if self.classes[id as usize].is_module() { "module" } else { "class" };
                format!("{kind} {}", self.class_name(id))
            }
            _ if recv == self.main => "main".into(),
            _ => {
                let class = self.real_class(recv);
                format!("an instance of {}", self.class_name(class))
            }
        }
    }

    /// A method's name in a backtrace.
    pub(crate) fn frame_label(&mut self, frame: Frame) -> Sym {
        let home = frame.owner as usize;
        let plain = matches!(frame.code.kind, CodeKind::Eval | CodeKind::Class)
            || self.wording == Wording::Ruby31
            || frame.method == crate::vm::NO_METHOD
            || home >= self.classes.len();
        if plain {
            return frame.name;
        }
        let text = match self.classes[home].kind {
            crate::object::ClassKind::Singleton(of) if of.as_class().is_some() => {
                format!("{}.{}", self.class_name(of.index() as u32), self.sym_str(frame.name))
            }
            crate::object::ClassKind::Singleton(_) => return frame.name,
            _ => format!("{}#{}", self.class_name(frame.owner), self.sym_str(frame.name)),
        };
        self.intern(&text)
    }

    /// A key with what stands between it and its value.
    pub(crate) fn inspect_key(&mut self, key: Value) -> Res<Vec<u8>> {
        let shown = self.inspect(key)?;
        let mut out = self.bytes(shown).to_vec();
        match self.wording {
            Wording::Ruby31 => out.extend_from_slice(b"=>"),
            Wording::Ruby34 if key.is_sym() => {
                let operator =
                    out.last().is_some_and(|b| !b.is_ascii_alphanumeric() && !b"_?!\"".contains(b));
                out.remove(0);
                if operator {
                    out.insert(0, b'"');
                    out.push(b'"');
                }
                out.extend_from_slice(b": ");
            }
            Wording::Ruby34 => out.extend_from_slice(b" => "),
        }
        Ok(out)
    }
}
