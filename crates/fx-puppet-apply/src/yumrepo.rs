//! `yumrepo`: sections of the files that name package repositories. Files are found where yum
//! looks for them; what stands in them beside the section is left as it is.

use std::path::{Path, PathBuf};

use fx_engine::{Change, Failure, Resource as Thing, ResourceId, Target};
use fx_host::{Act, Look, WriteOptions};
use fx_puppet::Resource;

use super::attributes::text;
use super::engine_resource::Made;

const CONF: &str = "/etc/yum.conf";
const DIRS: [&str; 2] = ["/etc/yum.repos.d", "/etc/yum/repos.d"];

/// Properties in the order they are written.
const PROPERTIES: &[&str] = &[
    "descr",
    "mirrorlist",
    "baseurl",
    "enabled",
    "gpgcheck",
    "payload_gpgcheck",
    "repo_gpgcheck",
    "gpgkey",
    "mirrorlist_expire",
    "include",
    "exclude",
    "gpgcakey",
    "includepkgs",
    "enablegroups",
    "module_hotfixes",
    "failovermethod",
    "keepalive",
    "retries",
    "http_caching",
    "timeout",
    "metadata_expire",
    "protect",
    "priority",
    "minrate",
    "throttle",
    "bandwidth",
    "cost",
    "proxy",
    "proxy_username",
    "proxy_password",
    "s3_enabled",
    "sslcacert",
    "sslverify",
    "sslclientcert",
    "sslclientkey",
    "metalink",
    "skip_if_unavailable",
    "assumeyes",
    "deltarpm_percentage",
    "deltarpm_metadata_percentage",
    "username",
    "password",
];

/// Properties that are true or false, and begin with a large letter in the file.
const BOOLEANS: &[&str] = &[
    "enabled",
    "gpgcheck",
    "payload_gpgcheck",
    "repo_gpgcheck",
    "enablegroups",
    "module_hotfixes",
    "keepalive",
    "protect",
    "s3_enabled",
    "sslverify",
    "skip_if_unavailable",
    "assumeyes",
];

pub(super) struct Yumrepo {
    name: String,
    absent: bool,
    target: Option<String>,
    /// Properties with what they should be; `absent` takes a line away.
    wanted: Vec<(&'static str, String)>,
    /// The file of the section, as last seen.
    file: PathBuf,
}

pub(super) fn make(resource: &Resource) -> Made {
    let wanted = PROPERTIES
        .iter()
        .filter_map(|property| {
            let value = text(resource, property)?;
            let is_word = BOOLEANS.contains(property) && value != "absent";
            let value = if is_word { fx_puppet::text::capitalize(&value) } else { value };
            Some((*property, value))
        })
        .collect();
    Made::Other(Box::new(Yumrepo {
        name: text(resource, "name").unwrap_or_else(|| resource.title.to_string()),
        absent: text(resource, "ensure").as_deref() == Some("absent"),
        target: text(resource, "target"),
        wanted,
        file: PathBuf::new(),
    }))
}

/// The key of a property in the file.
fn key(property: &str) -> &str {
    if property == "descr" { "name" } else { property }
}

/// The lines of a file that belong to a section, its head included.
fn section(lines: &[String], name: &str) -> Option<std::ops::Range<usize>> {
    let head = |line: &String| {
        line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).map(str::to_owned)
    };
    let start = lines.iter().position(|line| head(line).as_deref() == Some(name))?;
    let end = lines[start + 1..].iter().position(|line| head(line).is_some());
    Some(start..end.map_or(lines.len(), |at| start + 1 + at))
}

fn value<'l>(lines: &'l [String], key: &str) -> Option<&'l str> {
    lines.iter().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == key).then(|| value.trim())
    })
}

fn lines(host: &dyn Look, path: &Path) -> Result<Vec<String>, Failure> {
    let bytes = host.read_opt(path)?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
}

fn dirs(host: &dyn Look) -> Result<Vec<PathBuf>, Failure> {
    let conf = lines(host, Path::new(CONF))?;
    let own = section(&conf, "main").and_then(|range| value(&conf[range], "reposdir"));
    let all: Vec<PathBuf> = match own {
        Some(list) => {
            list.split([',', ' ']).filter(|dir| !dir.is_empty()).map(Into::into).collect()
        }
        None => DIRS.iter().map(PathBuf::from).collect(),
    };
    Ok(all.into_iter().filter(|dir| host.stat(dir).is_ok_and(|meta| meta.is_dir())).collect())
}

impl Yumrepo {
    /// Where a new section is written.
    fn path(&self, dirs: &[PathBuf]) -> PathBuf {
        let Some(last) = dirs.last() else { return PathBuf::from(CONF) };
        let Some(target) = self.target.as_deref().filter(|target| *target != "absent") else {
            return last.join(format!("{}.repo", self.name));
        };
        let suffix = if target.strip_suffix(".repo").is_some() { "" } else { ".repo" };
        let full = PathBuf::from(format!("{target}{suffix}"));
        match full.parent() {
            Some(parent) if dirs.iter().any(|dir| dir == parent) => full,
            _ => last.join(full.file_name().unwrap_or_default()),
        }
    }

    /// The file that has the section.
    fn find(&self, host: &dyn Look, dirs: &[PathBuf]) -> Result<Option<PathBuf>, Failure> {
        let mut files = vec![PathBuf::from(CONF)];
        for dir in dirs {
            let mut names: Vec<PathBuf> =
                host.list(dir)?.iter().map(|item| dir.join(&item.name)).collect();
            names.retain(|path| path.extension().is_some_and(|ending| ending == "repo"));
            names.sort();
            files.extend(names);
        }
        for file in files {
            if section(&lines(host, &file)?, &self.name).is_some() {
                return Ok(Some(file));
            }
        }
        Ok(None)
    }
}

