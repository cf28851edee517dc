//! A package module: a program that lists and changes packages by a protocol of lines. Where it is
//! one of the masterfiles' own in Python, and there is no Python, our own code calls the same
//! tools in its place.

use std::collections::HashMap;
use std::rc::Rc;

use fx_cfengine::command::{in_environment, split_command};
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::log;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::packages::Package;
use fx_cfengine::packages::{self, Kind};
use fx_cfengine::policy::Rval;
use fx_cfengine::text::{Str, decode, encode, int_from, os, path};
use fx_engine::{Change, Failure, Level};
use fx_host::{Ended, Exit, Spec, Stdin};
use fx_resources::package::tools::{Listed, Tools, Wanted};

use crate::agent::Agent;
use crate::change::{ABSENT, package, value};
use crate::simulate::{Operation, PackageNote};
use crate::wording;

/// What modules listed as installed, for the run.
#[derive(Default)]
pub(crate) struct Caches {
    installed: HashMap<String, Vec<Package>>,
    updates: HashMap<String, Vec<Package>>,
}

impl Caches {
    /// Whether a module was asked in this run already.
    pub(super) fn know(&self, kind: Kind, module: &str) -> bool {
        match kind {
            Kind::Installed => self.installed.contains_key(module),
            Kind::Updates => self.updates.contains_key(module),
        }
    }
}

pub(super) struct Module {
    name: String,
    means: Means,
    /// What the promise asks the module for.
    options: Vec<String>,
    /// What the module is always asked for.
    pub(super) defaults: Vec<String>,
    /// Minutes after which what is installed is asked for again.
    pub(super) installed_after: i64,
    /// The same for what could be updated.
    pub(super) updates_after: i64,
}

/// How a module does its work.
enum Means {
    /// By this command line, with a command behind it.
    Script(Vec<String>),
    /// By our own code.
    Own(Tools),
}

/// What a module knows of the package that a promise names.
struct Data {
    from_file: bool,
    name: String,
    version: Option<String>,
    arch: Option<String>,
}

