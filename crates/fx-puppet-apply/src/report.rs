//! The account of a run in the form of `last_run_report.yaml` (format 12), and its figures
//! in the form of `last_run_summary.yaml`.

mod datum;

use std::io::{self, Write};

use fx_engine::{Level, Secrets};
use fx_formats::yaml::psych;
use fx_formats::{base64, hex};
use fx_host::Time;
use fx_puppet::{Compiled, Resource};
use serde_json::{Map, Value as Json, json};

use self::datum::Datum;
use super::AgentRun;
use super::log::Entry;
use super::status::{Event, EventStatus, Generated, Status};

/// What is known at the end of a run.
#[derive(Default)]
pub(super) struct Account<'a> {
    /// Resources of the catalog with what became of them and their path from the stage on.
    pub(super) all: Vec<(&'a Resource, &'a Status, String, Vec<std::rc::Rc<str>>)>,
    /// The log holds entries down to this level.
    pub(super) level: Option<Level>,
    /// Nothing was looked at, not even what every catalog has.
    pub(super) is_bare: bool,
    /// What every catalog has was left out because of tags.
    pub(super) left_out: bool,
    /// Resources that are not in the manifest.
    pub(super) generated: &'a [Generated],
    pub(super) logs: Vec<Entry>,
    pub(super) noop: bool,
    pub(super) status: &'static str,
    pub(super) completed: bool,
    /// When the run began.
    pub(super) began: Time,
    /// What an agent's run has beside.
    pub(super) agent: Option<&'a AgentRun>,
    /// Seconds it took to compile, and to apply.
    pub(super) compiled: f64,
    pub(super) applied: f64,
}

/// `2026-11-16T04:09:55.937219144+00:00`
fn moment(time: Time) -> String {
    let at = jiff::Timestamp::from_second(time.secs).unwrap_or_default();
    format!("{}.{:09}+00:00", at.strftime("%Y-%m-%dT%H:%M:%S"), time.nanos)
}

/// What the original calls the provider that acts for a type.
fn provider(host: &dyn fx_host::Look, resource: &Resource) -> Option<String> {
    super::attributes::text(resource, "provider")
        .or_else(|| fx_puppet::default_provider(host, &resource.low))
}

/// Kind of an event by type, property and new value.
fn event_name(low: &str, event: &Event) -> String {
    if let Some(name) = &event.name {
        return name.clone();
    }
    if event.was.is_some() && event.property == "ensure" {
        return format!("{low}_changed");
    }
    match (low, &*event.property, event.to.as_str()) {
        (_, "", _) if event.status == EventStatus::Failure => "resource_error".into(),
        (_, "", _) => "refresh".into(),
        ("exec", "returns", _) => "executed_command".into(),
        ("service", "ensure", "running") => "service_started".into(),
        ("service", "ensure", _) => "service_stopped".into(),
        ("file", "ensure", kind @ ("directory" | "link")) => format!("{kind}_created"),
        ("package", "ensure", "present") => "package_installed".into(),
        ("package", "ensure", "purged") => "package_purged".into(),
        ("package", "ensure", to) if to != "absent" => "package_changed".into(),
        (_, "ensure", "absent" | "purged") => format!("{low}_removed"),
        ("file", "ensure", _) | (_, "ensure", "present") => format!("{low}_created"),
        (_, "ensure", _) => format!("{low}_changed"),
        (_, property, _) => format!("{property}_changed"),
    }
}

fn event_data<'a>(low: &str, event: &'a Event, time: &'a str) -> Datum<'a> {
    let text = |text: &'a str| match text {
        "" => Datum::Null,
        // Lists of types in Ruby are lists in the report.
        list if event.name.is_some() && list.starts_with('[') => {
            serde_json::from_str(list).map_or_else(|_| Datum::from(list), Datum::Data)
        }
        text => Datum::from(text),
    };
    let desired = match (low, &*event.property) {
        // Codes that a command may end with are a list.
        _ if event.codes.is_some() => {
            let codes = event.codes.as_deref().filter(|codes| !codes.is_empty());
            let codes = codes.unwrap_or(&[0]).iter().map(i32::to_string);
            Datum::List(codes.map(Datum::from).collect())
        }
        // A digest of given content is a text of bytes there, which the report encodes.
        ("file", "content") if !event.is_secret => base64::encode(event.to.as_bytes()).into(),
        ("user", "groups") if event.to_names.is_some() => {
            event.to_names.as_deref().unwrap_or_default().join(",").into()
        }
        _ => text(&event.to),
    };
    let redacted = if event.property.is_empty() {
        Datum::Flag(false)
    } else if event.is_secret {
        Datum::Flag(true)
    } else {
        Datum::Null
    };
    Datum::Fields(vec![
        ("audited", event.was.is_some().into()),
        ("property", text(&event.property)),
        ("previous_value", text(&event.from)),
        ("desired_value", desired),
        ("historical_value", event.was.as_deref().into()),
        ("message", Datum::from(&*event.message)),
        ("name", event_name(low, event).into()),
        ("status", event.status.word().into()),
        ("time", time.into()),
        ("redacted", redacted),
        ("corrective_change", event.is_corrective.into()),
    ])
}

