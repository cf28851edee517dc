//! `fixpoint serve` over loopback: what a site configures, and what it must withstand.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

#[path = "support/puppet_site.rs"]
mod puppet_site;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use puppet_site::{Site, ended};
use serde_json::{Value, json};

const MODULE: &str = "code/environments/production/modules/m";

/// A catalog of the agent's node, as its own agent asks for it.
fn catalog(site: &Site, port: u16, facts: &Value) -> (u16, Value) {
    let form = format!(
        "environment=production&facts_format=application%2Fjson&static_catalog=true&checksum_type=sha256&facts={}",
        fx_wire::puppet::percent_encoded(
            &json!({"name": "n1", "values": facts, "timestamp": "2026-01-01T00:00:00.000000000+00:00",
                "expiration": "2026-01-01T00:30:00.000000000+00:00"}).to_string()
        )
    );
    let content =
        fx_remote::Content { kind: "application/x-www-form-urlencoded", bytes: form.as_bytes() };
    let path = "/puppet/v3/catalog/n1?environment=production";
    let accept = "application/vnd.puppet.rich+json";
    let answer = site.as_node(port).send("POST", path, accept, &[], Some(content));
    (answer.status, serde_json::from_slice(&answer.body).unwrap_or_else(|_| answer.text().into()))
}

#[test]
fn the_catalog_of_an_agent_is_that_of_compile() {
    let site = Site::new();
    let environment = "code/environments/production";
    site.put(
        &format!("{MODULE}/manifests/init.pp"),
        "class m(String $word, Sensitive $secret = Sensitive('s3cret')) {\n  m::one { ['a', 'b']: word => $word }\n  Notify['first'] -> M::One <| |>\n  file { '/srv/x': content => $secret, mode => '0600', tag => 'own' }\n  notify { 'later': message => Deferred('sprintf', ['%s', $word]) }\n}\n",
    );
    site.put(
        &format!("{MODULE}/manifests/one.pp"),
        "define m::one(String $word) {\n  file { \"/srv/${title}\": content => epp('m/one.epp', { word => $word }), notify => Notify[\"after ${title}\"] }\n  notify { \"after ${title}\": }\n}\n",
    );
    site.put(
        &format!("{MODULE}/templates/one.epp"),
        "<%- |$word| -%>\n<%= $word %> <%= $facts['os']['family'] %>\n",
    );
    site.put(
        &format!("{environment}/hiera.yaml"),
        "version: 5\nhierarchy:\n  - name: all\n    path: common.yaml\n",
    );
    site.put(&format!("{environment}/data/common.yaml"), "m::word: \"of %{facts.os.family}\"\n");
    site.manifest("notify { 'first': }\ninclude m\nif $facts['breaks'] { fail('on purpose') }\n");
    let server = site.serve(&["--set=autosign=true", "--set=storeconfigs=false"]);
    // For its certificate only: what it is about is not of this machine.
    site.agent(server.port, &["-t", "--noop"]);
    for breaks in [false, true] {
        let facts = json!({"os": {"family": "Debian"}, "breaks": breaks});
        site.put("facts.json", &facts.to_string());
        let (status, mut served) = catalog(&site, server.port, &facts);
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_fixpoint"))
            .args(["compile", "--node=n1", "--facts"])
            .arg(site.path("facts.json"))
            .arg("--environment-dir")
            .arg(site.path(environment))
            .arg(site.path(&format!("{environment}/manifests")))
            .output()
            .unwrap();
        if breaks {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.lines().find_map(|line| line.strip_prefix("Error: ")).unwrap();
            let message = served["message"].as_str().unwrap();
            assert_eq!((status, message.strip_prefix("Server Error: ")), (500, Some(said)));
            continue;
        }
        let mut compiled: Value = serde_json::from_slice(&output.stdout).unwrap();
        for catalog in [&mut served, &mut compiled] {
            // These name one compilation.
            let members = catalog.as_object_mut().unwrap();
            members.remove("version");
            members.remove("catalog_uuid");
        }
        assert_eq!(status, 200);
        assert!(served["resources"].as_array().unwrap().len() > 8);
        assert_eq!(served, compiled);
    }
}

