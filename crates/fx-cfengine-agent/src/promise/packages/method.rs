//! A package method: what is installed is printed by a list command and read by regular
//! expressions; what differs is put down for the end of the section.

use std::rc::Rc;

use fx_cfengine::command::command_arg0;
use fx_cfengine::command::{is_executable, spec_for};
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::log;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::packages::Package;
use fx_cfengine::regex;
use fx_cfengine::text::path;
use fx_engine::Level;
use fx_host::Exit;

use crate::action::Action;
use crate::agent::Agent;

use super::listing::{NO_MATCH, default_arch, first_reference, list_installed};
use super::schedule::{Operation, add, changes};
use super::version::{Select, compare};

/// Keeps a promise made with a package method.
pub(super) fn keep(ctx: &mut Agent<'_>, promise: &Rc<Expanded>) -> Outcome {
    if let Some(fault) = fault(ctx, promise) {
        return ctx.settle(Level::Error, Outcome::Failed, promise, &fault);
    }
    let command =
        promise.scalar("package_list_command").map(ToString::to_string).unwrap_or_default();
    if !ctx.acquire_alone(promise, &format!("package-{}-{command}", promise.promiser)) {
        return Outcome::Skipped;
    }
    let arch = match default_arch(ctx, promise) {
        Some(arch) => arch,
        None => {
            let text = "Unable to obtain default architecture for package manager - aborting";
            return ctx.settle(Level::Error, Outcome::Failed, promise, text);
        }
    };
    if !list_installed(ctx, promise, &command, &arch) {
        ctx.error("Could not get list of installed packages");
        let text = "Unable to obtain a list of installed packages - aborting";
        return ctx.settle(Level::Error, Outcome::Failed, promise, text);
    }
    let wanted = Wanted::of(promise);
    let mut result = Outcome::Kept;
    for arch in &wanted.archs {
        log!(ctx, Verbose, " ... trying listed arch '{arch}' and version '{}'", wanted.version);
        result = result.merge(check(ctx, promise, &wanted, arch));
    }
    result
}

/// What the promise asks for.
struct Wanted {
    name: String,
    version: String,
    archs: Vec<String>,
    no_version: bool,
    patch: bool,
}

impl Wanted {
    fn of(promise: &Expanded) -> Wanted {
        let promiser = promise.promiser.to_string();
        let patch = policy(promise) == "patch";
        let archs = promise.list("package_architectures").map_or_else(
            || vec!["*".to_owned()],
            |archs| archs.iter().map(ToString::to_string).collect(),
        );
        if let Some(version) = promise.scalar("package_version") {
            return Wanted {
                name: promiser,
                version: version.to_string(),
                archs,
                no_version: false,
                patch,
            };
        }
        if let Some(version) = promise.scalar("package_version_regex") {
            let taken = |attribute: &str| {
                promise
                    .scalar(attribute)
                    .map(|pattern| first_reference(pattern, &promise.promiser))
                    .unwrap_or_default()
            };
            let mut arch = taken("package_arch_regex");
            if arch.is_empty() || arch == NO_MATCH {
                arch = "*".to_owned();
            }
            return Wanted {
                name: taken("package_name_regex"),
                version: first_reference(version, &promise.promiser),
                archs: vec![arch],
                no_version: false,
                patch,
            };
        }
        Wanted { name: promiser, version: "*".to_owned(), archs, no_version: true, patch }
    }
}

fn policy(promise: &Expanded) -> &str {
    promise.scalar("package_policy").map_or("add", |text| &**text)
}

