//! How a language writes a line of fstab and calls the tools that mount.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

use fx_host::Spec;

use super::table::Row;
use crate::command;

/// The words that the originals use for the same thing.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// What stands between the fields of a line.
    pub separator: &'static str,
    /// The tool that mounts.
    pub mount: &'static str,
    /// The tool that unmounts.
    pub umount: &'static str,
    /// How long they may take.
    pub limit: Duration,
    /// Messages of the tools are in the C locale, not in that of the agent.
    pub c_locale: bool,
    /// Both streams of the tools are read as one.
    pub one_stream: bool,
}

impl Default for Dialect {
    fn default() -> Dialect {
        Dialect {
            separator: "\t",
            mount: "mount",
            umount: "umount",
            limit: Duration::from_hours(1),
            c_locale: true,
            one_stream: false,
        }
    }
}

/// What the tools are to do.
#[derive(Clone, Copy, Debug)]
pub enum Call<'a> {
    /// Mounts on a directory what fstab says.
    Listed(&'a [u8]),
    /// Mounts this row; its type is named where it has one.
    Row(&'a Row),
    /// Mounts again, with the options of fstab.
    Remount(&'a [u8]),
    /// Mounts again, with these options.
    RemountWith {
        /// The options, separated by commas.
        options: &'a [u8],
        /// The directory.
        point: &'a [u8],
    },
    /// Mounts all that fstab has and that is not mounted.
    All,
    /// Unmounts what is on a directory.
    Unmount(&'a [u8]),
}

impl Dialect {
    /// The command for a call.
    pub fn command(&self, call: Call<'_>) -> Spec {
        let (mount, umount) = (self.mount.as_bytes(), self.umount.as_bytes());
        let again;
        let (mut argv, names): (Vec<&[u8]>, Vec<&[u8]>) = match call {
            Call::Listed(point) => (vec![mount], vec![point]),
            Call::Row(row) => {
                let mut argv = vec![mount];
                let options = [(&b"-t"[..], &row.fstype), (&b"-o"[..], &row.options)];
                for (flag, value) in options {
                    argv.extend(value.iter().flat_map(|value| [flag, value]));
                }
                (argv, vec![&row.device, &row.point])
            }
            Call::Remount(point) => (vec![mount, b"-o", b"remount"], vec![point]),
            Call::RemountWith { options, point } => {
                again = [b"remount,", options].concat();
                (vec![mount, b"-o", &again], vec![point])
            }
            Call::All => (vec![mount, b"-va"], Vec::new()),
            Call::Unmount(point) => (vec![umount], vec![point]),
        };
        // What looks like an option is a name all the same.
        argv.extend(names.iter().any(|name| name.starts_with(b"-")).then_some(&b"--"[..]));
        argv.extend(names);
        let argv = argv.into_iter().map(|word| OsString::from_vec(word.to_vec()));
        let spec = if self.c_locale { command::tool(argv) } else { Spec::argv(argv) };
        Spec { merge_stderr: self.one_stream, ..spec.timeout(self.limit) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_what_the_table_does_not() {
        let row = Row {
            device: b"srv:/x".into(),
            point: b"/mnt".into(),
            options: Some(b"ro".into()),
            ..Row::default()
        };
        let typed = Row { fstype: Some(b"cifs".into()), ..row.clone() };
        let table = [
            (Call::Listed(b"/mnt"), "mount /mnt"),
            (Call::Row(&row), "mount -o ro srv:/x /mnt"),
            (Call::Row(&typed), "mount -t cifs -o ro srv:/x /mnt"),
            (Call::Remount(b"/mnt"), "mount -o remount /mnt"),
            (Call::RemountWith { options: b"ro", point: b"/mnt" }, "mount -o remount,ro /mnt"),
            (Call::All, "mount -va"),
            (Call::Unmount(b"/mnt"), "umount /mnt"),
            (Call::Unmount(b"-a"), "umount -- -a"),
        ];
        for (call, expected) in table {
            assert_eq!(Dialect::default().command(call).display(), expected);
        }
    }
}
