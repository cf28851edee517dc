//! What a machine that wraps another hands on to it unchanged.

/// Methods that go to the inner machine as they are.
macro_rules! pass {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $out:ty;)*) => {
        $(fn $name(&self $(, $arg: $ty)*) -> $out {
            self.inner.$name($($arg),*)
        })*
    };
}

/// Everything but files and commands.
macro_rules! pass_the_rest {
    ($host:ty) => {
        impl crate::Accounts for $host {
            pass! {
                user(name: &str) -> crate::Result<Option<crate::User>>;
                user_by_id(uid: u32) -> crate::Result<Option<crate::User>>;
                group(name: &str) -> crate::Result<Option<crate::Group>>;
                group_by_id(gid: u32) -> crate::Result<Option<crate::Group>>;
                users() -> crate::Result<Vec<crate::User>>;
                groups() -> crate::Result<Vec<crate::Group>>;
            }
        }

        impl crate::Clock for $host {
            pass! {
                now() -> crate::Time;
                monotonic() -> std::time::Duration;
                sleep(duration: std::time::Duration) -> ();
            }
        }

        impl crate::Env for $host {
            pass! {
                var(name: &std::ffi::OsStr) -> Option<std::ffi::OsString>;
                vars() -> Vec<(std::ffi::OsString, std::ffi::OsString)>;
                cwd() -> std::path::PathBuf;
                euid() -> u32;
                egid() -> u32;
                pid() -> u32;
                uname() -> crate::Uname;
                random(buffer: &mut [u8]) -> ();
                cpus() -> usize;
            }
        }

        impl crate::Net for $host {
            pass! {
                http(request: &crate::Request) -> crate::Result<crate::Response>;
                interfaces() -> crate::Result<Vec<crate::Interface>>;
                routes() -> crate::Result<Vec<crate::Route>>;
                neighbours() -> crate::Result<Vec<crate::Neighbour>>;
                resolve(name: &str) -> crate::Result<Vec<std::net::IpAddr>>;
                reverse(address: std::net::IpAddr) -> crate::Result<Option<String>>;
                ask(address: std::net::SocketAddr, question: &[u8], limit: usize, patience: std::time::Duration) -> crate::Result<Vec<u8>>;
            }
        }
    };
}
