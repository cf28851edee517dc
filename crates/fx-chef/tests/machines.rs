//! Resources that change a system, on a fake machine: each directory of `machines` is a recipe,
//! what the machine has and answers, and what is expected: the steps, the commands in their
//! order and the files that are different afterwards.
//!
//! `UPDATE_EXPECT=1` rewrites what is expected.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

use fx_engine::{Cancel, Ledger};
use fx_host::{MemoryHost, Program, Reply, Spec};
use fx_source::SourceMap;
use serde_json::{Value as J, json};

#[derive(Clone, Default)]
struct Buffer(Rc<RefCell<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn line(spec: &Spec) -> String {
    match &spec.program {
        Program::Argv(argv) => argv
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect::<Vec<_>>()
            .join(" "),
        Program::Shell(line) => line.to_string_lossy().into_owned(),
    }
}

/// A machine with what the case says: directories, files, programs, and answers to commands.
fn machine(case: &J) -> MemoryHost {
    let host = MemoryHost::linux();
    let texts = |key: &str| -> Vec<(String, String)> {
        let map = case[key].as_object().into_iter().flatten();
        map.map(|(name, text)| (name.clone(), text.as_str().unwrap_or_default().to_owned()))
            .collect()
    };
    for dir in case["dirs"].as_array().into_iter().flatten().filter_map(J::as_str) {
        host.put_dir(dir, 0o755);
    }
    for (path, text) in texts("files") {
        host.put(path, text);
    }
    for name in case["programs"].as_array().into_iter().flatten().filter_map(J::as_str) {
        host.put_program(format!("/usr/bin/{name}"));
    }
    let answers = texts("commands");
    let failing: Vec<(String, i64)> = case["fail"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(command, code)| (command.clone(), code.as_i64().unwrap_or(1)))
        .collect();
    host.on_any(move |_, spec| {
        let asked = line(spec);
        if let Some((_, code)) = failing.iter().find(|(command, _)| *command == asked) {
            return Some(Reply::exit(*code as i32));
        }
        let known = answers.iter().find(|(command, _)| *command == asked);
        Some(known.map_or_else(|| Reply::exit(0), |(_, text)| Reply::prints(text.as_bytes())))
    });
    host
}

fn once(text: &str, case: &J) -> String {
    let host = Rc::new(machine(case));
    let mut platform = json!({"platform": "debian", "platform_family": "debian", "platform_version": "12.0", "os": "linux", "hostname": "case", "fqdn": "case.example.test", "ipaddress": "192.0.2.7", "init_package": "systemd", "root_group": "root", "virtualization": {}, "lsb": {"codename": "bookworm"}});
    for (key, value) in case["node"].as_object().into_iter().flatten() {
        platform[key] = value.clone();
    }
    host.put("/facts.json", platform.to_string());
    host.put("/repo/cookbooks/t/metadata.rb", "name 't'\n");
    host.put("/repo/cookbooks/t/recipes/default.rb", text);
    let before = host.snapshot();
    let mut request = fx_chef::Request { cwd: "/repo".into(), ..fx_chef::Request::default() };
    request.facts = Some("/facts.json".into());
    request.options.insert("cookbook_path".into(), json!(["/repo/cookbooks"]));
    request.options.insert("run_list".into(), json!(["recipe[t]"]));
    request.options.insert("local".into(), json!(true));
    if case["save"] != json!(true) {
        request.options.insert("no_save".into(), json!(true));
    }
    request.options.insert("formatter".into(), json!("null"));
    let (ledger, sources) = (Rc::new(Ledger::new()), Rc::new(SourceMap::new()));
    let told = Buffer::default();
    let code = fx_chef::run(
        Rc::clone(&host) as Rc<dyn fx_host::Host>,
        Rc::clone(&ledger),
        Cancel::new(),
        Rc::clone(&sources),
        request,
        Box::new(told.clone()),
        Box::new(told.clone()),
    );
    let mut out = ledger.trace(&sources);
    for line in String::from_utf8_lossy(&told.0.borrow()).lines() {
        // Only what went wrong: the time of a log line is the fake clock's.
        if let Some((_, text)) = line.split_once("] ")
            && ["ERROR:", "FATAL:", "WARN:"].iter().any(|level| text.starts_with(level))
        {
            let _ = writeln!(out, "{text}");
        }
    }
    for spec in host.calls() {
        let _ = writeln!(out, "$ {}", line(&spec));
    }
    let old: Vec<&str> = before.lines().collect();
    let after = host.snapshot();
    for line in after.lines().filter(|line| !old.contains(line)) {
        let _ = writeln!(out, "+ {line}");
    }
    for line in &old {
        let path = line.split(' ').next().unwrap_or_default();
        if !after.lines().any(|now| now.split(' ').next() == Some(path)) {
            let _ = writeln!(out, "- {path}");
        }
    }
    let _ = writeln!(out, "exit {code}");
    out
}

#[expect(clippy::disallowed_methods, reason = "tests read their own files")]
fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "tests list their own files")]
fn recipes_do_to_a_machine_what_is_recorded() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    let mut cases: Vec<_> = std::fs::read_dir(&dir)
        .expect("cases are there")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rb"))
        .collect();
    cases.sort();
    for case in cases {
        let text = read(&case).expect("a case has a recipe");
        let json = read(&case.with_extension("json")).unwrap_or_else(|| "{}".into());
        let json: J = serde_json::from_str(&json).expect("a machine is described in JSON");
        let told = fx_ruby::on_big_stack(move || once(&text, &json)).expect("a case ends");
        expect_test::expect_file![case.with_extension("expected")].assert_eq(&told);
    }
}

