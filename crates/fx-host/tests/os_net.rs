//! The network of the real machine against a small server on the loopback interface.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fx_host::{Net, OsHost, Request, Requests};

/// Answers each connection with one of the replies and gives back what was asked.
fn serve(replies: Vec<String>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for reply in replies {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
                request.push(byte[0]);
            }
            stream.write_all(reply.as_bytes()).unwrap();
            asked.push(String::from_utf8(request).unwrap());
        }
        asked
    });
    (address, server)
}

fn reply(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}",
        body.len()
    )
}

fn get(url: String) -> Request {
    Request { timeout: Duration::from_secs(10), ..Request::get(url) }
}

#[test]
fn an_answer_of_any_status_is_an_answer() {
    let (address, server) =
        serve(vec![reply("200 OK", "X-Thing: a\r\n", "hello"), reply("404 Not Found", "", "gone")]);
    let host = OsHost::new();
    let mut request = get(format!("http://{address}/path?q=1"));
    request.headers.push(("X-Asked".into(), "yes".into()));
    let answer = host.http(&request).unwrap();
    assert_eq!((answer.status, &answer.body[..]), (200, &b"hello"[..]));
    assert!(answer.headers.contains(&("x-thing".into(), "a".into())));
    assert_eq!(host.http(&get(format!("http://{address}/"))).unwrap().status, 404);
    let asked = server.join().unwrap();
    assert!(
        asked[0].starts_with("GET /path?q=1 HTTP/1.1\r\n")
            && asked[0].to_lowercase().contains("x-asked: yes"),
        "{}",
        asked[0]
    );
}

#[test]
fn redirects_are_followed_and_credentials_stay_behind() {
    let (second, other) = serve(vec![reply("200 OK", "", "there")]);
    let (first, server) = serve(vec![reply(
        "302 Found",
        &format!("Location: http://localhost:{}/x\r\n", second.rsplit(':').next().unwrap()),
        "",
    )]);
    let mut request = get(format!("http://{first}/"));
    request.headers.push(("Authorization".into(), "Basic c2VjcmV0".into()));
    assert_eq!(OsHost::new().http(&request).unwrap().body, b"there");
    assert!(server.join().unwrap()[0].contains("c2VjcmV0"));
    assert!(!other.join().unwrap()[0].contains("c2VjcmV0"), "another host does not get them");
}

#[test]
fn a_proxy_is_asked_with_the_whole_address() {
    let (address, server) = serve(vec![reply("200 OK", "", "by proxy")]);
    let mut request = get("http://example.invalid/x".into());
    request.proxy = Some(format!("http://{address}"));
    let answer = OsHost::new().http(&request);
    let asked = server.join().unwrap();
    // Plain requests go through by their whole address or by a tunnel; the name is never looked up here.
    assert!(asked[0].contains("example.invalid"), "{}", asked[0]);
    assert!(answer.is_ok() || asked[0].starts_with("CONNECT"), "{answer:?}");
}

#[test]
fn limits_hold_and_errors_name_the_address_without_its_password() {
    let (address, server) = serve(vec![reply("200 OK", "", &"x".repeat(5000))]);
    let mut request = get(format!("http://user:hunter2@{address}/big"));
    request.limit = 1000;
    let error = OsHost::new().http(&request).unwrap_err().to_string();
    assert!(
        error.contains(&format!("http://{address}/big")) && !error.contains("hunter2"),
        "{error}"
    );
    server.join().unwrap();

    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut request = get(format!("http://{}/", silent.local_addr().unwrap()));
    request.timeout = Duration::from_millis(200);
    let began = Instant::now();
    assert!(OsHost::new().http(&request).is_err());
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_ca_file_without_a_certificate_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut request = get("https://127.0.0.1:9/".into());
    request.ca_file = Some(dir.path().join("none.pem"));
    assert!(OsHost::new().http(&request).unwrap_err().is_not_found());
    request.ca_file = Some("/dev/null".into());
    assert!(OsHost::new().http(&request).unwrap_err().to_string().contains("holds no certificate"));
}

#[test]
fn the_loopback_interface_is_known() {
    let host = OsHost::new();
    let interfaces = host.interfaces().unwrap();
    let loopback = interfaces.iter().find(|interface| interface.name == "lo").unwrap();
    assert!(
        loopback.addresses.iter().any(|one| one.ip.is_loopback() && [8, 128].contains(&one.prefix))
    );
    assert!(host.resolve("localhost").unwrap().iter().any(std::net::IpAddr::is_loopback));
}
