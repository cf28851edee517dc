//! YAML natives: the parts of a text, what a scalar is, and the emitter. Objects are made and
//! taken apart in Ruby.

use fx_formats::yaml::emit::{Emitter, Head, Node, Scalar, Style};
use fx_formats::yaml::read::{self, Item, Problem};
use fx_formats::yaml::scalar::{self, Plain};

use crate::bignum::Big;
use crate::natives::{Native, on_class};
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{Args, R, Vm};

/// Nodes as Ruby's side makes them: `[kind, content, anchor, tag, plain, quoted, style]`.
fn node(vm: &Vm, row: Value) -> Node<'static> {
    let row: &[Value] = if row.is_arr() { vm.heap.arr(row) } else { &[] };
    let text = |at: usize| row.get(at).filter(|v| v.is_str()).map(|v| vm.text(*v));
    let number = |at: usize| row.get(at).and_then(|v| v.fixnum()).unwrap_or(0);
    let inner = || row.get(1).filter(|v| v.is_arr()).map_or(&[][..], |v| vm.heap.arr(*v));
    let head = Head { anchor: text(2).map(Into::into), tag: text(3).map(Into::into) };
    match number(0) {
        1 => Node::List(head, inner().iter().map(|v| node(vm, *v)).collect()),
        2 => {
            let pairs = inner().chunks_exact(2);
            Node::Map(head, pairs.map(|p| (node(vm, p[0]), node(vm, p[1]))).collect())
        }
        3 => Node::Alias(text(1).unwrap_or_default().into()),
        _ => {
            let style = match number(6) {
                1 => Style::Single,
                2 => Style::Double,
                3 => Style::Literal,
                4 => Style::Folded,
                _ => Style::Plain,
            };
            let flag = |at: usize| row.get(at).is_some_and(|v| v.truthy());
            let text = text(1).unwrap_or_default().into();
            Node::Scalar(head, Scalar { text, style, plain: flag(4), quoted: flag(5) })
        }
    }
}

fn emit(vm: &mut Vm, a: Args) -> R {
    let (documents, step, width) = (vm.arg(a, 0), vm.arg(a, 1), vm.arg(a, 2));
    let (step, width) = (vm.to_int(step)?, vm.to_int(width)?);
    let mut emitter = Emitter::new(step, width);
    let documents = if documents.is_arr() { vm.heap.arr(documents).clone() } else { Vec::new() };
    for document in documents {
        let root = node(vm, document);
        emitter.document(&root);
    }
    let text = emitter.finish();
    Ok(vm.str(text))
}

fn syntax_error(vm: &mut Vm, file: Value, found: &Problem) -> R {
    let m = vm.define_module(c::OBJECT, "Psych");
    let base = vm.define_class(m, "Exception", c::STANDARD_ERROR);
    let class = vm.define_class(m, "SyntaxError", base);
    let shown = if file.is_str() { vm.text(file) } else { "<unknown>".into() };
    let (line, column) = (found.line, found.column);
    let message = format!("({shown}): {found} at line {line} column {column}");
    let e = vm.make_error(class, message)?;
    let problem = vm.str(found.what.as_str());
    let context = match &found.context {
        Some(context) => vm.str(format!("while {context}")),
        None => NIL,
    };
    let (line, column) = (Value::fix(line as i64), Value::fix(column as i64));
    for (name, v) in [
        ("@file", file),
        ("@line", line),
        ("@column", column),
        ("@problem", problem),
        ("@context", context),
    ] {
        let name = vm.intern(name);
        vm.ivar_set(e, name, v);
    }
    vm.throw(e)
}

/// The parts of a text as rows: what it is, then its content, anchor and tag.
fn events(vm: &mut Vm, a: Args) -> R {
    let (text, file) = (vm.arg(a, 0), vm.arg(a, 1));
    let items = match read::items(&vm.text(text)) {
        Ok(items) => items,
        Err(problem) => return syntax_error(vm, file, &problem),
    };
    let rows = items.into_iter().map(|item| {
        let anchor = |number: usize| Value::fix(number as i64);
        let row = match item {
            Item::Document => vec![vm.str_static("doc")],
            Item::EndDocument => vec![vm.str_static("end_doc")],
            Item::Alias(number) => vec![vm.str_static("alias"), anchor(number)],
            Item::Scalar { text, is_plain, anchor: number, tag } => {
                let (kind, text) = (vm.str_static("scalar"), vm.str(text));
                vec![kind, text, Value::bool(is_plain), anchor(number), name(vm, tag)]
            }
            Item::Sequence(number, tag) => {
                vec![vm.str_static("seq"), anchor(number), name(vm, tag)]
            }
            Item::EndSequence => vec![vm.str_static("end_seq")],
            Item::Mapping(number, tag) => {
                vec![vm.str_static("map"), anchor(number), name(vm, tag)]
            }
            Item::EndMapping => vec![vm.str_static("end_map")],
        };
        vm.arr(row)
    });
    let rows = rows.collect();
    Ok(vm.arr(rows))
}

fn name(vm: &mut Vm, tag: Option<String>) -> Value {
    tag.map_or(NIL, |tag| vm.str(tag))
}

/// What a scalar without quotes is. Symbols and times come as rows: who loads may refuse them.
fn plain(vm: &mut Vm, a: Args) -> R {
    let given = vm.arg(a, 0);
    let text = vm.text(given);
    let row = |vm: &mut Vm, kind: &'static str, content: &str| {
        let row = vec![vm.str_static(kind), vm.str(content)];
        Ok(vm.arr(row))
    };
    match scalar::plain(&text) {
        Plain::Null => Ok(NIL),
        Plain::Bool(truth) => Ok(Value::bool(truth)),
        Plain::Integer(number) => {
            let (is_negative, digits) = match number.digits.strip_prefix('-') {
                Some(digits) => (true, digits),
                None => (false, number.digits.as_str()),
            };
            let number = Big::parse(digits.as_bytes(), number.base, is_negative);
            Ok(vm.heap.big(number))
        }
        Plain::Float(number) => Ok(vm.float(number)),
        Plain::Symbol(name) => row(vm, "symbol", name),
        Plain::Date => row(vm, "date", &text),
        Plain::Time => row(vm, "time", &text),
        Plain::Text => Ok(given),
    }
}

pub(crate) fn init(vm: &mut Vm) {
    let m = vm.define_module(c::OBJECT, "Psych");
    vm.natives(m, METHODS);
}

const METHODS: &[Native] = &[
    on_class("__emit", 3, 3, emit),
    on_class("__events", 2, 2, events),
    on_class("__plain", 1, 1, plain),
];