fn fault(ctx: &Agent<'_>, promise: &Expanded) -> Option<String> {
    let has = |name: &str| promise.has(name);
    let generic = "e.g. use the standard library generic package_method";
    if !has("package_method") {
        return Some("Old package promise failed sanity check.".to_owned());
    }
    if !has("package_list_name_regex") {
        return Some(format!(
            "You must supply a method for determining the name of existing packages {generic}"
        ));
    }
    if !has("package_list_version_regex") {
        return Some(format!(
            "You must supply a method for determining the version of existing packages {generic}"
        ));
    }
    let shell = promise.bool("package_commands_useshell").unwrap_or(true);
    if let Some(command) = promise.scalar("package_list_command")
        && !shell
        && !is_executable(ctx, &command_arg0(command))
    {
        return Some(format!("The proposed package list command '{command}' was not executable"));
    }
    if !has("package_list_command") && !has("package_file_repositories") {
        return Some(format!(
            "You must supply a method for determining the list of existing packages (a command or repository list) {generic}"
        ));
    }
    let (name, version, arch) =
        (has("package_name_regex"), has("package_version_regex"), has("package_arch_regex"));
    if name || version || arch {
        if !name {
            return Some(
                "You must supply name regex if you supplied version or arch regex for parsing promiser string".to_owned(),
            );
        }
        let all = version && arch;
        let separate = (has("package_version"), has("package_architectures"));
        let conflict = if all { separate.0 || separate.1 } else { separate.0 && separate.1 };
        if conflict {
            return Some(
                "You must either supply all regexs for (name,version,arch) or a separate version number and architecture"
                    .to_owned(),
            );
        }
        if version && separate.0 {
            return Some(
                "You must either supply version regex or a separate version number".to_owned(),
            );
        }
        if arch && separate.1 {
            return Some("You must either supply arch regex or a separate architecture".to_owned());
        }
    }
    if !has("package_installed_regex") {
        return Some("!! Package installed regex undefined".to_owned());
    }
    let (code, pattern) = (has("package_noverify_returncode"), has("package_noverify_regex"));
    if policy(promise) == "verify" {
        if !has("package_verify_command") {
            return Some(
                "!! Package verify policy is used, but no package_verify_command is defined"
                    .to_owned(),
            );
        }
        if !code && !pattern {
            return Some(
                "!! Package verify policy is used, but no definition of verification failiure is set \
                 (package_noverify_returncode or packages.package_noverify_regex)"
                    .to_owned(),
            );
        }
    }
    if code && pattern {
        return Some(
            "!! Both package_noverify_returncode and package_noverify_regex are defined, pick one of them".to_owned(),
        );
    }
    for (command, attribute) in DEPENDENCIES {
        if !has(command) && has(attribute) {
            return Some(format!(
                "!! Dependency conflict: {command} is not used, but {attribute} is defined."
            ));
        }
    }
    None
}

/// Commands, and what has no meaning without them.
const DEPENDENCIES: &[(&str, &str)] = &[
    ("package_delete_command", "package_delete_convention"),
    ("package_list_command", "package_installed_regex"),
    ("package_list_command", "package_list_arch_regex"),
    ("package_list_command", "package_list_name_regex"),
    ("package_list_command", "package_list_version_regex"),
    ("package_patch_command", "package_patch_arch_regex"),
    ("package_patch_command", "package_patch_name_regex"),
    ("package_patch_command", "package_patch_version_regex"),
    ("package_patch_list_command", "package_patch_installed_regex"),
    ("package_verify_command", "package_noverify_regex"),
    ("package_verify_command", "package_noverify_returncode"),
];

/// Whether `left` stands to `right` as selected, by the commands of the method or built in.
fn versions(
    ctx: &mut Agent<'_>,
    promise: &Expanded,
    left: &str,
    right: &str,
    select: Select,
) -> Option<bool> {
    let less = |ctx: &mut Agent<'_>, one: &str, other: &str| match promise
        .scalar("package_version_less_command")
    {
        Some(command) => compare_by(ctx, promise, command, one, other),
        None => compare(one, other, true),
    };
    let equal = |ctx: &mut Agent<'_>| {
        if let Some(command) = promise.scalar("package_version_equal_command") {
            return compare_by(ctx, promise, command, left, right);
        }
        if promise.has("package_version_less_command") {
            return Some(!less(ctx, left, right)? && !less(ctx, right, left)?);
        }
        compare(left, right, false)
    };
    match select {
        Select::Equal => equal(ctx),
        Select::NotEqual => equal(ctx).map(|same| !same),
        Select::Less => less(ctx, left, right),
        Select::Greater => less(ctx, right, left),
        Select::GreaterOrEqual => less(ctx, left, right).map(|lower| !lower),
        Select::LessOrEqual => less(ctx, right, left).map(|lower| !lower),
    }
}

