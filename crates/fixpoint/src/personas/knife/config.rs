//! Who knife is and which server it speaks to: flags, then a configuration in Ruby, then a profile
//! of the credentials.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fx_chef::Described;
use fx_host::{Clock, Env, Files, OsHost};
use fx_remote::chef::{Again, Patience, Server, Signer, World};
use fx_remote::{Client, Reach, Timeouts, Trust};
use fx_wire::chef::Protocol;
use fx_wire::x509::{Certificate, Key};
use serde_json::{Value as J, json};

use crate::chef_repo::Reader;

/// The most bytes of a key, a certificate or a file of credentials.
const MOST: u64 = 4 << 20;

const BUNDLES: &[&str] =
    &["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"];

/// What was set, by the names of the configuration.
#[derive(Debug)]
pub(super) struct Settings {
    values: J,
    /// Where relative names of the configuration start.
    dir: PathBuf,
}

/// Flags that set something, with the setting.
const FLAGS: &[(&str, &str)] =
    &[("server-url", "chef_server_url"), ("user", "node_name"), ("key", "client_key")];

impl Settings {
    /// Reads what there is; a file that was named must be there.
    pub(super) fn read(flag: &dyn Fn(&str) -> Option<String>) -> Result<Settings, String> {
        let host = OsHost::new();
        let home = host.var("HOME".as_ref()).map(PathBuf::from).unwrap_or_default();
        let file = match flag("config") {
            Some(file) => Some(host.cwd().join(file)),
            None => found(&host, &home),
        };
        let mut values = json!({});
        let mut dir = home.join(".chef");
        if let Some(profile) = profile(&host, &home, flag("profile"))? {
            values = profile;
        }
        if let Some(file) = file {
            dir = file.parent().map(Path::to_path_buf).unwrap_or_default();
            let read = Reader::described(&[(Described::Config, file)]).remove(0)?;
            merge(&mut values, &read);
        }
        for (name, setting) in FLAGS {
            if let Some(value) = flag(name) {
                values[*setting] = value.into();
            }
        }
        Ok(Settings { values, dir })
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.values[name].as_str().map(str::to_owned)
    }

    pub(super) fn url(&self) -> String {
        self.text("chef_server_url").unwrap_or_else(|| "https://localhost:443".to_owned())
    }

    pub(super) fn name(&self) -> String {
        self.text("node_name").unwrap_or_default()
    }

    pub(super) fn key_file(&self) -> String {
        let file = self.text("client_key").unwrap_or_default();
        self.dir.join(file).display().to_string()
    }

    /// Directories of cookbooks.
    pub(super) fn cookbooks(&self) -> Vec<PathBuf> {
        let list = match &self.values["cookbook_path"] {
            J::Array(all) => all.iter().filter_map(J::as_str).map(PathBuf::from).collect(),
            J::String(one) => vec![PathBuf::from(one)],
            _ => Vec::new(),
        };
        if !list.is_empty() {
            return list;
        }
        let repo = match &self.values["chef_repo_path"] {
            J::String(one) => PathBuf::from(one),
            J::Array(all) => all.first().and_then(J::as_str).map(PathBuf::from).unwrap_or_default(),
            _ => self.dir.parent().map(Path::to_path_buf).unwrap_or_default(),
        };
        vec![repo.join("cookbooks")]
    }

    pub(super) fn trusted_dir(&self) -> PathBuf {
        let own = self.text("trusted_certs_dir").map(PathBuf::from);
        own.unwrap_or_else(|| self.dir.join("trusted_certs"))
    }

    /// Authorities of the system and certificates of the site.
    pub(super) fn certificates(&self) -> Result<Vec<Certificate>, String> {
        let reader = Reader::new();
        let mut all = Vec::new();
        let bundle = self.text("ssl_ca_file").map(PathBuf::from);
        let bundles =
            bundle.map_or_else(|| BUNDLES.iter().map(PathBuf::from).collect(), |b| vec![b]);
        let read = bundles.iter().find_map(|file| reader.host.read_limited(file, MOST).ok());
        if let Some(text) = read {
            all.extend(Certificate::bundle(&String::from_utf8_lossy(&text)).unwrap_or_default());
        }
        let dir = self.trusted_dir();
        for (name, is_dir) in reader.names(&dir)? {
            let file = dir.join(name);
            let ending = file.extension().and_then(|ending| ending.to_str());
            if !is_dir && matches!(ending, Some("crt" | "pem")) {
                let text = reader.bytes(&file)?;
                let found = Certificate::bundle(&String::from_utf8_lossy(&text))
                    .map_err(|error| format!("'{}': {error}", file.display()))?;
                all.extend(found);
            }
        }
        Ok(all)
    }

    /// The server, as who we are.
    pub(super) fn connect(&self) -> Result<Server, String> {
        let url = self.url();
        let verify = self.text("ssl_verify_mode").as_deref() != Some("verify_none");
        let trust = if verify && url.starts_with("https://") {
            Trust::Known(self.certificates()?)
        } else {
            Trust::Anyone
        };
        let limit = Duration::from_secs(self.values["rest_timeout"].as_u64().unwrap_or(300).max(1));
        let version = fx_chef::VERSION;
        let headers = vec![
            ("User-Agent".to_owned(), format!("Chef Infra Client Knife/{version} (fixpoint)")),
            ("X-Chef-Version".to_owned(), version.to_owned()),
        ];
        let reach = Reach { plain: true, proxy: None };
        let timeouts = Timeouts { connect: limit, read: limit };
        let client = Client::reaching(&trust, None, headers, timeouts, &reach)
            .map_err(|error| error.to_string())?;
        let number = |name: &str, default: u64| self.values[name].as_u64().unwrap_or(default);
        let patience = Patience {
            retries: u32::try_from(number("http_retry_count", 5)).unwrap_or(5),
            delay: Duration::from_secs(number("http_retry_delay", 5)),
        };
        let signer = Signer { name: self.name(), key: self.key()?, protocol: self.protocol() };
        Server::new(client, &url, Some(signer), patience).map_err(|error| error.to_string())
    }

