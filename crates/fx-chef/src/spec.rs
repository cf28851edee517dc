//! A program of its own in the Ruby of cookbooks: specs compile recipes and look at what they ask for.
//!
//! Nothing of a recipe is made here: `FX` only looks at the machine, and refuses what would change it.

use std::cell::RefCell;
use std::rc::Rc;

use fx_engine::{Cancel, Ledger};
use fx_host::{Host, LookingHost};
use fx_ruby::{Res, Vm};
use fx_source::SourceMap;

use crate::effects::Effects;
use crate::formatter::Output;
use crate::machine::{Machine, Request, bind};
use crate::{prelude, trap};

/// Makes a Ruby machine that of cookbooks as well: Chef's classes are there from then on.
pub fn lend(vm: &mut Vm, host: Rc<dyn Host>) -> Res<()> {
    let shipped = prelude::sources(&*host);
    vm.shipped = Box::leak(vm.shipped.iter().chain(shipped).copied().collect());
    let request = Request { cwd: host.cwd(), ..Request::default() };
    let machine = Machine::new(
        Rc::new(LookingHost::new(host)),
        (Rc::new(Ledger::default()), Rc::new(Effects::default())),
        Cancel::default(),
        Rc::new(SourceMap::default()),
        request,
        // Formatters have nobody to talk to.
        Output::new(Box::new(std::io::sink())),
        Rc::new(RefCell::new(trap::Reads::default())),
    );
    bind(vm, &machine)
}
