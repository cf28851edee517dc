//! `Puppet::Bridge`: what Ruby code asks of the compiler. One object, one method for each
//! question.

use std::rc::{Rc, Weak};

use fx_ruby::value::{NIL, Value as Rb};
use fx_ruby::{Args, HostObject, Res, Vm};

use super::{Ruby, carry, constant};
use crate::eval::{Closure, Evaluated, Evaluator, Flow, NativeBlock, Scope, interpolated};
use crate::types::{Range, Type, is_instance};
use crate::value::{Hash, Value};

type Method = (&'static str, fn(&Rc<Ruby>, &Rc<Evaluator>, &mut Vm, &[Rb]) -> Res<Rb>);

const METHODS: &[Method] = &[
    ("log", log),
    ("part", |ruby, _, vm, args| {
        let name = vm.to_s(args[0])?;
        ruby.part(vm, &name)?;
        Ok(NIL)
    }),
    ("setting", setting),
    ("keep", keep),
    ("alone?", |_, evaluator, _, _| Ok(Rb::bool(evaluator.settings.takes_words))),
    ("lookupvar", lookupvar),
    ("undefined_variable", undefined_variable),
    ("setvar", |ruby, evaluator, vm, args| {
        let (number, name) = (args[0].fixnum().unwrap_or(0), vm.to_s(args[1])?);
        let value = ruby.language_value(vm, args[2])?;
        evaluator.scope_by(number).frame.define(&name, value);
        Ok(NIL)
    }),
    ("scope_hash", scope_hash),
    ("scope_info", scope_info),
    ("call_function", call_function),
    ("old_function", |ruby, evaluator, vm, args| {
        let name = vm.to_s(args[0])?;
        let found = ruby.lend(vm, evaluator, || evaluator.read_old_function(&name));
        answer(ruby, vm, found.map(Value::Bool))
    }),
    ("function?", |ruby, evaluator, vm, args| {
        let name = vm.to_s(args[0])?;
        let known = crate::functions::find(&name).is_some();
        let found = ruby.lend(vm, evaluator, || -> Evaluated<bool> {
            Ok(known
                || evaluator.function_named(&name)?.is_some()
                || evaluator.ruby_function(&name)?.is_some())
        });
        answer(ruby, vm, found.map(Value::Bool))
    }),
    ("modulepath", |ruby, evaluator, vm, _| {
        let paths = evaluator
            .settings
            .modulepath
            .iter()
            .map(|path| Value::from(path.to_string_lossy().into_owned()));
        ruby.to_ruby(vm, &Value::array(paths.collect()))
    }),
    ("modules", |ruby, evaluator, vm, _| {
        let modules = evaluator.modules();
        let all = modules.iter().map(|(name, dir)| {
            Value::array(vec![
                Value::from(name.as_str()),
                Value::from(dir.to_string_lossy().into_owned()),
            ])
        });
        ruby.to_ruby(vm, &Value::array(all.collect()))
    }),
    ("module_path", |ruby, evaluator, vm, args| {
        let name = vm.to_s(args[0])?;
        let dir = evaluator.module_dir(&name);
        ruby.to_ruby(
            vm,
            &dir.map_or(Value::Undef, |dir| Value::from(dir.to_string_lossy().into_owned())),
        )
    }),
    ("find_file", |ruby, evaluator, vm, args| {
        let (kind, name) = (vm.to_s(args[0])?, vm.to_s(args[1])?);
        let found = evaluator.module_file(&name, &kind);
        ruby.to_ruby(
            vm,
            &found.map_or(Value::Undef, |path| Value::from(path.to_string_lossy().into_owned())),
        )
    }),
    ("class?", |ruby, evaluator, vm, args| {
        let name = vm.to_s(args[0])?.trim_start_matches("::").to_lowercase();
        let found = ruby.lend(vm, evaluator, || evaluator.class_named(&name));
        answer(ruby, vm, found.map(|found| Value::Bool(found.is_some())))
    }),
    ("define?", |ruby, evaluator, vm, args| {
        let name = vm.to_s(args[0])?.trim_start_matches("::").to_lowercase();
        let found = ruby.lend(vm, evaluator, || evaluator.define_named(&name));
        answer(ruby, vm, found.map(|found| Value::Bool(found.is_some())))
    }),
    ("define_params", |ruby, evaluator, vm, args| {
        let name = vm.to_s(args[0])?.trim_start_matches("::").to_lowercase();
        let found = ruby.lend(vm, evaluator, || evaluator.define_named(&name));
        answer(
            ruby,
            vm,
            found.map(|found| {
                let params = found.iter().flat_map(|entry| entry.definition.params.iter());
                Value::hash(params.map(|param| {
                    (Value::String(Rc::clone(&param.name)), Value::Bool(param.default.is_some()))
                }))
            }),
        )
    }),
    ("find_resource", |ruby, evaluator, vm, args| {
        let reference = vm.to_s(args[0])?;
        let found = reference_parts(&reference)
            .and_then(|(kind, title)| evaluator.catalog.borrow().find(&kind, &title));
        let value = found.map_or(Value::Undef, |at| resource_data(evaluator, at));
        ruby.to_ruby(vm, &value)
    }),
    ("all_resources", |ruby, evaluator, vm, _| {
        let count = evaluator.catalog.borrow().resources.len();
        let all = (0..count).map(|at| resource_data(evaluator, at)).collect();
        ruby.to_ruby(vm, &Value::array(all))
    }),
    ("resource_param", |ruby, evaluator, vm, args| {
        let (reference, name) = (vm.to_s(args[0])?, vm.to_s(args[1])?);
        let found = reference_parts(&reference).and_then(|(kind, title)| {
            let catalog = evaluator.catalog.borrow();
            let at = catalog.find(&kind, &title)?;
            Some(catalog.resources[at].attributes.get(name.as_str())?.value.clone())
        });
        ruby.to_ruby(vm, &found.unwrap_or(Value::Undef))
    }),
    ("declare", declare),
    ("load_type", |_, evaluator, vm, args| {
        let name = vm.to_s(args[0])?;
        match evaluator.type_file(&name) {
            Some(path) => load(evaluator, vm, &path),
            None => Ok(NIL),
        }
    }),
    ("builtin_type", |ruby, _, vm, args| {
        let name = vm.to_s(args[0])?;
        let kind = crate::compile::built_in(&name);
        let value = kind.map_or(Value::Undef, |kind| {
            Value::array(
                kind.parameters.iter().map(|name| Value::String(Rc::clone(name))).collect(),
            )
        });
        ruby.to_ruby(vm, &value)
    }),
    ("builtin_provider", |ruby, evaluator, vm, args| {
        let name = vm.to_s(args[0])?;
        let found = crate::default_provider(evaluator.run.look(), &name);
        ruby.to_ruby(vm, &found.map_or(Value::Undef, Value::from))
    }),
    ("provider_dir?", |_, evaluator, vm, args| {
        let name = vm.to_s(args[0])?;
        let dirs = evaluator.libs().all("puppet/provider", &name);
        let host = evaluator.run.look();
        Ok(Rb::bool(dirs.iter().any(|dir| host.stat(dir).is_ok_and(|meta| meta.is_dir()))))
    }),
    ("provider_free?", |_, evaluator, vm, args| {
        let name = vm.to_s(args[0])?;
        Ok(Rb::bool(evaluator.libs().all("puppet/provider", &name).is_empty()))
    }),
    ("load_provider", |_, evaluator, vm, args| {
        let (kind, name) = (vm.to_s(args[0])?, vm.to_s(args[1])?);
        let found = evaluator.libs().all(&format!("puppet/provider/{kind}"), &format!("{name}.rb"));
        match found.first() {
            Some(path) => load(evaluator, vm, path),
            None => Ok(NIL),
        }
    }),
    ("load_providers", |_, evaluator, vm, args| {
        let kind = vm.to_s(args[0])?;
        for name in evaluator.libs().names(&format!("puppet/provider/{kind}")) {
            let class = constant(vm, "Puppet::Type")?;
            let ty = vm.str(kind.as_str());
            let ty = vm.call_name(class, "type", &[ty])?;
            let name = vm.str(name);
            vm.call_name(ty, "provider", &[name])?;
        }
        Ok(NIL)
    }),
    ("changed", |ruby, evaluator, vm, args| {
        let name = vm.to_s(args[1])?;
        let scope = evaluator.scope_by(args[0].fixnum().unwrap_or(0));
        let value = ruby.language_value(vm, args[2])?;
        evaluator.changed_in_place(&name, &value, &scope);
        Ok(NIL)
    }),
    ("fact", |ruby, evaluator, vm, args| {
        let name = vm.to_s(args[0])?;
        let parts: Vec<&str> = name.split('.').collect();
        let facts = ruby.lend(vm, evaluator, || evaluator.facts());
        let found = facts.iter().find(|(known, _)| known == parts[0]);
        let keys: Vec<Value> = parts[1..].iter().map(|part| Value::from(*part)).collect();
        let value = found.and_then(|(_, value)| crate::lookup::dig(value, &keys));
        ruby.to_ruby(vm, &value.unwrap_or(Value::Undef))
    }),
    ("facts", |ruby, evaluator, vm, _| {
        let facts = ruby.lend(vm, evaluator, || evaluator.facts());
        let all = facts.iter().map(|(name, value)| (Value::from(name.as_str()), value.clone()));
        ruby.to_ruby(vm, &Value::hash(all))
    }),
    ("versioncmp", |_, _, vm, args| {
        let (a, b) = (vm.to_s(args[0])?, vm.to_s(args[1])?);
        Ok(vm.int(crate::functions::compare_versions(&a, &b) as i64))
    }),
    ("type_text", |ruby, _, vm, args| {
        let value = ruby.held(args[0].fixnum().unwrap_or(-1));
        ruby.to_ruby(vm, &Value::from(interpolated(&value)))
    }),
    ("held_text", |ruby, _, vm, args| {
        let value = ruby.held(args[0].fixnum().unwrap_or(-1));
        ruby.to_ruby(vm, &Value::from(interpolated(&value)))
    }),
    ("held_items", |ruby, _, vm, args| {
        let value = ruby.held(args[0].fixnum().unwrap_or(-1));
        let items = crate::functions::items_of(&value).map_or(Value::Undef, Value::array);
        ruby.to_ruby(vm, &items)
    }),
    ("held_call", |ruby, _, vm, args| {
        let value = ruby.held(args[0].fixnum().unwrap_or(-1));
        let name = vm.to_s(args[1])?;
        match crate::eval::object_attribute(&value, &name) {
            Some(found) => ruby.to_ruby(vm, &found),
            None => vm.arg_error(format!("undefined method '{name}' for {}", interpolated(&value))),
        }
    }),
    ("type_instance?", |ruby, _, vm, args| {
        let held = ruby.held(args[0].fixnum().unwrap_or(-1));
        let value = ruby.language_value(vm, args[1])?;
        Ok(Rb::bool(matches!(&held, Value::Type(ty) if is_instance(ty, &value))))
    }),
    ("type_assignable?", |ruby, _, vm, args| {
        let one = ruby.held(args[0].fixnum().unwrap_or(-1));
        let other = ruby.held(args[1].fixnum().unwrap_or(-1));
        let _ = vm;
        Ok(Rb::bool(match (&one, &other) {
            (Value::Type(one), Value::Type(other)) => one.accepts(other),
            _ => false,
        }))
    }),
    ("type_part", |ruby, _, vm, args| {
        let held = ruby.held(args[0].fixnum().unwrap_or(-1));
        let part = vm.to_s(args[1])?;
        let value = match &held {
            Value::Type(ty) => match (&**ty, part.as_str()) {
                (Type::Resource { name: Some(name), .. }, "type_name") => {
                    Value::from(crate::types::capitalized(name))
                }
                (Type::Resource { title: Some(title), .. }, _) => Value::String(Rc::clone(title)),
                (Type::Class(Some(name)), "title") => Value::String(Rc::clone(name)),
                _ => Value::Undef,
            },
            _ => Value::Undef,
        };
        ruby.to_ruby(vm, &value)
    }),
    ("type_from", |ruby, evaluator, vm, args| {
        let text = vm.to_s(args[0])?;
        let found = ruby.lend(vm, evaluator, || evaluator.type_from_text(&text));
        answer(ruby, vm, found.map(Value::Type))
    }),
    ("type_of", |ruby, _, vm, args| {
        let value = ruby.language_value(vm, args[0])?;
        let ty = if vm.to_s(args[1])? == "detailed" {
            crate::types::infer_set(&value)
        } else {
            crate::types::infer(&value)
        };
        ruby.to_ruby(vm, &Value::ty(ty))
    }),
    ("mismatch", |ruby, _, vm, args| {
        let name = vm.to_s(args[0])?;
        let held = ruby.held(args[1].fixnum().unwrap_or(-1));
        let value = ruby.language_value(vm, args[2])?;
        let text = match &held {
            Value::Type(ty) => crate::eval::mismatch_text(&name, ty, &value),
            _ => name,
        };
        Ok(vm.str(text))
    }),
    ("mismatch_types", |ruby, _, vm, args| {
        let name = vm.to_s(args[0])?;
        let one = ruby.held(args[1].fixnum().unwrap_or(-1));
        let other = ruby.held(args[2].fixnum().unwrap_or(-1));
        let text = match (&one, &other) {
            (Value::Type(one), Value::Type(other)) => {
                crate::types::describe_mismatch(&name, one, other).join("\n  ")
            }
            _ => name,
        };
        Ok(vm.str(text))
    }),
    ("evaluate", |ruby, evaluator, vm, args| {
        let (number, text) = (args[0].fixnum().unwrap_or(0), vm.to_s(args[1])?);
        let scope = evaluator.scope_by(number);
        let value = ruby.lend(vm, evaluator, || evaluator.evaluate_text(&text, &scope));
        answer(ruby, vm, value)
    }),
    ("interpolate", |_, _, _, args| Ok(args[0])),
    ("stack", |_, evaluator, vm, _| {
        let mut all = Vec::new();
        for (file, line) in evaluator.calls() {
            let pair = vec![vm.str(file.as_bytes()), Rb::fix(i64::from(line))];
            all.push(vm.arr(pair));
        }
        Ok(vm.arr(all))
    }),
    ("in_range", |_, _, vm, args| {
        let (range, version) = (vm.to_s(args[0])?, vm.to_s(args[1])?);
        let found = crate::semver::satisfies(&version, &range);
        Ok(Rb::bool(found))
    }),
];

struct Bridge(Weak<Ruby>);

impl HostObject for Bridge {
    fn name(&self) -> &'static str {
        "Puppet::Bridge"
    }

    fn call(&self, vm: &mut Vm, number: u32, args: Args) -> Res<Rb> {
        let given = vm.args(args);
        let Some(ruby) = self.0.upgrade() else { return Ok(NIL) };
        let Some(evaluator) = ruby.evaluator() else {
            return vm.arg_error("nothing is being compiled");
        };
        match METHODS.get(number as usize) {
            Some((_, method)) => method(&ruby, &evaluator, vm, &given),
            None => Ok(NIL),
        }
    }

    /// What this side keeps of Ruby is pinned.
    fn trace(&self, _: &mut dyn FnMut(Rb)) {}
}

