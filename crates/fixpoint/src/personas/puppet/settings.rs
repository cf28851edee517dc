//! Settings of the puppet persona: `puppet.conf`, environments with their `environment.conf`,
//! and an external node classifier. Flags come before files, files before defaults.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fx_host::{Files, Look, OsHost};
use fx_puppet::{CatalogRequest, Machine};

use super::flags::Flags;

/// Settings by name, as far as they are given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    values: BTreeMap<String, String>,
    /// Where every environment is, instead of the path of environments.
    dir: Option<PathBuf>,
}

/// Sections of a file of settings with their lines; those before any section are `main`.
pub(crate) fn sections(text: &str) -> Vec<(String, String, String)> {
    let mut section = "main".to_owned();
    let mut out = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.trim().clone_into(&mut section);
        } else if let Some((name, value)) = line.split_once('=') {
            out.push((section.clone(), name.trim().to_owned(), value.trim().to_owned()));
        }
    }
    out
}

impl Settings {
    /// Flags of a command line, then the file's sections, the given one first.
    pub(super) fn read(host: &OsHost, flags: &Flags, section: &str) -> Settings {
        let mut values = BTreeMap::new();
        for (name, value) in flags.long() {
            let (name, value) = match name.strip_prefix("no-") {
                Some(name) => (name, "false"),
                None => (name, value),
            };
            let value = if value.is_empty() { "true" } else { value };
            values.insert(name.replace('-', "_"), value.to_owned());
        }
        Settings::with(host, values, section)
    }

