//! One resource is brought to its desired state: the step, what is logged of it, and the events
//! of the report, which are the changes of the step.

use std::rc::Rc;

use fx_engine::{Change, Failure, Level, Mode, Outcome, Request, Stepped, step};
use fx_puppet::Resource;
use fx_source::Origin;

use super::engine_resource::Made;
use super::logging::Logged;
use super::status::{Event, EventStatus, Status};
use super::transaction::{Transaction, is_shell, step_name};
use super::wording::{self, Message, text_of};

/// The changes that are logged and counted: `ensure` stands for all others.
pub(super) fn counted(changes: &[Change]) -> Vec<&Change> {
    match changes.iter().find(|change| change.property == "ensure") {
        Some(ensure) => vec![ensure],
        None => changes.iter().collect(),
    }
}

impl Transaction<'_> {
    /// Brings one thing to its desired state and logs what was done.
    pub(super) fn attempt(
        &self,
        resource: &Resource,
        path: &Rc<str>,
        thing: &mut Made,
        noop: bool,
    ) -> Status {
        let mut status = Status::default();
        let Some(Stepped { outcome, mut changes, .. }) =
            self.take_step(resource, path, thing, noop)
        else {
            return status;
        };
        wording::changes(resource, &mut changes);
        *self.corrective.borrow_mut() = self.store.judge(resource, &changes);
        if let Made::Ruby(ruby) = thing {
            let said = ruby.looked();
            self.log_said(resource, &said);
        }
        match &outcome {
            Outcome::Kept => {}
            outcome
                if matches!(thing, Made::Ruby(_))
                    && !changes.is_empty()
                    && !matches!(outcome, Outcome::WouldRepair) =>
            {
                self.log_parts(resource, path, thing, &changes, &mut status);
            }
            Outcome::Repaired => {
                status.changed = true;
                let logged = self.log_changes(resource, path, thing, &changes);
                status.out_of_sync = logged.len();
                status.changes = logged.len();
                let events = self.events(resource, thing, EventStatus::Success, &changes, logged);
                status.events = events;
            }
            Outcome::WouldRepair => {
                let logged = self.log_withheld(resource, path, thing, &changes);
                status.out_of_sync = logged.len();
                status.noop = logged.len();
                status.events = self.events(resource, thing, EventStatus::Noop, &changes, logged);
            }
            other => {
                let failure = other.failure().cloned().unwrap_or(Failure::Interrupted);
                if let Made::Ruby(ruby) = thing {
                    changes.extend(ruby.misjudged());
                }
                self.failed(resource, path, thing, &changes, &failure, &mut status);
            }
        }
        self.corrective.borrow_mut().clear();
        self.store.settle(self.run.look(), resource, &changes, &status);
        status
    }

    /// Takes the step; nothing where there is nothing to do.
    fn take_step(
        &self,
        resource: &Resource,
        path: &Rc<str>,
        thing: &mut Made,
        noop: bool,
    ) -> Option<Stepped> {
        thing.thing()?;
        // A directory is a file here, as it is in the manifest.
        let mut request = Request::new(step_name(resource), "apply");
        request.mode = if noop { Mode::Rehearse } else { Mode::Apply };
        request.origin = Origin::at(resource.span);
        request.why = self.why.clone();
        request.phase = Rc::clone(&self.phase);
        if request.resource.kind == "notify" {
            request.purpose = fx_engine::Purpose::Tell;
        }
        if let Made::Exec(exec) = thing
            && self.debugs
        {
            super::debug::follow(&self.logs, self.compiled.run(), resource, path, exec);
        }
        // A shell finds its programs by itself.
        if let Made::Exec(exec) = thing
            && !is_shell(resource)
        {
            let mut sought = super::execs::Sought { inner: exec };
            return Some(step(self.run, request, &mut sought));
        }
        let mut discreet = super::secrets::Discreet::new(thing.thing()?, resource);
        let keep = super::backup::of(self.compiled, self.catalog, resource).ok().flatten();
        let Some(keep) = &keep else { return Some(step(self.run, request, &mut discreet)) };
        let mut kept = super::backup::Kept::new(&mut discreet, keep, resource);
        let stepped = step(self.run, request, &mut kept);
        for (level, is_own, message) in kept.said {
            if is_own {
                self.log_of(path, level, &message);
            } else {
                self.log(level, &message);
            }
        }
        Some(stepped)
    }

    /// Logs a failure and what follows from it.
    fn failed(
        &self,
        resource: &Resource,
        path: &Rc<str>,
        thing: &mut Made,
        changes: &[Change],
        failure: &Failure,
        status: &mut Status,
    ) {
        status.failed = true;
        // Types that nobody can act for are logged at the end, once each.
        if let Failure::NoProvider(kind) = failure {
            self.unprovided.borrow_mut().insert(kind.clone());
            return;
        }
        status.out_of_sync = 1;
        // An account that is not there is missed only after the file was made.
        if matches!(failure, Failure::NoUser(_) | Failure::NoGroup(_))
            && &*resource.low == "file"
            && changes.iter().any(|change| change.property == "ensure")
        {
            self.make_without_accounts(resource);
        }
        let logged = self.log_failure(resource, path, thing, changes, failure);
        let logged: Vec<Logged> = logged.into_iter().collect();
        status.events = self.events(resource, thing, EventStatus::Failure, changes, logged);
        if changes.is_empty() {
            let why = self.failure_words(resource, thing, changes, failure, false);
            status.events.push(Event::of_resource(EventStatus::Failure, why.into()));
        }
    }

    /// The events of the report: one for each change that counts.
    fn events(
        &self,
        resource: &Resource,
        thing: &Made,
        status: EventStatus,
        changes: &[Change],
        logged: Vec<Logged>,
    ) -> Vec<Event> {
        let look = self.run.look();
        let one = |change: &Change| {
            let property = &*change.property;
            let is_secret = super::attributes::is_secret(resource, property);
            let reported = |value| {
                let text = text_of(value);
                if is_secret && !text.is_empty() {
                    return fx_value::REDACTED.to_owned();
                }
                super::names::account_number(look, resource, property, text)
            };
            let of_it = logged.iter().find(|logged| logged.property == change.property);
            let name = match thing {
                Made::Ruby(ruby) => ruby.event(property),
                _ => None,
            };
            Event {
                property: change.property.clone(),
                from: reported(&change.from),
                to: wording::wanted(resource, property).unwrap_or_else(|| reported(&change.to)),
                to_names: wording::names(property, &change.to),
                codes: match thing {
                    Made::Exec(exec) => Some(exec.desired.returns.clone()),
                    _ => None,
                },
                status,
                message: of_it.map(|logged| Rc::clone(&logged.words)).unwrap_or_default(),
                is_secret,
                name,
                was: None,
                is_corrective: self.corrective.borrow().contains(property),
            }
        };
        counted(changes).into_iter().map(one).collect()
    }

    /// Makes a file as far as it can be made while its owner or group is not known.
    fn make_without_accounts(&self, resource: &Resource) {
        let mut bare = resource.clone();
        bare.attributes.shift_remove("owner");
        bare.attributes.shift_remove("group");
        let Ok(mut made) = super::engine_resource::make(self.compiled, &bare) else { return };
        let mut request = Request::new(step_name(resource), "apply");
        request.origin = Origin::at(resource.span);
        request.why = "its owner or group is missed only after it is made".into();
        request.phase = Rc::clone(&self.phase);
        if let Some(thing) = made.thing() {
            let mut discreet = super::secrets::Discreet::new(thing, resource);
            let _logged_by_the_first_step = step(self.run, request, &mut discreet);
        }
    }

    /// Logs what a resource of Ruby did: each property by itself, then what writing it all did.
    fn log_parts(
        &self,
        resource: &Resource,
        path: &Rc<str>,
        thing: &mut Made,
        changes: &[Change],
        status: &mut Status,
    ) {
        let Made::Ruby(ruby) = thing else { return };
        let (parts, end) = ruby.done();
        for part in parts {
            self.log_said(resource, &part.said);
            let own: Vec<Change> =
                changes.iter().filter(|change| change.property == part.property).cloned().collect();
            status.out_of_sync += 1;
            let (word, logged) = match part.failure {
                None => {
                    status.changed = true;
                    status.changes += 1;
                    (EventStatus::Success, self.log_changes(resource, path, thing, &own))
                }
                Some(why) => {
                    status.failed = true;
                    let failure = Failure::Raised(why);
                    let logged = self.log_failure(resource, path, thing, &own, &failure);
                    (EventStatus::Failure, logged.into_iter().collect())
                }
            };
            status.events.extend(self.events(resource, thing, word, &own, logged));
        }
        let Some(end) = end else { return };
        self.log_said(resource, &end.said);
        if let Some(why) = end.failure {
            let why = super::secrets::shown(resource, &why);
            self.log_of(path, Level::Error, &Message::NotEvaluated(why.clone()));
            status.failed = true;
            status.out_of_sync += 1;
            status.events.push(Event::of_resource(EventStatus::Failure, why.into()));
        }
    }
}
