//! The record of a run, written as it goes, so that a run that is killed leaves what it did.
//!
//! A step is written once it has ended and every file it wrote is under its final name: what
//! stands in the record was done. Steps are written in groups, when files get their names and
//! otherwise by time or number, since each group costs a transaction.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;
use std::time::Duration;

use fx_engine::{Change, Counts, Event, Failure, Outcome, Sink, Step, StepId};
use fx_host::{Clock, OsHost};
use fx_source::SourceMap;
use fx_store::{ChangeRecord, Fate, RunInfo, RunRecord, StepRecord, Store, StoreError, UNDER_WAY};

use crate::drift::{self, Changed};

/// Steps are written after this time at the latest, if one ends …
const PAUSE: Duration = Duration::from_millis(50);
/// … or when there are this many, and before a command starts, which may take long.
const MOST: usize = 1000;

/// The record of a run under way.
pub(crate) struct Recorder {
    store: Store,
    id: i64,
    host: Rc<OsHost>,
    sources: Rc<SourceMap>,
    state: RefCell<State>,
}

/// A step that ended, what it changed, and which of all files it wrote.
struct Ended {
    step: Step,
    changes: Changes,
    files: (u64, u64),
}

/// What a step changed: for the judgement of drift, and for the record.
#[derive(Default)]
struct Changes {
    made: Vec<Changed>,
    rows: Vec<ChangeRecord>,
}

impl Changes {
    fn add(&mut self, step: StepId, change: &Change, fate: Fate) {
        if fate == Fate::Made {
            self.made.push(Changed::of(change));
        }
        self.rows.push(ChangeRecord {
            step: step.number(),
            fate,
            kind: change.target.kind.word().to_owned(),
            name: change.target.name.as_bytes().to_vec(),
            property: change.property.to_string(),
            from: change.from.to_json().to_string(),
            to: change.to.to_json().to_string(),
        });
    }
}

#[derive(Default)]
struct State {
    info: Option<RunRecord>,
    /// Steps that ended, and how many of them are in place.
    ended: Vec<Ended>,
    in_place: usize,
    /// Steps that began and did not end, and the changes they made so far.
    open: Vec<Step>,
    /// How many files were written when each of them began.
    began: BTreeMap<StepId, u64>,
    /// The last step that was noted as under way.
    noted: Option<StepId>,
    changes: BTreeMap<StepId, Changes>,
    counts: Counts,
    written: Duration,
    /// Digest of the policy, and of how many files.
    policy: (usize, String),
    /// Steps whose cause would be another, had the policy been known as a whole.
    in_doubt: Vec<(u32, String)>,
    trouble: Option<StoreError>,
}

impl Recorder {
    /// Begins the record of a run.
    pub(crate) fn begin(
        store: Store,
        info: &RunInfo,
        host: &Rc<OsHost>,
        sources: &Rc<SourceMap>,
    ) -> Result<Rc<Recorder>, StoreError> {
        let id = store.begin_run(info)?;
        let state = State { info: store.run(id)?, ..State::default() };
        let (host, sources) = (Rc::clone(host), Rc::clone(sources));
        let recorder = Rc::new(Recorder { store, id, host, sources, state: state.into() });
        let weak = Rc::downgrade(&recorder);
        recorder.host.on_settled(Rc::new(move || {
            if let Some(recorder) = weak.upgrade() {
                recorder.settled();
            }
        }));
        Ok(recorder)
    }

    /// Everything that ended so far is in place.
    fn settled(&self) {
        // A sink that gets an event may write a file; the event of that file comes later.
        let Ok(mut state) = self.state.try_borrow_mut() else { return };
        state.in_place = state.ended.len();
        if state.in_place > 0 || state.noted < state.open.last().map(|step| step.id) {
            self.write(&mut state);
        }
    }

    /// Writes what is in place. The first trouble ends the record; it is reported at the end.
    fn write(&self, state: &mut State) {
        state.written = self.host.monotonic();
        if state.trouble.is_some() {
            return;
        }
        let done = self.store.together(|| self.write_steps(state));
        state.trouble = done.err();
    }

