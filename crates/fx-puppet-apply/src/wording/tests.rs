//! Tables of events and failures with the words of the original.

use std::path::Path;

use fx_engine::{Failure, NoProgram};
use fx_host::{Exit, HostError, Kind};

use super::*;

#[test]
fn events_have_the_words_of_the_original() {
    let text = |text: &str| text.to_owned();
    let table = [
        (Message::Created, "created"),
        (Message::ContentDefined(text("{sha256}ab")), "defined content as '{sha256}ab'"),
        (
            Message::EnsureChanged { from: text("file"), to: text("link") },
            "ensure changed 'file' to 'link'",
        ),
        (Message::Defined { property: text("home"), to: text("'/h'") }, "defined 'home' as '/h'"),
        (
            Message::Changed {
                property: text("mode"),
                from: text("'0644'"),
                to: text("'0755'"),
                letters: Some(text("u+x")),
            },
            "mode changed '0644' to '0755' (u+x)",
        ),
        (Message::ChangedSecret, "changed [redacted] to [redacted]"),
        (
            Message::Withheld { from: text("'absent'"), to: text("'file'") },
            "current_value 'absent', should be 'file' (noop)",
        ),
        (
            Message::ChangeFailed { from: text("'a'"), to: text("'b'"), why: text("no") },
            "change from 'a' to 'b' failed: no",
        ),
        (Message::Wrapped { why: text("a"), inner: text("b") }, "a\nWrapped exception:\nb"),
        (Message::Triggered(1), "Triggered 'refresh' from 1 event"),
        (Message::WouldTrigger(2), "Would have triggered 'refresh' from 2 events"),
        (Message::DependencyFailed(text("File[/a]")), "Dependency File[/a] has failures: true"),
        (
            Message::DuplicateInBucket { algorithm: "md5", sum: text("0a") },
            "FileBucket got a duplicate file {md5}0a",
        ),
        (Message::Applied { seconds: 0.125 }, "Applied catalog in 0.12 seconds"),
    ];
    for (message, expected) in table {
        assert_eq!(words(&message), expected);
    }
}

#[test]
fn failures_have_the_words_of_the_original() {
    let program = |why| Failure::NoProgram { program: "/bin/x".to_owned(), why };
    let table = [
        (program(NoProgram::Missing), "Could not find command '/bin/x'"),
        (program(NoProgram::Directory), "'/bin/x' is a directory, not a file"),
        (program(NoProgram::NotExecutable), "'/bin/x' is not executable"),
        (Failure::NoProvider("augeas".to_owned()), "Could not find a suitable provider for augeas"),
        (
            Failure::NoSource(vec!["file:///a".to_owned(), "puppet:///modules/b/c".to_owned()]),
            "Could not retrieve information from environment production source(s) file:///a, puppet:///modules/b/c",
        ),
        (
            Failure::HttpStatus { url: "http://h/x".to_owned(), status: 404, body: "no".into() },
            "Error 404 on SERVER: no",
        ),
        (
            Failure::WrongDigest { path: "/a".into(), found: "1".into(), wanted: "2".into() },
            "File written to disk did not match desired checksum; discarding changes (1 vs 2)",
        ),
        (Failure::Raised("own words".to_owned()), "own words"),
    ];
    for (failure, expected) in table {
        assert_eq!(super::failure(&failure, "production"), expected);
    }
}

#[test]
fn commands_that_end_wrongly_name_the_codes_they_may_end_with() {
    assert_eq!(codes(&[]), "['0']");
    assert_eq!(codes(&[0, 2]), "['0', '2']");
    let wrong = wrong_code(Some("/bin/false"), Exit::Code(1), &[]);
    assert_eq!(wrong, "'/bin/false' returned 1 instead of one of [0]");
    let secret = wrong_code(None, Exit::Code(1), &[0, 3]);
    assert_eq!(secret, "[command redacted] returned 1 instead of one of [0,3]");
}

#[test]
fn files_that_cannot_be_made_name_what_the_kernel_said() {
    use FileFailure::{Alone, Cause, Plain};
    let kernel = |kind| Failure::Host(HostError::io("write", "/d/f", std::io::Error::from(kind)));
    let missing = || kernel(std::io::ErrorKind::NotFound);
    let in_the_way = || Failure::InTheWay { path: "/d/f".into(), kind: Kind::Directory };
    let cause = |text: &str| Cause(text.to_owned());
    let alone = |text: &str| Alone(text.to_owned());
    let table = [
        (
            FileForm::Directory,
            false,
            missing(),
            alone("Cannot create /d/f; parent directory /d does not exist"),
        ),
        (FileForm::Link, false, missing(), cause("No such file or directory @ dir_chdir - /d")),
        (FileForm::File, false, missing(), cause("No such file or directory @ rb_sysopen - /d/f")),
        (
            FileForm::File,
            true,
            missing(),
            cause(
                "No such file or directory - A directory component in /d/fTMP.lock does not exist or is a dangling symbolic link",
            ),
        ),
        (
            FileForm::File,
            true,
            kernel(std::io::ErrorKind::NotADirectory),
            cause("Not a directory @ rb_sysopen - /d/f"),
        ),
        (FileForm::Link, false, in_the_way(), alone("Could not remove existing file")),
        (FileForm::File, true, in_the_way(), cause("Is a directory - Is a directory: /d/f")),
        (FileForm::File, false, in_the_way(), cause("Is a directory @ rb_sysopen - /d/f")),
        (
            FileForm::Directory,
            false,
            Failure::NoUser("joe".to_owned()),
            cause("Could not find user joe"),
        ),
        // A sentence that only looks like one of these is left alone.
        (FileForm::File, true, Failure::new("could not find user joe"), Plain),
        (FileForm::File, true, Failure::new("x: No such file or directory"), Plain),
    ];
    for (form, has_content, failure, expected) in table {
        let found = file_failure(form, Path::new("/d/f"), has_content, "TMP.lock", &failure);
        assert_eq!(found, expected, "{form:?} {failure}");
    }
}

#[test]
fn output_names_the_file_that_messages_name() {
    let path = Path::new("/etc/k.conf");
    for (output, shown) in [
        ("(/etc/.fx-00ff-k.conf: Line 9) no", "(/etc/k.confX: Line 9) no"),
        ("/etc/.fx-00ff-other /etc/.fx-1-k.conf", "/etc/.fx-00ff-other /etc/k.confX"),
        ("nothing", "nothing"),
    ] {
        assert_eq!(with_shown_name(output, path, "/etc/k.confX"), shown);
    }
}
