//! What the server on this machine has stored of nodes, for tools beside it.

use std::path::{Path, PathBuf};

use fx_fleet::Fleet;
use fx_host::{Files, OsHost};
use serde_json::{Map, Value};

use crate::personas::puppet::settings::Settings;

/// Names the store where it is not in its usual place: a file, or the URL of a database.
const STORE: &str = "FIXPOINT_STORE";

/// The place of the store that a server with these settings uses.
pub(crate) fn default_file(settings: &Settings) -> PathBuf {
    let vardir =
        if settings.is_given("vardir") { settings.get("vardir") } else { SERVER_VARDIR.to_owned() };
    Path::new(&vardir).join("fleet.db")
}

/// Where a server keeps its state, unless told otherwise.
pub(crate) const SERVER_VARDIR: &str = "/var/lib/puppetserver";

pub(crate) fn is_url(store: &str) -> bool {
    store.starts_with("postgres://") || store.starts_with("postgresql://")
}

/// The store, where there is one: none is made. A name that is given comes before the variable.
pub(crate) fn open(
    host: &OsHost,
    settings: &Settings,
    given: Option<&str>,
) -> Result<Option<Fleet>, String> {
    let variable = || fx_host::Env::var(host, STORE.as_ref());
    let named = given
        .map(str::to_owned)
        .or_else(|| variable().map(|name| name.to_string_lossy().into_owned()));
    let fleet = match named {
        Some(url) if is_url(&url) => return super::database::open(host, &url).map(Some),
        named => {
            let file = named.map_or_else(|| default_file(settings), PathBuf::from);
            if host.stat(&file).is_err() {
                return Ok(None);
            }
            Fleet::sqlite(&file)
        }
    };
    fleet.map(Some).map_err(|error| error.to_string())
}

/// The last facts of a node, without what its certificate said then.
pub(crate) fn facts(
    host: &OsHost,
    settings: &Settings,
    node: &str,
) -> Result<Option<Map<String, Value>>, String> {
    let Some(fleet) = open(host, settings, None)? else { return Ok(None) };
    let Some(record) = fleet.facts(node).map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    let mut values: Map<String, Value> =
        serde_json::from_slice(&record.body).map_err(|error| error.to_string())?;
    values.shift_remove("trusted");
    Ok(Some(values))
}
