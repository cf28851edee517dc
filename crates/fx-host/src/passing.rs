//! What a machine that wraps another hands on to it unchanged.

/// Methods that go to the inner machine as they are.
macro_rules! pass {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $out:ty;)*) => {
        $(fn $name(&self $(, $arg: $ty)*) -> $out {
            self.inner.$name($($arg),*)
        })*
    };
}

/// The network, looked at.
macro_rules! pass_looks_at_network {
    ($host:ty) => {
        impl crate::Net for $host {
            pass! {
                fetch(request: &crate::Request) -> crate::Result<crate::Response>;
                interfaces() -> crate::Result<Vec<crate::Interface>>;
                routes() -> crate::Result<Vec<crate::Route>>;
                neighbours() -> crate::Result<Vec<crate::Neighbour>>;
                resolve(name: &str) -> crate::Result<Vec<std::net::IpAddr>>;
                reverse(address: std::net::IpAddr) -> crate::Result<Option<String>>;
            }
        }
    };
}

/// The network.
macro_rules! pass_network {
    ($host:ty) => {
        pass_looks_at_network!($host);

        impl crate::Requests for $host {
            pass! {
                http(request: &crate::Request) -> crate::Result<crate::Response>;
                dial(address: std::net::SocketAddr, patience: std::time::Duration) -> crate::Result<std::net::TcpStream>;
                ask(address: std::net::SocketAddr, question: &[u8], limit: usize, patience: std::time::Duration) -> crate::Result<Vec<u8>>;
            }
        }
    };
}

/// Programs, looked for and started.
macro_rules! pass_commands {
    ($host:ty) => {
        impl crate::Queries for $host {
            pass! {
                find_program(name: &str) -> Option<std::path::PathBuf>;
                query(spec: &crate::Spec) -> crate::Result<crate::Ended>;
            }
        }

        impl crate::Commands for $host {
            pass! {
                run_streaming(spec: &crate::Spec, on_line: &mut dyn FnMut(crate::Line<'_>)) -> crate::Result<crate::Ended>;
                start(spec: &crate::Spec) -> crate::Result<Box<dyn crate::Child>>;
                signal(pid: i32, signal: i32) -> crate::Result<()>;
            }
        }
    };
}

/// Accounts, time and what surrounds our own process.
macro_rules! pass_surroundings {
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
    };
}
