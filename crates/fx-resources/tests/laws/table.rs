//! The resources the laws are tested on: how the machine starts, and what is wanted.

mod system;

use std::path::Path;

use fx_engine::Resource;
use fx_host::{MemoryHost, Program, Reply};
use fx_resources::account::Account;
use fx_resources::file::{Backup, Content, Ensure, Links, Obstruction};
use fx_resources::mode::Mode;
use fx_resources::{directory, exec, file, link};

/// Planted wherever a resource takes a secret.
pub(crate) const SECRET: &str = "hunter2";

/// One desired state and the machine it is wanted on.
pub(crate) struct Case {
    /// What failures of the laws call it.
    pub(crate) name: &'static str,
    /// Prepares the machine.
    pub(crate) setup: fn(&MemoryHost),
    /// The desired state.
    pub(crate) resource: fn() -> Box<dyn Resource>,
    /// A refused change may be harmless: a fallback exists, or it was tidying up.
    pub(crate) tolerates_faults: bool,
}

/// The machine every case starts from.
pub(crate) fn machine() -> MemoryHost {
    let host = MemoryHost::linux();
    host.put("/etc/motd", "old\n");
    host
}

/// The whole table.
pub(crate) fn cases() -> Vec<Case> {
    let mut all = files();
    all.extend(directories());
    all.extend(links());
    all.extend(execs());
    all.extend(system::cases());
    all
}

fn case(name: &'static str, setup: fn(&MemoryHost), resource: fn() -> Box<dyn Resource>) -> Case {
    Case { name, setup, resource, tolerates_faults: false }
}

fn mode(text: &str) -> Mode {
    Mode::parse(text).expect("the table holds modes")
}

fn boxed(desired: file::Desired) -> Box<dyn Resource> {
    Box::new(file::File::new(desired))
}

fn files() -> Vec<Case> {
    vec![
        case(
            "new file",
            |_| {},
            || {
                boxed(file::Desired {
                    path: "/etc/new".into(),
                    content: Some(Content::bytes("text")),
                    mode: Some(Mode::Exact(0o4755)),
                    owner: Some(Account::parse("nobody")),
                    group: Some(Account::parse("adm")),
                    ..file::Desired::default()
                })
            },
        ),
        case(
            "secret content",
            |_| {},
            || {
                boxed(file::Desired {
                    path: "/etc/motd".into(),
                    content: Some(Content::bytes(SECRET)),
                    sensitive: true,
                    ..file::Desired::default()
                })
            },
        ),
        case(
            "content with backup",
            |_| {},
            || {
                boxed(file::Desired {
                    path: "/etc/motd".into(),
                    content: Some(Content::bytes("new\n")),
                    backup: Backup::Tree { dir: "/var/backup".into(), copies: 5, utc_offset: 0 },
                    ..file::Desired::default()
                })
            },
        ),
        case(
            "mode and owner alone",
            |_| {},
            || {
                boxed(file::Desired {
                    path: "/etc/motd".into(),
                    mode: Some(mode("u+s,go-r")),
                    owner: Some(Account::Id(7)),
                    ..file::Desired::default()
                })
            },
        ),
        case(
            "copied file",
            |host| host.put_mode("/srv/source", "text", 0o640),
            || {
                boxed(file::Desired {
                    path: "/etc/copy".into(),
                    content: Some(Content::copy("/srv/source")),
                    ..file::Desired::default()
                })
            },
        ),
        Case {
            tolerates_faults: true,
            ..case(
                "verified secret content",
                |host| host.on_any(|_, _| Some(Reply::exit(0))),
                || {
                    let check = |path: &Path| Program::Argv(vec!["check".into(), path.into()]);
                    boxed(file::Desired {
                        path: "/etc/verified".into(),
                        content: Some(Content::bytes(SECRET)),
                        verify: vec![file::Verify::new(exec::Rules::default(), check)],
                        sensitive: true,
                        ..file::Desired::default()
                    })
                },
            )
        },
        case(
            "removed file",
            |_| {},
            || {
                boxed(file::Desired {
                    path: "/etc/motd".into(),
                    ensure: Ensure::Absent,
                    backup: Backup::Suffix(".puppet-bak".into()),
                    ..file::Desired::default()
                })
            },
        ),
        case(
            "file in place of a directory",
            |host| host.put("/srv/dir/inner", "x"),
            || {
                boxed(file::Desired {
                    path: "/srv/dir".into(),
                    content: Some(Content::bytes("text")),
                    obstruction: Obstruction::Remove,
                    ..file::Desired::default()
                })
            },
        ),
        case(
            "file behind a link",
            |host| host.put_link("/srv", "/etc/motd"),
            || {
                boxed(file::Desired {
                    path: "/srv".into(),
                    content: Some(Content::bytes("text")),
                    links: Links::Follow,
                    ..file::Desired::default()
                })
            },
        ),
    ]
}

