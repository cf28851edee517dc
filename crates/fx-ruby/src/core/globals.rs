//! Global variables: plain ones, and those with a meaning.

use fx_ruby_syntax::Sym;

use crate::names as n;
use crate::object::c;
use crate::value::{NIL, TRUE, Value};
use crate::vm::{Args, R, Res, Vm};

impl Vm {
    fn global_name(&self, name: Sym) -> Sym {
        self.galiases.get(&name).copied().unwrap_or(name)
    }

    pub(crate) fn gvar_get(&mut self, name: Sym) -> R {
        let name = self.global_name(name);
        Ok(match name {
            n::GV_ERR => self.errinfo,
            n::GV_AT => {
                if self.errinfo.is_nil() {
                    NIL
                } else {
                    let e = self.errinfo;
                    self.send(e, n::BACKTRACE, &[])?
                }
            }
            n::GV_MATCH => self.last_match,
            n::GV_LINE => self.last_line,
            n::GV_TILDE_AMP => self.back_ref(b'&')?,
            n::GV_BACKTICK => self.back_ref(b'`')?,
            n::GV_TICK => self.back_ref(b'\'')?,
            n::GV_PLUS => self.back_ref(b'+')?,
            n::GV_PID => Value::fix(i64::from(self.host.pid())),
            _ => self.global(name),
        })
    }

    pub(crate) fn gvar_defined(&mut self, name: Sym) -> bool {
        let name = self.global_name(name);
        match name {
            n::GV_TILDE_AMP | n::GV_BACKTICK | n::GV_TICK => !self.last_match.is_nil(),
            n::GV_PLUS => self.back_ref(b'+').is_ok_and(|v| !v.is_nil()),
            n::GV_ERR | n::GV_AT | n::GV_MATCH | n::GV_LINE | n::GV_PID => true,
            _ => self.globals.contains_key(&name),
        }
    }

    pub(crate) fn gvar_set(&mut self, name: Sym, v: Value) -> Res<()> {
        // A message has the name that was written, also if it is an alias.
        let text = self.sym_str(name).into_owned();
        let name = self.global_name(name);
        match name {
            n::GV_ERR
            | n::GV_PID
            | n::GV_STATUS
            | n::GV_LOAD_PATH
            | n::GV_FEATURES
            | n::GV_FILENAME
            | n::GV_A
            | n::GV_L
            | n::GV_P
            | n::GV_LT
            | n::GV_STAR => {
                let e = self.name_error(
                    c::NAME_ERROR,
                    &format!("{text} is a read-only variable"),
                    name,
                    NIL,
                )?;
                return self.throw(e);
            }
            n::GV_AT => {
                if self.errinfo.is_nil() {
                    return self.arg_error("$! not set");
                }
                let e = self.errinfo;
                self.send(e, n::SET_BACKTRACE, &[v])?;
            }
            n::GV_MATCH => {
                if !v.is_nil() && self.match_data(v).is_none() {
                    let t = self.type_name(v);
                    return self
                        .type_error(format!("wrong argument type {t} (expected MatchData)"));
                }
                self.last_match = v;
            }
            n::GV_LINE => self.last_line = v,
            n::GV_TILDE_AMP | n::GV_BACKTICK | n::GV_TICK | n::GV_PLUS => {
                let message = if self.sym_str(name) == text {
                    format!("Can't set variable {text}")
                } else {
                    format!("{text} is a read-only variable")
                };
                let e = self.name_error(c::NAME_ERROR, &message, name, NIL)?;
                return self.throw(e);
            }
            n::GV_DOT => {
                let v = self.to_int_value(v)?;
                self.globals.insert(name, v);
            }
            n::GV_STDOUT | n::GV_STDERR => {
                if !self.responds(v, n::WRITE, false)? {
                    let class = self.real_class(v);
                    let t = self.class_name(class);
                    return self.type_error(format!("{text} must have write method, {t} given"));
                }
                self.globals.insert(name, v);
            }
            n::GV_FS => {
                if !v.is_nil() && !v.is_str() && !v.is_regex() {
                    return self.type_error("value of $; must be String or Regexp");
                }
                self.globals.insert(name, v);
            }
            n::GV_RS | n::GV_OFS | n::GV_ORS => {
                if !v.is_nil() && !v.is_str() {
                    return self.type_error(format!("value of {text} must be String"));
                }
                self.globals.insert(name, v);
            }
            n::GV_VERBOSE => {
                self.globals.insert(name, if v.is_nil() { v } else { Value::bool(v.truthy()) });
            }
            n::GV_0 => {
                if !v.is_str() {
                    let t = self.type_name(v);
                    return self.type_error(format!("no implicit conversion of {t} into String"));
                }
                self.freeze(v);
                self.globals.insert(name, v);
            }
            _ => {
                self.globals.insert(name, v);
            }
        }
        self.traced(name, v)
    }

