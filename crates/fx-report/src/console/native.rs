//! Our own console style: a line for what changed or failed, diffs, and a summary.

use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;
use std::time::Duration;

use fx_engine::{
    Change, Counts, Detail, Event, Level, Outcome, Purpose, Sink, Step, StepId, TargetKind,
};
use fx_source::SourceMap;

use crate::{Screen, unified};

/// How much is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Verbosity {
    /// Failures and the summary.
    Quiet,
    /// Also what changed.
    #[default]
    Normal,
    /// Also what was kept or skipped, and why now.
    Verbose,
}

/// Writes the run as it happens.
pub struct Native {
    screen: Rc<Screen>,
    sources: Rc<SourceMap>,
    verbosity: Verbosity,
    changes: RefCell<Vec<(StepId, Change)>>,
    /// The step after which nothing is certain.
    unknown: RefCell<Option<String>>,
}

impl Native {
    /// A console on this screen.
    pub fn new(screen: Rc<Screen>, sources: Rc<SourceMap>, verbosity: Verbosity) -> Native {
        Native {
            screen,
            sources,
            verbosity,
            changes: RefCell::default(),
            unknown: RefCell::default(),
        }
    }

    /// The line that ends a run.
    pub fn summary(&self, counts: Counts, elapsed: Duration) {
        let mut line = format!("{} kept, {} repaired", counts.kept, counts.repaired);
        for (count, word) in [
            (counts.would_repair, "to repair"),
            (counts.failed, "failed"),
            (counts.skipped, "skipped"),
        ] {
            if count > 0 {
                let _ = write!(line, ", {count} {word}");
            }
        }
        let _ = writeln!(line, " in {:.2} s", elapsed.as_secs_f64());
        let color = if counts.failed > 0 { RED } else { GREEN };
        self.screen.print(&self.painted(color, &line));
    }

    fn painted(&self, color: &str, text: &str) -> String {
        if self.screen.color() {
            format!("\x1b[{color}m{}\x1b[0m\n", text.trim_end_matches('\n'))
        } else {
            text.to_owned()
        }
    }

    fn say(&self, word: &str, text: &str) {
        for line in text.trim_end().lines() {
            self.screen.print(&format!("{word}{}\n", printable(line)));
        }
    }

    fn closed(&self, step: &Step) {
        let mut kept = self.changes.borrow_mut();
        let (changes, others): (Vec<_>, Vec<_>) =
            kept.drain(..).partition(|(id, _)| *id == step.id);
        *kept = others;
        drop(kept);
        let unforeseen = step.open_ended && step.outcome == Outcome::WouldRepair;
        if (unforeseen || step.left_out) && step.after.is_none() {
            *self.unknown.borrow_mut() = Some(printable(&step.resource.to_string()));
        }
        let wanted = match step.outcome.level() {
            Level::Error | Level::Warning => true,
            Level::Info => self.verbosity >= Verbosity::Normal,
            _ => self.verbosity >= Verbosity::Verbose,
        };
        if !wanted || step.purpose == Purpose::Probe {
            return;
        }
        let word = step.outcome.word();
        let color = match step.outcome {
            Outcome::Repaired => GREEN,
            Outcome::WouldRepair => YELLOW,
            Outcome::Kept | Outcome::Skipped(_) | Outcome::NotReached => DIM,
            _ => RED,
        };
        let word = if self.screen.color() {
            format!("\x1b[{color}m{word:<12}\x1b[0m")
        } else {
            format!("{word:<12}")
        };
        let mut text = format!(
            "{word} {}{}",
            "  ".repeat(step.depth as usize),
            printable(&step.resource.to_string())
        );
        if !step.changed.is_empty() {
            let _ = write!(text, " {}", step.changed.join(", "));
        }
        match &step.outcome {
            Outcome::Skipped(reason) => write!(text, ": {reason}"),
            outcome => outcome
                .failure()
                .map_or(Ok(()), |failure| write!(text, ": {}", printable(&failure.to_string()))),
        }
        .expect("writing to a string cannot fail");
        if self.verbosity >= Verbosity::Verbose && !step.why.is_empty() {
            let _ = write!(text, " ({})", step.why);
        }
        if step.after.is_some() {
            let unknown = self.unknown.borrow();
            let _ = write!(text, " - unknown after {}", unknown.as_deref().unwrap_or("a command"));
        } else if step.open_ended && step.outcome == Outcome::WouldRepair {
            text.push_str(" - what it does is unknown");
        } else if let Some(reason) = &step.not_seen {
            let _ = write!(text, " - unknown: {reason}");
        } else if step.guard_not_run {
            text.push_str(" - guard not run");
        }
        if step.origin.span.is_some() {
            let _ = write!(text, " at {}", step.origin.short(&self.sources));
        }
        text.push('\n');
        for (_, change) in &changes {
            describe(&mut text, step, change);
        }
        if let Some(output) = step.outcome.failure().and_then(|failure| failure.output()) {
            for line in output.lines() {
                let _ = writeln!(text, "    | {}", printable(line));
            }
        }
        self.screen.print(&text);
    }
}

const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const DIM: &str = "2";

/// A change as `property: from -> to`, or a diff of content; what is about another thing than
/// the step itself names it.
fn describe(text: &mut String, step: &Step, change: &Change) {
    // That a command runs is all there is to say of it.
    if change.target.kind == TargetKind::Command && change.detail.is_none() {
        return;
    }
    let own = change.target.name.to_str() == Some(&*step.resource.name);
    let about = if own { String::new() } else { format!("{} ", change.target) };
    match &change.detail {
        Some(Detail::Content { old, new }) => {
            for line in unified(&change.target.name(), old, new).lines() {
                let _ = writeln!(text, "    {}", printable(line));
            }
        }
        Some(Detail::Text(sentence)) => {
            let _ = writeln!(text, "    {}", printable(sentence));
        }
        None => {
            let _ = writeln!(
                text,
                "    {}{}: {} -> {}",
                printable(&about),
                change.property,
                printable(&change.from.to_string()),
                printable(&change.to.to_string())
            );
        }
    }
}

