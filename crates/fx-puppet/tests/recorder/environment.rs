//! Compiles an environment of a few files and compares what was reported, with or without the
//! phases. Shared by the tests of the order and of the rules; it checks nothing else.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use expect_test::Expect;
use fx_engine::{Cancel, Level};
use fx_host::MemoryHost;
use fx_puppet::{CatalogRequest, Machine};

use crate::phases::Phases;

/// Compiles the files under `/env`; the manifest is `/env/manifests`, a file `global.yaml` the
/// configuration of Hiera's global layer.
fn compile(files: &[(&str, &str)], trace: bool) -> String {
    let host = Rc::new(MemoryHost::new());
    for (path, text) in files {
        host.put(Path::new("/env").join(path), text);
    }
    let global = files.iter().any(|(path, _)| *path == "global.yaml");
    let machine = Machine::new(host, Cancel::default());
    let phases = Rc::new(Phases::new(Some(Level::Notice)));
    machine.run().ledger.watch(Rc::<Phases>::clone(&phases));
    let request = CatalogRequest {
        manifest: PathBuf::from("/env/manifests"),
        modulepath: vec![PathBuf::from("/env/modules"), PathBuf::from("/env/more")],
        environment_dir: Some(PathBuf::from("/env")),
        hiera_config: global.then(|| PathBuf::from("/env/global.yaml")),
        environment: "production".into(),
        trace,
        ..CatalogRequest::default()
    };
    let made = fx_puppet::catalog(&machine, &request, "web.example.com", Vec::new());
    let error = made.err().map(|message| format!("error: {message}\n")).unwrap_or_default();
    phases.text() + &error
}

/// Compares what is reported about a compilation.
pub(crate) fn check(files: &[(&str, &str)], trace: bool, expected: &Expect) {
    // Recursion as deep as allowed needs its room.
    let text = std::thread::scope(|scope| {
        let room = std::thread::Builder::new().stack_size(fx_puppet::STACK);
        let worker = room.spawn_scoped(scope, || compile(files, trace)).expect("a thread");
        worker.join().expect("the compiler does not panic")
    });
    expected.assert_eq(&text);
}
