//! Source text: files, spans, origins and diagnostics. First station of the line.
//!
//! Knows text only. It knows no language, no machine and no output device: a file is
//! bytes somebody handed over, and rendering returns a string.

#![forbid(unsafe_code)]

mod diagnostic;
mod map;
mod origin;
mod render;
mod sarif;
mod scan;
mod secret_lines;
mod span;
mod spelling;
mod visible;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use map::{FileId, Location, SourceFile, SourceMap};
pub use origin::{Frame, Origin};
pub use render::{Color, render_json, render_text};
pub use sarif::render_sarif;
pub use scan::find_byte;
pub use secret_lines::{hidden_line, shown_among, shown_line};
pub use span::{Span, Spanned};
pub use spelling::{distance, meant, nearest};
pub use visible::{
    visible, visible_bytes, visible_message, visible_name, visible_path, without_passwords,
};
