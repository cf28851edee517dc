//! Changes: the one way in which a provider, of ours or of a cookbook, has an effect.

use fx_engine::{Change, Done, Failure, Outcome, Request, ResourceId, Target, TargetKind};
use fx_host::{Act, Exit};
use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Res, Value, Vm};
use fx_value::Value as Plain;

use crate::machine::{Machine, Method, text};

pub(crate) const METHODS: &[(&str, Method)] =
    &[("change", change), ("step", step), ("applied", applied), ("digest", digest)];

impl Machine {
    /// Makes changes of the action that is under way, or records that they would be made. Where
    /// there is none, such as in a guard, code of policy acts by itself.
    pub(crate) fn change<T>(
        &self,
        changes: &[Change],
        work: impl FnOnce(&dyn Act) -> Result<T, Failure>,
    ) -> Result<Done<T>, Failure> {
        match self.attempt() {
            Some(attempt) => {
                attempt.changes(changes, |act| self.effects.accounted.during(|| work(act)))
            }
            None => self.run().evaluate("guard", work).map(Done::Made),
        }
    }
}

/// `FX.change(lines, changes, secret) { … }`: what the formatter shows, each line a change of
/// its own; what changes, each as `[kind, name, property, from, to, secret]`; and the block that
/// does it. Gives the value of the block; nil where it was not called.
fn change(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let lines = strings(vm, a, 0)?;
    let secret = vm.opt(a, 2).is_some_and(Value::truthy);
    let changes = changes(vm, a, 1, secret)?;
    let mut left = None;
    let done = machine.change(&changes, |_| match yielded(vm, a) {
        Ok(value) => Ok(value),
        Err(unwind) => match vm.take_raise() {
            Some(exception) => {
                left = Some(Left::Raised(exception));
                Err(if secret { hidden(vm, exception) } else { failure_of(vm, exception) })
            }
            // A jump out of the block is no failure: what it did stays done. The end of the run is.
            None => {
                left = Some(Left::Jumped(unwind));
                vm.spent().map_or(Ok(NIL), |bound| Err(ended_by(bound)))
            }
        },
    });
    match left {
        Some(Left::Raised(exception)) => return vm.throw(exception),
        Some(Left::Jumped(unwind)) => return Err(unwind),
        None => {}
    }
    match done {
        Ok(done) => {
            for line in lines {
                machine.applied(&[line]);
            }
            Ok(done.made().unwrap_or(NIL))
        }
        Err(Failure::Interrupted) => crate::actions::stopped(vm),
        Err(failure) => vm.fail(fx_ruby::object::c::RUNTIME_ERROR, failure.to_string()),
    }
}

/// The failure of whatever was under way when a bound ended the run.
pub(crate) fn ended_by(bound: fx_ruby::Bound) -> Failure {
    Failure::Raised(bound.to_string())
}

/// How a block was left before its end.
enum Left {
    Raised(Value),
    Jumped(fx_ruby::Unwind),
}

/// `FX.step(kind, name, action, why, changes) { … }`: a change that a resource asked for and that
/// is made when no action is under way, as a step of its own.
fn step(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    if machine.run().current().is_some() {
        return yielded(vm, a);
    }
    let (kind, name) = (text(vm, a, 0)?.unwrap_or_default(), text(vm, a, 1)?.unwrap_or_default());
    let (action, why) = (text(vm, a, 2)?.unwrap_or_default(), text(vm, a, 3)?.unwrap_or_default());
    let changes = changes(vm, a, 4, false)?;
    let mut request = Request::new(ResourceId::new(kind, name), action);
    request.phase = vm.hooks.phase.into();
    request.why = why.into();
    let attempt = machine.run().open(request);
    attempt.open_ended();
    let mut raised = None;
    let done = attempt.changes(&changes, |_| {
        machine.effects.accounted.during(|| yielded(vm, a)).map_err(|_| {
            raised = vm.take_raise();
            left_by(vm, raised)
        })
    });
    attempt.close(match &done {
        Ok(Done::Made(_)) => Outcome::Repaired,
        Ok(Done::Withheld) => Outcome::WouldRepair,
        Err(failure) => failure.clone().into(),
    });
    match (raised, done) {
        (Some(exception), _) => vm.throw(exception),
        (None, Ok(done)) => Ok(done.made().unwrap_or(NIL)),
        (None, Err(_)) => crate::actions::stopped(vm),
    }
}

/// Why a block was left: by what it raised, by the end of the run, or by a jump.
pub(crate) fn left_by(vm: &mut Vm, raised: Option<Value>) -> Failure {
    match raised {
        Some(exception) => failure_of(vm, exception),
        None => vm.spent().map_or(Failure::Interrupted, ended_by),
    }
}

/// Calls the block of a method, which holds no other value of Ruby meanwhile.
pub(crate) fn yielded(vm: &mut Vm, a: Args) -> R {
    if a.block.is_nil() {
        return Ok(NIL);
    }
    vm.open_host(a, |open| open.yield0(a.block))
}

