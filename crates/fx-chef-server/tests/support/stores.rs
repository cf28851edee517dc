//! The engines that a test runs over.

#[path = "../../../fx-fleet/tests/support/cluster.rs"]
mod cluster;

use fx_fleet::Fleet;

/// Runs a test over each engine; the function opens the same store again each time.
pub(crate) fn on_each(test: impl Fn(&dyn Fn() -> Fleet)) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fleet.db");
    test(&|| Fleet::sqlite(&file).unwrap());
    if let Some(cluster) = cluster::cluster() {
        let url = cluster.database();
        test(&|| Fleet::postgres(&url).unwrap());
    }
}
