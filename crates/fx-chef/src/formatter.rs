//! Formatters: each makes the lines of the original's formatter of that name from the events of
//! a run. They hear everything and decide nothing.

mod doc;
mod minimal;
mod page;

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;

use crate::event::Event;

/// Which formatter writes to the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// One block a resource.
    #[default]
    Doc,
    /// One letter a resource.
    Minimal,
    /// Nothing.
    Null,
}

impl Format {
    /// The formatter of a name; an unknown name gives the usual one.
    pub(crate) fn named(name: &str) -> Format {
        match name {
            "min" | "minimal" => Format::Minimal,
            "null" => Format::Null,
            _ => Format::Doc,
        }
    }
}

/// What formatters get when they are made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    pub(crate) format: Format,
    /// Changes are only named.
    pub(crate) why_run: bool,
    /// Only resources are shown, no headings around them.
    pub(crate) bare: bool,
}

/// Makes text of events.
trait Formatter {
    /// What is shown of this event; often nothing.
    fn text(&mut self, event: &Event<'_>) -> String;
}

struct Null;

impl Formatter for Null {
    fn text(&mut self, _: &Event<'_>) -> String {
        String::new()
    }
}

/// The output of a run, shared by the formatter, the log and what recipes print.
#[derive(Clone)]
pub(crate) struct Output(Rc<RefCell<Box<dyn Write>>>);

impl Output {
    pub(crate) fn new(out: Box<dyn Write>) -> Output {
        Output(Rc::new(RefCell::new(out)))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

/// The formatter of a run with the output it writes to.
pub(crate) struct Console {
    out: Output,
    formatter: Box<dyn Formatter>,
    pub(crate) style: Style,
}

impl Console {
    pub(crate) fn new(out: Output, style: Style) -> Console {
        let formatter: Box<dyn Formatter> = match style.format {
            Format::Doc => Box::new(doc::Doc::new(style)),
            Format::Minimal => Box::new(minimal::Minimal::new(style)),
            Format::Null => Box::new(Null),
        };
        Console { out, formatter, style }
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        let text = self.formatter.text(event);
        if !text.is_empty() {
            self.print(&crate::masking::text(&text));
        }
    }

    /// Prints text that is fit to be shown: log lines.
    pub(crate) fn print(&mut self, text: &str) {
        drop(self.out.write_all(text.as_bytes()));
    }
}

#[cfg(test)]
mod tests;
