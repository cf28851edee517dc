//! System calls of a hostile action, made inside the copy. True where one succeeded.

use std::ffi::CStr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::mount::{FsOpenFlags, OpenTreeFlags};
use rustix::net::{AddressFamily, SocketType};
use rustix::time::ClockId;

const NONE: &CStr = c"";

pub(crate) fn act(name: &str, argument: &str) -> bool {
    match name {
        "mknod" => [(FileType::BlockDevice, 7 << 8), (FileType::CharacterDevice, 1 << 8 | 1)]
            .into_iter()
            .any(|(kind, number)| {
                rustix::fs::mknodat(CWD, "/tmp/node", kind, Mode::from(0o600), number).is_ok()
            }),
        "fsopen" => ["proc", "tmpfs", "sysfs"]
            .into_iter()
            .any(|kind| rustix::mount::fsopen(kind, FsOpenFlags::empty()).is_ok()),
        "open_tree" => {
            let flags = OpenTreeFlags::OPEN_TREE_CLONE;
            rustix::mount::open_tree(CWD, "/proc", flags).is_ok()
        }
        "pivot_root" => rustix::process::pivot_root("/", "/").is_ok(),
        "setns" => ["mnt", "net", "pid", "uts"].into_iter().any(|kind| {
            let path = format!("/proc/self/ns/{kind}");
            let opened = rustix::fs::open(path, OFlags::RDONLY, Mode::empty()).unwrap();
            rustix::thread::move_into_link_name_space(std::os::fd::AsFd::as_fd(&opened), None)
                .is_ok()
        }),
        "climb" => climb(),
        // The time it is: nothing would happen even if it worked.
        "clock" => {
            let now = rustix::time::clock_gettime(ClockId::Realtime);
            rustix::time::clock_settime(ClockId::Realtime, now).is_ok()
        }
        "reboot" => rustix::system::reboot(rustix::system::RebootCommand::CadOff).is_ok(),
        "sethostname" => rustix::system::sethostname(b"fxhost").is_ok(),
        "module" => {
            let file = rustix::fs::open("/bin/sh", OFlags::RDONLY, Mode::empty()).unwrap();
            let refused = |error| error == rustix::io::Errno::PERM;
            !(refused(rustix::system::finit_module(&file, NONE, 0).unwrap_err())
                && refused(rustix::system::init_module(b"x", NONE).unwrap_err())
                && refused(rustix::system::delete_module(c"fx_none", 0).unwrap_err()))
        }
        "raw" => {
            socket(AddressFamily::INET, SocketType::RAW, 1)
                || socket(AddressFamily::PACKET, SocketType::RAW, 0)
        }
        "audit" => socket(AddressFamily::NETLINK, SocketType::RAW, 9),
        "connect" => UnixStream::connect(Path::new(argument)).is_ok(),
        "abstract" => {
            let address = SocketAddr::from_abstract_name("fx-machine").unwrap();
            UnixStream::connect_addr(&address).is_ok()
        }
        // No safe way to make the call from here.
        "swapoff" | "syslog" => false,
        other => panic!("no action {other}"),
    }
}

fn socket(family: AddressFamily, kind: SocketType, protocol: u32) -> bool {
    let protocol = rustix::net::Protocol::from_raw(
        std::num::NonZeroU32::new(protocol).unwrap_or(std::num::NonZeroU32::MIN),
    );
    rustix::net::socket(family, kind, Some(protocol)).is_ok()
}

/// Leaves a chroot upwards and plants a file at whatever root is found.
fn climb() -> bool {
    std::fs::create_dir_all("/tmp/below").unwrap();
    rustix::process::chroot("/tmp/below").unwrap();
    for _ in 0..100 {
        rustix::process::chdir("..").unwrap();
    }
    rustix::process::chroot(".").unwrap();
    std::fs::write("/srv/fx-machine/scratch/planted", "x").is_ok()
}