/// Makes the object and its methods.
pub(super) fn install(vm: &mut Vm, ruby: &Rc<Ruby>) -> Res<()> {
    let puppet = constant(vm, "Puppet")?;
    let module = vm.as_module(puppet)?;
    let class = vm.define_class(module, "BridgeClass", fx_ruby::object::c::OBJECT);
    for (number, (name, _)) in METHODS.iter().enumerate() {
        vm.define_host_method(class, name, number as u32);
    }
    let object = vm.host_object(class, Rc::new(Bridge(Rc::downgrade(ruby))));
    let name = vm.intern("Bridge");
    vm.const_set(module, name, object);
    Ok(())
}

/// Whether a type refers to one resource or class.
pub(super) fn is_reference(ty: &Type) -> bool {
    crate::compile::reference_text(ty).is_some()
}

fn answer(ruby: &Rc<Ruby>, vm: &mut Vm, result: Evaluated) -> Res<Rb> {
    match result {
        Ok(value) => ruby.to_ruby(vm, &value),
        Err(flow) => carry(ruby, vm, flow),
    }
}

fn reference_parts(text: &str) -> Option<(String, String)> {
    let (kind, rest) = text.split_once('[')?;
    Some((kind.to_lowercase(), rest.strip_suffix(']')?.to_owned()))
}

