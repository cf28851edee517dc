//! Why each resource has its turn when it does: the kind of edge it waited for, or the order
//! of the manifest; and who notified what is refreshed.

use std::rc::Rc;

use fx_engine::Cancel;
use fx_host::MemoryHost;
use fx_puppet::Machine;
use fx_puppet_apply::Request;

const MANIFEST: &str = r#"
notify { 'alone': }
notify { 'first': before => Notify['second'] }
notify { 'second': }
notify { 'needs': require => Notify['alone'] }
notify { 'tells': notify => Exec['told'] }
exec { 'told': command => '/bin/true', refreshonly => true }
exec { 'listens': command => '/bin/true', refreshonly => true, subscribe => Notify['alone'] }
file { '/srv': ensure => directory }
file { '/srv/app': ensure => directory }
file { '/srv/app/conf': content => "x\n", require => Notify['needs'] }
class outer { notify { 'in outer': } contain inner }
class inner { notify { 'in inner': } }
class late { notify { 'in late': } }
class { 'outer': require => Notify['first'] }
class { 'late': require => Class['outer'] }
notify { 'chained': } -> notify { 'after chain': } ~> exec { 'woken': command => '/bin/true', refreshonly => true }
define box { notify { "inside ${title}": } }
box { 'one': before => Notify['unboxed'] }
notify { 'unboxed': }
notify { 'two reasons': require => [Notify['alone'], Box['one']] }
"#;

#[test]
fn each_step_says_what_it_waited_for() {
    let host = Rc::new(MemoryHost::linux());
    let machine = Machine::new(host, Cancel::default());
    let request = Request {
        manifests: vec![(String::new(), MANIFEST.as_bytes().to_vec())],
        ..Request::default()
    };
    let _summary = fx_puppet_apply::run(&machine, &request);
    let steps = machine.run().ledger.steps().to_vec();
    let why = |name: &str, action: &str| {
        let found = steps.iter().find(|step| *step.resource.name == *name && step.action == action);
        found.map_or_else(|| "no such step".to_owned(), |step| step.why.to_string())
    };
    let table = [
        ("alone", "apply", "manifest order"),
        ("first", "apply", "manifest order"),
        ("second", "apply", "Notify[first] is before it"),
        ("needs", "apply", "requires Notify[alone]"),
        ("tells", "apply", "manifest order"),
        ("told", "apply", "Notify[tells] notifies it"),
        ("told", "refresh", "notified by Notify[tells]"),
        ("listens", "apply", "subscribes to Notify[alone]"),
        ("listens", "refresh", "notified by Notify[alone]"),
        ("/srv", "apply", "manifest order"),
        ("/srv/app", "apply", "autorequires File[/srv]"),
        ("/srv/app/conf", "apply", "requires Notify[needs], autorequires File[/srv/app]"),
        ("in outer", "apply", "containment in Class[Outer]: requires Notify[first]"),
        ("in inner", "apply", "containment in Class[Outer]: requires Notify[first]"),
        ("in late", "apply", "containment in Class[Late]: requires Class[Outer]"),
        ("chained", "apply", "manifest order"),
        ("after chain", "apply", "Notify[chained] is before it"),
        ("woken", "apply", "Notify[after chain] notifies it"),
        ("woken", "refresh", "notified by Notify[after chain]"),
        ("inside one", "apply", "manifest order"),
        ("unboxed", "apply", "Box[one] is before it"),
        ("two reasons", "apply", "requires Notify[alone], requires Box[one]"),
    ];
    let mut wrong = Vec::new();
    for (name, action, expected) in table {
        let got = why(name, action);
        if got != expected {
            wrong.push(format!("{action} {name}: {got:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
