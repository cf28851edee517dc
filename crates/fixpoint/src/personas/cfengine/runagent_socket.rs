//! The socket of cf-execd: who may write to it names hosts, one line a connection, and gets what
//! their agents printed. For this host the server's command is run, for others cf-runagent.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fx_cfengine::command::split_command;
use fx_host::{Accounts, Edits, Files, OsHost, Spec};
use fx_resources::acl::{Acl, Who};

use super::tools::Log;

/// A line of hosts that is longer is refused.
const MOST_BYTES: u64 = 4096;
/// Requests that are answered at once; the next one waits.
const MOST_AT_ONCE: usize = 16;
const PATIENCE: Duration = Duration::from_secs(10);
const ACCESS_LIST: &str = "system.posix_acl_access";

/// What policy says about runs that are asked for here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// `cfruncommand` of the server's control body.
    pub(super) command: Option<String>,
    /// Names and addresses of this host.
    pub(super) own: Vec<String>,
    /// Users who may ask beside root.
    pub(super) users: Vec<String>,
}

/// The socket, while somebody listens.
pub(super) struct Socket {
    asked: Arc<Mutex<Asked>>,
    file: PathBuf,
}

impl Socket {
    /// Begins to listen.
    pub(super) fn open(
        host: &OsHost,
        state: &str,
        bin: &str,
        asked: Asked,
        log: Log,
    ) -> Result<Socket, String> {
        let dir = PathBuf::from(format!("{state}/cf-execd.sockets"));
        let file = dir.join("runagent.socket");
        let words = |error: fx_host::HostError| error.to_string();
        match host.lstat(&dir) {
            // That of an earlier daemon is shut while the socket is made.
            Ok(meta) if meta.is_dir() => host.set_mode(&dir, 0o700),
            // Whatever else has the name is named by the error.
            _ => host.make_dir(&dir, 0o700),
        }
        .map_err(words)?;
        // One of a daemon that was killed; where it cannot be removed the next call says so.
        let _gone = host.remove_file(&file);
        let listener = UnixListener::bind(&file)
            .map_err(|error| format!("Could not listen on '{}': {error}", file.display()))?;
        host.set_mode(&file, 0o700).map_err(words)?;
        host.set_mode(&dir, 0o750).map_err(words)?;
        if let Err(why) = allow(host, &dir, &file, &asked.users) {
            log.error(&why);
            log.error(
                "Failed to allow runagent_socket_allow_users users access the runagent socket",
            );
        }
        let asked = Arc::new(Mutex::new(asked));
        let (shared, bin) = (Arc::clone(&asked), bin.to_owned());
        std::thread::spawn(move || accept(&listener, &shared, &bin));
        Ok(Socket { asked, file })
    }

    /// Takes over what policy says now.
    pub(super) fn renew(&self, asked: Asked) {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = asked;
    }

    /// Nobody listens any more.
    pub(super) fn close(&self, host: &OsHost) {
        let _gone = host.remove_file(&self.file);
    }
}

