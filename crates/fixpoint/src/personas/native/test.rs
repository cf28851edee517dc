//! `fixpoint test`: spec files of a module or cookbook.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::Parser;
use fx_host::{Env, Files, OsHost};
use serde_json::{Map, Value, json};

use super::failed;
use crate::exit;

/// Runs spec files with the built-in Ruby and RSpec. Without a path: all of `spec` but fixtures and
/// acceptance tests. Options in `.rspec` count too.
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

/// The options of `.rspec`, for those that the command line does not give.
#[derive(Debug, Parser)]
struct Kept {
    #[command(flatten)]
    args: Args,
}

pub(crate) fn run(args: Args) -> u8 {
    match options(&OsHost::new(), args) {
        Ok(options) => crate::deep::ruby(move || {
            let out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout());
            let host: Rc<OsHost> = Rc::new(OsHost::new());
            fx_test::run(host, &options, Box::new(out), Box::new(std::io::stderr()))
        })
        .unwrap_or(exit::ERROR),
        Err(why) => failed(why),
    }
}

fn options(host: &OsHost, args: Args) -> Result<Map<String, Value>, String> {
    let kept = match kept(host)? {
        Some(kept) => kept,
        None => Kept::parse_from(["test"]).args,
    };
    let words: Vec<OsString> = std::env::args_os().collect();
    let formats = match formats(&words) {
        given if given.is_empty() => {
            kept.format.iter().map(|name| (name.clone(), None)).collect::<Vec<_>>()
        }
        given => given,
    };
    let paths = if args.paths.is_empty() { vec!["spec".to_owned()] } else { args.paths };
    let mut files = Vec::new();
    for path in &paths {
        let full = host.cwd().join(path);
        match host.stat(&full) {
            Ok(meta) if meta.is_dir() => below(host, Path::new(path), &mut files),
            Ok(_) => files.push(path.clone()),
            Err(error) if path.contains(':') => {
                let file = path.split(':').next().unwrap_or_default();
                host.stat(&host.cwd().join(file)).map_err(|_| error.to_string())?;
                files.push(path.clone());
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    if files.is_empty() {
        return Err(format!(
            "no spec files in '{}': expected names that end in _spec.rb",
            paths.join("', '")
        ));
    }
    let mut options = Map::new();
    let mut put = |name: &str, value: Value| options.insert(name.to_owned(), value);
    put("files", json!(files));
    put("formats", json!(formats));
    put("only", json!(args.only));
    put("tags", json!(kept.tag.iter().chain(&args.tag).map(|tag| tag_of(tag)).collect::<Vec<_>>()));
    let by_seed = args.seed.or(kept.seed).map(|_| "random".to_owned());
    let order = args.order.or(by_seed).or(kept.order).unwrap_or_else(|| "defined".to_owned());
    let (order, seed) = match order.split_once(':') {
        Some((order, seed)) => (order.to_owned(), seed.parse().ok()),
        None => (order, None),
    };
    put("order", json!(order));
    put("seed", json!(args.seed.or(seed).or(kept.seed)));
    put("fail_fast", json!(args.fail_fast.or(kept.fail_fast)));
    put("include", json!(kept.include.iter().chain(&args.include).collect::<Vec<_>>()));
    put("require", json!(kept.require.iter().chain(&args.require).collect::<Vec<_>>()));
    Ok(options)
}

/// Options that the project keeps in `.rspec`.
fn kept(host: &OsHost) -> Result<Option<Args>, String> {
    let file = host.cwd().join(".rspec");
    let Ok(text) = host.read_limited(&file, fx_host::limits::POLICY) else { return Ok(None) };
    let text = String::from_utf8_lossy(&text).into_owned();
    let words = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let words = words.flat_map(str::split_whitespace).map(str::to_owned);
    match Kept::try_parse_from(std::iter::once("test".to_owned()).chain(words)) {
        Ok(kept) => Ok(Some(kept.args)),
        Err(error) => {
            let first = error.to_string();
            let first = first.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Err(format!("{}: {first}; known options: 'fixpoint test --help'", file.display()))
        }
    }
}

/// Formats in their order, each with the file that follows it.
fn formats(words: &[OsString]) -> Vec<(String, Option<String>)> {
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    let mut words = words.iter().map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (word.clone(), None),
        };
        match name.as_str() {
            "-f" | "--format" => {
                found.extend(value.or_else(|| words.next()).map(|one| (one, None)))
            }
            "-o" | "--out" => {
                let file = value.or_else(|| words.next());
                match found.last_mut() {
                    Some(last) => last.1 = file,
                    None => found.push(("progress".to_owned(), file)),
                }
            }
            _ => {}
        }
    }
    found
}

/// A tag as its name, the value it must have, and whether it is wanted.
fn tag_of(text: &str) -> Value {
    let (text, wanted) = match text.strip_prefix('~') {
        Some(text) => (text, false),
        None => (text, true),
    };
    match text.split_once(':') {
        Some((name, value)) => json!([name, value, wanted]),
        None => json!([text, true, wanted]),
    }
}

/// Spec files below a directory, by name; what is laid out for tests and tests of whole machines are
/// left out.
fn below(host: &OsHost, dir: &Path, files: &mut Vec<String>) {
    const NOT_HERE: [&str; 2] = ["fixtures", "acceptance"];
    let mut entries = host.list(&host.cwd().join(dir)).unwrap_or_default();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    for entry in entries {
        let name = entry.name.to_string_lossy().into_owned();
        let path: PathBuf = dir.join(&name);
        if host.lstat(&host.cwd().join(&path)).is_ok_and(|meta| meta.is_dir()) {
            if !NOT_HERE.contains(&name.as_str()) {
                below(host, &path, files);
            }
        } else if name.ends_with("_spec.rb") {
            files.push(path.display().to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_about_terminals_may_stand_beside_each_other() {
        let words = "test --color --tty --backtrace --color a_spec.rb".split(' ');
        assert_eq!(Kept::try_parse_from(words).unwrap().args.paths, ["a_spec.rb"]);
    }

    #[test]
    fn each_format_has_the_file_that_follows_it() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let table = [
            ("test", vec![]),
            ("test -f json --out a", vec![("json", Some("a"))]),
            ("test -f doc -f json -o=b c", vec![("doc", None), ("json", Some("b"))]),
            ("test --format=json --out x --format doc", vec![("json", Some("x")), ("doc", None)]),
        ];
        for (text, expected) in table {
            let expected: Vec<(String, Option<String>)> = expected
                .into_iter()
                .map(|(name, file)| (name.to_owned(), file.map(str::to_owned)))
                .collect();
            assert_eq!(formats(&words(text)), expected, "{text}");
        }
    }
}
