//! Canaries in sensitive resources of recipes: none of them is in any output, file or argument.

#![expect(
    clippy::print_stderr,
    reason = "tests lay out and run their own files, and say what they skip"
)]

use fx_host::{OsHost, Sandbox, SandboxOptions, Spec};

/// One canary a property, each found only by its number.
const RECIPE: &str = include_str!("canaries/recipe.rb");

const SET_UP: &str = "
F=PROGRAM; cd /srv; export FIXPOINT_STATE=/srv/state
set_up() { rm -rf /srv/c /srv/out.txt; mkdir -p /srv/c; echo CANARY03 > /srv/c/f2; echo CANARY04 > /srv/c/f3
  echo '<%= @x %>' > /srv/c/t.erb; userdel canuser 2>/dev/null; }
show() { echo \"== $1\"; shift; set_up; timeout 60 \"$@\" 2>&1; }
";

fn inside(name: &str, lines: &str) -> Option<String> {
    let sandbox = match Sandbox::new(&SandboxOptions { trusted: true, ..SandboxOptions::default() })
    {
        Ok(sandbox) => sandbox,
        Err(error) => {
            eprintln!("SKIPPED {name}: {error}");
            return None;
        }
    };
    sandbox.write("/srv/a.rb".as_ref(), RECIPE.as_bytes()).expect("the box takes files");
    let line = format!("{SET_UP}\n{lines}").replace("PROGRAM", env!("CARGO_BIN_EXE_fixpoint"));
    let ended = sandbox
        .run(&OsHost::new(), &Spec { merge_stderr: true, ..Spec::shell(line) })
        .expect("a shell runs in the box");
    Some(String::from_utf8_lossy(&ended.stdout).into_owned())
}

fn assert_no_canary(text: &str, least: usize) {
    assert!(text.len() > least, "so little was shown that nothing is proved: {text}");
    let found: Vec<&str> = text.lines().filter(|line| line.contains("CANARY")).collect();
    assert!(found.is_empty(), "{} lines:\n{}", found.len(), found.join("\n"));
}

#[test]
fn no_canary_is_in_what_the_client_shows_and_keeps() {
    let name = "no_canary_is_in_what_the_client_shows_and_keeps";
    let lines = "
show apply $F chef-apply /srv/a.rb
show trace $F chef-apply -l trace /srv/a.rb
show why-run $F chef-apply -W /srv/a.rb
mkdir -p /srv/repo/cookbooks/t/recipes; cd /srv/repo
echo \"name 't'\" > cookbooks/t/metadata.rb; cp /srv/a.rb cookbooks/t/recipes/default.rb
show local $F chef-client -z -o t --fx-report /srv/report.json
show short $F chef-client -z -o t -F min -L /srv/log
cat /srv/report.json /srv/log
cat /srv/repo/.chef/local-mode-cache/cache/chef-stacktrace.out /var/chef/cache/chef-stacktrace.out
grep -r . /srv/repo/nodes
";
    let Some(text) = inside(name, lines) else { return };
    assert!(text.contains("suppressed sensitive resource"), "{text}");
    assert!(text.contains("Caused by") || text.contains("Generated at"), "no trace: {text}");
    assert_no_canary(&text, 20_000);
}

#[test]
fn no_canary_is_in_what_the_verbs_show_and_keep() {
    let name = "no_canary_is_in_what_the_verbs_show_and_keep";
    let lines = "
show run $F run /srv/a.rb
show run-json $F run --format json /srv/a.rb
show plan $F plan /srv/a.rb
show plan-json $F plan --format json /srv/a.rb
show explain $F explain /srv/a.rb
show try $F try --timeout 60 /srv/a.rb
show try-json $F try --timeout 60 --format json /srv/a.rb
show sarif $F check --format sarif /srv/a.rb
$F history; $F history show 1; $F history show 2; $F history show 1 --format json
strings -a /srv/state/state.db || cat /srv/state/state.db
";
    let Some(text) = inside(name, lines) else { return };
    assert!(text.contains("[redacted]"), "{text}");
    assert_no_canary(&text, 10_000);
}

#[test]
fn a_hash_of_a_password_is_in_no_argument_and_in_the_shadow_file() {
    let name = "a_hash_of_a_password_is_in_no_argument_and_in_the_shadow_file";
    // What the tools are called with, and what they are handed.
    let lines = "
mkdir /srv/bin; for t in useradd usermod chpasswd; do
  printf '#!/bin/sh\\necho \"%s $*\" >> /srv/called\\nexec /usr/sbin/%s \"$@\"\\n' $t $t > /srv/bin/$t; chmod 755 /srv/bin/$t; done
export PATH=/srv/bin:$PATH
echo \"user('u1') { password '\\$6\\$salt\\$first' }\" > /srv/u.rb; $F chef-apply /srv/u.rb
echo \"user('u1') { password '\\$6\\$salt\\$second'; comment 'x' }\" > /srv/u.rb; $F chef-apply /srv/u.rb
echo \"user('u1') { password '\\$6\\$salt\\$third' }\" > /srv/u.rb; $F chef-apply /srv/u.rb; $F chef-apply /srv/u.rb
echo ==; cat /srv/called; echo ==; grep ^u1: /etc/shadow
";
    let Some(text) = inside(name, lines) else { return };
    let parts: Vec<&str> = text.split("==\n").collect();
    assert_eq!(parts.len(), 3, "{text}");
    assert!(!parts[0].contains("$6$salt"), "shown: {}", parts[0]);
    assert!(parts[0].contains("up to date"), "it converges: {}", parts[0]);
    assert!(parts[1].contains("useradd") && parts[1].contains("chpasswd -e"), "{}", parts[1]);
    assert!(!parts[1].contains("$6$salt"), "in an argument: {}", parts[1]);
    assert!(parts[2].starts_with("u1:$6$salt$third:"), "{}", parts[2]);
}

#[test]
fn what_may_hold_secrets_is_readable_for_root_alone() {
    let name = "what_may_hold_secrets_is_readable_for_root_alone";
    let lines = "
set_up; mkdir -p /srv/repo/cookbooks/t/recipes; cd /srv/repo
echo \"name 't'\" > cookbooks/t/metadata.rb; echo \"raise 'x'\" > cookbooks/t/recipes/default.rb
$F chef-client -z -o t --fx-report /srv/report.json > /dev/null 2>&1
echo \"log 'x'\" > cookbooks/t/recipes/default.rb
$F chef-client -z -o t --fx-collection /srv/collection.json > /dev/null 2>&1
$F chef-client -z -o t -L /srv/log > /dev/null 2>&1
stat -c '%a %n' /srv/report.json /srv/collection.json /srv/repo/nodes/*.json
stat -c '%a %n' /srv/repo/.chef/local-mode-cache/cache/chef-stacktrace.out
";
    let Some(text) = inside(name, lines) else { return };
    assert!(text.contains("chef-stacktrace.out") && text.contains("nodes/"), "{text}");
    for line in text.lines() {
        assert!(line.starts_with("600 "), "{line}\n{text}");
    }
}
