//! What can be queried: where the records of each kind lie, and what their fields are.

use super::ast::Entity;

/// How a field is stored, and so how it is compared and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// Milliseconds since 1970.
    Time,
    Flag,
    Number,
    /// Text that is JSON.
    Json,
    /// The value of a fact, with its text and its number beside it.
    Fact,
    /// The path of a fact.
    Path,
    /// A list of tags.
    Tags,
    /// The parameters of a resource.
    Parameters,
    /// Compared only: the state of the node.
    State,
    /// Records of another kind; the key that they belong to.
    Nested(Nested),
}

/// Records that are shown inside another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nested {
    Resources,
    Edges,
    /// A list of names and values.
    Facts,
    /// One object.
    FactObject,
    Trusted,
    Events,
    Logs,
    Metrics,
}

/// Name, SQL, kind, and whether it is shown where nothing is named.
pub(super) type Row = (&'static str, &'static str, Kind, bool);

pub(super) struct Table {
    /// What comes after `FROM`.
    pub(super) from: &'static str,
    /// What holds for all records.
    pub(super) condition: &'static str,
    pub(super) fields: &'static [Row],
    /// The same record is shown once.
    pub(super) is_distinct: bool,
    /// Records of nodes that are gone are left out.
    pub(super) only_active: bool,
}

use Kind::{Fact, Flag, Json, Number, Parameters, Path, State, Tags, Text, Time};

const STATE: Row = ("node_state", "n.name", State, false);

const fn nested(kind: Nested) -> Kind {
    Kind::Nested(kind)
}

#[rustfmt::skip]
const NODES: &[Row] = &[
    ("certname",                        "n.name",        Text, true),
    ("deactivated",                     "n.deactivated", Time, true),
    ("expired",                         "n.expired",     Time, true),
    ("facts_timestamp",                 "s.received",    Time, true),
    ("facts_environment",               "s.environment", Text, true),
    ("catalog_timestamp",               "c.received",    Time, true),
    ("catalog_environment",             "c.environment", Text, true),
    ("report_timestamp",                "r.ended",       Time, true),
    ("report_environment",              "r.environment", Text, true),
    ("latest_report_status",            "r.status",      Text, true),
    ("latest_report_hash",              "r.hash",        Text, true),
    ("latest_report_noop",              "r.is_noop",     Flag, true),
    ("latest_report_noop_pending",      "r.is_noop_pending", Flag, true),
    ("latest_report_corrective_change", "r.is_corrective",   Flag, true),
    ("latest_report_job_id",            "r.job_id",      Text, true),
    ("cached_catalog_status",           "r.cached_catalog_status", Text, true),
    STATE,
];

#[rustfmt::skip]
const FACTS: &[Row] = &[
    ("certname",    "f.node",        Text, true),
    ("environment", "s.environment", Text, true),
    ("name",        "f.name",        Text, true),
    ("value",       "f.value",       Fact, true),
    ("depth",       "f.depth",       Number, false),
    STATE,
];

#[rustfmt::skip]
const FACT_CONTENTS: &[Row] = &[
    ("certname",    "f.node",        Text, true),
    ("environment", "s.environment", Text, true),
    ("name",        "f.name",        Text, true),
    ("path",        "f.path",        Path, true),
    ("value",       "f.value",       Fact, true),
    STATE,
];

#[rustfmt::skip]
const FACT_PATHS: &[Row] = &[
    ("path",  "f.path",  Path,   true),
    ("name",  "f.name",  Text,   true),
    ("type",  "f.kind",  Text,   true),
    ("depth", "f.depth", Number, false),
];

#[rustfmt::skip]
const FACTSETS: &[Row] = &[
    ("certname",           "s.node",        Text, true),
    ("environment",        "s.environment", Text, true),
    ("timestamp",          "s.received",    Time, true),
    ("producer_timestamp", "s.produced",    Time, true),
    ("producer",           "s.producer",    Text, true),
    ("hash",               "s.hash",        Text, true),
    ("facts",              "s.node", nested(Nested::Facts), true),
    STATE,
];

#[rustfmt::skip]
const INVENTORY: &[Row] = &[
    ("certname",    "s.node",        Text, true),
    ("environment", "s.environment", Text, true),
    ("timestamp",   "s.received",    Time, true),
    ("facts",       "s.node", nested(Nested::FactObject), true),
    ("trusted",     "s.node", nested(Nested::Trusted), true),
    STATE,
];

