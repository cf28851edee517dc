//! Something that should not have its name any more: moved aside to another one, with
//! permissions that keep it from being used by accident.

use std::path::PathBuf;

use fx_engine::{Change, Failure, Resource, ResourceId};
use fx_host::Host;

use crate::directory::make_parents;
use crate::file::observe::octal;
use crate::mode::Mode;

/// What should have another name.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// The name it should not have.
    pub path: PathBuf,
    /// The name it should have, on the same file system.
    pub to: PathBuf,
    /// Bits it gets with the new name; a link has none.
    pub mode: Option<Mode>,
    /// Replaces what has the new name; else that is a failure.
    pub overwrite: bool,
    /// Makes missing directories above the new name with this mode.
    pub parents: Option<u32>,
}

/// Something with the wish that it is moved.
pub struct Moved {
    /// What should have another name.
    pub desired: Desired,
    mode: Option<u32>,
}

impl Moved {
    /// Something that should be moved if it is there.
    pub fn new(desired: Desired) -> Moved {
        Moved { desired, mode: None }
    }
}

impl Resource for Moved {
    fn id(&self) -> ResourceId {
        ResourceId::new("moved", self.desired.path.to_string_lossy())
    }

    fn observe(&mut self, host: &dyn Host) -> Result<Vec<Change>, Failure> {
        self.mode = None;
        let Desired { path, to, mode, overwrite, .. } = &self.desired;
        let Some(meta) = host.lstat_opt(path)? else { return Ok(Vec::new()) };
        if !overwrite && host.exists(to)? {
            let (path, to) = (path.display(), to.display());
            let text = format!("'{path}' is not moved: '{to}' is there already");
            return Err(Failure::new(text));
        }
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        let mut changes = vec![Change::new("path", text(path), text(to))];
        if let Some(mode) = mode.as_ref().filter(|_| !meta.is_symlink()) {
            let bits = mode.apply(meta.mode, meta.is_dir());
            if bits != meta.mode {
                changes.push(Change::new("mode", octal(meta.mode), octal(bits)));
                self.mode = Some(bits);
            }
        }
        if *overwrite && let Some(old) = host.lstat_opt(to)? {
            changes.push(Change::new("replaced", old.kind.word(), meta.kind.word()));
        }
        Ok(changes)
    }

    fn apply(&mut self, host: &dyn Host, _changes: &[Change]) -> Result<(), Failure> {
        let Desired { path, to, parents, .. } = &self.desired;
        if let Some(mode) = parents {
            make_parents(host, to, *mode)?;
        }
        // The mode first: under its new name nobody shall see the old permissions.
        if let Some(mode) = self.mode.take() {
            host.set_mode(path, mode)?;
        }
        Ok(host.rename(path, to)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::MemoryHost;

    #[test]
    fn a_name_is_given_up_once_and_never_over_another() {
        let host = MemoryHost::linux();
        host.put_mode("/srv/tool", "x", 0o4755);
        let desired = Desired {
            path: "/srv/tool".into(),
            to: "/srv/aside/tool.cfdisabled".into(),
            mode: Some(Mode::Exact(0o600)),
            parents: Some(0o755),
            ..Desired::default()
        };
        let mut moved = Moved::new(desired);
        let changes = moved.observe(&host).unwrap();
        assert_eq!(changes.len(), 2);
        moved.apply(&host, &changes).unwrap();
        assert_eq!(moved.observe(&host).unwrap(), []);
        let snapshot = host.snapshot();
        assert!(snapshot.contains("/srv/aside/tool.cfdisabled file 0600 0:0 x"), "{snapshot}");
        host.put("/srv/tool", "again");
        let failure = moved.observe(&host).unwrap_err();
        assert!(failure.message.ends_with("is there already"), "{failure}");
        moved.desired.overwrite = true;
        let changes = moved.observe(&host).unwrap();
        moved.apply(&host, &changes).unwrap();
        assert_eq!(host.text("/srv/aside/tool.cfdisabled"), "again");
    }
}
