//! `chef-client` against `fixpoint serve`: from nothing to a converged machine, over loopback; and
//! what it says when the server refuses, fails or lies.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

#[path = "chef_site/site.rs"]
mod chef_site;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use chef_site::{Fault, Site, ended, text};

#[test]
fn a_client_comes_from_nothing_to_what_its_run_list_says() {
    let site = Site::new();
    let server = site.serve();
    let first = site.client(&server.url, &["-r", "role[web]", "-E", "prod"]);
    ended(
        &first,
        0,
        &[
            "Creating a new client identity for n1.example.com using the validator key.\n",
            "Resolving cookbooks for run list: [\"web\"]\nSynchronizing cookbooks:\n  - base (0.1.0)\n  - web (1.0.0)\n",
            "2/2 resources updated",
        ],
    );
    assert_eq!(site.read("made"), "/bin/zsh red prod 1\n");
    let key = fs::metadata(site.path("client.pem")).unwrap();
    assert_eq!(key.permissions().mode() & 0o7777, 0o600);
    // The run list was saved, so the second run needs none; and nothing is left to do.
    let second = site.client(&server.url, &[]);
    ended(&second, 0, &["0/2 resources updated"]);
    assert!(!text(&second).contains("Creating a new client identity"));
    assert_eq!(site.read("made"), "/bin/zsh red prod 1\n");
    for secret in [site.read("client.pem"), site.read("server/var/chef/acme-validator.pem")] {
        let line = secret.lines().nth(3).unwrap().to_owned();
        for output in [&first, &second] {
            assert!(!text(output).contains(&line), "a key is shown");
        }
    }
}

#[test]
fn cookbooks_are_brought_by_checksum_and_what_is_no_longer_theirs_is_removed() {
    let site = Site::new();
    let server = site.serve();
    ended(&site.client(&server.url, &["-r", "recipe[web]"]), 0, &[]);
    let recipe = site.path("cache/cookbooks/web/recipes/default.rb");
    fs::write(&recipe, "raise 'changed in the cache'\n").unwrap();
    fs::write(site.path("cache/cookbooks/web/recipes/left.rb"), "").unwrap();
    fs::create_dir_all(site.path("cache/cookbooks/old/recipes")).unwrap();
    fs::write(site.path("cache/cookbooks/old/recipes/default.rb"), "").unwrap();
    ended(&site.client(&server.url, &["-o", "recipe[web]"]), 0, &["Skipping final node save"]);
    assert!(!site.path("cache/cookbooks/web/recipes/left.rb").exists());
    assert!(site.path("cache/cookbooks/old/recipes/default.rb").exists(), "-o keeps others");
    assert!(!fs::read_to_string(&recipe).unwrap().contains("changed in the cache"));
    ended(&site.client(&server.url, &[]), 0, &[]);
    assert!(!site.path("cache/cookbooks/old/recipes/default.rb").exists());
}

#[test]
fn a_policy_of_the_server_is_followed() {
    let site = Site::new();
    let server = site.serve();
    let policy = ["--policy-name", "shop", "--policy-group", "live"];
    let run = site.client(&server.url, &policy);
    ended(
        &run,
        0,
        &[
            "Using Policyfile 'shop' at revision '1111111111111111111111111111111111111111'\n",
            "Resolving cookbooks for run list: [\"base::default@0.1.0 (aaaaaaa)\"]\n",
            "1/1 resources updated",
        ],
    );
    assert_eq!(site.read("base"), "of the group\n");
    ended(&site.client(&server.url, &policy), 0, &["0/1 resources updated"]);
    let none = site.client(&server.url, &["--policy-name", "none", "--policy-group", "live"]);
    ended(&none, 1, &["Error loading policyfile from `policy_groups/live/policies/none'"]);
}

