//! What the package modules of CFEngine do, by the same tools and without Python: lists of what is
//! installed and of what could be newer, and the commands that install and remove.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use fx_engine::Failure;
use fx_host::{Act, Ended, Exit, Look, Spec};

use super::dpkg::Record;
use super::version;
use crate::command;

/// A package in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Its version; of RPM with its epoch, where it has one.
    pub version: String,
    /// Its architecture.
    pub arch: String,
}

/// A package that is to be changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Its name.
    pub name: String,
    /// In which version; any where not given.
    pub version: Option<String>,
    /// Of which architecture; those that are installed where not given.
    pub arch: Option<String>,
}

enum Manager {
    Apt(Rc<Record>),
    /// `yum` or `dnf`.
    Yum(&'static str),
    Zypper,
}

/// The tools of a package manager.
pub struct Tools {
    manager: Manager,
    /// What tools printed on standard error, for whoever shows it.
    errors: RefCell<Vec<u8>>,
}

const RPM_FORMAT: &str = "%{name}\\t%{epoch}:%{version}-%{release}\\t%{arch}\\n";

impl Tools {
    /// The tools that a module of this name calls; nothing where they are not known here.
    pub fn of_module(name: &str) -> Option<Tools> {
        let manager = match name {
            "apt_get" => Manager::Apt(Rc::default()),
            "yum" => Manager::Yum("yum"),
            "dnf" => Manager::Yum("dnf"),
            "zypper" => Manager::Zypper,
            _ => return None,
        };
        Some(Tools { manager, errors: RefCell::default() })
    }

    /// What tools have printed on standard error since the last time.
    pub fn take_errors(&self) -> Vec<u8> {
        self.errors.take()
    }

    fn run(&self, act: &dyn Act, spec: &Spec) -> Result<Ended, Failure> {
        let ended = act.run(spec)?;
        self.errors.borrow_mut().extend_from_slice(&ended.stderr);
        Ok(ended)
    }

    // What a failing tool prints on standard output is about its progress.
    fn succeed(&self, act: &dyn Act, spec: &Spec) -> Result<Ended, Failure> {
        let ended = self.run(act, spec)?;
        succeeded(spec, ended)
    }

    fn query(&self, look: &dyn Look, spec: &Spec) -> Result<String, Failure> {
        let ended = look.query(spec)?;
        self.errors.borrow_mut().extend_from_slice(&ended.stderr);
        succeeded(spec, ended).map(|ended| command::stdout(&ended))
    }

    /// Whether a name could be that of a package in a repository.
    pub fn is_name(&self, name: &str) -> bool {
        let version =
            |(at, _): (usize, &str)| name[at + 1..].starts_with(|next: char| next.is_ascii_digit());
        let versioned =
            matches!(self.manager, Manager::Apt(_)) && name.match_indices('_').any(version);
        !name.is_empty() && !name.starts_with('-') && !name.contains([':', ',']) && !versioned
    }

    /// The package in a file.
    pub fn in_file(&self, look: &dyn Look, file: &Path) -> Result<Listed, Failure> {
        let file = file.to_string_lossy();
        let spec = match self.manager {
            Manager::Apt(_) => command::tool([
                "dpkg-deb",
                "--showformat",
                "${Package}\\t${Version}\\t${Architecture}\\n",
                "-W",
                &file,
            ]),
            _ => command::tool(["rpm", "--qf", RPM_FORMAT, "-qp", &file]),
        };
        let text = self.query(look, &spec)?;
        text.lines()
            .find_map(listed)
            .ok_or_else(|| Failure::new(format!("there is no package in '{file}'")))
    }

    /// All that is installed.
    pub fn installed(&self, look: &dyn Look) -> Result<Vec<Listed>, Failure> {
        let Manager::Apt(record) = &self.manager else {
            let spec = command::tool(["rpm", "-qa", "--qf", RPM_FORMAT]);
            let text = self.query(look, &spec)?;
            return Ok(text.lines().filter_map(listed).collect());
        };
        record.forget();
        let mut out = Vec::new();
        record.each(look, &mut |name, entry| {
            let there = ["installed", "half-configured", "half-installed"];
            if ["install", "hold"].contains(&&*entry.want) && there.contains(&&*entry.status) {
                out.push(Listed {
                    name: name.to_owned(),
                    version: entry.version.clone(),
                    arch: entry.architecture.clone(),
                });
            }
        })?;
        Ok(out)
    }

