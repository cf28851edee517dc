//! A site with a server, a repository that fills it, and clients of it.

#![allow(dead_code, reason = "each test uses a part of it")]

pub(crate) mod api;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) const FIXPOINT: &str = env!("CARGO_BIN_EXE_fixpoint");

/// The program that is measured: that of `FX_PROGRAM`, such as a release.
pub(crate) fn program() -> String {
    std::env::var("FX_PROGRAM").unwrap_or_else(|_| FIXPOINT.to_owned())
}

/// A server that ends with the test.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) url: String,
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

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[track_caller]
pub(crate) fn ended(output: &Output, code: i32, lines: &[&str]) {
    let text = text(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for line in lines {
        assert!(text.contains(line), "{line} is missing in:\n{text}");
    }
}

impl Site {
    /// A repository with cookbooks, a role, an environment, data bags, nodes and a policy.
    pub(crate) fn new() -> Site {
        let site = Site { dir: tempfile::tempdir().unwrap() };
        site.put("repo/cookbooks/web/metadata.rb", "name 'web'\nversion '1.0.0'\ndepends 'base'\n");
        site.put("repo/cookbooks/base/metadata.rb", "name 'base'\nversion '0.1.0'\n");
        site.put("repo/cookbooks/look/metadata.rb", "name 'look'\nversion '0.1.0'\n");
        site.recipe("base", "file('DIR/base') { content \"#{node['greeting']}\\n\" }\n");
        site.put("repo/cookbooks/base/attributes/default.rb", "default['greeting'] = 'hello'\n");
        site.recipe(
            "web",
            "include_recipe 'base'\nme = search(:node, 'name:n1*').size\n\
             shell = data_bag_item('users', 'alice')['shell']\n\
             file('DIR/made') { content \"#{shell} #{node['color']} #{node.chef_environment} #{me}\\n\" }\n",
        );
        site.recipe(
            "look",
            "names = ->(list) { list.map(&:name).sort.join(' ') }\n\
             paged = []\n\
             search(:node, 'name:a*', rows: 2) { |n| paged << n }\n\
             parts = search(:node, 'name:a1', filter_result: { 'n' => ['name'], 'c' => ['color'] })\n\
             secret = data_bag_item('users', 'locked', 'the secret')['word']\n\
             file 'DIR/found' do\n\
             content \"nodes: #{names.(search(:node, 'kind:old'))}\\npaged: #{names.(paged)}\\n\" \\\n\
             \"parts: #{parts.first}\\nbag: #{search(:users, 'shell:*zsh').map { |i| i['id'] }.join}\\n\" \\\n\
             \"roles: #{search(:role, '*:*').map(&:name).join}\\nsecret: #{secret}\\n\"\n\
             end\n",
        );
        site.put(
            "repo/roles/web.rb",
            "name 'web'\nrun_list 'recipe[web]'\ndefault_attributes 'color' => 'red'\n",
        );
        site.put(
            "repo/environments/prod.json",
            "{\"name\":\"prod\",\"cookbook_versions\":{\"web\":\"~> 1.0\"}}",
        );
        site.put("repo/data_bags/users/alice.json", "{\"id\":\"alice\",\"shell\":\"/bin/zsh\"}");
        site.put("repo/data_bags/users/locked.json", LOCKED);
        for name in ["a1", "a2", "a3", "b1"] {
            let node = format!(
                "{{\"name\":\"{name}\",\"normal\":{{\"kind\":\"old\",\"color\":\"blue\"}},\"run_list\":[\"recipe[base]\"]}}"
            );
            site.put(&format!("repo/nodes/{name}.json"), &node);
        }
        site.policy();
        site
    }

    /// A policy whose cookbook is kept as an artifact.
    fn policy(&self) {
        let (id, revision) = ("a".repeat(40), "1".repeat(40));
        let book = format!("repo/cookbook_artifacts/base-{id}");
        self.put(&format!("{book}/metadata.rb"), "name 'base'\nversion '0.1.0'\n");
        let recipe = format!(
            "file('{}') {{ content \"#{{node['greeting']}}\\n\" }}\n",
            self.path("base").display()
        );
        self.put(&format!("{book}/recipes/default.rb"), &recipe);
        let lock = serde_json::json!({
            "name": "shop", "revision_id": revision, "run_list": ["recipe[base::default]"],
            "cookbook_locks": {"base": {"version": "0.1.0", "identifier": id}},
            "default_attributes": {"greeting": "of all", "live": {"greeting": "of the group"}},
            "override_attributes": {}, "solution_dependencies": {},
        });
        self.put(&format!("repo/policies/shop-{revision}.json"), &lock.to_string());
        let group =
            serde_json::json!({"name": "live", "policies": {"shop": {"revision_id": revision}}});
        self.put("repo/policy_groups/live.json", &group.to_string());
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn recipe(&self, cookbook: &str, text: &str) {
        let text = text.replace("DIR", &self.dir.path().display().to_string());
        self.put(&format!("repo/cookbooks/{cookbook}/recipes/default.rb"), &text);
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn set(&self, name: &str, path: &str) -> String {
        format!("--set={name}={}", self.path(path).display())
    }

    /// Fills the store of the server.
    pub(crate) fn import(&self, source: &str) -> Output {
        self.import_with(source, &[])
    }

    pub(crate) fn import_with(&self, source: &str, more: &[&str]) -> Output {
        Command::new(program())
            .args(["serve", "import", "--chef-organization", "acme"])
            .args(more)
            .args([self.set("confdir", "server"), self.set("vardir", "server/var")])
            .arg(self.path(source))
            .output()
            .unwrap()
    }

    /// A server that has what the repository has.
    pub(crate) fn serve(&self) -> Server {
        ended(&self.import("repo"), 0, &["cookbook: 3\n", "node: 4\n"]);
        self.start()
    }

    pub(crate) fn start(&self) -> Server {
        self.start_with(&[])
    }

    /// A server with more words, such as another store.
    pub(crate) fn start_with(&self, more: &[&str]) -> Server {
        self.listen("http", &[&["--chef-plain"], more].concat())
    }

    /// A server that speaks TLS under the name of its certificate.
    pub(crate) fn start_tls(&self) -> Server {
        let mut server = self.listen("https", &[]);
        server.url = server.url.replace("127.0.0.1", "localhost");
        server
    }

    fn listen(&self, scheme: &str, more: &[&str]) -> Server {
        let mut child = Command::new(program())
            .args(["serve", "--listen", "127.0.0.1:0", "--chef", "127.0.0.1:0"])
            .args(["--chef-organization", "acme", "--set=certname=localhost"])
            .args([self.set("confdir", "server"), self.set("vardir", "server/var")])
            .args([self.set("ssldir", "server/ssl"), self.set("cadir", "server/ca")])
            .args([self.set("codedir", "server/code"), "--set=keylength=2048".to_owned()])
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            line.unwrap().strip_prefix("listening for Chef on ").map(str::to_owned)
        });
        // What it prints later is read too, or it would wait for us.
        std::thread::spawn(move || lines.for_each(drop));
        Server { child, url: format!("{scheme}://{}/organizations/acme", address.unwrap()) }
    }

    /// Who looks after the organization.
    pub(crate) fn admin(&self, url: &str) -> api::Api {
        api::Api::new(url, "admin", &self.key("admin"))
    }

    /// A key that the server made.
    pub(crate) fn key(&self, name: &str) -> fx_wire::x509::Key {
        let text = self.read(&format!("server/var/chef/{name}.pem"));
        fx_wire::x509::Key::from_pem(&text).unwrap()
    }

    /// The configuration of a client, in a file.
    pub(crate) fn config(&self, url: &str, name: &str, key: &str) -> PathBuf {
        let dir = self.dir.path().display();
        let text = format!(
            "chef_server_url '{url}'\nvalidation_client_name 'acme-validator'\n\
             validation_key '{dir}/server/var/chef/acme-validator.pem'\nnode_name '{name}'\n\
             client_key '{dir}/{key}'\nfile_cache_path '{dir}/cache'\nlockfile '{dir}/lock'\n\
             http_retry_count 0\nclient_registration_retries 0\n"
        );
        self.put("client.rb", &text);
        self.path("client.rb")
    }

    pub(crate) fn client(&self, url: &str, more: &[&str]) -> Output {
        let config = self.config(url, "n1.example.com", "client.pem");
        Command::new(program())
            .args(["chef-client", "--no-color", "-c"])
            .arg(config)
            .args(more)
            .output()
            .unwrap()
    }

    /// A client that nobody knows yet.
    pub(crate) fn fresh(&self, url: &str) -> Output {
        let config = self.config(url, "fresh", "fresh.pem");
        Command::new(program())
            .args(["chef-client", "--no-color", "-c"])
            .arg(config)
            .output()
            .unwrap()
    }

    /// The node as the server has it, read by its own client.
    pub(crate) fn node(&self, url: &str) -> String {
        let look = format!(
            "require 'json'\nnode = Chef::ServerAPI.new.get('nodes/n1.example.com')\nIO.write('{}', JSON.generate(node))\n",
            self.path("node.json").display()
        );
        self.put("look.rb", &look);
        let script = self.path("look.rb").display().to_string();
        ended(&self.client(url, &["-o", "recipe[base]", &script]), 0, &[]);
        self.read("node.json")
    }
}

/// Encrypted with the secret `the secret`, version 3.
const LOCKED: &str = include_str!("locked.json");

/// Passes requests on, but answers those that fit with a fault.
pub(crate) struct Fault {
    pub(crate) url: String,
    stop: Arc<AtomicBool>,
    address: String,
}

impl Fault {
    pub(crate) fn new(upstream: &str, method: &str, part: &str, status: u16, body: &str) -> Fault {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = upstream.split('/').nth(2).unwrap().to_owned();
        let url = upstream.replace(&server, &address);
        let stop = Arc::new(AtomicBool::new(false));
        let (ending, method, part, body) =
            (Arc::clone(&stop), method.to_owned(), part.to_owned(), body.to_owned());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ending.load(Ordering::SeqCst) {
                    return;
                }
                let fits = |line: &str| line.starts_with(&method) && line.contains(&part);
                pass(stream.unwrap(), &server, &fits, status, &body);
            }
        });
        Fault { url, stop, address }
    }
}

impl Drop for Fault {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(&self.address));
    }
}

/// One request: its head and body are read, and it is answered or passed on.
fn pass(client: TcpStream, server: &str, fits: &dyn Fn(&str) -> bool, status: u16, body: &str) {
    let mut reader = BufReader::new(client.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let lower = line.to_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
        if !lower.starts_with("connection:") && !lower.starts_with("accept-encoding:") {
            head.push_str(&line);
        }
    }
    let mut content = vec![0; length];
    reader.read_exact(&mut content).unwrap();
    let mut client = client;
    if fits(head.lines().next().unwrap_or_default()) {
        let versions = "{\"min_version\":\"0\",\"max_version\":\"2\",\"request_version\":\"2\",\"response_version\":\"2\"}";
        let answer = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nX-Ops-Server-API-Version: {versions}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        client.write_all(answer.as_bytes()).unwrap();
        return;
    }
    let mut upstream = TcpStream::connect(server).unwrap();
    upstream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
    upstream.write_all(&content).unwrap();
    let mut answer = Vec::new();
    upstream.read_to_end(&mut answer).unwrap();
    client.write_all(&answer).unwrap();
}