fn load(evaluator: &Rc<Evaluator>, vm: &mut Vm, path: &std::path::Path) -> Res<Rb> {
    let shown = path.to_string_lossy().into_owned();
    match evaluator.run.look().read_trusted(path) {
        Ok(text) => vm.run_main(&text, &shown),
        Err(error) => vm.arg_error(error.to_string()),
    }
}

fn log(ruby: &Rc<Ruby>, evaluator: &Rc<Evaluator>, vm: &mut Vm, args: &[Rb]) -> Res<Rb> {
    use fx_engine::Level;
    let (level, text) = (vm.to_s(args[0])?, vm.to_s(args[1])?);
    let level = match level.as_str() {
        "debug" => Level::Debug,
        "info" => Level::Info,
        "notice" => Level::Notice,
        "warning" => Level::Warning,
        _ => Level::Error,
    };
    let source = match args.get(2) {
        Some(name) if name.truthy() => {
            let is_resource = args.get(3).is_some_and(|is_resource| is_resource.truthy());
            Some((vm.to_s(*name)?.into(), is_resource))
        }
        _ => None,
    };
    say(ruby, evaluator, super::Said { level, source, text });
    Ok(NIL)
}

/// Logs what Ruby says, or keeps it where it is collected.
fn say(ruby: &Ruby, evaluator: &Evaluator, said: super::Said) {
    if let Some(all) = &mut *ruby.said.borrow_mut() {
        return all.push(said);
    }
    let line = match &said.source {
        Some((name, _)) => format!("{name}: {}", said.text),
        None => said.text,
    };
    evaluator.run.ledger.message(said.level, &line, &fx_source::Origin::default());
}

