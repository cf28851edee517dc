//! `puppet ssl`: the key and the certificate of this node.

use std::path::PathBuf;
use std::rc::Rc;

use fx_crypto::digest::Algorithm;
use fx_engine::{Cancel, Level};
use fx_host::OsHost;
use fx_puppet::Machine;
use fx_wire::x509::{Certificate, Key};

use super::agent::headers;
use super::agent::identity::{Files, NoIdentity};
use super::agent::log::Log;
use super::flags::Flags;
use super::ground::fail;
use super::settings::Settings;
use super::{apply, help};

/// Runs the subcommand; its exit code.
pub(super) fn run(flags: &Flags, words: &[String]) -> u8 {
    let Some(action) = words.first() else {
        return fail("Could not run: An action must be specified.");
    };
    let host = Rc::new(OsHost::new());
    let mut settings = Settings::read(&host, flags, "agent");
    let machine = Machine::new(host, Cancel::default());
    let name = settings.certname(&machine);
    let console = apply::console(flags, &settings);
    machine.run().ledger.watch(console.clone());
    let log = Log::new(machine.run());
    let headers = headers();
    let node = Node {
        files: Files { settings: &settings, log: &log, name: &name, headers: &headers },
        flags,
    };
    let done = match action.as_str() {
        "bootstrap" => node.bootstrap(),
        "submit_request" => node.submit(),
        "download_cert" => node.download(),
        "verify" => node.verify(),
        "clean" => node.clean(),
        "show" => Err(help::not_here(
            "ssl show",
            "use 'openssl x509 -text -in FILE' with the file that 'puppet config print hostcert' names",
        )),
        other => Err(format!("Unknown action '{other}'")),
    };
    if let Err(why) = &done {
        log.say(Level::Error, &format!("Could not run: {why}"));
    }
    console.flush();
    u8::from(done.is_err())
}

struct Node<'a> {
    files: Files<'a>,
    flags: &'a Flags,
}

/// What is wrong, as text.
fn reason(name: &str, why: NoIdentity) -> String {
    match why {
        NoIdentity::Unsigned => format!("The certificate for '{name}' has not yet been signed"),
        NoIdentity::Failed(why) => why,
    }
}

impl Node<'_> {
    fn notice(&self, text: &str) {
        self.files.log.say(Level::Notice, text);
    }

    fn reason(&self) -> impl Fn(NoIdentity) -> String {
        let name = self.files.name.to_owned();
        move |why| reason(&name, why)
    }

    fn text(&self, setting: &str) -> Result<Option<String>, String> {
        let path = self.files.path(setting);
        let text = self.files.log.run.look().read_trusted_data_opt(&path);
        let text = text.map_err(|error| error.to_string())?;
        Ok(text.map(|text| String::from_utf8_lossy(&text).into_owned()))
    }

    fn bootstrap(&self) -> Result<(), String> {
        self.files.bootstrap().map_err(self.reason())?;
        self.notice("Completed SSL initialization");
        Ok(())
    }

    fn submit(&self) -> Result<(), String> {
        let (trust, key) = self.files.ground().map_err(self.reason())?;
        let server = self.files.authority(&trust, None).map_err(self.reason())?;
        let address = server.address("/puppet-ca/v1");
        let name = self.files.name;
        if !self.files.submit(&server, &key).map_err(self.reason())? {
            return Err(format!(
                "Could not submit certificate request for '{name}' to {address} due to a conflict on the server"
            ));
        }
        self.notice(&format!("Submitted certificate request for '{name}' to {address}"));
        self.take(&key)
    }

    fn download(&self) -> Result<(), String> {
        let (_, key) = self.files.ground().map_err(self.reason())?;
        self.take(&key)
    }

    fn take(&self, key: &Key) -> Result<(), String> {
        let (trust, _) = self.files.ground().map_err(self.reason())?;
        let server = self.files.authority(&trust, None).map_err(self.reason())?;
        let name = self.files.name;
        let found = self.files.download(&server, key).map_err(self.reason())?;
        let found = found.ok_or_else(|| reason(name, NoIdentity::Unsigned))?;
        self.notice(&format!(
            "Downloaded certificate '{name}' with fingerprint (SHA256) {}",
            found.fingerprint(Algorithm::Sha256)
        ));
        Ok(())
    }

    fn verify(&self) -> Result<(), String> {
        let missing = |what: &str, setting: &str| {
            format!("The {what} missing from '{}'", self.files.path(setting).display())
        };
        let wrong = |error: fx_wire::x509::Error| error.to_string();
        let text = self.text("localcacert")?;
        let text = text.ok_or_else(|| missing("CA certificates are", "localcacert"))?;
        let mut authorities = Certificate::bundle(&text).map_err(wrong)?;
        let key = self.text("hostprivkey")?;
        let key = key.ok_or_else(|| missing("private key is", "hostprivkey"))?;
        let key = Key::from_pem(&key).map_err(wrong)?;
        let own = self.text("hostcert")?;
        let own = own.ok_or_else(|| missing("client certificate is", "hostcert"))?;
        let own = Certificate::from_pem(&own).map_err(wrong)?;
        self.files.check(&own, &key, &authorities).map_err(self.reason())?;
        // From the root down.
        authorities.reverse();
        for one in &authorities {
            self.notice(&format!(
                "Verified CA certificate 'CN={}' fingerprint (SHA256) {}",
                one.name().unwrap_or_default(),
                one.fingerprint(Algorithm::Sha256)
            ));
        }
        self.notice(&format!(
            "Verified client certificate 'CN={}' fingerprint (SHA256) {}",
            own.name().unwrap_or_default(),
            own.fingerprint(Algorithm::Sha256)
        ));
        Ok(())
    }

    fn clean(&self) -> Result<(), String> {
        let mut files = vec![
            ("hostprivkey", "private key"),
            ("hostpubkey", "public key"),
            ("hostcsr", "certificate request"),
            ("hostcert", "certificate"),
        ];
        if self.flags.has("localca") {
            files.extend([("localcacert", "local CA certificate"), ("hostcrl", "local CRL")]);
        }
        for (setting, what) in files {
            let path: PathBuf = self.files.path(setting);
            match self.files.log.run.own_state(|act| act.remove_file(&path)) {
                Ok(()) => self.notice(&format!("Removed {what} {}", path.display())),
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        self.files.log.run.own_state(|act| act.commit()).map_err(|error| error.to_string())
    }
}
