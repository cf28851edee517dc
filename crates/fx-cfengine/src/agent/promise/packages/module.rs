//! A package module: a program that lists and changes packages by a protocol of lines.

use std::collections::HashMap;
use std::rc::Rc;

use fx_engine::Level;
use fx_host::{Exit, Spec, Stdin};

use crate::agent::promise::commands::in_environment;
use crate::agent::simulate::{Operation, PackageNote};
use crate::eval::promise::Expanded;
use crate::eval::{Context, log};
use crate::outcome::Outcome;
use crate::text::{Str, decode, encode, os, path};

use super::Package;

/// What modules told of installed packages, for the run.
#[derive(Default)]
pub(crate) struct Caches {
    installed: HashMap<String, Vec<Package>>,
    updates: HashMap<String, Vec<Package>>,
}

struct Module {
    name: String,
    argv: Vec<String>,
    /// What the promise asks the module for.
    options: String,
    /// What the module is always asked for.
    defaults: String,
}

/// Keeps a promise made with a package module.
pub(super) fn keep(ctx: &mut Context<'_>, promise: &Rc<Expanded>) -> Outcome {
    let name = Rc::clone(&promise.promiser);
    if promise.list("package_module").is_some() {
        return ctx.settle(
            Level::Error,
            Outcome::Failed,
            promise,
            "More than one package module is promised",
        );
    }
    let policy = promise.scalar("policy").cloned();
    let policy_given = policy.is_some();
    let Some(policy) = policy.filter(|word| matches!(&**word, "present" | "absent")) else {
        const OWN: [&str; 4] = ["version", "architecture", "options", "additional_packages"];
        let text = if policy_given || OWN.iter().any(|name| promise.has(name)) {
            "New package promise failed sanity check."
        } else {
            "Old package promise failed sanity check."
        };
        return ctx.settle(Level::Error, Outcome::Failed, promise, text);
    };
    let Some(named) = Module::name_of(ctx, promise) else {
        ctx.error("Can not find package module body in policy.");
        let text = "New package promise failed sanity check.";
        return ctx.settle(Level::Error, Outcome::Failed, promise, text);
    };
    if !ctx.acquire(promise, &format!("new-package-{name}")) {
        return Outcome::Skipped;
    }
    let Some(module) = Module::of(ctx, promise, named) else {
        let text = "Some error occurred while contacting package module for promise '".to_owned()
            + &name
            + "'";
        return ctx.settle(Level::Error, Outcome::Failed, promise, &text);
    };
    if module.talk(ctx, "supports-api-version", "").is_none_or(|reply| reply.trim() != "1") {
        let text = format!("unsupported package module wrapper API version: {}", module.name);
        return ctx.settle(Level::Error, Outcome::Failed, promise, &text);
    }
    let outcome = if &*policy == "present" {
        present(ctx, promise, &module)
    } else {
        absent(ctx, promise, &module)
    };
    match outcome {
        Outcome::Failed => {
            let text = format!(
                "Error {} package '{name}'",
                if &*policy == "present" { "installing" } else { "removing" }
            );
            ctx.settle(Level::Error, outcome, promise, &text)
        }
        Outcome::Repaired => {
            let text = format!(
                "Successfully {} package '{name}'",
                if &*policy == "present" { "installed" } else { "removed" }
            );
            ctx.settle(Level::Info, outcome, promise, &text)
        }
        Outcome::Kept => {
            let text = format!(
                "Package '{name}' {}",
                if &*policy == "present" { "already installed" } else { "was not installed" }
            );
            ctx.settle(Level::Verbose, outcome, promise, &text)
        }
        other => other,
    }
}

impl Module {
    fn name_of(ctx: &Context<'_>, promise: &Expanded) -> Option<Str> {
        promise
            .scalar("package_module_name")
            .or_else(|| promise.scalar("package_module"))
            .cloned()
            .or_else(|| ctx.control.package_module.clone())
    }

