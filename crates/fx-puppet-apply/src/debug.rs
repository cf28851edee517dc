//! What `--debug` logs of a run: how resources depend on each other, why one is passed over, and each command. The words
//! are the original's.

use std::rc::Rc;

use fx_engine::{Level, Run};
use fx_host::{Ended, Program};
use fx_puppet::{Catalog, Resource};
use fx_resources::exec::{Decider, Exec, Moment};

use super::attributes::is_secret;
use super::execs::COMMAND;
use super::log::{Entry, Source};
use super::order::{self, Cause, Plan, Point};
use super::transaction::{Logs, Transaction, container_name, is_shell};
use super::wording::Message;

/// What is logged of a run in detail.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Detail {
    /// What the program is, and as what it runs.
    Runtime,
    /// The facts are about to be found out.
    Facts {
        external: String,
    },
    DefaultSchedules,
    /// State was read in so many seconds.
    LoadedState(f64),
    StoringState,
    StoredState(f64),
    /// A parameter of a resource names another one.
    Related {
        parameter: &'static str,
        other: String,
    },
    /// A type draws an edge by itself.
    AutoRelated {
        other: String,
    },
    /// Changes of a resource reach the container around it.
    Propagates(String),
    NotTagged(Vec<String>),
    SkipTags(Vec<String>),
    NotScheduled,
    PassedOver,
    /// A command is about to run, as a check or for itself.
    Executing {
        provider: &'static str,
        name: String,
        is_check: bool,
        command: String,
    },
    LooksForPath(String),
    NotNeeded {
        command: String,
        check: &'static str,
    },
    Try(u32, u32),
}

/// The words of the original.
pub(super) fn words(detail: &Detail) -> String {
    match detail {
        Detail::Runtime => format!(
            "Runtime environment: puppet_version={}, run_mode=user, default_encoding=UTF-8",
            fx_puppet::VERSION
        ),
        Detail::Facts { external } => format!("Loading external facts from {external}"),
        Detail::DefaultSchedules => "Creating default schedules".into(),
        Detail::LoadedState(seconds) => format!("Loaded state in {seconds:.2} seconds"),
        Detail::StoringState => "Storing state".into(),
        Detail::StoredState(seconds) => format!("Stored state in {seconds:.2} seconds"),
        Detail::Related { parameter, other } => format!("{parameter} to {other}"),
        Detail::AutoRelated { other } => format!("Adding autorequire relationship with {other}"),
        Detail::Propagates(name) => {
            format!("The container {name} will propagate my refresh event")
        }
        Detail::NotTagged(tags) => format!("Not tagged with {}", tags.join(", ")),
        Detail::SkipTags(tags) => format!("Skipping with skip tags {}", tags.join(", ")),
        Detail::NotScheduled => "Not scheduled".into(),
        Detail::PassedOver => "Resource is being skipped, unscheduling all events".into(),
        Detail::Executing { provider, name, is_check, command } => {
            let check = if *is_check { " check" } else { "" };
            format!("Exec[{name}](provider={provider}): Executing{check} '{command}'")
        }
        Detail::LooksForPath(path) => format!("Checking that 'creates' path '{path}' exists"),
        Detail::NotNeeded { command, check } => {
            format!("'{command}' won't be executed because of failed check '{check}'")
        }
        Detail::Try(number, most) => format!("Exec try {number}/{most}"),
    }
}

/// Logs something of the run before there is a transaction.
pub(super) fn show(run: Run<'_>, detail: Detail) {
    Entry::new(run, Level::Debug, Source::Run, &Message::Detail(detail)).show(run);
}

/// A command as a manifest gives it.
fn shown(program: &Program) -> String {
    match program {
        Program::Shell(line) => line.to_string_lossy().into_owned(),
        Program::Argv(words) => {
            let words: Vec<String> =
                words.iter().map(|word| format!("{:?}", word.to_string_lossy())).collect();
            format!("[{}]", words.join(", "))
        }
    }
}

fn parameter(decider: Decider) -> &'static str {
    match decider {
        Decider::RefreshOnly => "refreshonly",
        Decider::Creates => "creates",
        Decider::Unless => "unless",
        Decider::OnlyIf => "onlyif",
    }
}

