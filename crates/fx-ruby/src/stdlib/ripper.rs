//! Ripper's tree and tokens as Ruby arrays.

use fx_ruby_syntax::{Sexp, lex, tree};

use crate::heap::Enc;
use crate::object::c;
use crate::value::{FALSE, NIL, Value};
use crate::vm::{Args, R, Vm};

pub(super) fn init(vm: &mut Vm) {
    let ripper = vm.define_class(c::OBJECT, "Ripper", c::OBJECT);
    vm.define_singleton(ripper, "__tree", ripper_tree, 1, 1);
    vm.define_singleton(ripper, "__lex", ripper_lex, 1, 1);
}

/// The tree of a text, or nil where the text is no program.
fn ripper_tree(vm: &mut Vm, a: Args) -> R {
    let text = vm.arg(a, 0);
    let enc = vm.heap.str(text).enc;
    let bytes = vm.bytes(text).to_vec();
    let Some(found) = tree(&bytes) else { return Ok(NIL) };
    Ok(value(vm, found, enc))
}

fn value(vm: &mut Vm, part: Sexp, enc: Enc) -> Value {
    match part {
        Sexp::Nil => NIL,
        Sexp::False => FALSE,
        Sexp::Sym(name) => Value::sym(vm.intern(name)),
        Sexp::Operator(name) => Value::sym(vm.intern(&String::from_utf8_lossy(&name))),
        Sexp::Text(text) => vm.str_enc(text, enc),
        Sexp::Int(number) => Value::fix(i64::from(number)),
        Sexp::List(parts) => {
            let items = parts.into_iter().map(|part| value(vm, part, enc)).collect();
            vm.arr(items)
        }
    }
}

/// Tokens: place, event, text and the number of the lexer's state.
fn ripper_lex(vm: &mut Vm, a: Args) -> R {
    let text = vm.arg(a, 0);
    let enc = vm.heap.str(text).enc;
    let bytes = vm.bytes(text).to_vec();
    let mut all = Vec::new();
    for token in lex(&bytes) {
        let place =
            vm.arr(vec![Value::fix(i64::from(token.line)), Value::fix(i64::from(token.column))]);
        let event = Value::sym(vm.intern(&format!("on_{}", token.event)));
        let text = vm.str_enc(bytes[token.start as usize..token.end as usize].to_vec(), enc);
        let state = Value::fix(i64::from(token.state));
        let token = vm.arr(vec![place, event, text, state]);
        all.push(token);
    }
    Ok(vm.arr(all))
}