    /// Calls the blocks that `trace_var` was given for a variable, the newest first.
    fn traced(&mut self, name: Sym, v: Value) -> Res<()> {
        let Some(table) = self.globals.get(&n::TRACED).copied() else { return Ok(()) };
        let Some(list) = self.hash_get(table, Value::sym(name))? else { return Ok(()) };
        for hook in self.heap.arr(list).clone() {
            self.call_name(hook, "call", &[v])?;
        }
        Ok(())
    }
}

/// What `require` would load, without loading it.
fn resolve(vm: &mut Vm, a: Args) -> R {
    let name = vm.arg(a, 0);
    let name = vm.to_path(name)?;
    let name = String::from_utf8_lossy(&name).into_owned();
    let Some(path) = vm.find_feature(&name) else { return Ok(NIL) };
    let (kind, path) = (vm.intern("rb"), vm.str(path.as_bytes()));
    Ok(vm.arr(vec![Value::sym(kind), path]))
}

pub(crate) fn init(vm: &mut Vm) {
    for (alias, name) in [
        (n::GV_COLON, n::GV_LOAD_PATH),
        (n::GV_I, n::GV_LOAD_PATH),
        (n::GV_QUOTE, n::GV_FEATURES),
        (n::GV_GT, n::GV_STDOUT),
        (n::GV_PROGRAM, n::GV_0),
        (n::GV_W, n::GV_VERBOSE),
        (n::GV_V, n::GV_VERBOSE),
        (n::GV_DASH_D, n::GV_DEBUG),
        (n::GV_DASH0, n::GV_RS),
        (n::GV_DASHF, n::GV_FS),
    ] {
        vm.galiases.insert(alias, name);
    }
    let shipped = vm.str_static(crate::interp::SHIPPED);
    let (a, b) = (vm.arr(vec![shipped]), vm.arr(vec![]));
    vm.globals.insert(n::GV_LOAD_PATH, a);
    if let Ok(class) = vm.singleton_class(a) {
        vm.define_method(class, "resolve_feature_path", resolve, 1, 1);
    }
    vm.globals.insert(n::GV_FEATURES, b);
    let rs = vm.str_static("\n");
    vm.freeze(rs);
    vm.globals.insert(n::GV_RS, rs);
    for g in [
        n::GV_FS,
        n::GV_OFS,
        n::GV_ORS,
        n::GV_STATUS,
        n::GV_A,
        n::GV_L,
        n::GV_P,
        n::GV_DASH_I,
        n::GV_LT,
    ] {
        vm.globals.insert(g, NIL);
    }
    vm.globals.insert(n::GV_VERBOSE, crate::value::FALSE);
    vm.globals.insert(n::GV_DEBUG, crate::value::FALSE);
    vm.globals.insert(n::GV_DOT, Value::fix(0));
    let _ = TRUE;
    for (name, text) in [
        ("RUBY_VERSION", "3.2.0"),
        ("RUBY_ENGINE", "ruby"),
        ("RUBY_PLATFORM", "x86_64-linux"),
        ("RUBY_RELEASE_DATE", "2022-12-25"),
        ("RUBY_COPYRIGHT", "fixpoint's own runtime"),
        ("RUBY_DESCRIPTION", "ruby 3.2.0 (fixpoint) [x86_64-linux]"),
        ("RUBY_ENGINE_VERSION", "3.2.0"),
        ("RUBY_REVISION", "0"),
    ] {
        let v = vm.str_static(text);
        vm.freeze(v);
        let s = vm.intern(name);
        vm.const_set(c::OBJECT, s, v);
    }
    let s = vm.intern("RUBY_PATCHLEVEL");
    vm.const_set(c::OBJECT, s, Value::fix(0));
}