// Lets users other than root reach the socket.
fn allow(host: &OsHost, dir: &Path, file: &Path, users: &[String]) -> Result<(), String> {
    if users.is_empty() {
        return Ok(());
    }
    let mut ids = Vec::with_capacity(users.len());
    for name in users {
        let found = host.user(name).map_err(|error| error.to_string())?;
        let missing = || format!("Could not get UID for user '{name}', (getpwnam: not found)");
        ids.push(found.ok_or_else(missing)?.uid);
    }
    for (path, mode, permissions) in [(dir, 0o750, 0o5), (file, 0o700, 0o7)] {
        let mut list = Acl::from_mode(mode);
        for id in &ids {
            list.set(Who::User(*id), permissions);
        }
        list.fit_mask();
        let set = host.set_xattr(path, ACCESS_LIST, Some(&list.encode()));
        set.map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn accept(listener: &UnixListener, asked: &Arc<Mutex<Asked>>, bin: &str) {
    let busy = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming().flatten() {
        while busy.load(Ordering::SeqCst) >= MOST_AT_ONCE {
            std::thread::sleep(Duration::from_millis(50));
        }
        busy.fetch_add(1, Ordering::SeqCst);
        let (busy, bin) = (Arc::clone(&busy), bin.to_owned());
        let asked = asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
        std::thread::spawn(move || {
            // Who has gone gets no answer.
            let _gone = answer(stream, &asked, &bin);
            busy.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

fn answer(mut stream: UnixStream, asked: &Asked, bin: &str) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new((&stream).take(MOST_BYTES)).read_line(&mut line)?;
    let reply = match line.strip_suffix('\n').map(|hosts| words(hosts, asked, bin)) {
        Some(Ok(words)) => run(words),
        Some(Err(why)) => refusal(why),
        None => refusal("expected a line with hosts, separated by commas"),
    };
    stream.write_all(reply.as_bytes())
}

/// The command that a line of hosts stands for.
fn words(hosts: &str, asked: &Asked, bin: &str) -> Result<Vec<String>, &'static str> {
    let is_local = ["localhost", "127.0.0.1", "::1"].contains(&hosts)
        || !hosts.is_empty() && asked.own.iter().any(|own| own == hosts);
    if is_local {
        let command = asked.command.as_deref().ok_or("there is no cfruncommand in policy")?;
        return Ok(split_command(command));
    }
    // The line comes from a user: it is one argument, and no flag.
    if hosts.is_empty() || hosts.starts_with('-') || hosts.contains(char::is_whitespace) {
        return Err("expected names or addresses of hosts, separated by commas");
    }
    Ok([&format!("{bin}/cf-runagent"), "-b", "-H", hosts].map(str::to_owned).into())
}

fn refusal(why: &str) -> String {
    format!("{{\n\"error\" : {}\n}}\n", serde_json::Value::from(why))
}

fn run(words: Vec<String>) -> String {
    let spec = Spec { merge_stderr: true, ..Spec::argv(words) };
    match fx_host::Commands::run(&OsHost::new(), &spec) {
        Ok(ended) => {
            let output = serde_json::Value::from(String::from_utf8_lossy(&ended.stdout));
            format!("{{\n\"output\" : {output},\n\"exit_code\": {}\n}}\n", ended.exit.code())
        }
        Err(error) => refusal(&error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use fx_engine::Level;

    use super::*;

    #[test]
    fn hosts_become_one_argument_and_no_flag() {
        let asked = Asked {
            command: Some("/bin/echo 'a b' c".into()),
            own: vec!["me.example.org".into(), String::new()],
            users: Vec::new(),
        };
        for own in ["localhost", "127.0.0.1", "me.example.org"] {
            assert_eq!(words(own, &asked, "/b").unwrap(), ["/bin/echo", "a b", "c"]);
        }
        let other = words("a,b;ls", &asked, "/b").unwrap();
        assert_eq!(other, ["/b/cf-runagent", "-b", "-H", "a,b;ls"]);
        for wrong in ["", "-f/tmp/x", "a -f/tmp/x", "a\tb"] {
            assert!(words(wrong, &asked, "/b").is_err(), "{wrong:?}");
        }
        assert!(words("localhost", &Asked::default(), "/b").is_err());
    }

    #[test]
    fn a_second_daemon_opens_its_socket_too_and_no_link_is_followed() {
        let host = OsHost::new();
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().to_str().unwrap();
        let open = || Socket::open(&host, state, "/b", Asked::default(), Log(Level::Error));
        for _ in 0..2 {
            let socket = open().unwrap_or_else(|why| panic!("{why}"));
            assert_eq!(host.lstat(&socket.file).unwrap().mode & 0o777, 0o700);
        }
        let sockets = dir.path().join("cf-execd.sockets");
        host.rename(&sockets, &dir.path().join("elsewhere")).unwrap();
        host.symlink(Path::new("elsewhere"), &sockets).unwrap();
        assert!(open().is_err());
    }

    #[test]
    fn answers_are_those_of_the_original() {
        let said = run(["/bin/sh", "-c", "echo CFRUN; exit 3"].map(str::to_owned).into());
        assert_eq!(said, "{\n\"output\" : \"CFRUN\\n\",\n\"exit_code\": 3\n}\n");
    }
}
