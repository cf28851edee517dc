//! One run put together: machine, store, ledger, sinks and lock; then the language; then
//! everything closed in the right order, whatever happened.

use std::path::Path;
use std::rc::Rc;

use fx_engine::{Event, Level, Sink};
use fx_host::{Clock, Edits, Lock, Locked, OsHost, stop_signal};
use fx_report::console::native::{Native, Verbosity};
use fx_report::{JsonLines, Screen};
use fx_source::Origin;
use fx_store::{RunInfo, Store};

use crate::record::Recorder;
use crate::stage::Stage;
use crate::terminal::{self, ColorChoice};
use crate::{exit, paths};

/// Form of a run's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON object a line
    Json,
    /// One line a step, the same on every machine
    Trace,
}

/// What the user wants of the output.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct OutputArgs {
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Tell also what was kept or skipped, and why it was its turn
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Tell failures and the summary only
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// When to use colour
    #[arg(long, value_enum, default_value_t)]
    pub(crate) color: ColorChoice,
    /// Send messages to the system's log as well
    #[arg(long, value_enum)]
    pub(crate) log: Option<crate::log::Target>,
}

/// A run in the making.
pub(crate) struct Session {
    stage: Stage,
    screen: Rc<Screen>,
    console: Option<Rc<Native>>,
    format: Format,
    record: Option<Rc<Recorder>>,
    _lock: Option<Lock>,
}

/// Whether the run may change the machine, and so needs the lock and leaves a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It changes things.
    Changing,
    /// It only looks.
    Looking,
}

impl Session {
    /// Puts everything together; an exit code where that is not possible.
    pub(crate) fn open(
        verb: &str,
        target: &str,
        kind: Kind,
        output: &OutputArgs,
    ) -> Result<Session, u8> {
        let stage = Stage::new(fx_host::stop_on_signals());
        let (host, sources, ledger) = (&*stage.host, &stage.sources, stage.run.ledger);
        let screen = Rc::new(terminal::screen(host, output.color));
        let console = match output.format {
            Format::Text => {
                let verbosity = match (output.verbose, output.quiet) {
                    (true, _) => Verbosity::Verbose,
                    (_, true) => Verbosity::Quiet,
                    _ => Verbosity::Normal,
                };
                let native =
                    Rc::new(Native::new(Rc::clone(&screen), Rc::clone(sources), verbosity));
                let sink: Rc<dyn Sink> = Rc::<Native>::clone(&native);
                ledger.watch(sink);
                Some(native)
            }
            Format::Json => {
                ledger.watch(Rc::new(JsonLines::new(Rc::clone(&screen), Rc::clone(sources))));
                None
            }
            Format::Trace => None,
        };
        if let Some(target) = output.log {
            match crate::log::SystemLogSink::open(target) {
                Ok(sink) => ledger.watch(Rc::new(sink)),
                Err(error) => terminal::complain(error),
            }
        }
        let (lock, record) = match kind {
            Kind::Changing => {
                let dir = paths::state_dir(host);
                let store = open_store(host, &dir);
                // Only who holds the lock leaves a record.
                let lock = take_lock(&dir)?;
                (lock, store.and_then(|store| begin_record(&stage, store, verb, target)))
            }
            Kind::Looking => (None, None),
        };
        if let Some(recorder) = &record {
            let sink: Rc<dyn Sink> = Rc::<Recorder>::clone(recorder);
            ledger.watch(sink);
        }
        ledger.emit(&Event::RunStarted { target });
        Ok(Session { stage, screen, console, format: output.format, record, _lock: lock })
    }

    /// What a language gets.
    pub(crate) fn stage(&self) -> &Stage {
        &self.stage
    }

    /// How the steps ended so far.
    pub(crate) fn counts(&self) -> fx_engine::Counts {
        self.stage.run.ledger.counts()
    }

    /// Makes changes durable, prints the summary, closes the record. The code is the
    /// language's own unless something was worse.
    pub(crate) fn close(mut self, code: u8) -> u8 {
        let mut code = code;
        let ledger = self.stage.run.ledger;
        if let Err(error) = self.stage.host.commit() {
            ledger.message(Level::Error, &error.to_string(), &Origin::default());
            code = code.max(exit::ERROR);
        }
        if let Some(signal) = stop_signal() {
            ledger.message(
                Level::Error,
                &format!("stopped by signal {signal}"),
                &Origin::default(),
            );
            code = code.max(exit::ERROR);
        }
        let elapsed = self.stage.host.monotonic();
        ledger.emit(&Event::RunFinished { elapsed });
        if let Some(console) = &self.console {
            console.summary(ledger.counts(), elapsed);
        }
        if self.format == Format::Trace {
            self.screen.print(&ledger.trace(&self.stage.sources));
        }
        if let Some(recorder) = self.record.take()
            && let Err(error) = recorder.end(code, elapsed)
        {
            terminal::complain(error);
        }
        if let Err(error) = self.screen.flush() {
            terminal::complain(format_args!("cannot write to standard output: {error}"));
            code = code.max(exit::ERROR);
        }
        code
    }
}

fn take_lock(dir: &Path) -> Result<Option<Lock>, u8> {
    match Lock::try_take(&dir.join("run.lock")) {
        Ok(Locked::Taken(lock)) => Ok(Some(lock)),
        Ok(Locked::Held(holder)) => {
            terminal::complain(format_args!(
                "another run is under way (process {}); wait for it or end it",
                holder.pid
            ));
            Err(exit::ERROR)
        }
        // A machine whose state directory cannot be written still wants to be repaired.
        Err(error) => {
            terminal::complain(error);
            Ok(None)
        }
    }
}

fn open_store(host: &OsHost, dir: &Path) -> Option<Store> {
    match Store::open(host, dir) {
        Ok(opened) => {
            if let Some(aside) = &opened.moved_aside {
                terminal::complain(format_args!(
                    "the state store was broken and is now '{}'",
                    aside.display()
                ));
            }
            Some(opened.store)
        }
        Err(error) => {
            terminal::complain(format_args!("this run leaves no record: {error}"));
            None
        }
    }
}

fn begin_record(stage: &Stage, store: Store, verb: &str, target: &str) -> Option<Rc<Recorder>> {
    let started = stage.host.now();
    let info = RunInfo { started, target: target.to_owned(), verb: verb.to_owned() };
    match Recorder::begin(store, &info, &stage.host, &stage.sources) {
        Ok(recorder) => Some(recorder),
        Err(error) => {
            terminal::complain(format_args!("this run leaves no record: {error}"));
            None
        }
    }
}