fn directories() -> Vec<Case> {
    fn tree(host: &MemoryHost) {
        host.put("/srv/app/bin/run", "x");
        host.put("/srv/app/keep/this", "x");
        host.put("/srv/app/stray", "x");
        host.put_link("/srv/app/link", "/etc/motd");
    }
    vec![
        case(
            "new directory",
            |_| {},
            || {
                Box::new(directory::Directory::new(directory::Desired {
                    path: "/etc/c".into(),
                    mode: Some(Mode::Exact(0o2750)),
                    owner: Some(Account::parse("nobody")),
                    ..directory::Desired::default()
                }))
            },
        ),
        case("removed tree", tree, || {
            Box::new(directory::Directory::new(directory::Desired {
                path: "/srv/app".into(),
                ensure: Ensure::Absent,
                recursive_removal: true,
                ..directory::Desired::default()
            }))
        }),
        case(
            "directory in place of a link",
            |host| host.put_link("/srv", "/etc"),
            || {
                Box::new(directory::Directory::new(directory::Desired {
                    path: "/srv".into(),
                    ..directory::Desired::default()
                }))
            },
        ),
    ]
}

fn links() -> Vec<Case> {
    vec![
        case(
            "new link",
            |_| {},
            || {
                Box::new(link::Link::new(link::Desired {
                    path: "/etc/link".into(),
                    target: "../motd".into(),
                    owner: Some(Account::parse("nobody")),
                    ..link::Desired::default()
                }))
            },
        ),
        case(
            "link with another target",
            |host| host.put_link("/etc/link", "a"),
            || {
                Box::new(link::Link::new(link::Desired {
                    path: "/etc/link".into(),
                    target: "b".into(),
                    ..link::Desired::default()
                }))
            },
        ),
        case(
            "link in place of a tree",
            |host| host.put("/etc/link/x", ""),
            || {
                Box::new(link::Link::new(link::Desired {
                    path: "/etc/link".into(),
                    target: "b".into(),
                    obstruction: Obstruction::Remove,
                    ..link::Desired::default()
                }))
            },
        ),
        case(
            "removed link",
            |host| host.put_link("/etc/link", "a"),
            || {
                Box::new(link::Link::new(link::Desired {
                    path: "/etc/link".into(),
                    ensure: Ensure::Absent,
                    ..link::Desired::default()
                }))
            },
        ),
    ]
}

fn execs() -> Vec<Case> {
    vec![
        case(
            "command with creates",
            |host| {
                let made = Reply::exit(0).effect(|host, _| host.put("/srv/made", "x"));
                host.on(["make", "install"], made);
            },
            || {
                Box::new(exec::Exec::new(exec::Desired {
                    command: Some(Program::Argv(vec!["make".into(), "install".into()])),
                    creates: vec!["/srv/made".into()],
                    ..exec::Desired::default()
                }))
            },
        ),
        case(
            "secret shell line",
            |host| {
                let set = Reply::exit(0).effect(|host, _| host.put("/srv/token", SECRET));
                host.on(["/bin/sh", "-c", "login with token"], set);
            },
            || {
                Box::new(exec::Exec::new(exec::Desired {
                    command: Some(Program::Shell("login with token".into())),
                    creates: vec!["/srv/token".into()],
                    sensitive: true,
                    ..exec::Desired::default()
                }))
            },
        ),
    ]
}
