//! `fixpoint plan --node`: what nodes of a server would get from its code, or from other code, as
//! the difference from the catalogs they have. Runs beside the server, over its store.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fx_fleet::Fleet;
use fx_host::{Env, OsHost, SandboxOptions};
use fx_wire::puppet::Environment;
use serde_json::{Map, Value, json};

use super::copy;
use super::serve::{has_exports, identity, own_name, settings};
use crate::serve::{
    Compiling, Difference, Environments, Exports, Place, Previewed, Site, SiteCode, open_stored,
    preview,
};
use crate::session::Format;
use crate::{exit, terminal};

/// Nodes of a server.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "Nodes of a Puppet server")]
pub(crate) struct NodeArgs {
    /// Compile for these nodes with the facts that the server has of them, and show what would be
    /// different from their last catalogs; the target is an environment's directory, or left out
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    node: Vec<String>,
    /// The same for all nodes that the server knows
    #[arg(long, conflicts_with = "node")]
    all_nodes: bool,
    /// Environment of the nodes [default: the one they were in last, or the classifier's]
    #[arg(long, value_name = "NAME")]
    environment: Option<String>,
    /// The server's store: a file, or the URL of a database [default: fleet.db in 'vardir']
    #[arg(long, value_name = "FILE|URL")]
    store: Option<String>,
    /// A setting of the server, before those of puppet.conf
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<String>,
}

impl NodeArgs {
    /// Whether nodes of a server are meant, not this machine.
    pub(super) fn any(&self) -> bool {
        self.all_nodes || !self.node.is_empty()
    }
}

/// The longest that a catalog may take.
const LIMIT: Duration = Duration::from_mins(2);

/// Shows what nodes would get; the exit code.
pub(super) fn plan(args: &NodeArgs, targets: &[PathBuf], net: bool, format: Format) -> u8 {
    match planned(args, targets, net) {
        Ok(found) => told(found, format),
        Err(why) => super::failed(why),
    }
}

type Found = Vec<(String, Result<Previewed, String>)>;

fn planned(args: &NodeArgs, targets: &[PathBuf], net: bool) -> Result<Found, String> {
    let host = OsHost::new();
    let mut settings = settings(&host, &args.settings)?;
    let environment = args.environment.as_deref().map(|name| {
        Environment::parse(name).ok_or_else(|| format!("'{name}' is no name of an environment"))
    });
    let environment = environment.transpose()?;
    let fleet = open_stored(&host, &settings, args.store.as_deref())?;
    let fleet = fleet.ok_or("there is no store of a server here; name it with --store")?;
    match targets {
        [] => {}
        [dir]
            if fx_host::Files::stat(&host, &host.cwd().join(dir))
                .is_ok_and(|meta| meta.is_dir()) =>
        {
            settings = settings.with_code(host.cwd().join(dir));
        }
        _ => return Err("with --node the target is the directory of one environment".into()),
    }
    let names = if args.all_nodes {
        fleet.nodes().map_err(|error| error.to_string())?
    } else {
        args.node.iter().map(|name| name.to_lowercase()).collect()
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = cores.min(names.len()).max(1);
    let compiling = Compiling { workers, limit: LIMIT, place: place(net) };
    let exports = has_exports(&settings).then(|| Exports::Own(fleet.clone()));
    let server = identity(&host, &own_name(&settings));
    let log: crate::serve::Log = Arc::new(|line: &str| terminal::complain(line));
    let environments = Environments::new(settings);
    let site = Site::start(environments, server, exports, &compiling, SiteCode::default(), &log);
    let site = site.map_err(|error| error.to_string())?;
    Ok(all(&site, &fleet, names, environment.as_ref(), workers))
}

/// Code that compiles may do anything, so it does it in a copy of the machine; where there is none
/// it only looks.
fn place(net: bool) -> Place {
    match copy::make(SandboxOptions { net, ..SandboxOptions::default() }) {
        Ok(copy) => Place::Copy(Arc::new(copy)),
        Err(_) => Place::Looking,
    }
}

/// Previews of all nodes, in their order.
fn all(
    site: &Site,
    fleet: &Fleet,
    names: Vec<String>,
    environment: Option<&Environment>,
    workers: usize,
) -> Found {
    let todo: Mutex<VecDeque<(usize, String)>> =
        Mutex::new(names.into_iter().enumerate().collect());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let next = todo.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    let Some((at, name)) = next else { return };
                    let found = preview(site, fleet, &name, environment);
                    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                    done.push((at, name, found));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, ..)| *at);
    done.into_iter().map(|(_, name, found)| (name, found)).collect()
}

