//! How an exception is reported: the report of a program's end and `full_message` are one text,
//! with or without colours, the newest call at the top or at the bottom.

use crate::names as n;
use crate::value::Value;
use crate::vm::Vm;

/// The form of a report.
#[derive(Clone, Copy, Default)]
pub(crate) struct Form {
    pub highlight: bool,
    /// The message after the trace, oldest call first.
    pub bottom: bool,
}

/// One exception of a chain, as text.
struct Told {
    place: String,
    class: String,
    message: String,
    callers: Vec<String>,
}

impl Vm {
    /// What went wrong, as the command prints it.
    pub fn report(&mut self, exception: Value) -> String {
        self.report_as(exception, Form::default())
    }

    pub(crate) fn report_as(&mut self, exception: Value, form: Form) -> String {
        let saved = self.pending.get();
        let mut chain = vec![exception];
        while let Some(&last) = chain.last()
            && let Some(cause) = self.exc_mut(last).and_then(|data| data.cause)
            && self.is_exception(cause)
            && !chain.contains(&cause)
        {
            chain.push(cause);
        }
        let mut told: Vec<Told> = chain.into_iter().map(|e| self.told(e)).collect();
        self.pending.set(saved);
        let mut out = String::new();
        if form.bottom {
            let title = if form.highlight { "\u{1b}[1mTraceback\u{1b}[m" } else { "Traceback" };
            out = format!("{title} (most recent call last):\n");
            told.reverse();
        }
        for one in &told {
            let head = head(one, form.highlight);
            if !form.bottom {
                out.push_str(&head);
            }
            let count = one.callers.len();
            for i in 0..count {
                out += &if form.bottom {
                    format!("\t{}: from {}\n", count - i, one.callers[count - 1 - i])
                } else {
                    format!("\tfrom {}\n", one.callers[i])
                };
            }
            if form.bottom {
                out.push_str(&head);
            }
        }
        out
    }

    fn told(&mut self, exception: Value) -> Told {
        let class = self.real_class(exception);
        let class = self.class_name(class);
        let message = match self.send(exception, n::MESSAGE, &[]) {
            Ok(v) if v.is_str() => self.text(v),
            _ => String::new(),
        };
        let trace = match self.send(exception, n::BACKTRACE, &[]) {
            Ok(trace) if trace.is_arr() => self.heap.arr(trace).clone(),
            _ => Vec::new(),
        };
        let mut lines = trace.into_iter().filter(|v| v.is_str()).collect::<Vec<_>>().into_iter();
        let place = match lines.next() {
            Some(line) => self.text(line),
            None => self.script.to_string(),
        };
        Told { place, class, message, callers: lines.map(|line| self.text(line)).collect() }
    }
}

fn head(told: &Told, highlight: bool) -> String {
    let Told { place, class, message, .. } = told;
    if message.is_empty() {
        let name = if class == "RuntimeError" { "unhandled exception" } else { class };
        return if highlight {
            format!("{place}: \u{1b}[1;4m{name}\u{1b}[m\n")
        } else {
            format!("{place}: {name}\n")
        };
    }
    let (first, rest) = message.split_once('\n').unwrap_or((message, ""));
    let mut out = if highlight {
        format!("{place}: \u{1b}[1m{first} (\u{1b}[1;4m{class}\u{1b}[m\u{1b}[1m)\u{1b}[m\n")
    } else {
        format!("{place}: {first} ({class})\n")
    };
    for line in rest.lines() {
        out += &if highlight { format!("\u{1b}[1m{line}\u{1b}[m\n") } else { format!("{line}\n") };
    }
    out
}