#[test]
fn a_function_without_end_is_an_error_and_the_others_are_served() {
    let site = Site::new();
    site.put(
        &format!("{MODULE}/lib/puppet/functions/m/forever.rb"),
        "Puppet::Functions.create_function(:'m::forever') { def forever; loop { }; end }\n",
    );
    site.manifest("if $facts['endless'] { m::forever() }\nnotify { 'x': }\n");
    let server = site.serve(&["--set=autosign=true", "--compile-limit=1", "--workers=1"]);
    site.agent(server.port, &["-t"]);
    let began = Instant::now();
    let (status, answer) = catalog(&site, server.port, &json!({"endless": true}));
    assert_eq!(status, 500, "{answer}");
    let text = answer["message"].as_str().unwrap();
    assert!(
        text.ends_with("the catalog took longer than 1 s to compile (--compile-limit)"),
        "{text}"
    );
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!(catalog(&site, server.port, &json!({})).0, 200);
}

#[test]
fn a_compiler_that_ends_is_replaced() {
    let site = Site::new();
    site.manifest("if $facts['crash'] { m::crash() }\nnotify { 'x': }\n");
    site.put(
        &format!("{MODULE}/lib/puppet/functions/m/crash.rb"),
        "Puppet::Functions.create_function(:'m::crash') { def crash; Process.kill(9, Process.pid); sleep 5; end }\n",
    );
    let server = site.serve(&["--set=autosign=true", "--workers=1"]);
    site.agent(server.port, &["-t"]);
    let (status, answer) = catalog(&site, server.port, &json!({"crash": true}));
    assert_eq!(status, 500, "{answer}");
    assert_eq!(catalog(&site, server.port, &json!({})).0, 200);
    let compilers = || {
        let found = fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let stat = fs::read_to_string(entry.unwrap().path().join("stat")).ok()?;
            let rest = stat.rsplit_once(") ")?.1.to_owned();
            rest.split(' ').nth(1)?.parse::<u32>().ok()
        });
        found.filter(|parent| *parent == server.child.id()).count()
    };
    assert_eq!(compilers(), 1);
}

#[test]
fn a_file_that_is_larger_than_what_is_held_in_memory_arrives_whole() {
    let site = Site::new();
    let large: Vec<u8> = (0..5_000_000u32).map(|n| (n % 251) as u8).collect();
    fs::write(site.path(&format!("{MODULE}/files/large")), &large).unwrap();
    site.manifest("file { 'OUT/large': source => 'puppet:///modules/m/large' }\n");
    let server = site.serve(&["--set=autosign=true"]);
    ended(&site.agent(server.port, &["-t"]), 2, &["ensure: defined content as '{sha256}"]);
    assert!(fs::read(site.path("out/large")).unwrap() == large);
    ended(&site.agent(server.port, &["-t"]), 0, &[]);
    assert!(!site.path("agent/var/state/fetched").exists());
}

/// Memory of its own that a process has, in MB.
fn anonymous(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

#[test]
fn what_large_requests_took_is_given_back() {
    let site = Site::new();
    site.manifest("notify { 'x': }\n");
    let server = site.serve(&["--set=autosign=true"]);
    site.agent(server.port, &["-t"]);
    let values: Vec<Value> = (0..60_000).map(|n| json!({"of": n, "is": [n, "a word"]})).collect();
    // They are read whole and then refused: nothing of them is stored.
    let facts = json!({"name": "n2", "values": {"large": values}}).to_string();
    let before = anonymous(server.child.id());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let content =
                    fx_remote::Content { kind: "application/json", bytes: facts.as_bytes() };
                let path = "/puppet/v3/facts/n1?environment=production";
                let node = site.as_node(server.port);
                let answer = node.send("PUT", path, "application/json", &[], Some(content));
                assert!(answer.text().contains("does not match"), "{}", answer.text());
            });
        }
    });
    let after = anonymous(server.child.id());
    assert!(after < before + 40, "{before} MB before, {after} MB after {} bytes", facts.len());
}

