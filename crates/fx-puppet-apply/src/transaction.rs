//! The transaction: one step after the other, what they generate, and refreshes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fx_engine::{Level, Outcome, Request, Run, Why};
use fx_puppet::text::interpolated;
use fx_puppet::{Catalog, Compiled, Resource, Value};
use fx_source::Origin;

use super::attributes::attribute;
use super::debug::Detail;
use super::engine_resource::Made;
use super::log::{Entry, Place};
use super::order::{Plan, Point};
use super::status::{Common, Generated, Status};
use super::wording::Message;

/// `Class[Main]`, `Stage[main]`
pub(super) fn container_name(resource: &Resource) -> String {
    match &*resource.low {
        "class" => format!("Class[{}]", fx_puppet::text::capitalized(&resource.title)),
        _ => resource.reference(),
    }
}

/// What the record calls a resource. There may be very many of them that are files.
pub(super) fn step_name(resource: &Resource) -> fx_engine::ResourceId {
    let title = Rc::clone(&resource.title);
    match &*resource.low {
        "file" => fx_engine::ResourceId::new("file", title),
        other => fx_engine::ResourceId::new(other.to_owned(), title),
    }
}

/// Whether a command is a shell's to run.
pub(super) fn is_shell(resource: &Resource) -> bool {
    attribute(resource, "provider").is_some_and(|word| interpolated(&word) == "shell")
}

/// Whether a resource is a directory that may be taken as a whole.
fn is_tree(resource: &Resource) -> bool {
    &*resource.low == "file" && attribute(resource, "recurse").is_some()
}

/// Most resources that are named as causes of a refresh.
const MOST_CAUSES: usize = 8;

/// What comes out of a point: changes for who is notified, failures for who depends.
#[derive(Clone, Debug, Default)]
pub(super) struct Outgoing {
    pub(super) real: usize,
    pub(super) withheld: usize,
    /// Who changed, as far as they are named.
    pub(super) by: Vec<usize>,
    pub(super) failed: Vec<usize>,
}

/// What was logged.
pub(super) type Logs = Rc<std::cell::RefCell<Vec<Entry>>>;

pub(super) struct Transaction<'a> {
    pub(super) run: Run<'a>,
    pub(super) compiled: &'a Compiled,
    pub(super) catalog: &'a Catalog,
    pub(super) containers: Vec<Option<usize>>,
    pub(super) noop: bool,
    pub(super) show_diff: bool,
    /// A single resource is applied, without anything around it.
    pub(super) alone: bool,
    pub(super) status: BTreeMap<usize, Status>,
    /// Resources that came up on the way, with what became of them.
    pub(super) generated: Vec<Generated>,
    /// Paths of all files of the catalog, once a directory is taken as a whole.
    pub(super) managed: std::cell::OnceCell<BTreeSet<std::path::PathBuf>>,
    /// Paths of files that resources written in Ruby will bring.
    pub(super) files_of_ruby: Vec<std::path::PathBuf>,
    /// Resources that others bring with them, found before anything is done; or why they
    /// could not be found.
    pub(super) brought: BTreeMap<usize, Result<Vec<Resource>, String>>,
    /// Something could not be generated, which fails the run and no resource.
    pub(super) misgenerated: bool,
    /// Resources that others gave other values before their turn.
    pub(super) changed: BTreeMap<usize, Resource>,
    /// What is logged of who hears of the changes of the point at hand.
    pub(super) hearers: Vec<(Level, Message)>,
    /// What was logged, for the report.
    pub(super) logs: Logs,
    /// A verb of ours runs it, which names nothing that is not there.
    pub(super) explains: bool,
    /// Details are logged too.
    pub(super) debugs: bool,
    /// Only resources with one of these tags have their turn, and none with one of the others.
    pub(super) wanted_tags: Vec<String>,
    pub(super) skip_tags: Vec<String>,
    /// The resource at hand, as entries of the log name it.
    pub(super) place: Option<Rc<Place>>,
    /// Failures that have been logged for what depends on them.
    pub(super) announced: BTreeSet<usize>,
    /// Resources left out because of tags or schedules.
    pub(super) left_out: BTreeSet<usize>,
    /// What the record calls this part of the run.
    pub(super) phase: Rc<str>,
    /// Why the resource at hand has its turn now.
    pub(super) why: Why,
    /// Failed dependencies are logged by the classes around, once.
    pub(super) merges: bool,
    /// Types that nobody can act for, which is logged at the end.
    pub(super) unprovided: std::cell::RefCell<BTreeSet<String>>,
    /// Values left to the node are found out when a resource has its turn.
    pub(super) defers: bool,
    /// Why the whole was given up, if so.
    pub(super) aborted: Option<String>,
    /// Values recorded for audits.
    pub(super) state: super::state::State,
    /// What the last run wanted of each property.
    pub(super) store: super::corrective::Store,
    /// Properties of the resource at hand that something else changed since then.
    pub(super) corrective: std::cell::RefCell<BTreeSet<String>>,
}

