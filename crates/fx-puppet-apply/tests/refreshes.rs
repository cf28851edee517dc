//! Commands that are notified, after a failure and with one.

use std::path::Path;

use fx_host::{Edits, Reply};

#[path = "support/lines.rs"]
mod lines;

use lines::{apply, machine};

/// Recorded from Puppet 7.23.
#[test]
fn what_failed_is_notified_all_the_same() {
    let host = machine(&[("/bin/sh", ""), ("/bin/first", ""), ("/bin/never", "")]);
    for name in ["/bin/first", "/bin/never"] {
        host.set_mode(Path::new(name), 0o755).unwrap();
    }
    host.on(["/bin/sh", "-c", "/bin/first"], Reply::exit(1));
    host.on(["/bin/sh", "-c", "/bin/first"], Reply::exit(0));
    host.on(["/bin/sh", "-c", "/bin/never"], Reply::exit(1));
    let lines = apply(
        &host,
        "notify { 'n': notify => [Exec['/bin/first'], Exec['/bin/never']] }
         exec { '/bin/first': }
         exec { '/bin/never': }",
    );
    let lines: Vec<&str> =
        lines.iter().filter_map(|line| line.split_once("Exec[")).map(|two| two.1).collect();
    assert_eq!(
        lines,
        [
            "/bin/first]",
            "/bin/never]",
            "/bin/first]/returns: change from 'notrun' to ['0'] failed: '/bin/first' returned 1 instead of one of [0]",
            "/bin/first]: Triggered 'refresh' from 1 event",
            "/bin/never]/returns: change from 'notrun' to ['0'] failed: '/bin/never' returned 1 instead of one of [0]",
            "/bin/never]: Failed to call refresh: '/bin/never' returned 1 instead of one of [0]",
            "/bin/never]: '/bin/never' returned 1 instead of one of [0]",
        ]
    );
}

/// Recorded from Puppet 7.23.
#[test]
fn what_a_command_printed_is_shown_where_its_refresh_fails() {
    let programs = ["/bin/go", "/bin/a", "/bin/b", "/bin/d", "/bin/e"];
    let host = machine(&[("/bin/sh", "")]);
    for name in programs {
        host.put_program(name);
    }
    host.on(["/bin/sh", "-c", "/bin/go"], Reply::exit(0));
    for name in ["/bin/a", "/bin/b"] {
        host.on(["/bin/sh", "-c", name], Reply::exit(3).stdout(format!("of {name}\n")));
    }
    let late = Reply::ending(fx_host::Exit::TimedOut).stdout("of /bin/d\n");
    host.on(["/bin/sh", "-c", "/bin/d"], late);
    host.on(["/bin/sh", "-c", "/bin/e"], Reply::exit(0));
    let lines = apply(
        &host,
        "exec { '/bin/go': notify => [Exec['/bin/a'], Exec['/bin/b'], Exec['/bin/d'], Exec['/bin/e']] }
         exec { '/bin/a': refreshonly => true }
         exec { '/bin/b': refreshonly => true, logoutput => false }
         exec { '/bin/d': refreshonly => true }
         exec { '/bin/e': refresh => '/bin/nosuch x' }",
    );
    let lines = lines.iter().filter(|line| !line.contains("Scheduling"));
    let lines: Vec<&str> =
        lines.filter_map(|line| line.split_once("Main/Exec[")).map(|two| two.1).collect();
    assert_eq!(
        lines,
        [
            "/bin/go]/returns: executed successfully",
            "/bin/a]/returns: of /bin/a",
            "/bin/a]: Failed to call refresh: '/bin/a' returned 3 instead of one of [0]",
            "/bin/a]: '/bin/a' returned 3 instead of one of [0]",
            "/bin/b]: Failed to call refresh: '/bin/b' returned 3 instead of one of [0]",
            "/bin/b]: '/bin/b' returned 3 instead of one of [0]",
            "/bin/d]: Failed to call refresh: Command exceeded timeout",
            "/bin/d]: Command exceeded timeout",
            "/bin/e]/returns: executed successfully",
            "/bin/e]: Failed to call refresh: Could not find command '/bin/nosuch'",
            "/bin/e]: Could not find command '/bin/nosuch'",
        ]
    );
}
