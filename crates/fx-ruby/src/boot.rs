//! Making a machine: the classes, then each part's methods.

use std::rc::Rc;

use crate::embed::Options;
use crate::heap::{Ext, Heap};
use crate::names as n;
use crate::object::{CORE, ClassKind, Cref, RClass, c};
use crate::value::{NIL, Value};
use crate::vm::Vm;

impl Vm {
    /// A machine with all core classes, ready to run a program.
    pub fn new(options: Options) -> Vm {
        let top: &'static Cref =
            Box::leak(Box::new(Cref { class: c::OBJECT, up: None, eval: false }));
        let mut vm = Vm::bare(options, top);
        vm.syms = fx_ruby_syntax::Interner::with_names(n::ALL);
        vm.heap = Heap::new();
        vm.classes.reserve(400);
        vm.methods.reserve(3000);
        vm.stack.reserve(1 << 12);
        vm.frames.reserve(256);
        vm.boot();
        let stress = vm.host.var(std::ffi::OsStr::new(crate::gc::STRESS));
        if let Some(every) = stress.and_then(|text| text.to_str()?.parse().ok()) {
            vm.set_gc_stress(every);
        }
        vm
    }

    /// A machine with nothing in it: no class, no name, no object.
    pub(crate) fn bare(options: Options, top: &'static Cref) -> Vm {
        Vm {
            host: options.host,
            out: options.out,
            err: options.err,
            syms: fx_ruby_syntax::Interner::new(),
            heap: Heap::default(),
            gc: Default::default(),
            classes: Vec::new(),
            methods: Vec::new(),
            stack: Vec::new(),
            frames: Vec::new(),
            pending: crate::limits::Way::default(),
            budget: crate::limits::Budget::default(),
            epoch: 1,
            const_epoch: 1,
            hierarchy: 1,
            serial: 1,
            ticks: 0,
            limits: options.limits,
            deadline: None,
            method_cache: Default::default(),
            crefs: Default::default(),
            spare_singletons: Default::default(),
            globals: Default::default(),
            galiases: Default::default(),
            files: Vec::new(),
            last_match: NIL,
            subject: None,
            searched: None,
            last_line: NIL,
            errinfo: NIL,
            main: NIL,
            top_cref: top,
            file_cref: top,
            redefined: false,
            booted: false,
            wording: Default::default(),
            loading_lazy: false,
            lazy: Vec::new(),
            shipped: &[],
            resident: None,
            autoloading: Vec::new(),
            loading: Vec::new(),
            nil_class: c::NIL,
            true_class: c::TRUE,
            false_class: c::FALSE,
            at_exit: Vec::new(),
            inspecting: Vec::new(),
            comparing: Vec::new(),
            flipped: rustc_hash::FxHashSet::default(),
            tracing: 0,
            catching: Vec::new(),
            regex_cache: Default::default(),
            rng: crate::core::random::Mt::new(0),
            cwd: None,
            env: Default::default(),
            script: options.script.as_str().into(),
            argv: options.argv,
            io: Default::default(),
            hooks: options.hooks,
            native_depth: 0,
            umask: 0o022,
            bare_name: false,
            required: Vec::new(),
            object_ids: Default::default(),
            fstrings: Default::default(),
            marks: Vec::new(),
            sym_encs: Default::default(),
            refining: Default::default(),
            compiled: Default::default(),
            fibers: Default::default(),
        }
    }

    fn boot(&mut self) {
        for (i, (_, sup)) in CORE.iter().enumerate() {
            let module = *sup == u32::MAX && i != c::BASIC_OBJECT as usize;
            let kind = if module { ClassKind::Module } else { ClassKind::Class };
            let superclass = if *sup == u32::MAX { None } else { Some(*sup) };
            self.classes.push(RClass::new(kind, superclass, i as u32));
            if let Some(sup) = superclass {
                self.classes[sup as usize].subclasses.push(i as u32);
            }
        }
        for (i, (name, _)) in CORE.iter().enumerate() {
            let sym = self.intern(name);
            self.const_set(c::OBJECT, sym, Value::class(i as u32));
        }
        self.classes[c::OBJECT as usize].includes.push(c::KERNEL);
        self.hierarchy += 1;
        self.main = self.heap.object(c::OBJECT, Ext::None);
        crate::core::globals::init(self);
        crate::core::kernel::init(self);
        crate::core::object::init(self);
        crate::core::module::init(self);
        crate::core::basic::init(self);
        crate::core::comparable::init(self);
        crate::core::procs::init(self);
        crate::core::exception::init(self);
        self.include_module(c::NUMERIC, c::COMPARABLE);
        self.include_module(c::STRING, c::COMPARABLE);
        crate::core::integer::init(self);
        crate::core::float::init(self);
        crate::core::math::init(self);
        crate::core::random::init(self);
        crate::core::string::init(self);
        crate::core::symbol::init(self);
        crate::core::array::init(self);
        crate::core::hash::init(self);
        crate::core::range::init(self);
        crate::core::regexp::init(self);
        crate::core::structs::init(self);
        crate::core::enumerator::init(self);
        crate::core::fiber::init(self);
        crate::core::enumerable::init(self);
        crate::core::glob::init(self);
        crate::core::io::init(self);
        crate::core::io_write::init(self);
        crate::core::file::init(self);
        crate::core::process::init(self);
        crate::core::memory::init(self);
        crate::core::time::init(self);
        crate::core::env::init(self);
        crate::prelude::init(self);
        // Subclasses made after their parent's allocator was set.
        for i in 0..self.classes.len() {
            if let Some(sup) = self.classes[i].superclass {
                let alloc = self.classes[sup as usize].alloc;
                if self.classes[i].alloc == crate::object::Alloc::Object {
                    self.classes[i].alloc = alloc;
                }
            }
        }
        let argv: Vec<Value> = self.argv.clone().into_iter().map(|b| self.str(b)).collect();
        let argv = self.arr(argv);
        let s = self.intern("ARGV");
        self.const_set(c::OBJECT, s, argv);
        self.globals.insert(n::GV_STAR, argv);
        let script: Rc<str> = Rc::clone(&self.script);
        let zero = self.str(script.as_bytes());
        self.globals.insert(n::GV_0, zero);
        let seed = self.fresh_seed();
        self.rng = crate::core::random::Mt::new(seed);
        self.bump();
        self.booted = true;
    }
}
