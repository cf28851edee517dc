//! A machine with trees that are not what they seem, such as a network file system that a copy
//! of the machine does not have: every request goes through, and one that is about such a
//! tree is reported.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use crate::in_place::{InPlace, Opening};
use crate::{
    Edits, Entry, Files, FsSpace, Host, LeftOut, Lock, Meta, Pieces, Reader, Result, Time,
    WriteOptions,
};

/// The machine, watched.
pub struct WatchingHost {
    inner: Rc<dyn Host>,
    told: Told,
}

type Told = Box<dyn Fn(&Path, About)>;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// It looks.
    Look,
    /// It changes something.
    Edit,
}

impl WatchingHost {
    /// Tells of every request about a path in one of the trees.
    pub fn new(
        inner: Rc<dyn Host>,
        trees: Vec<LeftOut>,
        told: impl Fn(&LeftOut) + 'static,
    ) -> WatchingHost {
        WatchingHost::of_all(inner, move |path, _| {
            if let Some(tree) = trees.iter().find(|tree| path.starts_with(&tree.path)) {
                told(tree);
            }
        })
    }

    /// Tells of every request about a path, wherever it is.
    pub fn of_all(inner: Rc<dyn Host>, told: impl Fn(&Path, About) + 'static) -> WatchingHost {
        WatchingHost { inner, told: Box::new(told) }
    }
}

macro_rules! about {
    ($what:ident: $($name:ident(path $(, $arg:ident: $ty:ty)*) -> $out:ty;)*) => {
        $(fn $name(&self, path: &Path $(, $arg: $ty)*) -> Result<$out> {
            (self.told)(path, About::$what);
            self.inner.$name(path $(, $arg)*)
        })*
    };
}

impl Files for WatchingHost {
    about! { Look:
        stat(path) -> Meta;
        lstat(path) -> Meta;
        read(path) -> Vec<u8>;
        read_with_meta(path) -> (Meta, Vec<u8>);
        open(path) -> Reader<'_>;
        read_link(path) -> PathBuf;
        list(path) -> Vec<Entry>;
        read_limited(path, limit: u64) -> Vec<u8>;
        check_trusted(path) -> ();
        read_trusted_up_to(path, limit: u64) -> Vec<u8>;
        real_path(path) -> PathBuf;
        real_path_to_change(path) -> PathBuf;
        space(path, limit: Duration) -> FsSpace;
        xattrs(path) -> Vec<OsString>;
        xattr(path, name: &str) -> Option<Vec<u8>>;
    }

    pass! {
        refused() -> Option<String>;
    }
}

impl Edits for WatchingHost {
    about! { Edit:
        copy_file(path, to: &Path, options: &WriteOptions) -> ();
        open_in_place(path, how: &Opening) -> Box<dyn InPlace>;
        lock(path, patience: Duration) -> Option<Lock>;
        write(path, content: &[u8], options: &WriteOptions) -> ();
        write_pieces(path, pieces: Pieces<'_>, options: &WriteOptions) -> ();
        append(path, content: &[u8], mode: u32) -> ();
        make_dir(path, mode: u32) -> ();
        make_fifo(path, mode: u32) -> ();
        remove_file(path) -> ();
        remove_dir(path) -> ();
        rename(path, to: &Path) -> ();
        set_mode(path, mode: u32) -> ();
        set_owner(path, uid: Option<u32>, gid: Option<u32>) -> ();
        set_times(path, atime: Option<Time>, mtime: Option<Time>) -> ();
        set_xattr(path, name: &str, value: Option<&[u8]>) -> ();
    }

    fn symlink(&self, target: &Path, path: &Path) -> Result<()> {
        (self.told)(path, About::Edit);
        self.inner.symlink(target, path)
    }

    fn hard_link(&self, existing: &Path, path: &Path) -> Result<()> {
        (self.told)(path, About::Edit);
        self.inner.hard_link(existing, path)
    }

    pass! {
        settle() -> Result<()>;
        commit() -> Result<()>;
    }
}

pass_commands!(WatchingHost);
pass_surroundings!(WatchingHost);
pass_network!(WatchingHost);
