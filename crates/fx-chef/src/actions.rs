//! Actions of resources from start to outcome: each is an attempt in the ledger, a row of the
//! report, and events for the formatter.

use std::rc::Rc;

use fx_engine::{Attempt, Cause, Failure, Mode, Outcome, Purpose, Request, ResourceId, Why};
use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Res, Value, Vm};
use fx_source::Origin;

use crate::event::Event;
use crate::machine::{Machine, Method, text};

pub(crate) const METHODS: &[(&str, Method)] = &[
    ("because", because),
    ("subscribed", subscribed),
    ("action_open", open),
    ("check_stop", check_stop),
    ("action_close", close),
    ("action_updated", updated),
    ("action_kept", kept),
    ("action_bypassed", bypassed),
    ("action_skipped", skipped),
    ("guards_asked", guards_asked),
    ("action_failed", failed),
    ("action_unsure?", unsure),
    ("requirement", requirement),
    ("output", output),
    ("converging?", converging),
    ("hush", hush),
    ("probe", probe),
    ("phase", phase),
];

/// Resources whose effects why-run foresees in full. The others run commands or code.
const FORESEEABLE: &[&str] = &[
    "cookbook_file",
    "cron",
    "cron_d",
    "directory",
    "file",
    "group",
    "link",
    "log",
    "remote_directory",
    "remote_file",
    "template",
    "user",
    "linux_user",
];

/// How an action ended.
#[derive(Clone, Debug, Default)]
pub(crate) enum Ending {
    /// It is under way, or the run was left while it was.
    #[default]
    None,
    Updated,
    UpToDate,
    Skipped {
        /// The guard that decided, as the original shows it.
        reason: String,
        /// What came of each guard.
        guards: String,
    },
    /// Its provider cannot rehearse.
    Bypassed,
    Failed(Failure),
}

impl Ending {
    /// The word in the report.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Ending::None => "none",
            Ending::Updated => "updated",
            Ending::UpToDate => "up_to_date",
            Ending::Skipped { .. } => "skipped",
            Ending::Bypassed => "bypassed",
            Ending::Failed(_) => "failed",
        }
    }

    /// As the ledger has it.
    fn outcome(&self, made: bool) -> Outcome {
        match self {
            Ending::Updated if made => Outcome::Repaired,
            Ending::Updated => Outcome::WouldRepair,
            Ending::Skipped { guards, .. } => Outcome::Skipped(guards.clone()),
            Ending::Failed(failure) => failure.clone().into(),
            Ending::Bypassed => Outcome::Skipped("bypassed in why-run".into()),
            Ending::None | Ending::UpToDate => Outcome::Kept,
        }
    }
}

/// Why an action is not taken.
#[derive(Debug)]
pub(crate) enum Skip {
    /// It is `:nothing`.
    Nothing,
    /// A guard of this name says so.
    Guard(String),
}

/// One action of one resource.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) resource: String,
    pub(crate) action: String,
    pub(crate) depth: usize,
    pub(crate) ending: Ending,
    /// The kind of notification that caused it, and who notified.
    pub(crate) via: Option<(String, String)>,
    /// Where it is declared.
    place: String,
    foreseeable: bool,
    /// What it changed, in the words of Chef.
    pub(crate) changes: Vec<String>,
}

/// All actions so far and those under way.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) all: Vec<Row>,
    open: Vec<usize>,
    /// Who queued the notification that is delivered next.
    because: Option<String>,
    /// Whether what runs next had subscribed.
    subscribed: bool,
    /// How often a provider found that another resource's guards hold it back.
    pub(crate) asked: usize,
    /// Above zero nothing is recorded: guards run resources of their own.
    hushed: u32,
    /// Above zero actions only find out what they would do.
    probing: u32,
    phase: Rc<str>,
    /// Names of resources with a line break, which would forge a line wherever they are shown.
    forging: Vec<String>,
}

impl Rows {
    /// Text with names of resources on one line each.
    pub(crate) fn on_one_line(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for name in &self.forging {
            text = text.replace(name.as_str(), &crate::masking::name(name));
        }
        text
    }

    /// How many actions ended in a way.
    pub(crate) fn count(&self, matches: impl Fn(&Ending) -> bool) -> usize {
        self.all.iter().filter(|row| matches(&row.ending)).count()
    }

    /// The action under way, unless what happens is kept out of the record.
    fn current(&self) -> Option<usize> {
        self.open.last().copied().filter(|_| self.hushed == 0)
    }
}

/// The resource `kind[name]` as what led to something.
fn item(resource: &str) -> Cause {
    let name = resource.split_once('[').map_or(resource, |(_, name)| name);
    Cause::Item(name.strip_suffix(']').unwrap_or(name).into())
}

