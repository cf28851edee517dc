//! The laws of resources through Chef's own driver: a why-run leaves the machine as it is, a run
//! leaves nothing to do, every change says what of what changes from what to what, and secrets
//! are nowhere.

#[path = "support/client.rs"]
mod client;
#[path = "support/machines.rs"]
mod common;
#[path = "support/tools.rs"]
mod tools;

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::Path;
use std::rc::Rc;

use fx_cases::Case;
use fx_engine::{Change, Event, Ledger, Outcome, Sink, trace_line};
use fx_host::{Host, LookingHost, MemoryHost};
use fx_source::SourceMap;
use serde_json::{Value as J, json};

/// What a run did, as its sinks heard it.
#[derive(Default)]
struct Heard {
    changes: RefCell<Vec<Change>>,
    withheld: RefCell<Vec<String>>,
    /// Effects that no change accounts for.
    evaluated: RefCell<Vec<String>>,
    /// Everything, in the form that shows most.
    all: RefCell<String>,
}

impl Sink for Heard {
    fn event(&self, event: &Event<'_>) {
        let _ = writeln!(self.all.borrow_mut(), "{event:?}");
        match event {
            Event::ChangeMade { change, .. } | Event::ChangeFailed { change, .. } => {
                self.changes.borrow_mut().push((*change).clone());
            }
            Event::ChangeWithheld { change, .. } => {
                self.changes.borrow_mut().push((*change).clone());
                self.withheld.borrow_mut().push(format!("{} {}", change.target, change.property));
            }
            Event::Evaluated { author, record, .. } => {
                self.evaluated.borrow_mut().push(format!("{author}: {record}"));
            }
            _ => {}
        }
    }
}

struct Ran {
    code: u8,
    heard: Rc<Heard>,
    said: String,
    ledger: Rc<Ledger>,
    sources: Rc<SourceMap>,
}

impl Ran {
    /// How it failed, if it did.
    fn failure(&self) -> Option<String> {
        let last = self.said.lines().rfind(|line| line.contains("FATAL: ")).unwrap_or_default();
        (self.code != 0).then(|| format!("exit {}: {last}", self.code))
    }

    /// Steps that found something to do, or failed.
    fn unkept(&self) -> Vec<String> {
        let kept = |outcome: &Outcome| matches!(outcome, Outcome::Kept | Outcome::Skipped(_));
        let steps = self.ledger.steps();
        let unkept = steps.iter().filter(|step| !kept(&step.outcome));
        unkept.map(|step| trace_line(step, &self.sources)).collect()
    }
}

fn run(host: Rc<dyn Host>, why_run: bool) -> Ran {
    let (ledger, sources) = (Rc::new(Ledger::new()), Rc::new(SourceMap::new()));
    let heard = Rc::new(Heard::default());
    ledger.watch(Rc::<Heard>::clone(&heard));
    let mut request = client::request();
    request.options.insert("why_run".into(), json!(why_run));
    request.options.insert("formatter".into(), json!("doc"));
    request.options.insert("log_level".into(), json!("debug"));
    let (code, said) = client::run(host, &ledger, &sources, request);
    Ran { code, heard, said, ledger, sources }
}

/// What is wrong with a change, if anything.
fn defect(change: &Change) -> Option<String> {
    let named = !change.target.name().is_empty() && !change.target.kind.word().is_empty();
    let whole = change.is_sensitive() || change.from != change.to;
    let defect = match () {
        () if !named => "has no target",
        () if change.property.is_empty() => "has no property",
        () if !whole => "has the same from and to",
        () => return None,
    };
    Some(format!("{} {} {defect}: {:?}", change.target, change.property, change.to))
}