    fn protocol(&self) -> Protocol {
        match self.text("authentication_protocol_version").as_deref() {
            Some("1.0") => Protocol::V1_0,
            Some("1.3") => Protocol::V1_3,
            _ => Protocol::V1_1,
        }
    }

    fn key(&self) -> Result<Key, String> {
        let inline = self.values["client_key"].as_str().filter(|key| key.starts_with("-----BEGIN"));
        let text = match inline {
            Some(text) => text.to_owned(),
            None => {
                let file = self.key_file();
                let read = OsHost::new().read_limited(Path::new(&file), MOST);
                let read = read.map_err(|_| unreadable(&file))?;
                String::from_utf8_lossy(&read).into_owned()
            }
        };
        Key::from_pem(text.trim()).map_err(|_| unreadable(&self.key_file()))
    }
}

fn unreadable(file: &str) -> String {
    format!(
        "Your private key could not be loaded from {file}\nCheck your configuration file and ensure that your private key is readable"
    )
}

fn merge(into: &mut J, from: &J) {
    for (name, value) in from.as_object().into_iter().flatten() {
        into[name] = value.clone();
    }
}

/// The configuration in `.chef` here or above, or at home.
fn found(host: &OsHost, home: &Path) -> Option<PathBuf> {
    let cwd = host.cwd();
    let dirs = cwd.ancestors().chain(std::iter::once(home));
    let mut files =
        dirs.flat_map(|dir| ["config.rb", "knife.rb"].map(|name| dir.join(".chef").join(name)));
    files.find(|file| host.stat(file).is_ok())
}

/// A profile of `~/.chef/credentials`.
fn profile(host: &OsHost, home: &Path, name: Option<String>) -> Result<Option<J>, String> {
    let file = home.join(".chef/credentials");
    let Ok(text) = host.read_limited(&file, MOST) else { return Ok(None) };
    let wanted = name
        .or_else(|| host.var("CHEF_PROFILE".as_ref())?.into_string().ok())
        .unwrap_or_else(|| "default".to_owned());
    let profiles = credentials(&String::from_utf8_lossy(&text))
        .map_err(|line| format!("'{}': line {line} cannot be read", file.display()))?;
    let mut found = None;
    for (profile, key, value) in profiles {
        if profile == wanted {
            let values = found.get_or_insert_with(|| json!({}));
            let key = if key == "client_name" { "node_name".to_owned() } else { key };
            values[key] = value.into();
        }
    }
    Ok(found)
}

/// Profile, key and value of each line; the number of one that is not understood otherwise.
/// Credentials hold tables of texts and nothing else.
fn credentials(text: &str) -> Result<Vec<(String, String, String)>, usize> {
    let mut all = Vec::new();
    let mut profile = String::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.trim().trim_matches(['\'', '"']).clone_into(&mut profile);
            continue;
        }
        let (key, value) = line.split_once('=').ok_or(at + 1)?;
        let value = value.trim();
        // A key may stand in the file itself, over several lines.
        let value = match ["\"\"\"", "'''"].iter().find(|mark| value.starts_with(*mark)) {
            Some(mark) => {
                let mut whole = value[3..].to_owned();
                while !whole.contains(mark) {
                    let (_, next) = lines.next().ok_or(at + 1)?;
                    whole.push('\n');
                    whole.push_str(next);
                }
                whole.split(mark).next().unwrap_or_default().trim_start().to_owned()
            }
            None => value.trim_matches(['\'', '"']).to_owned(),
        };
        all.push((profile.clone(), key.trim().to_owned(), value));
    }
    Ok(all)
}

/// Time and chance for requests; what is sent again is reported.
pub(super) struct Workstation(pub(super) OsHost);

impl World for Workstation {
    fn timestamp(&self) -> String {
        let at = jiff::Timestamp::from_second(self.0.now().secs).unwrap_or_default();
        at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    fn random(&self, buffer: &mut [u8]) {
        self.0.random(buffer);
    }

    fn wait(&self, again: &Again<'_>) -> bool {
        let Again { url, attempt, most, .. } = again;
        super::Knife::tell(&format!("WARN: no answer from {url}, retry {attempt}/{most}"));
        self.0.sleep(again.pause);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::credentials;

    #[test]
    fn credentials_are_tables_of_texts() {
        let text = "[default]\nclient_name = 'barney'\nclient_key = \"\"\"\n-----BEGIN\nx\n\"\"\"\n\n# c\n['dev']\nchef_server_url=\"https://x/organizations/d\"\n";
        let rows = credentials(text).expect("rows");
        let row = |at: usize| (rows[at].0.as_str(), rows[at].1.as_str(), rows[at].2.as_str());
        assert_eq!(row(0), ("default", "client_name", "barney"));
        assert_eq!(row(1), ("default", "client_key", "-----BEGIN\nx\n"));
        assert_eq!(row(2), ("dev", "chef_server_url", "https://x/organizations/d"));
        assert_eq!(credentials("[a]\nnonsense\n"), Err(2));
    }
}
