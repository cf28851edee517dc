//! The records of a fleet, on every engine that there is.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "support/cluster.rs"]
mod support;

use fx_fleet::{
    Added, AuthorityRecord, CatalogRecord, Error, EventRecord, FactsRecord, Fleet, Issued,
    ListRecord, Query, ReportRecord, RequestRecord, ResourceRecord, State,
};

/// Runs a test on each engine; the function opens the same store again each time it is called.
fn on_each(test: impl Fn(&dyn Fn() -> Fleet)) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fleet.db");
    test(&|| Fleet::sqlite(&file).unwrap());
    if let Some(cluster) = support::cluster() {
        let url = cluster.database();
        test(&|| Fleet::postgres(&url).unwrap());
    }
}

fn with_authority(fleet: &Fleet) {
    let authority = AuthorityRecord { chain: "chain".into(), next_serial: 2 };
    let list = ListRecord { number: 0, written: 5, own: "own".into(), above: "above".into() };
    assert_eq!(fleet.found(&authority, &list, &[], &[], &[]), Ok(true));
}

fn issued(name: &str, serial: u64) -> Issued {
    Issued {
        serial: format!("{serial:X}"),
        name: name.into(),
        text: format!("pem of {name}"),
        not_before: 1,
        not_after: 2,
        revoked: None,
    }
}

fn request(name: &str) -> RequestRecord {
    RequestRecord { name: name.into(), received: 7, text: "request".into() }
}

#[test]
fn a_name_goes_from_request_to_certificate_to_revocation() {
    on_each(|open| {
        let fleet = open();
        with_authority(&fleet);
        assert_eq!(fleet.state("n1"), Ok(None));
        assert_eq!(fleet.add_request(&request("n1")), Ok(Added::Stored));
        assert_eq!(fleet.add_request(&request("n1")), Ok(Added::Taken(State::Requested)));
        assert_eq!(fleet.requests().unwrap(), [request("n1")]);
        let one = issued("n1", fleet.take_serial().unwrap());
        fleet.issue(&one, false).unwrap();
        assert_eq!(fleet.request("n1"), Ok(None));
        assert_eq!(fleet.add_request(&request("n1")), Ok(Added::Taken(State::Signed)));
        let mut lists = Vec::new();
        let mut revoke = |fleet: &Fleet| {
            fleet.revoke(&["n1".into()], 9, |all, number| {
                lists.push((all.to_vec(), number));
                Ok(format!("list {number}"))
            })
        };
        revoke(&fleet).unwrap();
        revoke(&fleet).unwrap();
        assert_eq!(lists, [(vec![("2".to_owned(), 9)], 1)], "once only");
        let again = open();
        assert_eq!(again.state("n1"), Ok(Some(State::Revoked)));
        assert_eq!(again.certificate("n1").unwrap().unwrap().revoked, Some(9));
        let list = again.revocation_list().unwrap().unwrap();
        assert_eq!((list.number, list.own.as_str(), list.above.as_str()), (1, "list 1", "above"));
        assert_eq!(again.clean("n1"), Ok(true));
        assert_eq!(again.clean("n1"), Ok(false));
        assert_eq!(again.add_request(&request("n1")), Ok(Added::Stored));
        assert_eq!(again.revocations().unwrap(), [("2".to_owned(), 9)], "it stays revoked");
    });
}

#[test]
fn neither_a_serial_number_nor_a_name_is_given_twice() {
    on_each(|open| {
        with_authority(&open());
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let fleet = open();
                std::thread::spawn(move || {
                    let serials: Vec<u64> = (0..20).map(|_| fleet.take_serial().unwrap()).collect();
                    let won = fleet.issue(&issued("same", serials[0]), false).is_ok();
                    (serials, won)
                })
            })
            .collect();
        let ended: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert_eq!(ended.iter().filter(|(_, won)| *won).count(), 1);
        let mut serials: Vec<u64> = ended.into_iter().flat_map(|(serials, _)| serials).collect();
        serials.sort_unstable();
        assert_eq!(serials, (2..82).collect::<Vec<u64>>());
        let fleet = open();
        let taken = fleet.certificate("same").unwrap().unwrap();
        let other = Issued { name: "other".into(), ..taken };
        assert!(matches!(fleet.issue(&other, false), Err(Error::Taken(_))));
    });
}

#[test]
fn a_renewed_certificate_replaces_the_one_before_and_both_can_be_revoked() {
    on_each(|open| {
        let fleet = open();
        with_authority(&fleet);
        fleet.issue(&issued("n1", 2), false).unwrap();
        fleet.issue(&issued("n1", 3), true).unwrap();
        assert_eq!(fleet.certificate("n1").unwrap().unwrap().serial, "3");
        fleet.revoke(&["n1".into()], 9, |_, _| Ok("list".into())).unwrap();
        let revoked = fleet.revocations().unwrap();
        assert_eq!(revoked, [("2".to_owned(), 9), ("3".to_owned(), 9)]);
    });
}

#[test]
fn a_list_that_cannot_be_signed_revokes_nothing() {
    on_each(|open| {
        let fleet = open();
        with_authority(&fleet);
        fleet.issue(&issued("n1", 2), false).unwrap();
        let failed = fleet.revoke(&["n1".into()], 9, |_, _| Err("no key".into()));
        assert_eq!(failed, Err(Error::Caller("no key".into())));
        assert_eq!(fleet.state("n1"), Ok(Some(State::Signed)));
    });
}

#[test]
fn an_authority_is_founded_once() {
    on_each(|open| {
        with_authority(&open());
        let other = AuthorityRecord { chain: "other".into(), next_serial: 1 };
        let list = ListRecord { number: 0, written: 5, own: String::new(), above: String::new() };
        assert_eq!(open().found(&other, &list, &[issued("n9", 9)], &[], &[]), Ok(false));
        assert_eq!(open().authority().unwrap().unwrap().chain, "chain");
        assert_eq!(open().certificates(), Ok(vec![]));
    });
}

