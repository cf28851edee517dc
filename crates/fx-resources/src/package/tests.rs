//! Packages against captured output of each manager: what is queried, read and reported.

use std::rc::Rc;

use fx_engine::{Change, Resource};
use fx_host::{MemoryHost, Reply};

use super::backend::{Action, Dialect, Item, Managers, Settings, Verb};
use super::{Desired, Ensure, Package, detect, named};

fn show(changes: &[Change]) -> String {
    let line = |change: &Change| format!("{}: {} -> {}\n", change.property, change.from, change.to);
    changes.iter().map(line).collect::<String>().trim_end().to_owned()
}

// What is found out of order, and the changing commands given for it.
fn check(host: &MemoryHost, manager: &str, desired: Desired, expected: &str, commands: &[&str]) {
    let name = format!("{manager} {desired:?}");
    host.on_any(|_, spec| {
        let line = spec.display();
        let asks = ["policy", " list", "-Q", "-Si", "freeze", "index", "info", "rpm -q", "locks"];
        (!asks.iter().any(|word| line.contains(word))).then(Reply::default)
    });
    host.clear_calls();
    let mut package = Package::new(desired, named(manager).unwrap());
    let changes = package.observe(host).unwrap();
    assert_eq!(show(&changes), expected, "{name}");
    host.clear_calls();
    if !changes.is_empty() {
        package.apply(host, &changes).unwrap();
    }
    assert_eq!(host.call_lines(), commands, "{name}");
    for call in host.calls() {
        assert!(call.env.contains(&("LC_ALL".into(), Some("C".into()))), "{name}");
    }
}

fn package(name: &str, ensure: Ensure) -> Desired {
    Desired { name: name.into(), ensure, allow_downgrade: true, ..Desired::default() }
}

fn version(text: &str) -> Ensure {
    Ensure::Version(text.into())
}

const STATUS: &str = "\
Package: nginx
Status: install ok installed
Architecture: amd64
Version: 1.22.1-9

Package: vim
Status: hold ok installed
Architecture: amd64
Version: 2:9.0.1378-2

Package: old
Status: deinstall ok config-files
Architecture: amd64
Version: 1.0-1

Package: broken
Status: install reinstreq half-installed
Architecture: amd64
Version: 1.0-1
";

const POLICY: &str = "\
nginx:
  Installed: 1.22.1-9
  Candidate: 1.22.1-9+deb12u1
  Version table:
     1.22.1-9+deb12u1 500
        500 http://deb.debian.org/debian-security bookworm-security/main amd64 Packages
 *** 1.22.1-9 100
        100 /var/lib/dpkg/status
";

#[test]
fn debian_packages_are_read_from_the_record_and_changed_by_apt_get() {
    let host = MemoryHost::linux();
    host.put("/var/lib/dpkg/status", STATUS);
    host.on(["apt-cache", "policy", "nginx"], Reply::prints(POLICY));
    let unknown = "curl:\n  Installed: (none)\n  Candidate: (none)\n  Version table:\n";
    host.on(["apt-cache", "policy", "curl"], Reply::prints(unknown));
    let check = |desired, expected, commands: &[&str]| {
        check(&host, "apt", desired, expected, commands);
    };
    let install = "apt-get -q -y -o DPkg::Options::=--force-confold install";
    check(package("nginx", Ensure::Installed), "", &[]);
    check(
        package("curl", Ensure::Installed),
        "ensure: absent -> present",
        &[&format!("{install} curl")],
    );
    check(
        package("broken", Ensure::Installed),
        "ensure: absent -> present",
        &[&format!("{install} broken")],
    );
    check(
        package("nginx", Ensure::Latest),
        "ensure: 1.22.1-9 -> 1.22.1-9+deb12u1",
        &[&format!("{install} nginx=1.22.1-9+deb12u1")],
    );
    check(package("nginx", version("1.22.1-9")), "", &[]);
    check(
        package("nginx", version("1.18.0-6")),
        "ensure: 1.22.1-9 -> 1.18.0-6",
        &["apt-get -q -y -o DPkg::Options::=--force-confold --allow-downgrades install \
           nginx=1.18.0-6"],
    );
    check(
        package("nginx", Ensure::Absent),
        "ensure: 1.22.1-9 -> absent",
        &["apt-get -q -y remove nginx"],
    );
    check(package("old", Ensure::Absent), "", &[]);
    check(
        package("old", Ensure::Purged),
        "ensure: config-files -> purged",
        &["apt-get -q -y purge old"],
    );
    check(package("none", Ensure::Purged), "", &[]);
    check(Desired { hold: Some(true), ..package("vim", Ensure::Installed) }, "", &[]);
    check(
        Desired { hold: Some(false), ..package("vim", Ensure::Installed) },
        "hold: true -> false",
        &["apt-mark unhold vim"],
    );
    check(
        Desired { hold: Some(true), ..package("nginx", Ensure::Installed) },
        "hold: false -> true",
        &["apt-mark hold nginx"],
    );
    // Installing over a held package lets it go.
    check(
        Desired { hold: Some(true), ..package("vim", version("2:9.1-1")) },
        "ensure: 2:9.0.1378-2 -> 2:9.1-1",
        &[
            "apt-get -q -y -o DPkg::Options::=--force-confold --allow-change-held-packages \
             install vim=2:9.1-1",
            "apt-mark hold vim",
        ],
    );
    check(
        Desired {
            source: Some("/tmp/curl.deb".into()),
            options: vec!["--no-triggers".into()],
            ..package("curl", Ensure::Installed)
        },
        "ensure: absent -> present",
        &["dpkg --force-confold --no-triggers -i /tmp/curl.deb"],
    );
    let mut latest = Package::new(package("curl", Ensure::Latest), named("apt").unwrap());
    let failure = latest.observe(&host).unwrap_err();
    assert_eq!(failure.to_string(), "package 'curl' has no version to install");
    let call = host.calls().into_iter().find(|call| call.display().starts_with("apt-get"));
    assert!(call.is_none(), "observing starts nothing that changes");
}

