//! Laws that hold for every promise type that acts, through the agent itself: a rehearsal
//! changes nothing and calls for no effect, by `-n` and by the action body; after a run a
//! rehearsal has nothing to do; and every change is whole: target, property, from and to.

use std::cell::RefCell;
use std::rc::Rc;

use fx_cfengine::Request;
use fx_engine::{Cancel, Change, Event, Ledger, Outcome, Run, Sink};
use fx_host::{MemoryHost, Operation, Record, RecordingHost, Reply};
use fx_source::SourceMap;

/// Bodies for the policies below. `ACTION` is put in place of `action => ...` in each promise.
const BODIES: &str = r#"
body common control { bundlesequence => { "main" }; }
body action only_warn { action_policy => "warn"; }
body perms m(mode) { mode => "$(mode)"; rxdirs => "false"; }
body perms og(user, group) { owners => { "$(user)" }; groups => { "$(group)" }; }
body acl default_too
{
  acl_type => "posix"; acl_method => "overwrite"; acl_default => "access";
  aces => { "user:*:rwx", "group:*:rx", "all:r", "user:nobody:rx", "mask:rwx" };
}
body edit_defaults rotated { edit_backup => "rotate"; rotate => "2"; }
body edit_defaults kept { edit_backup => "true"; }
body copy_from from(file)
{ source => "$(file)"; compare => "digest"; copy_backup => "true"; }
body copy_from whole(file)
{ source => "$(file)"; compare => "digest"; preserve => "true"; purge => "true"; }
body depth_search all { depth => "inf"; }
body link_from to(file)
{ source => "$(file)"; when_no_source => "force"; }
body link_from children(file) { source => "$(file)"; link_children => "true"; }
body link_from hard(file) { source => "$(file)"; link_type => "hardlink"; }
body delete tidy { dirlinks => "delete"; rmdirs => "true"; }
body file_select any_file { leaf_name => { ".*" }; file_result => "leaf_name"; }
body rename to(name) { newname => "$(name)"; }
body rename off { disable => "true"; disable_suffix => ".off"; disable_mode => "600"; }
body rename emptied { rotate => "0"; }
body rename turned { rotate => "2"; }
body changes watched
{ hash => "sha256"; report_changes => "all"; update_hashes => "yes"; report_diffs => "false"; }
body replace_with text(t) { replace_value => "$(t)"; occurrences => "all"; }
body edit_field third(value)
{
  field_separator => ":"; select_field => "3"; field_value => "$(value)";
  field_operation => "set"; extend_fields => "true";
}
body contain in_shell { useshell => "useshell"; }
body classes known { kept_returncodes => { "0" }; failed_returncodes => { "1" }; }
body password hashed(hash) { format => "hash"; data => "$(hash)"; }
body service_method by_bundle
{ service_bundle => start_it("$(this.promiser)", "$(this.service_policy)"); }
body mount nfs
{
  mount_type => "nfs"; mount_source => "/export"; mount_server => "server";
  edit_fstab => "true";
}
body mount gone
{
  mount_type => "nfs"; mount_source => "/export"; mount_server => "server";
  unmount => "true"; edit_fstab => "true";
}
body package_method listed
{
  package_changes => "individual";
  package_list_command => "/usr/bin/lister";
  package_list_name_regex => "^(\S+) .*";
  package_list_version_regex => "^\S+ (\S+)";
  package_installed_regex => ".*";
  package_add_command => "/usr/bin/adder";
  package_delete_command => "/usr/bin/remover";
  package_commands_useshell => "false";
}
body package_module scripted { query_installed_ifelapsed => "0"; query_updates_ifelapsed => "0"; }
bundle edit_line lines
{
  delete_lines: "gone" ACTION;
  insert_lines: "added" ACTION;
  replace_patterns: "^old$" replace_with => text("new") ACTION;
  field_edits: "a:.*" edit_field => third("c") ACTION;
}
bundle edit_xml tree
{
  build_xpath: "/root/item" ACTION;
}
promise agent things { path => "/bin/thing_module"; }
bundle agent called { files: "/called" create => "true" ACTION; }
bundle agent start_it(service, policy) { commands: "/bin/act start $(service)" ACTION; }
"#;