fn compare_by(
    ctx: &Agent<'_>,
    promise: &Expanded,
    command: &str,
    one: &str,
    other: &str,
) -> Option<bool> {
    let line = fill(command, &[("v1", one), ("v2", other)]);
    log!(ctx, Verbose, "Executing '{line}'");
    let shell = promise.bool("package_commands_useshell").unwrap_or(true);
    let spec = spec_for(ctx, &line, shell);
    let ended = ctx.in_evaluation("package version command", |act| act.run(&spec)).ok()?;
    Some(ended.exit == Exit::Code(0))
}

// Variables of a convention: `$(name)`, `${name}`.
fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut out = text.to_owned();
    for (name, value) in values {
        out = out.replace(&format!("$({name})"), value).replace(&format!("${{{name}}}"), value);
    }
    out
}

fn convention(text: &str, name: &str, version: &str, arch: &str) -> String {
    fill(text, &[("name", name), ("version", version), ("arch", arch)])
}

// Whether an installed package is the one asked for.
fn find(
    ctx: &mut Agent<'_>,
    promise: &Expanded,
    wanted: &Wanted,
    version: &str,
    arch: &str,
) -> Option<bool> {
    let command =
        promise.scalar("package_list_command").map(ToString::to_string).unwrap_or_default();
    let lists = &ctx.packages.lists;
    let Some(list) = lists.iter().find(|list| list.command == command) else { return Some(false) };
    let plain = |name: &str| name.replace(',', "_");
    let candidates: Vec<Package> = if wanted.patch {
        if list.patches.iter().any(|patch| regex::full_or_same(&wanted.name, &patch.name)) {
            return Some(true);
        }
        list.patches.clone()
    } else {
        list.packages
            .iter()
            .filter(|package| plain(&package.name) == plain(&wanted.name))
            .cloned()
            .collect()
    };
    for package in candidates {
        if plain(&package.name) != plain(&wanted.name) || (arch != "*" && arch != package.arch) {
            continue;
        }
        if version == "*" {
            return Some(true);
        }
        match versions(ctx, promise, &package.version, version, Select::Equal) {
            Some(false) => {}
            decided => return decided,
        }
    }
    Some(false)
}

fn check(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, wanted: &Wanted, arch: &str) -> Outcome {
    let any = if wanted.patch { "*" } else { arch };
    let Some(installed) = find(ctx, promise, wanted, "*", any) else {
        let text = "Failure trying to compare installed package versions";
        return ctx.settle(Level::Error, Outcome::Failed, promise, text);
    };
    let Some(matches) = find(ctx, promise, wanted, &wanted.version, arch) else {
        let text = "Failure trying to compare available package versions";
        return ctx.settle(Level::Error, Outcome::Failed, promise, text);
    };
    let name = Rc::clone(&promise.promiser);
    if wanted.patch {
        return schedule(ctx, promise, wanted, arch, installed, matches);
    }
    let go = match policy(promise) {
        "delete" if !(matches && installed) => {
            let text = format!("Package {name} to be deleted does not exist anywhere");
            return ctx.settle(Level::Verbose, Outcome::Kept, promise, &text);
        }
        "delete" => true,
        "reinstall" => matches && installed,
        _ => !(matches && installed),
    };
    if !go {
        let text = format!("Package '{name}' already installed and matches criteria");
        return ctx.settle(Level::Verbose, Outcome::Kept, promise, &text);
    }
    schedule(ctx, promise, wanted, arch, installed, matches)
}

// Puts an operation down, or warns when that is all that was promised.
fn plan(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    attribute: &str,
    operation: Operation,
    id: &str,
) -> Outcome {
    let command = promise.scalar(attribute).map(ToString::to_string);
    let Some(command) = command else {
        let verb = attribute.trim_start_matches("package_").trim_end_matches("_command");
        return ctx.settle(
            Level::Error,
            Outcome::Failed,
            promise,
            &format!("Package {verb} command undefined"),
        );
    };
    if ctx.action(promise) == Action::Warn {
        ctx.withhold(&changes(operation, &command, &[(id.to_owned(), Rc::clone(promise))]));
        let text = format!(
            "Need to repair promise '{}' by '{}' package '{id}'",
            promise.promiser,
            operation.word()
        );
        return ctx.settle(Level::Warning, Outcome::Warn, promise, &text);
    }
    add(ctx, promise, &command, operation, id);
    Outcome::Repaired
}

