//! Data from outside: lookups, files, commands.

use std::path::Path;

use super::{Call, Native, native};
use crate::eval::{Evaluated, Flow, interpolated};
use crate::value::Value;

const BACK_END: &[&str] = &["Struct[{path=>String[1]}] options, Puppet::LookupContext context"];

pub(super) static TABLE: &[Native] = &[
    native("lookup", &[], lookup),
    native("hiera", &[], hiera),
    native("hiera_array", &[], hiera),
    native("hiera_hash", &[], hiera),
    native("hiera_include", &[], hiera),
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

fn lookup(call: &Call<'_>) -> Evaluated {
    let (name, options) = match call.args {
        [Value::Hash(options)] => {
            (options.get(&Value::from("name")).cloned().unwrap_or(Value::Undef), Some(options))
        }
        [name, Value::Hash(options)] => (name.clone(), Some(options)),
        _ => (call.arg(0).clone(), None),
    };
    let names = match &name {
        Value::Array(names) => names.to_vec(),
        name => vec![name.clone()],
    };
    if let Some(Value::Hash(over)) =
        options.and_then(|options| options.get(&Value::from("override")))
        && let Some(found) = names.iter().find_map(|name| over.get(name))
    {
        return Ok(found.clone());
    }
    for name in &names {
        if let Some(found) = call.evaluator.data(&interpolated(name))? {
            return Ok(found);
        }
    }
    if let Some(options) = options {
        if let Some(Value::Hash(defaults)) = options.get(&Value::from("default_values_hash"))
            && let Some(found) = names.iter().find_map(|name| defaults.get(name))
        {
            return Ok(found.clone());
        }
        if let Some(default) = options.get(&Value::from("default_value")) {
            return Ok(default.clone());
        }
    }
    if call.block.is_some() {
        return call.yields(vec![name]);
    }
    match call.args.get(3) {
        Some(default) => Ok(default.clone()),
        None => Err(missing(&name)),
    }
}

fn hiera(call: &Call<'_>) -> Evaluated {
    if let Some(found) = call.evaluator.data(&interpolated(call.arg(0)))? {
        return Ok(found);
    }
    if call.block.is_some() {
        return call.yields(vec![call.arg(0).clone()]);
    }
    match call.args.get(1) {
        Some(default) => Ok(default.clone()),
        None => Err(missing(call.arg(0))),
    }
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
            && let Ok(bytes) = call.evaluator.run.host.read(&found)
        {
            return Ok(Value::from(String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    Err(Flow::raw(format!("Could not find any files from {}", paths.join(", "))))
}

fn binary_file(call: &Call<'_>) -> Evaluated {
    let path = call.text(0);
    let found = call
        .evaluator
        .module_file(path, "files")
        .and_then(|found| call.evaluator.run.host.read(&found).ok());
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
        return Err(Flow::raw("generate(): Wrong number of arguments"));
    };
    if !Path::new(program).is_absolute() {
        return Err(Flow::raw("Generators must be fully qualified"));
    }
    if !program.chars().all(|c| c.is_ascii_alphanumeric() || "-/._+".contains(c)) {
        return Err(Flow::raw(
            "Generators can only contain alphanumerics, file separators, and dashes",
        ));
    }
    let ended = call.evaluator.run.host.run(&fx_host::Spec::argv(args.clone()));
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
        Err(error) => Err(Flow::raw(format!("Failed to execute generator {program}: {error}"))),
    }
}
