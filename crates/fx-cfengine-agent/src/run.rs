//! One run of the agent from options to exit status.

use fx_cfengine::config::{Request, Simulate, configure};
use fx_cfengine::eval::persistent;
use fx_cfengine::start::{Ended, Summary, examine, make_directories, note_step, start};
use fx_cfengine::text::path;
use fx_engine::{Level, Run};
use fx_host::OverlayHost;
use fx_source::SourceMap;

use crate::agent::Agent;
use crate::promise;
use crate::simulate::Simulation;

/// What is run when the policy cannot be read and nobody is at the terminal, and when a host is
/// made a client of a hub.
pub const FAILSAFE: &str = include_str!("failsafe.cf");

/// Runs policy. What that cannot be read falls back to `failsafe.cf`
/// of the inputs directory when nobody sits at the terminal.
pub fn run(run: Run<'_>, sources: &SourceMap, request: &Request) -> Summary {
    match request.simulate {
        None => run_or_fall_back(run, sources, request, None),
        Some(mode) => simulate(run, sources, request, mode),
    }
}

/// Runs with all changes of files kept apart, in a directory that is removed after the run.
fn simulate(run: Run<'_>, sources: &SourceMap, request: &Request, mode: Simulate) -> Summary {
    let log =
        |level: Level, text: &str| run.ledger.message(level, text, &fx_source::Origin::default());
    let failed = |text: &str| {
        log(Level::Error, text);
        Summary { code: 1 }
    };
    let config = configure(run.look(), request);
    make_directories(run, request, &config.paths);
    let layer = format!("{}/{}.changes", config.paths.state, run.look().pid());
    run.own_state(|act| {
        if let Err(error) = act.make_dir(&path(&layer), 0o700) {
            return failed(&error.to_string());
        }
        log(Level::Warning, &format!("All changes in files will be made in the '{layer}' chroot"));
        let overlay = OverlayHost::new(act, path(&layer));
        let inner = Run::new(&overlay, run.ledger, run.cancel);
        let summary = run_or_fall_back(inner, sources, request, Some((&overlay, mode)));
        if let Err(error) = overlay.discard() {
            log(Level::Error, &error.to_string());
        }
        summary
    })
}

fn run_or_fall_back<'a>(
    run: Run<'a>,
    sources: &'a SourceMap,
    request: &Request,
    simulation: Option<(&'a OverlayHost<'a>, Simulate)>,
) -> Summary {
    let ended = match run_once(run, sources, request, simulation) {
        Ok(summary) => return summary,
        Err(ended) => ended,
    };
    let summary = Summary { code: ended.code };
    let Some(file) = ended.failsafe.filter(|_| !request.interactive && !request.fallback) else {
        return summary;
    };
    let log =
        |level: Level, text: &str| run.ledger.message(level, text, &fx_source::Origin::default());
    log(
        Level::Error,
        "CFEngine was not able to get confirmation of promises from cf-promises, so going to failsafe",
    );
    if run.look().stat(&path(&file)).is_err() {
        if request.dry_run {
            log(Level::Warning, &format!("Should write built-in failsafe policy to '{file}'"));
            return summary;
        }
        if request.level.is_some_and(|level| level >= Level::Info) {
            log(Level::Info, &format!("Writing built-in failsafe policy to '{file}'"));
        }
        let options =
            fx_host::WriteOptions { mode: Some(0o600), ..fx_host::WriteOptions::default() };
        let written = run.own_state(|act| {
            if let Some(inputs) = file.strip_suffix("/failsafe.cf") {
                // Where it cannot be made, writing the file says why.
                let _made = act.make_dir(&path(inputs), 0o700);
            }
            act.write(&path(&file), FAILSAFE.as_bytes(), &options).and_then(|()| act.commit())
        });
        if let Err(error) = written {
            log(Level::Error, &error.to_string());
            return summary;
        }
    }
    if let Some(inputs) = file.strip_suffix("/failsafe.cf") {
        log(Level::Error, &format!("CFEngine failsafe.cf: {inputs} {file}"));
    }
    let mut define = request.define.clone();
    define.push("failsafe_fallback".to_owned());
    let again = Request { file: Some(file), fallback: true, define, ..request.clone() };
    run_once(run, sources, &again, simulation).unwrap_or_else(|ended| Summary { code: ended.code })
}

fn run_once<'a>(
    run: Run<'a>,
    sources: &'a SourceMap,
    request: &Request,
    simulation: Option<(&'a OverlayHost<'a>, Simulate)>,
) -> Result<Summary, Ended> {
    let context = start(run, sources, request)?;
    let mut ctx = Agent::new(context);
    ctx.simulation = simulation.map(|(overlay, mode)| Simulation::new(overlay, mode));
    let evaluated = evaluate(&mut ctx, request);
    ctx.report_simulation();
    ctx.save_locks();
    persistent::save(&mut ctx);
    let unwritten = ctx.own_state(|act| act.commit()).err();
    if let Some(error) = &unwritten {
        ctx.error(&error.to_string());
    }
    let least = u8::from(unwritten.is_some());
    // The process ends with the run: giving back every variable and promise one by one
    // would cost more than the rest of a small run.
    std::mem::forget(ctx);
    match evaluated {
        Ok(code) => Ok(Summary { code: code.max(least) }),
        Err(ended) => Err(Ended { code: ended.code.max(least), ..ended }),
    }
}

fn evaluate(ctx: &mut Agent<'_>, request: &Request) -> Result<u8, Ended> {
    let examined = examine(ctx, request)?;
    ctx.keep_agent_control();
    if !ctx.stopped() {
        // 6. Evaluation proper.
        note_step(ctx, "evaluation");
        ctx.note_order();
        // The original marks in a dry run too; ours leaves nothing behind.
        if examined.checked && examined.default && !ctx.config.dry_run {
            ctx.mark_checked();
        }
        ctx.log_begin();
        ctx.run_sequence();
        if !ctx.stopped() && !ctx.run.ledger.in_copy() {
            promise::packages::update_inventory(ctx);
        }
        promise::commands::wait_for_background(ctx);
        promise::custom::terminate(ctx);
        ctx.log_end();
    }
    ctx.show_evaluated(request);
    Ok(ctx.status())
}
