//! The parts of the core classes that are simpler in Ruby, read when first needed.

use crate::object::c;
use crate::vm::{Shipped, Vm};

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        /// A prelude file.
        pub(crate) fn source(name: &str) -> Option<Shipped> {
            match name {
                $($name => Some(Shipped {
                    name: $name,
                    text: include_str!(concat!("../prelude/", $name)),
                    image: include_bytes!(concat!(env!("OUT_DIR"), "/", $name)),
                }),)*
                _ => None,
            }
        }
    };
}

sources! {
    "kernel.rb", "comparable.rb", "enumerable.rb", "array.rb", "hash.rb", "string.rb", "range.rb", "numeric.rb", "struct.rb",
    "enumerator.rb", "io.rb", "file.rb", "dir.rb", "process.rb", "time.rb", "env.rb", "rational.rb", "thread.rb", "monitor.rb", "set.rb", "misc.rb", "trace_point.rb", "did_you_mean.rb", "converter.rb", "gem.rb", "marshal.rb", "marshal_reader.rb", "regexp.rb",
}

/// Which class's first missing method reads which file.
const LAZY: &[(u32, &str)] = &[
    (c::COMPARABLE, "comparable.rb"),
    (c::ENUMERABLE, "enumerable.rb"),
    (c::ARRAY, "array.rb"),
    (c::HASH, "hash.rb"),
    (c::STRING, "string.rb"),
    (c::RANGE, "range.rb"),
    (c::NUMERIC, "numeric.rb"),
    (c::STRUCT, "struct.rb"),
    (c::ENUMERATOR, "enumerator.rb"),
    (c::IO, "io.rb"),
    (c::IO, "file.rb"),
    (c::DIR, "dir.rb"),
    (c::TIME, "time.rb"),
    (c::MATCH, "regexp.rb"),
    (c::ENCODING, "converter.rb"),
];

pub(crate) fn init(vm: &mut Vm) {
    for (class, name) in LAZY {
        vm.lazy.push((*class, name, ""));
        if let Ok(meta) = vm.singleton_class(crate::value::Value::class(*class)) {
            vm.lazy.push((meta, name, ""));
        }
    }
    for class in [c::RATIONAL, c::COMPLEX] {
        if let Ok(meta) = vm.singleton_class(crate::value::Value::class(class)) {
            vm.lazy.push((meta, "rational.rb", ""));
        }
    }
    vm.lazy.push((c::PROCESS, "process.rb", ""));
    vm.lazy.push((c::SIGNAL, "process.rb", ""));
    vm.lazy.push((c::OBJECTSPACE, "misc.rb", ""));
    vm.lazy.push((c::RANDOM, "misc.rb", ""));
    // Class methods: the singleton classes read the same files.
    for (class, name) in [
        (c::FILETEST, "file.rb"),
        (c::PROCESS, "process.rb"),
        (c::SIGNAL, "process.rb"),
        (c::TIME, "time.rb"),
        (c::HASH, "hash.rb"),
        (c::ENUMERATOR, "enumerator.rb"),
        (c::MARSHAL, "marshal.rb"),
        (c::RANDOM, "misc.rb"),
        (c::OBJECTSPACE, "misc.rb"),
        (c::REGEXP, "regexp.rb"),
    ] {
        if let Ok(meta) = vm.singleton_class(crate::value::Value::class(class)) {
            vm.lazy.push((meta, name, ""));
        }
    }
    vm.lazy.push((c::RATIONAL, "rational.rb", ""));
    vm.lazy.push((c::COMPLEX, "rational.rb", ""));
    for class in [c::THREAD, c::FIBER] {
        vm.lazy.push((class, "thread.rb", ""));
        if let Ok(meta) = vm.singleton_class(crate::value::Value::class(class)) {
            vm.lazy.push((meta, "thread.rb", ""));
        }
    }
    vm.lazy.push((c::KERNEL, "kernel.rb", ""));
    for (name, file) in [
        ("Set", "set.rb"),
        ("Mutex", "thread.rb"),
        ("Queue", "thread.rb"),
        ("SizedQueue", "thread.rb"),
        ("ConditionVariable", "thread.rb"),
        ("Monitor", "monitor.rb"),
        ("MonitorMixin", "monitor.rb"),
        ("ThreadGroup", "thread.rb"),
        ("TracePoint", "trace_point.rb"),
        ("DidYouMean", "did_you_mean.rb"),
        ("Ractor", "misc.rb"),
        ("RubyVM", "misc.rb"),
        ("ARGF", "misc.rb"),
        ("Gem", "gem.rb"),
        ("TOPLEVEL_BINDING", "misc.rb"),
    ] {
        let sym = vm.intern(name);
        let path = format!("prelude:{file}");
        vm.classes[c::OBJECT as usize].consts.insert(
            sym,
            crate::object::Const {
                value: crate::value::UNDEF,
                private: false,
                deprecated: false,
                autoload: Some(path.as_str().into()),
                file: 0,
                pos: 0,
            },
        );
    }
}
