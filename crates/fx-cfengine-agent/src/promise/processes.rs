//! processes: counted, signalled, stopped and restarted by what ps(1) shows.

use std::rc::Rc;
use std::time::Duration;

use fx_cfengine::command::command_arg0;
use fx_cfengine::command::{is_executable, spec_for};
use fx_cfengine::eval::classes::ClassScope;
use fx_cfengine::eval::expr;
use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::log;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::policy::Rval;
use fx_cfengine::process_table::column::{
    COMMAND, NI, NLWP, PGID, PID, PPID, RSS, STAT, TIME, TTY, USER, VSZ,
};
use fx_cfengine::process_table::{Process, clock_seconds, table};
use fx_cfengine::regex;
use fx_cfengine::text::{Str, int_from, os};
use fx_engine::{Change, Done, Failure, Level, Target};
use rustc_hash::FxHashSet;

use crate::action::Action;
use crate::agent::Agent;
use crate::change::{self, ABSENT, value};
use crate::wording;

fn range(promise: &Expanded, name: &str) -> Option<(i64, i64)> {
    let (low, high) = promise.scalar(name)?.split_once(',')?;
    let high = if high.trim() == "inf" { 999_999_999 } else { int_from(high.trim())? };
    Some((int_from(low.trim())?, if high == 999_999_999 { i64::MAX } else { high }))
}

fn selected(promise: &Expanded, process: &Process) -> bool {
    if regex::find(&promise.promiser, &process.columns[COMMAND]).is_none() {
        return false;
    }
    if !promise.has("process_select") {
        return true;
    }
    let mut set: FxHashSet<&str> = FxHashSet::default();
    if promise
        .list("process_owner")
        .is_some_and(|owners| owners.iter().any(|owner| regex::full(owner, &process.columns[USER])))
    {
        set.insert("process_owner");
    }
    for (name, column) in [
        ("pid", PID),
        ("ppid", PPID),
        ("pgid", PGID),
        ("vsize", VSZ),
        ("rsize", RSS),
        ("priority", NI),
        ("threads", NLWP),
    ] {
        if let (Some((low, high)), Ok(value)) =
            (range(promise, name), process.columns[column].parse::<i64>())
            && value >= low
            && value <= high
        {
            set.insert(name);
        }
    }
    if let (Some((low, high)), Some(value)) =
        (range(promise, "ttime_range"), clock_seconds(&process.columns[TIME]))
        && value >= low
        && value <= high
    {
        set.insert("ttime");
    }
    if let Some((low, high)) = range(promise, "stime_range")
        && process.started >= low
        && process.started <= high
    {
        set.insert("stime");
    }
    for (name, column) in [("status", STAT), ("command", COMMAND), ("tty", TTY)] {
        if promise
            .scalar(name)
            .is_some_and(|pattern| regex::full(pattern, &process.columns[column]))
        {
            set.insert(name);
        }
    }
    match promise.scalar("process_result") {
        None => true,
        Some(result) => expr::parse(result)
            .and_then(|parsed| parsed.eval(&|name| set.contains(name)))
            .unwrap_or(false),
    }
}

/// Keeps a processes promise.
pub(crate) fn keep(ctx: &mut Agent<'_>, promise: &Rc<Expanded>) -> Outcome {
    let restart = promise.scalar("restart_class").cloned();
    let counts = range(promise, "match_range");
    check(ctx, promise, restart.as_ref(), counts);
    let operand =
        format!("proc-{}-{}", promise.promiser, restart.as_deref().unwrap_or("norestart"));
    if !ctx.acquire_alone(promise, &operand) {
        return Outcome::Skipped;
    }
    let warn = ctx.action(promise) == Action::Warn;
    let own = i64::from(ctx.host().pid());
    let signals = promise.list("signals");
    let mut found: Vec<Process> = Vec::new();
    for process in table(ctx).iter().filter(|process| selected(promise, process)) {
        if let Some(signals) = &signals {
            let only_hup = signals.len() == 1 && &*signals[0] == "hup";
            if (process.pid == 1 && !only_hup)
                || (process.pid > 1 && process.pid < 4)
                || process.pid == own
            {
                continue;
            }
        }
        if warn {
            if counts == Some((0, 0)) {
                ctx.warning(&format!("Process alert '{}'", process.line));
                continue;
            }
            ctx.warning(&format!("Matched '{}'", process.line));
        }
        found.push(process.clone());
    }
    act(ctx, promise, &found, counts, restart)
}