/// Keeps the content of a file before it is changed, where old content is kept at all.
fn keep(ruby: &Rc<Ruby>, evaluator: &Rc<Evaluator>, vm: &mut Vm, args: &[Rb]) -> Res<Rb> {
    let Some(backup) = &evaluator.settings.backup else { return Ok(NIL) };
    let path = vm.to_s(args[0])?;
    let info = |text: String| {
        say(ruby, evaluator, super::Said { level: fx_engine::Level::Info, source: None, text });
    };
    match backup.keep(evaluator.run, path.as_ref(), &info) {
        Ok(()) => Ok(NIL),
        Err(why) => vm.arg_error(format!("Could not back up {path}: {why}")),
    }
}

fn setting(ruby: &Rc<Ruby>, evaluator: &Rc<Evaluator>, vm: &mut Vm, args: &[Rb]) -> Res<Rb> {
    let name = vm.to_s(args[0])?;
    let value = evaluator.setting(&name);
    // Settings with a fixed set of values are symbols in Ruby.
    if crate::settings::kind(&name) == Some(crate::settings::Kind::Symbol)
        && let Value::String(text) = &value
    {
        return Ok(Rb::sym(vm.intern(text)));
    }
    ruby.to_ruby(vm, &value)
}

/// Says that a variable is not there, as strictly as asked.
fn undefined_variable(
    _ruby: &Rc<Ruby>,
    evaluator: &Rc<Evaluator>,
    vm: &mut Vm,
    args: &[Rb],
) -> Res<Rb> {
    let name = vm.to_s(args[0])?;
    match evaluator.warn_undefined(&name) {
        Some(why) => vm.arg_error(why),
        None => Ok(NIL),
    }
}