    fn write_steps(&self, state: &mut State) -> Result<(), StoreError> {
        let files = self.sources.len();
        if state.policy.0 != files {
            state.policy = (files, drift::policy(&self.sources));
        }
        let in_place = std::mem::take(&mut state.in_place);
        for Ended { mut step, changes, files } in state.ended.drain(..in_place) {
            // What was reported as done before its file got its name, and then did not get it.
            if files.0 < files.1 && self.host.lacks_names(files.0, files.1) {
                let failure = Failure::new("what it wrote could not be put in place");
                step.outcome = Outcome::Failed(failure);
            }
            let cause = drift::cause(&self.store, self.id, &state.policy.1, &step, &changes.made)?;
            state.in_doubt.extend(cause.before.map(|before| (step.id.number(), before)));
            state.counts.add(&step);
            self.store.put_step(self.id, &self.row(&step, step.outcome.word(), cause.word))?;
            self.store.put_changes(self.id, &changes.rows)?;
        }
        let last = state.noted;
        for step in state.open.iter().filter(|step| last < Some(step.id)) {
            state.noted = Some(step.id);
            self.store.put_step(self.id, &self.row(step, UNDER_WAY, ""))?;
        }
        let Some(run) = &mut state.info else { return Ok(()) };
        let counts = state.counts;
        run.policy.clone_from(&state.policy.1);
        (run.kept, run.repaired, run.would_repair) =
            (counts.kept, counts.repaired, counts.would_repair);
        (run.failed, run.skipped) = (counts.failed, counts.skipped);
        self.store.update_run(run)
    }

    fn row(&self, step: &Step, outcome: &str, cause: &str) -> StepRecord {
        let place = step.origin.span.map(|span| self.sources.location(span).to_string());
        StepRecord {
            number: step.id.number(),
            parent: step.parent.map(StepId::number),
            phase: step.phase.to_string(),
            resource: step.resource.to_string(),
            action: step.action.to_string(),
            outcome: outcome.to_owned(),
            changed: step.changed.join(","),
            why: step.why.to_string(),
            origin: place.unwrap_or_default(),
            cause: cause.to_owned(),
            message: step.outcome.failure().map(ToString::to_string),
            elapsed_us: step.elapsed.as_micros() as i64,
        }
    }

    /// Ends the record.
    pub(crate) fn end(&self, code: u8, elapsed: Duration) -> Result<(), StoreError> {
        let mut state = self.state.borrow_mut();
        // What never ended is recorded as the ledger has it.
        let left = std::mem::take(&mut state.open);
        state.ended.extend(left.into_iter().map(|step| Ended {
            step,
            changes: Changes::default(),
            files: (0, 0),
        }));
        state.in_place = state.ended.len();
        if let Some(run) = &mut state.info {
            run.exit = Some(i64::from(code));
            run.elapsed_ms = Some(elapsed.as_millis() as i64);
        }
        self.write(&mut state);
        if let Some(trouble) = state.trouble.take() {
            return Err(trouble);
        }
        self.store.together(|| {
            let whole = &state.policy.1;
            for (step, _) in state.in_doubt.iter().filter(|(_, before)| before == whole) {
                self.store.set_cause(self.id, *step, "drift")?;
            }
            self.store.forget_old_runs()
        })
    }
}

impl Sink for Recorder {
    fn event(&self, event: &Event<'_>) {
        let mut state = self.state.borrow_mut();
        match event {
            Event::StepOpened { step } => {
                state.began.insert(step.id, self.host.files_written());
                state.open.push(Step::clone(step));
            }
            Event::ChangeMade { step, change } => {
                state.changes.entry(*step).or_default().add(*step, change, Fate::Made);
            }
            Event::ChangeWithheld { step, change } => {
                state.changes.entry(*step).or_default().add(*step, change, Fate::Withheld);
            }
            Event::ChangeFailed { step, change, .. } => {
                state.changes.entry(*step).or_default().add(*step, change, Fate::Failed);
            }
            Event::StepClosed { step } => {
                state.open.retain(|open| open.id != step.id);
                let changes = state.changes.remove(&step.id).unwrap_or_default();
                let now = self.host.files_written();
                let files = (state.began.remove(&step.id).unwrap_or(now), now);
                state.ended.push(Ended { step: Step::clone(step), changes, files });
                if self.host.is_settled() {
                    state.in_place = state.ended.len();
                }
                let since = self.host.monotonic().saturating_sub(state.written);
                if state.in_place > 0 && (since >= PAUSE || state.in_place >= MOST) {
                    self.write(&mut state);
                }
            }
            _ => {}
        }
    }
}
