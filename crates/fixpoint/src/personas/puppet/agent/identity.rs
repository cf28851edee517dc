//! The identity of a node: its key, its certificate, and whom it trusts. What is missing is made or
//! fetched, in the order and the places of the original.

use std::path::{Path, PathBuf};

use fx_crypto::digest::Algorithm;
use fx_engine::Level;
use fx_host::{HostError, WriteOptions};
use fx_remote::puppet::{Server, Unanswered, complaint};
use fx_remote::{Client, Identity, NetError, Timeouts, Trust};
use fx_wire::x509::{Certificate, Key, Request, RequestOptions, Revocations};

use super::attributes;
use super::log::Log;
use crate::personas::puppet::settings::Settings;

/// Why there is no identity.
#[derive(Debug)]
pub(in crate::personas::puppet) enum NoIdentity {
    /// The certificate is not signed yet.
    Unsigned,
    Failed(String),
}

impl<T: std::fmt::Display> From<T> for NoIdentity {
    fn from(error: T) -> NoIdentity {
        NoIdentity::Failed(error.to_string())
    }
}

type Known<T> = Result<T, NoIdentity>;

/// Everything that is needed to speak to a server.
#[derive(Clone, Debug)]
pub(in crate::personas::puppet) struct Ready {
    pub(in crate::personas::puppet) trust: Trust,
    pub(in crate::personas::puppet) identity: Identity,
}

/// The files of a node's identity, and how they come about.
pub(in crate::personas::puppet) struct Files<'a> {
    pub(in crate::personas::puppet) settings: &'a Settings,
    pub(in crate::personas::puppet) log: &'a Log<'a>,
    pub(in crate::personas::puppet) name: &'a str,
    /// What each request says of us.
    pub(in crate::personas::puppet) headers: &'a [(String, String)],
}