#[test]
fn apt_is_never_asked_a_question_or_given_a_pattern() {
    let host = MemoryHost::linux();
    host.on_any(|_, _| Some(Reply::default()));
    let mut install = Package::new(package("curl", Ensure::Installed), named("apt").unwrap());
    let changes = install.observe(&host).unwrap();
    install.apply(&host, &changes).unwrap();
    let noninteractive = ("DEBIAN_FRONTEND".into(), Some("noninteractive".into()));
    assert!(host.calls()[0].env.contains(&noninteractive));
    // No original sets it, and it leaves copies of files that nobody asked for.
    assert!(!host.calls()[0].env.iter().any(|(name, _)| name == "UCF_FORCE_CONFFOLD"));
    for name in ["curl-", "lib*", "^a", "a b", "x;reboot", "$(id)", "--reinstall", "a\nb"] {
        let mut package = Package::new(package(name, Ensure::Installed), named("apt").unwrap());
        let failure = package.observe(&host).unwrap_err();
        assert!(failure.to_string().contains("name"), "{failure}");
    }
    assert_eq!(host.calls().len(), 1);
}

#[test]
fn a_downgrade_needs_leave() {
    let host = MemoryHost::linux();
    host.put("/var/lib/dpkg/status", STATUS);
    let desired = Desired { allow_downgrade: false, ..package("nginx", version("1.0-1")) };
    let failure = Package::new(desired, named("apt").unwrap()).observe(&host).unwrap_err();
    let expected = "package 'nginx' has version 1.22.1-9, newer than 1.0-1, and a downgrade is \
                    not allowed";
    assert_eq!(failure.to_string(), expected);
}

fn rpm(host: &MemoryHost, name: &str, reply: Reply) {
    let format = "%{EPOCHNUM} %{VERSION} %{RELEASE}\\n";
    host.on(["rpm", "-q", "--queryformat", format, name], reply);
}

fn rpm_machine() -> MemoryHost {
    let host = MemoryHost::linux();
    rpm(&host, "nginx", Reply::prints("1 1.22.1 5.fc38\n"));
    rpm(&host, "kernel", Reply::prints("0 6.2.9 300.fc38\n0 6.2.15 300.fc38\n"));
    rpm(&host, "curl", Reply::exit(1).stdout("package curl is not installed\n"));
    host
}

