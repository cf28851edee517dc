//! Rows: one for each action of a resource, from start to outcome. Each is a step in the
//! ledger, a line in the report and what the formatter shows.

use fx_engine::{Change, Failure, Mode, Outcome, Purpose, Request, ResourceId, StepId};
use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Value, Vm};
use fx_source::Origin;
use std::rc::Rc;

use crate::machine::{Machine, Method, text};
use crate::page::{Page, Place, Stream};

pub(crate) const METHODS: &[(&str, Method)] = &[
    ("because", because),
    ("subscribed", subscribed),
    ("row_open", row_open),
    ("check_stop", check_stop),
    ("row_close", row_close),
    ("row_updated", row_updated),
    ("row_kept", row_kept),
    ("row_bypassed", row_bypassed),
    ("row_skipped", row_skipped),
    ("row_change", row_change),
    ("row_failed", row_failed),
    ("row_note", row_note),
    ("row_stream", row_stream),
    ("doc?", doc),
    ("hush", hush),
    ("probe", probe),
    ("updated_rows", updated_rows),
    ("formatter", formatter),
    ("phase", phase),
];

/// Resources whose effects why-run can tell in full. The others run commands or code.
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

/// Which formatter writes to the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// One block a resource.
    #[default]
    Doc,
    /// One letter a resource.
    Min,
    /// Nothing.
    Null,
}

/// One action of one resource.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) resource: String,
    pub(crate) action: String,
    pub(crate) depth: usize,
    pub(crate) outcome: &'static str,
    pub(crate) via: Option<(String, String)>,
    pub(crate) reason: Option<String>,
    /// What its guards said, when one of them skipped it.
    guards: String,
    /// Where it is declared.
    place: String,
    foreseeable: bool,
    pub(crate) changes: Vec<String>,
    /// The first line of each change.
    pub(crate) told: Vec<String>,
    pub(crate) error: Option<String>,
    step: StepId,
    /// Told and not done, though the run does the others.
    withheld: bool,
}

/// All rows and the formatter's state.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) all: Vec<Row>,
    open: Vec<usize>,
    /// Who queued the notification that is delivered next.
    because: Option<String>,
    /// Whether what runs next asked for that itself.
    subscribed: bool,
    /// Above zero nothing is recorded: guards run resources of their own.
    hushed: u32,
    /// Above zero actions only find out what they would do.
    probing: u32,
    pub(crate) format: Format,
    pub(crate) why_run: bool,
    /// Only resources are shown, no headings around them.
    pub(crate) bare: bool,
    phase: Rc<str>,
    recipe: String,
    /// What the doc formatter writes on.
    pub(crate) page: Page,
    /// Names of resources with a line break, which would forge a line wherever they are shown.
    forging: Vec<String>,
    pub(crate) log: Option<std::path::PathBuf>,
    pub(crate) log_text: Vec<u8>,
}

fn write(vm: &mut Vm, text: &str) {
    drop(vm.out.write_all(crate::shown::text(text).as_bytes()));
}

impl Rows {
    /// Text with names of resources on one line each.
    pub(crate) fn on_one_line(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for name in &self.forging {
            text = text.replace(name.as_str(), &crate::shown::name(name));
        }
        text
    }
}