impl Files<'_> {
    pub(in crate::personas::puppet) fn path(&self, setting: &str) -> PathBuf {
        PathBuf::from(self.settings.get(setting))
    }

    fn read(&self, path: &Path) -> Result<Option<String>, HostError> {
        let bytes = self.log.run.look().read_trusted_data_opt(path)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn write(&self, path: &Path, text: &str, mode: u32) -> Known<()> {
        let options = WriteOptions { mode: Some(mode), ..WriteOptions::default() };
        self.log.run.own_state(|act| {
            fx_resources::directory::make_parents(act, path, 0o755)?;
            act.write(path, text.as_bytes(), &options)?;
            // A key or a certificate that others know of must not be lost.
            act.commit()?;
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> Known<()> {
        let gone = self.log.run.own_state(|act| act.remove_file(path));
        match gone {
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// The server that signs.
    pub(in crate::personas::puppet) fn authority(
        &self,
        trust: &Trust,
        identity: Option<&Identity>,
    ) -> Known<Server> {
        let host = self.settings.get("ca_server");
        let port = self.settings.shown("ca_port").parse().unwrap_or(8140);
        let client = Client::new(trust, identity, self.headers.to_vec(), Timeouts::default())?;
        Ok(Server::new(client, &host, port))
    }

    /// An answer of the authority; the lines of the original where there is none.
    fn answered<T>(&self, server: &Server, sent: Result<T, Unanswered>) -> Known<T> {
        sent.map_err(|unanswered| {
            let address = server.address("/puppet-ca/v1");
            if let NetError::Certificate(_) | NetError::Tls(_) = unanswered.error {
                return NoIdentity::Failed(unanswered.error.to_string());
            }
            let why = super::unreachable_text(&unanswered);
            self.log.say(
                Level::Error,
                &format!(
                    "Connection to {address} failed, trying next route: Request to {address} failed after {:.3} seconds: {why}",
                    unanswered.after.as_secs_f64()
                ),
            );
            NoIdentity::Failed("No more routes to ca".into())
        })
    }

    /// The directories, which only their owner can write.
    fn directories(&self) -> Known<()> {
        let modes = [
            ("ssldir", 0o771),
            ("certdir", 0o755),
            ("publickeydir", 0o755),
            ("requestdir", 0o755),
            ("privatekeydir", 0o750),
            ("privatedir", 0o750),
        ];
        self.log.run.own_state(|act| {
            for (setting, mode) in modes {
                let path = self.path(setting);
                fx_resources::directory::make_parents(act, &path, 0o755)?;
                if act.lstat_opt(&path)?.is_none() {
                    act.make_dir(&path, mode)?;
                    act.set_mode(&path, mode)?;
                }
            }
            Ok(())
        })
    }

    /// Whom we trust, and our key.
    pub(in crate::personas::puppet) fn ground(&self) -> Known<(Trust, Key)> {
        self.directories()?;
        let certificates = self.authorities()?;
        let revocations = self.revocations(&certificates)?;
        Ok((Trust::Authorities { certificates, revocations }, self.key()?))
    }

    /// All of it, fetched where it is not there.
    pub(in crate::personas::puppet) fn bootstrap(&self) -> Known<Ready> {
        let (trust, key) = self.ground()?;
        let certificate = match self.own_certificate(&key)? {
            Some(certificate) => certificate,
            None => self.ask(&trust, &key)?,
        };
        let ready = Ready { trust, identity: Identity { certificate, key } };
        Self::check_revoked(&ready)?;
        Ok(ready)
    }

    /// The certificates of the authority, trusted when first met unless a fingerprint is given.
    fn authorities(&self) -> Known<Vec<Certificate>> {
        let path = self.path("localcacert");
        if let Some(text) = self.read(&path)? {
            let certificates = Certificate::bundle(&text)?;
            if certificates.is_empty() {
                return Err(format!(
                    "Failed to parse CA certificates as PEM: {} holds none; remove it to fetch them again",
                    path.display()
                )
                .into());
            }
            return Ok(certificates);
        }
        let server = self.authority(&Trust::Anyone, None)?;
        let answer = self.answered(&server, server.certificate("ca"))?;
        if !answer.is_success() {
            return Err(complaint(&answer).into());
        }
        let text = answer.text();
        let wanted = self.settings.get("ca_fingerprint");
        if !wanted.is_empty() {
            let found = Algorithm::Sha256.hex(text.as_bytes());
            let bare = wanted.replace(':', "").to_lowercase();
            if found != bare {
                return Err(format!(
                    "CA bundle with digest (SHA256) {} did not match expected digest {}",
                    pairs(&found),
                    pairs(&bare)
                )
                .into());
            }
            self.log.say(
                Level::Info,
                &format!("Verified CA bundle with digest (SHA256) {}", pairs(&found)),
            );
        }
        let certificates = Certificate::bundle(&text)?;
        if certificates.is_empty() {
            return Err("Failed to parse CA certificates as PEM".into());
        }
        self.write(&path, &text, 0o644)?;
        Ok(certificates)
    }

    /// Lists of revoked certificates, unless they are not wanted.
    fn revocations(&self, certificates: &[Certificate]) -> Known<Vec<Revocations>> {
        if self.settings.get("certificate_revocation") == "false" {
            return Ok(Vec::new());
        }
        let path = self.path("hostcrl");
        let kept = self.read(&path)?;
        if let Some(text) = &kept
            && !self.is_stale(&path)
        {
            return Ok(Revocations::bundle(text)?);
        }
        // The lists themselves are signed; the server that sends them is known by its authority.
        let known = kept.as_deref().map(Revocations::bundle).transpose()?.unwrap_or_default();
        let trust =
            Trust::Authorities { certificates: certificates.to_vec(), revocations: known.clone() };
        let server = self.authority(&trust, None)?;
        let answer = self.answered(&server, server.revocations(None));
        let text = match (answer, kept) {
            (Ok(answer), _) if answer.is_success() => answer.text(),
            // An old list is better than none.
            (_, Some(text)) => text,
            (Ok(answer), None) => return Err(complaint(&answer).into()),
            (Err(error), None) => return Err(error),
        };
        let lists = Revocations::bundle(&text)?;
        self.write(&path, &text, 0o644)?;
        Ok(lists)
    }

    /// Whether the lists are older than they may get.
    fn is_stale(&self, path: &Path) -> bool {
        let Ok(seconds) = self.settings.shown("crl_refresh_interval").parse::<i64>() else {
            return false;
        };
        let look = self.log.run.look();
        let written = look.stat(path).map_or(0, |meta| meta.mtime.secs);
        look.now().secs - written >= seconds
    }

    fn key(&self) -> Known<Key> {
        let path = self.path("hostprivkey");
        if let Some(text) = self.read(&path)? {
            return Ok(Key::from_pem(&text)?);
        }
        let look = self.log.run.look();
        let is_curve = self.settings.get("key_type") == "ec";
        let kind = if is_curve { "EC" } else { "RSA" };
        self.log.say(Level::Info, &format!("Creating a new {kind} SSL key for {}", self.name));
        let mut random = |buffer: &mut [u8]| look.random(buffer);
        let key = if is_curve {
            Key::curve(&self.settings.get("named_curve"), fx_crypto::Random(&mut random))?
        } else {
            let bits = self.settings.shown("keylength").parse().unwrap_or(4096);
            Key::rsa(bits, fx_crypto::Random(&mut random))?
        };
        self.write(&path, &key.to_pem()?, 0o640)?;
        Ok(key)
    }

    /// The certificate that is there, which must belong to the key.
    fn own_certificate(&self, key: &Key) -> Known<Option<Certificate>> {
        let Some(text) = self.read(&self.path("hostcert"))? else { return Ok(None) };
        let certificate = Certificate::from_pem(&text)?;
        Self::check_key(&certificate, key)?;
        Ok(Some(certificate))
    }

    fn check_key(certificate: &Certificate, key: &Key) -> Known<()> {
        if certificate.public_key().to_pem()? == key.public().to_pem()? {
            return Ok(());
        }
        let name = certificate.name().unwrap_or_default();
        Err(format!("The certificate for 'CN={name}' does not match its private key").into())
    }

    /// Whether a certificate is that of the key, signed by one of the authorities and not revoked.
    pub(in crate::personas::puppet) fn check(
        &self,
        own: &Certificate,
        key: &Key,
        authorities: &[Certificate],
    ) -> Known<()> {
        Self::check_key(own, key)?;
        for authority in authorities {
            if authority.has_signed(own)? {
                let lists = self.read(&self.path("hostcrl"))?;
                let revocations = lists.as_deref().map(Revocations::bundle).transpose()?;
                let trust = Trust::Authorities {
                    certificates: authorities.to_vec(),
                    revocations: revocations.unwrap_or_default(),
                };
                let identity = Identity { certificate: own.clone(), key: key.clone() };
                return Self::check_revoked(&Ready { trust, identity });
            }
        }
        let name = own.name().unwrap_or_default();
        Err(format!("Invalid signature for certificate 'CN={name}'").into())
    }

    /// Sends a request and takes the certificate, where it is signed already.
    fn ask(&self, trust: &Trust, key: &Key) -> Known<Certificate> {
        let server = self.authority(trust, None)?;
        self.submit(&server, key)?;
        let certificate = self.download(&server, key)?.ok_or(NoIdentity::Unsigned)?;
        self.remove(&self.path("hostcsr"))?;
        Ok(certificate)
    }

    /// Sends the request, at every start until there is a certificate.
    pub(in crate::personas::puppet) fn submit(&self, server: &Server, key: &Key) -> Known<bool> {
        let file = self.path("csr_attributes");
        let text = self.read(&file)?;
        let say = |text: String| self.log.say(Level::Info, &text);
        say(format!("csr_attributes file loading from {}", file.display()));
        say(format!("Creating a new SSL certificate request for {}", self.name));
        let mut options: RequestOptions =
            attributes::options(text.as_deref(), &file.display().to_string())?;
        options.alt_names = attributes::alt_names(&self.settings.get("dns_alt_names"), self.name);
        let request = Request::new(key, self.name, &options)?;
        let shown = request.fingerprint(Algorithm::Sha256);
        say(format!("Certificate Request fingerprint (SHA256): {shown}"));
        self.write(&self.path("hostcsr"), &request.to_pem(), 0o644)?;
        let answer =
            self.answered(server, server.request_certificate(self.name, &request.to_pem()))?;
        match answer.status {
            200..=299 => Ok(true),
            // It is there already, or the certificate is.
            400 => Ok(false),
            _ => Err(complaint(&answer).into()),
        }
    }

    /// The certificate, if it is signed.
    pub(in crate::personas::puppet) fn download(
        &self,
        server: &Server,
        key: &Key,
    ) -> Known<Option<Certificate>> {
        let answer = self.answered(server, server.certificate(self.name))?;
        if answer.status == 404 {
            return Ok(None);
        }
        if !answer.is_success() {
            return Err(complaint(&answer).into());
        }
        let certificate = Certificate::from_pem(&answer.text())?;
        Self::check_key(&certificate, key)?;
        self.write(&self.path("hostcert"), &answer.text(), 0o644)?;
        let address = server.address("/puppet-ca/v1");
        self.log
            .say(Level::Info, &format!("Downloaded certificate for {} from {address}", self.name));
        Ok(Some(certificate))
    }

    /// A certificate that its authority has revoked is of no use.
    fn check_revoked(ready: &Ready) -> Known<()> {
        let Trust::Authorities { revocations, .. } = &ready.trust else { return Ok(()) };
        let certificate = &ready.identity.certificate;
        let issuer = certificate.issuer();
        let lists = revocations.iter().filter(|list| list.issuer() == issuer);
        let serial = certificate.serial();
        if lists.flat_map(Revocations::revoked).any(|one| one.serial == serial) {
            let name = certificate.name().unwrap_or_default();
            return Err(format!("Certificate 'CN={name}' is revoked").into());
        }
        Ok(())
    }
}

/// `AA:BB` of `aabb`.
fn pairs(hex: &str) -> String {
    let hex = hex.to_uppercase();
    let parts: Vec<&str> =
        hex.as_bytes().chunks(2).filter_map(|pair| std::str::from_utf8(pair).ok()).collect();
    parts.join(":")
}
