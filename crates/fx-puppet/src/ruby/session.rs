//! A program of its own in the Ruby of modules: specs run where types, providers, facts and functions
//! do, so that what they stub is stubbed for all of them.

use std::rc::Rc;

use fx_ruby::{Shipped, Vm};

use super::{BOOT, PARTS, Ruby, bridge, failure};
use crate::catalogs::{CatalogRequest, Compilation, compile_texts, evaluator_of, finished};
use crate::eval::Flow;
use crate::machine::Machine;
use crate::value::Value;

/// The program's hold on the compiler.
pub struct RubySession {
    machine: Machine,
}

impl RubySession {
    /// Makes a Ruby machine that of all modules. It must stay where it is called from: compilations
    /// that it asks for borrow it. `more` are texts that the program brings itself.
    pub fn start(
        machine: &Machine,
        request: &CatalogRequest,
        node: &str,
        more: &[Shipped],
        vm: &mut Vm,
    ) -> Result<RubySession, String> {
        let evaluator = evaluator_of(machine, request, node, None);
        evaluator.prepare();
        let ruby = &machine.ruby;
        vm.shipped = Box::leak(PARTS.iter().chain(more).copied().collect());
        ruby.keeps_errors.set(true);
        ruby.entered.set(evaluator.number);
        ruby.current.borrow_mut().push(Rc::clone(&evaluator));
        let booted = BOOT
            .iter()
            .try_for_each(|part| ruby.part(vm, part))
            .and_then(|()| bridge::install(vm, ruby));
        booted.map_err(|unwind| Flow::text(failure(ruby, vm, unwind)))?;
        Ok(RubySession { machine: machine.clone() })
    }

    /// Compiles a catalog from inside the program.
    pub fn compile(
        &self,
        vm: &mut Vm,
        request: &CatalogRequest,
        node: &str,
        facts: Vec<(String, Value)>,
        texts: &[(String, Vec<u8>)],
    ) -> Result<Compilation, String> {
        self.lent(vm, || compile_texts(&self.machine, request, node, facts, texts))
    }

    /// The same, and what is asked of the compiler from now on is asked of this compilation.
    pub fn enter(
        &self,
        vm: &mut Vm,
        request: &CatalogRequest,
        node: &str,
        facts: Vec<(String, Value)>,
        texts: &[(String, Vec<u8>)],
    ) -> Result<Compilation, String> {
        self.leave();
        let evaluator = evaluator_of(&self.machine, request, node, Some(facts));
        let made = self.lent(vm, || {
            evaluator.compile(texts)?;
            finished(&evaluator, request)
        })?;
        self.ruby().current.borrow_mut().push(evaluator);
        Ok(made)
    }

    /// Ends what `enter` began.
    pub fn leave(&self) {
        self.ruby().current.borrow_mut().truncate(1);
    }

    fn ruby(&self) -> &Rc<Ruby> {
        &self.machine.ruby
    }

    fn lent<T>(&self, vm: &mut Vm, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        let Some(evaluator) = self.ruby().evaluator() else { return work() };
        self.ruby().lend(vm, &evaluator, work)
    }
}
