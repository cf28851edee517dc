//! One machine compiles for many nodes: nothing of one compilation is seen by the next.

use std::path::PathBuf;
use std::rc::Rc;

use fx_engine::Cancel;
use fx_host::MemoryHost;
use fx_puppet::{CatalogRequest, Machine, Value};

const FUNCTION: &str = r##"module Puppet::Parser::Functions
  newfunction(:where_am_i) do |args|
    raise Puppet::ParseError, "bad #{lookupvar('module_name')}" if lookupvar('bad')
    Puppet.notice("#{source.name} in #{lookupvar('module_name')} from #{lookupvar('caller_module_name')}")
    fail("#{source.name} is not m::inner") unless source.name == 'm::inner'
  end
end"##;

#[test]
fn scopes_of_ruby_are_those_of_the_compilation_even_after_one_that_failed() {
    let work = || {
        let host = Rc::new(MemoryHost::new());
        for (path, text) in [
            ("/env/manifests/site.pp", "include m"),
            ("/env/modules/m/manifests/init.pp", "class m { contain m::inner }"),
            ("/env/modules/m/manifests/inner.pp", "class m::inner { where_am_i() }"),
            ("/env/modules/m/lib/puppet/parser/functions/where_am_i.rb", FUNCTION),
        ] {
            host.put(path, text);
        }
        let machine = Machine::new(host, Cancel::default());
        let request = CatalogRequest {
            manifest: PathBuf::from("/env/manifests"),
            modulepath: vec![PathBuf::from("/env/modules")],
            environment_dir: Some(PathBuf::from("/env")),
            environment: "production".into(),
            ..CatalogRequest::default()
        };
        let mut ended = Vec::new();
        for (number, bad) in [false, false, true, false, true, true, false].into_iter().enumerate()
        {
            let facts = if bad { vec![("bad".to_owned(), Value::from("yes"))] } else { Vec::new() };
            let made = fx_puppet::catalog(&machine, &request, &format!("n{number}"), facts);
            ended.push(made.map(drop).map_err(|why| why.contains("bad m")));
        }
        ended
    };
    let room = std::thread::Builder::new().stack_size(fx_puppet::STACK);
    let ended = room.spawn(work).expect("a thread").join().expect("the compiler does not panic");
    let (good, bad) = (Ok(()), Err(true));
    assert_eq!(ended, [good, good, bad, good, bad, bad, good]);
}