impl Machine {
    /// Why an action happens now: whoever notified it, the resource it is part of, code that
    /// runs it while recipes are compiled, or its place in the collection.
    fn why(&self, phase: &str, via: Option<&(String, String)>) -> Why {
        let mut rows = self.rows.borrow_mut();
        if let Some((kind, from)) = via {
            let asked = if std::mem::take(&mut rows.subscribed) { " (subscribes)" } else { "" };
            let from = if from.is_empty() {
                rows.because.take().unwrap_or_default()
            } else {
                from.clone()
            };
            return match from.as_str() {
                "" => format!("{kind} notification{asked}").into(),
                from => Why::from(format!("{kind} notification from {from}{asked}"))
                    .caused_by([item(from)]),
            };
        }
        match rows.open.last().map(|index| &rows.all[*index].resource) {
            Some(parent) => {
                Why::from(format!("sub-resource of {parent}")).caused_by([item(parent)])
            }
            None if phase == "compile" => "run while recipes are compiled".into(),
            None => "collection order".into(),
        }
    }

    /// Whether what happens is kept out of the record.
    pub(crate) fn is_hushed(&self) -> bool {
        self.rows.borrow().hushed > 0
    }

    /// Ends all that is under way with a failure.
    pub(crate) fn abandon(&self, failure: &Failure) {
        while let Some(attempt) = self.run().current() {
            attempt.close(failure.clone().into());
        }
    }

    /// The attempt whose action is under way; none while a guard is evaluated.
    pub(crate) fn attempt(&self) -> Option<Attempt<'_>> {
        self.rows.borrow().current()?;
        self.run().current()
    }

    /// Whether changes that are found now are made.
    pub(crate) fn is_converging(&self) -> bool {
        if self.is_hushed() {
            return true;
        }
        match self.run().current() {
            Some(attempt) => attempt.makes_changes(),
            None => !self.console.borrow().style.why_run,
        }
    }

    /// Shows and keeps what one change was: its first line, and what belongs to it.
    pub(crate) fn applied(&self, lines: &[String]) {
        let mut rows = self.rows.borrow_mut();
        let Some(row) = rows.current() else { return };
        let lines: Vec<String> =
            lines.iter().map(|line| rows.on_one_line(&crate::masking::mask(line))).collect();
        let probe = rows.probing > 0;
        self.emit(&Event::Applied { lines: &lines, probe });
        rows.all[row].changes.extend(lines);
    }

    /// Shows what an action needs, or takes for granted.
    pub(crate) fn required(&self, text: &str) {
        if !self.is_hushed() {
            self.emit(&Event::Requirement { text });
        }
    }

    /// Ends the action under way; the event is made from its row.
    fn end(&self, ending: Ending, event: impl FnOnce(usize) -> Option<Event<'static>>) {
        let mut rows = self.rows.borrow_mut();
        let Some(row) = rows.current() else { return };
        rows.all[row].ending = ending;
        if let Some(event) = event(row) {
            self.emit(&event);
        }
    }
}

fn ivar(vm: &mut Vm, object: Value, name: &str) -> Option<Value> {
    let sym = vm.intern(name);
    vm.ivar_get(object, sym).filter(|v| !v.is_nil())
}

/// `FX.because(resource)`: who queued what runs next.
fn because(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let by = text(vm, a, 0)?;
    machine.rows.borrow_mut().because = by;
    Ok(NIL)
}

/// `FX.subscribed`: what runs next had subscribed to what notifies it.
fn subscribed(machine: &Machine, _: &mut Vm, _: Args) -> R {
    machine.rows.borrow_mut().subscribed = true;
    Ok(NIL)
}

/// `FX.check_stop`: ends the run if a signal says so.
fn check_stop(machine: &Machine, vm: &mut Vm, _: Args) -> R {
    if machine.cancel.is_cancelled() {
        return stopped(vm);
    }
    Ok(NIL)
}

/// Raises what ends a run that is to stop.
pub(crate) fn stopped<T>(vm: &mut Vm) -> Res<T> {
    crate::machine::raise(vm, "SigInt", "the run was told to stop")
}

/// The recipe that declares a resource; none for a part of another resource.
fn recipe_of(vm: &mut Vm, object: Value) -> Res<Option<String>> {
    if ivar(vm, object, "@enclosing_provider").is_some() {
        return Ok(None);
    }
    let cookbook = ivar(vm, object, "@cookbook_name");
    let recipe = ivar(vm, object, "@recipe_name");
    Ok(Some(match (cookbook, recipe) {
        (Some(cookbook), Some(recipe)) => format!("{}::{}", vm.to_s(cookbook)?, vm.to_s(recipe)?),
        _ => "<Dynamically Defined Resource>".to_owned(),
    }))
}