fn facts(node: &str, produced: u64, body: &str) -> FactsRecord {
    FactsRecord {
        node: node.into(),
        environment: "production".into(),
        produced,
        received: 3,
        producer: None,
        hash: format!("hash of {body}"),
        body: body.into(),
    }
}

fn catalog(node: &str, titles: &[&str]) -> CatalogRecord {
    let resource = |title: &&str| ResourceRecord {
        kind: "Host".into(),
        title: (*title).into(),
        is_exported: true,
        file: None,
        line: None,
        tags: "[\"host\"]".into(),
        parameters: "{\"ip\":\"10.0.0.1\"}".into(),
        hash: (*title).into(),
    };
    CatalogRecord {
        node: node.into(),
        environment: "production".into(),
        hash: titles.join(","),
        resources: titles.iter().map(resource).collect(),
        ..CatalogRecord::default()
    }
}

fn report(hash: &str, received: u64) -> ReportRecord {
    let event = EventRecord { status: "success".into(), at: 1, ..EventRecord::default() };
    ReportRecord {
        hash: hash.into(),
        node: "n3".into(),
        environment: "production".into(),
        status: "changed".into(),
        is_noop: true,
        received,
        produced: received,
        body: hash.into(),
        events: vec![event],
        ..ReportRecord::default()
    }
}

/// What a query finds of one column.
fn column(fleet: &Fleet, query: &str, name: &str) -> Vec<String> {
    let query = Query::parse(query, None).unwrap();
    let rows = fleet.query(&query, false).unwrap().rows;
    rows.iter().map(|row| row[name].to_string()).collect()
}

#[test]
fn what_nodes_leave_is_there_after_opening_again() {
    on_each(|open| {
        let fleet = open();
        fleet.save_facts(&facts("n1", 1, "{\"a\":1,\"gone\":{\"x\":[1]}}")).unwrap();
        fleet.save_facts(&facts("n1", 2, "{\"a\":2,\"new\":true}")).unwrap();
        fleet.save_catalog(&catalog("n2", &["a", "b"])).unwrap();
        fleet.save_catalog(&catalog("n2", &["b"])).unwrap();
        fleet.save_report(&report("r1", 10)).unwrap();
        fleet.save_report(&report("r2", 20)).unwrap();
        fleet.save_report(&report("r2", 30)).unwrap();
        fleet.save_blob("d1", b"content", Some("etc/motd")).unwrap();
        fleet.save_blob("d1", b"content", Some("etc/issue")).unwrap();
        let again = open();
        assert_eq!(again.facts("n1"), Ok(Some(facts("n1", 2, "{\"a\":2,\"new\":true}"))));
        let values = column(&again, "fact_contents { order by name }", "value");
        assert_eq!(values, ["2", "true"], "what is gone left no rows");
        let titles = column(&again, "resources { parameters.ip = '10.0.0.1' }", "title");
        assert_eq!(titles, ["\"b\""]);
        assert_eq!(again.nodes().unwrap(), ["n1", "n2", "n3"]);
        let hashes = |fleet: &Fleet| -> Vec<String> {
            fleet.reports("n3").unwrap().into_iter().map(|report| report.hash).collect()
        };
        assert_eq!(hashes(&again), ["r2", "r1"]);
        assert_eq!(again.report("r1"), Ok(Some(b"r1".to_vec())));
        assert_eq!(column(&again, "events { }", "report").len(), 2, "once for each report");
        assert_eq!(again.forget_reports(15), Ok(1));
        assert_eq!(hashes(&again), ["r2"]);
        assert_eq!(column(&again, "events { }", "report"), ["\"r2\""]);
        let blob = again.blob("d1").unwrap().unwrap();
        assert_eq!((blob.content.as_slice(), blob.paths.len()), (&b"content"[..], 2));
        assert_eq!(again.blob("d2"), Ok(None));
    });
}

#[test]
fn a_silent_node_expires_and_comes_back() {
    on_each(|open| {
        let fleet = open();
        fleet.save_facts(&facts("old", 10, "{}")).unwrap();
        fleet.save_facts(&facts("new", 30, "{}")).unwrap();
        assert_eq!(fleet.expire(20, 40), Ok(1));
        let active = || column(&fleet, "nodes { order by certname }", "certname");
        assert_eq!(active(), ["\"new\""]);
        fleet.save_facts(&facts("old", 50, "{}")).unwrap();
        assert_eq!(active(), ["\"new\"", "\"old\""]);
    });
}

#[test]
fn a_head_is_renewed_only_over_what_it_names() {
    on_each(|open| {
        let fleet = open();
        let mut head = CatalogRecord { produced: 5, ..catalog("n2", &["a", "b"]) };
        assert!(!fleet.renew_catalog(&head).unwrap(), "there is none yet");
        fleet.save_catalog(&head).unwrap();
        head.resources.clear();
        (head.produced, head.version) = (7, "second".into());
        assert!(fleet.renew_catalog(&head).unwrap());
        assert_eq!(column(&fleet, "catalogs { }", "version"), ["\"second\""]);
        assert_eq!(column(&fleet, "resources { order by title }", "title"), ["\"a\"", "\"b\""]);
        // An older one changes nothing, another one is not known.
        (head.produced, head.version) = (6, "first".into());
        assert!(fleet.renew_catalog(&head).unwrap());
        assert_eq!(column(&fleet, "catalogs { }", "version"), ["\"second\""]);
        head.hash = "another".into();
        assert!(!fleet.renew_catalog(&head).unwrap());
    });
}
