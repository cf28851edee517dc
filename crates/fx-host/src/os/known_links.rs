//! Where links were on the way of earlier walks. A hint where to look and no more: what a link
//! is, whose it is and where it leads is found out anew at each walk.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// A site has few links to directories, and a walk compares with all of them.
const MOST: usize = 16;

#[derive(Default)]
struct Known {
    paths: Vec<PathBuf>,
    /// Which one makes room for the next.
    oldest: usize,
}

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// Remembers an absolute path that is a link and has no other link in it.
pub(super) fn remember(path: &Path) {
    KNOWN.with_borrow_mut(|known| {
        if known.paths.iter().any(|one| one == path) {
            return;
        }
        if known.paths.len() < MOST {
            known.paths.push(path.to_owned());
            return;
        }
        let at = known.oldest % MOST;
        path.clone_into(&mut known.paths[at]);
        known.oldest = (at + 1) % MOST;
    });
}

/// Forgets one that is no link any more.
pub(super) fn forget(path: &Path) {
    KNOWN.with_borrow_mut(|known| known.paths.retain(|one| one != path));
}

/// The link on the way of a path, and what of the path lies behind it.
pub(super) fn find(path: &Path) -> Option<(PathBuf, &Path)> {
    KNOWN.with_borrow(|known| {
        known.paths.iter().find_map(|one| Some((one.clone(), path.strip_prefix(one).ok()?)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_known_by_whole_names() {
        for number in 0..=MOST {
            remember(&PathBuf::from(format!("/l{number}")));
        }
        remember(Path::new("/l5"));
        assert_eq!(find(Path::new("/l0/x")), None, "the first made room");
        assert_eq!(find(Path::new("/l5/x/y")), Some(("/l5".into(), Path::new("x/y"))));
        assert_eq!(find(Path::new("/l5")), Some(("/l5".into(), Path::new(""))));
        assert_eq!(find(Path::new("/l5x")), None);
        assert_eq!(find(Path::new("l5/x")), None);
        forget(Path::new("/l5"));
        assert_eq!(find(Path::new("/l5/x")), None);
    }
}