    fn of(ctx: &Context<'_>, promise: &Expanded, name: Str) -> Option<Module> {
        let mut attributes: HashMap<Str, crate::policy::Rval> = promise
            .attributes
            .iter()
            .map(|(name, value)| (Rc::clone(name), value.clone()))
            .collect();
        if let Some(body) = ctx.find_body("package_module", &name) {
            for attribute in &body.attributes {
                if attribute.guard.as_ref().is_none_or(|guard| ctx.defined(guard))
                    && !attributes.contains_key(&attribute.name)
                {
                    let value = ctx.expand_rval(&attribute.value, None, Some("body"));
                    attributes.insert(Rc::clone(&attribute.name), value);
                }
            }
        }
        let scalar = |name: &str| attributes.get(name).and_then(|value| value.as_scalar().cloned());
        let script = scalar("module_path").map_or_else(
            || format!("{}/packages/{name}", ctx.config.paths.modules),
            |text| text.to_string(),
        );
        if let Err(error) = ctx.host().stat(&path(&script)) {
            let (what, place) = match scalar("interpreter") {
                Some(_) => ("module script", "the file"),
                None => ("module", "file"),
            };
            ctx.error(&format!(
                "Cannot find package {what} at location '{script}' or access to {place} is restricted: {}",
                crate::load::reason(&error)
            ));
            return None;
        }
        let mut argv = Vec::new();
        if let Some(interpreter) = scalar("interpreter") {
            argv.push(interpreter.to_string());
        }
        argv.push(script);
        let list = |name: &str| match attributes.get(name) {
            Some(crate::policy::Rval::List(items)) => Some(
                items.iter().filter_map(|item| item.as_scalar().cloned()).collect::<Vec<Str>>(),
            ),
            _ => None,
        };
        let lines = |options: &[Str]| -> String {
            let given = options.iter().filter(|text| &***text != "cf_null");
            given.map(|text| format!("options={text}\n")).collect()
        };
        let defaults = list("default_options").unwrap_or_default();
        let options = list("options").map_or_else(|| lines(&defaults), |own| lines(&own));
        Some(Module { name: name.to_string(), argv, options, defaults: lines(&defaults) })
    }

    fn talk(&self, ctx: &Context<'_>, command: &str, request: &str) -> Option<String> {
        let words = self.argv.iter().map(|word| os(word)).chain([os(command)]);
        let mut spec = in_environment(ctx, Spec::argv(words));
        spec.stdin = Stdin::Bytes(encode(request).into_owned());
        match ctx.host().run(&spec) {
            Ok(ended) if ended.exit == Exit::Code(0) => Some(decode(&ended.stdout)),
            Ok(_) => {
                let doing = match command {
                    "get-package-data" => "collecting package data",
                    "repo-install" | "file-install" => "installing package",
                    "remove" => {
                        ctx.info("Error communicating package module while removing package.");
                        return None;
                    }
                    _ => {
                        ctx.verbose("Some error occurred while communicating with package module while updating cache.");
                        return None;
                    }
                };
                ctx.info(&format!(
                    "Some error occurred while communicating with package module while {doing}."
                ));
                None
            }
            Err(error) => {
                ctx.error(&format!("Cannot run package module '{}': {error}", self.name));
                None
            }
        }
    }

    fn list(&self, ctx: &Context<'_>, command: &str, options: &str) -> Option<Vec<Package>> {
        let reply = self.talk(ctx, command, options)?;
        let mut out: Vec<Package> = Vec::new();
        for line in reply.lines() {
            let Some((key, value)) = line.split_once('=') else { continue };
            match key {
                "Name" => {
                    out.push(Package {
                        name: value.to_owned(),
                        version: String::new(),
                        arch: String::new(),
                    });
                }
                "Version" => {
                    if let Some(last) = out.last_mut() {
                        last.version = value.to_owned();
                    }
                }
                "Architecture" => {
                    if let Some(last) = out.last_mut() {
                        last.arch = value.to_owned();
                    }
                }
                "Error" | "ErrorMessage" => ctx.error(&format!("package module: {line}")),
                _ => {}
            }
        }
        Some(out)
    }