#[test]
fn rules_of_a_site_take_the_place_of_the_defaults() {
    let site = Site::new();
    site.manifest("notify { 'x': }\n");
    let rule = |path: &str, who: &str, name: &str| {
        format!(
            "{{ match-request: {{ path: \"{path}\", type: path }}, {who}, sort-order: 500, name: {name} }}\n"
        )
    };
    let rules = [
        rule("/puppet-ca/v1/certificate", "allow-unauthenticated: true", "certificates"),
        rule("/puppet/v3/environment_classes", "allow: \"n1\"", "classes"),
        rule("/puppet/v3/file_", "allow: \"*\"", "files"),
        rule("/", "deny: \"*\"", "rest").replace("500", "999"),
    ];
    let text = format!("authorization: {{ version: 1\n rules: [ {} ] }}\n", rules.join(","));
    site.put("server/puppetserver/conf.d/auth.conf", &text);
    site.put(
        "server/fileserver.conf",
        &format!("[own]\n path {}\n", site.path("mount/%H").display()),
    );
    site.put("mount/n1/hello", "only for n1\n");
    site.put(&format!("{MODULE}/manifests/init.pp"), "class m(Integer $size = 3) { }\n");
    let server = site.serve(&["--set=autosign=true"]);
    site.agent(server.port, &["-t"]);
    let node = site.as_node(server.port);
    assert_eq!(catalog(&site, server.port, &json!({})).0, 403, "no rule allows it any more");
    let answer = node.get("/puppet/v3/environment_classes?environment=production");
    assert_eq!(answer.status, 200, "{}", answer.text());
    let classes: Value = serde_json::from_slice(&answer.body).unwrap();
    let found =
        classes["files"].as_array().unwrap().iter().find(|file| file["classes"] != json!([]));
    assert_eq!(
        found.unwrap()["classes"],
        json!([{"name": "m", "params": [{"name": "size", "type": "Integer", "default_literal": 3, "default_source": "3"}]}])
    );
    let tag = answer.header("etag").unwrap().to_owned();
    let path = "/puppet/v3/environment_classes?environment=production";
    assert_eq!(node.send("GET", path, "*/*", &[("If-None-Match", &tag)], None).status, 304);
    let own = node.get("/puppet/v3/file_content/own/hello?environment=production");
    assert_eq!((own.status, own.text().as_str()), (200, "only for n1\n"));
    let other = site.as_admin(server.port);
    assert_eq!(other.get("/puppet/v3/file_content/own/hello?environment=production").status, 404);
    assert_eq!(node.get("/puppet/v3/file_content/none/x?environment=production").status, 500);
}

