//! A site with a server and an agent, in a directory of its own.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use fx_remote::{Answer, Client, Content, Identity, Timeouts, Trust};
use fx_wire::x509::{Certificate, Key};

/// A server that ends with the test.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

pub(crate) struct Site {
    dir: tempfile::TempDir,
}

impl Site {
    pub(crate) fn new() -> Site {
        let site = Site { dir: tempfile::tempdir().unwrap() };
        let module = "code/environments/production/modules/m";
        site.put(&format!("{module}/files/plain"), "from the server\n");
        site.put(&format!("{module}/files/tree/a"), "a\n");
        site.put(&format!("{module}/files/tree/sub/b"), "b\n");
        site.put(&format!("{module}/facts.d/outer.txt"), "outer=file\n");
        site.put(
            &format!("{module}/lib/facter/inner.rb"),
            "Facter.add(:inner) { setcode { 'ruby' } }\n",
        );
        site.put(
            &format!("{module}/lib/puppet/type/thing.rb"),
            "Puppet::Type.newtype(:thing) do\n  newparam(:name, namevar: true)\n  newproperty(:state) { }\nend\n",
        );
        let provider = format!(
            "Puppet::Type.type(:thing).provide(:ruby) do\n  def at = \"{}/#{{resource[:name]}}\"\n  def state = File.exist?(at) ? File.read(at) : 'none'\n  def state=(v)\n    File.write(at, v)\n  end\nend\n",
            site.path("out").display()
        );
        site.put(&format!("{module}/lib/puppet/provider/thing/ruby.rb"), &provider);
        fs::create_dir_all(site.path("out")).unwrap();
        site
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn manifest(&self, text: &str) {
        let out = self.path("out").display().to_string();
        self.put("code/environments/production/manifests/site.pp", &text.replace("OUT", &out));
    }

    pub(crate) fn serve(&self, more: &[&str]) -> Server {
        let set = |name: &str, value: &Path| format!("--set={name}={}", value.display());
        let mut child = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .arg(set("confdir", &self.path("server")))
            .arg(set("vardir", &self.path("server/var")))
            .arg(set("ssldir", &self.path("server/ssl")))
            .arg(set("cadir", &self.path("server/ca")))
            .arg(set("codedir", &self.path("code")))
            .args(["--set=certname=localhost", "--set=dns_alt_names=localhost"])
            .arg("--set=keylength=2048")
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().rsplit(':').next().unwrap().parse().unwrap();
        Server { child, port }
    }

    pub(crate) fn agent(&self, port: u16, more: &[&str]) -> Output {
        let set = |name: &str, value: &Path| format!("--{name}={}", value.display());
        Command::new(env!("CARGO_BIN_EXE_fixpoint"))
            .args(["puppet", "agent", "--certname=n1", "--server=localhost", "--key_type=ec"])
            .args([format!("--serverport={port}"), format!("--ca_port={port}")])
            .arg(set("confdir", &self.path("agent/conf")))
            .arg(set("vardir", &self.path("agent/var")))
            .arg(set("ssldir", &self.path("agent/ssl")))
            .arg(set("publicdir", &self.path("agent/public")))
            .args(more)
            .output()
            .unwrap()
    }

    /// The server as the node of the agent sees it, once it has a certificate.
    pub(crate) fn as_node(&self, port: u16) -> Caller {
        self.caller(port, "agent/ssl", "n1")
    }

    /// The server as its own administrator sees it.
    pub(crate) fn as_admin(&self, port: u16) -> Caller {
        self.caller(port, "server/ssl", "localhost")
    }

    fn caller(&self, port: u16, ssl: &str, name: &str) -> Caller {
        let read = |path: String| fs::read_to_string(self.path(&path)).unwrap();
        let certificates = Certificate::bundle(&read(format!("{ssl}/certs/ca.pem"))).unwrap();
        let identity = Identity {
            certificate: Certificate::from_pem(&read(format!("{ssl}/certs/{name}.pem"))).unwrap(),
            key: Key::from_pem(&read(format!("{ssl}/private_keys/{name}.pem"))).unwrap(),
        };
        let trust = Trust::Authorities { certificates, revocations: Vec::new() };
        let client = Client::new(&trust, Some(&identity), Vec::new(), Timeouts::default());
        Caller { client: client.unwrap(), base: format!("https://localhost:{port}") }
    }
}

/// Somebody with a certificate.
pub(crate) struct Caller {
    client: Client,
    base: String,
}

impl Caller {
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "*/*", &[], None)
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        accept: &str,
        more: &[(&str, &str)],
        content: Option<Content<'_>>,
    ) -> Answer {
        let url = format!("{}{path}", self.base);
        self.client.send(method, &url, accept, more, content).unwrap()
    }
}

#[track_caller]
pub(crate) fn ended(output: &Output, code: i32, lines: &[&str]) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for line in lines {
        assert!(text.contains(line), "{line} is missing in:\n{text}");
    }
}