/// Kind and name of a resource, as the ledger has them.
fn identity(vm: &mut Vm, object: Value) -> Res<(String, String)> {
    let kind = vm.call_name(object, "resource_name", &[])?;
    let kind = vm.to_s(kind)?;
    let name = match ivar(vm, object, "@name") {
        Some(name) => vm.to_s(name)?,
        None => String::new(),
    };
    Ok((kind, name))
}

/// `FX.action_open(resource, action, notification type, notifying resource)`.
fn open(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    if machine.is_hushed() {
        return Ok(NIL);
    }
    check_stop(machine, vm, a)?;
    let object = vm.arg(a, 0);
    let resource = vm.to_s(object)?;
    let action = text(vm, a, 1)?.unwrap_or_default();
    let via = match text(vm, a, 2)? {
        Some(kind) => Some((kind, text(vm, a, 3)?.unwrap_or_default())),
        None => None,
    };
    let recipe = recipe_of(vm, object)?;
    let built_in = machine.ledger.in_copy() && crate::schema::is_built_in(vm, object);
    let place = ivar(vm, object, "@source_line").filter(|v| v.is_str()).map(|v| vm.text(v));
    let origin = place
        .as_deref()
        .and_then(|place| machine.span(vm, place))
        .map_or_else(Origin::default, Origin::at);
    if vm.hooks.phase == "compile" {
        machine.traps.borrow_mut().enter(&resource);
    }
    let (kind, name) = identity(vm, object)?;
    let foreseeable = FORESEEABLE.contains(&kind.as_str());
    let installs = built_in && (kind == "package" || kind.ends_with("_package"));
    let mut request = Request::new(ResourceId::new(kind, name.as_str()), action.clone());
    request.why = machine.why(vm.hooks.phase, via.as_ref());
    request.origin = origin;
    // What belongs to an action that is only rehearsed is rehearsed as well.
    let rehearse = !machine.is_converging();
    let mut rows = machine.rows.borrow_mut();
    if name.contains('\n') {
        rows.forging.push(name);
    }
    request.phase = Rc::clone(&rows.phase);
    let probing = rows.probing > 0;
    request.mode = if rehearse || probing { Mode::Rehearse } else { Mode::Apply };
    request.purpose = if probing { Purpose::Probe } else { Purpose::Act };
    let attempt = machine.run().open(request);
    // In a copy, a resource of a cookbook is made of others, which stand for themselves.
    if installs {
        attempt.installs();
    } else if !foreseeable && (built_in || !machine.ledger.in_copy()) {
        attempt.open_ended();
    }
    machine.effects.accounted.enter();
    let (depth, row) = (rows.open.len(), rows.all.len());
    rows.open.push(row);
    let started = Event::ActionStarted {
        row,
        resource: &resource,
        action: &action,
        recipe: recipe.as_deref(),
    };
    machine.emit(&started);
    rows.all.push(Row {
        resource,
        action,
        depth,
        ending: Ending::None,
        via,
        place: place.unwrap_or_default(),
        foreseeable,
        changes: Vec::new(),
    });
    Ok(NIL)
}

fn close(machine: &Machine, vm: &mut Vm, _: Args) -> R {
    let mut rows = machine.rows.borrow_mut();
    if rows.hushed > 0 {
        return Ok(NIL);
    }
    let Some(index) = rows.open.pop() else { return Ok(NIL) };
    machine.effects.accounted.leave();
    if vm.hooks.phase == "compile" {
        machine.traps.borrow_mut().leave();
    }
    let row = &rows.all[index];
    // What says which paths it manages is known already; commands are found out.
    let updated = matches!(row.ending, Ending::Updated);
    if updated && !row.foreseeable && vm.hooks.phase == "converge" {
        let mut traps = machine.traps.borrow_mut();
        traps.changed(machine.look(), &row.resource, &row.place);
    }
    if let Some(attempt) = machine.run().current() {
        attempt.close(row.ending.outcome(attempt.makes_changes()));
    }
    machine.emit(&Event::ActionEnded);
    Ok(NIL)
}

fn updated(machine: &Machine, _: &mut Vm, _: Args) -> R {
    machine.end(Ending::Updated, |_| Some(Event::ActionUpdated));
    Ok(NIL)
}

/// `FX.action_kept(quiet)`: nothing had to be done.
fn kept(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let quiet = vm.opt(a, 0).is_some_and(Value::truthy);
    let ending = {
        let rows = machine.rows.borrow();
        match rows.current().map(|row| &rows.all[row].ending) {
            Some(Ending::Bypassed) => Ending::Bypassed,
            _ => Ending::UpToDate,
        }
    };
    machine.end(ending, |row| Some(Event::ActionUpToDate { row, quiet }));
    Ok(NIL)
}

