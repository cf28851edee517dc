//! A symbolic link. An old link gives place in one moment: there is no time at
//! which the name is missing.

use std::path::{Path, PathBuf};

use fx_engine::{Change, Failure, Resource, ResourceId, Target};
use fx_host::{Act, Look, Meta};

use crate::account::Account;
use crate::directory::temporary_beside;
use crate::file::apply::{clear_obstruction, resolve};
use crate::file::observe::{obstructed, ownership};
use crate::file::{Ensure, Obstruction};
use crate::wanted;

/// What a link should be.
#[derive(Clone, Debug, Default)]
pub struct Desired {
    /// Where, absolute.
    pub path: PathBuf,
    /// Whether it should be there.
    pub ensure: Ensure,
    /// What it points to, as written.
    pub target: PathBuf,
    /// Owner of the link itself.
    pub owner: Option<Account>,
    /// Group of the link itself.
    pub group: Option<Account>,
    /// What happens to something that is no link and has the name.
    pub obstruction: Obstruction,
}

/// A link with its desired state.
pub struct Link {
    /// What it should be.
    pub desired: Desired,
    seen: Option<Seen>,
}

// What had the name when it was observed.
struct Seen {
    meta: Option<Meta>,
}

impl Link {
    /// A link that should be like this.
    pub fn new(desired: Desired) -> Link {
        Link { desired, seen: None }
    }

    fn target_text(path: &Path) -> String {
        path.to_string_lossy().into_owned()
    }

    fn look(&self, host: &dyn Look, meta: Option<&Meta>) -> Result<Vec<Change>, Failure> {
        let desired = &self.desired;
        let path = &desired.path;
        let is_ours = meta.is_some_and(Meta::is_symlink);
        if desired.ensure == Ensure::Absent {
            return match meta {
                None => Ok(Vec::new()),
                Some(meta) if is_ours => {
                    Ok(vec![Change::of(self.target(), "ensure", meta.kind.word(), "absent")])
                }
                Some(meta) if desired.obstruction == Obstruction::Refuse => {
                    Err(obstructed(path, meta.kind))
                }
                Some(meta) => {
                    Ok(vec![Change::of(self.target(), "ensure", meta.kind.word(), "absent")])
                }
            };
        }
        if meta.is_none() && desired.ensure == Ensure::IfPresent {
            return Ok(Vec::new());
        }
        self.presence(host, meta, is_ours)
    }

    fn presence(
        &self,
        host: &dyn Look,
        meta: Option<&Meta>,
        is_ours: bool,
    ) -> Result<Vec<Change>, Failure> {
        let desired = &self.desired;
        let target = Link::target_text(&desired.target);
        let mut changes = Vec::new();
        if let Some(meta) = meta
            && !is_ours
            && desired.obstruction == Obstruction::Refuse
        {
            return Err(obstructed(&desired.path, meta.kind));
        }
        if is_ours {
            let found = host.read_link(&desired.path)?;
            if found != desired.target {
                changes.push(Change::of(
                    self.target(),
                    "target",
                    Link::target_text(&found),
                    target,
                ));
            }
        } else {
            let from = meta.map_or("absent", |meta| meta.kind.word());
            changes.push(Change::of(self.target(), "ensure", from, "link"));
            changes.push(Change::of(self.target(), "target", fx_value::Value::Undef, target));
        }
        let ids = meta.filter(|_| is_ours).map(|meta| (meta.uid, meta.gid));
        changes.extend(ownership(
            host,
            &self.target(),
            ids,
            desired.owner.as_ref(),
            desired.group.as_ref(),
        )?);
        Ok(changes)
    }

    // Made under another name and renamed, so that the old link stands until the new does.
    fn replace(&self, host: &dyn Act, uid: Option<u32>, gid: Option<u32>) -> Result<(), Failure> {
        let path = &self.desired.path;
        let temporary = temporary_beside(host, path);
        host.symlink(&self.desired.target, &temporary)?;
        let owned = match (uid, gid) {
            (None, None) => Ok(()),
            _ => host.set_owner(&temporary, uid, gid),
        };
        let renamed = owned.and_then(|()| host.rename(&temporary, path));
        if let Err(error) = renamed {
            // The first error is the one to report; a left-over name is only untidy.
            drop(host.remove_file(&temporary));
            return Err(error.into());
        }
        Ok(())
    }
}

impl Resource for Link {
    fn id(&self) -> ResourceId {
        ResourceId::new("link", self.desired.path.to_string_lossy())
    }

    fn target(&self) -> Target {
        Target::file(&self.desired.path)
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        self.seen = None;
        let meta = host.lstat_opt(&self.desired.path)?;
        let changes = self.look(host, meta.as_ref())?;
        self.seen = Some(Seen { meta });
        Ok(changes)
    }

    fn apply(&mut self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        let Some(Seen { meta }) = self.seen.take() else {
            return Err(Failure::new("link was not observed before it was applied"));
        };
        let desired = &self.desired;
        let path = &desired.path;
        if desired.ensure == Ensure::Absent {
            return match &meta {
                Some(meta) if meta.is_dir() => {
                    clear_obstruction(host, path, meta, &desired.obstruction)
                }
                Some(_) => Ok(host.remove_file(path)?),
                None => Ok(()),
            };
        }
        let owner = desired.owner.as_ref().filter(|_| wanted(changes, "owner"));
        let group = desired.group.as_ref().filter(|_| wanted(changes, "group"));
        let (uid, gid) = resolve(host, owner, group)?;
        if wanted(changes, "ensure") || wanted(changes, "target") {
            // A rename puts a link in the place of anything but a directory.
            if let Some(meta) = &meta
                && meta.is_dir()
            {
                clear_obstruction(host, path, meta, &desired.obstruction)?;
            }
            return self.replace(host, uid, gid);
        }
        if uid.is_some() || gid.is_some() {
            host.set_owner(path, uid, gid)?;
        }
        Ok(())
    }
}