#[rustfmt::skip]
const CATALOGS: &[Row] = &[
    ("certname",           "c.node",             Text, true),
    ("version",            "c.version",          Text, true),
    ("environment",        "c.environment",      Text, true),
    ("transaction_uuid",   "c.transaction_uuid", Text, true),
    ("catalog_uuid",       "c.catalog_uuid",     Text, true),
    ("code_id",            "c.code_id",          Text, true),
    ("job_id",             "c.job_id",           Text, true),
    ("producer_timestamp", "c.produced",         Time, true),
    ("producer",           "c.producer",         Text, true),
    ("hash",               "c.hash",             Text, true),
    ("resources",          "c.node", nested(Nested::Resources), true),
    ("edges",              "c.node", nested(Nested::Edges), true),
    STATE,
];

#[rustfmt::skip]
const EDGES: &[Row] = &[
    ("certname",     "e.node",         Text, true),
    ("relationship", "e.relationship", Text, true),
    ("source_type",  "e.source_type",  Text, true),
    ("source_title", "e.source_title", Text, true),
    ("target_type",  "e.target_type",  Text, true),
    ("target_title", "e.target_title", Text, true),
    STATE,
];

#[rustfmt::skip]
const RESOURCES: &[Row] = &[
    ("certname",    "x.node",        Text, true),
    ("environment", "c.environment", Text, true),
    ("type",        "x.kind",        Text, true),
    ("title",       "x.title",       Text, true),
    ("exported",    "x.is_exported", Flag, true),
    ("file",        "x.file",        Text, true),
    ("line",        "x.line",        Number, true),
    ("tags",        "x.tags",        Json, true),
    ("parameters",  "x.parameters",  Parameters, true),
    ("resource",    "x.hash",        Text, true),
    ("tag",         "x.tags",        Tags, false),
    STATE,
];

#[rustfmt::skip]
const REPORTS: &[Row] = &[
    ("hash",                  "r.hash",                  Text, true),
    ("certname",              "r.node",                  Text, true),
    ("environment",           "r.environment",           Text, true),
    ("status",                "r.status",                Text, true),
    ("noop",                  "r.is_noop",               Flag, true),
    ("noop_pending",          "r.is_noop_pending",       Flag, true),
    ("corrective_change",     "r.is_corrective",         Flag, true),
    ("puppet_version",        "r.puppet_version",        Text, true),
    ("report_format",         "r.report_format",         Number, true),
    ("configuration_version", "r.configuration_version", Text, true),
    ("start_time",            "r.started",               Time, true),
    ("end_time",              "r.ended",                 Time, true),
    ("producer_timestamp",    "r.produced",              Time, true),
    ("producer",              "r.producer",              Text, true),
    ("receive_time",          "r.received",              Time, true),
    ("transaction_uuid",      "r.transaction_uuid",      Text, true),
    ("catalog_uuid",          "r.catalog_uuid",          Text, true),
    ("code_id",               "r.code_id",               Text, true),
    ("job_id",                "r.job_id",                Text, true),
    ("cached_catalog_status", "r.cached_catalog_status", Text, true),
    ("type",                  "'agent'",                 Text, true),
    ("resource_events",       "r.hash", nested(Nested::Events), true),
    ("metrics",               "r.hash", nested(Nested::Metrics), true),
    ("logs",                  "r.hash", nested(Nested::Logs), true),
    ("latest_report?", "(CASE WHEN n.latest_report = r.hash THEN 1 ELSE 0 END)", Flag, false),
    STATE,
];

#[rustfmt::skip]
const EVENTS: &[Row] = &[
    ("certname",              "e.node",                  Text, true),
    ("environment",           "r.environment",           Text, true),
    ("report",                "e.report",                Text, true),
    ("configuration_version", "r.configuration_version", Text, true),
    ("run_start_time",        "r.started",               Time, true),
    ("run_end_time",          "r.ended",                 Time, true),
    ("report_receive_time",   "r.received",              Time, true),
    ("status",                "e.status",                Text, true),
    ("timestamp",             "e.at",                    Time, true),
    ("resource_type",         "e.resource_type",         Text, true),
    ("resource_title",        "e.resource_title",        Text, true),
    ("property",              "e.property",              Text, true),
    ("name",                  "e.name",                  Text, true),
    ("new_value",             "e.new_value",             Json, true),
    ("old_value",             "e.old_value",             Json, true),
    ("message",               "e.message",               Text, true),
    ("file",                  "e.file",                  Text, true),
    ("line",                  "e.line",                  Number, true),
    ("containment_path",      "e.containment_path",      Json, true),
    ("containing_class",      "e.containing_class",      Text, true),
    ("corrective_change",     "e.is_corrective",         Flag, true),
    ("latest_report?", "(CASE WHEN n.latest_report = r.hash THEN 1 ELSE 0 END)", Flag, false),
    STATE,
];

const NAMES: &[Row] = &[("name", "v.name", Text, true)];