/// Recipes over the core resources. The fake tools carry them so far that a second run has
/// nothing to do.
const RECIPES: &[(&str, &str)] = &[
    ("file", "file('/srv/a') { content \"x\\n\"; mode '600'; owner 'daemon' }"),
    ("file delete", "file('/etc/fstab') { action :delete }"),
    ("template", "template('/srv/t') { source '/srv/t.erb'; local true; variables(a: 1) }"),
    ("directory", "directory('/srv/d/e') { recursive true; mode '750'; group 'daemon' }"),
    ("directory delete", "directory('/mnt') { action :delete }"),
    ("link", "link('/srv/l') { to '/etc/hosts' }"),
    ("hard link", "link('/srv/h') { to '/etc/hosts'; link_type :hard }"),
    ("remote_file", "remote_file('/srv/r') { source 'file:///etc/hosts' }"),
    ("user", "user('kim') { comment 'x'; action :create }"),
    ("user remove", "user('daemon') { action :remove }"),
    ("group", "group('team') { members %w{daemon} }"),
    ("package", "package 'curl'"),
    ("package version", "package('curl') { version '1.0' }"),
    ("package lock", "package('curl') { action :lock }"),
    ("service", "service('app') { action [:enable, :start] }"),
    (
        "systemd_unit",
        "systemd_unit('new.service') { content '[Unit]'; verify false; action [:create, :enable, :start] }",
    ),
    ("cron", "cron('job') { minute '5'; command '/bin/true' }"),
    ("cron_d", "cron_d('job') { minute '5'; command '/bin/true' }"),
    ("mount", "mount('/mnt') { device '/dev/sdb1'; fstype 'ext4'; action [:mount, :enable] }"),
    (
        "execute",
        "execute('make it') { command 'touch /srv/made'; creates '/srv/a-file' }\nfile '/srv/a-file'",
    ),
    ("guarded", "execute('never') { only_if { false } }"),
    ("sysctl", "sysctl('vm.swappiness') { value 10 }"),
    ("kernel_module", "kernel_module('loop') { action :load }"),
    ("timezone", "timezone 'Europe/Berlin'"),
    ("sudo", "sudo('team') { groups 'team'; nopasswd true }"),
    (
        "apt_repository",
        "apt_repository('x') { uri 'http://example.test'; components %w{main}; cache_rebuild false }",
    ),
    ("apt_preference", "apt_preference('x') { pin 'version 1'; pin_priority '700' }"),
    ("user_ulimit", "user_ulimit('kim') { filehandle_limit 8192 }"),
    ("cron_access", "cron_access('kim') { action :deny }"),
    ("ohai_hint", "ohai_hint 'ec2'"),
    (
        "nested",
        "directory('/srv/n')\nfile('/srv/n/x') { content 'y'; notifies :create, 'file[/srv/n/z]', :immediately }\nfile('/srv/n/z') { action :nothing }",
    ),
];

/// Those that act whenever they are asked.
const ALWAYS: &[(&str, &str)] = &[
    ("execute", "execute '/bin/true'"),
    ("bash", "bash('s') { code 'true' }"),
    ("ruby_block", "ruby_block('b') { block { ::File.write('/srv/by-ruby', 'x') } }"),
    ("file touch", "file('/etc/hosts') { action :touch }"),
    ("service restart", "service('app') { action :restart }"),
    ("http_request", "http_request('x') { url 'http://example.test/'; action :get }"),
    ("reboot", "reboot('x') { action :request_reboot }"),
    (
        "own provider",
        "Chef::Resource::File\nclass Own < Chef::Resource\n provides :own\n property :size, Integer\n action(:grow) { converge_by('grow') { ::File.write('/srv/own', 'x') } }\nend\nown('x') { size 3 }",
    ),
    (
        "own state",
        "class Sized < Chef::Resource\n provides :sized\n property :size, Integer\n load_current_value { size 2 }\n action(:grow) { converge_if_changed { ::File.write('/srv/own', 'x') } }\nend\nsized('x') { size 3 }",
    ),
];

fn prepared(recipe: &str) -> Rc<MemoryHost> {
    let host = tools::machine();
    host.put("/srv/t.erb", "<%= @a %>\n");
    client::lay_out(&host, recipe, &J::Null);
    host.advance(std::time::Duration::from_secs(1));
    Rc::new(host)
}

