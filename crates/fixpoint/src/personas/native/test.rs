//! `fixpoint test`: spec files of a module or cookbook, and acceptance policies.

mod options;
mod policies;
mod watch;

use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use fx_host::{Host, Look, OsHost, WatchingHost};
use fx_report::Screen;
use fx_test::{Wish, Work};
use serde_json::{Map, Value};

use super::failed;
use crate::{exit, terminal};

/// Runs spec files with the built-in Ruby and RSpec. Without a path: all of `spec` but fixtures and
/// acceptance tests. Options in `.rspec` count too. Files that end in .cf are CFEngine's acceptance
/// tests, each run in a copy of the machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fixpoint test
  fixpoint test spec/classes/ntp_spec.rb:42
  fixpoint test --only 'on debian' --fail-fast
  fixpoint test --format json --out report.json")]
pub(crate) struct Args {
    /// Files, `FILE:LINE`, or directories
    paths: Vec<String>,
    /// Files at once; by their size where it is not given, at most one for each processor
    #[arg(long, short)]
    jobs: Option<usize>,
    /// Only examples that failed when they were run last
    #[arg(long)]
    only_failures: bool,
    /// The same, until the first failure
    #[arg(long, short = 'n')]
    next_failure: bool,
    /// Shows which examples took longest
    #[arg(
        long,
        short,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "10",
        overrides_with = "no_profile"
    )]
    profile: Option<u64>,
    /// No profile, where `.rspec` asks for one
    #[arg(long, hide = true)]
    no_profile: bool,
    /// Runs again what an edit touches, until it is stopped
    #[arg(long)]
    watch: bool,
    /// Writes the files of the project that each spec file read
    #[arg(long, hide = true)]
    read_log: Option<PathBuf>,
    /// Only examples whose description contains this
    #[arg(long, short = 'e', alias = "example")]
    only: Vec<String>,
    /// Only examples with this tag, `NAME` or `NAME:VALUE`; without it where `~` stands before it
    #[arg(long, short)]
    tag: Vec<String>,
    /// Form of the report: progress, documentation, json, junit
    #[arg(long, short)]
    format: Vec<String>,
    /// File that the format before it is written to
    #[arg(long, short)]
    out: Vec<String>,
    /// Order of the groups: defined, random, `rand:SEED`
    #[arg(long)]
    order: Option<String>,
    /// Seed of a random order
    #[arg(long)]
    seed: Option<u64>,
    /// Stop after this many failures
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    fail_fast: Option<u64>,
    /// Directories in front of the load path
    #[arg(short = 'I')]
    include: Vec<String>,
    /// Libraries that are read first
    #[arg(long, short)]
    require: Vec<String>,
    /// Taken and not used, however often
    #[arg(
        long,
        visible_aliases = ["colour", "force-color", "backtrace", "no-color", "tty", "drb"],
        overrides_with = "color",
        hide = true
    )]
    color: bool,
}

pub(crate) fn run(args: Args) -> u8 {
    let host = OsHost::new();
    let words = std::env::args_os().skip(1).collect::<Vec<_>>();
    if args.watch {
        return watch::run(&host, &args, &words).unwrap_or_else(failed);
    }
    let read_log = args.read_log.clone();
    let jobs = args.jobs;
    match options::options(&host, args, &words) {
        Ok(options) => {
            crate::deep::ruby(move || start(options, jobs, read_log)).unwrap_or(exit::ERROR)
        }
        Err(why) => failed(why),
    }
}

/// Parts of a run that says what each of them read: with one for each file an edit runs the fewest
/// examples, but each is a thread with a machine.
const MOST_WATCHED: usize = 16;

/// What each part of a run looked at and did not change itself, by its number.
type Reads = Arc<Mutex<Vec<watch::Read>>>;

fn start(options: Map<String, Value>, jobs: Option<usize>, read_log: Option<PathBuf>) -> u8 {
    let host: Rc<OsHost> = Rc::new(OsHost::new());
    let (policies, specs): (Vec<String>, Vec<String>) =
        options::files(&options).into_iter().partition(|file| options::is_policy(file));
    let mut parts = Vec::new();
    let jobs = match &read_log {
        // A formatter of the project's own hears of examples as objects, which stay in their machine.
        _ if has_own_format(&options) => 1,
        Some(_) => specs.len().min(MOST_WATCHED),
        None => at_once(&*host, jobs, &specs),
    };
    for files in shared_out(&*host, specs, jobs) {
        parts.push(Work::Specs(files));
    }
    if !policies.is_empty() {
        parts.extend(policies::parts(policies, &options));
    }
    let (out, status) = output(&options);
    let err = Box::new(std::io::stderr());
    if let [Work::Specs(_)] = &parts[..]
        && read_log.is_none()
    {
        return fx_test::run(host, Wish { options, out, err, status });
    }
    let reads: Reads = Arc::new(Mutex::new(vec![watch::Read::default(); parts.len()]));
    let files: Vec<Vec<String>> = parts
        .iter()
        .map(|part| if let Work::Specs(files) = part { files.clone() } else { Vec::new() })
        .collect();
    let heard = read_log.is_some().then(|| Arc::clone(&reads));
    let hosts = move |number: usize| -> Rc<dyn Host> {
        let host: Rc<dyn Host> = Rc::new(OsHost::new());
        let Some(reads) = heard.clone() else { return host };
        Rc::new(WatchingHost::of_all(host, move |path, about| {
            let mut reads = reads.lock().unwrap_or_else(PoisonError::into_inner);
            reads[number].note(path, about);
        }))
    };
    let machine: Rc<dyn Host> = Rc::<OsHost>::clone(&host) as Rc<dyn Host>;
    let code =
        match fx_test::run_in_parts(machine, Wish { options, out, err, status }, parts, hosts) {
            Ok(code) => code,
            Err(error) => {
                return failed(format_args!("a part of the run cannot be started: {error}"));
            }
        };
    let Some(log) = read_log else { return code };
    let reads = reads.lock().unwrap_or_else(PoisonError::into_inner);
    match watch::write(&*host, &log, &files, &reads) {
        Ok(()) => code,
        Err(why) => failed(why),
    }
}