/// Most effects by which one change is made: a rotation, a backup that replaces another.
const MOST_EFFECTS: usize = 4;

/// One row: what is promised, and whether it is settled once it was kept.
struct Law {
    name: &'static str,
    promises: &'static str,
    /// Whether a second rehearsal has nothing to do.
    settles: bool,
}

const fn settles(name: &'static str, promises: &'static str) -> Law {
    Law { name, promises, settles: true }
}

/// For what is done in every run.
const fn repeats(name: &'static str, promises: &'static str) -> Law {
    Law { name, promises, settles: false }
}

const LAWS: &[Law] = &[
    settles("create", r#"files: "/new" create => "true" ACTION;"#),
    settles("create below", r#"files: "/a/b/new" create => "true" ACTION;"#),
    settles("directory", r#"files: "/dir/." create => "true", perms => m("700") ACTION;"#),
    settles("fifo", r#"files: "/pipe" create => "true", file_type => "fifo" ACTION;"#),
    settles("mode", r#"files: "/old" perms => m("600") ACTION;"#),
    settles("setuid", r#"files: "/program" perms => m("755") ACTION;"#),
    settles("owner", r#"files: "/old" perms => og("nobody", "nogroup") ACTION;"#),
    settles("acl", r#"files: "/tree" acl => default_too ACTION;"#),
    repeats("touch", r#"files: "/old" touch => "true" ACTION;"#),
    settles("content", r#"files: "/old" content => "other" ACTION;"#),
    settles("content of a new file", r#"files: "/new" create => "true", content => "x" ACTION;"#),
    settles("lines", r#"files: "/lines" edit_line => lines, edit_defaults => kept ACTION;"#),
    settles("rotated", r#"files: "/lines" edit_line => lines, edit_defaults => rotated ACTION;"#),
    settles("xml", r#"files: "/doc.xml" create => "true", edit_xml => tree ACTION;"#),
    settles(
        "mustache",
        r#"files: "/new" create => "true", edit_template_string => "{{x}} y",
             template_method => "inline_mustache", template_data => '{"x":"1"}' ACTION;"#,
    ),
    settles(
        "template",
        r#"files: "/new" create => "true", edit_template => "/template",
             template_method => "cfengine" ACTION;"#,
    ),
    settles("copy", r#"files: "/new" copy_from => from("/old") ACTION;"#),
    settles("copy over", r#"files: "/lines" copy_from => from("/old") ACTION;"#),
    settles("copy over a link", r#"files: "/link" copy_from => from("/old") ACTION;"#),
    settles(
        "copy tree",
        r#"files: "/target" copy_from => whole("/tree"), depth_search => all ACTION;"#,
    ),
    settles("link", r#"files: "/new" link_from => to("/old") ACTION;"#),
    settles(
        "link elsewhere",
        r#"files: "/link" link_from => to("/lines"),
        move_obstructions => "true" ACTION;"#,
    ),
    settles(
        "links to children",
        r#"files: "/link" link_from => children("/tree"), move_obstructions => "true" ACTION;"#,
    ),
    settles("hard link", r#"files: "/new" link_from => hard("/old") ACTION;"#),
    settles("delete", r#"files: "/old" delete => tidy ACTION;"#),
    settles("delete a directory", r#"files: "/empty" delete => tidy ACTION;"#),
    settles(
        "delete a tree",
        r#"files: "/tree" delete => tidy, depth_search => all, file_select => any_file ACTION;"#,
    ),
    settles("rename", r#"files: "/old" rename => to("/renamed") ACTION;"#),
    settles("disable", r#"files: "/old" rename => off ACTION;"#),
    repeats("truncate", r#"files: "/old" rename => emptied ACTION;"#),
    repeats("rotate", r#"files: "/old" rename => turned ACTION;"#),
    settles("changes", r#"files: "/old" changes => watched ACTION;"#),
    repeats("transformer", r#"files: "/old" transformer => "/bin/act /old" ACTION;"#),
    repeats("command", r#"commands: "/bin/act now" ACTION;"#),
    repeats("command by a shell", r#"commands: "/bin/act now" contain => in_shell ACTION;"#),
    settles(
        "add a package",
        r#"packages: "wanted" package_policy => "add",
        package_method => listed ACTION;"#,
    ),
    settles(
        "delete a package",
        r#"packages: "there" package_policy => "delete",
        package_method => listed ACTION;"#,
    ),
    settles(
        "module installs",
        r#"packages: "wanted" policy => "present",
        package_module => scripted ACTION;"#,
    ),
    settles(
        "module removes",
        r#"packages: "there" policy => "absent",
        package_module => scripted ACTION;"#,
    ),
    settles("new user", r#"users: "anna" policy => "present", home_dir => "/home/anna" ACTION;"#),
    settles("user gone", r#"users: "bob" policy => "absent" ACTION;"#),
    settles(
        "user changed",
        r#"users: "bob" policy => "present", shell => "/bin/zsh",
        description => "Robert" ACTION;"#,
    ),
    settles("user locked", r#"users: "bob" policy => "locked" ACTION;"#),
    settles(
        "password",
        r#"users: "bob" policy => "present",
        password => hashed("$6$salt$secret") ACTION;"#,
    ),
    settles("signal", r#"processes: "daemon" signals => { "term" } ACTION;"#),
    settles("stop", r#"processes: "daemon" process_stop => "/bin/act stop" ACTION;"#),
    settles("mount", r#"storage: "/mnt/data" mount => nfs ACTION;"#),
    settles("unmount", r#"storage: "/mnt/there" mount => gone ACTION;"#),
    repeats(
        "service",
        r#"services: "web" service_policy => "start",
        service_method => by_bundle ACTION;"#,
    ),
    settles("method", r#"methods: "x" usebundle => called ACTION;"#),
    repeats("custom type", r#"things: "it" attribute => "x" ACTION;"#),
    repeats("report to a file", r#"reports: "line" report_to_file => "/report" ACTION;"#),
];

/// A machine with something of each kind to act on, and programs that act on it.
fn machine() -> MemoryHost {
    let host = MemoryHost::linux();
    host.put("/old", "content\n");
    host.put("/lines", "first\ngone\nold\na:b:x\n");
    host.put("/template", "rendered\n");
    host.put("/doc.xml", "");
    host.put_mode("/program", "runs as root", 0o4755);
    host.put_link("/link", "/old");
    host.put("/tree/one", "1");
    host.put("/tree/below/two", "2");
    host.put("/target/stray", "purged");
    host.put_dir("/empty", 0o755);
    host.put("/etc/passwd", "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\nbob:x:1000:1000:Bob:/home/bob:/bin/sh\n");
    host.put("/etc/shadow", "root:*::::::::\nbob:$6$salt$old::::::::\n");
    host.put("/etc/group", "root:x:0:\nnogroup:x:65534:\nbob:x:1000:\n");
    host.put("/etc/fstab", "server:/export /mnt/there nfs defaults\n");
    host.put("/proc/self/mounts", "server:/export /mnt/there nfs rw 0 0\n");
    host.put("/proc/4242/comm", "daemon");
    host.put("/var/lib/packages", "there 1.0\n");
    for program in
        ["/bin/act", "/usr/bin/lister", "/usr/bin/adder", "/usr/bin/remover", "/bin/thing_module"]
    {
        host.put_program(program);
    }
    host.put_program("/var/cfengine/modules/packages/scripted");
    host.put_dir("/var/cfengine/state", 0o755);
    host.on_any(program);
    host
}

// What the programs of the machine do to it.
fn program(host: &MemoryHost, spec: &fx_host::Spec) -> Option<Reply> {
    let line = spec.display();
    let words: Vec<&str> = line.split(' ').collect();
    let package = |name: &str, there: bool| {
        let kept = host.text("/var/lib/packages");
        let kept = kept.lines().filter(|line| line.split(' ').next() != Some(name));
        let mut all: Vec<String> = kept.map(str::to_owned).collect();
        all.extend(there.then(|| format!("{name} 1.0")));
        let text: String = all.iter().map(|line| format!("{line}\n")).collect();
        host.put("/var/lib/packages", text);
    };
    match words[0] {
        "/bin/act" => {
            if words.get(1) == Some(&"stop") {
                host.put("/proc/4242/comm", "");
            }
            host.put("/acted", line.as_bytes());
            Some(Reply::exit(0))
        }
        "/bin/sh" => Some(Reply::exit(0)),
        "/bin/thing_module" => Some(Reply::exit(0).dialogue(custom)),
        "ps" | "/bin/ps" => {
            let running = !host.text("/proc/4242/comm").is_empty();
            let mut text =
                "STAT USER PID PPID PGID CPU MEM VSZ NI RSS TT NLWP STIME ELAPSED TIME COMMAND\n"
                    .to_owned();
            if running {
                text.push_str("Ss root 4242 1 4242 0.0 0.1 1000 0 500 ? 1 10:00 02:03 00:00:05 /sbin/daemon\n");
            }
            Some(Reply::prints(text))
        }
        "/usr/bin/lister" => Some(Reply::prints(host.text("/var/lib/packages"))),
        "/usr/bin/adder" | "/usr/bin/remover" => {
            package(words[1], words[0] == "/usr/bin/adder");
            Some(Reply::exit(0))
        }
        "/var/cfengine/modules/packages/scripted" => Some(module(host, spec, words[1], &package)),
        "/bin/mount" => {
            host.put("/proc/self/mounts", "server:/export /mnt/data nfs rw 0 0\n");
            Some(Reply::exit(0))
        }
        "/bin/umount" => {
            host.put("/proc/self/mounts", "");
            Some(Reply::exit(0))
        }
        _ => accounts(host, spec, &words),
    }
}

// A module of a custom promise type that changes nothing where it may only warn.
fn custom(asked: &[u8]) -> Vec<u8> {
    let asked = String::from_utf8_lossy(asked);
    let answer = if asked.starts_with("cf-agent") {
        "thing_module 1.0 v1 line_based action_policy\n\n"
    } else if asked.contains("operation=validate_promise") {
        "operation=validate_promise\nresult=valid\n\n"
    } else if asked.contains("attribute_action_policy=warn") {
        "log_warning=would act\nresult=not_kept\n\n"
    } else {
        "log_info=acted\nresult=repaired\n\n"
    };
    answer.into()
}

fn module(
    host: &MemoryHost,
    spec: &fx_host::Spec,
    command: &str,
    package: &dyn Fn(&str, bool),
) -> Reply {
    let fx_host::Stdin::Bytes(asked) = &spec.stdin else { return Reply::exit(1) };
    let asked = String::from_utf8_lossy(asked).into_owned();
    let name = asked.lines().find_map(|line| line.split_once('=')).map_or("", |(_, name)| name);
    match command {
        "supports-api-version" => Reply::prints("1\n"),
        "get-package-data" => Reply::prints(format!("PackageType=repo\nName={name}\n")),
        "list-installed" => {
            let text = host.text("/var/lib/packages");
            let known = text.lines().filter_map(|line| line.split_once(' '));
            let told = known.map(|(name, version)| {
                format!("Name={name}\nVersion={version}\nArchitecture=all\n")
            });
            Reply::prints(told.collect::<String>())
        }
        "repo-install" | "remove" => {
            package(name, command == "repo-install");
            Reply::exit(0)
        }
        _ => Reply::exit(0),
    }
}

fn accounts(host: &MemoryHost, spec: &fx_host::Spec, words: &[&str]) -> Option<Reply> {
    let edit = |file: &str, name: &str, change: &dyn Fn(Vec<String>) -> Option<Vec<String>>| {
        let text = host.text(file);
        let lines = text.lines().filter_map(|line| {
            let fields: Vec<String> = line.split(':').map(str::to_owned).collect();
            if fields[0] == name { change(fields) } else { Some(fields) }
        });
        let text: String = lines.map(|fields| fields.join(":") + "\n").collect();
        host.put(file, text);
    };
    let name = words.last().copied().unwrap_or_default();
    match words[0] {
        "/usr/sbin/useradd" => {
            let home = words.iter().position(|word| *word == "-d").map_or("", |at| words[at + 1]);
            let line = format!("{name}:x:1001:1001::{home}:/bin/sh\n");
            host.put("/etc/passwd", host.text("/etc/passwd") + &line);
            host.put("/etc/shadow", host.text("/etc/shadow") + &format!("{name}:!::::::::\n"));
        }
        "/usr/sbin/userdel" => {
            edit("/etc/passwd", name, &|_| None);
            edit("/etc/shadow", name, &|_| None);
        }
        "/usr/sbin/usermod" => {
            for (flag, at) in [("-c", 4), ("-s", 6)] {
                let value = words.iter().position(|word| *word == flag).map(|at| words[at + 1]);
                if let Some(value) = value {
                    edit("/etc/passwd", name, &|mut fields| {
                        value.clone_into(&mut fields[at]);
                        Some(fields)
                    });
                }
            }
        }
        "/usr/sbin/chpasswd" => {
            let fx_host::Stdin::Bytes(line) = &spec.stdin else { return None };
            let line = String::from_utf8_lossy(line).into_owned();
            let (name, hash) = line.trim_end().split_once(':')?;
            edit("/etc/shadow", name, &|mut fields| {
                hash.clone_into(&mut fields[1]);
                Some(fields)
            });
        }
        _ => return None,
    }
    Some(Reply::exit(0))
}

/// What a sink hears of changes and of how steps end.
#[derive(Default)]
struct Heard {
    made: RefCell<Vec<Change>>,
    withheld: RefCell<Vec<Change>>,
    evaluated: RefCell<Vec<String>>,
    failed: RefCell<Vec<String>>,
    text: RefCell<String>,
}

impl Sink for Heard {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::ChangeMade { change, .. } => self.made.borrow_mut().push((*change).clone()),
            Event::ChangeWithheld { change, .. } => {
                self.withheld.borrow_mut().push((*change).clone());
            }
            Event::Evaluated { author, record, .. } => {
                self.evaluated.borrow_mut().push(format!("{author}: {record}"));
            }
            Event::StepClosed { step } => {
                if let Outcome::Failed(failure) = &step.outcome {
                    self.failed.borrow_mut().push(format!("{}: {failure}", step.resource));
                }
            }
            Event::Message { text, .. } => {
                let mut all = self.text.borrow_mut();
                all.push_str(text);
                all.push('\n');
            }
            _ => {}
        }
    }
}

fn policy(promises: &str, action: &str) -> String {
    let text = format!("{BODIES}\nbundle agent main {{ {promises} }}\n");
    // An action follows other attributes or is the first one.
    let mut out = String::new();
    for (at, part) in text.split(" ACTION").enumerate() {
        if at > 0 && !action.is_empty() {
            let bare = out.trim_end().ends_with('"') && !last_statement(&out).contains("=>");
            out.push_str(if bare { " " } else { ", " });
            out.push_str(action);
        }
        out.push_str(part);
    }
    out
}

fn last_statement(text: &str) -> &str {
    text.rsplit([';', '{']).next().unwrap_or_default()
}

/// Runs a policy; what was heard, and the effects that were called for.
fn run(host: &MemoryHost, policy: &str, dry_run: bool) -> (Rc<Heard>, Vec<Record>) {
    run_with(host, policy, dry_run, &Ledger::new())
}

fn run_with(
    host: &MemoryHost,
    policy: &str,
    dry_run: bool,
    ledger: &Ledger,
) -> (Rc<Heard>, Vec<Record>) {
    host.put_mode("/policy.cf", policy, 0o600);
    let effects = RefCell::new(Vec::new());
    let recording = RecordingHost::new(host, |record| effects.borrow_mut().push(record));
    let request = Request {
        file: Some("/policy.cf".to_owned()),
        dry_run,
        no_lock: true,
        fallback: true,
        ..Request::default()
    };
    let (sources, cancel) = (SourceMap::new(), Cancel::default());
    let heard = Rc::new(Heard::default());
    ledger.watch(heard.clone());
    fx_cfengine_agent::run(Run::new(&recording, ledger, &cancel), &sources, &request);
    drop(recording);
    (heard, effects.into_inner())
}

/// Programs that promises query before they act, in a rehearsal as well.
fn is_query(record: &Record) -> bool {
    let line = record.subject.to_string_lossy();
    ["/usr/bin/lister", "/var/cfengine/modules/packages/scripted", "/bin/thing_module"]
        .iter()
        .any(|program| line.starts_with(program))
}

fn whole(change: &Change) -> bool {
    !change.target.kind.word().is_empty()
        && !change.target.name.is_empty()
        && !change.property.is_empty()
        && change.from != change.to
}

/// Holds every row against a law, and names all that break it.
fn hold(law: impl Fn(&Law) -> Result<(), String>) {
    let broken: Vec<String> = LAWS
        .iter()
        .filter_map(|row| law(row).err().map(|why| format!("{}: {why}", row.name)))
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

fn ensure(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

fn all_whole(changes: &[Change]) -> Result<(), String> {
    changes.iter().try_for_each(|change| ensure(whole(change), || format!("{change:?}")))
}

/// Where the agent keeps its own state: a promise that only warns leaves it to be written.
const OWN: &str = "/var/cfengine";

fn seen(host: &MemoryHost, whole: bool) -> String {
    let text = host.snapshot_with_times();
    let lines = text.lines().filter(|line| whole || !line.starts_with(OWN));
    lines.map(|line| format!("{line}\n")).collect()
}

fn rehearsed(policy: &str, dry_run: bool) -> Result<(), String> {
    let host = machine();
    host.put_mode("/policy.cf", policy, 0o600);
    // The directories that every run makes for itself are there.
    for name in ["reports", "inputs", "masterfiles"] {
        host.put_dir(format!("/var/cfengine/{name}"), 0o700);
    }
    let before = seen(&host, dry_run);
    let (heard, effects) = run(&host, policy, dry_run);
    let after = seen(&host, dry_run);
    let effects: Vec<&Record> = effects
        .iter()
        .filter(|record| !is_query(record))
        .filter(|record| dry_run || !record.subject.to_string_lossy().starts_with(OWN))
        .collect();
    ensure(effects.is_empty(), || format!("{effects:?}"))?;
    ensure(after == before, || format!("{before}\nbecame\n{after}"))?;
    ensure(heard.made.borrow().is_empty(), || format!("made {:?}", heard.made.borrow()))?;
    let withheld = heard.withheld.borrow();
    ensure(!withheld.is_empty(), || format!("nothing to do\n{}", heard.text.borrow()))?;
    all_whole(&withheld)
}

#[test]
fn a_dry_run_changes_nothing_and_says_what_it_would() {
    hold(|law| rehearsed(&policy(law.promises, ""), true));
}

#[test]
fn a_promise_that_only_warns_changes_nothing() {
    hold(|law| rehearsed(&policy(law.promises, "action => only_warn"), false));
}

#[test]
fn what_was_kept_needs_nothing_more() {
    hold(|law| {
        let host = machine();
        let policy = policy(law.promises, "");
        let (heard, _) = run(&host, &policy, false);
        let made = heard.made.borrow();
        ensure(!made.is_empty(), || format!("nothing done\n{}", heard.text.borrow()))?;
        all_whole(&made)?;
        let failed = heard.failed.borrow();
        ensure(failed.is_empty(), || format!("{failed:?}\n{}", heard.text.borrow()))?;
        if law.settles {
            let (heard, _) = run(&host, &policy, true);
            let left = heard.withheld.borrow();
            ensure(left.is_empty(), || format!("left {left:?}\n{}", heard.text.borrow()))?;
        }
        Ok(())
    });
}

#[test]
fn in_a_copy_files_change_and_no_command_runs() {
    hold(|law| {
        let host = machine();
        let ledger = Ledger::new();
        ledger.set_in_copy();
        let (heard, effects) = run_with(&host, &policy(law.promises, ""), false, &ledger);
        let acts = [Operation::Run, Operation::Start, Operation::Signal];
        let ran: Vec<&Record> = effects
            .iter()
            .filter(|record| acts.contains(&record.operation) && !is_query(record))
            .collect();
        let users = law.promises.starts_with("users:");
        ensure(users || ran.is_empty(), || format!("{ran:?}"))?;
        ensure(heard.made.borrow().is_empty(), || format!("made {:?}", heard.made.borrow()))?;
        let withheld = heard.withheld.borrow();
        ensure(!withheld.is_empty(), || format!("nothing to do\n{}", heard.text.borrow()))?;
        all_whole(&withheld)
    });
}

#[test]
fn every_effect_belongs_to_a_change_or_to_an_author() {
    hold(|law| {
        let host = machine();
        let (heard, effects) = run(&host, &policy(law.promises, ""), false);
        let own = |record: &&Record| record.subject.to_string_lossy().starts_with(OWN);
        let acts = effects.iter().filter(|record| !own(record)).count();
        let accounted = heard.made.borrow().len() + heard.evaluated.borrow().len();
        ensure(acts <= accounted * MOST_EFFECTS, || format!("{effects:?}"))
    });
}

#[test]
fn secrets_are_in_no_change() {
    let host = machine();
    let promises = r#"users: "bob" policy => "present", password => hashed("$6$salt$secret") ;"#;
    let (heard, _) = run(&host, &policy(promises, ""), false);
    let made = heard.made.borrow();
    assert!(made.iter().any(Change::is_sensitive), "{made:?}");
    let shown = format!("{made:?}") + &heard.text.borrow();
    assert!(!shown.contains("secret") && !shown.contains("$6$salt$old"), "{shown}");
}

#[test]
fn functions_that_run_commands_are_recorded_with_their_place() {
    let host = machine();
    let promises = r#"vars: "x" string => execresult("/bin/act function", "noshell");"#;
    let (heard, _) = run(&host, &policy(promises, ""), false);
    let evaluated = heard.evaluated.borrow();
    assert!(
        evaluated.iter().any(|told| told.starts_with("execresult at /policy.cf:")),
        "{evaluated:?}"
    );
}

#[test]
fn a_failed_command_is_the_cause_of_its_step() {
    let host = machine();
    host.put_program("/bin/broken");
    host.on(["/bin/broken", "now"], Reply::exit(3).stdout("no luck\n"));
    let (heard, _) = run(&host, &policy(r#"commands: "/bin/broken now" ;"#, ""), false);
    assert_eq!(*heard.failed.borrow(), ["commands[/bin/broken now]: '/bin/broken now' returned 3"]);
}

#[test]
fn a_failed_step_says_why() {
    let host = machine();
    host.fail_from(fx_host::FaultOn::Operation(Operation::SetMode), 1, 1);
    let (heard, _) = run(&host, &policy(r#"files: "/old" perms => m("600") ;"#, ""), false);
    let failed = heard.failed.borrow();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(failed[0].contains("Operation not permitted"), "{failed:?}");
}