/// A line of the log as the report has it.
fn log_row(entry: &Entry) -> Datum<'_> {
    let level = entry.weight.word();
    let place = entry.place.as_deref();
    let at = place.and_then(|place| place.place.as_ref());
    let named = place.iter().flat_map(|place| place.tags.iter().map(|tag| &**tag));
    let tags = std::iter::once(level).chain(entry.tag).chain(named);
    Datum::Fields(vec![
        ("level", level.into()),
        ("message", Datum::from(&*entry.words)),
        ("source", entry.source.name().unwrap_or_else(|| "Puppet".into()).into()),
        ("tags", Datum::texts(tags)),
        ("time", moment(entry.time).into()),
        ("file", at.map(|(file, _)| file.as_str()).filter(|file| !file.is_empty()).into()),
        ("line", at.map(|(_, line)| *line).into()),
    ])
}

const DEFAULTS: [(&str, &str); 7] = [
    ("Schedule", "puppet"),
    ("Schedule", "hourly"),
    ("Schedule", "daily"),
    ("Schedule", "weekly"),
    ("Schedule", "monthly"),
    ("Schedule", "never"),
    ("Filebucket", "puppet"),
];

/// A resource's path in parts.
fn parts(path: &str, reference: &str) -> Vec<String> {
    let outer = path.strip_suffix(reference).unwrap_or(path);
    let mut parts: Vec<String> = Vec::new();
    let (mut depth, mut part) = (0, String::new());
    for c in outer.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if c == '/' && depth == 0 {
            if !part.is_empty() {
                parts.push(std::mem::take(&mut part));
            }
        } else {
            part.push(c);
        }
    }
    parts.extend((!part.is_empty()).then_some(part));
    parts.push(reference.to_owned());
    parts
}

/// A resource as the report has it.
struct Row<'a> {
    reference: String,
    kind: &'a str,
    low: &'a str,
    title: &'a str,
    /// File and line, where it has them.
    place: Option<(String, u32)>,
    provider: Option<String>,
    path: &'a str,
    tags: &'a [std::rc::Rc<str>],
    status: &'a Status,
}

impl Row<'_> {
    /// The resource with its events, which begin when the run began.
    fn data<'b>(&'b self, began: &'b str, secrets: &Secrets) -> Datum<'b> {
        let status = self.status;
        let events = status.events.iter().map(|event| event_data(self.low, event, began));
        let place = self.place.as_ref();
        let path = parts(self.path, &self.reference).into_iter().map(Datum::from);
        let mut whole = Datum::Fields(vec![
            ("title", self.title.into()),
            ("file", place.map(|(file, _)| file.as_str()).into()),
            ("line", place.map(|(_, line)| *line).into()),
            ("resource", self.reference.as_str().into()),
            ("resource_type", self.kind.into()),
            ("provider_used", self.provider.as_deref().into()),
            ("containment_path", Datum::List(path.collect())),
            ("evaluation_time", status.took.into()),
            ("tags", Datum::texts(self.tags.iter().map(|tag| &**tag))),
            ("time", began.into()),
            ("failed", status.failed.into()),
            ("failed_to_restart", status.failed_to_restart.into()),
            ("changed", status.changed.into()),
            ("out_of_sync", (status.out_of_sync > 0).into()),
            ("skipped", status.skipped.into()),
            ("change_count", status.changes.into()),
            ("out_of_sync_count", status.out_of_sync.into()),
            ("events", Datum::List(events.collect())),
            ("corrective_change", status.is_corrective().into()),
        ]);
        if !secrets.is_empty() {
            whole.hide(secrets);
        }
        whole
    }
}

