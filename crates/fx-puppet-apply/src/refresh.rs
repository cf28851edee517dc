//! Refreshes: who was notified reacts, or would have, and containers hand on what came out of
//! them. Who is notified by whom is the plan's.

use std::collections::BTreeMap;
use std::rc::Rc;

use fx_engine::{Attempt, Change, Done, Failure, Level, Mode, Outcome, Request, Why};
use fx_puppet::Resource;
use fx_source::Origin;

use super::debug::Detail;
use super::engine_resource::Made;
use super::order::Point;
use super::status::{Event, EventStatus, Status};
use super::transaction::{Outgoing, Transaction, container_name, is_shell};
use super::wording::{Message, words};

impl Transaction<'_> {
    /// Lets a resource react to what it was notified of.
    pub(super) fn refresh(
        &self,
        resource: &Resource,
        incoming: &Outgoing,
        thing: &mut Made,
        noop: bool,
        path: &Rc<str>,
        status: &mut Status,
    ) {
        let (real, withheld) = (incoming.real, incoming.withheld);
        let has_provider = || !self.unprovided.borrow().contains(&*resource.low);
        if real + withheld == 0 || !thing.can_refresh() || !has_provider() {
            return;
        }
        // A service that was just started, or would be, needs no restart. One that failed to start is notified all the
        // same, as is a command that failed.
        let is_start = |event: &Event| {
            event.property == "ensure"
                && event.to == "running"
                && event.status != EventStatus::Failure
        };
        if &*resource.low == "service" && status.events.iter().any(is_start) {
            return;
        }
        let count = real + withheld;
        // A copy of the machine has no services to restart, and a refresh may run anything.
        let is_withheld = noop || real == 0 || self.run.ledger.in_copy();
        let attempt = self.open_refresh(resource, incoming, is_withheld);
        attempt.open_ended();
        let Some(target) = thing.thing().map(|thing| thing.target()) else { return };
        let change = Change::of(target, "refresh", "due", "done");
        let refused = match thing {
            Made::Exec(exec) if !is_shell(resource) && !is_withheld => {
                let program = exec.desired.refresh.as_ref().or(exec.desired.command.as_ref());
                program.and_then(|one| super::execs::refusal(self.run.look(), exec, one))
            }
            _ => None,
        };
        let done = attempt.change(&change, |act| match refused {
            Some(failure) => Err(failure),
            None => thing.refresh(act).unwrap_or(Ok(())),
        });
        match done {
            Ok(Done::Withheld) => {
                attempt.close(Outcome::WouldRepair);
                self.log_of(path, Level::Notice, &Message::WouldTrigger(count));
                self.schedule(path);
                status.noop += 1;
            }
            Ok(Done::Made(())) => {
                attempt.close(Outcome::Repaired);
                // A command that runs again shows what it printed, another one does not.
                if let Made::Exec(exec) = thing
                    && exec.desired.refresh.is_none()
                    && super::logging::truth_word(resource, "logoutput") == Some(true)
                {
                    self.log_output(path, exec, super::logging::loglevel(resource));
                }
                let message = Message::Triggered(count);
                self.log_of(path, Level::Notice, &message);
                self.schedule(path);
                status.changed = true;
                status.restarted = true;
                status.changes += 1;
                status.out_of_sync += 1;
                let words = words(&message).into();
                status.events.push(Event::of_resource(EventStatus::Success, words));
            }
            Err(failure) => {
                if let Made::Exec(exec) = &*thing
                    && exec.desired.refresh.is_none()
                {
                    self.log_output_of_failure(resource, path, exec, &failure);
                }
                let why = self.failure_words(resource, thing, &[], &failure, true);
                let hides = super::secrets::hides_failures(resource);
                attempt.close(if hides { Failure::new(why.as_str()) } else { failure }.into());
                let message = Message::RefreshFailed(why.clone());
                self.log_of(path, Level::Error, &message);
                self.log_of(path, Level::Error, &Message::Failed(why));
                status.failed_to_restart = true;
                status.failed = true;
                status.out_of_sync += 1;
                let words = words(&message).into();
                status.events.push(Event::of_resource(EventStatus::Failure, words));
            }
        }
    }

    /// What is logged of a point that hears of changes; nothing where it does not react. That the end of a container
    /// hands on is a detail.
    pub(super) fn hearer(
        &self,
        point: Point,
        made: &BTreeMap<usize, Made>,
    ) -> Option<(Level, Message)> {
        let name = |at: usize| container_name(&self.catalog.resources[at]);
        match point {
            Point::Begin(at) => Some((Level::Info, Message::Scheduling(name(at)))),
            Point::End(_) if !self.debugs => None,
            Point::End(at) => Some((Level::Debug, Message::Detail(Detail::Propagates(name(at))))),
            Point::Act(at) => made
                .get(&at)
                .is_some_and(Made::can_refresh)
                .then(|| (Level::Info, Message::Scheduling(name(at)))),
        }
    }

    /// Logs what will be refreshed.
    pub(super) fn schedule(&self, source: &Rc<str>) {
        for (level, message) in &self.hearers {
            self.log_of(source, *level, message);
        }
    }

    /// Logs that what changed notifies others, each property for itself.
    pub(super) fn announce(&self, path: &Rc<str>, resource: &Resource, status: &Status) {
        if status.failed {
            return;
        }
        let happened =
            |event: &&Event| matches!(event.status, EventStatus::Success | EventStatus::Noop);
        let mut announced: Vec<&str> = Vec::new();
        for event in status.events.iter().filter(happened) {
            if !announced.contains(&&*event.property) {
                announced.push(&event.property);
                self.schedule(path);
            }
        }
        // A service that was just started needs no restart.
        let is_start = |event: &Event| event.property == "ensure" && event.to == "running";
        if &*resource.low == "service" && status.events.iter().any(is_start) {
            self.log_of(path, Level::Info, &Message::Unscheduling(resource.reference()));
        }
    }

    /// A refresh is a step of its own; who notified is its cause.
    fn open_refresh(
        &self,
        resource: &Resource,
        incoming: &Outgoing,
        withheld: bool,
    ) -> Attempt<'_> {
        let names: Vec<String> =
            incoming.by.iter().map(|at| self.catalog.resources[*at].reference()).collect();
        let id = super::transaction::step_name(resource);
        let mut request = Request::new(id, "refresh");
        request.origin = Origin::at(resource.span);
        let titles = incoming.by.iter().map(|at| Rc::clone(&self.catalog.resources[*at].title));
        request.why = Why::from(format!("notified by {}", names.join(", ")))
            .caused_by(titles.map(fx_engine::Cause::Item));
        request.phase = Rc::clone(&self.phase);
        request.mode = if withheld { Mode::Rehearse } else { Mode::Apply };
        self.run.open(request)
    }

    /// The end of a container says what failed inside.
    pub(super) fn log_container(&self, at: usize, incoming: &Outgoing) {
        let resource = &self.catalog.resources[at];
        let name: Rc<str> = container_name(resource).into();
        if self.merges && &*resource.low == "class" {
            for failed in &incoming.failed {
                let other = self.catalog.resources[*failed].reference();
                self.log_of(&name, Level::Notice, &Message::ClassDependencyFailed(other));
            }
        }
        if !incoming.failed.is_empty() {
            self.log_detail(&name, Detail::PassedOver);
        }
        // What came from inside is not handed on where something failed.
        if !incoming.failed.is_empty() && incoming.real + incoming.withheld > 0 {
            self.log_of(&name, Level::Info, &Message::UnschedulingAll(name.to_string()));
        }
    }

    /// Whether the wanted tags leave a container out.
    pub(super) fn is_left_out(&self, at: usize) -> bool {
        self.left_out.contains(&at) && !super::order::acts(self.catalog, at)
    }

    /// A container that tags leave out hands on nothing but failures.
    pub(super) fn pass_over_container(&self, at: usize, incoming: Outgoing) -> Outgoing {
        let resource = &self.catalog.resources[at];
        let name: Rc<str> = container_name(resource).into();
        self.log_left_out(&name, resource);
        if incoming.real + incoming.withheld > 0 {
            self.log_of(&name, Level::Info, &Message::UnschedulingAll(name.to_string()));
        }
        Outgoing { failed: incoming.failed, ..Outgoing::default() }
    }

    /// A container hands on all it was notified of as one event. In a rehearsal it says so.
    pub(super) fn hand_on(&self, at: usize, mut incoming: Outgoing) -> Outgoing {
        let count = incoming.real + incoming.withheld;
        if count == 0 {
            return incoming;
        }
        let is_withheld = incoming.real == 0 || self.noop;
        // One resource by itself is in no class.
        if !self.alone {
            let name: Rc<str> = container_name(&self.catalog.resources[at]).into();
            if is_withheld {
                self.log_of(&name, Level::Notice, &Message::WouldTrigger(count));
            }
            self.schedule(&name);
        }
        (incoming.real, incoming.withheld) = if is_withheld { (0, 1) } else { (1, 0) };
        incoming
    }
}
