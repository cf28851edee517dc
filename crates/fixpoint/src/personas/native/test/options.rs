//! What the command line and `.rspec` ask for, and which files that means.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Parser;
use fx_host::{Env, Files, OsHost};
use serde_json::{Map, Value, json};

use super::Args;

/// The options of `.rspec`, for those that the command line does not give.
#[derive(Debug, Parser)]
struct Kept {
    #[command(flatten)]
    args: Args,
}

/// Everything as `prelude/runner.rb` reads it.
pub(super) fn options(
    host: &OsHost,
    args: Args,
    words: &[OsString],
) -> Result<Map<String, Value>, String> {
    let kept = match kept(host)? {
        Some(kept) => kept,
        None => Kept::parse_from(["test"]).args,
    };
    let formats = match formats(words) {
        given if given.is_empty() => {
            kept.format.iter().map(|name| (name.clone(), None)).collect::<Vec<_>>()
        }
        given => given,
    };
    let everything = args.paths.is_empty();
    let paths = if everything { vec!["spec".to_owned()] } else { args.paths };
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
            "no spec files in '{}': expected names that end in _spec.rb or .cf",
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
    let order = args.order.or(by_seed).or(kept.order);
    put("order_given", json!(order.is_some()));
    let order = order.unwrap_or_else(|| "defined".to_owned());
    let (order, seed) = match order.split_once(':') {
        Some((order, seed)) => (order.to_owned(), seed.parse().ok()),
        None => (order, None),
    };
    put("order", json!(order));
    put("seed", json!(args.seed.or(seed).or(kept.seed)));
    let first_failure = args.next_failure.then_some(1);
    put("fail_fast", json!(args.fail_fast.or(first_failure).or(kept.fail_fast)));
    put("only_failures", json!(args.only_failures || args.next_failure));
    put("everything", json!(everything));
    let kept_profile = kept.profile.filter(|_| !args.no_profile);
    put("profile", json!(args.profile.or(kept_profile)));
    put("include", json!(kept.include.iter().chain(&args.include).collect::<Vec<_>>()));
    put("require", json!(kept.require.iter().chain(&args.require).collect::<Vec<_>>()));
    Ok(options)
}

/// Whether a file is an acceptance test of CFEngine.
pub(super) fn is_policy(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|end| end == "cf")
}

/// The files of a run, in order.
pub(super) fn files(options: &Map<String, Value>) -> Vec<String> {
    let files = options.get("files").and_then(Value::as_array);
    files.into_iter().flatten().filter_map(|file| file.as_str().map(str::to_owned)).collect()
}

/// Options that the project keeps in `.rspec`.
fn kept(host: &OsHost) -> Result<Option<Args>, String> {
    let file = host.cwd().join(".rspec");
    let read = host.read_trusted_opt(&file).map_err(|error| error.to_string())?;
    let Some(text) = read else { return Ok(None) };
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
pub(super) fn below(host: &OsHost, dir: &Path, files: &mut Vec<String>) {
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
        } else if name.ends_with("_spec.rb") || is_policy(&name) {
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
