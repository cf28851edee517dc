//! Lines that measurements are taken from. Several measurements of one stream read it once a
//! sample.

use std::collections::BTreeMap;
use std::rc::Rc;

use fx_cfengine::command::split_command;
use fx_cfengine::text::path;
use fx_host::{Access, Commands, Edits, Opening, OsHost, Spec, limits};

use super::measure::Measurement;

/// Lines of a stream that are looked at.
pub(in super::super) const MOST_LINES: usize = 100_000;

/// What was read of a stream, and when.
struct Read {
    at: i64,
    text: Rc<str>,
}

/// Streams that were read.
#[derive(Default)]
pub(in super::super) struct Streams {
    read: BTreeMap<String, Read>,
}

impl Streams {
    /// The text of a measurement's stream. `offset` is where the part of a growing file begins
    /// that is not known yet, and where it ends afterwards.
    pub(in super::super) fn text(
        &mut self,
        host: &OsHost,
        now: i64,
        measurement: &Measurement,
        offset: &mut u64,
    ) -> Result<Rc<str>, String> {
        let source = &measurement.source;
        if !source.grows
            && let Some(known) = self.read.get(&source.promiser)
            && now - known.at < source.minutes.saturating_mul(60).max(1)
        {
            return Ok(Rc::clone(&known.text));
        }
        let bytes = if source.is_pipe {
            let ended = host.run(&Spec::argv(split_command(&source.promiser)));
            ended.map_err(|error| error.to_string())?.stdout
        } else {
            part(host, &source.promiser, source.grows, offset).map_err(|error| error.to_string())?
        };
        let text: Rc<str> = String::from_utf8_lossy(&bytes).into();
        let read = Read { at: now, text: Rc::clone(&text) };
        self.read.insert(source.promiser.clone(), read);
        Ok(text)
    }
}

fn part(
    host: &OsHost,
    file: &str,
    grows: bool,
    offset: &mut u64,
) -> Result<Vec<u8>, fx_host::HostError> {
    let file = host.open_in_place(&path(file), &Opening::of(Access::Read))?;
    let size = file.meta()?.size;
    // A file that is shorter than it was is another one.
    let from = if grows && *offset <= size { *offset } else { 0 };
    // Of a file that is too long the end is looked at.
    let from = from.max(size.saturating_sub(limits::DATA));
    let bytes = file.read_from(from)?;
    *offset = from + bytes.len() as u64;
    Ok(bytes)
}
