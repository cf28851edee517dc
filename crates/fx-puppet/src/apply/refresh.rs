//! Refreshes: who was notified reacts, or would have, and containers hand on what came out of
//! them. Who is notified by whom is the plan's.

use std::rc::Rc;

use fx_engine::{Level, Mode, Outcome, Request};
use fx_source::Origin;

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
            Some(why) => Some(Err(fx_engine::Failure::new(why))),
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
                close(failure.clone().into());
                let why = super::wording::failure(self.run.host, resource, &[], &failure, true);
                let message = self.exec_failure(thing, &why);
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

    /// A refresh is a step of its own; who notified is its cause.
    fn open_refresh(
        &self,
        resource: &Resource,
        incoming: &Outgoing,
        withheld: bool,
    ) -> fx_engine::StepId {
        let names: Vec<String> =
            incoming.by.iter().map(|at| self.catalog.resources[*at].reference()).collect();
        let id = fx_engine::ResourceId::new(resource.low.to_string(), resource.title.to_string());
        let mut request = Request::new(id, "refresh");
        request.origin = Origin::at(resource.span);
        request.why = format!("notified by {}", names.join(", ")).into();
        request.phase = Rc::from("apply");
        request.mode = if withheld { Mode::Rehearse } else { Mode::Apply };
        self.run.ledger.open(self.run.host, request)
    }

    /// In a rehearsal classes and stages would have been notified, too.
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
            return self.say(Level::Info, &format!("{name}: Unscheduling all events on {name}"));
        }
        // One resource by itself is in no class.
        if incoming.withheld == 0
            || self.alone
            || (!matches!(&*resource.low, "class" | "stage") && !self.is_noop(resource))
            || (incoming.real > 0 && !self.is_noop(resource))
        {
            return;
        }
        // A stage counts its classes, a class its changes.
        let count = if &*resource.low == "stage" {
            self.catalog
                .edges
                .iter()
                .filter(|(outer, inner)| *outer == at && self.has_withheld(*inner))
                .count()
        } else {
            incoming.real + incoming.withheld
        };
        if count == 0 {
            return;
        }
        let name = container_name(resource);
        let events = format!("{count} event{}", if count == 1 { "" } else { "s" });
        self.say(Level::Notice, &format!("{name}: Would have triggered 'refresh' from {events}"));
    }

    /// Whether something inside a container was withheld.
    fn has_withheld(&self, container: usize) -> bool {
        let own = self.status.iter().filter(|(_, status)| status.noop > 0).map(|(at, _)| *at);
        own.chain(self.withheld.iter().copied()).any(|at| {
            let mut next = self.containers[at];
            for _ in 0..100 {
                match next {
                    Some(outer) if outer == container => return true,
                    Some(outer) => next = self.containers[outer],
                    None => return false,
                }
            }
            false
        })
    }
}