/// Runs a check of a recipe and gives what is wrong, with the name of the case.
fn each(cases: &'static [(&'static str, &'static str)], check: fn(&str) -> Option<String>) {
    let wrong = cases.iter().filter_map(|(name, recipe)| {
        let found = fx_ruby::on_big_stack(move || check(recipe)).expect("a case ends");
        found.map(|text| format!("{name}: {text}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A why-run on a machine whose every effect is refused: none is even tried.
fn rehearsed(inner: &Rc<MemoryHost>) -> Option<String> {
    let before = inner.snapshot();
    let host = Rc::new(LookingHost::new(Rc::<MemoryHost>::clone(inner)));
    let ran = run(Rc::<LookingHost>::clone(&host), true);
    let broken = ran.heard.changes.borrow().iter().find_map(defect);
    match () {
        () if ran.code != 0 => ran.failure(),
        () if host.refused().is_some() => Some(format!("tried to {:?}", host.refused())),
        () if !ran.heard.evaluated.borrow().is_empty() => {
            Some(format!("evaluated {:?}", ran.heard.evaluated.borrow()))
        }
        () if inner.snapshot() != before => Some("the machine is different".to_owned()),
        () => broken,
    }
}

#[test]
fn a_why_run_leaves_the_machine_as_it_is() {
    each(RECIPES, |recipe| rehearsed(&prepared(recipe)));
    each(ALWAYS, |recipe| rehearsed(&prepared(recipe)));
}

#[test]
fn a_run_leaves_nothing_to_do() {
    each(RECIPES, |recipe| {
        let host = prepared(recipe);
        let first = run(Rc::<MemoryHost>::clone(&host), false);
        if first.code != 0 {
            return first.failure();
        }
        let second = run(Rc::<MemoryHost>::clone(&host), true);
        let unkept = second.unkept();
        (!unkept.is_empty()).then(|| unkept.join("\n"))
    });
}

#[test]
fn every_change_says_what_changes_from_what_to_what() {
    let check = |recipe: &str| {
        let host = prepared(recipe);
        host.on_url("http://example.test:80/", 200, "ok");
        host.on_url("http://example.test/", 200, "ok");
        let ran = run(Rc::<MemoryHost>::clone(&host), false);
        let heard = ran.heard.changes.borrow();
        let evaluated = ran.heard.evaluated.borrow();
        match () {
            () if ran.code != 0 && ran.code != 35 => ran.failure(),
            () if heard.is_empty() && !recipe.contains("never") => {
                Some("nothing changed".to_owned())
            }
            // What a change does is not reported as an effect of evaluation again.
            () if !evaluated.is_empty() => Some(format!("evaluated {evaluated:?}")),
            () => heard.iter().find_map(defect),
        }
    };
    each(RECIPES, check);
    each(ALWAYS, check);
}

/// The recipes of `machines`, each with what its machine has and answers.
fn machines() -> Vec<(String, String, J)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    let parts = |case: Case| {
        let (recipe, machine) = (case.section("recipe.rb").to_owned(), common::machine_of(&case));
        (case.name, recipe, machine)
    };
    fx_cases::read(&dir).into_iter().map(parts).collect()
}

/// The recipes of all other resources: a why-run touches nothing, and changes are whole.
#[test]
fn all_resources_keep_the_laws() {
    let mut wrong = Vec::new();
    for (name, recipe, case) in machines() {
        let found = fx_ruby::on_big_stack(move || {
            let prepared = || {
                let host = common::machine(&case);
                client::lay_out(&host, &recipe, &case);
                Rc::new(host)
            };
            let host = prepared();
            let before = host.snapshot();
            let looking = Rc::new(LookingHost::new(Rc::<MemoryHost>::clone(&host)));
            let rehearsal = run(Rc::<LookingHost>::clone(&looking), true);
            let mut found = Vec::new();
            // A run that fails leaves its trace in the cache, which is a file of its own.
            let refused = looking.refused().filter(|_| rehearsal.code == 0);
            found.extend(refused.map(|effect| format!("tried to {effect}")));
            found.extend((host.snapshot() != before).then(|| "the machine changed".to_owned()));
            let real = run(prepared(), false);
            for ran in [&rehearsal, &real] {
                found.extend(ran.heard.changes.borrow().iter().filter_map(defect));
            }
            found
        });
        let found = found.expect("a case ends");
        wrong.extend(found.into_iter().map(|text| format!("{name}: {text}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A kernel parameter that only the file lacks has the kernel's value before.
#[test]
fn what_is_found_of_something_that_counts_as_absent_is_where_a_change_begins() {
    let changes = fx_ruby::on_big_stack(|| {
        let host = prepared("sysctl('vm.swappiness') { value 10 }");
        let ran = run(Rc::<MemoryHost>::clone(&host), true);
        let changes = ran.heard.changes.borrow();
        let told = |change: &Change| (change.target.to_string(), format!("{:?}", change.from));
        changes.iter().filter(|change| change.property == "value").map(told).collect::<Vec<_>>()
    });
    let changes = changes.expect("a case ends");
    let [(target, from)] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!(target, "sysctl[vm.swappiness]");
    assert!(from.contains('0'), "{from}");
}

/// What recipe code does by itself is reported with its author.
#[test]
fn effects_of_recipe_code_have_an_author() {
    let evaluated = fx_ruby::on_big_stack(|| {
        let recipe = "::File.write('/srv/early', 'x')\n`true`\nMixlib::ShellOut.new('date').run_command\nfile('/srv/g') { only_if 'test -e /srv' }";
        let host = prepared(recipe);
        let ran = run(Rc::<MemoryHost>::clone(&host), false);
        ran.heard.evaluated.take()
    });
    let recipe = "recipe /repo/cookbooks/t/recipes/default.rb";
    assert_eq!(
        evaluated.expect("a case ends"),
        [
            format!("{recipe}: write /srv/early"),
            format!("{recipe}: run true"),
            format!("{recipe}:3: run date"),
            "file[/srv/g]: run test -e /srv".to_owned(),
        ]
    );
}

const SECRET: &str = "hunter2-is-secret";

/// Resources that hold a secret, and ways in which they change, are kept and fail.
const SECRETS: &[(&str, &str)] = &[
    ("file", "file('/srv/s') { content 'hunter2-is-secret'; sensitive true }"),
    ("file over another", "file('/etc/hosts') { content 'hunter2-is-secret'; sensitive true }"),
    (
        "template",
        "template('/srv/t') { source '/srv/t.erb'; local true; variables(a: 'hunter2-is-secret'); sensitive true }",
    ),
    ("execute", "execute('run') { command 'echo hunter2-is-secret'; sensitive true }"),
    (
        "execute fails",
        "execute('run') { command 'false hunter2-is-secret'; sensitive true; ignore_failure true }",
    ),
    ("bash", "bash('run') { code 'echo hunter2-is-secret'; sensitive true }"),
    ("guard", "file('/srv/s') { content 'x'; sensitive true; only_if 'echo hunter2-is-secret' }"),
    (
        "address",
        "http_request('x') { url 'http://example.test/hunter2-is-secret'; sensitive true; ignore_failure true }",
    ),
    ("user", "user('kim') { password 'hunter2-is-secret'; sensitive true }"),
    ("user, not sensitive", "user('kim') { password 'hunter2-is-secret' }"),
    ("user modified", "user('daemon') { password 'hunter2-is-secret' }"),
    ("cron", "cron('job') { command 'x hunter2-is-secret'; sensitive true }"),
    (
        "systemd_unit",
        "systemd_unit('n.service') { content 'hunter2-is-secret'; verify false; sensitive true; action :create }",
    ),
    (
        "own provider",
        "class Own < Chef::Resource\n provides :own\n property :key, String, sensitive: true\n load_current_value { key 'old' }\n action(:set) { converge_if_changed { 1 } }\nend\nown('x') { key 'hunter2-is-secret' }",
    ),
    (
        "own raises",
        "class Own < Chef::Resource\n provides :own\n property :key, String\n action(:set) { converge_by('set') { raise \"bad #{new_resource.key}\" } }\nend\nown('x') { key 'hunter2-is-secret'; sensitive true; ignore_failure true }",
    ),
];

#[test]
fn secrets_are_nowhere() {
    for why_run in [false, true] {
        let check: fn(&str) -> Option<String> =
            if why_run { |recipe| leaks(recipe, true) } else { |recipe| leaks(recipe, false) };
        each(SECRETS, check);
    }
}

fn leaks(recipe: &str, why_run: bool) -> Option<String> {
    let host = prepared(recipe);
    host.on(["false", SECRET], fx_host::Reply::exit(1).stderr(SECRET));
    let ran = run(Rc::<MemoryHost>::clone(&host), why_run);
    let heard = ran.heard.all.borrow();
    match () {
        () if ran.code != 0 => ran.failure(),
        () if ran.heard.changes.borrow().is_empty() => Some("nothing changed".to_owned()),
        () if ran.said.contains(SECRET) => Some(format!("printed: {}", ran.said)),
        () if heard.contains(SECRET) => {
            let line = heard.lines().find(|line| line.contains(SECRET));
            Some(format!("heard: {}", line.unwrap_or_default()))
        }
        () => None,
    }
}