#[test]
fn red_hat_packages_go_through_dnf_or_yum() {
    let host = rpm_machine();
    let available = "Available Packages\n\
        nginx.x86_64                1:1.24.0-1.fc38                updates\n\
        nginx.x86_64\n                            1:1.22.9-1.fc38                fedora\n";
    host.on(["dnf", "-q", "list", "available", "nginx"], Reply::prints(available));
    let none = Reply::exit(1).stderr("Error: No matching Packages to list\n");
    host.on(["dnf", "-q", "list", "available", "kernel"], none);
    let locks = Reply::prints("nginx-1:1.22.1-5.fc38.*\nnginx-mod-0:1.0-1.*\n");
    host.on(["dnf", "-q", "versionlock", "list"], locks);
    let check = |desired, expected, commands: &[&str]| {
        check(&host, "dnf", desired, expected, commands);
    };
    check(package("nginx", Ensure::Installed), "", &[]);
    check(
        package("curl", Ensure::Installed),
        "ensure: absent -> present",
        &["dnf -q -y install curl"],
    );
    check(
        package("nginx", Ensure::Latest),
        "ensure: 1:1.22.1-5.fc38 -> 1:1.24.0-1.fc38",
        &["dnf -q -y upgrade nginx-1:1.24.0-1.fc38"],
    );
    check(package("kernel", Ensure::Latest), "", &[]);
    check(package("nginx", version("1.22.1")), "", &[]);
    check(package("nginx", version("1:1.22.1-5.fc38")), "", &[]);
    check(
        package("nginx", version("1:1.20")),
        "ensure: 1:1.22.1-5.fc38 -> 1:1.20",
        &["dnf -q -y downgrade nginx-1:1.20"],
    );
    check(
        package("kernel", Ensure::Absent),
        "ensure: 6.2.15-300.fc38 -> absent",
        &["dnf -q -y remove kernel"],
    );
    check(
        Desired { hold: Some(false), ..package("nginx", Ensure::Installed) },
        "hold: true -> false",
        &["dnf -q -y versionlock delete nginx"],
    );
    assert_eq!(named("yum").unwrap().name(), "yum");
}

#[test]
fn suse_packages_go_through_zypper() {
    let host = rpm_machine();
    let info = "\n\nInformation for package nginx:\n------------------------------\n\
        Repository     : Main Update Repository\nName           : nginx\n\
        Version        : 1.24.0-150400.3.3.1\nArch           : x86_64\n\
        Status         : out-of-date (version 1.22.1-5.fc38 installed)\n";
    let ask = ["zypper", "--quiet", "--non-interactive", "info"];
    // The epoch is left out here as zypper prints none for packages without one.
    rpm(&host, "web", Reply::prints("0 1.22.1 5\n"));
    host.on([&ask[..], &["web"]].concat(), Reply::prints(info));
    host.on([&ask[..], &["curl"]].concat(), Reply::exit(104).stdout("package 'curl' not found.\n"));
    let locks = "\n# | Name  | Type    | Repository | Comment\n--+-------+---------+----\n\
        1 | nginx | package | (any)      |\n";
    host.on(["zypper", "--quiet", "--non-interactive", "locks"], Reply::prints(locks));
    let check = |desired, expected, commands: &[&str]| {
        check(&host, "zypper", desired, expected, commands);
    };
    let install = "zypper --quiet --non-interactive install --auto-agree-with-licenses";
    check(
        package("web", Ensure::Latest),
        "ensure: 1.22.1-5 -> 1.24.0-150400.3.3.1",
        &[&format!("{install} web=1.24.0-150400.3.3.1")],
    );
    check(
        package("web", version("1.0")),
        "ensure: 1.22.1-5 -> 1.0",
        &[&format!("{install} --oldpackage web=1.0")],
    );
    check(
        package("web", Ensure::Purged),
        "ensure: 1.22.1-5 -> purged",
        &["zypper --quiet --non-interactive remove web"],
    );
    check(Desired { hold: Some(true), ..package("nginx", Ensure::Installed) }, "", &[]);
    let mut latest = Package::new(package("curl", Ensure::Latest), named("zypper").unwrap());
    assert!(latest.observe(&host).is_err());
}

#[test]
fn alpine_packages_are_read_from_the_database_and_changed_by_apk() {
    let host = MemoryHost::linux();
    host.put(
        "/lib/apk/db/installed",
        "C:Q1abc=\nP:musl\nV:1.2.4-r2\nA:x86_64\nF:lib\nR:ld-musl.so\n\n\
         C:Q1def=\nP:nginx\nV:1.24.0-r7\nA:x86_64\n\n",
    );
    let policy = "nginx policy:\n  1.24.0-r7:\n    lib/apk/db/installed\n  1.24.0-r10:\n    \
        https://dl-cdn.alpinelinux.org/alpine/v3.18/main\n  1.26.0-r0:\n";
    host.on(["apk", "policy", "nginx"], Reply::prints(policy));
    let check = |desired, expected, commands: &[&str]| {
        check(&host, "apk", desired, expected, commands);
    };
    check(package("musl", Ensure::Installed), "", &[]);
    check(
        package("curl", version("8.1-r0")),
        "ensure: absent -> 8.1-r0",
        &["apk --no-progress add curl=8.1-r0"],
    );
    check(
        package("nginx", Ensure::Latest),
        "ensure: 1.24.0-r7 -> 1.24.0-r10",
        &["apk --no-progress add --upgrade nginx"],
    );
    check(
        package("nginx", Ensure::Purged),
        "ensure: 1.24.0-r7 -> purged",
        &["apk --no-progress del --purge nginx"],
    );
}

