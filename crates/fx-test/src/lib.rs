//! `fixpoint test`: spec files on the built-in Ruby, with no Ruby and no gem on the machine.
//!
//! RSpec itself, groups, expectations, doubles and reports, is Ruby in `prelude/`, written for this
//! runtime; it knows no tool. What rspec-puppet adds is in the files `puppet_*.rb`, over the catalogs
//! of `puppet.rs`; what ChefSpec adds, in `chef_*.rb` over Chef's own classes, which are read when a
//! spec asks for them.

#![forbid(unsafe_code)]

mod chef;
mod facts;
mod part;
mod puppet;

use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use fx_host::Host;
use fx_ruby::object::c;
use fx_ruby::{Ended, Hooks, HostObject, Limits, Options, Shipped, Vm};

use part::{Ending, Ends, Link, Part, Printed, Role};

pub use part::Status;

/// Each file of `prelude` with its image, listed when the crate is built.
static SOURCES: &[Shipped] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// RSpec itself, the files in the order in which they build on each other.
const CORE: &[&str] = &[
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
    "statuses",
    "formatters",
    "notifications",
    "custom_formatters",
    "parts",
    "puppet_coverage",
    "runner",
];

/// What a machine has beside that which runs examples.
const TOOLS: &[&str] = &[
    "systems",
    "puppet_fixtures",
    "puppet_groups",
    "puppet_catalogue",
    "puppet_values",
    "puppet_matchers",
    "puppet_functions",
    "puppet_world",
    "facter_world",
    "puppet_systems",
    "puppet_factsets",
    "puppet_facts",
    "provided",
];

/// What is asked for: options that `prelude/runner.rb` reads, and where output goes.
pub struct Wish {
    pub options: serde_json::Map<String, serde_json::Value>,
    pub out: Box<dyn Write>,
    pub err: Box<dyn Write>,
    /// Says what runs now, where there is a terminal.
    pub status: Option<Status>,
}

/// Runs specs; the exit code.
pub fn run(host: Rc<dyn Host>, wish: Wish) -> u8 {
    machine(host, wish, Role::Whole, &Arc::default())
}

/// A part of a run: spec files, or work that says by itself what happens, in the events that parts tell.
pub enum Work {
    Specs(Vec<String>),
    Other(Telling),
}

/// Work that sends its events itself.
pub type Telling = Box<dyn FnOnce(&Sender<String>) + Send>;

/// The same in several parts at once, on threads with a stack of their own; the caller's machine tells what
/// happens. `hosts` makes the machine that a part has, by its number.
pub fn run_in_parts(
    host: Rc<dyn Host>,
    wish: Wish,
    parts: Vec<Work>,
    hosts: impl Fn(usize) -> Rc<dyn Host> + Clone + Send + 'static,
) -> std::io::Result<u8> {
    let stop = Arc::<AtomicBool>::default();
    let mut ends = Ends { events: Vec::new(), answers: Vec::new() };
    let mut threads = Vec::new();
    for (number, work) in parts.into_iter().enumerate() {
        let (events, heard) = channel();
        let (answers, answer) = channel();
        ends.events.push(heard);
        ends.answers.push(answers);
        let (options, stop, hosts) = (wish.options.clone(), Arc::clone(&stop), hosts.clone());
        let body = move || {
            let _ending = Ending { events: events.clone() };
            match work {
                Work::Other(work) => work(&events),
                Work::Specs(files) => {
                    let mut options = options;
                    options.insert("files".to_owned(), files.into());
                    let out = Box::new(Printed { events: events.clone() });
                    let err = Box::new(std::io::stderr());
                    let wish = Wish { options, out, err, status: None };
                    machine(hosts(number), wish, Role::Part(Link { events, answer }), &stop);
                }
            }
        };
        threads.push(std::thread::Builder::new().stack_size(fx_ruby::STACK).spawn(body)?);
    }
    let code = machine(host, wish, Role::Teller(ends), &stop);
    // Parts that run on have nobody to talk to; they are waited for, so that what they clean up is gone.
    stop.store(true, Ordering::Relaxed);
    let broken = threads.into_iter().filter_map(|one| one.join().err()).count();
    Ok(if broken == 0 { code } else { code.max(1) })
}

fn machine(host: Rc<dyn Host>, wish: Wish, role: Role, stop: &Arc<AtomicBool>) -> u8 {
    let tells = matches!(role, Role::Teller(_));
    let mut vm = Vm::new(Options {
        host: Rc::<dyn Host>::clone(&host),
        out: wish.out,
        err: wish.err,
        limits: Limits::default(),
        // The project's own gems are used where it has them. Root runs nothing that others can write.
        hooks: Hooks { gems: true, trusted_sources: true, ..Hooks::default() },
        script: "fixpoint test".into(),
        argv: vec![serde_json::Value::Object(wish.options).to_string().into_bytes()],
    });
    let part = Part::new(role, Arc::clone(stop), wish.status);
    install(&mut vm, "FxPart", &part::METHODS, Rc::new(part));
    let texts = sources(&*host);
    vm.shipped = texts;
    if !tells {
        let root = host.cwd().join("spec/fixtures/modules");
        let cookbooks = chef::Cookbooks::new(Rc::<dyn Host>::clone(&host));
        match puppet::Catalogs::start(host, root, texts, &mut vm) {
            Ok(catalogs) => install(&mut vm, "FxPuppet", &puppet::METHODS, Rc::new(catalogs)),
            Err(why) => return failed(&mut vm, &why),
        }
        install(&mut vm, "FxCookbooks", &chef::METHODS, Rc::new(cookbooks));
    }
    for name in CORE.iter().chain(if tells { [].iter() } else { TOOLS.iter() }) {
        if let Err(unwind) = vm.load_prelude_file(&format!("test/{name}.rb")) {
            let text = vm.explain(unwind);
            return failed(&mut vm, &text);
        }
    }
    let program = b"exit RSpec::Core::Runner.main(ARGV.shift)\n";
    let code = match vm.run_script(program, "fixpoint test") {
        Ended::Exit(code) => u8::try_from(code).unwrap_or(1),
        Ended::Failed(text) => failed(&mut vm, &text),
        Ended::Spent(bound) => failed(&mut vm, &format!("fixpoint test: {bound}\n")),
    };
    vm.flush_output();
    // The heap ends with the process; taking it apart would only cost time.
    std::mem::forget(vm);
    code
}

/// Makes an object of ours known to Ruby by this name.
fn install(vm: &mut Vm, name: &str, methods: &[&str], object: Rc<dyn HostObject>) {
    let class = vm.define_class(c::OBJECT, &format!("{name}Object"), c::OBJECT);
    for (number, method) in methods.iter().enumerate() {
        vm.define_host_method(class, method, number as u32);
    }
    let object = vm.host_object(class, object);
    let name = vm.intern(name);
    vm.const_set(c::OBJECT, name, object);
}

/// With the `live-prelude` feature the texts come from the directory in `FIXPOINT_TEST_PRELUDE`.
#[cfg(feature = "live-prelude")]
fn sources(host: &dyn Host) -> &'static [Shipped] {
    fx_chef::live(host, "FIXPOINT_TEST_PRELUDE", "test").unwrap_or(SOURCES)
}

/// The texts built in.
#[cfg(not(feature = "live-prelude"))]
fn sources(_: &dyn Host) -> &'static [Shipped] {
    SOURCES
}

fn failed(vm: &mut Vm, text: &str) -> u8 {
    vm.flush_output();
    // Nobody is left to hear of a closed standard error.
    drop(vm.err.write_all(text.as_bytes()));
    1
}
