//! Templates: EPP here, ERB through Ruby.

use std::rc::Rc;

use fx_puppet_syntax::{ExprKind, Param, Program, Strictness};

use super::{Call, Native, native};
use crate::eval::{Evaluated, Flow, Frame, FrameKind, Scope, interpolated};
use crate::ruby::joined;
use crate::types::{describe_mismatch, infer_set, is_instance};
use crate::value::{Hash, Value};

pub(super) static TABLE: &[Native] = &[
    native(
        "inline_epp",
        &[r"String template, Hash[Pattern[/^\w+$/], Any] parameters?"],
        inline_epp,
    ),
    native("epp", &[r"String path, Hash[Pattern[/^\w+$/], Any] parameters?"], epp),
    native("template", &[], |call| {
        let mut parts = Vec::new();
        for name in call.args {
            parts.push(call.evaluator.template(&interpolated(name), call.scope)?);
        }
        Ok(joined(parts))
    }),
    native("inline_template", &[], |call| {
        let mut parts = Vec::new();
        for text in call.args {
            parts.push(call.evaluator.inline_template(&interpolated(text), call.scope)?);
        }
        Ok(joined(parts))
    }),
];

fn inline_epp(call: &Call<'_>) -> Evaluated {
    let file = call.evaluator.sources.add("inlined-epp-text", call.text(0).as_bytes().to_vec());
    let (program, mut found) = fx_puppet_syntax::parse_epp(call.text(0).as_bytes(), file);
    if found.is_empty() {
        found = fx_puppet_syntax::validate(&program, Strictness::Off);
    }
    if let Some(error) = found.first() {
        let place = error.primary().map(|span| call.evaluator.place_text(span)).unwrap_or_default();
        return Err(Flow::raw(format!("inline_epp(): Invalid EPP: {} {place}", error.message)));
    }
    render(call, &program, &call.scope.frame)
}

fn epp(call: &Call<'_>) -> Evaluated {
    let name = call.text(0);
    let name =
        if name.strip_suffix(".epp").is_some() { name.to_owned() } else { format!("{name}.epp") };
    let missing = || Flow::raw(format!("Could not find template '{name}'"));
    let path = call.evaluator.module_path(&name, "templates").ok_or_else(missing)?;
    let read = &call.evaluator.machine.read.templates;
    let known = read.borrow().get(&path).cloned();
    if let Some(program) = known {
        return render(call, &program, &call.evaluator.top);
    }
    let read_text = call.evaluator.run.look().read_trusted_opt(&path);
    let bytes = read_text.map_err(|error| Flow::raw(error.to_string()))?.ok_or_else(missing)?;
    let file = call.evaluator.sources.add(&path.to_string_lossy(), &*bytes);
    let (program, mut found) = fx_puppet_syntax::parse_epp(&bytes, file);
    if found.is_empty() {
        found = fx_puppet_syntax::validate(&program, Strictness::Off);
    }
    if let Some(error) = found.first() {
        let place = error.primary().map(|span| call.evaluator.place_text(span)).unwrap_or_default();
        return Err(Flow::raw(format!("{} {place}", error.message)));
    }
    let program = Rc::new(program);
    read.borrow_mut().insert(path, Rc::clone(&program));
    render(call, &program, &call.evaluator.top)
}

/// Renders a template that sees what is around it.
fn render(call: &Call<'_>, program: &Program, around: &Rc<Frame>) -> Evaluated {
    match &program.body.kind {
        ExprKind::Block(statements) if statements.len() == 1 => {
            render_body(call, &statements[0], around)
        }
        _ => render_body(call, &program.body, around),
    }
}

fn render_body(call: &Call<'_>, body: &fx_puppet_syntax::Expr, around: &Rc<Frame>) -> Evaluated {
    let evaluator = call.evaluator;
    let given = match call.arg(1) {
        Value::Hash(given) => Rc::clone(given),
        _ => Rc::default(),
    };
    let (params, params_given, code) = match &body.kind {
        ExprKind::Epp { params, params_given, body } => {
            (Rc::clone(params), *params_given, Rc::clone(body))
        }
        _ => (Rc::from([]), false, Rc::new(body.clone())),
    };
    let scope = call.scope.over(around.inner(FrameKind::Template));
    if params_given || call.args.len() < 2 {
        bind(call, &params, &given, &scope)?;
    } else {
        for (name, value) in &*given {
            scope.frame.set(&name.as_str().unwrap_or_default().into(), value.clone());
        }
    }
    match evaluator.eval(&code, &scope) {
        Ok(_) | Err(Flow::Return(..) | Flow::Next(..)) => Ok(scope.rendered()),
        Err(flow) => Err(flow),
    }
}

/// Gives a template its parameters. What is undef counts as not given.
fn bind(call: &Call<'_>, params: &[Param], given: &Hash, scope: &Rc<Scope>) -> Evaluated<()> {
    let evaluator = call.evaluator;
    let mut wrong = Vec::new();
    for (name, value) in given {
        let name = name.as_str().unwrap_or_default();
        if !matches!(value, Value::Undef) && !params.iter().any(|param| *param.name == *name) {
            wrong.push(format!("has no parameter named '{name}'"));
        }
    }
    for param in params {
        let value = match (given.get(&Value::String(Rc::clone(&param.name))), &param.default) {
            (None | Some(Value::Undef), Some(default)) => evaluator.eval(default, scope)?,
            (Some(value), _) => value.clone(),
            (None, None) => {
                wrong.push(format!("expects a value for parameter '{}'", param.name));
                continue;
            }
        };
        if let Some(ty) = &param.ty {
            let ty = evaluator.type_of(ty, scope)?;
            if !is_instance(&ty, &value) {
                let place = format!("parameter '{}'", param.name);
                wrong.extend(describe_mismatch(&place, &ty, &infer_set(&value)));
            }
        }
        scope.frame.set(&param.name, value);
    }
    match wrong.as_slice() {
        [] => Ok(()),
        [line] => Err(Flow::raw(format!("lambda: {line}"))),
        lines => Err(Flow::raw(format!(
            "lambda:{}",
            lines.iter().map(|line| format!("\n  {line}")).collect::<String>()
        ))),
    }
}