impl<'a> Transaction<'a> {
    /// From here on it is this resource that things are said of.
    fn turn_to(&mut self, resource: &Resource, path: &str) {
        let tags = self.tags(resource, path);
        // Classes and stages have no place in the log.
        let has_place =
            super::order::acts_alone(resource) && !self.compiled.is_placeless(&resource.low);
        let place = has_place.then(|| self.compiled.location(resource.span));
        self.place = Some(Rc::new(Place { place, tags: tags.into() }));
    }

    /// Lets resources find out what they bring with them.
    fn bring(&mut self) {
        let catalog = self.catalog;
        for (at, resource) in catalog.resources.iter().enumerate() {
            if !super::order::acts(catalog, at)
                || !super::generate::generates(resource)
                || self.left_out.contains(&at)
            {
                continue;
            }
            let children = super::generate::children(self.compiled, self.catalog, resource);
            if &*resource.low == "tidy"
                && let Ok(children) = &children
                && !children.is_empty()
            {
                let path = self.path(at);
                self.turn_to(resource, &path);
                self.log_of(&path, Level::Notice, &Message::Tidying(children.len()));
                self.place = None;
            }
            self.brought.insert(at, children);
        }
    }

    /// Whether the schedule of a resource lets it have its turn.
    fn is_due(&mut self, resource: &Resource) -> bool {
        let schedule = match super::schedule::Schedule::of(self.catalog, resource) {
            Ok(schedule) => schedule,
            Err(message) => {
                self.aborted = Some(message);
                return false;
            }
        };
        let now = self.run.look().now();
        let key = resource.reference();
        // A time that is still to come was noted by a wrong clock, and would be waited for.
        let last = self.state.checked(&key).filter(|last| *last <= now.secs).unwrap_or(0);
        let due = schedule.is_none_or(|schedule| {
            let local = |secs| fx_puppet::local_time(self.run.look(), secs);
            schedule.allows(&local(last), &local(now.secs))
        });
        if due {
            self.state.check(&key, now);
        }
        due
    }

    /// A resource that is passed over, as a step of its own.
    fn passed_over(&self, resource: &Resource, reason: &str) {
        let id = step_name(resource);
        let mut request = Request::new(id, "apply");
        request.origin = Origin::at(resource.span);
        request.why = self.why.clone();
        self.run.open(request).close(Outcome::Skipped(reason.to_owned()));
    }

    /// `(file: F, line: L)` of a resource.
    pub(super) fn place(&self, resource: &Resource) -> String {
        self.compiled.line_text(resource.span)
    }

    /// `/Stage[main]/Main/File[/x]`
    pub(super) fn path(&self, at: usize) -> Rc<str> {
        if self.alone {
            return format!("/{}", self.catalog.resources[at].reference()).into();
        }
        super::order::path(self.catalog, &self.containers, at).into()
    }

    pub(super) fn is_noop(&self, resource: &Resource) -> bool {
        match attribute(resource, "noop") {
            Some(Value::Bool(noop)) => noop,
            Some(other) => interpolated(&other) == "true",
            None => self.noop,
        }
    }

