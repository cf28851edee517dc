//! Data from outside: lookups, files, commands.

use std::path::Path;
use std::rc::Rc;

use super::{Call, Native, native};
use crate::eval::{Evaluated, Flow, interpolated};
use crate::lookup::{Query, Strategy};
use crate::value::Value;

const BACK_END: &[&str] = &["Struct[{path=>String[1]}] options, Puppet::LookupContext context"];

const HIERA_3: &[&str] = &[
    "Tuple[String, Any, Any, 1, 3] args",
    "String key",
    "String key, Any default, Any override?",
    "String key, &Callable[1, 1] default_block",
    "String key, Any override, &Callable[1, 1] default_block",
];

pub(super) static TABLE: &[Native] = &[
    native("lookup", &[], lookup),
    native("hiera", HIERA_3, |call| hiera(call, "hiera", None)),
    native("hiera_array", HIERA_3, |call| hiera(call, "hiera_array", Some(&Strategy::Unique))),
    native("hiera_hash", HIERA_3, |call| hiera(call, "hiera_hash", Some(&Strategy::Hash))),
    native("hiera_include", HIERA_3, hiera_include),
    native("yaml_data", BACK_END, refused),
    native("json_data", BACK_END, refused),
    native("hocon_data", BACK_END, refused),
    native(
        "eyaml_lookup_key",
        &["String[1] key, Hash[String[1],Any] options, Puppet::LookupContext context"],
        refused,
    ),
    native("file", &[], file),
    native("binary_file", &["String path"], binary_file),
    native("find_file", &["String paths*", "Array[String] paths_array*"], |call| {
        find(call, "files")
    }),
    native("find_template", &["String paths*", "Array[String] paths_array*"], |call| {
        find(call, "templates")
    }),
    native("module_directory", &["String names*", "Array[String] names*"], module_directory),
    native("generate", &[], generate),
];

fn refused(_: &Call<'_>) -> Evaluated {
    Err(Flow::raw("this data function can only be called by a lookup"))
}

fn missing(name: &Value) -> Flow {
    Flow::bare(match name {
        Value::Array(names) => format!(
            "Function lookup() did not find a value for any of the names [{}]",
            names
                .iter()
                .map(|name| format!("'{}'", interpolated(name)))
                .collect::<Vec<_>>()
                .join(", ")
        ),
        name => {
            format!("Function lookup() did not find a value for the name '{}'", interpolated(name))
        }
    })
}

/// What a call of `lookup` asks for.
#[derive(Default)]
struct Asked {
    names: Vec<Value>,
    name: Value,
    ty: Option<Value>,
    merge: Option<Value>,
    default: Option<Value>,
    overrides: Option<Rc<crate::value::Hash>>,
    defaults: Option<Rc<crate::value::Hash>>,
}

fn asked(call: &Call<'_>) -> Asked {
    let mut asked = Asked::default();
    let (positional, options) = match call.args.split_last() {
        Some((Value::Hash(options), rest)) if rest.len() < 2 => (rest, Some(options)),
        _ => (call.args, None),
    };
    let given =
        |value: Option<&Value>| value.filter(|value| !matches!(value, Value::Undef)).cloned();
    asked.name = positional.first().cloned().unwrap_or(Value::Undef);
    asked.ty = given(positional.get(1));
    asked.merge = given(positional.get(2));
    asked.default = positional.get(3).cloned();
    if let Some(options) = options {
        let option = |key: &str| options.get(&Value::from(key));
        if let Some(name) = option("name") {
            asked.name = name.clone();
        }
        asked.ty = given(option("value_type"));
        asked.merge = given(option("merge"));
        asked.default = option("default_value").cloned();
        let hash = |key: &str| match option(key) {
            Some(Value::Hash(hash)) => Some(Rc::clone(hash)),
            _ => None,
        };
        asked.overrides = hash("override");
        asked.defaults = hash("default_values_hash");
    }
    asked.names = match &asked.name {
        Value::Array(names) => names.to_vec(),
        name => vec![name.clone()],
    };
    asked
}

fn lookup(call: &Call<'_>) -> Evaluated {
    let asked = asked(call);
    let checked = |value: Value, what: &str| -> Evaluated {
        if let Some(Value::Type(ty)) = &asked.ty
            && !crate::types::is_instance(ty, &value)
        {
            let text = crate::eval::mismatch_text(what, ty, &value);
            return Err(Flow::raw(text));
        }
        Ok(value)
    };
    const FOUND: &str = "Found value has wrong type,";
    if let Some(over) = &asked.overrides
        && let Some(found) = asked.names.iter().find_map(|name| over.get(name))
    {
        return checked(found.clone(), FOUND);
    }
    let strategy = match &asked.merge {
        Some(merge) => Some(Strategy::read(merge).map_err(Flow::raw)?),
        None => None,
    };
    for name in &asked.names {
        let mut query = Query::new(call.scope);
        if let Some(found) =
            call.evaluator.lookup(&interpolated(name), strategy.as_ref(), &mut query)?
        {
            return checked(found, FOUND);
        }
    }
    if let Some(defaults) = &asked.defaults
        && let Some(found) = asked.names.iter().find_map(|name| defaults.get(name))
    {
        return checked(found.clone(), FOUND);
    }
    if let Some(default) = &asked.default {
        return checked(default.clone(), "Default value has wrong type,");
    }
    if call.block.is_some() {
        let value = call.yields(vec![asked.name.clone()])?;
        return checked(value, "Value returned from default block has wrong type,");
    }
    Err(missing(&asked.name))
}

