//! Distributions and the classes that tell them apart, recorded from cf-agent 3.21 on machines
//! with these files.

use std::cell::RefCell;
use std::rc::Rc;

use fx_cfengine::Request;
use fx_engine::{Cancel, Event, Ledger, Run, Sink};
use fx_host::MemoryHost;
use fx_source::SourceMap;

const POLICY: &str = r#"
bundle agent main
{
  vars:
      "c" slist => sort(classesmatching("(redhat|rhel|centos|rocky|ol|oracle|fedora|amzn|amazon_linux|AmazonLinux|sles|suse|SUSE|SuSE|SLES|opensuse|ubuntu|debian|raspbian|linuxmint|arch|alpine|gentoo|devuan|systemd).*"), "lex");
  reports:
      "$(sys.flavor) | $(sys.os_name_human) | $(sys.os_version_major) | $(with)" with => join(" ", c);
}
"#;

#[derive(Default)]
struct Reports(RefCell<Vec<String>>);

impl Sink for Reports {
    fn event(&self, event: &Event<'_>) {
        if let Event::Note { code: "cf.report", fields, .. } = event {
            let text = fields.iter().find(|(key, _)| key == "text").map(|(_, text)| text);
            self.0.borrow_mut().extend(text.map(ToString::to_string));
        }
    }
}

fn told_of(files: &[(&str, &str)]) -> String {
    let host = MemoryHost::linux();
    for (path, text) in files {
        host.put(path, text);
    }
    host.put_mode("/policy/main.cf", POLICY, 0o600);
    let request =
        Request { file: Some("/policy/main.cf".to_owned()), no_lock: true, ..Request::default() };
    let ledger = Ledger::new();
    let reports = Rc::new(Reports::default());
    ledger.watch(Rc::<Reports>::clone(&reports));
    let cancel = Cancel::default();
    let run = Run::new(&host, &ledger, &cancel);
    let summary = fx_cfengine_agent::run(run, &SourceMap::new(), &request);
    assert_eq!(summary.code, 0, "{files:?}");
    reports.0.take().join("\n")
}

