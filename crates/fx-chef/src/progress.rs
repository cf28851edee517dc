//! The course of a run as the client reports it, for the formatter.

use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Res, Value, Vm};

use crate::actions::Ending;
use crate::event::{Ended, Event, Sections};
use crate::formatter::{Format, Style};
use crate::machine::{Machine, Method, Schedule, text};

pub(crate) const METHODS: &[(&str, Method)] = &[
    ("formatter", formatter),
    ("doc?", doc),
    ("run_start", run_start),
    ("schedules?", is_scheduling),
    ("schedule", schedule),
    ("registering", registering),
    ("policy_loaded", policy_loaded),
    ("resolving", resolving),
    ("synchronizing", synchronizing),
    ("compiling", compiling),
    ("compliance", compliance),
    ("converging", converging),
    ("converged", converged),
    ("describe", describe),
    ("handlers", handlers),
    ("summary", summary),
    ("masked", masked),
    ("shown_lines", shown_lines),
];

fn truthy(vm: &Vm, a: Args, i: u32) -> bool {
    vm.opt(a, i).is_some_and(Value::truthy)
}

/// `FX.formatter(name, why-run, without headings)`.
fn formatter(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let format = Format::named(&text(vm, a, 0)?.unwrap_or_default());
    machine.set_style(Style { format, why_run: truthy(vm, a, 1), bare: truthy(vm, a, 2) });
    Ok(NIL)
}

/// `FX.doc?`: whether what is said at length is shown.
fn doc(machine: &Machine, _: &mut Vm, _: Args) -> R {
    let doc = machine.console.borrow().style.format == Format::Doc;
    Ok(Value::bool(doc && !machine.is_hushed()))
}

fn run_start(machine: &Machine, _: &mut Vm, _: Args) -> R {
    machine.emit(&Event::RunStarted);
    Ok(NIL)
}

/// `FX.schedules?`: whether runs in intervals can be asked for.
fn is_scheduling(machine: &Machine, _: &mut Vm, _: Args) -> R {
    Ok(Value::bool(machine.request.schedule.is_some()))
}

/// `FX.schedule(interval, splay, daemonize, pid file)`: runs in intervals are wanted.
fn schedule(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let number =
        |vm: &Vm, i: u32| vm.arg(a, i).fixnum().and_then(|number| u64::try_from(number).ok());
    let made = Schedule {
        interval: number(vm, 0).unwrap_or_default(),
        splay: number(vm, 1).unwrap_or_default(),
        in_background: truthy(vm, a, 2),
        first: number(vm, 2),
        pid_file: machine.request.cwd.join(text(vm, a, 3)?.unwrap_or_default()),
    };
    if let Some(place) = &machine.request.schedule {
        *place.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(made);
    }
    Ok(NIL)
}

/// `FX.registering(name)`: a client without a key introduces itself.
fn registering(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    machine.emit(&Event::Registering { name: &name });
    Ok(NIL)
}

/// `FX.policy_loaded(name, revision)`.
fn policy_loaded(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let (name, revision) =
        (text(vm, a, 0)?.unwrap_or_default(), text(vm, a, 1)?.unwrap_or_default());
    machine.emit(&Event::PolicyLoaded { name: &name, revision: &revision });
    Ok(NIL)
}

fn resolving(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let list = vm.arg(a, 0);
    let shown = vm.inspect_string(list)?;
    machine.emit(&Event::CookbooksResolving { run_list: &shown });
    Ok(NIL)
}

/// `FX.synchronizing([[name, version]…])`.
fn synchronizing(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let cookbooks = sections(vm, a, 0)?;
    machine.emit(&Event::CookbooksSynchronized { cookbooks: &cookbooks });
    Ok(NIL)
}

fn compiling(machine: &Machine, _: &mut Vm, _: Args) -> R {
    machine.emit(&Event::Compiling);
    Ok(NIL)
}

/// `FX.compliance`: the parts of a compliance phase, none of which a run has.
fn compliance(machine: &Machine, _: &mut Vm, _: Args) -> R {
    machine.emit(&Event::ComplianceLoading);
    Ok(NIL)
}

/// `FX.converging(resources, files loaded)`.
fn converging(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let resources = vm.arg(a, 0).fixnum().unwrap_or_default();
    let loaded = vm.arg(a, 1).fixnum().unwrap_or(0).max(0) as usize;
    machine.emit(&Event::Converging { resources, loaded });
    Ok(NIL)
}

/// `FX.converged(failed)`.
fn converged(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    machine.emit(&Event::Converged { failed: truthy(vm, a, 0) });
    Ok(NIL)
}

/// Pairs of texts in an argument, such as heading and text.
pub(crate) fn sections(vm: &mut Vm, a: Args, i: u32) -> Res<Sections> {
    let mut out = Vec::new();
    let Some(list) = vm.opt_nil(a, i).filter(|v| v.is_arr()) else { return Ok(out) };
    for pair in vm.heap.arr(list).clone() {
        let pair = vm.heap.arr(pair).clone();
        out.push((vm.to_s(pair[0])?, vm.to_s(pair[1])?));
    }
    Ok(out)
}

/// `FX.describe(title, sections)`: a failure that belongs to no resource.
fn describe(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let title = text(vm, a, 0)?.unwrap_or_default();
    let sections = sections(vm, a, 1)?;
    machine.emit(&Event::LoadFailed { title: &title, sections: &sections });
    Ok(NIL)
}

/// `FX.handlers(nil | name | true)`: handlers begin, one has run, all have.
fn handlers(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let step = vm.arg(a, 0);
    if step.is_str() {
        let name = vm.to_s(step)?;
        machine.emit(&Event::HandlerRan { name: &name });
    } else if step.truthy() {
        machine.emit(&Event::HandlersCompleted);
    } else {
        machine.emit(&Event::HandlersStarted);
    }
    Ok(NIL)
}

/// `FX.summary(failed, deprecations)`: the last lines of the formatter.
fn summary(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let failed = vm.arg(a, 0).truthy();
    let list = vm.arg(a, 1);
    let mut deprecations = Vec::new();
    for line in if list.is_arr() { vm.heap.arr(list).clone() } else { Vec::new() } {
        deprecations.push(vm.to_s(line)?);
    }
    let rows = machine.rows.borrow();
    let updated = rows.count(|ending| matches!(ending, Ending::Updated));
    let others = |ending: &Ending| matches!(ending, Ending::UpToDate | Ending::Skipped { .. });
    let total = updated + rows.count(others) + rows.asked;
    let why_run = machine.console.borrow().style.why_run;
    let seconds = machine.look().monotonic().as_secs();
    let deprecations = &deprecations;
    machine.emit(&Event::RunEnded(&Ended {
        failed,
        why_run,
        updated,
        total,
        seconds,
        deprecations,
    }));
    Ok(NIL)
}

/// `FX.shown_lines(text)`: lines of source, without the secrets that they say they hold.
fn shown_lines(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let text = text(vm, a, 0)?.unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let line = |at: u32| lines.get(at as usize - 1).map_or("", |line| *line).to_owned();
    let count = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    let shown = (1..=count).map(|at| fx_source::shown_among(at, &line) + "\n").collect::<String>();
    Ok(vm.str(shown))
}

/// `FX.masked(text)`: passwords of addresses are hidden.
fn masked(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let text = text(vm, a, 0)?.unwrap_or_default();
    Ok(vm.str(crate::masking::mask(&text).into_owned()))
}
