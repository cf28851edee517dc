//! Runs of a client on a fake machine, for the tests of this directory.

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;

use fx_engine::{Cancel, Ledger};
use fx_host::{Host, MemoryHost};
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
