//! The console of cf-agent: `    info: text`, `R: text`, and errors of the parser on
//! standard error. Says nothing about steps; CFEngine's messages do that.

use std::cell::RefCell;
use std::io::Write;

use fx_engine::{Event, Level, Sink};
use fx_source::{visible_bytes, visible_message};
use fx_value::Value;

/// Where the two streams go.
pub struct CfengineConsole {
    out: RefCell<Box<dyn Write>>,
    error: RefCell<Box<dyn Write>>,
    stamp: Option<Box<dyn Fn() -> String>>,
    coloured: bool,
    prefix: RefCell<Vec<u8>>,
}

impl CfengineConsole {
    /// A console that writes log and reports to `out`, and errors of the parser to `error`.
    pub fn new(out: Box<dyn Write>, error: Box<dyn Write>) -> CfengineConsole {
        CfengineConsole {
            out: RefCell::new(out),
            error: RefCell::new(error),
            stamp: None,
            coloured: false,
            prefix: RefCell::default(),
        }
    }

    /// The same, with what `stamp` says before each log line.
    pub fn stamped(mut self, stamp: Box<dyn Fn() -> String>) -> CfengineConsole {
        self.stamp = Some(stamp);
        self
    }

    /// The same, with log lines in the colour of their level.
    pub fn coloured(mut self, coloured: bool) -> CfengineConsole {
        self.coloured = coloured;
        self
    }

    fn line(&self, level: &str, text: &[u8]) {
        let mut out = self.out.borrow_mut();
        if self.coloured {
            let _closed = out.write_all(colour(level).as_bytes());
        }
        if matches!(level, "info" | "verbose" | "debug") && !self.prefix.borrow().is_empty() {
            let _closed = out.write_all(&self.prefix.borrow());
            let _closed = out.write_all(b" ");
        }
        if let Some(stamp) = &self.stamp {
            let _closed = write!(out, "{} ", stamp());
        }
        let _closed = write!(out, "{level:>8}: ");
        let text = visible_bytes(text);
        let _closed = out.write_all(visible_message(&text).as_bytes());
        let _closed = out.write_all(b"\n");
        if self.coloured {
            let _closed = out.write_all(b"\x1b[0m");
        }
    }
}

fn colour(level: &str) -> &'static str {
    match level {
        "CRITICAL" | "error" => "\x1b[31m",
        "warning" => "\x1b[33m",
        "notice" | "info" => "\x1b[32m",
        _ => "\x1b[34m",
    }
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Notice => "notice",
        Level::Info => "info",
        Level::Verbose => "verbose",
        Level::Debug => "debug",
    }
}

fn field<'a>(fields: &'a [(std::borrow::Cow<'static, str>, Value)], name: &str) -> &'a [u8] {
    fields
        .iter()
        .find(|(key, _)| key == name)
        .and_then(|(_, value)| value.as_bytes())
        .unwrap_or_default()
}

impl Sink for CfengineConsole {
    // A reader that has gone is nobody's loss.
    fn flush(&self) {
        // What is wrong with policy was found before anything was said of the run.
        let _closed = self.error.borrow_mut().flush();
        let _closed = self.out.borrow_mut().flush();
    }

    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Message { level, text, .. } => self.line(word(*level), text.as_bytes()),
            Event::Note { code: "cf.report", fields, .. } => {
                let mut out = self.out.borrow_mut();
                let _closed = out.write_all(b"R: ");
                let _closed = out.write_all(visible_bytes(field(fields, "text")).as_bytes());
                let _closed = out.write_all(b"\n");
            }
            Event::Note { code: "cf.critical", fields, .. } => {
                self.line("CRITICAL", field(fields, "text"))
            }
            Event::Note { code: "cf.print", fields, .. } => {
                let mut out = self.out.borrow_mut();
                let _closed = out.write_all(visible_bytes(field(fields, "text")).as_bytes());
                let _closed = out.write_all(b"\n");
            }
            Event::Note { code: "cf.prefix", fields, .. } => {
                *self.prefix.borrow_mut() = field(fields, "text").to_vec();
            }
            Event::Note { code: "cf.raw", fields, .. } => {
                let _closed = self.out.borrow_mut().write_all(field(fields, "text"));
            }
            Event::Note { code: "cf.stderr", fields, .. } => {
                let _closed = self.out.borrow_mut().flush();
                let mut error = self.error.borrow_mut();
                let _closed = error.write_all(visible_bytes(field(fields, "text")).as_bytes());
                let _closed = error.write_all(b"\n");
            }
            _ => {}
        }
    }
}