/// Reports what happens to a command, as it happens.
pub(super) fn follow(
    logs: &Logs,
    run: Run<'static>,
    resource: &Resource,
    path: &Rc<str>,
    exec: &mut Exec,
) {
    let (logs, path, title) = (Rc::clone(logs), Rc::clone(path), resource.title.to_string());
    let provider = if is_shell(resource) { "shell" } else { "posix" };
    let is_hidden = exec.desired.rules.sensitive;
    let command = match &exec.desired.command {
        _ if is_secret(resource, "command") => COMMAND.to_owned(),
        Some(program) => shown(program),
        None => String::new(),
    };
    let add = move |source: Source, message: Message| {
        let entry = Entry::new(run, Level::Debug, source, &message);
        entry.show(run);
        logs.borrow_mut().push(entry);
    };
    let of = move |name: &'static str| Source::Property(Rc::clone(&path), name.into());
    let output = |ended: &Ended| {
        let text = [&ended.stdout[..], &ended.stderr[..]].concat();
        String::from_utf8_lossy(&text).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let resource_path = match of("") {
        Source::Property(path, _) => path,
        _ => return,
    };
    exec.follow(move |moment| match moment {
        Moment::Looks(wanted) => {
            let detail = Detail::LooksForPath(wanted.display().to_string());
            add(of("creates"), Message::Detail(detail));
        }
        Moment::Asks(program) => {
            let command = if is_hidden { "[redacted]".to_owned() } else { shown(program) };
            let name = title.clone();
            let detail = Detail::Executing { provider, name, is_check: true, command };
            add(Source::Run, Message::Detail(detail));
        }
        Moment::Answered(decider, _) if is_hidden => {
            add(of(parameter(decider)), Message::OutputRedacted);
        }
        Moment::Answered(decider, ended) => {
            for line in output(ended) {
                add(of(parameter(decider)), Message::Verbatim(line));
            }
        }
        Moment::NotNeeded(decider) => {
            let detail = Detail::NotNeeded { command: command.clone(), check: parameter(decider) };
            add(Source::Named(Rc::clone(&resource_path)), Message::Detail(detail));
        }
        Moment::Tries(program, number, most) => {
            if most > 1 {
                add(of("returns"), Message::Detail(Detail::Try(number, most)));
            }
            let command = if is_hidden { "[redacted]".to_owned() } else { shown(program) };
            let name = title.clone();
            let detail = Detail::Executing { provider, name, is_check: false, command };
            add(Source::Run, Message::Detail(detail));
        }
    });
}

impl Transaction<'_> {
    /// Logs a detail of a resource or a container.
    pub(super) fn log_detail(&self, name: &Rc<str>, detail: Detail) {
        if self.debugs {
            self.log_of(name, Level::Debug, &Message::Detail(detail));
        }
    }

    /// Logs how resources depend on each other: what they say themselves, then what their types add.
    pub(super) fn log_relations(&self, plan: &Plan) {
        if !self.debugs {
            return;
        }
        let catalog: &Catalog = self.catalog;
        for (at, resource) in catalog.resources.iter().enumerate().filter(|(_, one)| one.is_real())
        {
            for (parameter, other) in order::relations(catalog, resource) {
                let other = container_name(&catalog.resources[other]);
                let detail = Message::Detail(Detail::Related { parameter, other });
                self.log_property(&self.path(at), parameter, Level::Debug, &detail);
            }
        }
        for (number, point) in plan.points.iter().enumerate() {
            let Point::Act(at) = point else { continue };
            for edge in plan.before[number].iter().filter(|edge| edge.cause == Cause::Auto) {
                let (Point::Begin(from) | Point::Act(from) | Point::End(from)) =
                    plan.points[edge.from];
                let other = container_name(&catalog.resources[from]);
                self.log_detail(&self.path(*at), Detail::AutoRelated { other });
            }
        }
    }

    /// Logs that tags leave a resource or a container out.
    pub(super) fn log_left_out(&self, name: &Rc<str>, resource: &Resource) {
        if !self.debugs {
            return;
        }
        let has = |tag: &&String| self.compiled.has_tag(resource, tag);
        let skipped = self.skip_tags.iter().any(|tag| has(&tag));
        self.log_detail(
            name,
            if skipped {
                Detail::SkipTags(self.skip_tags.clone())
            } else {
                Detail::NotTagged(self.wanted_tags.clone())
            },
        );
        self.log_detail(name, Detail::PassedOver);
    }
}

/// Where external facts of modules are looked for.
pub(super) fn external_facts(given: &fx_puppet::settings::Given) -> String {
    let setting = fx_puppet::settings::text(given, "pluginfactdest");
    setting.unwrap_or_else(|| "/var/cache/puppet/facts.d".to_owned())
}
