//! Properties without Ruby: the plain read and the plain write of a resource's property.
//!
//! What needs a lazy value, a default of its own, a check other than the class, or a message
//! goes to `Chef::Property`, which stays the definition of what a property is.

use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Sym, Value, Vm};

use crate::machine::{Machine, Method, path};

pub(crate) const METHODS: &[(&str, Method)] = &[("accessor", accessor)];

/// Numbers from here on are properties: two each, to read or set and to assign.
const FIRST: u32 = 1 << 20;

/// Properties by number, and the class of lazy values.
#[derive(Default)]
pub(crate) struct Table {
    list: Vec<Property>,
    delayed: Option<u32>,
    not_passed: Option<Value>,
}

#[derive(Clone, Copy)]
struct Property {
    /// The `Chef::Property`.
    object: Value,
    /// Where resources keep the value.
    ivar: Sym,
    /// The value of all resources that have none, when it may be shared.
    shared: Option<Value>,
    has_default: bool,
    required: bool,
    /// The resource's name stands for it.
    named: bool,
    /// A block that makes the value from what was given, run with the resource as self.
    coerce: Option<Value>,
    /// Classes of which a value is one; none when setting needs Ruby.
    types: Option<&'static [u32]>,
}

/// `FX.accessor(class, property, name, ivar, types | nil, coerce | nil, default may be shared,
/// default, has default, required, the name is its default)`: defines the two methods.
fn accessor(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let Some(class) = vm.arg(a, 0).as_class() else { return Ok(NIL) };
    let (Some(name), Some(ivar)) = (vm.arg(a, 2).as_sym(), vm.arg(a, 3).as_sym()) else {
        return Ok(NIL);
    };
    let types = vm.opt_nil(a, 4).filter(|list| list.is_arr()).map(|list| {
        let ids: Vec<u32> = vm.heap.arr(list).iter().filter_map(|v| v.as_class()).collect();
        // Classes live as long as the run, and so does what a property says of them.
        &*Box::leak(ids.into_boxed_slice())
    });
    let flag = |vm: &mut Vm, i| vm.opt(a, i).is_some_and(Value::truthy);
    // The table keeps these as long as the run.
    let property = Property {
        object: vm.pin(vm.arg(a, 1)),
        ivar,
        coerce: vm.opt_nil(a, 5).map(|block| vm.pin(block)),
        shared: if flag(vm, 6) { vm.opt(a, 7).map(|shared| vm.pin(shared)) } else { None },
        has_default: flag(vm, 8),
        required: flag(vm, 9),
        named: flag(vm, 10),
        types,
    };
    let mut table = machine.properties.borrow_mut();
    if table.delayed.is_none() {
        table.delayed = path(vm, &["Chef", "DelayedEvaluator"])?.as_class();
        let not_passed = path(vm, &["NOT_PASSED"])?;
        table.not_passed = Some(vm.pin(not_passed));
    }
    let number = FIRST + 2 * table.list.len() as u32;
    table.list.push(property);
    drop(table);
    let name = String::from_utf8_lossy(vm.syms.bytes(name)).into_owned();
    vm.define_host_method(class, &name, number);
    vm.define_host_method(class, &format!("{name}="), number + 1);
    Ok(NIL)
}

/// A property's method, by its number.
pub(crate) fn call(machine: &Machine, vm: &mut Vm, number: u32, a: Args) -> R {
    let table = machine.properties.borrow();
    let index = number.wrapping_sub(FIRST);
    let Some(property) = table.list.get(index as usize / 2).copied() else {
        return vm.arg_error("no such method");
    };
    let assign = index & 1 == 1;
    let (delayed, not_passed) = (table.delayed, table.not_passed);
    drop(table);
    if !a.block.is_nil() && !assign {
        return vm.call_name(property.object, "refuse_block", &[a.recv]);
    }
    if a.argc > 1 || (a.argc == 0 && assign) {
        let expected = if assign { "1" } else { "0..1" };
        let message = format!("wrong number of arguments (given {}, expected {expected})", a.argc);
        return vm.arg_error(message);
    }
    let is_lazy = |vm: &Vm, v: Value| v.is_proc() && Some(vm.class_of(v)) == delayed;
    if a.argc == 0 || Some(vm.arg(a, 0)) == not_passed {
        return match vm.ivar_get(a.recv, property.ivar) {
            Some(v) if !(is_lazy(vm, v) || v.is_nil() && property.required) => Ok(v),
            None if property.shared.is_some() => Ok(property.shared.unwrap_or(NIL)),
            None if !property.has_default && !property.required => Ok(NIL),
            None if property.named && property.coerce.is_none() => {
                let name = vm.intern("@name");
                let value = vm.ivar_get(a.recv, name).filter(|name| name.is_str());
                match (value, property.types) {
                    (Some(value), Some(types))
                        if types.is_empty() || types.contains(&vm.class_of(value)) =>
                    {
                        vm.ivar_set(a.recv, property.ivar, value);
                        Ok(value)
                    }
                    _ => vm.call_name(property.object, "get", &[a.recv]),
                }
            }
            _ => vm.call_name(property.object, "get", &[a.recv]),
        };
    }
    let given = vm.arg(a, 0);
    if let Some(types) = property.types
        && !given.is_nil()
    {
        if is_lazy(vm, given) {
            vm.ivar_set(a.recv, property.ivar, given);
            return Ok(given);
        }
        let mut value = given;
        if let Some(block) = property.coerce {
            value = vm.yield_self(block, a.recv, &[given], None)?;
        }
        let fits = types.is_empty() || types.iter().any(|class| vm.is_a(value, *class));
        if fits && !value.is_nil() {
            vm.ivar_set(a.recv, property.ivar, value);
            return Ok(value);
        }
    }
    vm.call_name(property.object, "set", &[a.recv, given])
}
