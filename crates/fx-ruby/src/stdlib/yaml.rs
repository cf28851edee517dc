//! YAML natives: the events of a text, from the parser crate. Scalars are resolved in Ruby.

use fx_formats::yaml::emit::{Emitter, Head, Node, Scalar, Style};
use saphyr_parser::{Event, Parser, ScalarStyle};

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

/// What the parser says in libyaml's words: the problem, and what was being read.
fn worded(info: &str) -> (String, Option<&str>) {
    if info.starts_with("unexpected character") {
        let problem = "found character that cannot start any token";
        return (problem.into(), Some("scanning for the next token"));
    }
    match info.strip_prefix("while ").and_then(|rest| rest.split_once(", ")) {
        Some((context, problem)) if problem.starts_with("expected") => {
            (format!("did not find {problem}"), Some(context))
        }
        Some((context, problem)) => (problem.to_owned(), Some(context)),
        None => (info.to_owned(), None),
    }
}

/// Line and column of the last bracket that is not closed.
fn open_bracket(text: &str) -> Option<(usize, usize)> {
    let mut open = Vec::new();
    for (line, content) in text.lines().enumerate() {
        for (column, c) in content.chars().enumerate() {
            match c {
                '[' | '{' => open.push((line + 1, column + 1)),
                ']' | '}' => drop(open.pop()),
                _ => {}
            }
        }
    }
    open.pop()
}

fn syntax_error(
    vm: &mut Vm,
    file: Value,
    problem: &str,
    context: Option<&str>,
    (line, column): (usize, usize),
) -> R {
    let m = vm.define_module(c::OBJECT, "Psych");
    let base = vm.define_class(m, "Exception", c::STANDARD_ERROR);
    let class = vm.define_class(m, "SyntaxError", base);
    let shown = if file.is_str() { vm.text(file) } else { "<unknown>".into() };
    let whole = match context {
        Some(context) => format!("{problem} while {context}"),
        None => problem.to_owned(),
    };
    let message = format!("({shown}): {whole} at line {line} column {column}");
    let e = vm.make_error(class, message)?;
    let problem = vm.str(problem);
    let context = match context {
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

pub(crate) fn init(vm: &mut Vm) {
    let m = vm.define_module(c::OBJECT, "Psych");
    vm.def_single(m, "__emit", emit, 3, 3);
    vm.def_single(
        m,
        "__events",
        |vm, a| {
            let (t, file) = (vm.arg(a, 0), vm.arg(a, 1));
            let text = vm.text(t);
            let further;
            let mut parsed: Result<Vec<_>, _> = Parser::new_from_str(&text).collect();
            if parsed.is_err()
                && let Some(found) = crate::flow_further_in(&text)
            {
                further = found;
                let again: Result<Vec<_>, _> = Parser::new_from_str(&further).collect();
                parsed = again.or(parsed);
            }
            let events = match parsed {
                Ok(events) => events,
                Err(error) => {
                    let (problem, context) = worded(error.info());
                    let at = *error.marker();
                    let context = match context {
                        Some("parsing a node") if open_bracket(&text).is_some() => {
                            Some("parsing a flow node")
                        }
                        Some("parsing a node") => Some("parsing a block node"),
                        other => other,
                    };
                    let place = match context {
                        Some("parsing a flow sequence" | "parsing a flow mapping") => {
                            open_bracket(&text).unwrap_or((at.line(), at.col() + 1))
                        }
                        _ => (at.line(), at.col() + 1),
                    };
                    return syntax_error(vm, file, &problem, context, place);
                }
            };
            let mut out = Vec::new();
            for (event, _) in events {
                let row: Vec<Value> = match event {
                    Event::DocumentStart(..) => vec![vm.str_static("doc")],
                    Event::DocumentEnd => vec![vm.str_static("end_doc")],
                    Event::Alias(id) => vec![vm.str_static("alias"), Value::fix(id as i64)],
                    Event::Scalar(value, style, id, tag) => {
                        let tag = tag.map(|t| format!("{}{}", t.handle, t.suffix));
                        let (k, v) = (vm.str_static("scalar"), vm.str(value.as_bytes()));
                        let plain = Value::bool(style == ScalarStyle::Plain);
                        let tag = tag.map_or(NIL, |t| vm.str(t));
                        vec![k, v, plain, Value::fix(id as i64), tag]
                    }
                    Event::SequenceStart(id, tag) => {
                        let tag = tag.map(|t| format!("{}{}", t.handle, t.suffix));
                        let (k, tag) = (vm.str_static("seq"), tag.map_or(NIL, |t| vm.str(t)));
                        vec![k, Value::fix(id as i64), tag]
                    }
                    Event::SequenceEnd => vec![vm.str_static("end_seq")],
                    Event::MappingStart(id, tag) => {
                        let tag = tag.map(|t| format!("{}{}", t.handle, t.suffix));
                        let (k, tag) = (vm.str_static("map"), tag.map_or(NIL, |t| vm.str(t)));
                        vec![k, Value::fix(id as i64), tag]
                    }
                    Event::MappingEnd => vec![vm.str_static("end_map")],
                    _ => continue,
                };
                out.push(vm.arr(row));
            }
            Ok(vm.arr(out))
        },
        2,
        2,
    );
}