#[test]
fn classes_are_those_of_the_files_a_distribution_keeps() {
    let table: &[(&[(&str, &str)], &str)] = &[
        (
            &[
                ("/etc/os-release", "ID=\"rhel\"\nVERSION_ID=\"9.3\"\n"),
                ("/etc/redhat-release", "Red Hat Enterprise Linux release 9.3 (Plow)\n"),
            ],
            "redhat_9 | RHEL | 9 | redhat redhat_9 redhat_9_3 rhel rhel_9 rhel_9_3",
        ),
        (
            &[
                ("/etc/os-release", "ID=\"centos\"\nID_LIKE=\"rhel fedora\"\nVERSION_ID=\"7\"\n"),
                ("/etc/redhat-release", "CentOS Linux release 7.9.2009 (Core)\n"),
            ],
            "centos_7 | CentOS | 7 | centos centos_7 centos_7_9 redhat",
        ),
        (
            &[
                ("/etc/os-release", "ID=\"rocky\"\nID_LIKE=\"rhel centos\"\nVERSION_ID=\"8.9\"\n"),
                ("/etc/redhat-release", "Rocky Linux release 8.9 (Green Obsidian)\n"),
            ],
            "rocky_8 | RHEL | 8 | redhat rocky rocky_8 rocky_8_9",
        ),
        (
            &[
                ("/etc/os-release", "ID=\"ol\"\nVERSION_ID=\"8.8\"\n"),
                ("/etc/redhat-release", "Red Hat Enterprise Linux release 8.8 (Ootpa)\n"),
                ("/etc/oracle-release", "Oracle Linux Server release 8.8\n"),
            ],
            "oracle_8 | RHEL | 8 | ol ol_8 ol_8_8 oracle oracle_8 oracle_8_8 redhat redhat_8 redhat_8_8",
        ),
        (
            &[
                ("/etc/os-release", "ID=fedora\nVERSION_ID=39\n"),
                ("/etc/redhat-release", "Fedora release 39 (Thirty Nine)\n"),
                ("/etc/fedora-release", "Fedora release 39 (Thirty Nine)\n"),
            ],
            "fedora_39 | Fedora | 39 | fedora fedora_39 redhat",
        ),
        (
            &[
                ("/etc/os-release", "ID=\"amzn\"\nVERSION_ID=\"2\"\n"),
                ("/etc/system-release", "Amazon Linux release 2 (Karoo)\n"),
            ],
            "AmazonLinux | Unknown | Unknown | AmazonLinux amazon_linux amazon_linux__Karoo_ amzn amzn_2",
        ),
        (
            &[("/etc/os-release", "ID=\"sles\"\nVERSION_ID=\"15.4\"\n")],
            "sles_15 | SUSE | 15 | sles sles_15 sles_15_4 suse suse_15 suse_15_4",
        ),
        (
            &[("/etc/os-release", "ID=\"opensuse-leap\"\nVERSION_ID=\"15.5\"\n")],
            "opensuse_leap_15 | OpenSUSE | 15 | opensuse opensuse_leap opensuse_leap_15 opensuse_leap_15_5",
        ),
        (
            &[
                ("/etc/os-release", "ID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"22.04\"\n"),
                ("/etc/debian_version", "bookworm/sid\n"),
                ("/etc/issue", "Ubuntu 22.04.3 LTS \\n \\l\n"),
            ],
            "ubuntu_22 | Ubuntu | 22 | debian debian_bookworm ubuntu ubuntu_22 ubuntu_22_04",
        ),
        (
            &[
                ("/etc/os-release", "ID=debian\nVERSION_ID=\"10\"\n"),
                ("/etc/debian_version", "10.13\n"),
                ("/etc/issue", "Debian GNU/Linux 10 \\n \\l\n"),
            ],
            "debian_10 | Debian | 10 | debian debian_10 debian_10_13",
        ),
        (
            &[
                ("/etc/os-release", "ID=raspbian\nID_LIKE=debian\nVERSION_ID=\"11\"\n"),
                ("/etc/debian_version", "11.8\n"),
            ],
            "debian_11 | Debian | 11 | debian debian_11 debian_11_8 raspbian raspbian_11",
        ),
        (
            &[(
                "/etc/os-release",
                "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\nVERSION_ID=\"21.2\"\n",
            )],
            "linuxmint_21 | Unknown | 21 | linuxmint linuxmint_21 linuxmint_21_2",
        ),
        (
            &[
                ("/etc/os-release", "ID=alpine\nVERSION_ID=3.18.4\n"),
                ("/etc/alpine-release", "3.18.4\n"),
            ],
            "alpinelinux | Unknown | Unknown | alpine alpine_3 alpine_3_18 alpine_3_18_4 alpine_linux alpine_linux_3_18_4 alpinelinux",
        ),
        (
            &[
                ("/etc/os-release", "ID=gentoo\nVERSION_ID=\"2.14\"\n"),
                ("/etc/gentoo-release", "Gentoo Base System release 2.14\n"),
            ],
            "gentoo | Unknown | Unknown | gentoo gentoo_2 gentoo_2_14",
        ),
    ];
    for (files, expected) in table {
        assert_eq!(told_of(files), *expected, "{files:?}");
    }
}

/// What init stands for is looked up behind its links.
#[test]
fn a_machine_that_systemd_started_is_told_so() {
    let told = |program: &str| {
        let host = [("/etc/os-release", "ID=devuan\nVERSION_ID=4\n"), ("/proc/1/cmdline", program)];
        told_of(&host)
    };
    let with = "devuan_4 | Unknown | 4 | devuan devuan_4 systemd";
    let without = "devuan_4 | Unknown | 4 | devuan devuan_4";
    assert_eq!(told("/lib/systemd/systemd\0--system\0"), with);
    assert_eq!(told("/sbin/init\0"), without);
    assert_eq!(told("systemd\0"), without);
    let sign = [
        ("/etc/os-release", "ID=devuan\nVERSION_ID=4\n"),
        ("/proc/1/cmdline", "first\0"),
        ("/run/systemd/system/x", ""),
    ];
    assert_eq!(told_of(&sign), with);
}
