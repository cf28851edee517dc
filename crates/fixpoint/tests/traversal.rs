//! Names that lead out of what is served: every endpoint of the server with an open place in its
//! path, over files that nobody may get.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

#[path = "support/puppet_site.rs"]
mod puppet_site;

use std::fs;

use fx_remote::Content;
use puppet_site::Site;

const SECRET: &str = "nobody-may-get-this";

/// Ways to write `..`, what stands between them, and where they should lead.
fn names() -> Vec<String> {
    let dots = [
        "..",
        "%2e%2e",
        "%2E%2e",
        ".%2e",
        "%252e%252e",
        "%25252e%25252e",
        "..%00",
        "%c0%ae%c0%ae",
        "%e0%80%ae%e0%80%ae",
        "....%2f%2f",
        "..;",
        "..%20",
        "%ef%bc%8e%ef%bc%8e",
        "..%0a",
        "%2e%2e%2f..",
        "...",
    ];
    let between = ["/", "%2f", "%5c", "/./"];
    let ends = ["secret", "etc/passwd", "%2fetc%2fpasswd", "environments/production/secret"];
    let mut names = Vec::new();
    for dot in dots {
        for slash in between {
            for end in ends {
                names.push(format!("{dot}{slash}{end}"));
                names.push(format!("m/{}{end}", format!("{dot}{slash}").repeat(4)));
            }
        }
    }
    let absolute =
        ["/etc/passwd", "%2fetc%2fpasswd", "file:%2f%2f%2fetc%2fpasswd", "~root", "m%00/x", "%00"];
    names.extend(absolute.map(str::to_owned));
    names
}

/// What is in a directory, as one text.
fn tree(dir: &std::path::Path) -> String {
    let mut found = String::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                found.extend([&*path.to_string_lossy(), ": ", &text, "\n"]);
            }
        }
    }
    found
}

#[test]
fn no_name_leads_out_of_what_is_served() {
    let site = Site::new();
    site.manifest("notify { 'x': }\n");
    let outside = ["secret", "code/secret", "code/environments/secret"];
    let beside =
        ["code/environments/production/secret", "code/environments/production/modules/secret"];
    for place in outside.iter().chain(&beside) {
        site.put(place, SECRET);
    }
    site.put("code/environments/production/modules/m/secret", SECRET);
    let before = tree(&site.path("code"));
    let server = site.serve(&["--set=autosign=true"]);
    site.agent(server.port, &["-t"]);
    let callers = [site.as_node(server.port), site.as_admin(server.port)];
    let names = names();
    assert!(names.len() > 500, "{}", names.len());
    let mounts = ["modules/", "plugins/", "pluginfacts/", "tasks/", ""];
    for (number, (method, template)) in fx_server::endpoints().enumerate() {
        let Some(at) = template.find([':', '*']) else { continue };
        let is_file = template.contains("/file_") || template.contains("static_file");
        for (turn, name) in names.iter().enumerate() {
            // All names for files; of the others, which take one word, each gets a part.
            if !is_file && turn % 16 != number % 16 {
                continue;
            }
            let mount = if is_file { mounts[turn % mounts.len()] } else { "" };
            let path = format!("/{}{mount}{name}", &template[..at]);
            let query = if turn % 3 == 0 { "production" } else { "..%2f..%2fproduction" };
            let target = format!("{path}?environment={query}&code_id={name}");
            let body = Content { kind: "application/octet-stream", bytes: b"written" };
            let body = matches!(method, "PUT" | "POST").then_some(body);
            let accept = "application/octet-stream, application/json, text/plain";
            let caller = &callers[(turn / 2) % 2];
            let answer = caller.send(method, &target, accept, &[], body);
            let text = answer.text();
            let leaks = text.contains(SECRET) || text.contains("root:");
            assert!(answer.status >= 400 && !leaks, "{method} {target}: {} {text}", answer.status);
        }
    }
    assert!(tree(&site.path("code")) == before, "something was written beside the store");
}
