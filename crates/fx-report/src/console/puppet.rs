//! The console of puppet: `Notice: text` on standard output, warnings and errors on
//! standard error. Says nothing about steps; the language's messages do that.

use std::cell::RefCell;
use std::io::Write;

use fx_engine::{Event, Level, Sink};
use fx_value::Value;

/// Where the two streams go, and how much is printed.
pub struct PuppetConsole {
    out: RefCell<Box<dyn Write>>,
    error: RefCell<Box<dyn Write>>,
    color: bool,
    most: Level,
}

impl PuppetConsole {
    /// A console that prints notices and what is worse.
    pub fn new(out: Box<dyn Write>, error: Box<dyn Write>) -> PuppetConsole {
        PuppetConsole {
            out: RefCell::new(out),
            error: RefCell::new(error),
            color: false,
            most: Level::Notice,
        }
    }

    /// The same in colour.
    pub fn colored(mut self) -> PuppetConsole {
        self.color = true;
        self
    }

    /// The same, telling everything down to a level.
    pub fn telling(mut self, most: Level) -> PuppetConsole {
        self.most = most;
        self
    }

    /// Writes out what is buffered. A reader that has gone is nobody's loss.
    pub fn flush(&self) {
        let _closed = self.out.borrow_mut().flush();
        let _closed = self.error.borrow_mut().flush();
    }

    fn line(&self, word: &str, color: &str, to_error: bool, text: &str) {
        // The streams keep their common order.
        self.flush();
        let mut stream = if to_error { self.error.borrow_mut() } else { self.out.borrow_mut() };
        let text = if text.is_empty() { " " } else { text };
        // A text that ends its line needs no other end.
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = fx_source::visible_message(text);
        let _closed = if self.color {
            writeln!(stream, "\u{1b}[{color}m{word}: {text}\u{1b}[0m")
        } else {
            writeln!(stream, "{word}: {text}")
        };
    }
}

fn field<'a>(
    fields: &'a [(std::borrow::Cow<'static, str>, Value)],
    name: &str,
) -> std::borrow::Cow<'a, str> {
    let bytes = fields
        .iter()
        .find(|(key, _)| key == name)
        .and_then(|(_, value)| value.as_bytes())
        .unwrap_or_default();
    String::from_utf8_lossy(bytes)
}

impl Sink for PuppetConsole {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Message { level, text, .. } if *level <= self.most => match level {
                Level::Error => self.line("Error", "1;31", true, text),
                Level::Warning => self.line("Warning", "1;33", true, text),
                Level::Notice => self.line("Notice", "m", false, text),
                Level::Info => self.line("Info", "0;32", false, text),
                Level::Verbose | Level::Debug => self.line("Debug", "0;36", false, text),
            },
            // What a step says by itself elsewhere, in the words of the original.
            Event::Note { code: "puppet.line", fields, .. } => {
                let (level, word, color) = match &*field(fields, "level") {
                    "notice" => (Level::Notice, "Notice", "m"),
                    _ => (Level::Info, "Info", "0;32"),
                };
                if level <= self.most {
                    self.line(word, color, false, &field(fields, "text"));
                }
            }
            Event::Note { code: "puppet.log", fields, .. } => {
                let (word, color) = match &*field(fields, "level") {
                    "alert" => ("Alert", "0;31"),
                    "emerg" => ("Emergency", "7;31"),
                    _ => ("Critical", "0;31"),
                };
                self.line(word, color, true, &field(fields, "text"));
            }
            // What the code of a module prints itself.
            Event::Note { code: code @ ("puppet.print" | "puppet.stderr"), fields, .. } => {
                self.flush();
                let to_error = *code == "puppet.stderr";
                let mut stream =
                    if to_error { self.error.borrow_mut() } else { self.out.borrow_mut() };
                let text = field(fields, "text");
                let _closed = writeln!(stream, "{}", fx_source::visible_message(&text));
            }
            _ => {}
        }
    }
}
