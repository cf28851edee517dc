//! `puppet agent` against `fixpoint serve`: from nothing to a converged machine, over loopback.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

#[path = "support/puppet_site.rs"]
mod puppet_site;

use std::fs;

use puppet_site::{Site, ended};

#[test]
fn an_agent_comes_from_nothing_to_what_its_catalog_says() {
    let site = Site::new();
    site.manifest(
        "file { 'OUT/plain': source => 'puppet:///modules/m/plain' }\n\
         file { 'OUT/tree': ensure => directory, recurse => true, source => 'puppet:///modules/m/tree' }\n\
         file { 'OUT/facts': content => \"${facts['inner']} ${facts['outer']} ${trusted['certname']}\" }\n\
         file { 'OUT/secret': content => Sensitive('canary-of-the-agent') }\n\
         file { 'OUT/later': content => Deferred('sprintf', ['%s!', 'later']) }\n\
         thing { 'thing': state => 'up' }\n",
    );
    let server = site.serve(&["--set=autosign=true"]);
    let first = site.agent(server.port, &["-t"]);
    ended(
        &first,
        2,
        &[
            "Info: Creating a new EC SSL key for n1",
            "Info: Downloaded certificate for n1 from https://localhost:",
            "Info: Retrieving plugin\n",
            "/lib/facter/inner.rb]/ensure: defined content as '{sha256}",
            "Info: Caching catalog for n1",
            "Thing[thing]/state: state changed 'none' to 'up'",
        ],
    );
    let out = |name: &str| fs::read_to_string(site.path("out").join(name)).unwrap();
    assert_eq!(out("plain"), "from the server\n");
    assert_eq!((out("tree/a"), out("tree/sub/b")), ("a\n".into(), "b\n".into()));
    assert_eq!(out("facts"), "ruby file n1");
    assert_eq!((out("later"), out("thing")), ("later!".into(), "up".into()));
    assert!(!String::from_utf8_lossy(&first.stdout).contains("canary-of-the-agent"));
    ended(&site.agent(server.port, &["-t"]), 0, &["Notice: Applied catalog in"]);
    let summary = fs::read_to_string(site.path("agent/public/last_run_summary.yaml")).unwrap();
    assert!(summary.contains("run_mode: agent"), "{summary}");

    // A change is shown and not made, then made.
    fs::write(site.path("out/plain"), "tampered\n").unwrap();
    ended(&site.agent(server.port, &["-t", "--noop"]), 0, &["(noop)"]);
    assert_eq!(out("plain"), "tampered\n");
    ended(&site.agent(server.port, &["-t"]), 2, &["content: content changed '{sha256}"]);
    assert_eq!(out("plain"), "from the server\n");

    // An environment that the server does not have leads back to the one it has.
    let other = site.agent(server.port, &["-t", "--environment=nosuch"]);
    ended(
        &other,
        0,
        &[
            "Environment 'nosuch' not found on server, skipping initial pluginsync.",
            "doesn't match server specified environment 'production', restarting agent run",
        ],
    );

    // Without its server it goes on with the last catalog, if it may.
    let port = server.port;
    drop(server);
    let refused = site.agent(port, &["-t"]);
    ended(&refused, 1, &["Could not retrieve catalog; skipping run"]);
    fs::remove_file(site.path("out/later")).unwrap();
    let cached = site.agent(port, &["--onetime", "--no-daemonize"]);
    ended(&cached, 0, &["Using cached catalog from environment 'production'"]);
    assert_eq!(out("later"), "later!");
}

#[test]
fn old_content_goes_to_the_bucket_of_the_server_before_it_is_replaced() {
    let site = Site::new();
    site.manifest(
        "filebucket { 'main': server => 'localhost', path => false }\n\
         File { backup => 'main' }\n\
         file { 'OUT/a b': content => \"new\\n\" }\n",
    );
    let server = site.serve(&["--set=autosign=true"]);
    fs::write(site.path("out/a b"), "old\n").unwrap();
    let run = site.agent(server.port, &["-t"]);
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let sum = text.split("to main with sum ").nth(1).map_or("", |rest| &rest[..64]);
    let place = site.path("out/a b").display().to_string();
    ended(
        &run,
        2,
        &[
            &format!("Info: Computing checksum on file {place}\n"),
            &format!("File[{place}]: Filebucketed {place} to main with sum {sum}\n"),
        ],
    );
    assert_eq!(fs::read(site.path("out/a b")).unwrap(), b"new\n");
    let node = site.as_node(server.port);
    let at = |path: &str| {
        let path = path.replace(' ', "%20");
        node.get(&format!("/puppet/v3/file_bucket_file/sha256/{sum}{path}?environment=production"))
    };
    assert_eq!(at("").body, b"old\n");
    assert_eq!(at(&place).body, b"old\n");
    assert_eq!(at("/elsewhere").status, 404);

    // Known content is kept again without being sent; nothing is replaced that cannot be kept.
    fs::write(site.path("out/a b"), "old\n").unwrap();
    ended(&site.agent(server.port, &["-t"]), 2, &["to main with sum"]);
    fs::write(site.path("out/a b"), "other\n").unwrap();
    let port = server.port;
    drop(server);
    let failed = site.agent(port, &["--onetime", "--no-daemonize", "--detailed-exitcodes"]);
    ended(
        &failed,
        4,
        &[&format!(
            "Could not back up {place}: Request to https://localhost:{port}/puppet/v3/file_bucket_file/sha256/"
        )],
    );
    assert_eq!(fs::read(site.path("out/a b")).unwrap(), b"other\n");
}

