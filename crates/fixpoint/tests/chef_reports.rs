//! What a run tells whoever collects data about runs, and what it does where nobody does.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

#[path = "chef_site/site.rs"]
mod chef_site;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use chef_site::{Site, ended, program};
use serde_json::Value;

/// Heads and bodies that were sent.
type Heard = Arc<Mutex<Vec<(String, Value)>>>;

/// Takes everything and keeps it.
fn collector(heard: &Heard) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/collect", listener.local_addr().unwrap());
    let heard = Arc::clone(heard);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
                    break;
                }
                let line = line.to_lowercase();
                if let Some(value) = line.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            heard.lock().unwrap().push((head, serde_json::from_slice(&body).unwrap_or_default()));
            let answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    url
}

fn run(site: &Site, url: &str, more: &str, words: &[&str]) -> Output {
    let config = site.config(url, "n1.example.com", "client.pem");
    let lines = fs::read_to_string(&config).unwrap() + more;
    fs::write(&config, lines).unwrap();
    let mut command = Command::new(program());
    command.args(["chef-client", "--no-color", "-c"]).arg(config).args(words).output().unwrap()
}

#[test]
fn a_run_tells_the_collector_of_its_start_and_its_end() {
    let site = Site::new();
    let server = site.serve();
    let heard = Heard::default();
    let at = collector(&heard);
    let to = format!("data_collector.server_url '{at}'\ndata_collector.token 'a token'\n");
    ended(&run(&site, &server.url, &to, &["-r", "recipe[base]"]), 0, &[]);
    let messages = std::mem::take(&mut *heard.lock().unwrap());
    let [(first, start), (_, end)] = &messages[..] else { panic!("{messages:?}") };
    assert!(first.contains("x-data-collector-token: a token"), "{first}");
    assert!(!first.contains("x-ops-authorization"), "{first}");
    assert_eq!(start["message_type"], "run_start");
    assert_eq!(
        (&start["node_name"], &start["organization_name"]),
        (&"n1.example.com".into(), &"acme".into())
    );
    assert_eq!((&end["message_type"], &end["status"]), (&"run_converge".into(), &"success".into()));
    assert_eq!((&end["run_id"], &end["updated_resource_count"]), (&start["run_id"], &1.into()));
    assert_eq!(end["node"]["name"], "n1.example.com");
    assert_eq!(end["resources"][0]["status"], "updated");
    // A run that fails says why.
    site.recipe("base", "raise 'no luck'\n");
    ended(&site.import("repo"), 0, &[]);
    ended(&run(&site, &server.url, &to, &[]), 1, &["no luck"]);
    let messages = std::mem::take(&mut *heard.lock().unwrap());
    let (_, end) = messages.last().unwrap();
    assert_eq!(
        (&end["status"], &end["error"]["class"]),
        (&"failure".into(), &"RuntimeError".into())
    );
    // A rehearsal tells nobody, and neither does a run whose server has no collector.
    ended(&run(&site, &server.url, &to, &["--why-run"]), 1, &[]);
    ended(&run(&site, &server.url, "", &[]), 1, &["no luck"]);
    assert!(heard.lock().unwrap().is_empty());
}