/// Takes what became of resources, one after the other.
type Rows<'a> = &'a mut dyn FnMut(&str, Datum<'_>) -> io::Result<()>;

/// Writes the lines of a resource, which stand under the key `resource_statuses`.
fn write_status(out: &mut dyn Write, reference: &str, status: &Datum<'_>) -> io::Result<()> {
    const HEAD: &str = "---\nresource_statuses:\n";
    let status = psych::map([(reference, status.node())]);
    let text = psych::written(&psych::fields([("resource_statuses", status)]));
    out.write_all(text.strip_prefix(HEAD).unwrap_or(&text).as_bytes())
}

impl<'a> Account<'a> {
    /// What became of all resources, whether in the manifest or not.
    fn every(&self) -> impl Iterator<Item = &'a Status> {
        let own = self.all.iter().map(|(_, status, ..)| *status);
        own.chain(self.generated.iter().map(|one| &one.status))
    }

    /// What became of each resource. There may be many: they are given one by one.
    fn statuses(&self, compiled: &Compiled, rows: Rows<'_>) -> io::Result<()> {
        let secrets = compiled.run().ledger.secrets();
        let mut give = |row: Row<'_>, began: &str| {
            rows(&secrets.shown(&row.reference), row.data(began, secrets))
        };
        let began = moment(self.began);
        for (resource, status, path, tags) in &self.all {
            let is_declared = !compiled.is_placeless(&resource.low);
            let place = is_declared.then(|| compiled.location(resource.span));
            let given = status.provider.clone();
            let row = Row {
                reference: resource.reference(),
                kind: &resource.kind,
                low: &resource.low,
                title: resource.told.as_ref().unwrap_or(&resource.title),
                place,
                provider: given.or_else(|| provider(compiled.run().look(), resource)),
                path,
                tags,
                status,
            };
            give(row, &began)?;
        }
        let mut known: Option<(&str, Option<String>)> = None;
        for one in self.generated {
            let (common, status) = (&one.common, &one.status);
            let provider = match (&status.provider, &known) {
                (Some(given), _) => Some(given.clone()),
                (None, Some((low, found))) if *low == &*common.low => found.clone(),
                (None, _) => {
                    let found = fx_puppet::default_provider(compiled.run().look(), &common.low);
                    known = Some((&common.low, found.clone()));
                    found
                }
            };
            let row = Row {
                reference: one.reference(),
                kind: &common.kind,
                low: &common.low,
                title: &one.title,
                place: None,
                provider,
                path: &one.path(),
                tags: &common.tags,
                status,
            };
            give(row, &began)?;
        }
        let status = Status { skipped: self.left_out, ..Status::default() };
        for (kind, title) in self.defaults() {
            let low = kind.to_lowercase();
            let row = Row {
                reference: format!("{kind}[{title}]"),
                kind,
                low: &low,
                title,
                place: None,
                provider: None,
                path: "",
                tags: &[low.as_str().into(), title.into()],
                status: &status,
            };
            give(row, &began)?;
        }
        Ok(())
    }

    /// What the original adds to every catalog: schedules and a filebucket.
    fn defaults(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let declared = |kind: &str, title: &str| {
            self.all.iter().any(|(one, ..)| *one.kind == *kind && *one.title == *title)
                || self
                    .generated
                    .iter()
                    .any(|one| *one.common.kind == *kind && *one.title == *title)
        };
        let none = if self.is_bare { DEFAULTS.len() } else { 0 };
        DEFAULTS.iter().copied().skip(none).filter(move |(kind, title)| !declared(kind, title))
    }

    /// Figures by family: name, label and value of each.
    fn metrics(&self) -> Vec<(&'static str, Vec<(String, String, Json)>)> {
        let count = |wanted: &dyn Fn(&Status) -> bool| {
            Json::from(self.every().filter(|status| wanted(status)).count())
        };
        let row = |name: &str, value: Json| {
            let mut label = name.replace('_', " ");
            if let Some(first) = label.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            (name.to_owned(), label, value)
        };
        let skipped = self.every().filter(|status| status.skipped).count()
            + if self.left_out { self.defaults().count() } else { 0 };
        let resources = vec![
            row("total", Json::from(self.every().count() + self.defaults().count())),
            row("skipped", Json::from(skipped)),
            row("failed", count(&|status| status.failed)),
            row("failed_to_restart", count(&|status| status.failed_to_restart)),
            row("restarted", count(&|status| status.restarted)),
            row("changed", count(&|status| status.changed)),
            row("out_of_sync", count(&|status| status.out_of_sync > 0)),
            row("scheduled", Json::from(0)),
            row("corrective_change", count(&Status::is_corrective)),
        ];
        let mut by_kind: Vec<(&str, f64)> = Vec::new();
        let own = self.all.iter().map(|(resource, status, ..)| (&*resource.low, *status));
        let all = own.chain(self.generated.iter().map(|one| (&*one.common.low, &one.status)));
        for (low, status) in all {
            match by_kind.iter_mut().find(|(kind, _)| *kind == low) {
                Some(known) => known.1 += status.took,
                None => by_kind.push((low, status.took)),
            }
        }
        let mut times: Vec<_> =
            by_kind.iter().map(|(kind, took)| row(kind, Json::from(*took))).collect();
        times.push(row("config_retrieval", Json::from(self.compiled)));
        times.push(row("transaction_evaluation", Json::from(self.applied)));
        times.push(row("catalog_application", Json::from(self.applied)));
        times.push(row("total", Json::from(self.compiled + self.applied)));
        let changes: usize = self.every().map(|status| status.changes).sum();
        let events = |wanted: EventStatus| {
            let all = self.every().flat_map(|status| &status.events);
            all.filter(|event| event.status == wanted).count()
        };
        let (failure, success) = (events(EventStatus::Failure), events(EventStatus::Success));
        let (noop, audits) = (events(EventStatus::Noop), events(EventStatus::Audit));
        let mut rows = vec![
            row("total", Json::from(failure + success + noop + audits)),
            row("failure", Json::from(failure)),
            row("success", Json::from(success)),
        ];
        if audits > 0 {
            rows.push(row("audit", Json::from(audits)));
        }
        if noop > 0 {
            rows.push(row("noop", Json::from(noop)));
        }
        vec![
            ("resources", resources),
            ("time", times),
            ("changes", vec![row("total", Json::from(changes))]),
            ("events", rows),
        ]
    }

    fn log_data(&self) -> Datum<'_> {
        let most = self.level.unwrap_or(Level::Notice);
        let shown = self.logs.iter().filter(|entry| entry.weight.level() <= most);
        Datum::List(shown.map(log_row).collect())
    }

    /// The account without what became of the resources.
    fn head<'b>(&'b self, compiled: &'b Compiled) -> Datum<'b> {
        let mut logs = self.log_data();
        let secrets = compiled.run().ledger.secrets();
        if !secrets.is_empty() {
            logs.hide(secrets);
        }
        let mut metrics = Map::new();
        for (name, rows) in self.metrics() {
            let mut label = name.to_owned();
            label[..1].make_ascii_uppercase();
            metrics.insert(name.into(), json!({"name": name, "label": label, "values": rows}));
        }
        let pending = self.every().any(|status| status.noop > 0);
        let uuid = self.agent.map(|agent| agent.transaction_uuid.clone());
        Datum::Fields(vec![
            ("host", compiled.settings().node.as_str().into()),
            ("time", moment(self.began).into()),
            ("configuration_version", self.version().into()),
            ("transaction_uuid", uuid.unwrap_or_else(|| self::uuid(compiled)).into()),
            ("report_format", Datum::Integer(12)),
            ("puppet_version", fx_puppet::VERSION.into()),
            ("status", self.status.into()),
            ("transaction_completed", self.completed.into()),
            ("noop", self.noop.into()),
            ("noop_pending", pending.into()),
            ("environment", compiled.settings().environment.as_str().into()),
            ("logs", logs),
            ("metrics", Json::Object(metrics).into()),
        ])
    }

    /// The last lines of the account.
    fn tail(&self, compiled: &Compiled) -> Map<String, Json> {
        let known = self.agent.and_then(|agent| agent.catalog_uuid.clone());
        let mut tail = Map::new();
        let is_corrective = self.every().any(Status::is_corrective);
        tail.insert("corrective_change".into(), Json::from(is_corrective));
        tail.insert("catalog_uuid".into(), known.unwrap_or_else(|| uuid(compiled)).into());
        let cached = self.agent.map_or("not_used", |agent| agent.cached_catalog_status);
        tail.insert("cached_catalog_status".into(), Json::from(cached));
        if let Some(server) = self.agent.and_then(|agent| agent.server_used.as_ref()) {
            tail.insert("server_used".into(), Json::from(server.as_str()));
        }
        tail
    }

    /// What the catalog calls its own version; the time where it was compiled here.
    fn version(&self) -> Json {
        self.agent.map_or_else(|| Json::from(self.began.secs), |agent| agent.version.clone())
    }

    /// The whole account as the file that keeps it.
    pub(super) fn report(&self, compiled: &Compiled, out: &mut dyn Write) -> io::Result<()> {
        let text = psych::written(&self.head(compiled).node());
        let body = text.strip_prefix("---").unwrap_or(&text);
        out.write_all(b"--- !ruby/object:Puppet::Transaction::Report")?;
        out.write_all(body.as_bytes())?;
        if self.all.is_empty() && self.generated.is_empty() && self.is_bare {
            out.write_all(b"resource_statuses: {}\n")?;
        } else {
            out.write_all(b"resource_statuses:\n")?;
            self.statuses(compiled, &mut |reference, status| {
                write_status(out, reference, &status)
            })?;
        }
        let tail = psych::document(&Json::Object(self.tail(compiled)));
        out.write_all(tail.strip_prefix("---\n").unwrap_or(&tail).as_bytes())
    }

    /// The whole account as it is sent to a server.
    pub(super) fn sent(&self, compiled: &Compiled) -> Json {
        let mut whole = self.head(compiled).json();
        let mut statuses = Map::new();
        let rows = self.statuses(compiled, &mut |reference, status| {
            statuses.insert(reference.to_owned(), status.json());
            Ok(())
        });
        debug_assert!(rows.is_ok(), "nothing is written");
        if let Json::Object(whole) = &mut whole {
            whole.insert("resource_statuses".into(), Json::Object(statuses));
            whole.extend(self.tail(compiled));
        }
        whole
    }

    /// The figures alone.
    pub(super) fn summary(&self, compiled: &Compiled) -> String {
        psych::document(&Json::Object(self.families(compiled)))
    }

    /// The figures as text: families by name, their rows by value.
    pub(super) fn figures(&self, compiled: &Compiled) -> String {
        let label = |name: &str| {
            let mut label = name.replace('_', " ");
            if let Some(first) = label.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            label
        };
        let mut families: Vec<(String, Json)> = self.families(compiled).into_iter().collect();
        families.sort_by(|a, b| a.0.cmp(&b.0));
        let mut out = String::new();
        for (name, rows) in families {
            out.push_str(&format!("{}:\n", label(&name)));
            let Json::Object(rows) = rows else { continue };
            let mut rows: Vec<(String, Json)> = rows.into_iter().collect();
            let shown = |value: &Json| match value {
                Json::String(text) => text.clone(),
                other => other.to_string(),
            };
            rows.sort_by_key(|(_, value)| shown(value));
            for (name, value) in rows.iter().filter(|(_, value)| value.as_f64() != Some(0.0)) {
                let text = match value {
                    Json::Number(number) if number.is_f64() => {
                        format!("{:.2}", number.as_f64().unwrap_or(0.0))
                    }
                    other => shown(other),
                };
                out.push_str(&format!("   {:>15} {text}\n", format!("{}:", label(name))));
            }
        }
        out
    }

    fn families(&self, compiled: &Compiled) -> Map<String, Json> {
        let environment = &compiled.settings().environment;
        let mut whole = Map::new();
        whole.insert(
            "version".into(),
            json!({"config": self.version(), "puppet": fx_puppet::VERSION}),
        );
        whole.insert(
            "application".into(),
            json!({
                "run_mode": if self.agent.is_some() { "agent" } else { "user" },
                "initial_environment":
                    self.agent.map_or(environment, |agent| &agent.initial_environment),
                "converged_environment": environment,
            }),
        );
        for (name, mut rows) in self.metrics() {
            rows.sort_by(|a, b| a.0.cmp(&b.0));
            let mut family: Map<String, Json> =
                rows.into_iter().map(|(name, _, value)| (name, value)).collect();
            if name == "time" {
                family.insert("last_run".into(), Json::from(compiled.run().look().now().secs));
            }
            whole.insert(name.into(), Json::Object(family));
        }
        whole
    }
}

/// A random name.
fn uuid(compiled: &Compiled) -> String {
    let mut bytes = [0; 16];
    compiled.run().look().random(&mut bytes);
    name_of(bytes)
}

/// The name that random bytes make.
pub fn name_of(mut bytes: [u8; 16]) -> String {
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex(bytes);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_apart_outside_of_brackets() {
        let path = "/Stage[main]/Main/Web::Site[/srv/a]/File[/srv/a/b]";
        assert_eq!(
            parts(path, "File[/srv/a/b]"),
            ["Stage[main]", "Main", "Web::Site[/srv/a]", "File[/srv/a/b]"]
        );
    }
}
