//! Names and short texts as values that share their memory: a manifest writes the same few
//! hundred words thousands of times. It knows nothing of what they mean.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashSet;

/// Texts up to this length come again often enough to be looked up.
const SHORT: usize = 16;

thread_local! {
    static NAMES: RefCell<FxHashSet<Rc<str>>> = RefCell::default();
}

/// The value for a name, the same for the same name in all files of the thread.
pub(crate) fn name(bytes: &[u8]) -> Rc<str> {
    let Ok(text) = std::str::from_utf8(bytes) else { return lossy(bytes) };
    NAMES.with_borrow_mut(|names| {
        if let Some(known) = names.get(text) {
            return Rc::clone(known);
        }
        let new: Rc<str> = text.into();
        names.insert(Rc::clone(&new));
        new
    })
}

/// The value for a text of any length.
pub(crate) fn text(bytes: &[u8]) -> Rc<str> {
    if bytes.len() <= SHORT { name(bytes) } else { lossy(bytes) }
}

fn lossy(bytes: &[u8]) -> Rc<str> {
    String::from_utf8_lossy(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_is_the_same_memory() {
        assert!(Rc::ptr_eq(&name(b"ensure"), &name(b"ensure")));
        assert!(!Rc::ptr_eq(&name(b"ensure"), &name(b"owner")));
        let long = [b'x'; SHORT + 1];
        assert!(!Rc::ptr_eq(&text(&long), &text(&long)));
        assert_eq!(&*text(b"a\xff"), "a\u{fffd}");
    }
}