fn check(ctx: &Agent<'_>, promise: &Expanded, restart: Option<&Str>, counts: Option<(i64, i64)>) {
    if restart.is_some() {
        let kills = promise.list("signals").is_some_and(|signals| {
            signals.iter().any(|signal| matches!(&**signal, "term" | "kill"))
        });
        if kills {
            ctx.warning(&format!(
                "Promise '{}' kills then restarts - never strictly converges",
                promise.promiser
            ));
            ctx.log_place(Level::Info, &promise.promise);
        }
        if promise.has("process_count") {
            ctx.verbose("Note both process_count and restart_class define classes. Please exercises caution that there is not a logic error. Review process_count match_range, in_range_define, and out_of_range_define with respect to restart_class.");
            ctx.log_place(Level::Verbose, &promise.promise);
        }
        if counts == Some((0, 0)) {
            ctx.error(&format!(
                "Promise constraint conflicts - '{}' processes cannot have zero count if restarted",
                promise.promiser
            ));
            ctx.log_place(Level::Error, &promise.promise);
        }
    }
    if promise.has("process_select") && !promise.has("process_result") {
        ctx.error("Process select constraint body promised no result (check body definition)");
        ctx.log_place(Level::Error, &promise.promise);
    }
    if promise.has("process_count") {
        if counts.is_none() {
            ctx.error("process_count used without match_range, this promise will not define a class based on a count of matching promises.");
            ctx.log_place(Level::Error, &promise.promise);
        }
        if !promise.has("in_range_define") && !promise.has("out_of_range_define") {
            ctx.error("process_count body is insufficiently defined. process_count must specify at least one of in_range_define or out_of_range_define. ");
            ctx.log_place(Level::Error, &promise.promise);
        }
    }
}

fn act(
    ctx: &mut Agent<'_>,
    promise: &Rc<Expanded>,
    found: &[Process],
    counts: Option<(i64, i64)>,
    restart: Option<Str>,
) -> Outcome {
    let name = &promise.promiser;
    let mut result = Outcome::Kept;
    let matches = found.len() as i64;
    if let Some((low, high)) = counts {
        if matches < low || matches > high {
            let text =
                format!("Process count for '{name}' was out of promised range ({matches} found)");
            result = result.merge(ctx.settle(Level::Verbose, Outcome::Repaired, promise, &text));
            define(ctx, promise, "out_of_range_define");
        } else {
            define(ctx, promise, "in_range_define");
            return ctx.settle(
                Level::Verbose,
                Outcome::Kept,
                promise,
                &format!("Process promise for '{name}' is kept"),
            );
        }
    }
    let warn = ctx.action(promise) == Action::Warn;
    if warn {
        result = result.merge(Outcome::Warn);
    }
    let mut killed = false;
    if warn {
        let stop = promise.scalar("process_stop").filter(|_| matches > 0);
        ctx.withhold(&stop.map(|command| change::run(command)).into_iter().collect::<Vec<_>>());
        for process in found {
            let signals = promise.list("signals").unwrap_or_default();
            let sent: Vec<Change> = signals
                .iter()
                .filter(|word| signal_number(word).is_some())
                .map(|word| signalled(process, word))
                .collect();
            ctx.withhold(&sent);
        }
    } else if matches > 0 {
        if let Some(command) = promise.scalar("process_stop").cloned()
            && !stop(ctx, promise, &command, &mut result)
        {
            return result;
        }
        killed = signal_all(ctx, promise, found);
    }
    let Some(class) = restart.filter(|_| killed || matches == 0) else {
        ctx.settle(
            Level::Verbose,
            Outcome::Kept,
            promise,
            &format!("No restart promised for {name}"),
        );
        return result;
    };
    if warn {
        let text =
            format!("Need to keep restart promise for '{name}', but only a warning is promised");
        return result.merge(ctx.settle(Level::Warning, Outcome::Warn, promise, &text));
    }
    let status = if killed { Outcome::Repaired } else { Outcome::Kept };
    ctx.settle(Level::Verbose, status, promise, &format!("C:     +  Global class: {class} "));
    let tags: Rc<[Str]> = Rc::from(["source=promise".into()]);
    ctx.put_class(&class, ClassScope::Namespace, tags, None);
    result.merge(status)
}

