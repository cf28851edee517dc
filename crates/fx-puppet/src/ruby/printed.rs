//! What the Ruby code of modules prints itself, past the log: each line is a note of the run.

use std::io::Write;

use fx_engine::Run;
use fx_source::Origin;
use fx_value::Value;

/// One of the two streams of Ruby.
pub(super) struct Printed {
    run: Run<'static>,
    code: &'static str,
    /// What has come of a line that has not ended.
    line: Vec<u8>,
}

impl Printed {
    /// Standard output.
    pub(super) fn out(run: Run<'static>) -> Printed {
        Printed { run, code: "puppet.print", line: Vec::new() }
    }

    /// Standard error.
    pub(super) fn error(run: Run<'static>) -> Printed {
        Printed { run, code: "puppet.stderr", line: Vec::new() }
    }

    fn note(&self, line: &[u8]) {
        self.run.ledger.note(self.code, &[("text".into(), Value::from(line))], &Origin::default());
    }
}

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.line.extend_from_slice(bytes);
        let whole = self.line.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let rest = self.line.split_off(whole);
        let lines = std::mem::replace(&mut self.line, rest);
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            self.note(&line[..line.len() - 1]);
        }
        Ok(bytes.len())
    }

    // A line that never ends is handed on when nothing follows it.
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Drop for Printed {
    fn drop(&mut self) {
        if !self.line.is_empty() {
            self.note(&self.line);
        }
    }
}
