//! Where our own state and configuration lie, as root and as an ordinary user. The
//! originals' directories are chosen by their personas.

use std::path::PathBuf;

use fx_host::Host;

/// Directory of the state store and the run lock.
pub(crate) fn state_dir(host: &dyn Host) -> PathBuf {
    if let Some(dir) = host.var("FIXPOINT_STATE".as_ref()) {
        return dir.into();
    }
    if host.euid() == 0 {
        return "/var/lib/fixpoint".into();
    }
    let home = || host.var("HOME".as_ref()).map(|home| PathBuf::from(home).join(".local/state"));
    let base = host
        .var("XDG_STATE_HOME".as_ref())
        .map(PathBuf::from)
        .filter(|dir| dir.is_absolute())
        .or_else(home);
    base.unwrap_or_else(|| "/var/tmp".into()).join("fixpoint")
}

#[cfg(test)]
mod tests {
    use fx_host::MemoryHost;

    use super::*;

    #[test]
    fn root_and_users_have_their_own_places() {
        let host = MemoryHost::new();
        host.set_var("HOME", "/home/a");
        assert_eq!(state_dir(&host), PathBuf::from("/var/lib/fixpoint"));
        host.become_user(1000, 1000);
        assert_eq!(state_dir(&host), PathBuf::from("/home/a/.local/state/fixpoint"));
        host.set_var("XDG_STATE_HOME", "relative");
        assert_eq!(
            state_dir(&host),
            PathBuf::from("/home/a/.local/state/fixpoint"),
            "a relative one is ignored"
        );
        host.set_var("XDG_STATE_HOME", "/s");
        assert_eq!(state_dir(&host), PathBuf::from("/s/fixpoint"));
        host.set_var("FIXPOINT_STATE", "/x");
        assert_eq!(state_dir(&host), PathBuf::from("/x"));
    }
}
