//! Templates of CFEngine's own kind: lines as insertions, guards and blocks by tags.

use std::cell::Cell;
use std::rc::Rc;

use fx_cfengine::policy::{Attribute, Bundle, Head, Promise, Rval, Section};
use fx_cfengine::text::{Str, canonify};

use crate::agent::Agent;

/// A template as an edit_line bundle; an error says what is wrong and where.
pub(crate) fn to_bundle(ctx: &Agent<'_>, template: &str, file: &str) -> Result<Bundle, String> {
    let name: Str = format!("temp_cf_bundle_{}", canonify(file)).into();
    let head = Rc::new(Head {
        kind: "edit_line".into(),
        namespace: "default".into(),
        scope: Rc::clone(&name),
        name,
        args: Vec::new(),
        file: file.into(),
        line: 0,
        span: None,
    });
    let mut promises: Vec<Rc<Promise>> = Vec::new();
    // Guards are looked at here, where the caller's own classes are seen.
    let mut add = |text: &str, line: u32| {
        promises.push(Rc::new(Promise {
            bundle: Rc::clone(&head),
            kind: "insert_lines".into(),
            promiser: text.into(),
            promisee: Rval::None,
            guard: "any".into(),
            attributes: vec![Attribute {
                foreign: false,
                name: "insert_type".into(),
                value: Rval::scalar("preserve_all_lines"),
                guard: None,
                bare: false,
                line,
            }],
            line,
            span: None,
            settled: Cell::new(false),
            tells_rxdirs: Cell::new(false),
            resolved: Cell::default(),
        }));
    };
    let mut guard = String::from("any");
    let mut outer: Option<String> = None;
    let mut block: Vec<&str> = Vec::new();
    for (index, line) in template.lines().enumerate() {
        let number = index as u32 + 1;
        let Some(rest) = line.strip_prefix("[%CFEngine") else {
            if ctx.defined(guard.trim_end_matches("::")) {
                if outer.is_some() {
                    block.push(line);
                } else {
                    add(line, number);
                }
            }
            continue;
        };
        let mut words = rest.split_whitespace();
        let operator = words.next().unwrap_or_default();
        if !words.next().is_some_and(|word| word.starts_with("%]")) {
            return Err(format!(
                "Template file '{file}' syntax error, missing close \"%]\" at line {number}"
            ));
        }
        match operator {
            "BEGIN" => {
                if outer.is_some() {
                    return Err(format!(
                        "Template file '{file}' contains nested blocks which are not allowed, near line {number}"
                    ));
                }
                outer = Some(guard.clone());
            }
            "END" => {
                if let Some(saved) = outer.take() {
                    if !block.is_empty() {
                        add(&block.join("\n"), number);
                    }
                    guard = saved;
                }
                block.clear();
            }
            word if word.ends_with("::") => guard = word.to_owned(),
            _ => {}
        }
    }
    let sections = vec![Section { kind: "insert_lines".into(), built_in: true, line: 0, promises }];
    Ok(Bundle { head, sections, top_down: None })
}
