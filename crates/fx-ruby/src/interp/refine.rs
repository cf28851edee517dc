//! Refinements: methods that a class has only in the part of a text where they are in use. Which
//! part that is depends on the place of a call alone, so the look-up asks once for each site and
//! its cache keeps the answer; a program without refinements pays nothing.

use std::rc::Rc;

use fx_ruby_syntax::Sym;
use fx_ruby_syntax::ast::CodeKind;
use rustc_hash::FxHashMap;

use crate::heap::ProcBody;
use crate::object::{Body, ClassKind, c};
use crate::value::Value;
use crate::vm::{Args, R, Vm};

/// A class and what refines it.
type Refined = (u32, u32);

#[derive(Default)]
pub struct Refining {
    /// Where refinements are in use: file, from, to, and which.
    active: Vec<(u32, u32, u32, Rc<[Refined]>)>,
    /// What each module refines, in order.
    of: FxHashMap<u32, Vec<Refined>>,
    /// The class that a refinement is for.
    target: FxHashMap<u32, u32>,
}

impl Refining {
    pub(crate) fn idle(&self) -> bool {
        self.active.is_empty()
    }

    /// The class that this module refines, if it is a refinement.
    pub(crate) fn target(&self, module: u32) -> Option<u32> {
        self.target.get(&module).copied()
    }

    fn at(&self, file: u32, pos: u32) -> Vec<Rc<[Refined]>> {
        let here = self
            .active
            .iter()
            .rev()
            .filter(|(in_file, from, to, _)| *in_file == file && (*from..*to).contains(&pos));
        here.map(|(.., list)| Rc::clone(list)).collect()
    }
}

impl Vm {
    /// The method that refinements in use at a place put before the class's own.
    pub(crate) fn refined(&mut self, class: u32, name: Sym, file: u32, pos: u32) -> Option<u32> {
        let lists = self.refining.at(file, pos);
        if lists.is_empty() {
            return None;
        }
        for at in self.mro(class).iter().copied() {
            for (_, refinement) in lists.iter().flat_map(|l| l.iter().rev()).filter(|r| r.0 == at) {
                for part in self.mro(*refinement).iter() {
                    if let Some(id) = self.classes[*part as usize].methods.get(&name)
                        && !matches!(self.methods[*id as usize].body, Body::Undef)
                    {
                        return Some(*id);
                    }
                }
            }
            if self.classes[at as usize].methods.contains_key(&name) {
                return None;
            }
        }
        None
    }

    /// As [`Vm::refined`], for the code that runs now.
    pub(crate) fn refined_here(&mut self, class: u32, name: Sym) -> Option<u32> {
        if self.refining.idle() {
            return None;
        }
        let (file, pos) = self.here();
        self.refined(class, name, file, pos)
    }

    /// From a refinement `super` goes to what it includes, then to the class itself.
    pub(crate) fn super_of_refined(&mut self, class: u32, owner: u32, name: Sym) -> Option<u32> {
        let target = self.refining.target(owner)?;
        let included = self.mro(owner);
        let mro = self.mro(class);
        let from = mro.iter().position(|x| *x == target)?;
        self.first_of(&mut included.iter().skip(1).chain(&mro[from..]), name)
    }

    /// A text given to `eval` sees what the place that gave it sees.
    pub(crate) fn refine_like_here(&mut self, file: u32) {
        if self.refining.idle() {
            return;
        }
        let (from, pos) = self.here();
        for list in self.refining.at(from, pos).into_iter().rev() {
            self.refining.active.push((file, 0, u32::MAX, list));
        }
    }

    fn refinement(&mut self, module: u32, target: u32) -> u32 {
        let known = self.refining.of.get(&module).and_then(|l| l.iter().find(|r| r.0 == target));
        if let Some((_, refinement)) = known {
            return *refinement;
        }
        let id = self.new_class(ClassKind::Module, None);
        let name = format!("#<refinement:{}@{}>", self.class_name(target), self.class_name(module));
        let class = &mut self.classes[id as usize];
        (class.class_class, class.name) = (c::REFINEMENT, Some(name.as_str().into()));
        self.refining.of.entry(module).or_default().push((target, id));
        self.refining.target.insert(id, target);
        id
    }

    fn in_use(&mut self, file: u32, from: u32, to: u32, module: u32) {
        let mut list = Vec::new();
        for part in self.mro(module).iter().rev() {
            list.extend(self.refining.of.get(part).into_iter().flatten());
        }
        self.refining.active.push((file, from, to, list.into()));
        self.bump();
    }
}

