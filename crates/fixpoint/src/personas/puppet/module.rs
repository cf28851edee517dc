//! `puppet module list|install|upgrade|uninstall`: the modules of the environment, from archives
//! and directories of this machine. Nothing is downloaded.

use std::path::{Path, PathBuf};

use fx_host::{Commands, Edits, Files, OsHost, Spec};
use fx_puppet::Installed;

use super::flags::Flags;
use super::ground::{fail, say};
use super::help;
use super::settings::Settings;
use crate::terminal;

/// Runs the subcommand; its exit code.
pub(super) fn run(flags: &Flags, words: &[String]) -> u8 {
    let Some((action, words)) = words.split_first() else {
        return fail(help::no_action("module", None));
    };
    let host = OsHost::new();
    let settings = Settings::read(&host, flags, "main");
    let modules = Modules { host: &host, flags, path: settings.request(&host).modulepath };
    match (action.as_str(), words) {
        ("list", _) => modules.list(&settings.get("environment")),
        ("install", [source]) => ended(modules.install(source)),
        ("upgrade", [source]) => ended(modules.upgrade(source)),
        ("uninstall", [name]) => ended(modules.uninstall(&name.replace('/', "-"))),
        ("install" | "upgrade" | "uninstall", _) => {
            help::wrong_number("module", action, 1, words.len())
        }
        (known @ ("search" | "changes" | "build" | "generate"), _) => fail(format_args!(
            "'module {known}' is not supported: nothing is downloaded or published here; see `puppet help module`"
        )),
        (other, _) => fail(help::no_action("module", Some(other))),
    }
}

fn ended(done: Result<(), String>) -> u8 {
    match done {
        Ok(()) => 0,
        Err(message) => fail(message),
    }
}

struct Modules<'m> {
    host: &'m OsHost,
    flags: &'m Flags,
    path: Vec<PathBuf>,
}

/// A module that was unpacked beside the others, and is removed again unless it is moved.
struct Unpacked<'m> {
    host: &'m OsHost,
    /// The directory that holds it.
    place: PathBuf,
    module: Installed,
}

impl Drop for Unpacked<'_> {
    fn drop(&mut self) {
        let _may_be_gone = remove(self.host, &self.place);
    }
}