#[test]
fn a_certificate_that_is_not_signed_ends_a_single_run() {
    let site = Site::new();
    site.manifest("notify { 'x': }\n");
    let server = site.serve(&[]);
    let output = site.agent(server.port, &["-t"]);
    ended(
        &output,
        1,
        &[
            "Info: Certificate for n1 has not been signed yet\n",
            "you might still need to sign this agent's certificate (n1).\n",
            "Exiting now because the waitforcert setting is set to 0.\n",
        ],
    );
    assert!(!site.path("agent/ssl/certs/n1.pem").exists());
}

#[test]
fn an_agent_that_is_disabled_says_why() {
    let site = Site::new();
    ended(&site.agent(9, &["--disable", "not today"]), 0, &[]);
    ended(&site.agent(9, &["--disable", "another reason"]), 0, &[]);
    let output = site.agent(9, &["-t"]);
    ended(&output, 1, &["administratively disabled (Reason: 'not today');\n"]);
    ended(&site.agent(9, &["--enable"]), 0, &[]);
    ended(&site.agent(9, &["-t"]), 1, &["Error: No more routes to ca"]);
}

#[test]
fn a_lock_that_somebody_planted_is_neither_followed_nor_read_whole() {
    use std::os::unix::fs::{MetadataExt, lchown, symlink};
    let site = Site::new();
    let state = site.path("agent/var/state");
    fs::create_dir_all(&state).unwrap();
    let lock = state.join("agent_disabled.lock");
    // As large as it likes, and nothing on the disk.
    fs::File::create(&lock).unwrap().set_len(1 << 40).unwrap();
    ended(&site.agent(9, &["-t"]), 1, &["agent_disabled.lock"]);
    fs::remove_file(&lock).unwrap();
    if fs::metadata(&state).unwrap().uid() != 0 {
        return;
    }
    site.put("victim", "untouched");
    symlink(site.path("victim"), &lock).unwrap();
    lchown(&lock, Some(1001), Some(1001)).unwrap();
    std::os::unix::fs::chown(&state, Some(1001), Some(1001)).unwrap();
    site.agent(9, &["--disable", "planted"]);
    assert_eq!(fs::read_to_string(site.path("victim")).unwrap(), "untouched");
}

#[test]
fn an_agent_that_stays_runs_when_it_is_woken_and_ends_when_it_is_told_to() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let site = Site::new();
    site.manifest("exec { '/bin/sh -c \"echo x >> OUT/runs\"': }\n");
    let server = site.serve(&["--set=autosign=true"]);
    site.agent(server.port, &["-t"]);
    let set = |name: &str, path: &str| format!("--{name}={}", site.path(path).display());
    let mut agent = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(["puppet", "agent", "--no-daemonize", "--certname=n1", "--server=localhost"])
        .args([format!("--serverport={}", server.port), "--runinterval=1h".into()])
        .args([
            set("confdir", "agent/conf"),
            set("vardir", "agent/var"),
            set("ssldir", "agent/ssl"),
        ])
        .args([set("publicdir", "agent/public"), set("rundir", "agent/run")])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let runs = || fs::read_to_string(site.path("out/runs")).unwrap_or_default().lines().count();
    let reach = |wanted: usize| {
        let until = Instant::now() + Duration::from_mins(1);
        while runs() < wanted {
            assert!(Instant::now() < until, "{} runs instead of {wanted}", runs());
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let signal = |name: &str| {
        let pid = fs::read_to_string(site.path("agent/run/agent.pid")).unwrap();
        assert!(Command::new("kill").args([name, pid.trim()]).status().unwrap().success());
    };
    reach(2);
    signal("-USR1");
    reach(3);
    signal("-USR2");
    // HUP puts a new process in its place, which begins with a run.
    signal("-HUP");
    reach(4);
    signal("-TERM");
    let ended = agent.wait().unwrap();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(!site.path("agent/run/agent.pid").exists());
}