/// Reads variables. The first look at a fact may run Ruby of modules, which needs the machine.
fn reading<T>(
    ruby: &Rc<Ruby>,
    evaluator: &Rc<Evaluator>,
    vm: &mut Vm,
    read: impl FnOnce() -> T,
) -> T {
    if evaluator.knows_facts() { read() } else { ruby.lend(vm, evaluator, read) }
}

fn lookupvar(ruby: &Rc<Ruby>, evaluator: &Rc<Evaluator>, vm: &mut Vm, args: &[Rb]) -> Res<Rb> {
    let name = vm.to_s(args[1])?;
    let scope = evaluator.scope_by(args[0].fixnum().unwrap_or(0));
    let found = reading(ruby, evaluator, vm, || evaluator.find_variable(&name, &scope));
    let is_there = Rb::bool(found.is_some());
    let value = match found {
        Some(value) => ruby.to_ruby(vm, &value)?,
        None => NIL,
    };
    Ok(vm.arr(vec![is_there, value]))
}

fn scope_hash(ruby: &Rc<Ruby>, evaluator: &Rc<Evaluator>, vm: &mut Vm, args: &[Rb]) -> Res<Rb> {
    let scope = evaluator.scope_by(args[0].fixnum().unwrap_or(0));
    reading(ruby, evaluator, vm, || {
        evaluator.facts();
    });
    // What is not set to anything is left out, whoever had it set before.
    let all = scope.frame.all().into_iter().filter(|(_, value)| !matches!(value, Value::Undef));
    ruby.to_ruby(vm, &Value::hash(all.map(|(name, value)| (Value::String(name), value))))
}

