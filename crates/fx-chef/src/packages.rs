//! Packages for the bodies of Chef's providers: what is installed, what could be, and the words
//! of the commands. The commands themselves run as changes of the provider.

use std::ffi::OsStr;
use std::path::Path;
use std::rc::Rc;

use fx_engine::Failure;
use fx_host::{Program, Spec};
use fx_resources::package::backend::{Action, Backend, Dialect, Item, Settings, Verb};
use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Res, Value, Vm};

use crate::machine::{Machine, Method, answer, text};
use crate::ruby_data::{is_set, list, setting, words};

pub(crate) const METHODS: &[(&str, Method)] = &[
    ("package_versions", versions),
    ("package_leftovers?", leftovers),
    ("package_candidate", candidate),
    ("package_providers", providers),
    ("package_satisfies?", satisfies),
    ("package_held?", held),
    ("package_in_file", in_file),
    ("package_commands", commands),
];

/// The manager that the first two arguments name: its name, and what the resource says beside
/// the names of packages.
fn manager(machine: &Machine, vm: &mut Vm, a: Args) -> Res<Rc<dyn Backend>> {
    let name = text(vm, a, 0)?.unwrap_or_default();
    let given = vm.arg(a, 1);
    let mut settings = Settings::default();
    if let Some(program) = setting(vm, given, "program")? {
        settings.program = Some(vm.to_s(program)?);
    }
    if let Some(release) = setting(vm, given, "default_release")? {
        settings.default_release = Some(vm.to_s(release)?);
    }
    let global = setting(vm, given, "global_options")?;
    settings.global_options = words(vm, global)?;
    settings.replace_config = is_set(vm, given, "replace_config")?;
    settings.unchecked = is_set(vm, given, "unchecked")?;
    let found = machine.managers.named(&name, Dialect::Chef(settings));
    answer(vm, "Package", found)
}

/// `FX.package_versions(manager, settings, name)`: what is installed, newest first.
fn versions(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let manager = manager(machine, vm, a)?;
    let name = text(vm, a, 2)?.unwrap_or_default();
    let state = manager.installed(machine.look(), &name);
    let mut versions = answer(vm, "Package", state)?.versions;
    versions.sort_by(|a, b| manager.compare(b, a));
    Ok(list(vm, versions))
}

/// `FX.package_leftovers?(manager, settings, name)`: whether it was removed and its
/// configuration stayed.
fn leftovers(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let manager = manager(machine, vm, a)?;
    let name = text(vm, a, 2)?.unwrap_or_default();
    let state = manager.installed(machine.look(), &name);
    Ok(Value::bool(answer(vm, "Package", state)?.residual))
}

/// `FX.package_candidate(manager, settings, name)`: the newest version to be had, or nil.
fn candidate(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let manager = manager(machine, vm, a)?;
    let name = text(vm, a, 2)?.unwrap_or_default();
    let found = match manager.candidate(machine.look(), &name) {
        // A tool that cannot say, such as without a network, offers nothing.
        Err(Failure::Command { .. }) => None,
        found => answer(vm, "Package", found)?,
    };
    Ok(found.map_or(NIL, |version| vm.str(version)))
}

/// `FX.package_providers(manager, settings, name)`: the packages behind a virtual name.
fn providers(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let manager = manager(machine, vm, a)?;
    let name = text(vm, a, 2)?.unwrap_or_default();
    let found = manager.providers(machine.look(), &name);
    let found = answer(vm, "Package", found)?;
    Ok(list(vm, found))
}

/// `FX.package_satisfies?(manager, settings, installed, wanted)`: whether a version is meant.
fn satisfies(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let manager = manager(machine, vm, a)?;
    let (installed, wanted) = (text(vm, a, 2)?, text(vm, a, 3)?);
    let (installed, wanted) = (installed.unwrap_or_default(), wanted.unwrap_or_default());
    Ok(Value::bool(manager.satisfies(&installed, &wanted)))
}