impl Modules<'_> {
    fn list(&self, environment: &str) -> u8 {
        match self.flags.get("render-as") {
            None | Some("console") => {}
            Some("json") => {
                return say(&fx_puppet::module_json(self.host, &self.path, environment).to_string());
            }
            Some(form) => {
                return fail(format_args!(
                    "'module list' in the form '{form}' is not supported: it would hold objects of Ruby; use --render-as json"
                ));
            }
        }
        let list = fx_puppet::module_list(self.host, &self.path, self.flags.has("tree"));
        for warning in &list.warnings {
            terminal::hand_on(&format!("Warning: {warning}\n"));
        }
        // Nothing at all is still a line.
        if list.text.is_empty() { say("") } else { terminal::print(&list.text) }
    }

    /// The directory that modules are installed into.
    fn target(&self) -> Result<PathBuf, String> {
        let given = self.flags.get("target-dir").map(|dir| fx_host::Env::cwd(self.host).join(dir));
        given.or_else(|| self.path.first().cloned()).ok_or_else(|| {
            "Could not install: the modulepath is empty; use --target-dir DIRECTORY".to_owned()
        })
    }

    fn find(&self, full: &str) -> Option<Installed> {
        let all = fx_puppet::installed_modules(self.host, &self.path);
        all.into_iter().find(|module| module.full.as_deref() == Some(full))
    }

    fn install(&self, source: &str) -> Result<(), String> {
        let target = self.target()?;
        say(&format!("Notice: Preparing to install into {} ...", target.display()));
        if self.host.lstat(&target).is_err() {
            act(&target, self.make_dirs(&target))?;
            say(&format!("Notice: Created target directory {}", target.display()));
        }
        let unpacked = self.unpack(source, &target)?;
        let module = &unpacked.module;
        let (name, version) = (shown(module), shown_version(module));
        let is_forced = self.flags.has("force");
        if let Some(old) = self.find(&name).filter(|_| !is_forced) {
            if old.version == module.version {
                let version = old.version.unwrap_or_default();
                say(&format!("Notice: Module {source} {version} is already installed."));
                return Ok(());
            }
            return Err(format!(
                "Could not install module '{name}' ({version})\n  Module '{name}' ({}) is already installed\n    Use `puppet module upgrade` to install a different version\n    Use `puppet module install --force` to re-install only this module",
                shown_version(&old)
            ));
        }
        self.needs(module, "install")?;
        say("Notice: Installing -- do not interrupt ...");
        self.put(&unpacked, &target)?;
        say(&format!("{}\n└── {name} ({version})", target.display()));
        Ok(())
    }

    fn upgrade(&self, source: &str) -> Result<(), String> {
        let is_here = self.host.stat(Path::new(source)).is_ok();
        let wanted = source.replace('/', "-");
        if !is_here {
            say(&format!("Notice: Preparing to upgrade '{wanted}' ..."));
            return Err(match self.find(&wanted) {
                Some(_) => format!(
                    "Could not upgrade module '{wanted}'\n  Nothing is downloaded here\n    Use `puppet module upgrade ARCHIVE` with the archive or directory of the new version"
                ),
                None => {
                    not_installed("upgrade", &wanted)
                        + "\n    Use `puppet module install` to install this module"
                }
            });
        }
        let unpacked = self.unpack(source, &self.target()?)?;
        let name = shown(&unpacked.module);
        say(&format!("Notice: Preparing to upgrade '{name}' ..."));
        let Some(old) = self.find(&name) else {
            return Err(not_installed("upgrade", &name)
                + "\n    Use `puppet module install` to install this module");
        };
        let (from, to) = (shown_version(&old), shown_version(&unpacked.module));
        say(&format!("Notice: Found '{name}' ({from}) in {} ...", old.dir.display()));
        self.needs(&unpacked.module, "upgrade")?;
        say("Notice: Upgrading -- do not interrupt ...");
        self.put(&unpacked, &old.dir)?;
        say(&format!("{}\n└── {name} ({from} -> {to})", old.dir.display()));
        Ok(())
    }

    fn uninstall(&self, name: &str) -> Result<(), String> {
        say(&format!("Notice: Preparing to uninstall '{name}' ..."));
        let Some(module) = self.find(name) else { return Err(not_installed("uninstall", name)) };
        let version = shown_version(&module);
        let all = fx_puppet::installed_modules(self.host, &self.path);
        let needs = |other: &Installed| other.needs.iter().any(|(need, _)| need == name);
        let by: Vec<String> = all.iter().filter(|other| needs(other)).map(shown).collect();
        if !by.is_empty() && !self.flags.has("force") {
            return Err(format!(
                "Could not uninstall module '{name}'\n  Other installed modules have dependencies on '{name}' ({version})\n    They are {}\n    Use `puppet module uninstall --force` to uninstall this module anyway",
                by.join(", ")
            ));
        }
        let place = module.dir.join(&module.name);
        act(&place, remove(self.host, &place))?;
        say(&format!("Removed '{name}' ({version}) from {}", module.dir.display()));
        Ok(())
    }

    /// Unpacks an archive or copies a directory beside the other modules.
    fn unpack(&self, source: &str, target: &Path) -> Result<Unpacked<'_>, String> {
        let path = fx_host::Env::cwd(self.host).join(source);
        let Ok(about) = self.host.stat(&path) else {
            return Err(format!(
                "Could not install module '{source}'\n  There is no such file or directory, and nothing is downloaded here\n    Use `puppet module install ARCHIVE` with an archive or directory of this machine"
            ));
        };
        let place = target.join(".installing");
        let _left_by_a_broken_run = remove(self.host, &place);
        act(&place, self.host.make_dir(&place, 0o755))?;
        let mut unpacked =
            Unpacked { host: self.host, place: place.clone(), module: Installed::default() };
        let words: [&std::ffi::OsStr; 5] = if about.is_dir() {
            ["cp".as_ref(), "-R".as_ref(), "--".as_ref(), path.as_ref(), place.as_ref()]
        } else {
            ["tar".as_ref(), "-xozf".as_ref(), path.as_ref(), "-C".as_ref(), place.as_ref()]
        };
        let spec = Spec::argv(words.iter().map(std::ffi::OsString::from));
        let ended = self.host.run(&spec).map_err(|error| error.to_string())?;
        if !ended.exit.success() {
            return Err(format!(
                "Could not extract contents of module archive: {}",
                String::from_utf8_lossy(&ended.stderr).trim_end()
            ));
        }
        unpacked.module = fx_puppet::unpacked_module(self.host, &place).ok_or_else(|| {
            format!("Could not install '{source}': it holds no module with a name in metadata.json")
        })?;
        Ok(unpacked)
    }

    /// Moves what was unpacked to its place; what was there is removed.
    fn put(&self, unpacked: &Unpacked<'_>, target: &Path) -> Result<(), String> {
        let module = &unpacked.module;
        let place = target.join(module.short());
        if self.host.lstat(&place).is_ok() {
            act(&place, remove(self.host, &place))?;
        }
        act(&place, self.host.rename(&module.dir.join(&module.name), &place))?;
        act(&place, self.host.commit())
    }

    /// Refuses a module whose dependencies are not there.
    fn needs(&self, module: &Installed, verb: &str) -> Result<(), String> {
        if self.flags.has("ignore-dependencies") || self.flags.has("force") {
            return Ok(());
        }
        let lacks = module.needs.iter().find(|(need, _)| self.find(need).is_none());
        let Some((need, range)) = lacks else { return Ok(()) };
        Err(format!(
            "Could not {verb} module '{}' ({})\n  It needs '{need}' ({range}), which is not installed, and nothing is downloaded here\n    Install it first, or use --ignore-dependencies",
            shown(module),
            shown_version(module)
        ))
    }

    fn make_dirs(&self, path: &Path) -> Result<(), fx_host::HostError> {
        if let Some(parent) = path.parent().filter(|parent| self.host.lstat(parent).is_err()) {
            self.make_dirs(parent)?;
        }
        self.host.make_dir(path, 0o755)
    }
}

fn act<T>(path: &Path, done: Result<T, fx_host::HostError>) -> Result<T, String> {
    done.map_err(|error| format!("Could not change '{}': {error}", path.display()))
}

/// Removes a tree; links are removed, not followed.
fn remove(host: &OsHost, path: &Path) -> Result<(), fx_host::HostError> {
    if !host.lstat(path)?.is_dir() {
        return host.remove_file(path);
    }
    for entry in host.list(path)? {
        remove(host, &path.join(&entry.name))?;
    }
    host.remove_dir(path)
}

fn shown(module: &Installed) -> String {
    module.full.clone().unwrap_or_else(|| module.name.clone())
}

fn shown_version(module: &Installed) -> String {
    module.version.as_ref().map_or_else(|| "???".to_owned(), |version| format!("v{version}"))
}

fn not_installed(verb: &str, name: &str) -> String {
    format!("Could not {verb} module '{name}'\n  Module '{name}' is not installed")
}
