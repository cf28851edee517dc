//! The Ruby that ships with this crate, by the names it is loaded under.

use fx_ruby::Shipped;

/// Each file of `prelude` with its image, listed when the crate is built.
pub(crate) static SOURCES: &[Shipped] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// With the `live-prelude` feature the texts come from the directory in
/// `FIXPOINT_CHEF_PRELUDE`, so that Ruby can be worked on without a build.
#[cfg(feature = "live-prelude")]
pub(crate) fn sources(host: &dyn fx_host::Look) -> &'static [Shipped] {
    live(host, "FIXPOINT_CHEF_PRELUDE", "chef").unwrap_or(SOURCES)
}

/// The Ruby files of the directory that a variable names, under the names that those of a crate are
/// loaded by.
#[cfg(feature = "live-prelude")]
pub fn live(host: &dyn fx_host::Look, variable: &str, home: &str) -> Option<&'static [Shipped]> {
    let dir = std::path::PathBuf::from(host.var(std::ffi::OsStr::new(variable))?);
    let mut list = Vec::new();
    for entry in host.list(&dir).unwrap_or_default() {
        let name = entry.name.to_string_lossy().into_owned();
        if !name.ends_with(".rb") {
            continue;
        }
        let text = host.read(&dir.join(&name)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        list.push(Shipped {
            name: Box::leak(format!("{home}/{name}").into_boxed_str()),
            text: Box::leak(text.into_boxed_str()),
            image: &[],
        });
    }
    Some(Box::leak(list.into_boxed_slice()))
}

/// The texts built in.
#[cfg(not(feature = "live-prelude"))]
pub(crate) fn sources(_: &dyn fx_host::Look) -> &'static [Shipped] {
    SOURCES
}
