//! `fixpoint test`: spec files on the built-in Ruby, with no Ruby and no gem on the machine.
//!
//! RSpec itself, groups, expectations, doubles and reports, is Ruby in `prelude/`, written for this
//! runtime; it knows no tool. What rspec-puppet adds is in the files `puppet_*.rb`, over the catalogs
//! of `puppet.rs`.

#![forbid(unsafe_code)]

mod puppet;

use std::io::Write;
use std::rc::Rc;

use fx_host::Host;
use fx_ruby::object::c;
use fx_ruby::{Ended, Hooks, HostObject, Limits, Options, Shipped, Vm};

/// Each file of `prelude` with its image, listed when the crate is built.
static SOURCES: &[Shipped] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// The files in the order in which they build on each other.
const ORDER: &[&str] = &[
    "rspec",
    "configuration",
    "example_group",
    "example",
    "expectations",
    "matcher_base",
    "matchers",
    "matchers_of_blocks",
    "mocks",
    "mock_messages",
    "mock_proxies",
    "double",
    "should",
    "mocha",
    "reporter",
    "formatters",
    "puppet_fixtures",
    "puppet_groups",
    "puppet_catalogue",
    "puppet_values",
    "puppet_matchers",
    "puppet_functions",
    "puppet_world",
    "facter_world",
    "puppet_facts",
    "provided",
    "runner",
];

/// Runs specs as these options say, which `prelude/runner.rb` reads; the exit code.
pub fn run(
    host: Rc<dyn Host>,
    options: &serde_json::Map<String, serde_json::Value>,
    out: Box<dyn Write>,
    err: Box<dyn Write>,
) -> u8 {
    let mut vm = Vm::new(Options {
        host: Rc::<dyn Host>::clone(&host),
        out,
        err,
        limits: Limits::default(),
        // The project's own gems are used where it has them.
        hooks: Hooks { gems: true, ..Hooks::default() },
        script: "fixpoint test".into(),
        argv: vec![serde_json::Value::Object(options.clone()).to_string().into_bytes()],
    });
    let root = host.cwd().join("spec/fixtures/modules");
    let catalogs: Rc<dyn HostObject> = match puppet::Catalogs::start(host, root, SOURCES, &mut vm) {
        Ok(catalogs) => Rc::new(catalogs),
        Err(why) => return failed(&mut vm, &why),
    };
    let class = vm.define_class(c::OBJECT, "FxPuppetCatalogs", c::OBJECT);
    for (number, name) in puppet::METHODS.into_iter().enumerate() {
        vm.define_host_method(class, name, number as u32);
    }
    let object = vm.host_object(class, catalogs);
    let name = vm.intern("FxPuppet");
    vm.const_set(c::OBJECT, name, object);
    for name in ORDER {
        if let Err(unwind) = vm.load_prelude_file(&format!("test/{name}.rb")) {
            let text = vm.explain(unwind);
            return failed(&mut vm, &text);
        }
    }
    let program = b"exit RSpec::Core::Runner.main(ARGV.shift)\n";
    let code = match vm.run_script(program, "fixpoint test") {
        Ended::Exit(code) => u8::try_from(code).unwrap_or(1),
        Ended::Failed(text) => failed(&mut vm, &text),
    };
    vm.flush_output();
    // The heap ends with the process; taking it apart would only cost time.
    std::mem::forget(vm);
    code
}

fn failed(vm: &mut Vm, text: &str) -> u8 {
    vm.flush_output();
    // Nobody is left to hear of a closed standard error.
    drop(vm.err.write_all(text.as_bytes()));
    1
}
