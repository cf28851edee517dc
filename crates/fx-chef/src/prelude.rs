//! The Ruby that ships with this crate, by the names it is loaded under.

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        /// Name and text of each file.
        pub(crate) static SOURCES: &[(&str, &str)] =
            &[$((concat!("chef/", $name, ".rb"), include_str!(concat!("../prelude/", $name, ".rb")))),*];
    };
}

include!("prelude_list.rs");

/// With the `live-prelude` feature the texts come from the directory in
/// `FIXPOINT_CHEF_PRELUDE`, so that Ruby can be worked on without a build.
#[cfg(feature = "live-prelude")]
pub(crate) fn sources(host: &dyn fx_host::Host) -> &'static [(&'static str, &'static str)] {
    let Some(dir) = host.var(std::ffi::OsStr::new("FIXPOINT_CHEF_PRELUDE")) else { return SOURCES };
    let dir = std::path::PathBuf::from(dir);
    let mut list: Vec<(&'static str, &'static str)> = Vec::new();
    for entry in host.list(&dir).unwrap_or_default() {
        let name = entry.name.to_string_lossy().into_owned();
        if !name.ends_with(".rb") {
            continue;
        }
        let text = host.read(&dir.join(&name)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        list.push((
            Box::leak(format!("chef/{name}").into_boxed_str()),
            Box::leak(text.into_boxed_str()),
        ));
    }
    Box::leak(list.into_boxed_slice())
}

/// The texts built in.
#[cfg(not(feature = "live-prelude"))]
pub(crate) fn sources(_: &dyn fx_host::Host) -> &'static [(&'static str, &'static str)] {
    SOURCES
}
