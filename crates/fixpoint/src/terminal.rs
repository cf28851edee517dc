//! Standard output and error of our own verbs: colour and status line on a terminal only,
//! plain lines in a pipe.

use std::io::{IsTerminal, Write};

use fx_host::Host;
use fx_report::Screen;

/// When colour is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The screen for standard output.
pub(crate) fn screen(host: &dyn Host, choice: ColorChoice) -> Screen {
    let out = Box::new(std::io::BufWriter::new(std::io::stdout()));
    let terminal = std::io::stdout().is_terminal()
        && host.var("TERM".as_ref()).is_none_or(|term| term != "dumb");
    let color = colored(host, choice, terminal);
    if terminal { Screen::terminal(out, color) } else { Screen::plain_with(out, color) }
}

/// Whether standard error is to be coloured.
pub(crate) fn color_on_errors(host: &dyn Host, choice: ColorChoice) -> bool {
    colored(host, choice, std::io::stderr().is_terminal())
}

fn colored(host: &dyn Host, choice: ColorChoice, terminal: bool) -> bool {
    let plain = host.var("NO_COLOR".as_ref()).is_some_and(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => terminal && !plain,
    }
}

/// One line on standard error. If nobody reads it, nobody misses it.
pub(crate) fn complain(text: impl std::fmt::Display) {
    let text = text.to_string();
    let _ = writeln!(std::io::stderr(), "fixpoint: {}", fx_source::visible(&text));
}

/// Hands on what another process complained of.
pub(crate) fn hand_on(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Writes a whole text to standard output; the exit code says whether it arrived.
pub(crate) fn print(text: &str) -> u8 {
    let mut out = std::io::stdout().lock();
    arrived(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// The exit code for what came of writing to standard output. A reader who has gone has seen
/// enough.
pub(crate) fn arrived(written: std::io::Result<()>) -> u8 {
    match written {
        Ok(()) => crate::exit::OK,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => crate::exit::OK,
        Err(error) => {
            complain(format_args!("cannot write to standard output: {error}"));
            crate::exit::ERROR
        }
    }
}