/// `FX.action_bypassed(provider class)`: the provider cannot rehearse.
fn bypassed(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let provider = text(vm, a, 0)?.unwrap_or_default();
    machine.end(Ending::Bypassed, |row| {
        machine.emit(&Event::ActionBypassed { row, provider: &provider });
        None
    });
    Ok(NIL)
}

/// `FX.action_skipped(guard, text, each guard with what came of it)`; without a guard it is
/// `:nothing` that is done.
fn skipped(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let skip = text(vm, a, 0)?.map_or(Skip::Nothing, Skip::Guard);
    let reason = crate::masking::mask(&text(vm, a, 1)?.unwrap_or_default()).into_owned();
    let guards = text(vm, a, 2)?.map(|guards| crate::masking::mask(&guards).into_owned());
    let guards = guards.unwrap_or_else(|| reason.clone());
    machine.end(Ending::Skipped { reason, guards }, |row| {
        machine.emit(&Event::ActionSkipped { row, skip: &skip });
        None
    });
    Ok(NIL)
}

/// `FX.guards_asked(guard)`: a provider asked a resource that is not at work whether it would be
/// skipped, and it would. The original shows that on a line of its own and counts it; the action
/// under way goes on.
fn guards_asked(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let skip = text(vm, a, 0)?.map_or(Skip::Nothing, Skip::Guard);
    if !machine.is_hushed() {
        let mut rows = machine.rows.borrow_mut();
        rows.asked += 1;
        // No action has this row, so the line belongs to none.
        let row = usize::MAX - rows.asked;
        machine.emit(&Event::ActionSkipped { row, skip: &skip });
    }
    Ok(NIL)
}

/// `FX.action_failed(exception, title, sections)`; without a title nothing is shown.
fn failed(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let exception = vm.arg(a, 0);
    let failure = crate::change::failure_of(vm, exception);
    let title = text(vm, a, 1)?;
    let sections = crate::progress::sections(vm, a, 2)?;
    let (title, sections) = {
        let rows = machine.rows.borrow();
        let title = title.map(|title| rows.on_one_line(&title));
        let line = |(head, text): (String, String)| (head, rows.on_one_line(&text));
        (title, sections.into_iter().map(line).collect::<Vec<_>>())
    };
    machine.end(Ending::Failed(failure), |_| {
        let report = title.as_deref().map(|title| (title, &sections));
        machine.emit(&Event::ActionFailed { report });
        None
    });
    Ok(NIL)
}

/// `FX.action_unsure?`: whether a failure of the action under way says nothing about a run: this
/// is a copy of the machine, and something before it was withheld.
fn unsure(machine: &Machine, _: &mut Vm, _: Args) -> R {
    let attempt = machine.attempt().filter(|_| !machine.cancel.is_cancelled());
    Ok(Value::bool(attempt.is_some_and(|attempt| machine.ledger.is_unsure(attempt.id()))))
}

/// `FX.requirement(lines)`: what a provider found that its action wants, or takes for granted.
fn requirement(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let list = vm.arg(a, 0);
    for item in if list.is_arr() { vm.heap.arr(list).clone() } else { vec![list] } {
        let line = vm.to_s(item)?;
        machine.required(&line);
    }
    Ok(NIL)
}

/// `FX.output(name, text)`: what a command of the action writes, while it runs.
fn output(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    let printed = text(vm, a, 1)?.unwrap_or_default();
    let rows = machine.rows.borrow();
    if rows.hushed == 0 {
        let row = rows.current().unwrap_or_default();
        machine.emit(&Event::Output { row, name: &name, text: &printed });
    }
    Ok(NIL)
}

/// `FX.converging?`: whether the action under way makes its changes; a guard always acts.
fn converging(machine: &Machine, _: &mut Vm, _: Args) -> R {
    Ok(Value::bool(machine.is_converging()))
}

/// `FX.probe(1)` and `FX.probe(-1)` around an action that is only rehearsed.
fn probe(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let by = vm.arg(a, 0).fixnum().unwrap_or(0);
    let mut rows = machine.rows.borrow_mut();
    rows.probing = rows.probing.saturating_add_signed(by as i32);
    Ok(NIL)
}

/// `FX.hush(1)` and `FX.hush(-1)` around what should leave no rows.
fn hush(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let by = vm.arg(a, 0).fixnum().unwrap_or(0);
    let mut rows = machine.rows.borrow_mut();
    rows.hushed = rows.hushed.saturating_add_signed(by as i32);
    Ok(NIL)
}

/// `FX.phase(name)`: load, compile, converge, cleanup.
fn phase(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    vm.hooks.phase = match name.as_str() {
        "compile" => "compile",
        "converge" => "converge",
        "cleanup" => "cleanup",
        _ => "load",
    };
    machine.rows.borrow_mut().phase = name.into();
    Ok(NIL)
}
