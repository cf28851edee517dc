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
        // What is kept for standard error was said before what is kept for standard output.
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
                // What is kept of either stream was said before this.
                self.flush();
                let mut error = self.error.borrow_mut();
                let _closed = error.write_all(visible_bytes(field(fields, "text")).as_bytes());
                let _closed = error.write_all(b"\n");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufWriter;
    use std::rc::Rc;

    use fx_engine::Ledger;
    use fx_source::Origin;

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Rc<RefCell<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn streams_that_go_to_one_place_keep_their_order() {
        let seen = Shared::default();
        let stream = || Box::new(BufWriter::new(seen.clone()));
        let ledger = Ledger::new();
        ledger.watch(Rc::new(CfengineConsole::new(stream(), stream())));
        for turn in ["1", "2"] {
            let text = format!("of the parser {turn}");
            let fields = [("text".into(), Value::from(&*text))];
            ledger.note("cf.stderr", &fields, &Origin::default());
            ledger.message(Level::Error, &format!("of the run {turn}"), &Origin::default());
        }
        ledger.flush();
        let seen = String::from_utf8(seen.0.take());
        let expected =
            "of the parser 1\n   error: of the run 1\nof the parser 2\n   error: of the run 2\n";
        assert_eq!(seen.as_deref(), Ok(expected));
    }
}
