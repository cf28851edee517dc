//! Cookbooks for specs: Chef's classes come into the Ruby machine when a spec asks for ChefSpec.

use std::rc::Rc;

use fx_host::Host;
use fx_ruby::value::NIL;
use fx_ruby::{Args, HostObject, R, Value, Vm};

/// What specs reach as `FxCookbooks`.
pub(crate) struct Cookbooks {
    host: Rc<dyn Host>,
}

/// Methods of `FxCookbooks`, by their numbers.
pub(crate) const METHODS: [&str; 1] = ["start"];

/// The files in the order in which they build on each other.
const ORDER: &[&str] = &[
    "chef_facts",
    "chef_stubs",
    "chef_world",
    "chef_coverage",
    "chef_runner",
    "chef_server",
    "chef_matchers",
    "chef_groups",
];

impl Cookbooks {
    pub(crate) fn new(host: Rc<dyn Host>) -> Cookbooks {
        Cookbooks { host }
    }
}

impl HostObject for Cookbooks {
    fn name(&self) -> &'static str {
        "FxCookbooks"
    }

    fn call(&self, vm: &mut Vm, _: u32, _: Args) -> R {
        fx_chef::lend(vm, Rc::<dyn Host>::clone(&self.host))?;
        for name in ORDER {
            vm.load_prelude_file(&format!("test/{name}.rb"))?;
        }
        Ok(NIL)
    }

    /// It keeps no value of Ruby.
    fn trace(&self, _: &mut dyn FnMut(Value)) {}
}