#[test]
fn a_file_of_settings_that_is_not_understood_keeps_the_server_from_starting() {
    let site = Site::new();
    site.put(
        "server/puppetserver/conf.d/ca.conf",
        "certificate-authority: {\n  allow-everything: true\n}\n",
    );
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(["serve", "--listen", "127.0.0.1:0"])
        .arg(format!("--set=confdir={}", site.path("server").display()))
        .arg(format!("--set=vardir={}", site.path("server/var").display()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(said.contains("ca.conf:2: certificate-authority.allow-everything: 'allow-everything' is not known; remove it"), "{said}");
}

#[test]
fn a_static_catalog_names_content_of_one_version() {
    let site = Site::new();
    site.manifest(
        "file { 'OUT/plain': source => 'puppet:///modules/m/plain' }\n\
         file { 'OUT/tree': ensure => directory, recurse => true, source => 'puppet:///modules/m/tree' }\n",
    );
    for (name, text) in [
        ("id", "#!/bin/sh\necho version_1\n".to_owned()),
        (
            "content",
            format!(
                "#!/bin/sh\nexec cat '{}'/\"$1/$3\"\n",
                site.path("code/environments").display()
            ),
        ),
    ] {
        site.put(name, &text);
        fs::set_permissions(site.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let text = format!(
        "versioned-code: {{ code-id-command: \"{}\", code-content-command: \"{}\" }}\n",
        site.path("id").display(),
        site.path("content").display()
    );
    site.put("server/puppetserver/conf.d/code.conf", &text);
    let server = site.serve(&["--set=autosign=true", "-v"]);
    ended(&site.agent(server.port, &["-t"]), 2, &[]);
    assert_eq!(fs::read_to_string(site.path("out/plain")).unwrap(), "from the server\n");
    assert_eq!(fs::read_to_string(site.path("out/tree/sub/b")).unwrap(), "b\n");
    let (status, catalog) = catalog(&site, server.port, &json!({}));
    assert_eq!((status, &catalog["code_id"]), (200, &json!("version_1")));
    let title = site.path("out/plain").display().to_string();
    assert_eq!(catalog["metadata"][&title]["content_uri"], "puppet:///modules/m/files/plain");
    let tree = site.path("out/tree").display().to_string();
    let rows = catalog["recursive_metadata"][&tree]["puppet:///modules/m/tree"].as_array().unwrap();
    let uris: Vec<&Value> =
        rows.iter().map(|row| &row["content_uri"]).filter(|uri| !uri.is_null()).collect();
    assert_eq!(uris, ["puppet:///modules/m/files/tree/a", "puppet:///modules/m/files/tree/sub/b"]);
    // What is no file of a module is refused.
    let node = site.as_node(server.port);
    let path = "/puppet/v3/static_file_content/modules/m/manifests/init.pp?environment=production&code_id=version_1";
    assert_eq!(node.get(path).status, 403);
}

#[test]
fn a_deployed_version_is_the_one_that_catalogs_and_files_are_of() {
    let site = Site::new();
    let source = site.path("source");
    fs::rename(site.path("code/environments/production"), &source).unwrap();
    let manifest = "file { '/tmp/none': source => 'puppet:///modules/m/plain', noop => true }\n";
    site.put("source/manifests/site.pp", manifest);
    let deploy = || {
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_fixpoint"))
            .args(["deploy", "production", "--from"])
            .arg(&source)
            .arg("--environmentpath")
            .arg(site.path("code/environments"))
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    deploy();
    let server = site.serve(&["--set=autosign=true"]);
    site.agent(server.port, &["-t", "--noop"]);
    let (status, old) = catalog(&site, server.port, &json!({}));
    assert_eq!(status, 200, "{old}");
    let version = old["code_id"].as_str().unwrap().to_owned();
    assert_eq!(old["version"], version.as_str());
    site.put("source/modules/m/files/plain", "newer\n");
    deploy();
    let until = Instant::now() + Duration::from_secs(20);
    let new = loop {
        let (_, new) = catalog(&site, server.port, &json!({}));
        if new["code_id"] != old["code_id"] {
            break new;
        }
        assert!(Instant::now() < until, "the server did not take the new version");
    };
    // An agent that has the old catalog still gets the files of that.
    let node = site.as_node(server.port);
    let file =
        "/puppet/v3/static_file_content/modules/m/files/plain?environment=production&code_id=";
    assert_eq!(node.get(&format!("{file}{version}")).text(), "from the server\n");
    assert_eq!(node.get(&format!("{file}{}", new["code_id"].as_str().unwrap())).text(), "newer\n");
    assert_eq!(node.get(&format!("{file}nosuch")).status, 404);
    assert_eq!(node.get(&format!("{file}..%2F..")).status, 404);
}
