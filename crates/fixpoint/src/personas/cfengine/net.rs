//! cf-net: single requests to a server, to see what it answers.

use std::path::Path;
use std::time::Duration;

use fx_cfengine::config::configure;
use fx_host::{Clock, Edits, Files, OsHost, WriteOptions};
use fx_remote::cfengine::{Connection, Found, Offer};
use fx_wire::cfengine::{FileKind, HostPort};

use crate::persona::Invocation;

use super::peer::Ourselves;
use super::say;
use super::tools::{self, Call};

const PATIENCE: Duration = Duration::from_secs(30);
const COMMANDS: &[(&str, &str)] = &[
    ("connect", "Connect"),
    ("stat", "Look at type of file"),
    ("get", "Get file from server"),
    ("opendir", "List files and folders in a directory"),
    ("help", "Prints general help or per topic"),
];

pub(crate) fn net(invocation: &Invocation) -> u8 {
    let call = match tools::read(invocation) {
        Ok(call) => call,
        Err(code) => return code,
    };
    let Some((command, arguments)) = call.rest.split_first() else {
        call.log.error("No command given. Use 'cf-net help' for help.");
        return 1;
    };
    let command = command.to_ascii_lowercase();
    match command.as_str() {
        "help" => help(arguments),
        "connect" | "stat" | "get" | "opendir" => on_hosts(&call, &command, arguments),
        other => {
            call.log
                .error(&format!("'{}' is not a valid cf-net command", other.to_ascii_uppercase()));
            1
        }
    }
}

fn help(topics: &[String]) -> u8 {
    match topics.first().map(|topic| topic.to_ascii_lowercase()).as_deref() {
        None => {
            say("cf-net [global options] command [command options] [arguments]\n\nCommands:");
            for (name, what) in COMMANDS {
                say(&format!("  {name:<10} {what}"));
            }
            0
        }
        Some(topic) => match HELP.iter().find(|(name, _)| *name == topic) {
            Some((_, text)) => {
                say(text.trim_end_matches('\n'));
                0
            }
            None => {
                say(&format!("Unknown help topic: '{topic}'"));
                1
            }
        },
    }
}

/// What is said about each command, as the original says it.
const HELP: &[(&str, &str)] = &[
    (
        "help",
        "Command:     help
Usage:       cf-net help [command]
Description: Prints general help or per topic

You did it, you used the help command!",
    ),
    (
        "connect",
        "Command:     connect
Usage:       cf-net -H 192.168.50.50,192.168.50.51 connect
Description: Checks if host(s) is available by connecting",
    ),
    (
        "stat",
        "Command:     stat
Usage:       cf-net stat masterfiles/update.cf
Description: Look at type of file",
    ),
    (
        "get",
        "Command:     get
Usage:       cf-net get masterfiles/update.cf -o download.cf [-jNTHREADS]
Description: Get file from server",
    ),
    (
        "opendir",
        "Command:     opendir
Usage:       cf-net opendir masterfiles
Description: List files and folders in a directory",
    ),
];

fn hosts(call: &Call) -> Result<Vec<HostPort>, u8> {
    let named = call.list("host");
    if !named.is_empty() {
        return Ok(named.iter().map(|name| HostPort::parse(name)).collect());
    }
    let host = OsHost::new();
    let workdir = configure(&host, &fx_cfengine::Request::default()).paths.workdir.clone();
    match host.read(Path::new(&format!("{workdir}/policy_server.dat"))) {
        Ok(bytes) => Ok(vec![HostPort::parse(String::from_utf8_lossy(&bytes).trim())]),
        Err(_) => {
            say("Error: no host name (and no policy_server.dat)");
            Err(1)
        }
    }
}

fn on_hosts(call: &Call, command: &str, arguments: &[String]) -> u8 {
    let hosts = match hosts(call) {
        Ok(hosts) => hosts,
        Err(code) => return code,
    };
    let ourselves = match Ourselves::read("cf-net") {
        Ok(ourselves) => ourselves,
        Err(why) => {
            call.log.error(&why);
            return 1;
        }
    };
    let wish = match Wish::read(call, command, arguments) {
        Ok(wish) => wish,
        Err(code) => return code,
    };
    for to in &hosts {
        // Failures are printed and are no failure of the command, as with the original.
        one_host(call, &ourselves, to, command, &wish);
    }
    0
}

/// What a command is about.
struct Wish {
    path: Option<String>,
    output: Option<String>,
    times: u32,
}

