//! cf-execd: runs the agent by a schedule, keeps its output and sends it by mail.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fx_cfengine::config::{Paths, configure};
use fx_cfengine::eval::value::Value;
use fx_cfengine::eval::vars::Found;
use fx_cfengine::text::canonify;
use fx_cfengine::{Component, Request};
use fx_engine::Level;
use fx_host::{Clock, Commands, Edits, Files, OsHost, Spec, WriteOptions};

use crate::persona::Invocation;

use super::daemon::{self, PidFile};
use super::evaluate::{request, with_policy};
use super::mail::{Filter, Mail, send};
use super::runagent_socket::{Asked, Socket};
use super::tools::{self, Call, Log};

const PULSE: Duration = Duration::from_mins(1);
const BODY: &str = "executor";
const MOST_LINES: i64 = 30;
const EXPIRE_MINUTES: i64 = 120;

/// What policy says about runs, at one moment.
struct Settings {
    /// Whether the schedule names this moment.
    is_due: bool,
    splay: Duration,
    command: Option<String>,
    expire: Duration,
    mail_to: Option<String>,
    mail_from: Option<String>,
    mail_server: Option<String>,
    subject: Option<String>,
    most_lines: usize,
    filter: Filter,
    host: String,
    address: String,
    addresses: String,
    hub: String,
    key: String,
    /// Runs that are asked for on the socket.
    asked: Asked,
}

pub(crate) fn execd(invocation: &Invocation) -> u8 {
    let call = match tools::read(invocation) {
        Ok(call) => call,
        Err(code) => return code,
    };
    let once = call.has("once");
    if !once && let Err(code) = daemon::into_background(&call) {
        return code;
    }
    let host = OsHost::new();
    let request = request(&call, Component::Executor);
    let paths = configure(&host, &request).paths;
    if once {
        return match read(&request) {
            Some(settings) => {
                run(&host, &paths, &settings, false, call.log, None);
                0
            }
            None => 1,
        };
    }
    let stop = fx_host::stop_on_signals();
    let hangup = fx_host::reload_on_hangup();
    let Some(mut settings) = read(&request) else { return 1 };
    let pid_file = PidFile::of(&paths.pids, "cf-execd");
    end_older(&host, &pid_file);
    let socket = match call.value("with-runagent-socket") {
        Some("no") => None,
        _ => {
            let asked = settings.asked.clone();
            let opened = Socket::open(&host, &paths.state, &paths.bin, asked, call.log);
            opened.map_err(|why| call.log.error(&why)).ok()
        }
    };
    pid_file.begin(&host, call.log);
    let on = Signals { stop: &stop, hangup: &hangup };
    pulses(&host, &request, &paths, &mut settings, &call, &on, socket.as_ref());
    if let Some(socket) = socket {
        socket.close(&host);
    }
    pid_file.end(&host);
    // A run that is under way goes on without us.
    fx_host::leave(0)
}

/// What was asked for by signals.
struct Signals<'a> {
    stop: &'a AtomicBool,
    hangup: &'a AtomicBool,
}

fn pulses(
    host: &OsHost,
    request: &Request,
    paths: &Paths,
    settings: &mut Settings,
    call: &Call,
    &Signals { stop, hangup }: &Signals<'_>,
    socket: Option<&Socket>,
) {
    while !stop.load(Ordering::Relaxed) {
        let began = Instant::now();
        if settings.is_due {
            wait(settings.splay, stop, hangup);
            if stop.load(Ordering::Relaxed) {
                return;
            }
            run(host, paths, settings, true, call.log, Some(stop));
        }
        wait(PULSE.saturating_sub(began.elapsed()), stop, hangup);
        if stop.load(Ordering::Relaxed) {
            return;
        }
        // Policy that cannot be read leaves in force what was there.
        if let Some(new) = read(request) {
            if let Some(socket) = socket {
                socket.renew(new.asked.clone());
            }
            *settings = new;
        }
    }
}

fn wait(time: Duration, stop: &AtomicBool, hangup: &AtomicBool) {
    const MOMENT: Duration = Duration::from_millis(200);
    let began = Instant::now();
    while began.elapsed() < time && !stop.load(Ordering::Relaxed) {
        if hangup.swap(false, Ordering::SeqCst) {
            return;
        }
        std::thread::sleep(MOMENT.min(time.saturating_sub(began.elapsed())));
    }
}