#[test]
fn a_rehearsal_leaves_server_and_machine_as_they_are() {
    let site = Site::new();
    let server = site.serve();
    // Without a key there is nobody to ask as.
    let unknown = site.client(&server.url, &["--why-run", "-r", "recipe[web]"]);
    assert_ne!(unknown.status.code(), Some(0), "{}", text(&unknown));
    assert!(!site.path("client.pem").exists());
    ended(&site.client(&server.url, &["-r", "recipe[base]"]), 0, &[]);
    let before = site.node(&server.url);
    let dry = site.client(&server.url, &["--why-run", "-r", "recipe[web]", "-E", "prod"]);
    ended(&dry, 0, &["would have been updated"]);
    assert!(!site.path("made").exists());
    assert_eq!(site.node(&server.url), before);
}

#[test]
fn without_its_server_a_run_fails_and_changes_nothing() {
    let site = Site::new();
    let server = site.serve();
    ended(&site.client(&server.url, &["-r", "recipe[base]"]), 0, &[]);
    let url = server.url.clone();
    drop(server);
    fs::remove_file(site.path("base")).unwrap();
    ended(
        &site.client(&url, &[]),
        1,
        &[
            "Networking Error:\n-----------------\nConnection refused - Connection refused connecting to ",
            "Your chef_server_url may be misconfigured, or the network could be down.\n",
            "Infra Phase failed. 0 resources updated in ",
            "FATAL: Errno::ECONNREFUSED: Connection refused - Connection refused connecting to ",
        ],
    );
    assert!(!site.path("base").exists());
}

/// Each page was recorded from the original, which got the same answers.
#[test]
fn each_refusal_has_the_page_of_the_original() {
    let site = Site::new();
    let server = site.serve();
    ended(&site.client(&server.url, &["-r", "role[web]", "-E", "prod"]), 0, &[]);
    let load = "Chef Infra Client encountered an error attempting to load the node data for \"n1.example.com\"";
    let create = "Chef Infra Client encountered an error attempting to create the client \"fresh\"";
    let expand = "Error expanding the run_list:";
    let resolve = "Error Resolving Cookbooks for Run List:";
    let clock =
        "{\"error\":[\"Failed to authenticate as x. Synchronize the clock on your host.\"]}";
    let said = "{\"error\":[\"some text\"]}";
    #[rustfmt::skip]
    let rows: &[(&str, &str, u16, &str, &str, &str)] = &[
        ("GET", "nodes/", 401, said, load, "Authentication Error:\n---------------------\nFailed to authenticate to the chef server (http 401).\n\nServer Response:\n----------------\nsome text\n"),
        ("GET", "nodes/", 401, clock, load, "The request failed because your clock has drifted by more than 15 minutes.\nSyncing your clock to an NTP Time source should resolve the issue.\n"),
        ("GET", "nodes/", 403, said, load, "Authorization Error\n-------------------\nYour client is not authorized to load the node data (HTTP 403).\n"),
        ("GET", "nodes/", 409, said, load, "Unexpected API Request Failure:\n-------------------------------\nsome text\n"),
        ("GET", "nodes/", 500, said, load, "Unknown Server Error:\n---------------------\nThe server had a fatal error attempting to load the node data.\n"),
        ("GET", "nodes/", 503, said, load, "Server Unavailable\n------------------\nThe Chef Infra Server is temporarily unavailable\n"),
        ("GET", "roles/", 403, said, expand, "Your client is not authorized to load one or more of your roles (HTTP 403).\n"),
        ("GET", "environments/", 404, said, expand, "Unexpected API Request Failure:\n-------------------------------\nsome text\n"),
        ("POST", "cookbook_versions", 403, said, resolve, "This client is not authorized to read some of the information required to\naccess its cookbooks (HTTP 403).\n"),
        ("POST", "cookbook_versions", 412, said, resolve, "Missing Cookbooks:\n------------------\nsome text\n\nExpanded Run List:\n------------------\n* web\n"),
        ("POST", "clients", 401, said, create, "Failed to authenticate to the Chef Infra Server (http 401).\n"),
        ("POST", "clients", 403, said, create, "* There may already be a client named \"fresh\"\n"),
        ("POST", "clients", 404, said, create, "The Chef Infra Server returned a HTTP 404. This usually indicates that your chef_server_url configuration is incorrect.\n"),
    ];
    for (method, part, status, body, headline, page) in rows {
        let fault = Fault::new(&server.url, method, part, *status, body);
        let fresh = *part == "clients";
        let output = if fresh { site.fresh(&fault.url) } else { site.client(&fault.url, &[]) };
        let class = if *status < 500 { "Net::HTTPServerException" } else { "Net::HTTPFatalError" };
        let last = format!("FATAL: {class}: {status} \"");
        let headline = format!("{0}\n{headline}\n{0}\n", "=".repeat(80));
        ended(&output, 1, &[&headline, page, "System Info:\n", &last]);
        assert!(!site.path("fresh.pem").exists(), "no key is kept");
    }
}

