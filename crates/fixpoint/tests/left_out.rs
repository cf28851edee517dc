//! A plan is never certain and wrong about mounts: local ones are in the copy whatever they are
//! called and wherever they are, and what is about the others is marked.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test runs the program from outside"
)]

use fx_host::{OsHost, Sandbox, SandboxOptions, Spec};

const PROGRAM: &str = env!("CARGO_BIN_EXE_fixpoint");

/// Runs a line in a copy that allows mounts and copies inside.
fn machine(line: &str) -> Option<String> {
    let options = SandboxOptions { trusted: true, ..SandboxOptions::default() };
    let sandbox = match Sandbox::new(&options) {
        Ok(sandbox) => sandbox,
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            return None;
        }
    };
    let spec = Spec { merge_stderr: true, ..Spec::argv(["bash", "-c", line]) };
    let ended = sandbox.run(&OsHost::new(), &spec.env("F", PROGRAM)).unwrap();
    Some(format!("{}{:?}", String::from_utf8_lossy(&ended.stdout), ended.exit))
}

/// What is the same on the machine and wanted: a plan must find nothing to do.
const KEPT: &str = r#"set -e
mkdir -p /srv/tm /mnt/data /srv/odd $'/srv/o,d:d \\n\nx' /srv/file /srv/ro /srv/over/below /srv/many
touch /srv/file/single
for at in /srv/tm /mnt/data $'/srv/o,d:d \\n\nx' /srv/ro /srv/over/below /srv/over; do mount -t tmpfs tmpfs "$at"; done
chmod 1777 /srv/tm; chown 12:34 /mnt/data
for i in $(seq 60); do mkdir /srv/many/$i; mount -t tmpfs tmpfs /srv/many/$i; echo -n keep > /srv/many/$i/f; done
echo -n keep > /srv/tm/f; echo -n keep > /mnt/data/f; echo -n keep > $'/srv/o,d:d \\n\nx/f'; echo -n keep > /srv/ro/f
echo -n keep > /srv/over/f; mount -o remount,ro /srv/ro
echo -n keep > /srv/tm/source; mount --bind /srv/tm/source /srv/file/single
cat > /srv/tm/site.pp <<'END'
file { ['/srv/tm/f', '/mnt/data/f', "/srv/o,d:d \\n\nx/f", '/srv/ro/f', '/srv/over/f', '/srv/file/single', '/srv/many/1/f', '/srv/many/60/f']: content => 'keep' }
file { '/srv/tm': mode => '1777' }
file { '/mnt/data': owner => 12, group => 34 }
END
"#;

#[test]
fn local_mounts_of_all_kinds_are_in_the_copy() {
    let line = format!(
        "{KEPT} $F plan /srv/tm/site.pp; echo plan $?; $F try /srv/tm/site.pp; echo try $?"
    );
    let Some(told) = machine(&line) else { return };
    assert!(told.contains("10 kept, 0 repaired"), "{told}");
    assert!(told.contains("plan 0\n"), "{told}");
    assert!(told.contains("file system\n  unchanged\n") && told.contains("try 0\n"), "{told}");
}

#[test]
fn changes_on_such_mounts_are_told_and_not_made() {
    let line = format!(
        "{KEPT} sed -i 's/keep/other/' /srv/tm/site.pp; $F try --runs 1 /srv/tm/site.pp || echo try $?; cat /srv/tm/f /mnt/data/f /srv/file/single /srv/many/60/f"
    );
    let Some(told) = machine(&line) else { return };
    for path in ["/srv/tm/f", "/mnt/data/f", "/srv/many/60/f"] {
        assert!(told.contains(&format!("  changed    {path} ")), "{path}: {told}");
    }
    assert!(told.contains("  changed    /srv/o,d:d \\n\\nx/f "), "{told}");
    // A read-only mount is one in the copy as well.
    assert!(told.contains("try 1") && !told.contains("changed    /srv/ro/f"), "{told}");
    assert!(told.ends_with("keepkeepkeepkeepCode(0)"), "{told}");
}

/// A file system of the kernel stands for one of another machine: neither is copied.
const ABSENT: &str = r#"set -e
mkdir -p /srv/net /srv/p; mount -t proc proc /srv/net; cd /srv/p
cat > a.cf <<'END'
bundle agent main
{
 files:
  "/srv/before" create => "true";
  "/srv/net/f" create => "true";
  "/srv/after" create => "true";
}
END
cat > a.pp <<'END'
file { '/srv/before': content => 'x' } -> file { 'titled': path => '/srv/net/f', content => 'x' } -> file { '/srv/after': content => 'x' }
END
cat > a.rb <<'END'
file '/srv/before'
file 'titled' do
  path '/srv/net/f'
end
file '/srv/after'
END
cat > run.pp <<'END'
file { '/srv/before': content => 'x' } -> file { '/var/run/fx': content => 'x' }
file { '/dev/fx': content => 'x' }
END
[ -L /var/run ] || { mv /var/run /var/run.old; ln -s /run /var/run; }
set +e
"#;

#[test]
fn what_is_about_a_mount_that_was_not_copied_is_unknown() {
    let line = format!(
        "{ABSENT} for p in a.cf a.pp a.rb; do echo == $p; $F plan $p; done; echo == try; $F try --runs 1 a.cf"
    );
    let Some(told) = machine(&line) else { return };
    let (plans, tried) = told.split_once("== try").unwrap();
    for plan in plans.split("== ").skip(1) {
        let line = |name: &str| {
            plan.lines()
                .find(|line| line.contains(name))
                .unwrap_or_else(|| panic!("{name}: {plan}"))
        };
        // A file is looked at when it has its turn, and not before.
        assert!(!line("[/srv/before]").contains("unknown"), "{plan}");
        let about = if plan.starts_with("a.cf") { "[/srv/net/f]" } else { "[titled]" };
        assert!(line(about).contains("unknown: '/srv/net' is not in the copy: proc"), "{plan}");
        if let Some(after) = plan.lines().find(|line| line.contains("[/srv/after]")) {
            assert!(after.contains("unknown after"), "{plan}");
        }
    }
    assert!(tried.contains("not in the copy\n  /srv/net (proc)\n"), "{tried}");
}

#[test]
fn what_is_about_the_trees_of_the_copy_s_own_is_unknown() {
    let line = format!(
        "{ABSENT} $F plan run.pp; $F plan --format json run.pp | grep -c unknown_because.:.*own"
    );
    let Some(told) = machine(&line) else { return };
    for name in ["[/var/run/fx]", "[/dev/fx]"] {
        let line = told.lines().find(|line| line.contains(name)).unwrap();
        assert!(line.contains("unknown"), "{told}");
    }
    assert!(told.contains("is not in the copy: a copy has its own"), "{told}");
    assert!(told.contains("\n2\n"), "{told}");
}