#[test]
fn arch_packages_go_through_pacman() {
    let host = MemoryHost::linux();
    host.on(["pacman", "-Q", "--", "nginx"], Reply::prints("nginx 1.24.0-1\n"));
    let none = Reply::exit(1).stderr("error: package 'curl' was not found\n");
    host.on(["pacman", "-Q", "--", "curl"], none);
    let info = "Repository      : extra\nName            : nginx\nVersion         : 1.26.0-1\n";
    host.on(["pacman", "-Si", "--", "nginx"], Reply::prints(info));
    let check = |desired, expected, commands: &[&str]| {
        check(&host, "pacman", desired, expected, commands);
    };
    let pacman = "pacman --noconfirm --noprogressbar";
    check(
        package("curl", Ensure::Installed),
        "ensure: absent -> present",
        &[&format!("{pacman} -S -- curl")],
    );
    check(
        package("nginx", Ensure::Latest),
        "ensure: 1.24.0-1 -> 1.26.0-1",
        &[&format!("{pacman} -S -- nginx")],
    );
    check(
        package("nginx", Ensure::Absent),
        "ensure: 1.24.0-1 -> absent",
        &[&format!("{pacman} -R -- nginx")],
    );
    let mut wrong = Package::new(package("curl", version("1")), named("pacman").unwrap());
    let changes = wrong.observe(&host).unwrap();
    assert!(
        wrong.apply(&host, &changes).unwrap_err().to_string().contains("cannot choose a version")
    );
}

#[test]
fn python_packages_go_through_pip_whatever_their_spelling() {
    let host = MemoryHost::linux();
    let freeze = "pip==23.0.1\nzope.interface==5.5.2\nrequests==2.28.1\n-e git+x#egg=y\n";
    host.on(["pip3", "freeze", "--all"], Reply::prints(freeze));
    let versions = "requests (2.31.0)\nAvailable versions: 2.31.0, 2.30.0\n  INSTALLED: 2.28.1\n";
    host.on(["pip3", "index", "versions", "requests"], Reply::prints(versions));
    let check = |desired, expected, commands: &[&str]| {
        check(&host, "pip3", desired, expected, commands);
    };
    check(package("Zope_Interface", Ensure::Installed), "", &[]);
    check(
        package("requests", Ensure::Latest),
        "ensure: 2.28.1 -> 2.31.0",
        &["pip3 install -q --upgrade requests==2.31.0"],
    );
    check(
        package("flask", version("2.2")),
        "ensure: absent -> 2.2",
        &["pip3 install -q flask==2.2"],
    );
    check(
        package("requests", Ensure::Absent),
        "ensure: 2.28.1 -> absent",
        &["pip3 uninstall -q -y requests"],
    );
}

#[test]
fn ruby_packages_go_through_gem_which_keeps_several_versions() {
    let host = MemoryHost::linux();
    let local = "\n*** LOCAL GEMS ***\n\nrake (13.0.6, default: 12.3.3)\n";
    host.on(["gem", "list", "--local", "--exact", "rake"], Reply::prints(local));
    host.on(["gem", "list", "--local", "--exact", "pg"], Reply::prints("\n*** LOCAL GEMS ***\n\n"));
    let remote = "\n*** REMOTE GEMS ***\n\nrake (13.1.0)\n";
    host.on(["gem", "list", "--remote", "--exact", "rake"], Reply::prints(remote));
    let check = |desired, expected, commands: &[&str]| {
        check(&host, "gem", desired, expected, commands);
    };
    check(package("rake", version("12.3.3")), "", &[]);
    check(
        package("rake", Ensure::Latest),
        "ensure: 13.0.6 -> 13.1.0",
        &["gem install --no-document --version 13.1.0 rake"],
    );
    check(
        package("pg", version("1.4")),
        "ensure: absent -> 1.4",
        &["gem install --no-document --version 1.4 pg"],
    );
    check(
        package("rake", Ensure::Absent),
        "ensure: 13.0.6 -> absent",
        &["gem uninstall --all --executables rake"],
    );
}