impl Thing for Yumrepo {
    fn id(&self) -> ResourceId {
        ResourceId::new("yumrepo", self.name.as_str())
    }

    fn target(&self) -> Target {
        Target::other("yumrepo", &self.name)
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        let values = self.wanted.iter().map(|(property, value)| (*property, value));
        // A second line would be a setting, or a section, of its own.
        if let Some((property, _)) =
            values.chain([("name", &self.name)]).find(|(_, value)| value.contains(['\n', '\r']))
        {
            return Err(Failure::new(format!("{property} must not contain a line break")));
        }
        let dirs = dirs(host)?;
        let found = self.find(host, &dirs)?;
        self.file = found.clone().unwrap_or_else(|| self.path(&dirs));
        let Some(file) = found else {
            let change = Change::of(self.target(), "ensure", "absent", "present");
            return Ok(if self.absent { Vec::new() } else { vec![change] });
        };
        if self.absent {
            return Ok(vec![Change::of(self.target(), "ensure", "present", "absent")]);
        }
        let lines = lines(host, &file)?;
        let own = section(&lines, &self.name).map_or(&[][..], |range| &lines[range]);
        let mut changes = Vec::new();
        for (property, wanted) in &self.wanted {
            let is = value(own, key(property)).unwrap_or("absent");
            if is != wanted {
                changes.push(Change::of(self.target(), *property, is, wanted.as_str()));
            }
        }
        Ok(changes)
    }

    fn apply(&mut self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        let mut all = lines(host, &self.file)?;
        let range = section(&all, &self.name);
        if self.absent {
            all.drain(range.unwrap_or(0..0));
            if all.iter().all(|line| line.trim().is_empty()) {
                return Ok(host.remove_file(&self.file)?);
            }
        } else {
            let range = range.unwrap_or_else(|| {
                all.push(format!("[{}]", self.name));
                all.len() - 1..all.len()
            });
            let mut own: Vec<String> = all.drain(range.clone()).collect();
            let is_new = changes.iter().any(|change| change.property == "ensure");
            for (property, wanted) in &self.wanted {
                if !is_new && !changes.iter().any(|change| change.property == *property) {
                    continue;
                }
                let is_line = |line: &String| {
                    line.split_once('=').is_some_and(|(name, _)| name.trim() == key(property))
                };
                let line = format!("{}={wanted}", key(property));
                match (own.iter().position(is_line), wanted.as_str()) {
                    (Some(at), "absent") => drop(own.remove(at)),
                    (None, "absent") => {}
                    (Some(at), _) => own[at] = line,
                    (None, _) => {
                        let end = own.iter().rposition(|line| !line.trim().is_empty());
                        own.insert(end.map_or(own.len(), |at| at + 1), line);
                    }
                }
            }
            all.splice(range.start..range.start, own);
        }
        let options = WriteOptions { mode: Some(0o644), ..WriteOptions::default() };
        Ok(host.write(&self.file, (all.join("\n") + "\n").as_bytes(), &options)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::{Edits, Files, MemoryHost};

    fn repo(name: &str, absent: bool, wanted: &[(&'static str, &str)]) -> Yumrepo {
        Yumrepo {
            name: name.into(),
            absent,
            target: None,
            wanted: wanted.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(),
            file: PathBuf::new(),
        }
    }

    fn converge(host: &MemoryHost, repo: &mut Yumrepo) -> Vec<String> {
        let changes = repo.observe(host).expect("the machine can be looked at");
        repo.apply(host, &changes).expect("the machine can be changed");
        assert!(repo.observe(host).expect("looked at again").is_empty());
        changes.iter().map(|change| change.property.to_string()).collect()
    }

    #[test]
    fn a_value_of_two_lines_is_refused() {
        let host = MemoryHost::new();
        let evil = "http://a\n[evil]\nbaseurl=http://b";
        let told = repo("a", false, &[("baseurl", evil)]).observe(&host).err();
        let told = told.map(|failure| failure.to_string()).unwrap_or_default();
        assert!(told.contains("baseurl must not contain a line break"), "{told}");
        assert!(repo("a]\n[b", false, &[]).observe(&host).is_err());
    }

    #[test]
    fn sections_are_made_changed_and_removed_among_others() {
        let host = MemoryHost::new();
        host.make_dir(Path::new("/etc"), 0o755).expect("made");
        host.make_dir(Path::new("/etc/yum.repos.d"), 0o755).expect("made");
        let file = Path::new("/etc/yum.repos.d/a.repo");
        let read = || String::from_utf8(host.read(file).unwrap_or_default()).expect("text");
        let mut one = repo("a", false, &[("descr", "A"), ("enabled", "1"), ("cost", "absent")]);
        assert_eq!(converge(&host, &mut one), ["ensure"]);
        assert_eq!(read(), "[a]\nname=A\nenabled=1\n");
        host.write(file, b"[a]\nname=A\ncost=5\n# kept\n\n[b]\nname=B\n", &WriteOptions::default())
            .expect("written");
        assert_eq!(converge(&host, &mut one), ["enabled", "cost"]);
        assert_eq!(read(), "[a]\nname=A\n# kept\nenabled=1\n\n[b]\nname=B\n");
        assert_eq!(converge(&host, &mut repo("a", true, &[])), ["ensure"]);
        assert_eq!(read(), "[b]\nname=B\n");
        assert_eq!(converge(&host, &mut repo("b", true, &[])), ["ensure"]);
        assert!(!host.exists(file).expect("looked at"));
    }
}
