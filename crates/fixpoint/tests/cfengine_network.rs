//! cf-agent, cf-net, cf-runagent and cf-secret against cf-serverd, all of them ours, over loopback.
//! The real tools take either place in `conformance/cfengine_network/interop.sh`.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use fx_host::Env;
use fx_remote::cfengine::{Connection, Found, Offer, Protocol, Wish};
use fx_wire::cfengine::{PrivateKey, self_signed};

const PROGRAM: &str = env!("CARGO_BIN_EXE_fixpoint");
const PATIENCE: Duration = Duration::from_mins(1);

/// A server that ends with the test.
struct Server {
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Two work directories and what is copied between them.
struct Site {
    dir: tempfile::TempDir,
}

fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Site {
    fn new() -> Site {
        let site = Site { dir: tempfile::tempdir().unwrap() };
        for name in ["S", "C"] {
            for part in ["inputs", "state", "ppkeys", "outputs", "bin"] {
                fs::create_dir_all(site.path(name).join(part)).unwrap();
            }
            for private in [site.path(name), site.path(name).join("ppkeys")] {
                fs::set_permissions(private, fs::Permissions::from_mode(0o700)).unwrap();
            }
            assert!(site.tool(name, "cf-key", &[]).status.success());
        }
        site.put("data/a", b"hi\n");
        site.put("data/e", b"");
        site.put("data/sub/b", &(0..70_000_u32).map(|n| (n * 7) as u8).collect::<Vec<u8>>());
        site.put("other/secret", b"secret\n");
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn policy(&self, name: &str, text: &str) {
        let text = text.replace("DIR", &self.dir.path().display().to_string());
        let file = format!("{name}/inputs/promises.cf");
        self.put(&file, text.as_bytes());
        fs::set_permissions(self.path(&file), fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn command(&self, workdir: &str, tool: &str, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .arg0(tool)
            .args(args)
            .env("CFENGINE_TEST_OVERRIDE_WORKDIR", self.path(workdir))
            .stdin(Stdio::null());
        command
    }

    fn tool(&self, workdir: &str, tool: &str, args: &[&str]) -> Output {
        self.command(workdir, tool, args).output().unwrap()
    }

    fn serve(&self, control: &str, access: &str) -> Server {
        let port = port();
        let policy = SERVER
            .replace("PORT", &port.to_string())
            .replace("CONTROL", control)
            .replace("ACCESS", access);
        self.policy("S", &policy);
        let mut command = self.command("S", "cf-serverd", &["-F"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        // It says that it starts once its socket is there.
        let mut lines = BufReader::new(out).lines();
        let ready = lines.by_ref().any(|line| line.unwrap().contains("Server is starting"));
        assert!(ready, "the server did not start");
        std::thread::spawn(move || lines.for_each(drop));
        Server { child, port }
    }

    fn copies(&self, port: u16, more: &str) -> Output {
        self.policy("C", &CLIENT.replace("PORT", &port.to_string()).replace("MORE", more));
        self.tool("C", "cf-agent", &["-KI"])
    }
}

const SERVER: &str = r#"
body common control { bundlesequence => { "main" }; }
body server control
{
  port => "PORT";
  allowconnects => { "127.0.0.1" };
  allowallconnects => { "127.0.0.1" };
  allowusers => { "root", "me" };
  CONTROL
}
bundle agent main { }
bundle server s { ACCESS }
"#;

const OPEN: &str = r#"trustkeysfrom => { "127.0.0.1" }; allowlegacyconnects => { "127.0.0.1" };"#;

const ACCESS: &str = r#"access: "DIR/data" shortcut => "dat", admit_ips => { "127.0.0.1" };"#;

const CLIENT: &str = r#"
body common control { bundlesequence => { "main" }; }
bundle agent main { files: "DIR/dst" copy_from => net, depth_search => all; }
body copy_from net
{
  source => "dat";
  servers => { "127.0.0.1" };
  portnumber => "PORT";
  compare => "digest";
  MORE
}
body depth_search all { depth => "inf"; }
"#;

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn same(one: &Path, other: &Path) -> bool {
    let names = |dir: &Path| {
        let mut names: Vec<_> =
            fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    names(one) == names(other)
        && names(one).iter().all(|name| {
            let (one, other) = (one.join(name), other.join(name));
            if one.is_dir() {
                same(&one, &other)
            } else {
                fs::read(one).unwrap() == fs::read(other).unwrap()
            }
        })
}

#[test]
fn trees_are_copied_once_and_what_changes_again() {
    let site = Site::new();
    let server = site.serve(OPEN, ACCESS);
    for protocol in ["latest", "2", "classic"] {
        let more =
            format!(r#"trustkey => "true"; purge => "true"; protocol_version => "{protocol}";"#);
        let first = text(&site.copies(server.port, &more));
        assert!(first.contains("from '127.0.0.1:dat/sub/b'"), "{protocol}: {first}");
        assert!(same(&site.path("data"), &site.path("dst")), "{protocol}");
        let again = text(&site.copies(server.port, &more));
        assert!(!again.contains("Updated"), "{protocol}: {again}");
        site.put("data/a", b"ho\n");
        site.put("dst/extra", b"x");
        let changed = text(&site.copies(server.port, &more));
        assert!(changed.contains("Updated") && changed.contains("extra' copy dest"), "{changed}");
        assert!(!changed.contains("sub/b"), "{protocol}: {changed}");
        fs::remove_dir_all(site.path("dst")).unwrap();
        site.put("data/a", b"hi\n");
    }
    let encrypted = r#"trustkey => "true"; protocol_version => "classic"; encrypt => "true"; verify => "true";"#;
    site.copies(server.port, encrypted);
    assert!(same(&site.path("data"), &site.path("dst")), "encrypted");
}

#[test]
fn keys_that_are_not_trusted_open_nothing() {
    let site = Site::new();
    let server = site.serve(OPEN, ACCESS);
    let refused = text(&site.copies(server.port, ""));
    assert!(refused.contains("TRUST FAILED, server presented untrusted key"), "{refused}");
    assert!(!site.path("dst").exists());
    let key = site.path("S/ppkeys/localhost.pub");
    let known = format!("127.0.0.1:{}", key.display());
    assert!(site.tool("C", "cf-key", &["-t", &known]).status.success());
    let copied = text(&site.copies(server.port, ""));
    assert!(same(&site.path("data"), &site.path("dst")), "{copied}");
    drop(server);
    // A server that does not trust us says nothing and gives nothing.
    let site = Site::new();
    let server = site.serve("", ACCESS);
    site.copies(server.port, r#"trustkey => "true";"#);
    assert!(!site.path("dst/a").exists());
}

/// A connection as the client of the site.
fn connection(site: &Site, port: u16) -> Connection {
    let pem = fs::read_to_string(site.path("C/ppkeys/localhost.priv")).unwrap();
    let key = PrivateKey::from_pem(&pem).unwrap();
    let mut random = |buffer: &mut [u8]| fx_host::OsHost::new().random(buffer);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let certificate = self_signed(&key, now.as_secs()).unwrap();
    let socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut wish = Wish {
        key: &key,
        certificate: &certificate,
        user: "root",
        program: "test",
        release: "1",
        protocol: Protocol::Tls(3),
        offer: Offer::default(),
        encrypt: false,
        known: None,
        random: &mut random,
        host: "localhost",
    };
    Connection::open(socket, &mut wish, &mut |_| true).unwrap().connection
}

#[test]
fn no_path_outside_of_what_is_allowed_is_read() {
    let site = Site::new();
    std::os::unix::fs::symlink(site.path("other"), site.path("data/way")).unwrap();
    let server = site.serve(OPEN, ACCESS);
    let root = site.dir.path().display().to_string();
    let mut paths = vec![
        format!("{root}/other/secret"),
        "dat/way/secret".to_owned(),
        "dat/way".to_owned(),
        "other/secret".to_owned(),
        "nope".to_owned(),
        "/etc/shadow".to_owned(),
        root.clone(),
        "/".to_owned(),
    ];
    for up in 1..100 {
        let dots = "../".repeat(up);
        paths.push(format!("dat/{dots}other/secret"));
        paths.push(format!("dat/./{dots}/other/secret"));
        paths.push(format!("{root}/data/sub/{dots}other/secret"));
        paths.push(format!("dat/sub//{dots}{}/other/secret", root.trim_start_matches('/')));
        paths.push(format!("{dots}etc/shadow"));
    }
    assert!(paths.len() > 500);
    let mut connection = connection(&site, server.port);
    let asked: Vec<Vec<u8>> = paths.iter().map(|path| path.clone().into_bytes()).collect();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let found = connection.stats(&asked, now.as_secs() as i64).unwrap();
    for (path, found) in paths.iter().zip(found) {
        assert!(matches!(found, Found::Refused(_)), "{path}: {found:?}");
    }
    for path in &asked[..8] {
        assert!(connection.list(path).unwrap().is_err(), "{}", String::from_utf8_lossy(path));
    }
    let digests: Vec<_> = asked.iter().map(|path| (path.clone(), vec![0; 16])).collect();
    let differs = connection.compare(&digests).unwrap();
    assert!(!differs.contains(&true), "refused, and not compared");
    let mut left = &asked[..];
    while !left.is_empty() {
        let sent = connection.request_files(left).unwrap();
        for path in &left[..sent] {
            let mut content = Vec::new();
            let answer = connection.content(7, &mut content).unwrap();
            assert!(answer.is_err() && content.is_empty(), "{}", String::from_utf8_lossy(path));
        }
        left = &left[sent..];
    }
    // The same connection still gives what is allowed, and what is refused in between does not
    // change what its neighbours are.
    let mut are = |paths: &[&str]| {
        let paths: Vec<Vec<u8>> = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        let found = connection.stats(&paths, now.as_secs() as i64).unwrap();
        found.iter().map(|found| matches!(found, Found::Is(..))).collect::<Vec<_>>()
    };
    assert_eq!(are(&["dat/a", "dat/way/secret", "dat/e", "dat/sub/b"]), [true, false, true, true]);
    // A directory that became a link is not what it was for the request before.
    fs::rename(site.path("data/sub"), site.path("data/away")).unwrap();
    std::os::unix::fs::symlink(site.path("other"), site.path("data/sub")).unwrap();
    assert_eq!(are(&["dat/sub/secret", "dat/sub/b", "dat/away/b"]), [false, false, true]);
}

// Several sources of one destination, directories and files among them: whoever comes last has it.
#[test]
fn trees_are_collapsed_as_they_are_here() {
    let site = Site::new();
    for (name, text) in
        [("data/d1/x", "1"), ("data/d2/x", "2"), ("data/d2/a", "3"), ("data/x", "4")]
    {
        site.put(name, text.as_bytes());
    }
    let server = site.serve(OPEN, ACCESS);
    let more = r#"trustkey => "true"; collapse_destination_dir => "true";"#;
    site.copies(server.port, more);
    let (there, here) = (site.path("dst"), site.path("here"));
    let local = CLIENT
        .replace("DIR/dst", "DIR/here")
        .replace(r#""dat""#, r#""DIR/data""#)
        .replace(r#"servers => { "127.0.0.1" };"#, "")
        .replace(r#"portnumber => "PORT";"#, "")
        .replace("MORE", r#"collapse_destination_dir => "true";"#);
    site.policy("C", &local);
    site.tool("C", "cf-agent", &["-KI"]);
    assert!(here.join("x").exists() && same(&here, &there));
}

#[test]
fn clocks_that_differ_too_much_are_refused() {
    let site = Site::new();
    let server = site.serve(OPEN, ACCESS);
    let mut connection = connection(&site, server.port);
    for off in [0, 40_000, 50_000, 100_000, i64::MAX / 2] {
        let found = connection.stats(&[b"dat/a".to_vec()], off).unwrap();
        let Found::Refused(text) = &found[0] else { panic!("{off} passed") };
        assert!(String::from_utf8_lossy(text).contains("unsynchronized"));
    }
}

#[test]
fn a_server_without_an_address_does_not_respond_either() {
    let site = Site::new();
    // No name is that long, so nobody is queried for it.
    let name = "n".repeat(300);
    let policy = CLIENT.replace("127.0.0.1", &name).replace("PORT", "5308").replace("MORE", "");
    site.policy("C", &policy);
    let said = text(&site.tool("C", "cf-agent", &["-KI"]));
    let lines: Vec<&str> = said.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| line.starts_with("info: Unable to find host"));
    let at = at.unwrap_or_else(|| panic!("{said}"));
    let after = &lines[at + 1..at + 3];
    let expected = format!("info: Unable to establish connection to '{name}'");
    assert_eq!(after, ["info: No server is responding on port: 5308", &expected], "{said}");
}

#[test]
fn runs_are_started_as_roles_and_bundles_allow() {
    let site = Site::new();
    let access = r#"
  access: "/bin/echo" admit_ips => { "127.0.0.1" };
          "bun.*" resource_type => "bundle", admit_ips => { "127.0.0.1" };
  roles: "role.*" authorize => { "root" };"#;
    let control = format!(r#"{OPEN} cfruncommand => "/bin/echo RUN";"#);
    let server = site.serve(&control, access);
    let key = site.path("S/ppkeys/localhost.pub");
    let known = format!("127.0.0.1:{}", key.display());
    assert!(site.tool("C", "cf-key", &["-t", &known]).status.success());
    site.policy(
        "C",
        "body common control { bundlesequence => { \"main\" }; }\nbundle agent main { }\n",
    );
    let to = format!("127.0.0.1:{}", server.port);
    let table: &[(&[&str], i32, &str)] = &[
        (&["-D", "role1", "--remote-bundles", "bun1"], 0, "-> RUN -D role1 --bundlesequence bun1"),
        (&["-D", "bad"], 255, "EXEC denied role activation"),
        (&["--remote-bundles", "other"], 255, "EXEC denied bundle activation"),
        (&["-D", "role1;id"], 255, "EXEC denied role activation"),
        (&["-s", "nosuch"], 255, "nothing relevant to do here"),
        (&["-s", "linux"], 0, "(exit code: 0)"),
    ];
    for (args, code, said) in table {
        let args: Vec<&str> = ["-H", &to].iter().chain(args.iter()).copied().collect();
        let output = site.tool("C", "cf-runagent", &args);
        assert!(text(&output).contains(said), "{args:?}: {}", text(&output));
        assert_eq!(output.status.code(), Some(*code), "{args:?}");
    }
}

#[test]
fn nonsense_and_idle_connections_do_not_end_the_server() {
    let site = Site::new();
    let mut server = site.serve(OPEN, ACCESS);
    let dial = || TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let idle: Vec<TcpStream> = (0..200).map(|_| dial()).collect();
    let zeros = vec![0; 100_000];
    let nonsense: &[&[u8]] = &[
        b"t 0\0\0\0\0\0CAUTH x",
        b"x 5\0\0\0\0\0CAUTH",
        b"t 99999\0CAUTH x",
        b"t 14\0\0\0\0CAUTH 1 h r 0",
        b"t 5\0",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1\r\n\r\n",
        &zeros,
    ];
    for bytes in nonsense {
        let mut stream = dial();
        // One that hangs up at once is right to.
        let _refused = stream.write_all(bytes);
        stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let mut answer = Vec::new();
        let _ended = stream.read_to_end(&mut answer);
        assert!(answer.len() < 4096, "{}", String::from_utf8_lossy(bytes));
    }
    let copied = text(&site.copies(server.port, r#"trustkey => "true";"#));
    assert!(same(&site.path("data"), &site.path("dst")), "{copied}");
    assert!(server.child.try_wait().unwrap().is_none(), "the server is there");
    drop(idle);
}

#[test]
fn a_server_that_is_killed_leaves_no_torn_file() {
    let site = Site::new();
    let content: Vec<u8> = (0..8_000_000_u32).map(|n| (n >> 3) as u8).collect();
    for number in 0..6 {
        site.put(&format!("data/big{number}"), &content);
    }
    let mut server = site.serve(OPEN, ACCESS);
    site.policy(
        "C",
        &CLIENT
            .replace("PORT", &server.port.to_string())
            .replace("MORE", r#"trustkey => "true"; timeout => "5";"#),
    );
    let mut agent = site.command("C", "cf-agent", &["-KI"]);
    let mut agent = agent.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while !site.path("dst/big1").exists() && began.elapsed() < PATIENCE {
        std::thread::yield_now();
    }
    server.child.kill().unwrap();
    agent.wait().unwrap();
    for entry in fs::read_dir(site.path("dst")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if name.starts_with("big") {
            assert!(fs::read(entry.path()).unwrap() == content, "{name} is torn");
        }
    }
}

#[test]
fn secrets_are_read_by_whom_they_are_for() {
    let site = Site::new();
    site.put("plain", b"sauce\n");
    let at = |name: &str| site.path(name).display().to_string();
    let key = at("S/ppkeys/localhost.pub");
    let shut = ["encrypt", "-k", &key, "-o", &at("shut"), &at("plain")];
    assert!(site.tool("C", "cf-secret", &shut).status.success());
    let open = ["decrypt", "-o", &at("open"), &at("shut")];
    let stranger = site.tool("C", "cf-secret", &open);
    assert!(text(&stranger).contains("File not encrypted for host"), "{}", text(&stranger));
    assert!(site.tool("S", "cf-secret", &open).status.success());
    assert_eq!(fs::read(site.path("open")).unwrap(), b"sauce\n");
}
