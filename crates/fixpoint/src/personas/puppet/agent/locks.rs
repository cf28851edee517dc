//! Lock files of an agent: one run at a time, and none while it is disabled.

use std::path::{Path, PathBuf};

use fx_engine::Run;
use fx_host::WriteOptions;

/// The lock of a run, removed when it ends.
pub(super) struct RunLock<'a> {
    run: Run<'a>,
    path: PathBuf,
}

impl Drop for RunLock<'_> {
    fn drop(&mut self) {
        // A lock that stays names a process that is gone, which the next run sees.
        drop(self.run.own_state(|act| act.remove_file(&self.path)));
    }
}

/// A lock is a line. What is larger is none of ours.
const MOST_BYTES: u64 = 1 << 16;

/// The content of a lock, if it is there.
fn small_file(run: Run<'_>, path: &Path) -> Result<Option<Vec<u8>>, String> {
    match run.look().read_limited(path, MOST_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Takes the lock; nothing where another run has it.
pub(super) fn take<'a>(run: Run<'a>, path: &Path) -> Result<Option<RunLock<'a>>, String> {
    if let Some(text) = small_file(run, path)? {
        let text = String::from_utf8_lossy(&text).into_owned();
        if is_held(run, text.trim()) {
            return Ok(None);
        }
    }
    let own = std::process::id().to_string();
    let options = WriteOptions { mode: Some(0o644), ..WriteOptions::default() };
    run.own_state(|act| {
        fx_resources::directory::make_parents(act, path, 0o755)?;
        act.write(path, own.as_bytes(), &options)?;
        Ok::<(), fx_engine::Failure>(())
    })
    .map_err(|failure| failure.to_string())?;
    Ok(Some(RunLock { run, path: path.to_owned() }))
}

/// Whether the process of a lock is there and is an agent.
fn is_held(run: Run<'_>, pid: &str) -> bool {
    let is_number = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || pid == std::process::id().to_string() {
        return false;
    }
    let name = run.look().read_limited(&PathBuf::from(format!("/proc/{pid}/comm")), 4096);
    let words = run.look().read_limited(&PathBuf::from(format!("/proc/{pid}/cmdline")), 1 << 16);
    let (Ok(name), Ok(words)) = (name, words) else { return false };
    let (name, words) = (String::from_utf8_lossy(&name), String::from_utf8_lossy(&words));
    let name = name.trim();
    name == "puppet" || name.starts_with("puppet-") || words.contains("puppet")
}

/// Why runs are disabled, if they are.
pub(super) fn disabled(run: Run<'_>, path: &Path) -> Result<Option<String>, String> {
    let Some(text) = small_file(run, path)? else {
        return Ok(None);
    };
    let data: Option<serde_json::Value> = serde_json::from_slice(&text).ok();
    let message = data.as_ref().and_then(|data| data.get("disabled_message")?.as_str());
    Ok(Some(message.unwrap_or("reason not specified").to_owned()))
}

/// Disables runs; the first reason stays.
pub(super) fn disable(run: Run<'_>, path: &Path, message: &str) -> Result<(), String> {
    if disabled(run, path)?.is_some() {
        return Ok(());
    }
    let message = if message.is_empty() { "reason not specified" } else { message };
    let text = serde_json::json!({ "disabled_message": message }).to_string();
    let options = WriteOptions { mode: Some(0o644), ..WriteOptions::default() };
    run.own_state(|act| {
        fx_resources::directory::make_parents(act, path, 0o755)?;
        act.write(path, text.as_bytes(), &options)?;
        Ok::<(), fx_engine::Failure>(act.commit()?)
    })
    .map_err(|failure| failure.to_string())
}

pub(super) fn enable(run: Run<'_>, path: &Path) -> Result<(), String> {
    match run.own_state(|act| act.remove_file(path)) {
        Err(error) if !error.is_not_found() => Err(error.to_string()),
        _ => Ok(()),
    }
}