/// A client without a configuration file, started below an exported policy.
#[test]
fn the_configuration_above_the_directory_is_found() {
    let told = fx_ruby::on_big_stack(|| {
        let host = Rc::new(MemoryHost::linux());
        host.put("/facts.json", json!({"platform": "debian", "os": "linux"}).to_string());
        host.put(
            "/srv/policy/.chef/config.rb",
            "policy_name 'site'\npolicy_group 'local'\nuse_policyfile true\nnode_name 'n'\n",
        );
        host.put(
            "/srv/policy/policy_groups/local.json",
            r#"{"policies": {"site": {"revision_id": "1"}}}"#,
        );
        host.put(
            "/srv/policy/policies/site-1.json",
            r#"{"name": "site", "revision_id": "1", "run_list": ["recipe[t::default]"], "cookbook_locks": {"t": {"version": "1.0.0", "identifier": "abc"}}}"#,
        );
        host.put(
            "/srv/policy/cookbook_artifacts/t-abc/metadata.json",
            r#"{"name": "t", "version": "1.0.0"}"#,
        );
        host.put("/srv/policy/cookbook_artifacts/t-abc/recipes/default.rb", "file '/found'\n");
        host.put_dir("/srv/policy/deep/er", 0o755);
        let mut request =
            fx_chef::Request { cwd: "/srv/policy/deep/er".into(), ..fx_chef::Request::default() };
        request.facts = Some("/facts.json".into());
        for option in ["local", "find_config"] {
            request.options.insert(option.into(), json!(true));
        }
        let (ledger, sources) = (Rc::new(Ledger::new()), Rc::new(SourceMap::new()));
        let code = fx_chef::run(
            Rc::clone(&host) as Rc<dyn fx_host::Host>,
            Rc::clone(&ledger),
            Cancel::new(),
            sources,
            request,
            Box::new(std::io::sink()),
            Box::new(std::io::sink()),
        );
        (
            code,
            host.snapshot().contains("/found file"),
            host.snapshot().contains("/srv/policy/nodes/n.json"),
        )
    });
    assert_eq!(told, Some((0, true, true)));
}
