//! The line of a NameError with what failed underlined, which Ruby 3.1 adds to the message if
//! the code stands in a file that was loaded. Code given to `eval` has no such line.

use crate::heap::Ext;
use crate::names as n;
use crate::value::Value;
use crate::vm::Vm;
use crate::wording::Wording;

impl Vm {
    /// What follows the message: an empty line, the line, and the marks below it.
    pub(super) fn underlined(&self, exception: Value) -> Option<String> {
        if self.wording != Wording::Ruby31 {
            return None;
        }
        let Some(Ext::Exception(data)) = self.heap.ext(exception) else { return None };
        let frame = data.frames.iter().find(|(file, ..)| !self.is_internal(*file));
        let (file, pos, _) = *frame?;
        let source = self.files.get(file as usize).filter(|source| source.loaded)?;
        let name = self.ivar_get(exception, n::IV_NAME).and_then(Value::as_sym);
        let name = name.map(|name| self.sym_str(name)).unwrap_or_default();
        let text = &*source.text;
        let at = fx_ruby_syntax::spot(text, pos, name.as_bytes())?;
        let start = text[..at.start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let length = text[at.end..].iter().position(|byte| *byte == b'\n');
        let end = length.map_or(text.len(), |length| at.end + length);
        let line = std::str::from_utf8(&text[start..end]).ok().filter(|line| line.is_ascii())?;
        let indent = line[..at.start - start].replace(|c| c != '\t', " ");
        Some(format!("\n\n{line}\n{indent}{}", "^".repeat(at.len())))
    }
}
