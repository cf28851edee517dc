//! ENV: a copy of the environment that the program may change; children inherit it.

use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::Vm;

/// Variables in order, read from the host when first asked for.
#[derive(Default)]
pub struct EnvTable {
    pub vars: Option<Vec<(Vec<u8>, Vec<u8>)>>,
}

impl Vm {
    pub(crate) fn env_vars(&mut self) -> &mut Vec<(Vec<u8>, Vec<u8>)> {
        use std::os::unix::ffi::OsStringExt;
        if self.env.vars.is_none() {
            self.env.vars = Some(
                self.host.vars().into_iter().map(|(k, v)| (k.into_vec(), v.into_vec())).collect(),
            )
        }
        self.env.vars.get_or_insert_with(Vec::new)
    }
    pub(crate) fn env_get(&mut self, name: &[u8]) -> Option<Vec<u8>> {
        self.env_read(name);
        self.env_vars().iter().find(|(k, _)| k == name).map(|(_, v)| v.clone())
    }
}

pub(crate) fn init(vm: &mut Vm) {
    let o = vm.new_obj(c::OBJECT, crate::heap::Ext::None);
    let s = vm.intern("ENV");
    vm.const_set(c::OBJECT, s, o);
    let Ok(k) = vm.singleton_class(o) else { return };
    vm.include_module(k, c::ENUMERABLE);
    vm.def(
        k,
        "__get",
        |vm, a| {
            let n = vm.arg(a, 0);
            let n = vm.bytes(n).to_vec();
            Ok(match vm.env_get(&n) {
                Some(v) => {
                    let s = vm.str(v);
                    vm.freeze(s);
                    s
                }
                None => NIL,
            })
        },
        1,
        1,
    );
    vm.def(
        k,
        "__put",
        |vm, a| {
            let (n, v) = (vm.arg(a, 0), vm.arg(a, 1));
            let n = vm.bytes(n).to_vec();
            if v.is_nil() {
                vm.env_vars().retain(|(k, _)| *k != n);
                return Ok(v);
            }
            let b = vm.bytes(v).to_vec();
            let t = vm.env_vars();
            match t.iter_mut().find(|(k, _)| *k == n) {
                Some(p) => p.1 = b,
                None => t.push((n, b)),
            }
            Ok(v)
        },
        2,
        2,
    );
    vm.def(
        k,
        "__pairs",
        |vm, _| {
            let t = vm.env_vars().clone();
            let mut l = Vec::new();
            for (n, v) in t {
                let (x, y) = (vm.str(n), vm.str(v));
                vm.freeze(x);
                vm.freeze(y);
                l.push(vm.arr(vec![x, y]))
            }
            Ok(vm.arr(l))
        },
        0,
        0,
    );
    let mut lazy = vm.lazy.clone();
    lazy.push((k, "env.rb", ""));
    vm.lazy = lazy;
    let _ = Value::fix(0);
}
