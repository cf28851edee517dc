//! The first and the last phase of the seed "Modus operandi": how a run is entered, and how
//! the catalog is applied, each with the phases it shows.

#![allow(clippy::needless_raw_string_hashes, reason = "snapshots are rewritten by a tool")]

#[path = "../../fx-puppet/tests/recorder/phases.rs"]
mod phases;

use std::path::Path;
use std::rc::Rc;

use expect_test::{Expect, expect};
use fx_engine::Cancel;
use fx_host::{Edits, MemoryHost, WriteOptions};
use fx_puppet::{Hash, Machine, Value};
use fx_puppet_apply::Request;
use phases::Phases;

fn check(host: &Rc<MemoryHost>, request: Request, expected: &Expect) {
    let machine = Machine::new(Rc::<MemoryHost>::clone(host), Cancel::default());
    let phases = Rc::new(Phases::new(None));
    machine.run().ledger.watch(Rc::<Phases>::clone(&phases));
    let certname = Some("web.example.com".to_owned());
    let _summary = fx_puppet_apply::run(&machine, &Request { trace: true, certname, ..request });
    expected.assert_eq(&phases.text());
}

fn code(text: &str) -> Request {
    Request { manifests: vec![(String::new(), text.into())], ..Request::default() }
}

#[test]
fn code_given_as_a_string_is_the_program() {
    check(
        &Rc::new(MemoryHost::linux()),
        code("notify { 'a': }"),
        &expect![[r#"
            boot web.example.com in production
            load the given text
            evaluate main
            declare Notify[a]
            select the empty node
            complete
            relate
            finish
            done
            apply Notify[a]
        "#]],
    );
}

#[test]
fn a_file_named_on_the_command_line_is_the_program() {
    let manifests = vec![("/srv/site.pp".to_owned(), b"notify { 'a': }".to_vec())];
    check(
        &Rc::new(MemoryHost::linux()),
        Request { manifests, ..Request::default() },
        &expect![[r#"
            boot web.example.com in production
            load /srv/site.pp
            evaluate main
            declare Notify[a]
            select the empty node
            complete
            relate
            finish
            done
            apply Notify[a]
        "#]],
    );
}

#[test]
fn classes_of_a_classifier_are_evaluated_after_the_node_definition() {
    let mut parameters = Hash::default();
    parameters.insert(Value::from("n"), Value::Int(2));
    let classes = vec![("web".to_owned(), parameters)];
    check(
        &Rc::new(MemoryHost::linux()),
        Request {
            classes,
            ..code("class web($n) { notify { \"web ${n}\": } }\nnode default { notify { 'n': } }")
        },
        &expect![[r#"
            boot web.example.com in production
            load the given text
            define class web
            define node
            evaluate main
            select node default
            declare Notify[n]
            evaluate Class[Web]
            declare Notify[web 2]
            complete
            relate
            finish
            done
            apply Notify[n]
            apply Notify[web 2]
        "#]],
    );
}

#[test]
fn the_application_phase_brings_resources_to_their_state_in_order() {
    check(
        &Rc::new(MemoryHost::linux()),
        code("notify { 'b': require => Notify['c'] }\nnotify { 'a': }\nnotify { 'c': }"),
        &expect![[r#"
            boot web.example.com in production
            load the given text
            evaluate main
            declare Notify[b]
            declare Notify[a]
            declare Notify[c]
            select the empty node
            complete
            relate
            finish
            done
            apply Notify[a]
            apply Notify[c]
            apply Notify[b]
        "#]],
    );
}

#[test]
fn resources_are_generated_while_the_catalog_is_applied() {
    let host = Rc::new(MemoryHost::linux());
    host.make_dir(Path::new("/d"), 0o755).expect("the fake machine takes it");
    for name in ["/d/x", "/d/y"] {
        host.write(Path::new(name), b"", &WriteOptions::default())
            .expect("the fake machine takes it");
    }
    check(
        &host,
        code(
            "file { '/d': ensure => directory, recurse => true, purge => true }\nfile { '/d/y': }",
        ),
        &expect![[r#"
            boot web.example.com in production
            load the given text
            evaluate main
            declare File[/d]
            declare File[/d/y]
            select the empty node
            complete
            relate
            finish
            done
            apply File[/d]
            generate and apply File[/d/x]
            apply File[/d/y]
        "#]],
    );
}