/// `FX.package_held?(manager, settings, name)`: whether it stays at its version.
fn held(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let manager = manager(machine, vm, a)?;
    let name = text(vm, a, 2)?.unwrap_or_default();
    let held = manager.held(machine.look(), &name);
    Ok(Value::bool(answer(vm, "Package", held)?))
}

/// `FX.package_in_file(manager, settings, path)`: name and version of the package in a file.
fn in_file(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let manager = manager(machine, vm, a)?;
    let file = text(vm, a, 2)?.unwrap_or_default();
    let found = manager.in_file(machine.look(), &machine.request.cwd.join(file));
    let (name, version) = answer(vm, "Package", found)?;
    Ok(list(vm, vec![name, version]))
}

/// `FX.package_commands(manager, settings, verb, names, versions, sources)`: the commands that do
/// it, each as its environment and its words. The settings have the resource's `options`.
fn commands(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let manager = manager(machine, vm, a)?;
    let given = vm.arg(a, 1);
    let given = setting(vm, given, "options")?;
    let options = words(vm, given)?;
    let verb = match text(vm, a, 2)?.unwrap_or_default().as_str() {
        "install" => Verb::Install,
        "upgrade" => Verb::Upgrade,
        "remove" => Verb::Remove,
        "purge" => Verb::Purge,
        "lock" => Verb::Hold,
        "unlock" => Verb::Unhold,
        "reconfig" => Verb::Reconfigure,
        other => return vm.arg_error(format!("packages have no action '{other}'")),
    };
    let names = vm.opt_nil(a, 3);
    let names = words(vm, names)?;
    let versions = each(vm, a, 4, names.len())?;
    let sources = each(vm, a, 5, names.len())?;
    let items: Vec<Item<'_>> = names
        .iter()
        .zip(versions.iter().zip(&sources))
        .map(|(name, (version, source))| Item {
            name,
            version: version.as_deref(),
            source: source.as_deref().map(Path::new),
        })
        .collect();
    let installs = matches!(verb, Verb::Install | Verb::Upgrade);
    let downgrade = installs && {
        let known = manager.has_downgrades(machine.look());
        answer(vm, "Package", known)?
    };
    let action = Action { verb, items: &items, options: &options, downgrade, held: false };
    let specs = manager.commands(&action);
    let specs = answer(vm, "Package", specs)?;
    let specs = specs.iter().map(|spec| described(vm, spec)).collect::<Res<Vec<_>>>()?;
    Ok(vm.arr(specs))
}

/// Texts of a list, of which some may be nil.
fn each(vm: &mut Vm, a: Args, i: u32, count: usize) -> Res<Vec<Option<String>>> {
    let list = vm.opt_nil(a, i).filter(|list| list.is_arr());
    let items = list.map_or_else(Vec::new, |list| vm.heap.arr(list).clone());
    (0..count)
        .map(|at| match items.get(at).filter(|item| !item.is_nil()) {
            Some(item) => vm.to_s(*item).map(Some),
            None => Ok(None),
        })
        .collect()
}

/// A command as its environment and its words; the locale is that of `shell_out`.
fn described(vm: &mut Vm, spec: &Spec) -> R {
    let mut env = Vec::new();
    for (name, value) in &spec.env {
        if let Some(value) = value
            && name != OsStr::new("LC_ALL")
        {
            let name = vm.str(name.to_string_lossy().into_owned());
            let value = vm.str(value.to_string_lossy().into_owned());
            env.push(vm.arr(vec![name, value]));
        }
    }
    let argv = match &spec.program {
        Program::Argv(argv) => argv.clone(),
        Program::Shell(line) => vec![line.clone()],
    };
    let env = vm.arr(env);
    let argv = list(vm, argv.iter().map(|word| word.to_string_lossy().into_owned()));
    Ok(vm.arr(vec![env, argv]))
}