#[rustfmt::skip]
const PACKAGES: &[Row] = &[
    ("package_name", "v.package_name", Text, true),
    ("version",      "v.version",      Text, true),
    ("provider",     "v.provider",     Text, true),
];

#[rustfmt::skip]
const PACKAGE_INVENTORY: &[Row] = &[
    ("certname",     "v.node",         Text, true),
    ("package_name", "v.package_name", Text, true),
    ("version",      "v.version",      Text, true),
    ("provider",     "v.provider",     Text, true),
];

const ENVIRONMENTS_FROM: &str = "(SELECT environment AS name FROM facts
    UNION SELECT environment FROM catalog UNION SELECT environment FROM report) v";
const PRODUCERS_FROM: &str = "(SELECT producer AS name FROM facts WHERE producer IS NOT NULL
    UNION SELECT producer FROM catalog WHERE producer IS NOT NULL
    UNION SELECT producer FROM report WHERE producer IS NOT NULL) v";
/// Agents send no packages.
const NO_PACKAGES: &str = "(SELECT name AS node, name AS package_name, name AS version,
    name AS provider FROM node WHERE 1 = 0) v";

/// Where the records of a kind are.
pub(super) fn table(entity: Entity) -> Table {
    let of = |from, condition, fields, only_active| Table {
        from,
        condition,
        fields,
        is_distinct: false,
        only_active,
    };
    let distinct = |from, condition, fields| Table {
        from,
        condition,
        fields,
        is_distinct: true,
        only_active: false,
    };
    let facts = "fact f JOIN facts s ON s.node = f.node JOIN node n ON n.name = f.node";
    match entity {
        Entity::Nodes => of(
            "node n LEFT JOIN facts s ON s.node = n.name LEFT JOIN catalog c ON c.node = n.name
             LEFT JOIN report r ON r.hash = n.latest_report",
            "",
            NODES,
            true,
        ),
        Entity::Facts => of(facts, "f.depth = 1", FACTS, true),
        Entity::FactContents => of(facts, "f.kind <> 'branch'", FACT_CONTENTS, true),
        Entity::FactNames => distinct("fact f", "f.depth = 1", &[("name", "f.name", Text, true)]),
        Entity::FactPaths => distinct("fact f", "f.kind <> 'branch'", FACT_PATHS),
        Entity::Factsets => of("facts s JOIN node n ON n.name = s.node", "", FACTSETS, true),
        Entity::Inventory => of("facts s JOIN node n ON n.name = s.node", "", INVENTORY, true),
        Entity::Catalogs => of("catalog c JOIN node n ON n.name = c.node", "", CATALOGS, false),
        Entity::Edges => of("edge e JOIN node n ON n.name = e.node", "", EDGES, true),
        Entity::Resources => of(
            "resource x JOIN catalog c ON c.node = x.node JOIN node n ON n.name = x.node",
            "",
            RESOURCES,
            true,
        ),
        Entity::Reports => of("report r JOIN node n ON n.name = r.node", "", REPORTS, false),
        Entity::Events => of(
            "event e JOIN report r ON r.hash = e.report JOIN node n ON n.name = e.node",
            "",
            EVENTS,
            false,
        ),
        Entity::Environments => of(ENVIRONMENTS_FROM, "", NAMES, false),
        Entity::Producers => of(PRODUCERS_FROM, "", NAMES, false),
        Entity::Packages => distinct(NO_PACKAGES, "", PACKAGES),
        Entity::PackageInventory => of(NO_PACKAGES, "", PACKAGE_INVENTORY, false),
    }
}

/// By which fields records of two kinds belong together.
pub(super) fn relation(outer: Entity, inner: Entity) -> Vec<(&'static str, &'static str)> {
    use Entity::{
        Environments, Events, FactContents, FactNames, FactPaths, Facts, Packages, Producers,
        Reports,
    };
    let facts = |entity| matches!(entity, Facts | FactContents);
    match (outer, inner) {
        (Reports, Events) => vec![("hash", "report")],
        (Events, Reports) => vec![("report", "hash")],
        (Environments, Environments) | (Producers, Producers) => vec![("name", "name")],
        (Environments, _) => vec![("name", "environment")],
        (_, Environments) => vec![("environment", "name")],
        (Producers, _) => vec![("name", "producer")],
        (_, Producers) => vec![("producer", "name")],
        (FactNames | FactPaths, _) | (_, FactNames | FactPaths) => vec![("name", "name")],
        (Packages, _) | (_, Packages) => {
            ["package_name", "version", "provider"].map(|name| (name, name)).to_vec()
        }
        (outer, inner) if facts(outer) && facts(inner) => {
            vec![("certname", "certname"), ("name", "name")]
        }
        _ => vec![("certname", "certname")],
    }
}