impl Machine {
    /// Why an action happens now: whoever notified it, the resource it is part of, code that
    /// runs it while recipes are compiled, or its place in the collection.
    fn why(&self, phase: &str, via: Option<&(String, String)>) -> Rc<str> {
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
                from => format!("{kind} notification from {from}{asked}").into(),
            };
        }
        match rows.open.last().map(|index| &rows.all[*index].resource) {
            Some(parent) => format!("sub-resource of {parent}").into(),
            None if phase == "compile" => Rc::from("run while recipes are compiled"),
            None => Rc::from("collection order"),
        }
    }

    fn hushed(&self) -> bool {
        self.rows.borrow().hushed > 0
    }

    /// Puts changes of a shared resource into the open step.
    pub(crate) fn note_changes(&self, changes: &[Change], rehearse: bool) {
        let rows = self.rows.borrow();
        if let Some(step) = rows.open.last().map(|i| rows.all[*i].step) {
            for change in changes {
                if rehearse {
                    self.ledger.withheld(step, change);
                } else {
                    self.ledger.changed(step, change);
                }
            }
        }
    }

    /// Shows and keeps one change of the open row: what was done, and what belongs to it.
    pub(crate) fn row_changed(&self, vm: &mut Vm, lines: Vec<String>) {
        let lines: Vec<String> =
            lines.into_iter().map(|line| crate::shown::mask(&line).into_owned()).collect();
        let lines: Vec<String> = {
            let rows = self.rows.borrow();
            lines.iter().map(|line| rows.on_one_line(line)).collect()
        };
        let mut rows = self.rows.borrow_mut();
        if rows.hushed > 0 {
            return;
        }
        if rows.format == Format::Doc {
            let mut shown = String::new();
            for (i, line) in lines.iter().enumerate() {
                if i == 0 {
                    let would = if rows.why_run { "Would " } else { "" };
                    rows.page.start_line(&mut shown, &format!("- {would}{line}"), Stream::Own);
                } else {
                    rows.page.start_line(&mut shown, line, Stream::Own);
                }
            }
            write(vm, &shown);
        }
        if let Some(i) = rows.open.last().copied() {
            if rows.format == Format::Min {
                rows.all[i].told.extend(lines.first().cloned());
            }
            rows.all[i].changes.extend(lines);
        }
    }

    /// Shows a note below the open row.
    pub(crate) fn row_noted(&self, vm: &mut Vm, line: &str) {
        let mut rows = self.rows.borrow_mut();
        if rows.hushed == 0 && rows.format == Format::Doc {
            let mut shown = String::new();
            rows.page.start_line(&mut shown, &format!("* {line}"), Stream::Own);
            write(vm, &shown);
        }
    }

    fn set(&self, outcome: &'static str) {
        let mut rows = self.rows.borrow_mut();
        if rows.hushed > 0 {
            return;
        }
        if let Some(i) = rows.open.last().copied() {
            rows.all[i].outcome = outcome;
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

/// `FX.check_stop`: ends the run if it was told to.
fn check_stop(machine: &Machine, vm: &mut Vm, _: Args) -> R {
    if machine.cancel.is_cancelled() {
        return crate::machine::raise(vm, "SigInt", "the run was told to stop");
    }
    Ok(NIL)
}

/// `FX.row_open(resource, action, notification type, notifying resource)`.
fn row_open(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    if machine.hushed() {
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
    let cookbook = ivar(vm, object, "@cookbook_name");
    let recipe_name = ivar(vm, object, "@recipe_name");
    let recipe = match (cookbook, recipe_name) {
        (Some(cookbook), Some(recipe)) => format!("{}::{}", vm.to_s(cookbook)?, vm.to_s(recipe)?),
        _ => "<Dynamically Defined Resource>".to_owned(),
    };
    let own = machine.ledger.in_copy() && crate::schema::is_built_in(vm, object);
    let enclosed = ivar(vm, object, "@enclosing_provider").is_some();
    let why = machine.why(vm.hooks.phase, via.as_ref());
    let (kind, name) = resource.split_once('[').unwrap_or((&resource, ""));
    let place = ivar(vm, object, "@source_line").filter(|v| v.is_str()).map(|v| vm.text(v));
    let origin = place
        .as_deref()
        .and_then(|place| machine.span(vm, place))
        .map_or_else(Origin::default, Origin::at);
    if vm.hooks.phase == "compile" {
        machine.traps.borrow_mut().enter(&resource);
    }
    let mut rows = machine.rows.borrow_mut();
    if name.contains('\n') {
        rows.forging.push(name.strip_suffix(']').unwrap_or(name).to_owned());
    }
    let mut request = Request::new(
        ResourceId::new(kind.to_owned(), name.strip_suffix(']').unwrap_or(name)),
        action.clone(),
    );
    request.phase = Rc::clone(&rows.phase);
    request.why = why;
    request.origin = origin;
    let probing = rows.probing > 0;
    request.mode = if rows.why_run || probing { Mode::Rehearse } else { Mode::Apply };
    request.purpose = if probing { Purpose::Probe } else { Purpose::Act };
    let foreseeable = FORESEEABLE.contains(&&*request.resource.kind);
    let step = machine.ledger.open(&*machine.host, request);
    // A resource of a cookbook is made of others, which stand for themselves.
    let withheld = if !machine.ledger.in_copy() {
        if !foreseeable {
            machine.ledger.open_ended(step);
        }
        false
    } else if !foreseeable && own {
        machine.ledger.open_ended(step);
        true
    } else {
        false
    };
    let depth = rows.open.len();
    let index = rows.all.len();
    let line = format!("* {} action {action}", crate::shown::name(&resource));
    rows.all.push(Row {
        resource,
        action,
        depth,
        outcome: "none",
        via,
        reason: None,
        guards: String::new(),
        place: place.unwrap_or_default(),
        foreseeable,
        changes: Vec::new(),
        told: Vec::new(),
        error: None,
        step,
        withheld,
    });
    rows.open.push(index);
    if rows.format == Format::Doc {
        let mut shown = String::new();
        if !enclosed && recipe != rows.recipe {
            if !rows.recipe.is_empty() {
                rows.page.unindent();
            }
            rows.page.puts_line(&mut shown, &format!("Recipe: {recipe}"));
            rows.page.indent();
            rows.recipe = recipe;
        }
        rows.page.start_line(&mut shown, &line, Stream::Row(index));
        rows.page.indent();
        write(vm, &shown);
    }
    drop(rows);
    if withheld {
        why_run(vm, true)?;
    }
    Ok(NIL)
}

fn row_close(machine: &Machine, vm: &mut Vm, _: Args) -> R {
    let mut rows = machine.rows.borrow_mut();
    if rows.hushed > 0 {
        return Ok(NIL);
    }
    let Some(index) = rows.open.pop() else { return Ok(NIL) };
    if vm.hooks.phase == "compile" {
        machine.traps.borrow_mut().leave();
    }
    let row = &rows.all[index];
    // What says which paths it manages is known already; commands are found out.
    if row.outcome == "updated" && !row.foreseeable && vm.hooks.phase == "converge" {
        let mut traps = machine.traps.borrow_mut();
        traps.changed(&*machine.host, &row.resource, &row.place);
    }
    let outcome = match row.outcome {
        "updated" if rows.why_run || rows.probing > 0 || row.withheld => Outcome::WouldRepair,
        "updated" => Outcome::Repaired,
        "skipped" => Outcome::Skipped(row.guards.clone()),
        "failed" => Outcome::Failed(Failure::new(row.error.clone().unwrap_or_default())),
        "bypassed" => Outcome::Skipped("bypassed in why-run".into()),
        _ => Outcome::Kept,
    };
    let (step, withheld) = (row.step, row.withheld);
    // The outermost withheld action ends the telling.
    let still = rows.open.iter().any(|i| rows.all[*i].withheld);
    drop(rows);
    machine.ledger.close(&*machine.host, step, outcome);
    if withheld && !still {
        why_run(vm, false)?;
    }
    Ok(NIL)
}

/// Switches between telling and doing, as `Chef::Config` says it to the providers.
fn why_run(vm: &mut Vm, on: bool) -> R {
    let (chef, config) = (vm.intern("Chef"), vm.intern("Config"));
    let chef = vm.const_path(Value::class(fx_ruby::object::c::OBJECT), chef)?;
    let config = vm.const_path(chef, config)?;
    let name = vm.intern("why_run");
    vm.call_name(config, "[]=", &[Value::sym(name), Value::bool(on)])
}

/// Ends the open row's line with a word in the doc formatter, or shows its letter in the
/// short one; what is inside the row is over.
fn ending(machine: &Machine, vm: &mut Vm, word: Option<&str>, letter: &str) {
    let mut rows = machine.rows.borrow_mut();
    let Some(index) = rows.open.last().copied().filter(|_| rows.hushed == 0) else { return };
    let mut shown = String::new();
    match rows.format {
        Format::Doc => {
            if let Some(word) = word {
                rows.page.puts(&mut shown, &format!(" ({word})"), Stream::Row(index));
            }
            rows.page.unindent();
        }
        Format::Min => shown.push_str(letter),
        Format::Null => {}
    }
    write(vm, &shown);
}

fn row_updated(machine: &Machine, vm: &mut Vm, _: Args) -> R {
    machine.set("updated");
    ending(machine, vm, None, "U");
    let mut rows = machine.rows.borrow_mut();
    if rows.hushed == 0 && rows.format == Format::Doc {
        let mut shown = String::new();
        rows.page.puts(&mut shown, "\n", Stream::Own);
        write(vm, &shown);
    }
    Ok(NIL)
}

/// `FX.row_kept(quiet)`: nothing had to be done.
fn row_kept(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let bypassed = {
        let rows = machine.rows.borrow();
        rows.open.last().is_some_and(|i| rows.all[*i].outcome == "bypassed")
    };
    if !bypassed {
        machine.set("up_to_date");
    }
    let quiet = vm.opt(a, 0).is_some_and(Value::truthy);
    ending(machine, vm, (!quiet).then_some("up to date"), ".");
    Ok(NIL)
}

/// `FX.row_bypassed(provider class)`: why-run cannot tell.
fn row_bypassed(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    machine.set("bypassed");
    let class = text(vm, a, 0)?.unwrap_or_default();
    let word = format!("Skipped: Why-Run not supported by provider {class}");
    ending(machine, vm, Some(&word), "");
    Ok(NIL)
}

/// `FX.row_skipped(guard, text, each guard with what came of it)`.
fn row_skipped(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let guard = text(vm, a, 0)?.unwrap_or_default();
    let reason = crate::shown::mask(&text(vm, a, 1)?.unwrap_or_default()).into_owned();
    let guards = text(vm, a, 2)?.map(|guards| crate::shown::mask(&guards).into_owned());
    machine.set("skipped");
    let shown =
        if reason.ends_with("action == :nothing }") { "action :nothing".to_owned() } else { guard };
    ending(machine, vm, Some(&format!("skipped due to {shown}")), "S");
    let mut rows = machine.rows.borrow_mut();
    if rows.hushed == 0
        && let Some(i) = rows.open.last().copied()
    {
        rows.all[i].guards = guards.unwrap_or_else(|| reason.clone());
        rows.all[i].reason = Some(reason);
    }
    Ok(NIL)
}

/// `FX.row_change(lines, each)`: the first is what was done, the others belong to it; or each
/// is something that was done.
fn row_change(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let list = vm.arg(a, 0);
    let mut lines = Vec::new();
    for item in if list.is_arr() { vm.heap.arr(list).clone() } else { vec![list] } {
        lines.push(vm.to_s(item)?);
    }
    if vm.opt(a, 1).is_some_and(Value::truthy) {
        for line in lines {
            machine.row_changed(vm, vec![line]);
        }
    } else {
        machine.row_changed(vm, lines);
    }
    Ok(NIL)
}

/// `FX.row_failed(class, message, title, sections)`; without a title nothing is shown.
fn row_failed(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let class = text(vm, a, 0)?.unwrap_or_default();
    let message = text(vm, a, 1)?.unwrap_or_default();
    let title = text(vm, a, 2)?;
    let sections = crate::report::sections(vm, a, 3)?;
    machine.set("failed");
    let mut rows = machine.rows.borrow_mut();
    if rows.hushed > 0 {
        return Ok(NIL);
    }
    if rows.format == Format::Doc {
        let mut shown = String::new();
        if let Some(title) = title {
            let title = rows.on_one_line(&title);
            let sections: Vec<(String, String)> = sections
                .iter()
                .map(|(head, text)| (head.clone(), rows.on_one_line(text)))
                .collect();
            rows.page.failure(&mut shown, &title, &sections);
        }
        rows.page.unindent();
        write(vm, &shown);
    }
    if let Some(i) = rows.open.last().copied() {
        let first = crate::shown::mask(message.lines().next().unwrap_or_default());
        rows.all[i].error = Some(format!("{class}: {first}"));
    }
    Ok(NIL)
}

/// `FX.row_note(lines)`: what a provider found that its action wants, or takes for granted.
fn row_note(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let list = vm.arg(a, 0);
    for item in if list.is_arr() { vm.heap.arr(list).clone() } else { vec![list] } {
        let line = vm.to_s(item)?;
        machine.row_noted(vm, &line);
    }
    Ok(NIL)
}

/// `FX.row_stream(name, text)`: what a command of the open row writes, while it runs.
fn row_stream(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    let output = text(vm, a, 1)?.unwrap_or_default();
    let mut rows = machine.rows.borrow_mut();
    if rows.hushed == 0 && rows.format == Format::Doc {
        let stream = Stream::Command(rows.open.last().copied().unwrap_or_default());
        let mut shown = String::new();
        let place = Place { stream, name: Some(&name), ..Place::default() };
        rows.page.print(&mut shown, &output, place);
        write(vm, &shown);
    }
    Ok(NIL)
}

/// `FX.doc?`: whether what is said at length is shown.
fn doc(machine: &Machine, _: &mut Vm, _: Args) -> R {
    let rows = machine.rows.borrow();
    Ok(Value::bool(rows.hushed == 0 && rows.format == Format::Doc))
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

fn updated_rows(machine: &Machine, _: &mut Vm, _: Args) -> R {
    let rows = machine.rows.borrow();
    Ok(Value::fix(rows.all.iter().filter(|row| row.outcome == "updated").count() as i64))
}

/// `FX.formatter(name, why-run, without headings)`.
fn formatter(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let name = text(vm, a, 0)?.unwrap_or_default();
    let mut rows = machine.rows.borrow_mut();
    rows.why_run = vm.opt(a, 1).is_some_and(Value::truthy);
    rows.bare = vm.opt(a, 2).is_some_and(Value::truthy);
    rows.format = match name.as_str() {
        "min" | "minimal" => Format::Min,
        "null" => Format::Null,
        _ => Format::Doc,
    };
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