// One that runs already makes way.
fn end_older(host: &OsHost, pid_file: &PidFile) {
    let Some(pid) = pid_file.read(host) else { return };
    let line = host.read(Path::new(&format!("/proc/{pid}/cmdline"))).unwrap_or_default();
    let is_ours = String::from_utf8_lossy(&line).contains("cf-execd");
    if is_ours && pid.unsigned_abs() != std::process::id() {
        let _gone = host.signal(pid, 15);
    }
}

fn read(request: &Request) -> Option<Settings> {
    let settings = with_policy(request, |ctx| {
        let text = |name: &str| ctx.control.text(BODY, name).map(ToString::to_string);
        let list = |name: &str| -> Vec<String> {
            ctx.control.list(BODY, name).iter().map(ToString::to_string).collect()
        };
        let variable = |name: &str| {
            let found = ctx.vars.get("sys", name).and_then(Found::scalar);
            found.map(|text| text.to_string()).unwrap_or_default()
        };
        let mut schedule = list("schedule");
        if schedule.is_empty() {
            schedule = (0..12).map(|five| format!("Min{:02}", five * 5)).collect();
        }
        let number = |name: &str| ctx.control.number(BODY, name);
        let minutes = number("splaytime").unwrap_or(0).clamp(0, 1440) as f64;
        let named = |name: &str, otherwise: &str| match variable(name) {
            text if text.is_empty() => otherwise.to_owned(),
            text => text,
        };
        let addresses = match ctx.vars.get("sys", "ip_addresses").map(Found::value) {
            Some(Value::List(all)) => all.join(" "),
            _ => String::new(),
        };
        let (host, address) = (variable("fqhost"), named("ipv4", "127.0.0.1"));
        let fraction = fraction(&format!("{host}+{address}"));
        let expire = number("agent_expireafter").unwrap_or(EXPIRE_MINUTES).max(1) as u64;
        Settings {
            is_due: schedule.iter().any(|class| ctx.defined(class)),
            splay: Duration::from_secs_f64(minutes * 60.0 * fraction),
            command: text("exec_command"),
            expire: Duration::from_secs(expire * 60),
            mail_to: text("mailto").filter(|to| !to.is_empty()),
            mail_from: text("mailfrom").filter(|from| !from.is_empty()),
            mail_server: text("smtpserver").filter(|server| !server.is_empty()),
            subject: text("mailsubject").filter(|subject| !subject.is_empty()),
            most_lines: number("mailmaxlines").unwrap_or(MOST_LINES).max(0) as usize,
            filter: Filter {
                include: list("mailfilter_include"),
                exclude: list("mailfilter_exclude"),
            },
            addresses,
            asked: Asked {
                command: ctx.control.text("server", "cfruncommand").map(ToString::to_string),
                own: vec![host.clone(), address.clone(), variable("uqhost")],
                users: list("runagent_socket_allow_users"),
            },
            hub: named("policy_hub", "(none)"),
            key: variable("key_digest"),
            host,
            address,
        }
    });
    settings.ok()
}

// A part of one that is always the same for a host.
fn fraction(text: &str) -> f64 {
    let hex = fx_crypto::digest::Algorithm::Md5.hex(text.as_bytes());
    let number = u32::from_str_radix(&hex[..8], 16).unwrap_or(0);
    f64::from(number) / f64::from(u32::MAX)
}

fn command(paths: &Paths, settings: &Settings, scheduled: bool) -> String {
    let classes = if scheduled { "from_cfexecd,scheduled_run" } else { "from_cfexecd" };
    settings.command.clone().unwrap_or_else(|| {
        format!("\"{0}/cf-agent\" -f failsafe.cf && \"{0}/cf-agent\" -D{classes}", paths.bin)
    })
}