    pub(super) fn apply(&mut self, plan: &Plan, made: &mut BTreeMap<usize, Made>) {
        self.bring();
        let mut out: Vec<Outgoing> = vec![Outgoing::default(); plan.points.len()];
        let hearers = plan.hearers();
        for (number, point) in plan.numbers.iter().zip(&plan.order) {
            if self.aborted.is_some() {
                return;
            }
            let mut incoming = Outgoing::default();
            for edge in &plan.before[*number] {
                let earlier = &out[edge.from];
                if edge.notifies {
                    incoming.real += earlier.real;
                    incoming.withheld += earlier.withheld;
                    let room = MOST_CAUSES.saturating_sub(incoming.by.len());
                    incoming.by.extend(earlier.by.iter().take(room));
                }
                for failed in &earlier.failed {
                    if !incoming.failed.contains(failed) {
                        incoming.failed.push(*failed);
                    }
                }
            }
            self.hearers = hearers[*number]
                .iter()
                .filter_map(|hearer| self.hearer(plan.points[*hearer], made))
                .collect();
            // The containers around come last.
            self.hearers.sort_by_key(|(level, _)| *level);
            out[*number] = match point {
                Point::Begin(at) | Point::End(at) if self.is_left_out(*at) => {
                    self.pass_over_container(*at, incoming)
                }
                Point::Begin(at) => self.hand_on(*at, incoming),
                Point::End(at) => {
                    let resource = &self.catalog.resources[*at];
                    self.turn_to(resource, "");
                    self.log_container(*at, &incoming);
                    // Where something inside failed, nobody outside is notified.
                    if !incoming.failed.is_empty() {
                        (incoming.real, incoming.withheld) = (0, 0);
                    }
                    self.hand_on(*at, incoming)
                }
                Point::Act(at) => {
                    self.why = plan.reason(self.catalog, *number);
                    let started = self.run.look().monotonic();
                    let (mut status, outgoing) = self.one(*at, &incoming, made);
                    status.took = self.run.look().monotonic().saturating_sub(started).as_secs_f64();
                    if self.aborted.is_some() && status.failed {
                        return;
                    }
                    self.status.insert(*at, status);
                    outgoing
                }
            };
        }
        self.place = None;
        for kind in self.unprovided.take() {
            self.log(Level::Error, &Message::NoProvider(kind));
        }
    }

    /// What becomes of a resource that tags or a failed dependency keep from its turn.
    fn kept_from_turn(
        &mut self,
        at: usize,
        path: &Rc<str>,
        incoming: &Outgoing,
    ) -> Option<(Status, Outgoing)> {
        let resource = &self.catalog.resources[at];
        let status = Status { skipped: true, ..Status::default() };
        if self.left_out.contains(&at) {
            self.log_left_out(path, resource);
            self.passed_over(resource, "left out by tags");
            return Some((status, Outgoing::default()));
        }
        if incoming.failed.is_empty() {
            return None;
        }
        for failed in &incoming.failed {
            if self.announced.insert(*failed) && !self.merges {
                let name = self.catalog.resources[*failed].reference();
                self.log_of(path, Level::Notice, &Message::DependencyFailed(name));
            }
        }
        self.log_of(path, Level::Warning, &Message::SkippedByDependency);
        self.log_detail(path, Detail::PassedOver);
        if incoming.real + incoming.withheld > 0 {
            let message = Message::UnschedulingAll(resource.reference());
            self.log_of(path, Level::Info, &message);
        }
        self.passed_over(resource, "a dependency failed");
        Some((status, Outgoing { failed: incoming.failed.clone(), ..Outgoing::default() }))
    }

    /// The resource with all its values and the thing it stands for, made as late as it has to
    /// be; what becomes of it where it does not get that far.
    fn ready(
        &mut self,
        at: usize,
        path: &Rc<str>,
        mut thing: Made,
    ) -> Result<(Cow<'a, Resource>, Made), Box<(Status, Outgoing)>> {
        let failed = || Status { failed: true, ..Status::default() };
        let mut resource = Cow::Borrowed(&self.catalog.resources[at]);
        // Values left to the node may be found out as late as now.
        if self.defers && resource.is_deferred() {
            match self.compiled.resolved(&resource) {
                Ok(with_values) => resource = Cow::Owned(with_values),
                Err(message) => {
                    self.aborted = Some(message);
                    return Err(Box::new((failed(), Outgoing::default())));
                }
            }
        }
        let is_due = self.is_due(&resource);
        if self.aborted.is_some() {
            return Err(Box::default());
        }
        if !is_due {
            self.log_detail(path, Detail::NotScheduled);
            self.log_detail(path, Detail::PassedOver);
            self.passed_over(&resource, "its schedule says not now");
            let status = Status { skipped: true, ..Status::default() };
            return Err(Box::new((status, Outgoing::default())));
        }
        if let Some(with_values) = self.changed.remove(&at)
            && let Ok(now) = super::engine_resource::make(self.compiled, &with_values)
        {
            return Ok((Cow::Owned(with_values), now));
        }
        // What is there is looked at when a file has its turn: an earlier resource may have
        // made it, or its source.
        if let Made::Later = thing {
            match super::engine_resource::make(self.compiled, &resource) {
                Ok(now) => thing = now,
                // A value that was found out this late ends the run, as it would have earlier.
                Err(why) if matches!(resource, Cow::Owned(_)) => {
                    self.aborted = Some(why);
                    return Err(Box::new((failed(), Outgoing::default())));
                }
                Err(why) => {
                    self.log_of(path, Level::Error, &Message::Failed(why));
                    let outgoing = Outgoing { failed: vec![at], ..Outgoing::default() };
                    return Err(Box::new((failed(), outgoing)));
                }
            }
        }
        Ok((resource, thing))
    }

