//! Templates: EPP here, ERB through Ruby.

use std::rc::Rc;

use fx_puppet_syntax::{ExprKind, Program, Strictness};

use super::{Call, Native, native};
use crate::eval::{Evaluated, Flow, FrameKind, interpolated, mismatch_text};
use crate::ruby::joined;
use crate::types::is_instance;
use crate::value::Value;

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
    render(call, &program)
}

fn epp(call: &Call<'_>) -> Evaluated {
    let name = call.text(0);
    let name =
        if name.strip_suffix(".epp").is_some() { name.to_owned() } else { format!("{name}.epp") };
    let Some(path) = call.evaluator.module_file(&name, "templates") else {
        return Err(Flow::raw(format!("Could not find template '{name}'")));
    };
    let read = &call.evaluator.machine.read.templates;
    let known = read.borrow().get(&path).cloned();
    if let Some(program) = known {
        return render(call, &program);
    }
    let bytes =
        call.evaluator.run.host.read(&path).map_err(|error| Flow::raw(error.to_string()))?;
    let file = call.evaluator.sources.add(&path.to_string_lossy(), bytes.clone());
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
    render(call, &program)
}

fn render(call: &Call<'_>, program: &Program) -> Evaluated {
    match &program.body.kind {
        ExprKind::Block(statements) if statements.len() == 1 => render_body(call, &statements[0]),
        _ => render_body(call, &program.body),
    }
}

fn render_body(call: &Call<'_>, body: &fx_puppet_syntax::Expr) -> Evaluated {
    let given = match call.arg(1) {
        Value::Hash(given) => Rc::clone(given),
        _ => Rc::default(),
    };
    // A template sees secrets; what it makes of them is one.
    if given.values().any(|value| matches!(value, Value::Sensitive(_))) {
        let open = given
            .iter()
            .map(|(name, value)| match value {
                Value::Sensitive(inner) => (name.clone(), Value::clone(inner)),
                other => (name.clone(), other.clone()),
            })
            .collect();
        let text = render_with(call, body, &Rc::new(open))?;
        return Ok(Value::Sensitive(Rc::new(text)));
    }
    render_with(call, body, &given)
}

fn render_with(
    call: &Call<'_>,
    body: &fx_puppet_syntax::Expr,
    given: &Rc<crate::value::Hash>,
) -> Evaluated {
    let evaluator = call.evaluator;
    // A template sees the scope it is called from, unless it names its parameters.
    let (params, params_given, code) = match &body.kind {
        ExprKind::Epp { params, params_given, body } => {
            (Rc::clone(params), *params_given, Rc::clone(body))
        }
        _ => (Rc::from([]), false, Rc::new(body.clone())),
    };
    let frame = if params_given && call.args.len() > 1 {
        evaluator.top.inner(FrameKind::Template)
    } else {
        call.scope.frame.inner(FrameKind::Template)
    };
    let scope = call.scope.over(frame);
    if params_given {
        for name in given.keys().filter_map(Value::as_str) {
            if !params.iter().any(|param| *param.name == *name) {
                return Err(Flow::raw(format!("lambda: has no parameter named '{name}'")));
            }
        }
        for param in &*params {
            let value = match given.get(&Value::String(Rc::clone(&param.name))) {
                Some(value) => value.clone(),
                None => match &param.default {
                    Some(default) => evaluator.eval(default, &scope)?,
                    None => {
                        return Err(Flow::raw(format!(
                            "lambda: expects a value for parameter '{}'",
                            param.name
                        )));
                    }
                },
            };
            if let Some(ty) = &param.ty {
                let ty = evaluator.type_of(ty, &scope)?;
                if !is_instance(&ty, &value) {
                    return Err(Flow::raw(mismatch_text(
                        &format!("lambda: parameter '{}'", param.name),
                        &ty,
                        &value,
                    )));
                }
            }
            scope.frame.set(&param.name, value);
        }
    } else {
        for (name, value) in &**given {
            scope.frame.set(&name.as_str().unwrap_or_default().into(), value.clone());
        }
    }
    match evaluator.eval(&code, &scope) {
        Ok(_) | Err(Flow::Return(..)) => Ok(Value::from(scope.rendered())),
        Err(flow) => Err(flow),
    }
}
