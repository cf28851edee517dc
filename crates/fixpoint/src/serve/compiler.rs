//! The process that compiles: it has one compiler, takes a task after the other from its server
//! and ends with it. What the compiler holds is given back by its end.

use std::cell::RefCell;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use fx_engine::{Cancel, Event, Level, Sink};
use fx_host::{LookingHost, OsHost};
use fx_puppet::{Compilation, ExportFilter, ExportedResource, Exports, Machine};
use serde_json::{Map, Value, json};

use super::frames::{self, Kind};
use super::job::Job;
use crate::exit;

/// Serves the process at the other end of standard input, which is a socket; the exit code. Code
/// that only looks cannot change the machine.
pub(crate) fn run(limit: u64, only_looks: bool) -> u8 {
    let Ok(server) = std::io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else {
        return exit::ERROR;
    };
    let Ok(reading) = server.try_clone() else { return exit::ERROR };
    let (sender, frames) = channel();
    // A compiler whose server has gone ends at once, whatever it is at.
    std::thread::spawn(move || read(reading, &sender));
    let limit = Duration::from_secs(limit);
    let served = crate::deep::spawn(move || serve(server, frames, limit, only_looks));
    match served.map(std::thread::JoinHandle::join) {
        Ok(Ok(())) => exit::OK,
        _ => exit::ERROR,
    }
}

type Frames = Receiver<(Kind, Vec<u8>)>;

#[allow(clippy::exit, reason = "nobody is left to hear of it")]
fn read(mut server: UnixStream, sender: &Sender<(Kind, Vec<u8>)>) {
    while let Ok(frame) = frames::read(&mut server) {
        if sender.send(frame).is_err() {
            return;
        }
    }
    std::process::exit(i32::from(exit::OK));
}

/// The way to the server.
#[derive(Debug)]
struct Line {
    server: RefCell<UnixStream>,
    frames: Frames,
}

impl Line {
    fn send(&self, kind: Kind, bytes: &[u8]) -> std::io::Result<()> {
        frames::write(&mut *self.server.borrow_mut(), kind, bytes)
    }
}

fn serve(server: UnixStream, frames: Frames, limit: Duration, only_looks: bool) {
    let stop = Arc::new(AtomicBool::new(false));
    let line = Rc::new(Line { server: RefCell::new(server), frames });
    let host = Rc::new(OsHost::cancelled_by(Arc::clone(&stop)));
    let cancel = Cancel::from_flag(Arc::clone(&stop));
    let looking = only_looks.then(|| Rc::new(LookingHost::new(Rc::<OsHost>::clone(&host))));
    let machine = match &looking {
        Some(looking) => Machine::new(Rc::clone(looking), cancel),
        None => Machine::new(host, cancel),
    };
    machine.stays();
    machine.run().ledger.watch(Rc::new(Messages(Rc::clone(&line))));
    while let Ok((Kind::Job, text)) = line.frames.recv() {
        stop.store(false, Ordering::SeqCst);
        let watched = Watch::begin(&stop, limit);
        let done = match serde_json::from_slice::<Job>(&text) {
            Ok(job) => {
                let exports = Rc::clone(&line) as Rc<dyn Exports>;
                catch_unwind(AssertUnwindSafe(|| job.carry_out(&machine, exports)))
            }
            Err(error) => Ok(Err(error.to_string())),
        };
        drop(watched);
        let refused = looking.as_ref().and_then(|looking| looking.refused());
        let done = match refused {
            Some(what) => {
                Ok(Err(format!("'{what}' is done in a copy of the machine only, which needs root")))
            }
            None => done,
        };
        let sent = match &done {
            Ok(Ok(Compilation { text, exported })) => line
                .send(Kind::Text, text.as_bytes())
                .and_then(|()| line.send(Kind::Exported, json!(exported).to_string().as_bytes())),
            Ok(Err(why)) => line.send(Kind::Failed, why.as_bytes()),
            Err(_) => line.send(Kind::Failed, b"a defect of the compiler ended this catalog"),
        };
        // What the compiler holds after a panic is anybody's guess; one that is spent compiles no more.
        if sent.is_err() || done.is_err() || machine.spent().is_some() {
            return;
        }
    }
}

/// Sets the flag when the time is over: commands that the compiler runs end by it.
struct Watch(Option<Sender<()>>);

impl Watch {
    fn begin(stop: &Arc<AtomicBool>, limit: Duration) -> Watch {
        let (sender, ended) = channel::<()>();
        let stop = Arc::clone(stop);
        std::thread::spawn(move || {
            if ended.recv_timeout(limit) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                stop.store(true, Ordering::SeqCst);
            }
        });
        Watch(Some(sender))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.take();
    }
}

/// Hands warnings and errors of manifests to the log of the server.
struct Messages(Rc<Line>);

impl Sink for Messages {
    fn event(&self, event: &Event<'_>) {
        if let Event::Message {
            level: level @ (Level::Warning | Level::Error | Level::Notice),
            text,
            ..
        } = event
        {
            // A server that has gone needs no log.
            let _ = self.0.send(Kind::Log, format!("{level:?}: {text}").as_bytes());
        }
    }
}

fn condition(of: &ExportFilter) -> Value {
    match of {
        ExportFilter::And(left, right) => json!(["and", condition(left), condition(right)]),
        ExportFilter::Or(left, right) => json!(["or", condition(left), condition(right)]),
        ExportFilter::Not(inner) => json!(["not", condition(inner)]),
        ExportFilter::Tag(tag) => json!(["=", "tag", tag]),
        ExportFilter::Title(title) => json!(["=", "title", title]),
        ExportFilter::Parameter(name, value) => json!(["=", ["parameter", name], value]),
    }
}

fn resource(row: Value) -> ExportedResource {
    let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    ExportedResource {
        node: text("certname"),
        kind: text("type"),
        title: text("title"),
        parameters: match &row["parameters"] {
            Value::Object(parameters) => parameters.clone(),
            _ => Map::new(),
        },
    }
}

impl Exports for Line {
    fn collect(
        &self,
        kind: &str,
        not_of: &str,
        wanted: Option<&ExportFilter>,
    ) -> Result<Vec<ExportedResource>, String> {
        let mut all = vec![
            json!("and"),
            json!(["=", "type", kind]),
            json!(["=", "exported", true]),
            json!(["not", ["=", "certname", not_of]]),
        ];
        all.extend(wanted.map(condition));
        let rows = match self.query(&json!(["from", "resources", all]))? {
            Value::Array(rows) => rows,
            other => return Err(format!("the store answered {other}")),
        };
        let mut found: Vec<ExportedResource> = rows.into_iter().map(resource).collect();
        // A catalog does not change because rows were written in another order.
        found.sort_by(|a, b| (&a.node, &a.title).cmp(&(&b.node, &b.title)));
        Ok(found)
    }

    fn query(&self, query: &Value) -> Result<Value, String> {
        self.send(Kind::Query, query.to_string().as_bytes()).map_err(|error| error.to_string())?;
        match self.frames.recv() {
            Ok((Kind::Found, text)) => {
                serde_json::from_slice(&text).map_err(|error| error.to_string())
            }
            Ok((_, text)) => Err(String::from_utf8_lossy(&text).into_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}