    /// Values that are given, then the file's sections, the given one first.
    pub(crate) fn with(host: &OsHost, values: BTreeMap<String, String>, section: &str) -> Settings {
        let mut settings = Settings { values, dir: None };
        let file = PathBuf::from(settings.get("config"));
        let text = host.read_trusted_data_opt(&file).ok().flatten().unwrap_or_default();
        let lines = sections(&String::from_utf8_lossy(&text));
        for wanted in [section, "main"] {
            for (name, key, value) in &lines {
                if name == wanted {
                    settings.values.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
        }
        settings
    }

    /// A setting with everything put in.
    pub(crate) fn get(&self, name: &str) -> String {
        fx_puppet::settings::text(&self.values, name).unwrap_or_default()
    }

    /// A setting as it is shown: a time in seconds.
    pub(crate) fn shown(&self, name: &str) -> String {
        use fx_puppet::settings::{Kind, kind, value};
        match (kind(name), value(&self.values, name)) {
            (Some(Kind::Duration | Kind::Ttl), Some(fx_puppet::Value::Int(seconds))) => {
                seconds.to_string()
            }
            _ => self.get(name),
        }
    }

    fn interpolated(&self, text: &str) -> String {
        fx_puppet::settings::interpolate(&self.values, text)
    }

    /// Gives a setting a value, unless it has one.
    pub(super) fn fill(&mut self, name: &str, value: &str) {
        self.values.entry(name.to_owned()).or_insert_with(|| value.to_owned());
    }

    /// The name that this node has or, where none is given, gets: that of its machine.
    pub(super) fn certname(&mut self, machine: &Machine) -> String {
        let name = match self.get("certname") {
            name if name.is_empty() => fx_puppet::node_name(machine),
            name => name,
        };
        self.fill("certname", &name);
        name
    }

    /// The same with one setting given.
    pub(crate) fn and(&self, name: &str, value: &str) -> Settings {
        let mut settings = self.clone();
        settings.values.insert(name.to_owned(), value.to_owned());
        settings
    }

    /// The same with the code of this directory in the place of the environment's own.
    pub(crate) fn with_code(&self, dir: PathBuf) -> Settings {
        Settings { dir: Some(dir), ..self.clone() }
    }

    /// Names and values that are given.
    pub(crate) fn values(&self) -> &BTreeMap<String, String> {
        &self.values
    }

    /// The command that prints the version of the code; empty where there is none.
    pub(crate) fn config_version(&self, host: &dyn Look) -> String {
        self.own_or("config_version", host)
    }

    /// A setting that an environment may have its own value of.
    pub(crate) fn own_or(&self, name: &str, host: &dyn Look) -> String {
        let conf = self.environment_conf(host);
        let own = conf.iter().find(|(_, known, _)| known == name);
        own.map_or_else(|| self.get(name), |(.., value)| self.interpolated(value))
    }

    fn environment_conf(&self, host: &dyn Look) -> Vec<(String, String, String)> {
        let dir = self.environment_dir(host);
        dir.and_then(|dir| host.read_trusted_data_opt(&dir.join("environment.conf")).ok().flatten())
            .map(|text| sections(&String::from_utf8_lossy(&text)))
            .unwrap_or_default()
    }

    /// Whether a setting was given at all.
    pub(crate) fn is_given(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Names and values of all settings known.
    pub(super) fn all(&self) -> Vec<(String, String)> {
        let mut names: Vec<String> = fx_puppet::settings::names().map(str::to_owned).collect();
        names.extend(self.values.keys().cloned());
        names.sort();
        names.dedup();
        names.into_iter().map(|name| (name.clone(), self.get(&name))).collect()
    }

    /// The folder of the environment, if there is one.
    pub(crate) fn environment_dir(&self, host: &dyn Look) -> Option<PathBuf> {
        if self.dir.is_some() {
            return self.dir.clone();
        }
        let name = self.get("environment");
        let dir = self
            .get("environmentpath")
            .split(':')
            .map(|dir| host.cwd().join(dir).join(&name))
            .find(|dir| host.stat(dir).is_ok_and(|meta| meta.is_dir()))?;
        // A link to one version of many: while it is read another one may come in its place.
        let is_link = host.lstat(&dir).is_ok_and(|meta| meta.is_symlink());
        let is_version = self.get("versioned_environment_dirs") == "true"
            || host.lstat(&dir.join(crate::serve::MARKER)).is_ok();
        if is_link && is_version { host.real_path(&dir).ok() } else { Some(dir) }
    }

    /// Manifest, modules and data of the environment, flags included.
    pub(crate) fn request(&self, host: &dyn Look) -> CatalogRequest {
        let dir = self.environment_dir(host);
        let conf = self.environment_conf(host);
        let own = |key: &str| {
            conf.iter().find(|(_, name, _)| name == key).map(|(.., value)| self.interpolated(value))
        };
        // What the environment says is relative to it, all else to where we are.
        let here = host.cwd();
        let inside = |path: &str| dir.as_ref().unwrap_or(&here).join(path);
        let base = self.get("basemodulepath");
        let (root, modulepath) = if self.is_given("modulepath") {
            (&here, self.get("modulepath"))
        } else {
            let path = match (own("modulepath"), &dir) {
                (Some(path), _) => path,
                (None, Some(_)) => format!("modules:{base}"),
                (None, None) => base,
            };
            (dir.as_ref().unwrap_or(&here), path)
        };
        let modules = modulepath.split(':').filter(|path| !path.is_empty());
        let manifest = match (self.is_given("manifest"), own("manifest")) {
            (true, _) => here.join(self.get("manifest")),
            (false, Some(own)) => inside(&own),
            (false, None) => inside("manifests"),
        };
        let hiera = here.join(self.get("hiera_config"));
        CatalogRequest {
            manifest,
            modulepath: modules.map(|path| root.join(path)).collect(),
            hiera_config: host.stat(&hiera).is_ok().then_some(hiera),
            environment_dir: dir,
            environment: self.get("environment"),
            trace: false,
            given: self.values.clone(),
            ..CatalogRequest::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_refer_to_each_other() {
        let mut settings = Settings::default();
        settings.values.insert("vardir".into(), "/v".into());
        assert_eq!(settings.get("statefile"), "/v/state/state.yaml");
        settings.values.insert("logdir".into(), "${vardir}/log".into());
        assert_eq!(settings.get("logdir"), "/v/log");
    }

    #[test]
    fn paths_that_are_given_are_relative_to_where_we_are() {
        let host = fx_host::MemoryHost::new();
        host.set_cwd("/here");
        host.put("/here/envs/production/environment.conf", "modulepath = site:$basemodulepath");
        let mut settings = Settings::default();
        settings.values.insert("environmentpath".into(), "envs".into());
        settings.values.insert("basemodulepath".into(), "/base".into());
        let paths = |settings: &Settings| settings.request(&host).modulepath;
        assert_eq!(paths(&settings), ["/here/envs/production/site", "/base"].map(PathBuf::from));
        settings.values.insert("modulepath".into(), "mods:/more".into());
        assert_eq!(paths(&settings), ["/here/mods", "/more"].map(PathBuf::from));
    }

    #[test]
    fn times_are_shown_in_seconds() {
        let mut settings = Settings::default();
        assert_eq!(settings.shown("runinterval"), "1800");
        settings.values.insert("runinterval".into(), "2h".into());
        assert_eq!(settings.shown("runinterval"), "7200");
        assert_eq!(settings.shown("strict"), "warning");
    }

    #[test]
    fn sections_keep_their_lines() {
        let found = sections("a = 1\n[agent]\n# no\nb=2\n");
        let expected = [("main", "a", "1"), ("agent", "b", "2")]
            .map(|(x, y, z)| (x.to_owned(), y.to_owned(), z.to_owned()));
        assert_eq!(found, expected);
    }
}