/// `refine(klass) { … }` in a module.
pub(crate) fn refine(vm: &mut Vm, a: Args) -> R {
    let module = a.recv.index() as u32;
    if !vm.classes[module as usize].is_module() {
        let args = vm.args(a);
        return vm.undefined_method(a.recv, a.name, &args, false, None);
    }
    if a.block.is_nil() {
        return vm.arg_error("no block given");
    }
    let of = vm.arg(a, 0);
    let Some(target) = of.as_class() else {
        let name = vm.type_name(of);
        return vm.type_error(format!("wrong argument type {name} (expected Class or Module)"));
    };
    let proc = &vm.heap.procs[a.block.index()];
    let ProcBody::Code(code) = proc.body else {
        return vm.arg_error("can't pass a Proc as a block to Module#refine");
    };
    if proc.escaped {
        return vm.arg_error("can't pass a Proc as a block to Module#refine");
    }
    let refinement = vm.refinement(module, target);
    vm.in_use(code.file, code.pos, code.end_pos, module);
    let cref = vm.new_cref(refinement, false);
    let it = Value::class(refinement);
    vm.yield_self(a.block, it, &[it], Some(cref))?;
    Ok(it)
}

/// `using(module)` of the program and of modules.
pub(crate) fn using(vm: &mut Vm, a: Args) -> R {
    let v = vm.arg(a, 0);
    let module = match v.as_class() {
        Some(id) if vm.classes[id as usize].is_module() => id,
        _ => {
            let name = vm.type_name(v);
            return vm.type_error(format!("wrong argument type {name} (expected Module)"));
        }
    };
    if vm.refining.target(module).is_some() {
        return vm.arg_error("refinement module is not allowed");
    }
    let of = if a.recv == vm.main { "main" } else { "Module" };
    let sign = if of == "main" { "." } else { "#" };
    let Some(frame) = vm.frames.last().copied() else { return Ok(a.recv) };
    let to = match frame.code.kind {
        CodeKind::Program | CodeKind::Eval => u32::MAX,
        CodeKind::Class => frame.code.end_pos,
        CodeKind::Block | CodeKind::Lambda if frame.method == crate::vm::NO_METHOD => {
            frame.code.end_pos
        }
        _ => {
            let text = format!("{of}{sign}using is permitted only at toplevel");
            let text = if of == "main" {
                text
            } else {
                format!("{of}{sign}using is not permitted in methods")
            };
            return vm.fail(c::RUNTIME_ERROR, text);
        }
    };
    vm.in_use(frame.code.file, frame.pos, to, module);
    Ok(a.recv)
}

/// `Refinement#import_methods`: the methods of modules, copied.
pub(crate) fn import_methods(vm: &mut Vm, a: Args) -> R {
    for v in vm.args(a) {
        let Some(module) = v.as_class().filter(|id| vm.classes[*id as usize].is_module()) else {
            let name = vm.type_name(v);
            return vm.type_error(format!("wrong argument type {name} (expected Module)"));
        };
        for name in vm.classes[module as usize].order.clone() {
            let Some(id) = vm.classes[module as usize].methods.get(&name).copied() else {
                continue;
            };
            let method = vm.methods[id as usize];
            if matches!(method.body, Body::Native(..)) {
                let (name, of) = (vm.sym_str(name), vm.class_name(module));
                let text =
                    format!("Can't import method which is not defined with Ruby code: {of}#{name}");
                return vm.arg_error(text);
            }
            vm.add_method(a.recv.index() as u32, name, method.body, method.vis);
        }
    }
    Ok(a.recv)
}

/// `Module.used_modules`: what is in use here, the latest first.
pub(crate) fn used_modules(vm: &mut Vm, _: Args) -> R {
    let (file, pos) = vm.here();
    let lists = vm.refining.at(file, pos);
    let mut found: Vec<Value> = Vec::new();
    let mut owners: Vec<(u32, Vec<Refined>)> =
        vm.refining.of.iter().map(|(module, list)| (*module, list.clone())).collect();
    owners.sort_unstable_by_key(|(module, _)| *module);
    for list in &lists {
        for (module, refined) in &owners {
            let v = Value::class(*module);
            if refined.iter().any(|r| list.contains(r)) && !found.contains(&v) {
                found.push(v);
            }
        }
    }
    Ok(vm.arr(found))
}