    fn installed(&self, ctx: &mut Context<'_>, fresh: bool) -> Option<Vec<Package>> {
        if !fresh && let Some(known) = ctx.agent.packages.modules.installed.get(&self.name) {
            return Some(known.clone());
        }
        let options = if fresh { &self.options } else { &self.defaults };
        let list = self.list(ctx, "list-installed", options)?;
        ctx.agent.packages.modules.installed.insert(self.name.clone(), list.clone());
        Some(list)
    }

    // What could be updated; asked for once, which is when a module refreshes what it knows.
    fn updates(&self, ctx: &mut Context<'_>) -> Vec<Package> {
        if let Some(known) = ctx.agent.packages.modules.updates.get(&self.name) {
            return known.clone();
        }
        let list = self.list(ctx, "list-updates", &self.defaults).unwrap_or_default();
        ctx.agent.packages.modules.updates.insert(self.name.clone(), list.clone());
        list
    }

    // An operation whose reply, if any, tells of an error.
    fn act(&self, ctx: &Context<'_>, command: &str, request: &str) -> bool {
        let Some(reply) = self.talk(ctx, command, &format!("{}{request}", self.options)) else {
            return false;
        };
        for line in reply.lines() {
            ctx.error(&format!("package module: {line}"));
        }
        reply.trim().is_empty()
    }
}

fn holds(list: &[Package], name: &str, version: Option<&str>, arch: Option<&str>) -> bool {
    let version = version.filter(|text| *text != "latest");
    list.iter().any(|package| {
        package.name == name
            && version.is_none_or(|text| text == package.version)
            && arch.is_none_or(|text| text == package.arch)
    })
}

fn request(kind: &str, name: &str, version: Option<&str>, arch: Option<&str>) -> String {
    let mut out = format!("{kind}={name}\n");
    if let Some(version) = version {
        out.push_str(&format!("Version={version}\n"));
    }
    if let Some(arch) = arch {
        out.push_str(&format!("Architecture={arch}\n"));
    }
    out
}

