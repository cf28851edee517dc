//! Fake machines and runs on them, for the tests of this directory.

use std::cell::RefCell;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

use fx_cases::Case;
use fx_engine::{Cancel, Ledger};
use fx_host::{Host, MemoryHost, Program, Reply, Spec};
use fx_source::SourceMap;
use serde_json::{Value as J, json};

/// A writer that keeps what is written.
#[derive(Clone, Default)]
pub(crate) struct Buffer(pub(crate) Rc<RefCell<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A command in one line.
pub(crate) fn line(spec: &Spec) -> String {
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
pub(crate) fn machine(case: &J) -> MemoryHost {
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

/// Lays out a cookbook `t` with this recipe, and the automatic attributes of the machine.
pub(crate) fn lay_out(host: &MemoryHost, recipe: &str, case: &J) {
    let mut platform = json!({"platform": "debian", "platform_family": "debian", "platform_version": "12.0", "os": "linux", "hostname": "case", "fqdn": "case.example.test", "ipaddress": "192.0.2.7", "init_package": "systemd", "root_group": "root", "virtualization": {}, "lsb": {"codename": "bookworm"}});
    for (key, value) in case["node"].as_object().into_iter().flatten() {
        platform[key] = value.clone();
    }
    host.put("/facts.json", platform.to_string());
    host.put("/repo/cookbooks/t/metadata.rb", "name 't'\n");
    host.put("/repo/cookbooks/t/recipes/default.rb", recipe);
}

/// The usual request for that cookbook.
pub(crate) fn request() -> fx_chef::Request {
    let mut request = fx_chef::Request { cwd: "/repo".into(), ..fx_chef::Request::default() };
    request.facts = Some("/facts.json".into());
    request.options.insert("cookbook_path".into(), json!(["/repo/cookbooks"]));
    request.options.insert("run_list".into(), json!(["recipe[t]"]));
    request.options.insert("local".into(), json!(true));
    request.options.insert("no_save".into(), json!(true));
    request.options.insert("formatter".into(), json!("null"));
    request
}

/// Runs a client; the exit code, and all that it wrote.
pub(crate) fn run(
    host: Rc<dyn Host>,
    ledger: &Rc<Ledger>,
    sources: &Rc<SourceMap>,
    request: fx_chef::Request,
) -> (u8, String) {
    let said = Buffer::default();
    let code = fx_chef::run(
        host,
        Rc::clone(ledger),
        Cancel::new(),
        Rc::clone(sources),
        request,
        Box::new(said.clone()),
        Box::new(said.clone()),
    );
    let text = String::from_utf8_lossy(&said.0.borrow()).into_owned();
    (code, text)
}

/// What the machine of a case has and answers.
pub(crate) fn machine_of(case: &Case) -> J {
    let json = case.get("machine.json");
    json.map_or(J::Null, |text| serde_json::from_str(text).expect("the machine of a case is JSON"))
}

/// The recipes of `machines`, each with what its machine has and answers.
pub(crate) fn machines() -> Vec<(String, String, J)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    let parts = |case: Case| {
        let (recipe, machine) = (case.section("recipe.rb").to_owned(), machine_of(&case));
        (case.name, recipe, machine)
    };
    fx_cases::read(&dir).into_iter().map(parts).collect()
}