fn schedule(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    wanted: &Wanted,
    arch: &str,
    installed: bool,
    matched: bool,
) -> Outcome {
    let (name, version) = (wanted.name.as_str(), wanted.version.as_str());
    log!(
        ctx,
        Verbose,
        "Checking if package ({name},{version},{arch}) [name,version,arch] is at the desired state (installed={},matched={})",
        u8::from(installed),
        u8::from(matched)
    );
    let delete_convention = promise.scalar("package_delete_convention").cloned();
    let name_convention = promise.scalar("package_name_convention").cloned();
    let mut id = match (&delete_convention, &name_convention) {
        (Some(text), _) if policy(promise) == "delete" => convention(text, name, version, arch),
        (_, Some(text)) => convention(text, name, version, arch),
        _ => name.to_owned(),
    };
    log!(ctx, Verbose, "Package promises to refer to itself as '{id}' to the manager");
    let select = promise.scalar("package_select").map(|text| Select::parse(text));
    let in_range = !matches!(select, Some(Select::NotEqual | Select::Less | Select::Greater));
    let mut action = policy(promise).to_owned();
    if action == "addupdate" {
        action = if installed { "update" } else { "add" }.to_owned();
    }
    let chosen = (matched && in_range) || (installed && wanted.no_version);
    match &*action {
        "add" if installed => {
            let text = format!(
                "Package '{}' already installed, so we never add it again",
                promise.promiser
            );
            ctx.settle(Level::Verbose, Outcome::Kept, promise, &text)
        }
        "add" => {
            if promise.has("package_file_repositories") {
                match largest(ctx, promise, wanted, arch, select) {
                    Some((file, _)) => id = file,
                    None => {
                        ctx.verbose("No package in file repositories satisfy version constraint");
                        return Outcome::Kept;
                    }
                }
            }
            plan(ctx, promise, "package_add_command", Operation::Add, &id)
        }
        "delete" if chosen => {
            if let Some(rest) = id.strip_prefix("$(firstrepo)")
                && let Some(repositories) = promise.list("package_file_repositories")
            {
                let found = repositories
                    .iter()
                    .map(|directory| format!("{directory}/{rest}"))
                    .find(|file| ctx.host().stat(&path(file)).is_ok());
                match found {
                    Some(file) => id = file,
                    None => ctx.error(&format!(
                        "Package '{rest}' can't be found in any of the listed repositories"
                    )),
                }
            }
            plan(ctx, promise, "package_delete_command", Operation::Delete, &id)
        }
        "delete" => ctx.settle(
            Level::Verbose,
            Outcome::Kept,
            promise,
            "Package deletion is as promised -- no match",
        ),
        "reinstall" => {
            if !promise.has("package_delete_command") {
                return ctx.settle(
                    Level::Error,
                    Outcome::Failed,
                    promise,
                    "Package delete command undefined",
                );
            }
            if wanted.no_version {
                let text = "Package reinstallation cannot be promised -- insufficient version info or no match";
                return ctx.settle(Level::Error, Outcome::Failed, promise, text);
            }
            let mut result = Outcome::Kept;
            if chosen {
                result = result.merge(plan(
                    ctx,
                    promise,
                    "package_delete_command",
                    Operation::Delete,
                    &id,
                ));
            }
            result.merge(plan(ctx, promise, "package_add_command", Operation::Add, &id))
        }
        "update" => {
            update(ctx, promise, wanted, arch, (installed, matched && in_range), id, select)
        }
        "patch" if matched && !installed => {
            plan(ctx, promise, "package_patch_command", Operation::Patch, &id)
        }
        "patch" => {
            let text = format!(
                "Package patch state of '{}' is as promised -- already installed",
                promise.promiser
            );
            ctx.settle(Level::Verbose, Outcome::Kept, promise, &text)
        }
        _ if chosen => plan(ctx, promise, "package_verify_command", Operation::Verify, &id),
        _ => {
            let text = format!("Package '{}' cannot be verified -- no match", promise.promiser);
            ctx.settle(Level::Info, Outcome::Failed, promise, &text)
        }
    }
}