fn define(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, list: &str) {
    let Some(Rval::List(items)) = promise.get(list).cloned() else { return };
    for item in items.iter() {
        match item {
            Rval::Scalar(class) => {
                let tags: Rc<[Str]> = Rc::from(["source=promise".into()]);
                ctx.put_class(class, ClassScope::Namespace, tags, None);
            }
            Rval::Call(call) => ctx.error(&format!(
                "Body (process_count), for processes promise {}, has a failing function call ({}) in the {list} attribute - cannot define the class",
                promise.promiser, call.name
            )),
            _ => {}
        }
    }
}

// False when the command cannot be run, which ends the promise.
fn stop(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, command: &str, result: &mut Outcome) -> bool {
    let name = &promise.promiser;
    let changes = [change::run(command)];
    if ctx.action(promise) == Action::DryRun {
        let text = format!(
            "Need to keep process-stop promise for '{name}', but only a warning is promised"
        );
        ctx.withhold(&changes);
        *result = result.merge(ctx.settle(Level::Error, Outcome::Warn, promise, &text));
        return true;
    }
    if !is_executable(ctx, &command_arg0(command)) {
        let text = format!(
            "Process promise to stop '{name}' could not be kept because '{command}' is not executable"
        );
        *result = result.merge(ctx.settle(Level::Error, Outcome::Failed, promise, &text));
        return false;
    }
    let spec = spec_for(ctx, command, false);
    let stopped = ctx.make(&changes, |act| {
        let ended = act.run(&spec)?;
        Failure::of_command(command, ended.exit, &ended.stderr).map_or(Ok(()), Err)
    });
    if stopped.is_ok() {
        let text = format!("Promise to stop '{name}' repaired, '{command}' returned zero");
        *result = result.merge(ctx.settle(Level::Info, Outcome::Repaired, promise, &text));
    } else {
        let text = format!("Promise to stop '{name}' failed, '{command}' returned nonzero");
        *result = result.merge(ctx.settle(Level::Error, Outcome::Failed, promise, &text));
    }
    true
}

fn signal_number(name: &str) -> Option<i32> {
    Some(match name {
        "hup" => 1,
        "int" => 2,
        "trap" => 5,
        "kill" => 9,
        "pipe" => 13,
        "abrt" => 6,
        "stop" => 19,
        "term" => 15,
        "child" | "chld" => 17,
        "usr1" => 10,
        "usr2" => 12,
        "bus" => 7,
        "segv" => 11,
        "cont" => 18,
        _ => return None,
    })
}

// A signal to one process.
fn signalled(process: &Process, word: &str) -> Change {
    let target = Target::process(os(&format!("{} {}", process.pid, process.command())));
    Change::of(target, "signal", ABSENT, value(word))
}

fn signal_all(ctx: &mut Agent<'_>, promise: &Rc<Expanded>, found: &[Process]) -> bool {
    let Some(signals) = promise.list("signals") else {
        log!(ctx, Verbose, "No signals to send for '{}'", promise.promiser);
        return false;
    };
    let mut killed = false;
    for process in found {
        for word in &signals {
            if let Ok(seconds) = word.trim_end_matches('s').parse::<u64>() {
                ctx.host().sleep(Duration::from_secs(seconds.min(3600)));
                continue;
            }
            let Some(number) = signal_number(word) else { continue };
            let changes = [signalled(process, word)];
            let sent = ctx.make(&changes, |act| act.signal(process.pid as i32, number));
            killed |= matches!(number, 9 | 15) && !matches!(sent, Ok(Done::Withheld));
            match sent {
                Ok(Done::Withheld) => ctx.error(&format!(
                    "Need to keep signal promise '{word}' in process entry '{}'",
                    process.line
                )),
                Ok(Done::Made(())) => {
                    let text = format!(
                        "Signalled '{word}' ({number}) to process {} ({})",
                        process.pid, process.line
                    );
                    ctx.settle(Level::Info, Outcome::Repaired, promise, &text);
                }
                Err(failure) => {
                    let text = format!(
                        "Couldn't send promised signal '{word}' ({number}) to pid {} (might be dead). (kill: {})",
                        process.pid,
                        wording::why(&failure)
                    );
                    ctx.settle(Level::Info, Outcome::Failed, promise, &text);
                }
            }
        }
    }
    killed
}