impl Wish {
    fn read(call: &Call, command: &str, arguments: &[String]) -> Result<Wish, u8> {
        let mut wish = Wish { path: None, output: None, times: 1 };
        let mut rest = arguments.iter();
        while let Some(word) = rest.next() {
            match (word.as_str(), command) {
                ("-o", "get") => wish.output = rest.next().cloned(),
                ("-j", "get") => {
                    wish.times = rest.next().and_then(|text| text.parse().ok()).unwrap_or(1);
                }
                (word, "get") if word.starts_with("-o") => wish.output = Some(word[2..].to_owned()),
                (word, "get") if word.starts_with("-j") => {
                    wish.times = word[2..].parse().unwrap_or(1);
                }
                (word, _) => wish.path = Some(word.to_owned()),
            }
        }
        if command != "connect" && wish.path.is_none() {
            call.log.error(&format!("One remote path is required for the '{command}' command"));
            return Err(1);
        }
        Ok(wish)
    }
}

fn one_host(call: &Call, ourselves: &Ourselves, to: &HostPort, command: &str, wish: &Wish) {
    let offer = Offer {
        ciphers: call.value("ciphers").map(str::to_owned),
        least: call.value("tls-version").map(str::to_owned),
    };
    let connect = || ourselves.connect(to, PATIENCE, &offer, call.log, &mut |_| true);
    let Some((opened, _)) = connect() else {
        say(&format!("Failed to connect to '{to}'"));
        return;
    };
    let mut connection = opened.connection;
    let path = wish.path.clone().unwrap_or_default();
    match command {
        "connect" => say(&format!("Connected & authenticated successfully to '{to}'")),
        "stat" => stat(call, ourselves, &mut connection, to, &path),
        "opendir" => match connection.list(path.as_bytes()) {
            Ok(Ok(mut names)) => {
                names.extend([b".".to_vec(), b"..".to_vec()]);
                names.sort();
                names.iter().for_each(|name| say(&String::from_utf8_lossy(name)));
            }
            Ok(Err(_)) | Err(_) => call.log.error(&format!("Could not open directory: '{path}'")),
        },
        _ => {
            for number in 1..=wish.times {
                let base = path.rsplit('/').next().unwrap_or(&path).to_owned();
                let name = wish.output.clone().unwrap_or(base);
                let name = name.replace("%d", &number.to_string());
                get(call, ourselves, &mut connection, &path, &name);
            }
        }
    }
}

fn look(ourselves: &Ourselves, connection: &mut Connection, path: &str) -> Option<(FileKind, u64)> {
    let now = ourselves.host.now().secs;
    match connection.stats(&[path.as_bytes().to_vec()], now).ok()?.pop()? {
        Found::Is(stat, _) => Some((stat.kind, stat.size)),
        Found::Refused(_) => None,
    }
}

fn stat(
    call: &Call,
    ourselves: &Ourselves,
    connection: &mut Connection,
    to: &HostPort,
    path: &str,
) {
    let Some((kind, _)) = look(ourselves, connection, path) else {
        call.log.line(fx_engine::Level::Warning, &format!("Server refused to stat '{path}'"));
        say(&format!("Could not stat: '{path}'"));
        return;
    };
    let word = match kind {
        FileKind::File => "regular file",
        FileKind::Link => "symbolic link",
        FileKind::Directory => "directory",
        FileKind::Fifo => "fifo",
        FileKind::Block => "block device",
        FileKind::Character => "character device",
        FileKind::Socket => "socket",
    };
    say(&format!("{to}:'{path}' is a {word}"));
}

fn get(call: &Call, ourselves: &Ourselves, connection: &mut Connection, path: &str, name: &str) {
    let Some((FileKind::File, size)) = look(ourselves, connection, path) else {
        say(&format!("Could not stat: '{path}'"));
        return;
    };
    let options = WriteOptions { mode: Some(0o644), ..WriteOptions::default() };
    let connection = std::cell::RefCell::new(connection);
    let pieces = |into: &mut dyn std::io::Write| {
        let mut connection = connection.borrow_mut();
        let broken = |text: String| std::io::Error::other(text);
        connection
            .request_files(&[path.as_bytes().to_vec()])
            .map_err(|lost| broken(lost.to_string()))?;
        match connection.content(size, into) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(text)) => Err(broken(String::from_utf8_lossy(&text).into_owned())),
            Err(lost) => Err(broken(lost.to_string())),
        }
    };
    let host = &ourselves.host;
    let written = host.write_pieces(Path::new(name), &pieces, &options);
    if let Err(error) = written.and_then(|()| host.commit()) {
        call.log.error(&error.to_string());
    }
}
