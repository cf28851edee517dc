//! Refreshes: who was notified reacts, or would have, and containers hand on what came out of
//! them. Who is notified by whom is the plan's.

use std::collections::BTreeMap;
use std::rc::Rc;

use fx_engine::{Failure, Level, Mode, Outcome, Request};
use fx_source::Origin;

use super::order::Point;
use super::record::{Event, Status};
use super::things::Made;
use super::transaction::{Outgoing, Transaction, container_name, is_shell};
use crate::compile::Resource;

impl Transaction<'_> {
    /// Lets a resource react to what it was notified of.
    pub(super) fn refresh(
        &self,
        resource: &Resource,
        incoming: &Outgoing,
        thing: &mut Made,
        noop: bool,
        path: &str,
        status: &mut Status,
    ) {
        let (real, withheld) = (incoming.real, incoming.withheld);
        if real + withheld == 0 || status.failed || !thing.can_refresh() {
            return;
        }
        // A service that was just started needs no restart.
        let is_start = |event: &Event| event.property == "ensure" && event.to == "running";
        if &*resource.low == "service" && status.changed && status.events.iter().any(is_start) {
            return;
        }
        let count = real + withheld;
        let events = format!("{count} event{}", if count == 1 { "" } else { "s" });
        // A copy of the machine has no services to restart, and a refresh may run anything.
        let told_only = noop || real == 0 || self.run.ledger.in_copy();
        let step = self.open_refresh(resource, incoming, told_only);
        self.run.ledger.open_ended(step);
        let close = |outcome| self.run.ledger.close(self.run.host, step, outcome);
        if told_only {
            close(Outcome::WouldRepair);
            self.say(
                Level::Notice,
                &format!("{path}: Would have triggered 'refresh' from {events}"),
            );
            self.schedule(path);
            status.noop += 1;
            return;
        }
        let refused = match thing {
            Made::Exec(exec) if !is_shell(resource) => {
                let program = exec.desired.refresh.as_ref().or(exec.desired.command.as_ref());
                program.and_then(|one| super::execs::Sought::refusal(self.run.host, exec, one))
            }
            _ => None,
        };
        let refreshed = match refused {
            Some(why) => Some(Err(Failure::new(why))),
            None => thing.refresh(self.run.host),
        };
        match refreshed {
            Some(Ok(())) => {
                close(Outcome::Repaired);
                // A command that runs again says what it printed, another one does not.
                if let Made::Exec(exec) = thing
                    && exec.desired.refresh.is_none()
                    && super::tell::truth_word(resource, "logoutput") == Some(true)
                {
                    self.tell_output(path, exec, super::tell::loglevel(resource));
                }
                self.say(Level::Notice, &format!("{path}: Triggered 'refresh' from {events}"));
                self.schedule(path);
                status.changed = true;
                status.restarted = true;
                status.changes += 1;
                status.out_of_sync += 1;
                status.events.push(Event {
                    property: String::new(),
                    from: String::new(),
                    to: String::new(),
                    status: "success",
                    message: format!("Triggered 'refresh' from {events}"),
                    is_secret: false,
                    name: None,
                    was: None,
                });
            }
            Some(Err(failure)) => {
                let why = super::wording::failure(self.run.host, resource, &[], &failure, true);
                let message = super::secrets::shown(resource, &self.exec_failure(thing, &why));
                let hides = super::secrets::hides_failures(resource);
                close(if hides { Failure::new(message.as_str()) } else { failure.clone() }.into());
                self.say(Level::Error, &format!("{path}: Failed to call refresh: {message}"));
                self.say(Level::Error, &format!("{path}: {message}"));
                status.failed_to_restart = true;
                status.failed = true;
                status.out_of_sync += 1;
                let text = format!("Failed to call refresh: {message}");
                status.events.push(Event::of_resource(text));
            }
            None => close(Outcome::Kept),
        }
    }

    /// What a point that hears of changes is called; nothing where it does not react. The end of
    /// a container hands on without a word.
    pub(super) fn hearer(&self, point: Point, made: &BTreeMap<usize, Made>) -> Option<String> {
        match point {
            Point::Begin(at) => Some(container_name(&self.catalog.resources[at])),
            Point::End(_) => None,
            Point::Act(at) => made
                .get(&at)
                .is_some_and(Made::can_refresh)
                .then(|| self.catalog.resources[at].reference()),
        }
    }

    /// Tells who will be refreshed.
    pub(super) fn schedule(&self, source: &str) {
        for hearer in &self.hearers {
            self.say(Level::Info, &format!("{source}: Scheduling refresh of {hearer}"));
        }
    }

    /// What changed is told to who is notified, each property for itself.
    pub(super) fn announce(&self, path: &str, resource: &Resource, status: &Status) {
        if status.failed {
            return;
        }
        let happened = |event: &&Event| matches!(event.status, "success" | "noop");
        let mut told: Vec<&str> = Vec::new();
        for event in status.events.iter().filter(happened) {
            if !told.contains(&event.property.as_str()) {
                told.push(&event.property);
                self.schedule(path);
            }
        }
        // A service that was just started needs no restart.
        let is_start = |event: &Event| event.property == "ensure" && event.to == "running";
        if &*resource.low == "service" && status.events.iter().any(is_start) {
            let name = resource.reference();
            self.say(Level::Info, &format!("{path}: Unscheduling refresh on {name}"));
        }
    }

    /// A refresh is a step of its own; who notified is its cause.
    fn open_refresh(
        &self,
        resource: &Resource,
        incoming: &Outgoing,
        withheld: bool,
    ) -> fx_engine::StepId {
        let names: Vec<String> =
            incoming.by.iter().map(|at| self.catalog.resources[*at].reference()).collect();
        let id = super::transaction::step_name(resource);
        let mut request = Request::new(id, "refresh");
        request.origin = Origin::at(resource.span);
        request.why = format!("notified by {}", names.join(", ")).into();
        request.phase = Rc::clone(&self.phase);
        request.mode = if withheld { Mode::Rehearse } else { Mode::Apply };
        self.run.ledger.open(self.run.host, request)
    }

    /// The end of a container tells what failed inside.
    pub(super) fn tell_container(&self, at: usize, incoming: &Outgoing) {
        let resource = &self.catalog.resources[at];
        if self.merges && &*resource.low == "class" {
            let name = container_name(resource);
            for failed in &incoming.failed {
                let other = self.catalog.resources[*failed].reference();
                let text = format!("{name}: Class dependency {other} has failures: true");
                self.say(Level::Notice, &text);
            }
        }
        // What came from inside is not handed on where something failed.
        if !incoming.failed.is_empty() && incoming.real + incoming.withheld > 0 {
            let name = container_name(resource);
            self.say(Level::Info, &format!("{name}: Unscheduling all events on {name}"));
        }
    }

    /// A container hands on all it was told as one event. In a rehearsal it says so.
    pub(super) fn hand_on(&self, at: usize, mut incoming: Outgoing) -> Outgoing {
        let count = incoming.real + incoming.withheld;
        if count == 0 {
            return incoming;
        }
        let is_withheld = incoming.real == 0 || self.noop;
        // One resource by itself is in no class.
        if !self.alone {
            let name = container_name(&self.catalog.resources[at]);
            *self.container.borrow_mut() = Some(name.clone());
            if is_withheld {
                let events = format!("{count} event{}", if count == 1 { "" } else { "s" });
                let text = format!("{name}: Would have triggered 'refresh' from {events}");
                self.say(Level::Notice, &text);
            }
            self.schedule(&name);
            *self.container.borrow_mut() = None;
        }
        (incoming.real, incoming.withheld) = if is_withheld { (0, 1) } else { (1, 0) };
        incoming
    }
}
