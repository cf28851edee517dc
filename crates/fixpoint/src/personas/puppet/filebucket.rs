//! `puppet filebucket`: what a bucket of this machine holds. Buckets of a server are refused.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use fx_host::{Clock, Commands, Edits, Files, OsHost, Spec, WriteOptions};
use fx_puppet_apply::bucket::Bucket;

use super::flags::Flags;
use super::{complain, say};

/// Runs the subcommand; its exit code.
pub(super) fn run(flags: &Flags, words: &[String]) -> u8 {
    let host = Rc::new(OsHost::cancelled_by(fx_host::stop_on_signals()));
    match answer(&host, flags, words) {
        Ok(code) => code,
        Err(message) => {
            complain(&format!("Error: Could not run: {message}"));
            1
        }
    }
}

fn answer(host: &Rc<OsHost>, flags: &Flags, words: &[String]) -> Result<u8, String> {
    let settings = super::settings::Settings::read(host, flags, "user");
    let given = settings.request(&**host).given;
    let setting = |name: &str| fx_puppet::settings::text(&given, name).unwrap_or_default();
    if !flags.has("local") && !flags.has("bucket") {
        return Err("filebuckets of a server are not supported; say --local".into());
    }
    let dir = flags.get("bucket").map_or_else(|| setting("clientbucketdir"), str::to_owned);
    let algorithm = setting("digest_algorithm");
    let algorithm = fx_puppet_apply::bucket::algorithm(&algorithm)
        .ok_or_else(|| format!("Invalid digest algorithm {algorithm}"))?;
    let bucket = Bucket { dir: PathBuf::from(dir), algorithm };
    let Some((action, rest)) = words.split_first() else { return Ok(0) };
    let word = |at: usize| rest.get(at).map(String::as_str).unwrap_or_default();
    match action.as_str() {
        "get" => {
            let content = bucket.find(&**host, word(0))?.ok_or("File not found")?;
            let _closed = std::io::stdout().write_all(&content);
        }
        "backup" => {
            for name in rest {
                let path = host.real_path(Path::new(name)).unwrap_or_else(|_| name.into());
                if !host.exists(&path).unwrap_or(false) {
                    complain(&format!("{name}: no such file"));
                    continue;
                }
                if host.open(&path).is_err() {
                    complain(&format!("{name}: cannot read file"));
                    continue;
                }
                let full = std::path::absolute(name).unwrap_or_else(|_| path.clone());
                let kept = bucket.keep(&**host, &full, &path)?;
                say(&format!("{name}: {}", kept.sum));
            }
        }
        "restore" => restore(host, &bucket, Path::new(word(0)), word(1))?,
        "diff" => {
            let [left, right] = rest else {
                return Err("Need exactly two arguments: filebucket diff <file_a> <file_b>".into());
            };
            let _closed = std::io::stdout().write_all(&diff(host, &bucket, left, right)?);
        }
        "list" => {
            let from = date(flags.get("fromdate"), "fromdate", 0)?;
            let to = date(flags.get("todate"), "todate", host.now().secs)?;
            if !host.exists(&bucket.dir).unwrap_or(false) {
                return Err("File not found".into());
            }
            for (sum, time, path) in bucket.list(&**host, from, to) {
                let at = jiff::Timestamp::from_second(time.secs).unwrap_or_default();
                let at = at.to_zoned(jiff::tz::TimeZone::system());
                say(&format!("{sum} {} {path}", at.strftime("%Y-%m-%d %H:%M:%S")));
            }
        }
        _ => {}
    }
    Ok(0)
}

/// Puts old content back where a file is, or is not any more.
fn restore(host: &OsHost, bucket: &Bucket, file: &Path, sum: &str) -> Result<(), String> {
    if host.read(file).is_ok_and(|now| bucket.algorithm.hex(&now) == sum) {
        return Ok(());
    }
    let content = bucket.find(host, sum)?.ok_or("File not found")?;
    let mode = host.stat(file).map_or(0o644, |meta| meta.mode & 0o7777);
    let options = WriteOptions { mode: Some(mode), ..WriteOptions::default() };
    host.write(file, &content, &options).map_err(|error| error.to_string())
}

/// How two things differ, each a file or content of the bucket.
fn diff(host: &OsHost, bucket: &Bucket, left: &str, right: &str) -> Result<Vec<u8>, String> {
    let both_kept = [left, right].iter().all(|one| !host.exists(Path::new(one)).unwrap_or(false));
    let place = |one: &str| -> Result<PathBuf, String> {
        if host.exists(Path::new(one)).unwrap_or(false) {
            return Ok(PathBuf::from(one));
        }
        match bucket.find(host, one)? {
            Some(_) => Ok(bucket.contents(one)),
            None if both_kept && one == left => Err("Failed to diff files".into()),
            None if both_kept => Err(format!("could not find diff_with {one}")),
            None => Err("File not found".into()),
        }
    };
    let (left, right) = (place(left)?, place(right)?);
    let words = ["diff".into(), "-u".into(), left, right];
    let ended = host.run(&Spec::argv(words)).map_err(|error| error.to_string())?;
    Ok(ended.stdout)
}

/// A moment as it is written on the command line.
fn date(text: Option<&str>, name: &str, otherwise: i64) -> Result<i64, String> {
    let Some(text) = text else { return Ok(otherwise) };
    let refused = || format!("Error while parsing '{name}'");
    let day = |text: &str| text.parse::<jiff::civil::Date>().map(|day| day.at(0, 0, 0, 0)).ok();
    let moment =
        text.parse::<jiff::civil::DateTime>().ok().or_else(|| day(text)).ok_or_else(refused)?;
    let zoned = moment.to_zoned(jiff::tz::TimeZone::system()).map_err(|_| refused())?;
    Ok(zoned.timestamp().as_second())
}