    /// What could be newer; `online` brings the lists of the repositories up to date before.
    pub fn updates(
        &self,
        act: &dyn Act,
        options: &[String],
        online: bool,
    ) -> Result<Vec<Listed>, Failure> {
        match &self.manager {
            Manager::Apt(_) => {
                let base = apt_get(act)?;
                if online {
                    self.succeed(act, &apt(base.iter().cloned().chain(["update".to_owned()])))?;
                }
                let more = ["--simulate", "--ignore-hold", "upgrade"].map(str::to_owned);
                let ended = self.succeed(act, &apt(base.into_iter().chain(more)))?;
                let native = native(act)?;
                let lines = command::stdout(&ended);
                Ok(lines.lines().filter_map(|line| apt_update(line, &native)).collect())
            }
            Manager::Yum(program) => {
                let check = |cached: bool| {
                    let mut argv = yum(program, options);
                    argv.extend(cached.then(|| "-C".to_owned()));
                    argv.push("check-update".to_owned());
                    self.run(act, &command::tool(argv))
                };
                let mut ended = check(!online)?;
                if ended.exit == Exit::Code(1) && !online {
                    // There is nothing cached yet.
                    ended = check(false)?;
                }
                match ended.exit {
                    Exit::Code(0) => Ok(Vec::new()),
                    Exit::Code(100) => Ok(yum_updates(&command::stdout(&ended))),
                    exit => Err(ended_badly(program, exit, &ended.stderr)),
                }
            }
            Manager::Zypper => {
                let mut argv = words(&["zypper", "--quiet", "-n"]);
                argv.extend((!online).then(|| "--no-refresh".to_owned()));
                argv.push("list-updates".to_owned());
                let ended = self.run(act, &command::tool(argv))?;
                Ok(command::stdout(&ended).lines().filter_map(zypper_update).collect())
            }
        }
    }

    /// Installs packages from repositories.
    pub fn install(
        &self,
        act: &dyn Act,
        options: &[String],
        wanted: &[Wanted],
    ) -> Result<(), Failure> {
        let installed = self.installed(act)?;
        match &self.manager {
            Manager::Apt(record) => {
                let native = native(act)?;
                let mut argv = apt_get(act)?;
                argv.extend(options.iter().cloned());
                argv.push("install".to_owned());
                for one in wanted {
                    argv.extend(apt_names(one, &installed, &native, false));
                }
                let done = self.succeed(act, &apt(argv)).map(drop);
                record.forget();
                done
            }
            Manager::Yum(_) | Manager::Zypper => self.install_rpm(act, options, wanted, &installed),
        }
    }

    // Packages that are there in another version are moved one after the other: no single command
    // of these tools takes both newer and older ones.
    fn install_rpm(
        &self,
        act: &dyn Act,
        options: &[String],
        wanted: &[Wanted],
        installed: &[Listed],
    ) -> Result<(), Failure> {
        let (base, name): (Vec<String>, _) = match self.manager {
            Manager::Yum(program) => {
                (yum(program, options), yum_name as fn(&Wanted, &str) -> String)
            }
            _ => (words(&["zypper", "--quiet", "-n"]), zypper_name as fn(&Wanted, &str) -> String),
        };
        let is_zypper = matches!(self.manager, Manager::Zypper);
        let with = |verb: &[&str], names: &[String]| {
            let verb = verb.iter().map(|word| (*word).to_owned());
            command::changing(base.iter().cloned().chain(verb).chain(names.iter().cloned()))
        };
        let mut together: Vec<String> = Vec::new();
        let mut one_by_one: Vec<Vec<String>> = Vec::new();
        for one in wanted {
            let there = installed.iter().filter(|known| known.name == one.name);
            let archs: Vec<&str> = match &one.arch {
                Some(arch) => vec![arch],
                None => there.clone().map(|known| &*known.arch).collect(),
            };
            let names: Vec<String> = if archs.is_empty() {
                vec![name(one, "")]
            } else {
                archs.iter().map(|arch| name(one, arch)).collect()
            };
            if one.version.is_some() && there.count() > 0 {
                one_by_one.push(names);
            } else {
                together.extend(names);
            }
        }
        let install: &[&str] = if is_zypper { &["install", "--oldpackage"] } else { &["install"] };
        let mut done = Ok(());
        if !together.is_empty() {
            done = self.succeed(act, &with(install, &together)).map(drop);
        }
        let moves: &[&[&str]] =
            if is_zypper { &[&["update"]] } else { &[&["upgrade"], &["downgrade"]] };
        for block in one_by_one {
            let there = |names: &[String]| {
                names.iter().all(|item| {
                    let spec = command::tool(["rpm", "--quiet", "-q", item]);
                    act.query(&spec).is_ok_and(|ended| ended.exit == Exit::Code(0))
                })
            };
            let mut moved = false;
            for verb in moves {
                // Whether it helped is seen in the record alone.
                self.run(act, &with(verb, &block))?;
                moved = there(&block);
                if moved {
                    break;
                }
            }
            if !moved {
                self.run(act, &with(install, &block))?;
            }
        }
        done
    }