/// Whether a form of the report is a class of the project's.
fn has_own_format(options: &Map<String, Value>) -> bool {
    let formats = options.get("formats").and_then(Value::as_array);
    formats.into_iter().flatten().any(|format| {
        format[0].as_str().is_some_and(|name| {
            name.starts_with(|first: char| first.is_uppercase()) && name != "RspecJunitFormatter"
        })
    })
}

/// How many files are run at once: each machine starts anew, which small suites would not win back.
fn at_once(host: &dyn Look, jobs: Option<usize>, files: &[String]) -> usize {
    const WORTH: u64 = 48 << 10;
    let most = files.len().max(1);
    if let Some(jobs) = jobs {
        return jobs.clamp(1, most);
    }
    let total: u64 = files.iter().map(|file| size(host, file)).sum();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    cores.min(most).min(1 + usize::try_from(total / WORTH).unwrap_or(usize::MAX))
}

fn size(host: &dyn Look, file: &str) -> u64 {
    let path = file.split(':').next().unwrap_or_default();
    host.stat(&host.cwd().join(path)).map_or(0, |meta| meta.size)
}

/// The files by parts of about the same size, each in the given order.
fn shared_out(host: &dyn Look, files: Vec<String>, jobs: usize) -> Vec<Vec<String>> {
    if files.is_empty() {
        return Vec::new();
    }
    let mut by_size: Vec<(u64, usize)> =
        files.iter().enumerate().map(|(at, file)| (size(host, file), at)).collect();
    by_size.sort_by(|a, b| b.cmp(a));
    let mut parts = vec![(0, Vec::new()); jobs.max(1)];
    for (size, at) in by_size {
        if let Some(least) = parts.iter_mut().min_by_key(|(total, _)| *total) {
            // A file costs something however small it is.
            least.0 += size + 512;
            least.1.push(at);
        }
    }
    parts.sort_by_key(|(_, part)| part.iter().min().copied());
    parts
        .into_iter()
        .filter(|(_, part)| !part.is_empty())
        .map(|(_, mut part)| {
            part.sort_unstable();
            part.into_iter().map(|at| files[at].clone()).collect()
        })
        .collect()
}

/// Where reports go. On a terminal the last line says what runs, unless the report itself is a line that
/// grows.
fn output(options: &Map<String, Value>) -> (Box<dyn Write>, Option<fx_test::Status>) {
    let formats = options.get("formats").and_then(Value::as_array);
    let grows = |format: &Value| {
        format[1].is_null() && format[0].as_str().is_some_and(|name| name.starts_with('p'))
    };
    let lines = formats.is_some_and(|all| !all.is_empty() && !all.iter().any(grows));
    if !lines || !std::io::stdout().is_terminal() {
        return (Box::new(std::io::BufWriter::with_capacity(1 << 16, std::io::stdout())), None);
    }
    let screen = Rc::new(terminal::screen(&OsHost::new(), terminal::ColorChoice::Auto));
    let shown = Rc::clone(&screen);
    (
        Box::new(OnScreen { screen, line: RefCell::default() }),
        Some(Box::new(move |text| shown.running(text))),
    )
}

/// Writes through a screen, line by line.
struct OnScreen {
    screen: Rc<Screen>,
    line: RefCell<Vec<u8>>,
}

impl Write for OnScreen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let line = self.line.get_mut();
        line.extend_from_slice(bytes);
        if let Some(end) = line.iter().rposition(|byte| *byte == b'\n') {
            let whole: Vec<u8> = line.drain(..=end).collect();
            self.screen.print(&String::from_utf8_lossy(&whole));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let rest = std::mem::take(self.line.get_mut());
        if !rest.is_empty() {
            self.screen.print(&String::from_utf8_lossy(&rest));
        }
        self.screen.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_a_format_of_the_project() {
        let table = [
            ("json", false),
            ("RspecJunitFormatter", false),
            ("My::Formatter", true),
            ("d", false),
        ];
        for (name, expected) in table {
            let formats = serde_json::json!({ "formats": [["json", null], [name, "out"]] });
            let Value::Object(options) = formats else { continue };
            assert_eq!(has_own_format(&options), expected, "{name}");
        }
    }

    #[test]
    fn files_are_shared_out_by_size_and_keep_their_order() {
        let host = fx_host::MemoryHost::new();
        for (name, size) in [("a", 10), ("b", 9000), ("c", 10), ("d", 8000)] {
            host.put(format!("/{name}"), vec![b'x'; size]);
        }
        let files = ["/a", "/b", "/c", "/d"].map(str::to_owned).to_vec();
        let table = [
            (1, vec![vec!["/a", "/b", "/c", "/d"]]),
            (2, vec![vec!["/a", "/c", "/d"], vec!["/b"]]),
            (9, vec![vec!["/a"], vec!["/b"], vec!["/c"], vec!["/d"]]),
        ];
        for (jobs, expected) in table {
            assert_eq!(shared_out(&host, files.clone(), jobs), expected, "{jobs} jobs");
        }
        assert_eq!(at_once(&host, None, &files), 1, "small suites are not worth a second machine");
        assert_eq!(at_once(&host, Some(9), &files), 4);
    }
}