fn update(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    wanted: &Wanted,
    arch: &str,
    (installed, matched): (bool, bool),
    mut id: String,
    select: Option<Select>,
) -> Outcome {
    let mut version = wanted.version.clone();
    if promise.has("package_file_repositories") {
        match largest(ctx, promise, wanted, arch, select) {
            Some((file, found)) => {
                id = file;
                version = found;
            }
            None => {
                ctx.verbose("No package in file repositories satisfy version constraint");
                return Outcome::Kept;
            }
        }
    }
    let mut old =
        Package { name: wanted.name.clone(), version: "*".to_owned(), arch: "*".to_owned() };
    if installed {
        let command =
            promise.scalar("package_list_command").map(ToString::to_string).unwrap_or_default();
        let present =
            ctx.packages.lists.iter().find(|list| list.command == command).and_then(|list| {
                list.packages.iter().find(|package| {
                    package.name == wanted.name && (arch == "*" || arch == package.arch)
                })
            });
        let newer = match present.cloned() {
            Some(package) => {
                let newer =
                    versions(ctx, promise, &package.version, &version, Select::Less) == Some(true);
                old = package;
                newer
            }
            None => false,
        };
        if !newer {
            let text =
                format!("Installed packaged '{}' is up to date, not updating", promise.promiser);
            return ctx.settle(Level::Verbose, Outcome::Kept, promise, &text);
        }
    }
    if !installed && (!matched || wanted.no_version) {
        let text = format!(
            "Package '{}' cannot be updated -- no match or not installed",
            promise.promiser
        );
        return ctx.settle(Level::Error, Outcome::Failed, promise, &text);
    }
    if promise.has("package_update_command") {
        return plan(ctx, promise, "package_update_command", Operation::Update, &id);
    }
    ctx.verbose("Package update command undefined - failing over to delete then add");
    let gone = match promise.scalar("package_delete_convention") {
        Some(text) => convention(text, &old.name, &old.version, &old.arch),
        None => id.clone(),
    };
    for (command, verb) in [("package_add_command", "add"), ("package_delete_command", "delete")] {
        if !promise.has(command) {
            return ctx.settle(
                Level::Error,
                Outcome::Failed,
                promise,
                &format!("Package {verb} command undefined"),
            );
        }
    }
    plan(ctx, promise, "package_delete_command", Operation::Delete, &gone).merge(plan(
        ctx,
        promise,
        "package_add_command",
        Operation::Add,
        &id,
    ))
}

// The file of a repository that satisfies the version asked for, with its version.
fn largest(
    ctx: &mut Agent<'_>,
    promise: &Expanded,
    wanted: &Wanted,
    arch: &str,
    select: Option<Select>,
) -> Option<(String, String)> {
    const MARK: &str = "\u{1}";
    let text =
        promise.scalar("package_name_convention").map_or("$(name)", |text| &**text).to_owned();
    let pattern = super::quoted(&convention(&text, &wanted.name, MARK, arch)).replace(MARK, "(.*)");
    let mut found = None;
    for directory in promise.list("package_file_repositories").unwrap_or_default() {
        let Ok(entries) = ctx.host().list(&path(&directory)) else {
            ctx.error(&format!("Can't open local directory '{directory}'"));
            continue;
        };
        let mut names: Vec<String> =
            entries.iter().map(|entry| entry.name.to_string_lossy().into_owned()).collect();
        names.sort();
        for name in names {
            if !regex::full_or_same(&pattern, &name) {
                continue;
            }
            let version = first_reference(&pattern, &name);
            if wanted.version == "*"
                || versions(
                    ctx,
                    promise,
                    &version,
                    &wanted.version,
                    select.unwrap_or(Select::Equal),
                ) == Some(true)
            {
                found = Some((name, version));
            }
        }
    }
    found
}
