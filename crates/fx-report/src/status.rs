//! The screen: lines that stay, and on a terminal one status line that moves with time.
//!
//! In a pipe there is no status line and no colour. A reader that went away is not an
//! error of the run: the first failed write makes the screen silent and is remembered.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Where text goes.
pub type Out = Box<dyn Write + Send>;

/// An item must take this long to be shown as running …
const SHOW_AFTER: Duration = Duration::from_millis(400);
/// … and the shown time moves this often.
const TICK: Duration = Duration::from_millis(200);

struct State {
    out: Out,
    running: Option<(String, Instant)>,
    drawn: bool,
    trouble: Option<std::io::Error>,
    ended: bool,
}

impl State {
    fn write(&mut self, text: &str) {
        if self.trouble.is_none() {
            self.trouble = self.out.write_all(text.as_bytes()).err();
        }
    }

    fn erase(&mut self) {
        if self.drawn {
            self.write("\r\x1b[2K");
            self.drawn = false;
        }
    }

    fn draw(&mut self) {
        let Some((text, since)) = &self.running else { return };
        if since.elapsed() >= SHOW_AFTER {
            let line = format!("\r\x1b[2K… {text} {} s", since.elapsed().as_secs());
            self.write(&line);
            let _ = self.out.flush();
            self.drawn = true;
        }
    }
}

/// A place for output, shared by a run and the clock that moves its status line.
pub struct Screen {
    shared: Arc<(Mutex<State>, Condvar)>,
    ticker: Option<JoinHandle<()>>,
    color: bool,
}

impl Screen {
    /// Plain output, for pipes and files.
    pub fn plain(out: Out) -> Screen {
        Screen::new(out, false)
    }

    /// Output without a status line, with colour if wanted all the same.
    pub fn plain_with(out: Out, color: bool) -> Screen {
        Screen::new(out, color)
    }

    /// Output on a terminal: with a status line, and colour if wanted.
    pub fn terminal(out: Out, color: bool) -> Screen {
        let mut screen = Screen::new(out, color);
        let shared = Arc::clone(&screen.shared);
        screen.ticker = Some(std::thread::spawn(move || {
            let mut state = lock(&shared.0);
            while !state.ended {
                state.draw();
                state =
                    shared.1.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0;
            }
        }));
        screen
    }

    fn new(out: Out, color: bool) -> Screen {
        let state = State { out, running: None, drawn: false, trouble: None, ended: false };
        Screen { shared: Arc::new((Mutex::new(state), Condvar::new())), ticker: None, color }
    }

    /// Whether colour is wanted.
    pub fn color(&self) -> bool {
        self.color
    }

    /// Writes text that stays.
    pub fn print(&self, text: &str) {
        let mut state = lock(&self.shared.0);
        state.erase();
        state.write(text);
    }

    /// Says what runs now, or that nothing does.
    pub fn running(&self, text: Option<String>) {
        if self.ticker.is_none() {
            return;
        }
        let mut state = lock(&self.shared.0);
        state.erase();
        state.running = text.map(|text| (text, Instant::now()));
    }

    /// Hands everything on to the reader. The first trouble met in writing is returned
    /// once; a reader that went away, as `head` does, is none.
    pub fn flush(&self) -> std::io::Result<()> {
        let mut state = lock(&self.shared.0);
        state.erase();
        if state.trouble.is_none() {
            state.trouble = state.out.flush().err();
        }
        match state.trouble.take() {
            Some(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.flush();
        lock(&self.shared.0).ended = true;
        self.shared.1.notify_all();
        if let Some(ticker) = self.ticker.take() {
            let _ = ticker.join();
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