/// `FX.applied(lines)`: something was done that is no change of the machine.
fn applied(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let lines = strings(vm, a, 0)?;
    machine.applied(&lines);
    Ok(NIL)
}

/// `FX.digest(text)`: what stands for a content in a change.
fn digest(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let content = crate::machine::bytes(vm, a, 0)?.unwrap_or_default();
    let label = fx_resources::digest::Algorithm::Sha256.label(&content);
    Ok(vm.str(label))
}

fn strings(vm: &mut Vm, a: Args, i: u32) -> Res<Vec<String>> {
    let list = vm.arg(a, i);
    let items = if list.is_arr() { vm.heap.arr(list).clone() } else { vec![list] };
    items.into_iter().map(|item| vm.to_s(item)).collect()
}

/// The changes in an argument; a secret resource has none that may be shown.
pub(crate) fn changes(vm: &mut Vm, a: Args, i: u32, secret: bool) -> Res<Vec<Change>> {
    let list = vm.arg(a, i);
    let items = if list.is_arr() { vm.heap.arr(list).clone() } else { Vec::new() };
    let mut changes = Vec::with_capacity(items.len());
    for item in items {
        let part = |vm: &Vm, at: usize| {
            if item.is_arr() { vm.heap.arr(item).get(at).copied().unwrap_or(NIL) } else { NIL }
        };
        let (kind, name, property) = (part(vm, 0), part(vm, 1), part(vm, 2));
        let (kind, name) = (vm.to_s(kind)?, vm.to_s(name)?);
        let property = vm.to_s(property)?;
        let (from, to) = (part(vm, 3), part(vm, 4));
        let (from, to) = (plain(vm, from, 0)?, plain(vm, to, 0)?);
        let change = Change::of(target(&kind, &name), property, from, to);
        let hide = secret || part(vm, 5).truthy();
        changes.push(if hide { change.sensitive() } else { change });
    }
    Ok(changes)
}

/// What a change is about; kinds that other languages do not know keep Chef's word.
fn target(kind: &str, name: &str) -> Target {
    Target::new(TargetKind::from(kind), &*crate::masking::mask(name))
}

/// A Ruby value as plain data; what is no data becomes its text, and passwords of addresses are
/// hidden.
fn plain(vm: &mut Vm, v: Value, depth: u32) -> Res<Plain> {
    Ok(if v.is_nil() {
        Plain::Undef
    } else if v == fx_ruby::value::TRUE || v == fx_ruby::value::FALSE {
        Plain::Bool(v.truthy())
    } else if let Some(number) = v.fixnum() {
        Plain::Int(number)
    } else if v.is_float() {
        Plain::Float(vm.heap.float_of(v))
    } else if v.is_arr() && depth < 20 {
        let mut list = Vec::new();
        for item in vm.heap.arr(v).clone() {
            list.push(plain(vm, item, depth + 1)?);
        }
        Plain::List(list)
    } else if v.is_hash() && depth < 20 {
        let mut map = fx_value::Map::default();
        for (key, value) in vm.hash_pairs(v) {
            let key = vm.to_s(key)?;
            let value = plain(vm, value, depth + 1)?;
            map.insert(key.into(), value);
        }
        Plain::Map(map)
    } else {
        let shown = vm.to_s(v)?;
        Plain::from(crate::masking::mask(&shown).into_owned())
    })
}

/// The failure of a sensitive resource, of which nothing may be shown.
fn hidden(vm: &mut Vm, exception: Value) -> Failure {
    let kind = failure_of(vm, exception).kind();
    Failure::Hidden { kind, message: "suppressed sensitive resource".to_owned() }
}

/// An exception as a failure: that of a command with how it ended, another with its class.
pub(crate) fn failure_of(vm: &mut Vm, exception: Value) -> Failure {
    let class = vm.real_class(exception);
    let class = vm.class_name(class);
    worded(vm, exception, &class).unwrap_or_else(|_| {
        // Its own methods fail; that is not what is to be reported.
        vm.take_raise();
        Failure::Raised(class)
    })
}

fn worded(vm: &mut Vm, exception: Value, class: &str) -> Res<Failure> {
    let sym = vm.intern("@fx_command");
    let command = vm.ivar_get(exception, sym).filter(|v| v.is_arr());
    if let Some(parts) = command.map(|list| vm.heap.arr(list).clone())
        && let [line, code, signal, output] = parts[..]
    {
        let command = crate::masking::mask(&vm.to_s(line)?).into_owned();
        let output = crate::masking::mask(vm.to_s(output)?.trim_end()).into_owned();
        let exit = match (code.fixnum(), signal.fixnum()) {
            (Some(code), _) => Exit::Code(code as i32),
            (None, Some(signal)) => Exit::Signal(signal as i32),
            (None, None) => Exit::TimedOut,
        };
        return Ok(Failure::Command { command, exit, output });
    }
    let message = vm.call_name(exception, "message", &[])?;
    let message = vm.to_s(message)?;
    let first = crate::masking::mask(message.lines().next().unwrap_or_default());
    Ok(Failure::Raised(format!("{class}: {first}")))
}
