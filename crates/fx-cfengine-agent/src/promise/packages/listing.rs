//! What is installed: the output of list commands read by regular expressions.

use fx_cfengine::command::command_arg0;
use fx_cfengine::command::spec_for;
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::log;
use fx_cfengine::regex;
use fx_cfengine::text::{decode, path};
use fx_host::Exit;

use crate::agent::Agent;

use super::schedule::command_summary;
use super::{Installed, Package};

/// What stands for a part that could not be taken from a text.
pub(super) const NO_MATCH: &str = "CF_NOMATCH";

/// The first group of the first match, or the mark of no match.
pub(super) fn first_reference(pattern: &str, text: &str) -> String {
    match regex::captures(pattern, text) {
        None => NO_MATCH.to_owned(),
        Some(found) => {
            found.groups.get(1).map_or_else(|| NO_MATCH.to_owned(), |(_, text)| text.to_string())
        }
    }
}

/// The architecture of packages whose line has none.
pub(super) fn default_arch(ctx: &Agent<'_>, promise: &Expanded) -> Option<String> {
    let Some(command) = promise.scalar("package_default_arch_command") else {
        return Some("default".to_owned());
    };
    let spec = spec_for(ctx, command, true);
    let ended = ctx.in_evaluation("package_default_arch_command", |act| act.run(&spec)).ok()?;
    decode(&ended.stdout).lines().next().map(|line| line.trim().to_owned())
}

/// Reads what is installed, once for each list command of a section.
pub(super) fn list_installed(
    ctx: &mut Agent<'_>,
    promise: &Expanded,
    command: &str,
    arch: &str,
) -> bool {
    if ctx.packages.lists.iter().any(|list| list.command == command) {
        return true;
    }
    update_list(ctx, promise);
    log!(ctx, Verbose, "Reading package list from '{command}'");
    let shell = promise.bool("package_commands_useshell").unwrap_or(true);
    let Some((text, ended_well)) = output(ctx, command, shell) else { return false };
    let of = |name: &str| promise.scalar(name).map(|text| &**text);
    let patterns = Patterns {
        name: of("package_list_name_regex").unwrap_or_default(),
        version: of("package_list_version_regex").unwrap_or_default(),
        arch: of("package_list_arch_regex"),
    };
    let mut packages = Vec::new();
    if let Some(start) = of("package_multiline_start") {
        packages = read_records(&text, start, &patterns, arch);
    } else {
        let installed = of("package_installed_regex").unwrap_or_default();
        for line in text.lines() {
            if !regex::full_or_same(installed, line) {
                log!(
                    ctx,
                    Verbose,
                    "Package line '{line}' did not match the package_installed_regex pattern"
                );
                continue;
            }
            match patterns.read(line, arch) {
                Some(package) => packages.push(package),
                None => log!(
                    ctx,
                    Verbose,
                    "Package line '{line}' did not match one of the package_list_(name|version|arch)_regex patterns"
                ),
            }
        }
    }
    packages.reverse();
    // What a command printed before it failed is what the next promise takes for the list.
    if !ended_well {
        if !packages.is_empty() {
            let command = command.to_owned();
            ctx.packages.lists.push(Installed { command, packages, patches: Vec::new() });
        }
        return false;
    }
    let mut patches = Vec::new();
    if let Some(command) = of("package_patch_list_command")
        && let Some((text, _)) = output(ctx, command, shell)
    {
        let patterns = Patterns {
            name: of("package_patch_name_regex").unwrap_or(patterns.name),
            version: of("package_patch_version_regex").unwrap_or(patterns.version),
            arch: of("package_patch_arch_regex"),
        };
        for line in text.lines() {
            if of("package_patch_installed_regex")
                .is_some_and(|pattern| regex::full_or_same(pattern, line))
                && let Some(patch) = patterns.read(line, arch)
            {
                patches.insert(0, patch);
            }
        }
    }
    report_inventory(ctx, command, &packages);
    ctx.packages.lists.push(Installed { command: command.to_owned(), packages, patches });
    true
}

// All that a command says, and whether it ended well.
fn output(ctx: &Agent<'_>, command: &str, shell: bool) -> Option<(String, bool)> {
    let mut spec = spec_for(ctx, command, shell);
    spec.merge_stderr = true;
    match ctx.in_evaluation("package_list_command", |act| act.run(&spec)) {
        Ok(ended) => Some((decode(&ended.stdout), ended.exit == Exit::Code(0))),
        Err(error) => {
            ctx.error(&format!(
                "Couldn't open the package list with command '{command}'. (cf_popen: {error})"
            ));
            None
        }
    }
}

// The program of a command, also behind env(1) with its assignments.
fn real_manager(command: &str) -> String {
    let program = command_arg0(command);
    if program != "env" && !program.ends_with("/env") {
        return program;
    }
    let words = command.trim_start().split(' ').skip(1).filter(|word| !word.is_empty());
    words.into_iter().find(|word| !word.contains('=')).map_or(program, command_arg0)
}

