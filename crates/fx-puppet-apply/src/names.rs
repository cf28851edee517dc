//! Names that messages have from the machine: programs by their whole path, and owners of files
//! by name or number.

use std::path::Path;

use fx_host::Look;
use fx_puppet::Resource;

/// Where the original's commands are looked for.
const FOLDERS: [&str; 6] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// A command line with the whole path of its program, where it is found.
pub(super) fn whole_path(look: &dyn Look, line: &str) -> String {
    let (program, rest) = line.split_once(' ').unwrap_or((line, ""));
    if program.starts_with('/') {
        return line.to_owned();
    }
    let found = FOLDERS.iter().map(|dir| format!("{dir}/{program}"));
    let found = found.into_iter().find(|path| look.stat(Path::new(path)).is_ok());
    let program = found.unwrap_or_else(|| program.to_owned());
    if rest.is_empty() { program } else { format!("{program} {rest}") }
}

/// Owners and groups of files that were given by number, by their names.
pub(super) fn account(
    look: &dyn Look,
    resource: &Resource,
    property: &str,
    value: String,
) -> String {
    let number = value.parse::<u32>().ok().filter(|_| &*resource.low == "file");
    let name = number.and_then(|number| match property {
        "owner" => look.user_by_id(number).ok().flatten().map(|user| user.name),
        "group" => look.group_by_id(number).ok().flatten().map(|group| group.name),
        _ => None,
    });
    name.unwrap_or(value)
}

/// Owners and groups of files by their numbers, as the report has them.
pub(super) fn account_number(
    look: &dyn Look,
    resource: &Resource,
    property: &str,
    value: String,
) -> String {
    if &*resource.low != "file" {
        return value;
    }
    let number = match property {
        "owner" => look.user(&value).ok().flatten().map(|user| user.uid),
        "group" => look.group(&value).ok().flatten().map(|group| group.gid),
        _ => None,
    };
    number.map_or(value, |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::MemoryHost;

    #[test]
    fn programs_are_shown_by_their_whole_path() {
        use fx_host::{Edits, WriteOptions};
        let host = MemoryHost::linux();
        let _there = host.make_dir(Path::new("/usr/sbin"), 0o755);
        host.write(Path::new("/usr/sbin/useradd"), b"", &WriteOptions::default()).unwrap();
        assert_eq!(whole_path(&host, "useradd -M a"), "/usr/sbin/useradd -M a");
        assert_eq!(whole_path(&host, "/bin/x y"), "/bin/x y");
        assert_eq!(whole_path(&host, "nosuch"), "nosuch");
    }
}