fn scope_info(ruby: &Rc<Ruby>, evaluator: &Rc<Evaluator>, vm: &mut Vm, args: &[Rb]) -> Res<Rb> {
    let scope = evaluator.scope_by(args[0].fixnum().unwrap_or(0));
    let catalog = evaluator.catalog.borrow();
    let resource = catalog.resources.get(scope.frame.resource.get());
    let texts = |all: &mut dyn Iterator<Item = &Rc<str>>| {
        Value::array(all.map(|text| Value::String(Rc::clone(text))).collect())
    };
    let tags =
        resource.map_or(Value::array(Vec::new()), |resource| texts(&mut resource.tags.iter()));
    let module = if scope.frame.module.is_empty() {
        Value::Undef
    } else {
        Value::String(Rc::clone(&scope.frame.module))
    };
    let file = resource
        .map(|resource| evaluator.sources.location(resource.span).file.to_string())
        .filter(|file| !file.is_empty());
    let info = Value::hash([
        (
            "resource".into(),
            resource.map_or(Value::Undef, |resource| Value::from(resource.reference())),
        ),
        ("module".into(), module),
        (
            "source".into(),
            Value::from(scope.frame.source.split_once(' ').map_or("", |(_, name)| name)),
        ),
        ("tags".into(), tags),
        ("classes".into(), texts(&mut catalog.classes.iter())),
        ("file".into(), file.map_or(Value::Undef, Value::from)),
    ]);
    drop(catalog);
    ruby.to_ruby(vm, &info)
}

