//! YAML natives: the events of a text, from the parser crate. Scalars are resolved in Ruby.

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::Vm;

pub(crate) fn init(vm: &mut Vm) {
    let m = vm.define_module(c::OBJECT, "Psych");
    vm.def_single(
        m,
        "__events",
        |vm, a| {
            let t = vm.arg(a, 0);
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
                    let m = vm.define_module(c::OBJECT, "Psych");
                    let base = vm.define_class(m, "Exception", c::STANDARD_ERROR);
                    let class = vm.define_class(m, "SyntaxError", base);
                    let at = *error.marker();
                    return vm.fail(
                        class,
                        format!(
                            "(<unknown>): {} at line {} column {}",
                            error.info(),
                            at.line(),
                            at.col() + 1
                        ),
                    );
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
        1,
        1,
    );
}