#[test]
fn a_wrong_key_and_a_broken_one_are_told_apart() {
    let site = Site::new();
    let server = site.serve();
    ended(&site.client(&server.url, &["-r", "recipe[base]"]), 0, &[]);
    fs::copy(site.path("server/var/chef/admin.pem"), site.path("client.pem")).unwrap();
    ended(
        &site.client(&server.url, &[]),
        1,
        &[
            "Failed to authenticate to the chef server (http 401).",
            "Invalid signature for user or client",
        ],
    );
    fs::write(site.path("client.pem"), "garbage").unwrap();
    ended(
        &site.client(&server.url, &[]),
        1,
        &["FATAL: Chef::Exceptions::InvalidPrivateKey: The file ", "or the key is encrypted."],
    );
}

/// What a server says is not believed: names stay below the cookbook, contents have their digest.
#[test]
fn a_lying_server_writes_nothing_outside_of_the_cache() {
    let site = Site::new();
    let server = site.serve();
    ended(&site.client(&server.url, &["-r", "recipe[base]"]), 0, &[]);
    let book = |name: &str, path: &str, checksum: &str| {
        let file = serde_json::json!({"name": "recipes/x", "path": path, "checksum": checksum,
            "url": format!("{}/file_store/x", server.url), "specificity": "default"});
        serde_json::json!({name: {"cookbook_name": name, "name": format!("{name}-1.0.0"),
            "version": "1.0.0", "metadata": {}, "all_files": [file]}})
        .to_string()
    };
    let outside = site.path("outside");
    let sum = "d41d8cd98f00b204e9800998ecf8427e";
    for (name, path, checksum) in [
        ("base", "../../../outside", sum),
        ("base", "recipes/../../../../outside", sum),
        ("base", outside.to_str().unwrap(), sum),
        ("base", "recipes//x", sum),
        ("base", "recipes/\u{0}", sum),
        ("../../outside", "recipes/default.rb", sum),
        ("..", "x", sum),
        ("base", "recipes/default.rb", "../../../../outside"),
        ("base", "recipes/default.rb", ""),
    ] {
        let fault =
            Fault::new(&server.url, "POST", "cookbook_versions", 200, &book(name, path, checksum));
        let output = site.client(&fault.url, &[]);
        assert_eq!(output.status.code(), Some(1), "{path}: {}", text(&output));
        assert!(!outside.exists(), "{path}");
    }
    fs::remove_dir_all(site.path("cache/cookbooks")).unwrap();
    let fault = Fault::new(&server.url, "GET", "file_store", 200, "other content");
    ended(&site.client(&fault.url, &[]), 1, &["does not match checksum on content"]);
    assert!(!site.path("cache/cookbooks/base/recipes/default.rb").exists());
}

#[test]
fn searches_take_all_pages_and_parts_of_nodes() {
    let site = Site::new();
    let server = site.serve();
    let run = site.client(&server.url, &["-r", "recipe[look]"]);
    ended(&run, 0, &[]);
    assert_eq!(
        site.read("found"),
        "nodes: a1 a2 a3 b1\npaged: a1 a2 a3\nparts: {\"n\"=>\"a1\", \"c\"=>\"blue\"}\nbag: alice\nroles: web\nsecret: open sesame\n"
    );
}