fn present(ctx: &mut Context<'_>, promise: &Rc<Expanded>, module: &Module) -> Outcome {
    let version = promise.scalar("version").map(ToString::to_string);
    let arch = promise.scalar("architecture").map(ToString::to_string);
    let (version, arch) = (version.as_deref(), arch.as_deref());
    let asked = format!("{}{}", module.options, request("File", &promise.promiser, version, arch));
    let Some(reply) = module.talk(ctx, "get-package-data", &asked) else {
        ctx.info(&format!("Can not obtain package data for promise: {}", promise.promiser));
        return Outcome::Failed;
    };
    let told = |key: &str| reply.lines().find_map(|line| line.strip_prefix(key)).map(str::to_owned);
    let (Some(kind), Some(name)) = (told("PackageType="), told("Name=")) else {
        ctx.info(&format!("Can not obtain package data for promise: {}", promise.promiser));
        return Outcome::Failed;
    };
    let Some(installed) = module.installed(ctx, false) else { return Outcome::Failed };
    let mut result = Outcome::Skipped;
    if kind == "file" {
        let (version, arch) = (told("Version="), told("Architecture="));
        let note = |operation| PackageNote::new(operation, &promise.promiser, None, None);
        if holds(&installed, &name, version.as_deref(), arch.as_deref()) {
            ctx.simulated_package(note(Operation::Present));
            return Outcome::Kept;
        }
        if !ctx.making_changes(
            promise,
            &mut result,
            &format!("install file type package: {}", promise.promiser),
        ) {
            return result;
        }
        if ctx.simulated_package(note(Operation::Install)) {
            return Outcome::Repaired;
        }
        if !module.act(ctx, "file-install", &request("File", &promise.promiser, None, None)) {
            return Outcome::Failed;
        }
        return verified(ctx, module, &name, version.as_deref(), arch.as_deref(), true);
    }
    if !holds(&installed, &name, version, arch) {
        if !ctx.making_changes(promise, &mut result, &format!("install repo type package: {name}"))
        {
            return result;
        }
        if ctx.simulated_package(PackageNote::new(Operation::Install, &name, version, arch)) {
            return Outcome::Repaired;
        }
        module.updates(ctx);
        let exact = version.filter(|text| *text != "latest");
        if !module.act(ctx, "repo-install", &request("Name", &name, exact, arch)) {
            return Outcome::Failed;
        }
        return verified(ctx, module, &name, exact, arch, true);
    }
    let present = PackageNote::new(Operation::Present, &name, version, arch);
    if version != Some("latest") {
        ctx.simulated_package(present);
        log!(ctx, Verbose, "Package '{name}' already installed");
        return Outcome::Kept;
    }
    let updates = module.updates(ctx);
    let mut wanted = Vec::new();
    for update in updates
        .iter()
        .filter(|update| update.name == name && arch.is_none_or(|arch| arch == update.arch))
    {
        if !holds(&installed, &name, Some(&update.version), Some(&update.arch)) {
            wanted.push(update.clone());
        }
    }
    if wanted.is_empty() {
        ctx.simulated_package(present);
        return Outcome::Kept;
    }
    if !ctx.making_changes(promise, &mut result, &format!("install repo type package: {name}")) {
        return result;
    }
    if ctx.simulation.is_some() {
        for one in &wanted {
            let (version, arch) = (Some(&*one.version), Some(&*one.arch));
            ctx.simulated_package(PackageNote::new(Operation::Install, &name, version, arch));
        }
        return Outcome::Repaired;
    }
    let all: String = wanted
        .iter()
        .map(|one| request("Name", &name, Some(&one.version), Some(&one.arch)))
        .collect();
    if !module.act(ctx, "repo-install", &all) {
        return Outcome::Failed;
    }
    let mut result = Outcome::Kept;
    for one in &wanted {
        result =
            result.merge(verified(ctx, module, &name, Some(&one.version), Some(&one.arch), true));
    }
    result
}

fn absent(ctx: &mut Context<'_>, promise: &Rc<Expanded>, module: &Module) -> Outcome {
    let version = promise.scalar("version").map(ToString::to_string);
    let arch = promise.scalar("architecture").map(ToString::to_string);
    let (version, arch) = (version.as_deref(), arch.as_deref());
    if version == Some("latest") {
        ctx.error("Package version 'latest' not supported forabsent package promise");
        return Outcome::Failed;
    }
    let name = promise.promiser.to_string();
    let Some(installed) = module.installed(ctx, false) else { return Outcome::Failed };
    let note = |operation| PackageNote::new(operation, &name, version, arch);
    if !holds(&installed, &name, version, arch) {
        ctx.simulated_package(note(Operation::Absent));
        return Outcome::Kept;
    }
    let mut result = Outcome::Skipped;
    if !ctx.making_changes(promise, &mut result, &format!("remove package '{name}'")) {
        return result;
    }
    if ctx.simulated_package(note(Operation::Remove)) {
        return Outcome::Repaired;
    }
    if !module.act(ctx, "remove", &request("Name", &name, version, arch)) {
        return Outcome::Failed;
    }
    verified(ctx, module, &name, version, arch, false)
}

// Looks again whether the change was made.
fn verified(
    ctx: &mut Context<'_>,
    module: &Module,
    name: &str,
    version: Option<&str>,
    arch: Option<&str>,
    wanted: bool,
) -> Outcome {
    let Some(installed) = module.installed(ctx, true) else { return Outcome::Failed };
    if let Some(left) = module.list(ctx, "list-updates-local", &module.options) {
        ctx.agent.packages.modules.updates.insert(module.name.clone(), left);
    }
    if holds(&installed, name, version, arch) == wanted {
        Outcome::Repaired
    } else {
        Outcome::Failed
    }
}