    /// Installs a package file.
    pub fn install_file(&self, act: &dyn Act, file: &str) -> Result<(), Failure> {
        match &self.manager {
            Manager::Apt(record) => {
                let argv = ["dpkg", "--force-confold", "--force-confdef", "-i", file];
                let done = self.succeed(act, &apt(argv.map(str::to_owned))).map(drop);
                record.forget();
                done
            }
            _ => {
                let argv = ["rpm", "--quiet", "--force", "-U", file];
                self.succeed(act, &command::changing(argv)).map(drop)
            }
        }
    }

    /// Removes a package.
    pub fn remove(
        &self,
        act: &dyn Act,
        options: &[String],
        wanted: &Wanted,
    ) -> Result<(), Failure> {
        match &self.manager {
            Manager::Apt(record) => {
                let (installed, native) = (self.installed(act)?, native(act)?);
                let mut base = apt_get(act)?;
                base.extend(options.iter().cloned());
                base.push("remove".to_owned());
                // Some releases take the native architecture behind a name, some do not.
                let plain = apt_names(wanted, &installed, &native, false);
                let full = apt_names(wanted, &installed, &native, true);
                let with = |names: &[String]| apt(base.iter().chain(names).cloned());
                let mut done = self.succeed(act, &with(&plain)).map(drop);
                if done.is_err() && plain != full {
                    done = self.succeed(act, &with(&full)).map(drop);
                }
                record.forget();
                done
            }
            Manager::Yum(program) => {
                let mut argv = yum(program, options);
                argv.extend(["remove".to_owned(), yum_name(wanted, arch(wanted))]);
                self.succeed(act, &command::changing(argv)).map(drop)
            }
            Manager::Zypper => {
                let mut argv = words(&["zypper", "--quiet", "-n", "remove"]);
                argv.push(zypper_name(wanted, arch(wanted)));
                self.succeed(act, &command::changing(argv)).map(drop)
            }
        }
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn arch(wanted: &Wanted) -> &str {
    wanted.arch.as_deref().unwrap_or_default()
}

fn ended_badly(program: &str, exit: Exit, stderr: &[u8]) -> Failure {
    Failure::of_command(program, exit, stderr)
        .unwrap_or_else(|| Failure::new(format!("'{program}' ended otherwise than expected")))
}

fn succeeded(spec: &Spec, ended: Ended) -> Result<Ended, Failure> {
    match Failure::of_command(&spec.display(), ended.exit, &ended.stderr) {
        Some(failure) => Err(failure),
        None => Ok(ended),
    }
}

// `NAME TAB VERSION TAB ARCHITECTURE`; RPM writes an epoch that is not there as `(none):`.
fn listed(line: &str) -> Option<Listed> {
    let mut fields = line.split('\t');
    let (name, version, arch) = (fields.next()?, fields.next()?, fields.next()?);
    let version = version.strip_prefix("(none):").unwrap_or(version);
    Some(Listed { name: name.to_owned(), version: version.to_owned(), arch: arch.to_owned() })
}

fn apt(argv: impl IntoIterator<Item = String>) -> Spec {
    command::changing(argv).env("DEBIAN_FRONTEND", "noninteractive").env("LC_ALL", "C")
}

// apt-get with what stops it from prompting; the names of these options changed with 1.1.
fn apt_get(look: &dyn Look) -> Result<Vec<String>, Failure> {
    let mut argv = words(&[
        "apt-get",
        "-o",
        "Dpkg::Options::=--force-confold",
        "-o",
        "Dpkg::Options::=--force-confdef",
        "-y",
    ]);
    let text = command::stdout(&command::query(look, &command::tool(["apt-get", "-v"]))?);
    let release = text.split_whitespace().nth(1).unwrap_or_default();
    argv.extend(if version::dpkg(release, "1.1").is_lt() {
        words(&["--force-yes"])
    } else {
        words(&["--allow-downgrades", "--allow-remove-essential", "--allow-change-held-packages"])
    });
    Ok(argv)
}

fn native(look: &dyn Look) -> Result<String, Failure> {
    let spec = command::tool(["dpkg", "--print-architecture"]);
    Ok(command::stdout(&command::query(look, &spec)?).trim().to_owned())
}

// A package for apt-get, once for each architecture that is asked for or there already.
fn apt_names(wanted: &Wanted, installed: &[Listed], native: &str, full: bool) -> Vec<String> {
    let version = wanted.version.as_ref().map(|text| format!("={text}")).unwrap_or_default();
    let archs: Vec<&str> = match &wanted.arch {
        Some(arch) => vec![arch],
        None => {
            let there = installed.iter().filter(|known| known.name == wanted.name);
            there.map(|known| &*known.arch).collect()
        }
    };
    let name = &wanted.name;
    if archs.is_empty() {
        return vec![format!("{name}{version}")];
    }
    let one = |arch: &&str| {
        let suffix = if *arch == native && !full { String::new() } else { format!(":{arch}") };
        format!("{name}{suffix}{version}")
    };
    archs.iter().map(one).collect()
}

// `Inst NAME[:ARCH] [OLD] (NEW ORIGINS [ARCH]) …`
fn apt_update(line: &str, native: &str) -> Option<Listed> {
    let mut fields = line.strip_prefix("Inst ")?.split_whitespace();
    let name = fields.next()?.split(':').next()?;
    fields.next().filter(|old| old.starts_with('[') && old.ends_with(']'))?;
    let rest = line.split_once(" (")?.1.split_once(')')?.0;
    let version = rest.split_whitespace().next()?;
    let arch = rest.rsplit_once('[').and_then(|(_, arch)| arch.strip_suffix(']'));
    Some(Listed {
        name: name.to_owned(),
        version: version.to_owned(),
        arch: arch.unwrap_or(native).to_owned(),
    })
}

fn yum(program: &str, options: &[String]) -> Vec<String> {
    let mut argv = words(&[program, "--quiet", "-y"]);
    argv.extend(options.iter().filter_map(|option| {
        let repository = option.starts_with("enablerepo=") || option.starts_with("disablerepo=");
        match () {
            () if option.starts_with('-') => Some(option.clone()),
            () if repository => Some(format!("--{option}")),
            () => None,
        }
    }));
    argv
}

fn yum_name(wanted: &Wanted, arch: &str) -> String {
    let version = wanted.version.as_ref().map(|text| format!("-{text}")).unwrap_or_default();
    let dot = if arch.is_empty() { "" } else { "." };
    format!("{}{version}{dot}{arch}", wanted.name)
}

fn zypper_name(wanted: &Wanted, arch: &str) -> String {
    let version = wanted.version.as_ref().map(|text| format!("={text}")).unwrap_or_default();
    let dot = if arch.is_empty() { "" } else { "." };
    format!("{}{dot}{arch}{version}", wanted.name)
}

// `NAME.ARCH VERSION REPOSITORY`; a long entry goes on in the next line, which is indented.
fn yum_updates(text: &str) -> Vec<Listed> {
    let mut out = Vec::new();
    let mut kept = String::new();
    for line in text.lines() {
        if !line.starts_with(char::is_whitespace) {
            kept.clear();
        }
        let line = format!("{kept}{line}");
        let fields: Vec<&str> = line.split_whitespace().collect();
        match fields[..] {
            [name, version, _] => {
                kept.clear();
                if let Some((name, arch)) = name.rsplit_once('.') {
                    out.push(Listed {
                        name: name.to_owned(),
                        version: version.to_owned(),
                        arch: arch.to_owned(),
                    });
                }
            }
            _ if fields.len() < 3 => kept = line,
            _ => kept.clear(),
        }
    }
    out
}

// `v | REPOSITORY | NAME | OLD | NEW | ARCH`
fn zypper_update(line: &str) -> Option<Listed> {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    match fields[..] {
        ["v", _, name, _, version, arch] => Some(Listed {
            name: name.to_owned(),
            version: version.to_owned(),
            arch: arch.to_owned(),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use fx_host::{MemoryHost, Reply};

    use super::*;

    fn shown(list: &[Listed]) -> Vec<String> {
        list.iter().map(|one| format!("{} {} {}", one.name, one.version, one.arch)).collect()
    }

    #[test]
    fn lists_of_updates_are_read_as_the_modules_read_them() {
        let apt = [
            "Inst php5-cli [5.3.10-1ubuntu3.17] (5.3.10-1ubuntu3.18 Ubuntu:12.04/precise [amd64]) []",
            "Inst php5-cli:i386 [5.3.10-1] (5.3.10-2 Ubuntu:12.04/precise-updates [i386]) []",
            "Inst rudder-agent [4.1.0~rc1-jessie0] (4.1.0-jessie0 release/4.1.0-2 jessie:jessie)",
            "Inst new (1.0 Debian:12 [amd64])",
            "Conf php5-cli (5.3.10-1ubuntu3.18 Ubuntu:12.04/precise [amd64])",
        ];
        let read: Vec<Listed> = apt.iter().filter_map(|line| apt_update(line, "amd64")).collect();
        let expected = [
            "php5-cli 5.3.10-1ubuntu3.18 amd64",
            "php5-cli 5.3.10-2 i386",
            "rudder-agent 4.1.0-jessie0 amd64",
        ];
        assert_eq!(shown(&read), expected);
        let yum = "\nbash.x86_64   4.2.46-35   updates\nvery-long-name.noarch\n      1:2.0-1   base\n\
                   Obsoleting Packages\n";
        assert_eq!(
            shown(&yum_updates(yum)),
            ["bash 4.2.46-35 x86_64", "very-long-name 1:2.0-1 noarch"]
        );
        let zypper = "v | Rudder repository | rudder-agent | 3.2.6 | 3.2.7.rc1-1 | x86_64";
        let read: Vec<Listed> = zypper_update(zypper).into_iter().collect();
        assert_eq!(shown(&read), ["rudder-agent 3.2.7.rc1-1 x86_64"]);
    }

    #[test]
    fn names_carry_versions_and_architectures_as_each_tool_has_them() {
        let wanted = |version: Option<&str>, arch: Option<&str>| Wanted {
            name: "a".to_owned(),
            version: version.map(str::to_owned),
            arch: arch.map(str::to_owned),
        };
        let listed = |arch: &str| Listed {
            name: "a".to_owned(),
            version: "1".to_owned(),
            arch: arch.to_owned(),
        };
        let both = [listed("amd64"), listed("i386")];
        assert_eq!(apt_names(&wanted(None, None), &[], "amd64", false), ["a"]);
        assert_eq!(apt_names(&wanted(Some("2"), None), &both, "amd64", false), ["a=2", "a:i386=2"]);
        assert_eq!(apt_names(&wanted(None, Some("amd64")), &[], "amd64", true), ["a:amd64"]);
        assert_eq!(yum_name(&wanted(Some("2-1"), None), "x86_64"), "a-2-1.x86_64");
        assert_eq!(zypper_name(&wanted(Some("2-1"), None), "x86_64"), "a.x86_64=2-1");
    }

    #[test]
    fn another_version_of_an_rpm_is_reached_by_upgrade_then_downgrade_then_install() {
        let host = MemoryHost::linux();
        host.on_any(|_, spec| {
            let line = spec.display();
            let is = |start: &str| line.starts_with(start);
            Some(match () {
                () if is("rpm -qa") => Reply::exit(0).stdout("a\t(none):1-1\tx86_64\n"),
                () if is("rpm --quiet") => Reply::exit(1),
                () => Reply::exit(0),
            })
        });
        let wanted = Wanted { name: "a".to_owned(), version: Some("2-1".to_owned()), arch: None };
        Tools::of_module("yum").unwrap().install(&host, &[], &[wanted]).unwrap();
        let ran: Vec<String> = host.calls().iter().map(Spec::display).collect();
        let ran: Vec<&String> = ran.iter().filter(|line| line.starts_with("yum")).collect();
        let expected = ["upgrade", "downgrade", "install"]
            .map(|verb| format!("yum --quiet -y {verb} a-2-1.x86_64"));
        assert_eq!(ran, expected.iter().collect::<Vec<_>>());
    }
}