/// The functions of Hiera 3, which look up as `lookup` does with one strategy each.
fn hiera(call: &Call<'_>, name: &str, strategy: Option<&Strategy>) -> Evaluated {
    if call.evaluator.settings.strictness() != fx_puppet_syntax::Strictness::Off {
        call.evaluator.warn(&format!("The function '{name}' is deprecated in favor of using 'lookup'. See https://puppet.com/docs/puppet/7.23/deprecated_language.html\n   (file & line not available)"), None);
    }
    let mut query = Query::new(call.scope);
    // All arguments may stand in one list.
    let args = match call.args {
        [Value::Array(items)] => items.as_slice(),
        args => args,
    };
    let asked = args.first().unwrap_or(&Value::Undef);
    let key = interpolated(asked);
    if let Some(found) = call.evaluator.lookup(&key, strategy, &mut query)? {
        return Ok(found);
    }
    if call.block.is_some() {
        return call.yields(vec![asked.clone()]);
    }
    match args.get(1) {
        Some(default) => Ok(default.clone()),
        None => Err(missing(asked)),
    }
}

fn hiera_include(call: &Call<'_>) -> Evaluated {
    let found = hiera(call, "hiera_include", Some(&Strategy::Unique))?;
    let args = vec![found];
    call.evaluator.call_function("include", args, None, call.span, call.scope)
}

fn paths(call: &Call<'_>) -> Vec<String> {
    call.args
        .iter()
        .flat_map(|arg| match arg {
            Value::Array(items) => items.iter().map(interpolated).collect(),
            other => vec![interpolated(other)],
        })
        .collect()
}

fn file(call: &Call<'_>) -> Evaluated {
    let paths = paths(call);
    for path in &paths {
        if let Some(found) = call.evaluator.module_file(path, "files")
            && let Ok(bytes) = call.evaluator.run.look().read_limited(&found, fx_host::limits::DATA)
        {
            return Ok(Value::from(String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    Err(Flow::raw(format!("Could not find any files from {}", paths.join(", "))))
}

fn binary_file(call: &Call<'_>) -> Evaluated {
    let path = call.text(0);
    let found = call.evaluator.module_file(path, "files").and_then(|found| {
        call.evaluator.run.look().read_limited(&found, fx_host::limits::DATA).ok()
    });
    match found {
        Some(bytes) => Ok(Value::Binary(bytes.into())),
        None => Err(Flow::raw(format!("binary_file(): The given file '{path}' does not exist"))),
    }
}

fn find(call: &Call<'_>, kind: &str) -> Evaluated {
    let found = paths(call).iter().find_map(|path| call.evaluator.module_file(path, kind));
    Ok(found.map_or(Value::Undef, |path| Value::from(path.to_string_lossy().into_owned())))
}

fn module_directory(call: &Call<'_>) -> Evaluated {
    let found = paths(call).iter().find_map(|name| call.evaluator.module_dir(name));
    Ok(found.map_or(Value::Undef, |path| Value::from(path.to_string_lossy().into_owned())))
}

fn generate(call: &Call<'_>) -> Evaluated {
    let args: Vec<String> = call.args.iter().map(interpolated).collect();
    let Some(program) = args.first() else {
        return Err(Flow::raw("generate(): Wrong number of arguments given (0 for minimum 1)"));
    };
    if !Path::new(program).is_absolute() {
        return Err(Flow::raw("Generators must be fully qualified"));
    }
    if !program.chars().all(|c| c.is_ascii_alphanumeric() || "-/._+".contains(c)) {
        return Err(Flow::raw(
            "Generators can only contain alphanumerics, file separators, and dashes",
        ));
    }
    let spec = fx_host::Spec::argv(args.clone());
    let ended = call.evaluator.run.evaluate("generate()", |act| act.run(&spec));
    match ended {
        Ok(ended) if ended.exit.success() => {
            Ok(Value::from(String::from_utf8_lossy(&ended.stdout).into_owned()))
        }
        Ok(ended) => Err(Flow::raw(format!(
            "Failed to execute generator {program}: Execution of '{}' returned {}: {}",
            args.join(" "),
            ended.exit.code(),
            String::from_utf8_lossy(&ended.stderr)
        ))),
        // The original's child has nothing to say when there is no program.
        Err(_) => Err(Flow::raw(format!(
            "Failed to execute generator {program}: Execution of '{}' returned 1: ",
            args.join(" ")
        ))),
    }
}