#[test]
fn the_manager_of_the_machine_is_found() {
    let table = [("/usr/bin/apt-get", "apt"), ("/usr/bin/dnf", "dnf"), ("/sbin/apk", "apk")];
    for (program, expected) in table {
        let host = MemoryHost::linux();
        host.put_program(program);
        assert_eq!(detect(&host).unwrap().name(), expected);
    }
    assert!(detect(&MemoryHost::linux()).is_err());
    assert!(named("brew").is_err());
    let shared = named("apt").unwrap();
    assert_eq!(Rc::strong_count(&shared), 1);
}

/// The words of Chef: manager, verb, and the line for two packages of which one has a version.
const CHEF: &[(&str, Verb, &[&str])] = &[
    (
        "apt",
        Verb::Install,
        &["apt-get -q -y --allow-downgrades -o Dpkg::Options::=--force-confnew \
           -o APT::Default-Release=stable --opt install a=1 b"],
    ),
    ("apt", Verb::Remove, &["apt-get -q -y --opt remove a b"]),
    ("apt", Verb::Purge, &["apt-get -q -y --opt purge a b"]),
    ("apt", Verb::Hold, &["apt-mark --opt hold a b"]),
    ("apt", Verb::Reconfigure, &["dpkg-reconfigure --opt a b"]),
    ("dpkg", Verb::Remove, &["dpkg -r --opt a b"]),
    ("rpm", Verb::Remove, &["rpm --opt -e a b"]),
    ("dnf", Verb::Install, &["dnf -y --opt install a-1 b"]),
    ("yum", Verb::Upgrade, &["yum -y --opt upgrade a-1 b"]),
    ("dnf", Verb::Remove, &["dnf -y --opt remove a b"]),
    ("dnf", Verb::Hold, &["dnf -y versionlock add a b"]),
    (
        "zypper",
        Verb::Install,
        &["zypper --global --non-interactive --no-gpg-checks install \
           --auto-agree-with-licenses --opt a=1 b"],
    ),
    (
        "zypper",
        Verb::Unhold,
        &["zypper --global --non-interactive --no-gpg-checks removelock --opt a b"],
    ),
    ("pacman", Verb::Install, &["pacman --sync --noconfirm --noprogressbar --opt a b"]),
    ("pacman", Verb::Remove, &["pacman --remove --noconfirm --noprogressbar --opt a b"]),
    (
        "gem",
        Verb::Install,
        &[
            "/opt/gem install a -q --no-document -v 1 --opt",
            "/opt/gem install b -q --no-document --opt",
        ],
    ),
    (
        "gem",
        Verb::Remove,
        &["/opt/gem uninstall a -q -x -I -a", "/opt/gem uninstall b -q -x -I -a"],
    ),
];

#[test]
fn chef_calls_the_same_tools_in_its_own_words() {
    let settings = Settings {
        program: Some("/opt/gem".into()),
        global_options: vec!["--global".into()],
        default_release: Some("stable".into()),
        replace_config: true,
        unchecked: true,
    };
    let items = [
        Item { name: "a", version: Some("1"), source: None },
        Item { name: "b", ..Item::default() },
    ];
    let options = ["--opt".to_owned()];
    for (manager, verb, expected) in CHEF {
        let backend = Managers::default().named(manager, Dialect::Chef(settings.clone())).unwrap();
        let downgrade = *manager == "apt";
        let action =
            Action { verb: *verb, items: &items, options: &options, downgrade, held: false };
        let lines: Vec<String> =
            backend.commands(&action).unwrap().iter().map(fx_host::Spec::display).collect();
        assert_eq!(lines, *expected, "{manager} {verb:?}");
    }
}

#[test]
fn a_virtual_name_has_its_providers_and_no_version() {
    let host = MemoryHost::linux();
    let none = "ncurses-dev:\n  Installed: (none)\n  Candidate: (none)\n";
    host.on(["apt-cache", "policy", "ncurses-dev"], Reply::prints(none));
    let shown = "Versions: \n\nReverse Depends: \n  x,ncurses-dev\nProvides: \nReverse Provides: \n\
                 libncurses-dev 6.4-4 (= )\nlibncurses-dev 6.4-2 (= )\n";
    host.on(["apt-cache", "showpkg", "ncurses-dev"], Reply::prints(shown));
    host.on(["apt-cache", "showpkg", "none"], Reply::prints(""));
    let apt = Managers::default().named("apt", Dialect::Chef(Settings::default())).unwrap();
    assert_eq!(apt.candidate(&host, "ncurses-dev").unwrap(), None);
    assert_eq!(apt.providers(&host, "ncurses-dev").unwrap(), ["libncurses-dev"]);
    assert!(apt.providers(&host, "none").unwrap().is_empty());
}