// Runs the command that refreshes what the manager knows, unless it ran not long ago.
fn update_list(ctx: &mut Agent<'_>, promise: &Expanded) {
    let Some(command) = promise.scalar("package_list_update_command").cloned() else { return };
    let add =
        promise.scalar("package_add_command").map(|text| real_manager(text)).unwrap_or_default();
    let manager = add.rsplit('/').next().unwrap_or_default();
    let stamp = format!("{}/software_update_timestamp_{manager}", ctx.config.paths.state);
    let horizon = promise.int("package_list_update_ifelapsed").unwrap_or(24 * 60);
    let now = ctx.host().now().secs;
    if let Ok(meta) = ctx.host().stat(&path(&stamp))
        && now - meta.mtime.secs < horizon.saturating_mul(60)
    {
        log!(
            ctx,
            Verbose,
            "'{stamp}' is less than {horizon} minutes old. Not updating package list."
        );
        return;
    }
    log!(ctx, Verbose, "Calling package list update command: '{command}'");
    if !ctx.withholds() {
        let mut spec = spec_for(ctx, &command, true);
        spec.merge_stderr = true;
        let updated = ctx.in_evaluation("package_list_update_command", |act| act.run(&spec));
        if let Ok(ended) = updated {
            let summary = command_summary(&command);
            for line in decode(&ended.stdout).lines() {
                ctx.info(&format!("Q:{summary:>20} ...:{}", line.replace('%', "%%")));
            }
        }
        ctx.write_state(&stamp, b"");
    }
}

struct Patterns<'p> {
    name: &'p str,
    version: &'p str,
    arch: Option<&'p str>,
}

impl Patterns<'_> {
    fn read(&self, line: &str, default_arch: &str) -> Option<Package> {
        let name = word(&first_reference(self.name, line));
        let version = word(&first_reference(self.version, line));
        let arch = match self.arch {
            Some(pattern) => word(&first_reference(pattern, line)),
            None => default_arch.to_owned(),
        };
        if [&name, &version, &arch].iter().any(|text| text.is_empty() || *text == NO_MATCH) {
            return None;
        }
        Some(Package { name, version, arch })
    }
}

fn word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().to_owned()
}

// Records of several lines, each begun by a line that matches `start`.
fn read_records(
    text: &str,
    start: &str,
    patterns: &Patterns<'_>,
    default_arch: &str,
) -> Vec<Package> {
    let mut out = Vec::new();
    let blank =
        || Package { name: String::new(), version: String::new(), arch: default_arch.to_owned() };
    let mut current = blank();
    let finish = |package: Package, out: &mut Vec<Package>| {
        if !package.name.is_empty() && !package.version.is_empty() {
            out.push(package);
        }
    };
    for line in text.lines() {
        if regex::full_or_same(start, line) {
            finish(std::mem::replace(&mut current, blank()), &mut out);
        }
        if regex::full_or_same(patterns.name, line) {
            current.name = word(&first_reference(patterns.name, line));
        }
        if regex::full_or_same(patterns.version, line) {
            current.version = word(&first_reference(patterns.version, line));
        }
        if let Some(pattern) = patterns.arch.filter(|pattern| regex::full_or_same(pattern, line)) {
            current.arch = word(&first_reference(pattern, line));
        }
    }
    finish(current, &mut out);
    out
}

fn report_inventory(ctx: &mut Agent<'_>, command: &str, packages: &[Package]) {
    if ctx.withholds() {
        return;
    }
    // What env(1) sets and env itself are not the manager.
    let mut rest = command.trim_start();
    if command_arg0(rest).rsplit('/').next() == Some("env") {
        let words: Vec<&str> = rest.split_whitespace().skip(1).collect();
        let first = words.iter().position(|word| !word.contains('='));
        rest = first.map_or(rest, |at| words[at]);
    }
    let manager = command_arg0(rest);
    let manager = manager.rsplit('/').next().unwrap_or_default();
    let mut text = String::new();
    for package in packages {
        let name = package.name.replace(',', "_");
        let version = package.version.replace(',', "_");
        text.push_str(&format!("{name},{version},{},{manager}\n", package.arch));
    }
    let file = format!("{}/software_packages.csv", ctx.config.paths.state);
    ctx.write_state(&file, text.as_bytes());
}

/// The inventory no longer holds once packages have changed.
pub(super) fn forget_inventory(ctx: &mut Agent<'_>) {
    let file = format!("{}/software_packages.csv", ctx.config.paths.state);
    if !ctx.withholds() && ctx.host().stat(&path(&file)).is_ok() {
        // It stays to be read, but is as old as can be.
        let never = fx_host::Time { secs: 0, nanos: 0 };
        let aged = ctx.own_state(|act| act.set_times(&path(&file), Some(never), Some(never)));
        if let Err(error) = aged {
            ctx.error(&error.to_string());
        }
    }
}