    /// One resource has its turn: what becomes of it, and what follows for others.
    fn one(
        &mut self,
        at: usize,
        incoming: &Outgoing,
        made: &mut BTreeMap<usize, Made>,
    ) -> (Status, Outgoing) {
        let path = self.path(at);
        self.turn_to(&self.catalog.resources[at], &path);
        let Some(thing) = made.remove(&at) else { return Default::default() };
        if let Some(passed) = self.kept_from_turn(at, &path, incoming) {
            return passed;
        }
        let (resource, mut thing) = match self.ready(at, &path, thing) {
            Ok(ready) => ready,
            Err(passed) => return *passed,
        };
        let resource = &*resource;
        let noop = self.is_noop(resource);
        self.compiled.phase(|| format!("apply {}", resource.reference()));
        if let Made::Ruby(ruby) = &thing {
            ruby.object.settle(&path);
        }
        let too_many = super::recurse::too_many(self.compiled, resource);
        let generates = too_many.is_none();
        if let Some(why) = too_many {
            let message = Message::NotGenerated { step: "eval_generate", why };
            self.log_of(&path, Level::Error, &message);
            self.misgenerated = true;
        }
        let watched = super::audit::values(self.run.look(), resource);
        let mut status = self.attempt(resource, &path, &mut thing, noop);
        self.audit(resource, &path, watched, &mut status);
        if let Made::Ruby(ruby) = &thing {
            status.provider = Some(ruby.object.provider());
        }
        // A tree is announced once all of it is done.
        if !is_tree(resource) {
            self.announce(&path, resource, &status);
        }
        let own_too;
        let mut notified = incoming;
        if let Made::Ruby(ruby) = &thing
            && status.changes + status.noop > 0
            && ruby.object.refreshes_itself()
        {
            own_too = Outgoing {
                real: incoming.real + status.changes,
                withheld: incoming.withheld + status.noop,
                ..incoming.clone()
            };
            notified = &own_too;
        }
        self.refresh(resource, notified, &mut thing, noop, &path, &mut status);
        let mut outgoing = Outgoing {
            real: status.changes,
            withheld: status.noop,
            by: if status.changes + status.noop > 0 { vec![at] } else { Vec::new() },
            failed: if status.failed { vec![at] } else { Vec::new() },
        };
        if let Made::Ruby(ruby) = &thing
            && let Some(found) = self.raised(resource, ruby, status.failed)
        {
            self.brought.insert(at, found);
        }
        match self.brought.remove(&at) {
            Some(Ok(children)) => {
                let is_one = matches!(thing, Made::Ruby(_)) && !children.is_empty();
                let own = outgoing.withheld;
                self.take(at, children.into_iter(), noop, &mut outgoing);
                if is_one && outgoing.real + outgoing.withheld > 0 {
                    self.take_of_ruby(resource, &thing, own, &mut outgoing);
                }
            }
            Some(Err(why)) => {
                let message = Message::NotGenerated { step: "generate", why };
                self.log_of(&path, Level::Error, &message);
                status.failed = true;
                outgoing.failed.push(at);
            }
            None if !status.failed && generates => {
                self.take_tree(at, resource, &path, &status, noop, &mut outgoing);
            }
            None => {}
        }
        if status.changed {
            self.state.sync(&resource.reference(), self.run.look().now());
        }
        (status, outgoing)
    }

    /// All that a resource brought is one change to who is notified, however much it is.
    fn as_one(&self, resource: &Resource, outgoing: &mut Outgoing) {
        outgoing.withheld = usize::from(outgoing.real == 0);
        outgoing.real = outgoing.real.min(1);
        self.schedule(&resource.title);
    }

    /// What Ruby brought is one change to who is notified. In a rehearsal it is named where it was brought when the resource
    /// had its turn; what was known before the run counts a second time, as a part of the container around.
    fn take_of_ruby(&self, resource: &Resource, thing: &Made, own: usize, outgoing: &mut Outgoing) {
        let (before, in_turn) = match thing {
            Made::Ruby(ruby) => ruby.object.ways_to_generate(),
            _ => (false, false),
        };
        let (is_withheld, brought) = (outgoing.real == 0, outgoing.withheld - own);
        if is_withheld && in_turn {
            let message = Message::WouldTrigger(outgoing.withheld);
            self.log_of(&resource.title, Level::Notice, &message);
        }
        self.as_one(resource, outgoing);
        if is_withheld && before && in_turn {
            outgoing.withheld += brought;
        }
    }

