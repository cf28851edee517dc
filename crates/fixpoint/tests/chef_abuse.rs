//! Bodies that are far too large, from callers who may send nothing: refused before they are read, over
//! each engine, and the server is none the larger for it.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test looks at the machine from outside"
)]

#[path = "chef_site/site.rs"]
mod chef_site;
#[path = "../../fx-fleet/tests/support/cluster.rs"]
mod cluster;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use chef_site::{Site, ended};
use serde_json::json;

const GIGABYTE: u64 = 1 << 30;

fn connect(url: &str) -> TcpStream {
    let stream = TcpStream::connect(url.split('/').nth(2).unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    stream.set_write_timeout(Some(Duration::from_mins(1))).unwrap();
    stream
}

/// The status of an answer.
fn status(answer: &[u8]) -> Option<u16> {
    String::from_utf8_lossy(answer).split(' ').nth(1)?.parse().ok()
}

/// A request that says how long its body will be, and sends nothing of it.
fn declared(url: &str, method: &str, path: &str) -> Option<u16> {
    let mut stream = connect(url);
    let head = format!("{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {GIGABYTE}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    status(&answer)
}

/// A request that goes on sending, and how much of it the other side took.
fn endless(url: &str, method: &str, path: &str) -> (Option<u16>, u64) {
    let mut stream = connect(url);
    let head = format!("{method} {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut reading = stream.try_clone().unwrap();
    let answer = std::thread::spawn(move || {
        let mut answer = Vec::new();
        // What came before the connection was cut off counts.
        let _cut_off = reading.read_to_end(&mut answer);
        answer
    });
    let chunk = [b"10000\r\n".to_vec(), vec![b' '; 0x10000], b"\r\n".to_vec()].concat();
    let mut sent = 0;
    while sent < GIGABYTE && stream.write_all(&chunk).is_ok() {
        sent += chunk.len() as u64;
    }
    let _gone = stream.shutdown(std::net::Shutdown::Both);
    (status(&answer.join().unwrap()), sent)
}

/// The most memory of a process so far, in megabytes.
fn peak(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

fn refuse(site: &Site, store: &[&str]) {
    ended(&site.import_with("repo", store), 0, &[]);
    let server = site.start_with(store);
    let admin = site.admin(&server.url);
    let nodes = admin.json("GET", "nodes", None);
    let before = peak(server.child.id());
    let org = "/organizations/acme";
    let file = format!("{org}/file_store/checksums/{}", "0".repeat(32));
    for (method, path, expected) in [
        ("PUT", format!("{org}/nodes/a1"), 413),
        ("POST", format!("{org}/nodes"), 413),
        ("POST", format!("{org}/search/node"), 413),
        ("POST", "/users".to_owned(), 413),
        ("PUT", format!("{org}/cookbooks/web/1.0.0"), 413),
        // Who has no URL of ours sends no file, however small.
        ("PUT", file.clone(), 403),
        ("PUT", format!("{file}?Expires=9999999999&Signature={}", "0".repeat(64)), 403),
        ("POST", format!("{org}/nothing"), 404),
        ("GET", format!("{org}/nodes"), 413),
    ] {
        assert_eq!(declared(&server.url, method, &path), Some(expected), "{method} {path}");
        let (status, sent) = endless(&server.url, method, &path);
        assert!(status.is_none_or(|status| status == expected), "{method} {path}: {status:?}");
        // Two megabytes are read at most; the rest is on its way when the connection ends.
        assert!(sent < 64 << 20, "{method} {path}: {sent} bytes were taken");
    }
    // A URL that was given out takes a file, but none of any size.
    let sums = json!({"checksums": {"0".repeat(32): null}});
    let (_, sandbox) = admin.json("POST", "sandboxes", Some(&sums));
    let url = sandbox["checksums"]["0".repeat(32)]["url"].as_str().unwrap();
    let path = format!("/{}", url.splitn(4, '/').nth(3).unwrap());
    assert_eq!(declared(&server.url, "PUT", &path), Some(413));
    assert_eq!(admin.json("GET", "nodes", None), nodes);
    let grown = peak(server.child.id()) - before;
    assert!(grown < 40, "{grown} MB more");
}

#[test]
fn a_gigabyte_is_refused_before_it_is_read_over_sqlite() {
    refuse(&Site::new(), &[]);
}

#[test]
fn a_gigabyte_is_refused_before_it_is_read_over_postgresql() {
    let Some(cluster) = cluster::cluster() else { return };
    refuse(&Site::new(), &["--store", &cluster.database()]);
}
