//! Files of the run itself: the report and its figures, lists of classes and resources, graphs.

use std::path::{Path, PathBuf};

use fx_engine::{Level, Run};
use fx_host::WriteOptions;
use fx_puppet::{Catalog, Compiled};
use fx_source::Origin;

use super::Request;
use super::attributes::text;
use super::order::{self, Plan};
use super::report::Account;

/// Writes a file, with the directories above it; what went wrong otherwise.
fn write(
    run: Run<'_>,
    path: &Path,
    pieces: fx_host::Pieces<'_>,
    mode: Option<u32>,
) -> Result<(), String> {
    let options = WriteOptions { mode, ..WriteOptions::default() };
    run.own_state(|act| {
        fx_resources::directory::make_parents(act, path, 0o755)
            .map_err(|failure| failure.to_string())?;
        act.write_pieces(path, pieces, &options).map_err(|error| error.to_string())
    })
}

fn write_text(run: Run<'_>, path: &Path, text: &str, mode: Option<u32>) {
    if let Err(error) = write(run, path, &|out| out.write_all(text.as_bytes()), mode) {
        run.ledger.message(Level::Error, &error, &Origin::default());
    }
}

/// Names of classes, and of resources, for files that list them.
pub(super) fn write_lists(run: Run<'_>, request: &Request, catalog: &Catalog) {
    if let Some(path) = &request.class_list {
        let classes: String = catalog.classes.iter().map(|name| format!("{name}\n")).collect();
        write_text(run, path, &classes, Some(0o640));
    }
    if let Some(path) = &request.resource_list {
        let resources = catalog.resources.iter().enumerate();
        let resources = resources.filter(|(at, _)| order::acts(catalog, *at));
        let line = |(_, resource): (usize, &fx_puppet::Resource)| {
            let key = if &*resource.low == "file" { "path" } else { "name" };
            let name = text(resource, key).unwrap_or_else(|| resource.title.to_string());
            format!("{}[{name}]\n", resource.low)
        };
        let resources: String = resources.map(line).collect();
        write_text(run, path, &resources, Some(0o640));
    }
}

/// Graphs of the catalog, where they are wanted.
pub(super) fn write_graphs(run: Run<'_>, request: &Request, catalog: &Catalog, plan: &Plan) {
    let Some(dir) = &request.graphs else { return };
    for (name, text) in super::graph::graphs(catalog, plan) {
        write_text(run, &dir.join(format!("{name}.dot")), &text, None);
    }
}

/// The report and its figures.
pub(super) fn write_report(compiled: &Compiled, request: &Request, account: &Account<'_>) {
    let run = compiled.run();
    let write = |path: &Option<PathBuf>, mode: u32, pieces: fx_host::Pieces<'_>| {
        let Some(path) = path else { return };
        if let Err(error) = write(run, path, pieces, Some(mode)) {
            let text = format!("Could not write report: {error}");
            run.ledger.message(Level::Error, &text, &Origin::default());
        }
    };
    write(&request.report, 0o640, &|out| account.report(compiled, out));
    write(&request.summary, 0o644, &|out| out.write_all(account.summary(compiled).as_bytes()));
}