    /// What lies below a directory that is taken as a whole.
    fn take_tree(
        &mut self,
        at: usize,
        resource: &Resource,
        path: &Rc<str>,
        status: &Status,
        noop: bool,
        outgoing: &mut Outgoing,
    ) {
        let managed = self.managed.get_or_init(|| {
            let mut paths = super::recurse::managed(self.catalog);
            paths.extend(self.files_of_ruby.iter().cloned());
            paths
        });
        let tree = match super::recurse::tree(self.compiled, managed, resource) {
            Ok(tree) => tree.filter(|tree| !tree.is_empty()),
            Err(why) => {
                let message = Message::NotGenerated { step: "eval_generate", why };
                self.log_of(path, Level::Error, &message);
                self.misgenerated = true;
                None
            }
        };
        let has_files = tree.is_some();
        if let Some(tree) = tree {
            self.take(at, tree.resources(self.run.look()), noop, outgoing);
        }
        if has_files && outgoing.real + outgoing.withheld > 0 {
            if outgoing.real == 0 {
                let message = Message::WouldTrigger(outgoing.withheld);
                self.log_of(&resource.title, Level::Notice, &message);
            }
            self.as_one(resource, outgoing);
        } else if is_tree(resource) {
            self.announce(path, resource, status);
        }
    }

    /// Tags of a resource as the report has them. Those of the resource API have only their own and
    /// the names of the classes around them.
    pub(super) fn tags(&self, resource: &Resource, path: &str) -> Vec<Rc<str>> {
        if !self.compiled.is_placeless(&resource.low) {
            return resource.tags.iter().map(|tag| Rc::from(&**tag)).collect();
        }
        let title = resource.title.to_lowercase();
        let own = [Rc::from(&*resource.low), Rc::from(title)];
        let known = resource.tags.iter().map(|tag| Rc::from(&**tag));
        let mut tags: Vec<Rc<str>> = known.filter(|tag| own.contains(tag)).collect();
        for part in path.split('/').filter(|part| !part.is_empty() && !part.contains(['[', ']'])) {
            let part = part.to_lowercase();
            let names = std::iter::once(part.as_str()).chain(part.split("::"));
            for name in names {
                if !tags.iter().any(|tag| **tag == *name) {
                    tags.push(Rc::from(name));
                }
            }
        }
        tags
    }

    /// What a resource brings with it, one after the other.
    fn take(
        &mut self,
        at: usize,
        children: impl Iterator<Item = Resource>,
        noop: bool,
        outgoing: &mut Outgoing,
    ) {
        let resource = &self.catalog.resources[at];
        // What Ruby generates is withheld where it says so itself.
        let is_own = matches!(&*resource.low, "file" | "tidy" | "resources" | "user");
        let base: Rc<str> = match self.path(at).rsplit_once(&format!("/{}", resource.reference())) {
            Some((base, _)) => base.into(),
            None => "".into(),
        };
        // Most have kind and tags of the one before, and a place in the log, which they share.
        let mut last: Option<(Rc<Common>, Rc<Place>)> = None;
        for child in children {
            let (common, place) = match last.take().filter(|(common, _)| common.is_of(&child)) {
                Some(known) => known,
                None => {
                    let tags: Rc<[Rc<str>]> = child.tags.iter().cloned().collect();
                    // The engine made it: it has no place in the manifest.
                    let place = Rc::new(Place { place: None, tags: Rc::clone(&tags) });
                    let (kind, low) = (Rc::clone(&child.kind), Rc::clone(&child.low));
                    (Rc::new(Common { kind, low, base: Rc::clone(&base), tags }), place)
                }
            };
            self.place = Some(Rc::clone(&place));
            let path: Rc<str> = format!("{base}/{}", child.reference()).into();
            let started = self.run.look().monotonic();
            self.compiled.phase(|| format!("generate and apply {}", child.reference()));
            let mut status = match super::engine_resource::make(self.compiled, &child) {
                Ok(mut thing) => {
                    let noop = if is_own { noop } else { self.is_noop(&child) };
                    self.attempt(&child, &path, &mut thing, noop)
                }
                Err(why) => {
                    self.log_of(&path, Level::Error, &Message::Failed(why));
                    Status { failed: true, ..Status::default() }
                }
            };
            status.took = self.run.look().monotonic().saturating_sub(started).as_secs_f64();
            status.provider =
                status.provider.or_else(|| super::attributes::text(&child, "provider"));
            outgoing.real += status.changes;
            outgoing.withheld += status.noop;
            if status.failed && !outgoing.failed.contains(&at) {
                outgoing.failed.push(at);
            }
            let title = child.told.unwrap_or(child.title);
            self.generated.push(Generated { common: Rc::clone(&common), title, status });
            last = Some((common, place));
        }
    }
}