/// Runs the agent once, and keeps and sends what it printed.
fn run(
    host: &OsHost,
    paths: &Paths,
    settings: &Settings,
    scheduled: bool,
    log: Log,
    stop: Option<&AtomicBool>,
) {
    let mut spec = Spec::shell(command(paths, settings, scheduled));
    spec.merge_stderr = true;
    let mut child = match host.start(&spec) {
        Ok(child) => child,
        Err(error) => return log.error(&error.to_string()),
    };
    child.close_input();
    let mut lines: Vec<String> = Vec::new();
    let mut quiet = Instant::now();
    loop {
        if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            // The command is not ours to end.
            std::mem::forget(child);
            return;
        }
        match child.next_line(Duration::from_millis(500)) {
            Ok(Some(line)) => {
                quiet = Instant::now();
                let line = String::from_utf8_lossy(&line).replace('%', "%%");
                if !line.trim().is_empty() {
                    lines.push(line);
                }
            }
            // A command may close its output long before it ends.
            Ok(None) if is_running(host, child.pid()) => host.sleep(Duration::from_millis(200)),
            Ok(None) => {
                let _ended = child.wait();
                break;
            }
            Err(_) if quiet.elapsed() < settings.expire => {}
            Err(_) => {
                let minutes = settings.expire.as_secs() / 60;
                lines.push(format!("cf-execd: timeout waiting for output from agent (agent_expireafter={minutes}) - terminating it"));
                break;
            }
        }
    }
    drop(child);
    keep(host, paths, settings, &lines, log);
}

// One that has ended and was not waited for is a zombie.
fn is_running(host: &OsHost, pid: u32) -> bool {
    let stat = host.read(Path::new(&format!("/proc/{pid}/stat"))).unwrap_or_default();
    let text = String::from_utf8_lossy(&stat);
    let state = text.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

// The output of this run becomes the one before the next.
fn keep(host: &OsHost, paths: &Paths, settings: &Settings, lines: &[String], log: Log) {
    if lines.is_empty() {
        return;
    }
    let now = host.now().secs;
    let time = jiff::Timestamp::from_second(now).unwrap_or_default();
    let time = time.to_zoned(jiff::tz::TimeZone::system());
    let date = time.strftime("%a %b %e %H:%M:%S %Y").to_string();
    let dir = format!("{}/outputs", paths.workdir);
    let file = format!(
        "{dir}/cf_{}__{now}_{}_0x{:x}",
        canonify(&settings.host),
        canonify(&date),
        std::process::id()
    );
    let previous = PathBuf::from(format!("{dir}/previous"));
    let old = host.read(&previous).unwrap_or_default();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let options = WriteOptions { mode: Some(0o600), ..WriteOptions::default() };
    let written = host.write(Path::new(&file), text.as_bytes(), &options).and_then(|()| {
        if host.exists(&previous)? {
            host.remove_file(&previous)?;
        }
        host.symlink(Path::new(&file), &previous)?;
        host.commit()
    });
    if let Err(error) = written {
        log.error(&error.to_string());
    }
    let kept = |lines: &mut dyn Iterator<Item = &str>| -> Vec<String> {
        lines.filter(|line| settings.filter.keeps(line)).map(str::to_owned).collect()
    };
    let new = kept(&mut lines.iter().map(String::as_str));
    let old = String::from_utf8_lossy(&old).into_owned();
    if new.is_empty() || new == kept(&mut old.lines()) {
        return;
    }
    mail(host, settings, new, &file, &time, log);
}

fn mail(
    host: &OsHost,
    settings: &Settings,
    mut lines: Vec<String>,
    file: &str,
    time: &jiff::Zoned,
    log: Log,
) {
    let (Some(to), Some(server)) = (&settings.mail_to, &settings.mail_server) else {
        for line in &lines {
            log.line(Level::Info, line);
        }
        return;
    };
    if settings.most_lines == 0 {
        return;
    }
    if lines.len() > settings.most_lines {
        lines.truncate(settings.most_lines);
        lines.push(format!("[Mail truncated by CFEngine. File is at {file} on {}]", settings.host));
    }
    let default_from = format!("root@{}", settings.host);
    let subject = settings.subject.clone();
    let mail = Mail {
        server,
        from: settings.mail_from.as_deref().unwrap_or(&default_from),
        to,
        subject: subject.unwrap_or_else(|| format!("[{}/{}]", settings.host, settings.address)),
        marks: format!(
            "X-CFEngine: vfqhost=\"{}\";ip-addresses=\"{}\";policyhub=\"{}\";pkhash=\"{}\"",
            settings.host, settings.addresses, settings.hub, settings.key
        ),
        date: time.strftime("%a, %d %b %Y %H:%M:%S %z").to_string(),
        host: &settings.host,
        lines,
    };
    if let Err(why) = send(host, &mail) {
        log.error(&format!("Unable to send mail to '{to}': {why}"));
    }
}
