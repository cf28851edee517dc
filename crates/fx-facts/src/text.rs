//! Small readings of the text files the kernel and distributions keep.

use std::path::Path;

use fx_host::Look;

/// A whole small file as text without its last newline; `None` if it cannot be read.
pub(crate) fn read(host: &dyn Look, path: impl AsRef<Path>) -> Option<String> {
    let bytes = host.read(path.as_ref()).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

/// A file that holds one number.
pub(crate) fn read_number(host: &dyn Look, path: impl AsRef<Path>) -> Option<u64> {
    read(host, path)?.trim().parse().ok()
}

/// The value of `KEY=value` or `KEY="value"` in a file such as os-release.
pub(crate) fn shell_value(text: &str, key: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='))?;
    let quoted =
        ['"', '\''].iter().find_map(|quote| line.strip_prefix(*quote)?.strip_suffix(*quote));
    Some(quoted.unwrap_or(line).replace("\\\"", "\"").replace("\\$", "$"))
}

/// The value after `key:` as in /proc/meminfo and /proc/cpuinfo.
pub(crate) fn colon_value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}