/// Text from the machine or from policy must not drive the reader's terminal.
fn printable(text: &str) -> String {
    fx_source::visible(text).replace('\n', "\\n")
}

impl Sink for Native {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::StepOpened { step } => {
                self.screen.running(Some(format!("{} {}", step.resource, step.action)));
            }
            Event::ChangeMade { step, change } | Event::ChangeWithheld { step, change } => {
                self.changes.borrow_mut().push((*step, (*change).clone()));
            }
            Event::StepClosed { step } => {
                self.screen.running(None);
                self.closed(step);
            }
            Event::Message { level, text, .. } => {
                let wanted = match level {
                    Level::Error | Level::Warning => true,
                    Level::Notice | Level::Info => self.verbosity >= Verbosity::Normal,
                    _ => self.verbosity >= Verbosity::Verbose,
                };
                if wanted {
                    let word = match level {
                        Level::Error => "error: ",
                        Level::Warning => "warning: ",
                        _ => "",
                    };
                    self.say(word, text);
                }
            }
            // Messages of the policy, and findings of a language about its text.
            Event::Note { code, fields, .. }
                if [".report", ".stderr", ".print"].iter().any(|end| code.ends_with(end)) =>
            {
                if let Some((_, text)) = fields.iter().find(|(name, _)| name == "text") {
                    self.say("", &text.to_string());
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use fx_engine::{Failure, Ledger, Request, ResourceId, Target};
    use fx_host::MemoryHost;

    use super::*;

    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn shown(verbosity: Verbosity) -> String {
        let buffer = Buffer::default();
        let screen = Rc::new(Screen::plain(Box::new(buffer.clone())));
        let console = Rc::new(Native::new(screen, Rc::new(SourceMap::new()), verbosity));
        let ledger = Ledger::new();
        let sink: Rc<dyn Sink> = Rc::<Native>::clone(&console);
        ledger.watch(sink);
        let host = MemoryHost::new();
        let open =
            |name: &str| ledger.open(&host, Request::new(ResourceId::new("file", name), "set"));

        let step = open("/etc/motd");
        let content = Change::of(Target::file("/etc/motd"), "content", "{sha256}a", "{sha256}b")
            .detail(Detail::Content { old: b"a\n".into(), new: b"b\n".into() });
        ledger.changed(step, &content);
        ledger.changed(step, &Change::of(Target::file("/etc/motd"), "mode", "0600", "0644"));
        ledger.close(&host, step, Outcome::Repaired);

        let step = open("/etc/secret");
        ledger.withheld(
            step,
            &Change::of(Target::file("/etc/secret"), "content", "hunter1", "hunter2").sensitive(),
        );
        ledger.close(&host, step, Outcome::WouldRepair);

        let step = open("/kept");
        ledger.close(&host, step, Outcome::Kept);
        let step = open("/sk\x1bip");
        ledger.close(&host, step, Outcome::Skipped("no class".into()));
        let step = open("/bad");
        ledger.close(
            &host,
            step,
            Failure::Command {
                command: "make".into(),
                exit: fx_host::Exit::Code(2),
                output: "no rule\nstop".into(),
            }
            .into(),
        );
        console.summary(ledger.counts(), Duration::from_millis(1234));
        let bytes = buffer.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn changes_failures_and_a_summary_are_told_and_secrets_are_not() {
        expect_test::expect![[r#"
            repaired     file[/etc/motd] content, mode
                --- /etc/motd (now)
                +++ /etc/motd (wanted)
                @@ -1 +1 @@
                -a
                +b
                mode: 0600 -> 0644
            would-repair file[/etc/secret] content
                content: [redacted] -> [redacted]
            failed       file[/bad]: 'make' returned 2
                | no rule
                | stop
            1 kept, 1 repaired, 1 to repair, 1 failed, 1 skipped in 1.23 s
        "#]]
        .assert_eq(&shown(Verbosity::Normal));
    }

    #[test]
    fn nothing_is_certain_after_a_command_that_was_not_run() {
        let buffer = Buffer::default();
        let screen = Rc::new(Screen::plain(Box::new(buffer.clone())));
        let console = Native::new(screen, Rc::new(SourceMap::new()), Verbosity::Normal);
        let (ledger, host) = (Ledger::new(), MemoryHost::new());
        ledger.watch(Rc::new(console));
        for (kind, name) in [("file", "/a"), ("exec", "make"), ("file", "/b"), ("exec", "other")] {
            let step = ledger.open(&host, Request::new(ResourceId::new(kind, name), "set"));
            if kind == "exec" {
                ledger.open_ended(step);
            }
            ledger.close(&host, step, Outcome::WouldRepair);
        }
        expect_test::expect![[r#"
            would-repair file[/a]
            would-repair exec[make] - what it does is unknown
            would-repair file[/b] - unknown after exec[make]
            would-repair exec[other] - unknown after exec[make]
        "#]]
        .assert_eq(&String::from_utf8(buffer.0.lock().unwrap().clone()).unwrap());
    }

    #[test]
    fn quiet_tells_failures_and_verbose_everything() {
        assert_eq!(shown(Verbosity::Quiet).lines().count(), 4);
        let verbose = shown(Verbosity::Verbose);
        assert!(
            verbose.contains("kept         file[/kept]\n")
                && verbose.contains("skipped      file[/sk\\x1bip]: no class\n"),
            "{verbose}"
        );
    }
}