fn call_function(ruby: &Rc<Ruby>, evaluator: &Rc<Evaluator>, vm: &mut Vm, args: &[Rb]) -> Res<Rb> {
    let scope = evaluator.scope_by(args[0].fixnum().unwrap_or(0));
    let name = vm.to_s(args[1])?;
    let mut values = Vec::new();
    for arg in vm.heap.arr(args[2]).clone() {
        values.push(ruby.language_value(vm, arg)?);
    }
    let block = if args[3].is_nil() {
        None
    } else {
        Some(ruby_block(ruby, evaluator, vm, args[3], &scope)?)
    };
    let nowhere = fx_source::Span::new(evaluator.builtin, 0, 0);
    // What is declared so belongs to the call in the manifest that led here.
    let span = if name == "create_resources" { evaluator.innermost_call() } else { nowhere };
    let result = ruby.lend(vm, evaluator, || {
        let known = Type::named(&name).is_some();
        if known && name.starts_with(|c: char| c.is_ascii_uppercase()) {
            let ty = evaluator.type_from_text(&name)?;
            let mut all = vec![Value::Type(ty)];
            all.extend(values);
            return evaluator.call_function("new", all, block, span, &scope);
        }
        evaluator.call_function(&name, values, block, span, &scope)
    });
    // A place inside built-in text says nothing; let the caller give its own.
    let result = result.map_err(|flow| match flow {
        Flow::Fail(failure) if matches!(failure.place, crate::eval::Place::At(at) if at.file == evaluator.builtin) => {
            Flow::raw(failure.message)
        }
        flow => flow,
    });
    answer(ruby, vm, result)
}

/// A block of Ruby for functions of the language.
fn ruby_block(
    ruby: &Rc<Ruby>,
    evaluator: &Evaluator,
    vm: &mut Vm,
    block: Rb,
    scope: &Rc<Scope>,
) -> Res<Closure> {
    vm.pin(block);
    let arity = vm.call_name(block, "arity", &[])?.fixnum().unwrap_or(-1);
    let size = if arity >= 0 {
        Range::new(Some(arity), Some(arity))
    } else {
        Range::new(Some(-arity - 1), None)
    };
    let inner = Rc::downgrade(ruby);
    let call = move |evaluator: &Evaluator, args: Vec<Value>| -> Evaluated {
        let Some(ruby) = inner.upgrade() else { return Ok(Value::Undef) };
        evaluator.with_ruby(|vm| {
            let mut given = Vec::with_capacity(args.len());
            for arg in &args {
                given.push(ruby.to_ruby(vm, arg)?);
            }
            let result = vm.call_proc(block, &given, NIL, false)?;
            ruby.language_value(vm, result)
        })
    };
    Ok(Closure {
        name: None,
        params: Rc::from([]),
        returns: None,
        body: Rc::new(fx_puppet_syntax::Expr::new(
            fx_puppet_syntax::ExprKind::Nop,
            fx_source::Span::new(evaluator.builtin, 0, 0),
        )),
        scope: Rc::clone(scope),
        native: Some(NativeBlock { call: Rc::new(call), arity: size }),
    })
}

fn resource_data(evaluator: &Evaluator, at: usize) -> Value {
    let catalog = evaluator.catalog.borrow();
    let resource = &catalog.resources[at];
    let params = resource
        .attributes
        .iter()
        .filter(|(_, given)| !matches!(given.value, Value::Undef))
        .map(|(name, given)| (Value::String(Rc::clone(name)), given.value.clone()));
    Value::hash([
        ("type".into(), Value::String(Rc::clone(&resource.kind))),
        ("title".into(), Value::String(resource.shown_title())),
        ("params".into(), Value::hash(params)),
        ("virtual".into(), Value::Bool(!resource.is_real())),
        (
            "tags".into(),
            Value::array(resource.tags.iter().map(|tag| Value::String(Rc::clone(tag))).collect()),
        ),
    ])
}

fn declare(ruby: &Rc<Ruby>, evaluator: &Rc<Evaluator>, vm: &mut Vm, args: &[Rb]) -> Res<Rb> {
    let scope = evaluator.scope_by(args[0].fixnum().unwrap_or(0));
    let (kind, title) = (vm.to_s(args[1])?, Value::from(vm.to_s(args[2])?));
    let params = match ruby.language_value(vm, args[3])? {
        Value::Hash(hash) => Hash::clone(&hash),
        _ => Hash::default(),
    };
    let kind = if args[4].truthy() { format!("@{kind}") } else { kind };
    let span = fx_source::Span::new(evaluator.builtin, 0, 0);
    let result = ruby
        .lend(vm, evaluator, || evaluator.declare_from_hash(&kind, &title, &params, span, &scope));
    answer(ruby, vm, result.map(|_| Value::Undef))
}
