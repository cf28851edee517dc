//! `--simulate`: files are changed in a layer of their own, and what became of them is reported
//! at the end as a manifest or as differences.
//!
//! Only files promises are simulated. Packages are reported by name; everything else that would
//! change the machine says so as in a dry run.

mod packages;

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use fx_cfengine::config::Simulate;
use fx_cfengine::log;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::text::{Str, from_path, path};
use fx_host::{Files, Kind, Meta, OverlayHost};
use rustc_hash::FxHashSet;

use crate::agent::Agent;

pub(crate) use packages::{Operation, PackageNote};

/// What a simulation has seen so far.
pub(crate) struct Simulation<'a> {
    pub(crate) overlay: &'a OverlayHost<'a>,
    mode: Simulate,
    changed: Vec<Str>,
    evaluated: Vec<Str>,
    renamed: Vec<(Str, Str)>,
    packages: Vec<PackageNote>,
}

impl<'a> Simulation<'a> {
    pub(crate) fn new(overlay: &'a OverlayHost<'a>, mode: Simulate) -> Simulation<'a> {
        Simulation {
            overlay,
            mode,
            changed: Vec::new(),
            evaluated: Vec::new(),
            renamed: Vec::new(),
            packages: Vec::new(),
        }
    }
}

impl Agent<'_> {
    /// Notes that a files promise changed a path.
    pub(crate) fn simulated_change(&mut self, file: &str) {
        if let Some(simulation) = &mut self.simulation {
            simulation.changed.push(file.into());
        }
    }

    /// Notes that a files promise looked at a path.
    pub(crate) fn simulated_look(&mut self, file: &str) {
        if let Some(simulation) = &mut self.simulation {
            simulation.evaluated.push(file.into());
        }
    }

    /// Notes how a files promise on one path ended; renames are reported on their own.
    pub(crate) fn simulated_outcome(&mut self, file: &str, outcome: Outcome, rename: bool) {
        match outcome {
            Outcome::Kept => self.simulated_look(file),
            Outcome::Repaired if !rename => self.simulated_change(file),
            _ => {}
        }
    }

    /// Notes a new name.
    pub(crate) fn simulated_rename(&mut self, from: &str, to: &str) {
        if let Some(simulation) = &mut self.simulation {
            simulation.renamed.push((from.into(), to.into()));
        }
    }

    /// Notes what would become of a package; true if this is a simulation, in which nothing
    /// more is to be done.
    pub(crate) fn simulated_package(&mut self, note: PackageNote) -> bool {
        match &mut self.simulation {
            Some(simulation) => {
                simulation.packages.push(note);
                true
            }
            None => false,
        }
    }

    /// Tells what the simulation found, and forgets it.
    pub(crate) fn report_simulation(&mut self) {
        let Some(simulation) = self.simulation.take() else { return };
        let mut reported: FxHashSet<Str> = FxHashSet::default();
        for (from, to) in &simulation.renamed {
            self.delimit();
            self.print(&format!("'{to}' is the new name of '{from}'"));
        }
        let (title, verb) = match simulation.mode {
            Simulate::Diff => ("Showing diff for", "show diff for"),
            Simulate::Manifest | Simulate::ManifestFull => ("Manifesting", "manifest"),
        };
        self.report_files(&simulation, &simulation.changed, "changed", title, verb, &mut reported);
        if simulation.mode == Simulate::ManifestFull {
            let evaluated = &simulation.evaluated;
            self.report_files(&simulation, evaluated, "unmodified", title, verb, &mut reported);
        }
        if simulation.packages.is_empty() {
            log!(self, Info, "No package operations done by the agent run");
            return;
        }
        let lines = if simulation.mode == Simulate::Diff {
            let lines = packages::difference(&simulation.packages);
            if lines.is_empty() {
                log!(self, Info, "No differences in installed packages to report");
            } else {
                log!(self, Info, "Showing differences in installed packages");
            }
            lines
        } else {
            log!(self, Info, "Manifesting present and absent packages");
            packages::manifest(&simulation.packages)
        };
        for line in lines {
            self.print(&format!("{line}\n"));
        }
    }

    fn report_files(
        &self,
        simulation: &Simulation<'_>,
        files: &[Str],
        category: &str,
        title: &str,
        verb: &str,
        reported: &mut FxHashSet<Str>,
    ) {
        if files.is_empty() {
            log!(self, Info, "No {category} files to {verb}");
            return;
        }
        log!(self, Info, "{title} {category} files (in the changes chroot)");
        for file in files {
            if reported.insert(Rc::clone(file)) {
                match simulation.mode {
                    Simulate::Diff => self.differences(simulation, file),
                    _ => self.manifest(simulation, file),
                }
            }
        }
    }

    fn delimit(&self) {
        let columns = self.host().var(std::ffi::OsStr::new("COLUMNS"));
        let columns = columns.and_then(|text| text.to_str()?.parse::<usize>().ok()).unwrap_or(0);
        self.print(&"=".repeat(columns.clamp(80, 1000) - 5));
    }

    fn manifest(&self, simulation: &Simulation<'_>, file: &str) {
        self.delimit();
        match simulation.overlay.lstat(&path(file)) {
            Err(_) => self.print(&format!("'{file}' no longer exists")),
            Ok(meta) => {
                self.print(&format!("'{file}' is a {}", word(meta.kind)));
                self.details(simulation, file, &meta);
            }
        }
    }

    fn details(&self, simulation: &Simulation<'_>, file: &str, meta: &Meta) {
        self.print(&self.stat_lines(meta));
        let place = path(file);
        match meta.kind {
            Kind::File => self.contents(simulation, &place),
            Kind::Symlink => match simulation.overlay.read_link(&place) {
                Ok(target) => self.print(&format!("\nTarget: '{}'", from_path(&target))),
                Err(_) => self.print("\nInvalid target"),
            },
            Kind::Directory => {
                self.print("\nDirectory contents:");
                for entry in simulation.overlay.list(&place).unwrap_or_default() {
                    self.print(&from_path(Path::new(&entry.name)));
                }
            }
            _ => {}
        }
    }

    fn stat_lines(&self, meta: &Meta) -> String {
        let host = self.host();
        let user = host.user_by_id(meta.uid).ok().flatten().map(|user| user.name);
        let group = host.group_by_id(meta.gid).ok().flatten().map(|group| group.name);
        let time = |secs: i64| {
            fx_cfengine::clock::format(self, secs, false, "%Y-%m-%d %H:%M:%S %z")
                .unwrap_or_default()
        };
        format!(
            "Size: {}\nAccess: ({:04o}/{})  Uid: ({}/{})   Gid: ({}/{})\nAccess: {}\nModify: {}\nChange: {}",
            meta.size,
            meta.mode,
            letters(meta.mode),
            meta.uid,
            user.unwrap_or_else(|| meta.uid.to_string()),
            meta.gid,
            group.unwrap_or_else(|| meta.gid.to_string()),
            time(meta.atime.secs),
            time(meta.mtime.secs),
            time(meta.ctime.secs),
        )
    }

    fn contents(&self, simulation: &Simulation<'_>, file: &Path) {
        let bytes = match simulation.overlay.read(file) {
            Ok(bytes) => bytes,
            Err(error) => {
                let reason = fx_cfengine::reason::reason(&error);
                self.error(&format!("Failed to open file for reading: {reason}"));
                return;
            }
        };
        let mut text = String::from("\nContents of the file:\n");
        let mut plain = true;
        // The original looks at one buffer at a time, and shows what is before the first
        // that is not plain.
        for chunk in bytes.chunks(4096) {
            if !chunk.is_ascii() {
                text.push_str("File contains non-ASCII data\n");
                plain = false;
                break;
            }
            text.push_str(&fx_cfengine::text::decode(chunk));
        }
        if plain && bytes.last().is_some_and(|last| *last != b'\n') {
            text.push_str("\n\\no newline at the end of file\n");
        }
        self.print(text.strip_suffix('\n').unwrap_or(&text));
    }

    fn differences(&self, simulation: &Simulation<'_>, file: &str) {
        let place = path(file);
        // Below the layer is the machine as it is.
        let machine = simulation.overlay.below();
        let Ok(before) = machine.lstat(&place) else {
            self.manifest(simulation, file);
            return;
        };
        self.delimit();
        let Ok(after) = simulation.overlay.lstat(&place) else {
            self.print(&format!("'{file}' no longer exists"));
            return;
        };
        if before.kind != after.kind {
            let (from, to) = (word(before.kind), word(after.kind));
            self.print(&format!("'{file}' changed type from {from} to {to}"));
            self.details(simulation, file, &after);
            return;
        }
        match after.kind {
            Kind::File => {
                let old = machine.read(&place).unwrap_or_default();
                let new = simulation.overlay.read(&place).unwrap_or_default();
                let text = unified(file, &old, &new);
                if !text.is_empty() {
                    self.print(text.strip_suffix('\n').unwrap_or(&text));
                }
            }
            Kind::Directory => self.directory_differences(simulation, file),
            _ => {
                self.print(&format!("'{file}' is a {}", word(after.kind)));
                self.details(simulation, file, &after);
            }
        }
    }

    // As diff(1) of two directories: names on one side only, and files that differ.
    fn directory_differences(&self, simulation: &Simulation<'_>, dir: &str) {
        let machine = simulation.overlay.below();
        let names = |host: &dyn Files| -> BTreeSet<String> {
            let entries = host.list(&path(dir)).unwrap_or_default();
            entries.iter().map(|entry| from_path(Path::new(&entry.name))).collect()
        };
        let (old, new) = (names(machine), names(simulation.overlay));
        for name in old.union(&new) {
            let whole = format!("{dir}/{name}");
            let place = path(&whole);
            let inside = from_path(&simulation.overlay.inside(&place));
            match (old.contains(name), new.contains(name)) {
                (true, false) => self.print(&format!("Only in {dir}: {name}")),
                (false, _) => {
                    let above = inside.rfind('/').map_or("", |at| &inside[..at]);
                    self.print(&format!("Only in {above}: {name}"));
                }
                (true, true) => {
                    let kind = |host: &dyn Files| host.lstat(&place).map(|meta| meta.kind).ok();
                    match (kind(machine), kind(simulation.overlay)) {
                        (Some(Kind::Directory), Some(Kind::Directory)) => {
                            self.print(&format!("Common subdirectories: {whole} and {inside}"));
                        }
                        (Some(Kind::File), Some(Kind::File)) => {
                            let old = machine.read(&place).unwrap_or_default();
                            let new = simulation.overlay.read(&place).unwrap_or_default();
                            if old != new {
                                let text = unified(&whole, &old, &new);
                                self.print(text.strip_suffix('\n').unwrap_or(&text));
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

fn unified(file: &str, old: &[u8], new: &[u8]) -> String {
    if old == new {
        return String::new();
    }
    if old.contains(&0) || new.contains(&0) {
        return format!("Binary files original {file} and changed  {file} differ\n");
    }
    let (old, new) = (fx_cfengine::text::decode(old), fx_cfengine::text::decode(new));
    let (before, after) = (format!("original {file}"), format!("changed  {file}"));
    fx_formats::unified_text(fx_formats::Sides { before: &before, after: &after }, &old, &new)
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "regular file",
        Kind::Directory => "directory",
        Kind::Symlink => "symbolic link",
        Kind::Fifo => "FIFO/pipe",
        Kind::Socket => "socket",
        Kind::CharDevice => "character device",
        Kind::BlockDevice => "block device",
    }
}

// The nine letters of ls(1).
fn letters(mode: u32) -> String {
    let mut out = String::new();
    for (shift, special, low, high) in
        [(6, 0o4000, 's', 'S'), (3, 0o2000, 's', 'S'), (0, 0o1000, 't', 'T')]
    {
        let bits = mode >> shift;
        out.push(if bits & 4 != 0 { 'r' } else { '-' });
        out.push(if bits & 2 != 0 { 'w' } else { '-' });
        out.push(match (mode & special != 0, bits & 1 != 0) {
            (true, true) => low,
            (true, false) => high,
            (false, true) => 'x',
            (false, false) => '-',
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_written_as_letters() {
        let table = [
            (0o644, "rw-r--r--"),
            (0o4755, "rwsr-xr-x"),
            (0o2644, "rw-r-Sr--"),
            (0o1777, "rwxrwxrwt"),
            (0o1770, "rwxrwx--T"),
            (0, "---------"),
        ];
        for (mode, expected) in table {
            assert_eq!(letters(mode), expected, "{mode:o}");
        }
    }

    #[test]
    fn differences_are_those_of_diff() {
        let table: [(&[u8], &[u8], &str); 4] = [
            (b"a\n", b"a\n", ""),
            (
                b"a\nb\n",
                b"a\nc",
                "--- original /f\n+++ changed  /f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n",
            ),
            (b"", b"x\n", "--- original /f\n+++ changed  /f\n@@ -0,0 +1 @@\n+x\n"),
            (b"\0", b"x\n", "Binary files original /f and changed  /f differ\n"),
        ];
        for (old, new, expected) in table {
            assert_eq!(unified("/f", old, new), expected);
        }
    }
}