/// What is to be done with packages.
enum Job<'a> {
    Install(&'a [Wanted]),
    InstallFile(&'a str),
    Remove(&'a Wanted),
}

impl Job<'_> {
    // The command of the protocol, and what the module reads.
    fn request(&self) -> (&'static str, String) {
        match self {
            Job::Install(wanted) => ("repo-install", wanted.iter().map(lines_of).collect()),
            Job::InstallFile(file) => ("file-install", format!("File={file}\n")),
            Job::Remove(wanted) => ("remove", lines_of(wanted)),
        }
    }
}

fn lines_of(wanted: &Wanted) -> String {
    request("Name", &wanted.name, wanted.version.as_deref(), wanted.arch.as_deref())
}

fn option_lines(options: &[String]) -> String {
    options.iter().map(|text| format!("options={text}\n")).collect()
}

fn wanted(name: &str, version: Option<&str>, arch: Option<&str>) -> Wanted {
    let text = |text: Option<&str>| text.map(str::to_owned);
    Wanted { name: name.to_owned(), version: text(version), arch: text(arch) }
}

/// What a module listed, and whether it said something else besides.
#[derive(Default)]
pub(super) struct Listing {
    pub(super) packages: Vec<Package>,
    pub(super) wrong: bool,
}

/// Keeps a promise made with a package module.
pub(super) fn keep(ctx: &mut Agent<'_>, promise: &Rc<Expanded>) -> Outcome {
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
    if !ctx.acquire_alone(promise, &format!("new-package-{name}")) {
        return Outcome::Skipped;
    }
    let Some(module) = Module::of(ctx, promise, named) else {
        let text = "Some error occurred while contacting package module for promise '".to_owned()
            + &name
            + "'";
        return ctx.settle(Level::Error, Outcome::Failed, promise, &text);
    };
    if !module.speaks(ctx) {
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
    fn name_of(ctx: &Agent<'_>, promise: &Expanded) -> Option<Str> {
        promise
            .scalar("package_module_name")
            .or_else(|| promise.scalar("package_module"))
            .cloned()
            .or_else(|| ctx.control.package_module.clone())
    }

    fn of(ctx: &Agent<'_>, promise: &Expanded, name: Str) -> Option<Module> {
        let own = promise.attributes.iter();
        let own = own.map(|(name, value)| (Rc::clone(name), value.clone())).collect();
        Module::build(ctx, own, &name)
    }

    /// A module as its body alone describes it.
    pub(super) fn named(ctx: &Agent<'_>, name: &Str) -> Option<Module> {
        Module::build(ctx, HashMap::new(), name)
    }

    /// Whether the program knows the protocol.
    pub(super) fn speaks(&self, ctx: &Agent<'_>) -> bool {
        match self.means {
            Means::Own(_) => true,
            Means::Script(_) => {
                self.talk(ctx, "supports-api-version", "").is_some_and(|reply| reply.trim() == "1")
            }
        }
    }

    fn build(ctx: &Agent<'_>, mut attributes: HashMap<Str, Rval>, name: &Str) -> Option<Module> {
        if let Some(body) = ctx.find_body("package_module", name) {
            for attribute in &body.attributes {
                if attribute
                    .guard
                    .as_ref()
                    .is_none_or(|guard| ctx.holds_in_body(guard, &body.namespace))
                    && !attributes.contains_key(&attribute.name)
                {
                    let value = ctx.expand_rval(&attribute.value, None, Some("body"));
                    attributes.insert(Rc::clone(&attribute.name), value);
                }
            }
        }
        let scalar = |name: &str| attributes.get(name).and_then(|value| value.as_scalar().cloned());
        let given = |name: &str| scalar(name).filter(|text| !text.is_empty());
        let script = given("module_path").map_or_else(
            || format!("{}/packages/{name}", ctx.config.paths.modules),
            |text| text.to_string(),
        );
        let interpreter = given("interpreter");
        let means = means(ctx, name, &script, interpreter.as_deref())?;
        let list = |name: &str| match attributes.get(name) {
            Some(Rval::List(items)) => Some(
                items.iter().filter_map(|item| item.as_scalar().cloned()).collect::<Vec<Str>>(),
            ),
            _ => None,
        };
        let lines = |options: &[Str]| -> Vec<String> {
            let given = options.iter().filter(|text| &***text != "cf_null");
            given.map(ToString::to_string).collect()
        };
        let defaults = list("default_options").unwrap_or_default();
        let options = list("options").map_or_else(|| lines(&defaults), |own| lines(&own));
        let minutes = |name: &str| scalar(name).and_then(|text| int_from(&text)).unwrap_or(0);
        Some(Module {
            name: name.to_string(),
            means,
            options,
            defaults: lines(&defaults),
            installed_after: minutes("query_installed_ifelapsed"),
            updates_after: minutes("query_updates_ifelapsed"),
        })
    }

    fn spec(&self, ctx: &Agent<'_>, command: &str, request: &str) -> Spec {
        let argv: &[String] = match &self.means {
            Means::Script(argv) => argv,
            Means::Own(_) => &[],
        };
        let words = argv.iter().map(|word| os(word)).chain([os(command)]);
        let mut spec = in_environment(ctx, Spec::argv(words));
        spec.stdin = Stdin::Bytes(encode(request).into_owned());
        spec
    }

    // Queries the module for something, which policy asks for when it is evaluated.
    fn talk(&self, ctx: &Agent<'_>, command: &str, request: &str) -> Option<String> {
        let spec = self.spec(ctx, command, request);
        let ended = ctx.in_evaluation(&self.author(), |act| act.run(&spec)).map_err(Failure::from);
        if let Ok(ended) = &ended {
            show_errors(ctx, &ended.stderr);
        }
        self.reply(ctx, command, ended)
    }

    fn author(&self) -> String {
        format!("package module {}", self.name)
    }

    /// What the module knows of the package that a promise names.
    fn data(
        &self,
        ctx: &Agent<'_>,
        promiser: &str,
        version: Option<&str>,
        arch: Option<&str>,
    ) -> Option<Data> {
        if let Means::Own(tools) = &self.means {
            if !promiser.starts_with('/') {
                // The module prints what is wrong and ends with 1.
                let refused = || Failure::of_command(&self.name, Exit::Code(1), b"");
                let name = match refused().filter(|_| !tools.is_name(promiser)) {
                    Some(failure) => Err(failure),
                    None => Ok(promiser.to_owned()),
                };
                let name = self.own(ctx, "get-package-data", name)?;
                return Some(Data { from_file: false, name, version: None, arch: None });
            }
            let found = tools.in_file(ctx.host(), &path(promiser)).map(|found| Data {
                from_file: true,
                name: found.name,
                version: Some(found.version),
                arch: Some(found.arch),
            });
            return self.own(ctx, "get-package-data", found);
        }
        let asked = option_lines(&self.options) + &request("File", promiser, version, arch);
        let reply = self.talk(ctx, "get-package-data", &asked)?;
        let field =
            |key: &str| reply.lines().find_map(|line| line.strip_prefix(key)).map(str::to_owned);
        Some(Data {
            from_file: field("PackageType=")? == "file",
            name: field("Name=")?,
            version: field("Version="),
            arch: field("Architecture="),
        })
    }

    // What our own code gave, or what is logged of a module that fails.
    fn own<T>(&self, ctx: &Agent<'_>, command: &str, done: Result<T, Failure>) -> Option<T> {
        if let Means::Own(tools) = &self.means {
            show_errors(ctx, &tools.take_errors());
        }
        match done {
            Ok(value) => Some(value),
            Err(failure) => {
                self.reply(ctx, command, Err(failure));
                None
            }
        }
    }

    fn reply(
        &self,
        ctx: &Agent<'_>,
        command: &str,
        ended: Result<Ended, Failure>,
    ) -> Option<String> {
        match ended {
            Ok(ended) if ended.exit == Exit::Code(0) => Some(decode(&ended.stdout)),
            Ok(_) | Err(Failure::Command { .. }) => {
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

    pub(super) fn list(
        &self,
        ctx: &Agent<'_>,
        command: &str,
        options: &[String],
    ) -> Option<Listing> {
        if let Means::Own(tools) = &self.means {
            let listed = match command {
                "list-installed" => tools.installed(ctx.host()),
                _ => ctx.in_evaluation(&self.author(), |act| {
                    tools.updates(act, options, command == "list-updates")
                }),
            };
            let packages = self.own(ctx, command, listed)?.into_iter();
            let package =
                |one: Listed| Package { name: one.name, version: one.version, arch: one.arch };
            return Some(Listing { packages: packages.map(package).collect(), wrong: false });
        }
        let reply = self.talk(ctx, command, &option_lines(options))?;
        let mut out = Listing::default();
        for line in reply.lines() {
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            match key {
                "Name" => out.packages.push(Package {
                    name: value.to_owned(),
                    version: String::new(),
                    arch: String::new(),
                }),
                "Version" => {
                    if let Some(last) = out.packages.last_mut() {
                        last.version = value.to_owned();
                    }
                }
                "Architecture" => {
                    if let Some(last) = out.packages.last_mut() {
                        last.arch = value.to_owned();
                    }
                }
                "Error" | "ErrorMessage" => {
                    ctx.error(&format!("package module: {line}"));
                    out.wrong = true;
                }
                _ => {
                    ctx.error(&format!("Unsupported response from package module: {line}"));
                    out.wrong = true;
                }
            }
        }
        Some(out)
    }

    fn installed(&self, ctx: &mut Agent<'_>, fresh: bool) -> Option<Vec<Package>> {
        if !fresh && let Some(known) = ctx.packages.modules.installed.get(&self.name) {
            return Some(known.clone());
        }
        let options = if fresh { &self.options } else { &self.defaults };
        let list = self.list(ctx, "list-installed", options)?.packages;
        packages::keep(ctx, &self.name, Kind::Installed, &list);
        ctx.packages.modules.installed.insert(self.name.clone(), list.clone());
        Some(list)
    }

    // What could be updated; asked for once, which is when a module refreshes what it knows.
    fn updates(&self, ctx: &mut Agent<'_>) -> Vec<Package> {
        if let Some(known) = ctx.packages.modules.updates.get(&self.name) {
            return known.clone();
        }
        let list = self.list(ctx, "list-updates", &self.defaults).unwrap_or_default().packages;
        self.keep_updates(ctx, list.clone());
        list
    }

    fn keep_updates(&self, ctx: &mut Agent<'_>, list: Vec<Package>) {
        packages::keep(ctx, &self.name, Kind::Updates, &list);
        ctx.packages.modules.updates.insert(self.name.clone(), list);
    }

    // An operation whose reply, if any, reports an error.
    fn act(&self, ctx: &Agent<'_>, change: &Change, job: &Job<'_>) -> bool {
        let changes = std::slice::from_ref(change);
        let (command, request) = job.request();
        if let Means::Own(tools) = &self.means {
            let done = ctx.make(changes, |act| match job {
                Job::Install(wanted) => tools.install(act, &self.options, wanted),
                Job::InstallFile(file) => tools.install_file(act, file),
                Job::Remove(wanted) => tools.remove(act, &self.options, wanted),
            });
            return self.own(ctx, command, done).is_some_and(|done| done.made().is_some());
        }
        let spec = self.spec(ctx, command, &(option_lines(&self.options) + &request));
        let mut errors = Vec::new();
        let ended = ctx.make(changes, |act| {
            let ended = act.run(&spec)?;
            errors.clone_from(&ended.stderr);
            match Failure::of_command(&self.name, ended.exit, &ended.stderr) {
                Some(failure) => Err(failure),
                None => Ok(ended),
            }
        });
        show_errors(ctx, &errors);
        let ended = match ended {
            Ok(done) => match done.made() {
                Some(ended) => Ok(ended),
                None => return false,
            },
            Err(failure) => Err(failure),
        };
        let Some(reply) = self.reply(ctx, command, ended) else { return false };
        for line in reply.lines() {
            ctx.error(&format!("package module: {line}"));
        }
        reply.trim().is_empty()
    }
}

// A module's standard error is the agent's own.
fn show_errors(ctx: &Agent<'_>, errors: &[u8]) {
    let text = decode(errors);
    let text = text.trim_end_matches('\n');
    if !text.is_empty() {
        ctx.aside(text);
    }
}

/// Pieces that the modules of the masterfiles have which are written in Python.
const OWN_MODULES: &[(&str, &[&str])] = &[
    ("apt_get", &["CFENGINE_TEST_APT_GET_CMD", "def list_updates(online)"]),
    ("yum", &["CFENGINE_TEST_YUM_CMD", "def list_updates(online)"]),
    ("zypper", &["CFENGINE_TEST_ZYPPER_CMD", "def list_updates(online)"]),
    ("dnf", &["import dnf", "list-updates-local"]),
];

// How the module at a place can be used; what is missing for it is logged.
fn means(ctx: &Agent<'_>, name: &str, script: &str, interpreter: Option<&str>) -> Option<Means> {
    let missing = |what: &str, file: &str, place: &str| match ctx.host().stat(&path(file)) {
        Ok(_) => None,
        Err(error) => {
            let why = fx_cfengine::reason::reason(&error);
            Some(format!(
                "Cannot find package {what} at location '{file}' or access to {place} is restricted: {why}"
            ))
        }
    };
    let mut argv = interpreter.map(split_command).unwrap_or_default();
    let whose = if argv.is_empty() { ("module", "file") } else { ("module script", "the file") };
    let no_script = missing(whose.0, script, whose.1);
    let no_interpreter =
        argv.first().and_then(|program| missing("module interpreter", program, "the file"));
    let content = match &no_script {
        None => ctx.host().read_limited(&path(script), fx_host::limits::DATA).unwrap_or_default(),
        Some(_) => Vec::new(),
    };
    let content = decode(&content);
    let absent = match argv.first() {
        Some(program) => no_interpreter.is_some().then(|| program.clone()),
        None => absent_interpreter(ctx, &content),
    };
    if no_script.is_none()
        && let Err(error) = ctx.host().check_trusted(&path(script))
    {
        ctx.error(&error.to_string());
        return None;
    }
    if let Some(program) = &absent {
        // A script that is not there is taken for the masterfiles' own, whose body names the
        // interpreter.
        let is_own = |(known, pieces): &&(&str, &[&str])| {
            *known == name
                && (no_script.is_some() || pieces.iter().all(|piece| content.contains(piece)))
        };
        if let Some(tools) =
            OWN_MODULES.iter().find(is_own).and_then(|(name, _)| Tools::of_module(name))
        {
            log!(
                ctx,
                Verbose,
                "There is no '{program}' for package module '{name}': its tools are called directly"
            );
            return Some(Means::Own(tools));
        }
    }
    let missing = no_interpreter.or(no_script);
    if let Some(text) = &missing {
        ctx.error(text);
    }
    // The original's line says enough, but where what is missing is Python under another name.
    if let Some(program) = &absent
        && (missing.is_none() || program.contains("python"))
    {
        ctx.error(&wording::no_interpreter(name, program));
    }
    if missing.is_some() || absent.is_some() {
        return None;
    }
    argv.push(script.to_owned());
    Some(Means::Script(argv))
}

// The interpreter that the first line of a script names, where it is not on this machine.
fn absent_interpreter(ctx: &Agent<'_>, content: &str) -> Option<String> {
    let mut words = content.lines().next()?.strip_prefix("#!")?.split_whitespace();
    let program = words.next()?;
    if program.rsplit('/').next() == Some("env") {
        let program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
        return ctx.host().find_program(program).is_none().then(|| program.to_owned());
    }
    ctx.host().stat(&path(program)).is_err().then(|| program.to_owned())
}

fn holds(list: &[Package], name: &str, version: Option<&str>, arch: Option<&str>) -> bool {
    let version = version.filter(|text| *text != "latest");
    list.iter().any(|package| {
        package.name == name
            && version.is_none_or(|text| text == package.version)
            && arch.is_none_or(|text| text == package.arch)
    })
}

// A package that is not there yet, or another version of one that is.
fn installation(installed: &[Package], name: &str, version: Option<&str>) -> Change {
    match installed.iter().find(|one| one.name == name) {
        None => package(name, "ensure", ABSENT, "present"),
        Some(one) => {
            let to = version.filter(|to| *to != one.version).unwrap_or("latest");
            package(name, "version", value(&one.version), value(to))
        }
    }
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

fn present(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, module: &Module) -> Outcome {
    let version = promise.scalar("version").map(ToString::to_string);
    let arch = promise.scalar("architecture").map(ToString::to_string);
    let (version, arch) = (version.as_deref(), arch.as_deref());
    let Some(data) = module.data(ctx, &promise.promiser, version, arch) else {
        ctx.info(&format!("Can not obtain package data for promise: {}", promise.promiser));
        return Outcome::Failed;
    };
    if data.from_file
        && let Some(text) = unlike(data.version.as_deref(), version, data.arch.as_deref(), arch)
    {
        ctx.warning(&text);
        ctx.error("Package data and policy doesn't match");
        return Outcome::Failed;
    }
    let Some(installed) = module.installed(ctx, false) else { return Outcome::Failed };
    let mut result = Outcome::Skipped;
    let name = data.name;
    if data.from_file {
        let (version, arch) = (data.version, data.arch);
        let note = |operation| PackageNote::new(operation, &promise.promiser, None, None);
        if holds(&installed, &name, version.as_deref(), arch.as_deref()) {
            ctx.simulated_package(note(Operation::Present));
            return Outcome::Kept;
        }
        let change = installation(&installed, &name, version.as_deref());
        let should = format!("install file type package: {}", promise.promiser);
        if !ctx.may(promise, &mut result, std::slice::from_ref(&change), &should) {
            return result;
        }
        if ctx.simulated_package(note(Operation::Install)) {
            return Outcome::Repaired;
        }
        if !module.act(ctx, &change, &Job::InstallFile(&promise.promiser)) {
            return Outcome::Failed;
        }
        return verified(ctx, module, &name, version.as_deref(), arch.as_deref(), true);
    }
    if !holds(&installed, &name, version, arch) {
        let change = installation(&installed, &name, version);
        let should = format!("install repo type package: {name}");
        if !ctx.may(promise, &mut result, std::slice::from_ref(&change), &should) {
            return result;
        }
        if ctx.simulated_package(PackageNote::new(Operation::Install, &name, version, arch)) {
            return Outcome::Repaired;
        }
        module.updates(ctx);
        let exact = version.filter(|text| *text != "latest");
        if !module.act(ctx, &change, &Job::Install(&[wanted(&name, exact, arch)])) {
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
    let mut newer = Vec::new();
    for update in updates
        .iter()
        .filter(|update| update.name == name && arch.is_none_or(|arch| arch == update.arch))
    {
        if !holds(&installed, &name, Some(&update.version), Some(&update.arch)) {
            newer.push(update.clone());
        }
    }
    if newer.is_empty() {
        ctx.simulated_package(present);
        return Outcome::Kept;
    }
    let newest = newer.last().map(|one| one.version.clone());
    let change = installation(&installed, &name, newest.as_deref());
    let should = format!("install repo type package: {name}");
    if !ctx.may(promise, &mut result, std::slice::from_ref(&change), &should) {
        return result;
    }
    if ctx.simulation.is_some() {
        for one in &newer {
            let (version, arch) = (Some(&*one.version), Some(&*one.arch));
            ctx.simulated_package(PackageNote::new(Operation::Install, &name, version, arch));
        }
        return Outcome::Repaired;
    }
    let all: Vec<Wanted> =
        newer.iter().map(|one| wanted(&name, Some(&one.version), Some(&one.arch))).collect();
    if !module.act(ctx, &change, &Job::Install(&all)) {
        return Outcome::Failed;
    }
    let mut result = Outcome::Kept;
    for one in &newer {
        result =
            result.merge(verified(ctx, module, &name, Some(&one.version), Some(&one.arch), true));
    }
    result
}

fn absent(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, module: &Module) -> Outcome {
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
    let change = package(&name, "ensure", "present", ABSENT);
    let should = format!("remove package '{name}'");
    if !ctx.may(promise, &mut result, std::slice::from_ref(&change), &should) {
        return result;
    }
    if ctx.simulated_package(note(Operation::Remove)) {
        return Outcome::Repaired;
    }
    if !module.act(ctx, &change, &Job::Remove(&wanted(&name, version, arch))) {
        return Outcome::Failed;
    }
    verified(ctx, module, &name, version, arch, false)
}

// Looks again whether the change was made.
fn verified(
    ctx: &mut Agent<'_>,
    module: &Module,
    name: &str,
    version: Option<&str>,
    arch: Option<&str>,
    there: bool,
) -> Outcome {
    let Some(installed) = module.installed(ctx, true) else { return Outcome::Failed };
    if let Some(left) = module.list(ctx, "list-updates-local", &module.options) {
        module.keep_updates(ctx, left.packages);
    }
    if holds(&installed, name, version, arch) == there {
        Outcome::Repaired
    } else {
        Outcome::Failed
    }
}

// Why a package in a file is not the one that policy asks for.
fn unlike(
    version: Option<&str>,
    wanted_version: Option<&str>,
    arch: Option<&str>,
    wanted_arch: Option<&str>,
) -> Option<String> {
    if wanted_version == Some("latest") {
        return Some("Unsupported 'latest' version for package promise of type file.".to_owned());
    }
    [("arch", arch, wanted_arch), ("version", version, wanted_version)].into_iter().find_map(
        |(what, field, wanted)| {
            let (field, wanted) = (field?, wanted?);
            (field != wanted).then(|| {
                format!(
                    "Package {what} and one specified in policy doesn't match: {field} -> {wanted}"
                )
            })
        },
    )
}