/// Nodes for which the same would be different.
struct Group {
    nodes: Vec<String>,
    previewed: Previewed,
}

fn told(found: Found, format: Format) -> u8 {
    let (total, mut code) = (found.len(), exit::OK);
    let mut groups: Vec<Group> = Vec::new();
    for (name, previewed) in found {
        let previewed = match previewed {
            Ok(previewed) => previewed,
            Err(why) => {
                code = exit::ERROR;
                terminal::complain(format_args!("{name}: {why}"));
                continue;
            }
        };
        let same = groups.iter_mut().find(|group| {
            group.previewed.differences == previewed.differences
                && group.previewed.environment == previewed.environment
                && group.previewed.had_catalog == previewed.had_catalog
        });
        match same {
            Some(group) => group.nodes.push(name),
            None => groups.push(Group { nodes: vec![name], previewed }),
        }
    }
    let changed: usize =
        groups.iter().filter(|group| group.is_changed()).map(|group| group.nodes.len()).sum();
    if code == exit::OK && changed > 0 {
        code = exit::PENDING;
    }
    let text: String = match format {
        Format::Json => groups.iter().map(|group| format!("{}\n", group.json())).collect(),
        _ => {
            let last = format!("{changed} of {total} nodes would get another catalog\n");
            groups.iter().map(Group::text).chain([last]).collect()
        }
    };
    code.max(terminal::print(&text))
}

/// Marks of a resource that is new, gone or other.
fn mark(one: &Difference) -> (char, &'static str) {
    match (one.was_there, one.is_there) {
        (false, _) => ('+', "added"),
        (_, false) => ('-', "removed"),
        _ => ('~', "changed"),
    }
}

impl Group {
    fn is_changed(&self) -> bool {
        !self.previewed.differences.is_empty()
    }

    fn json(&self) -> Value {
        let changes = self.previewed.differences.iter().map(|one| {
            let parameters = one.parameters.iter().map(|(name, (before, after))| {
                (name.clone(), json!({"from": before, "to": after}))
            });
            json!({
                "resource": one.resource, "change": mark(one).1,
                "parameters": parameters.collect::<Map<_, _>>(),
            })
        });
        json!({
            "nodes": self.nodes, "environment": self.previewed.environment,
            "had_catalog": self.previewed.had_catalog, "changes": changes.collect::<Vec<_>>(),
        })
    }

    fn text(&self) -> String {
        let Previewed { environment, facts_of, had_catalog, differences } = &self.previewed;
        let facts = match self.nodes.as_slice() {
            [_] => format!(", facts of {facts_of}"),
            _ => String::new(),
        };
        let no_catalog = if *had_catalog { "" } else { ", no catalog so far" };
        let names = self.nodes.join(", ");
        let mut lines = vec![format!("{names}: environment '{environment}'{facts}{no_catalog}\n")];
        if differences.is_empty() {
            lines.push("  nothing would be different\n".to_owned());
        }
        for one in differences {
            lines.push(format!("  {} {}\n", mark(one).0, fx_source::visible(&one.resource)));
            // Of what goes the values are of no use any more.
            let shown = one.parameters.iter().filter(|_| one.is_there);
            lines.extend(shown.map(|(name, values)| parameter(name, values)));
        }
        lines.concat()
    }
}

fn parameter(name: &str, values: &(Option<Value>, Option<Value>)) -> String {
    let name = fx_source::visible(name);
    if let (Some(Value::String(before)), Some(Value::String(after))) = values
        && (before.contains('\n') || after.contains('\n'))
    {
        let sides = fx_formats::Sides { before: "now", after: "then" };
        let diff = fx_formats::unified_text(sides, before, after);
        // The names of the sides say nothing here.
        let lines =
            diff.lines().skip(2).map(|line| format!("        {}\n", fx_source::visible(line)));
        return format!("      {name}:\n{}", lines.collect::<String>());
    }
    let shown = |value: &Value| fx_source::visible(&value.to_string()).to_string();
    match values {
        (None, Some(after)) => format!("      {name}: {}\n", shown(after)),
        (Some(before), None) => format!("      {name}: {} -> nothing\n", shown(before)),
        (Some(before), Some(after)) => {
            format!("      {name}: {} -> {}\n", shown(before), shown(after))
        }
        (None, None) => String::new(),
    }
}
