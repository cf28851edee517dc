//! Services for the bodies of Chef's providers: the words of commands, what they print, and the
//! links that start init scripts. The commands themselves run as changes of the provider.

use fx_resources::service::boot::{self, Dialect, Order, Tool};
use fx_resources::service::systemd::{self, Unit};
use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Res, Value, Vm};

use crate::machine::{Machine, Method, text};
use crate::ruby_data::list;

pub(crate) const METHODS: &[(&str, Method)] = &[
    ("systemctl_words", systemctl_words),
    ("unit_state", unit_state),
    ("boot_links", boot_links),
    ("boot_commands", boot_commands),
];

fn items(vm: &Vm, list: Value) -> Vec<Value> {
    if list.is_arr() { vm.heap.arr(list).clone() } else { Vec::new() }
}

/// `FX.systemctl_words(program, whether of a user, verb, unit)`.
fn systemctl_words(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let program = text(vm, a, 0)?.unwrap_or_default();
    let of_user = vm.arg(a, 1).truthy();
    let verb = text(vm, a, 2)?.unwrap_or_default();
    let unit = text(vm, a, 3)?;
    Ok(list(vm, systemd::chef_words(&program, of_user, &verb, unit.as_deref())))
}

/// `FX.unit_state(what systemctl printed)`: `[whether active, whether enabled, state of the unit
/// file]`; nil where the states are not in it.
fn unit_state(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let Some(unit) = Unit::parse(&text(vm, a, 0)?.unwrap_or_default()) else { return Ok(NIL) };
    let active = Value::bool(unit.active == "active");
    let enabled = Value::bool(unit.is_enabled_for_chef());
    let file = vm.str(unit.file);
    Ok(vm.arr(vec![active, enabled, file]))
}

/// `FX.boot_links(service, levels)`: `[level, whether it starts there, order]` of each link.
fn boot_links(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let service = text(vm, a, 0)?.unwrap_or_default();
    let levels = vm.arg(a, 1);
    let levels: Vec<String> =
        items(vm, levels).into_iter().map(|level| vm.to_s(level)).collect::<Res<_>>()?;
    let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
    let links = match boot::links(machine.look(), &service, &levels) {
        Ok(links) => links,
        Err(failure) => return crate::machine::raise(vm, "Service", &failure.to_string()),
    };
    let links = links
        .into_iter()
        .map(|link| {
            let (level, order) = (vm.str(link.level), vm.str(link.order));
            vm.arr(vec![level, Value::bool(link.starts), order])
        })
        .collect();
    Ok(vm.arr(links))
}

/// `FX.boot_commands(tool, service, on, priority, run levels, surplus run levels)`: the commands
/// that make it start at boot, or not. A priority is a number, or `[level, whether it starts]` of
/// each level.
fn boot_commands(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let tool = match text(vm, a, 0)?.unwrap_or_default().as_str() {
        "update-rc.d" => Tool::UpdateRcD,
        "chkconfig" => Tool::Chkconfig,
        "insserv" => Tool::Insserv,
        other => return vm.arg_error(format!("no tool '{other}' makes links of run levels")),
    };
    let service = text(vm, a, 1)?.unwrap_or_default();
    let on = vm.arg(a, 2).truthy();
    let mut order = Order::default();
    if let Some(priority) = vm.opt_nil(a, 3) {
        order.place = priority.fixnum();
        for pair in items(vm, priority) {
            if let [level, starts] = items(vm, pair)[..] {
                order.levels.push((vm.to_s(level)?, starts.truthy()));
            }
        }
    }
    order.run_levels = text(vm, a, 4)?.unwrap_or_default();
    order.surplus = text(vm, a, 5)?.unwrap_or_default();
    let commands = boot::switch(tool, &Dialect::Chef(order), &service, on);
    let commands = commands.into_iter().map(|words| list(vm, words)).collect();
    Ok(vm.arr(commands))
}