#[test]
fn runs_in_intervals_begin_and_end_by_signals() {
    let site = Site::new();
    let server = site.serve();
    ended(&site.client(&server.url, &["-r", "recipe[base]"]), 0, &[]);
    let unforked = site.client(&server.url, &["-i", "2", "--no-fork"]);
    ended(&unforked, 1, &["Unforked Chef Infra Client interval runs are disabled by default."]);
    fs::remove_file(site.path("base")).unwrap();
    let (log, pid) = (site.path("daemon.log"), site.path("daemon.pid"));
    let words = ["-i", "3600", "-d", "-P", pid.to_str().unwrap(), "-L", log.to_str().unwrap()];
    // The background is reached when the first process ends, and its number is written by then.
    ended(&site.client(&server.url, &words), 0, &[]);
    let number = site.read("daemon.pid");
    assert!(!site.path("base").exists(), "it waits before the first run");
    ended(
        &site.client(&server.url, &words),
        1,
        &[&format!("Chef is already running pid {number}")],
    );
    let signal = |name: &str| {
        let sent = std::process::Command::new("kill").args([name, number.as_str()]).status();
        assert!(sent.unwrap().success());
    };
    signal("-USR1");
    wait_until(|| site.path("base").exists());
    signal("-TERM");
    wait_until(|| !pid.exists());
}

#[track_caller]
fn wait_until(mut holds: impl FnMut() -> bool) {
    for _ in 0..1200 {
        if holds() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("it did not happen within two minutes");
}

#[test]
fn a_plan_of_what_a_server_says_changes_neither_machine_nor_server() {
    let site = Site::new();
    let server = site.serve();
    ended(&site.client(&server.url, &["-r", "recipe[base]"]), 0, &[]);
    let before = site.node(&server.url);
    fs::remove_file(site.path("base")).unwrap();
    let config = site.config(&server.url, "n1.example.com", "client.pem");
    let verb = |verb: &str| {
        std::process::Command::new(chef_site::FIXPOINT)
            .args([verb, "--server"])
            .arg(&config)
            .output()
            .unwrap()
    };
    let plan = verb("plan");
    if text(&plan).contains("copy of the machine") && plan.status.code() != Some(0) {
        eprintln!("SKIPPED: no copy of the machine can be made here: {}", text(&plan));
        return;
    }
    let shown = text(&plan);
    assert!(shown.contains("would-repair file[") && shown.contains("+hello"), "{shown}");
    assert!(text(&verb("explain")).contains("file["));
    let tried = text(&verb("try"));
    assert!(tried.contains("verdict: idempotent"), "{tried}");
    assert!(!site.path("base").exists());
    assert_eq!(site.node(&server.url), before);
}

/// Sends a head that announces a gigabyte, and then as much as is taken.
#[test]
fn bodies_of_a_gigabyte_are_refused_before_they_are_read() {
    use std::io::{Read, Write};
    let site = Site::new();
    let server = site.serve();
    let address = server.url.split('/').nth(2).unwrap();
    for head in ["Content-Length: 1073741824", "Transfer-Encoding: chunked"] {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let start = format!(
            "PUT /organizations/acme/nodes/big HTTP/1.1\r\nHost: x\r\nX-Ops-Server-API-Version: 1\r\n{head}\r\n\r\n"
        );
        stream.write_all(start.as_bytes()).unwrap();
        let chunk = [b"10000\r\n".to_vec(), vec![b'a'; 0x10000], b"\r\n".to_vec()].concat();
        let mut sent = 0;
        while sent < 64 << 20 && stream.write_all(&chunk).is_ok() {
            sent += chunk.len();
        }
        assert!(sent < 64 << 20, "{head}: the server reads on");
        let mut answer = Vec::new();
        let _reset = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        if !answer.is_empty() {
            assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
            assert!(answer.contains("x-ops-server-api-version"), "{answer}");
        }
    }
    ended(&site.client(&server.url, &["-r", "recipe[base]"]), 0, &[]);
}
