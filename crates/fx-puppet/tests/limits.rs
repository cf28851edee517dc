//! Ruby code of a module that goes on past a bound ends its compilation, whatever it rescues.

use std::path::PathBuf;
use std::rc::Rc;

use fx_engine::Cancel;
use fx_host::MemoryHost;
use fx_puppet::{CatalogRequest, Machine};
use fx_ruby::{Bound, Limits};

const GROWS: &str = "Puppet::Functions.create_function(:grows) do
  def grows
    kept = []
    loop { kept << 'x' * 1000 }
  rescue Exception
    retry
  end
end";

const HARMLESS: &str = "Puppet::Functions.create_function(:harmless) { def harmless = 'fine' }";

#[test]
fn a_compilation_ends_with_the_bound_that_its_ruby_went_on_past() {
    let work = || {
        let host = Rc::new(MemoryHost::new());
        for (path, text) in [
            (
                "/env/manifests/site.pp",
                "node a { notice(harmless()) } node b { notice(grows()) } node c { notice(harmless()) }",
            ),
            ("/env/modules/m/lib/puppet/functions/grows.rb", GROWS),
            ("/env/modules/m/lib/puppet/functions/harmless.rb", HARMLESS),
        ] {
            host.put(path, text);
        }
        let machine = Machine::new(host, Cancel::default());
        machine.limit(Limits { heap: 48 << 20, ..Limits::default() });
        let request = CatalogRequest {
            manifest: PathBuf::from("/env/manifests"),
            modulepath: vec![PathBuf::from("/env/modules")],
            environment_dir: Some(PathBuf::from("/env")),
            environment: "production".into(),
            ..CatalogRequest::default()
        };
        ["a", "b", "c"].map(|node| {
            let made = fx_puppet::catalog(&machine, &request, node, Vec::new());
            (made.is_ok(), machine.spent())
        })
    };
    let room = std::thread::Builder::new().stack_size(fx_puppet::STACK);
    let ended = room.spawn(work).expect("a thread").join().expect("the compiler does not panic");
    let spent = Some(Bound::Memory);
    assert_eq!(ended, [(true, None), (false, spent), (false, spent)]);
}
