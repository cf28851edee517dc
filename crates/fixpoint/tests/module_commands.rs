//! Commands that code of modules runs as another user.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

#[test]
fn a_command_of_a_module_runs_as_the_user_it_names() {
    let dir = tempfile::tempdir().unwrap();
    if fs::metadata(dir.path()).unwrap().uid() != 0 {
        eprintln!("SKIPPED: only root can become another user");
        return;
    }
    let functions = dir.path().join("modules/m/lib/puppet/functions");
    fs::create_dir_all(&functions).unwrap();
    let function = "Puppet::Functions.create_function(:who) do\n  def who(user, group)\n    options = { failonfail: true }\n    options[:uid] = user if user\n    options[:gid] = group if group\n    Puppet::Util::Execution.execute(['/bin/sh', '-c', 'echo $(id -u):$(id -g)'], options).chomp\n  rescue Puppet::Error => e\n    e.message\n  end\nend\n";
    fs::write(functions.join("who.rb"), function).unwrap();
    let asked = "notice(who(undef, undef), who('daemon', undef), who(65534, 65534), who('65534', undef), who(undef, 'daemon'), who('nobody-has-this-name', undef))";
    let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(["puppet", "apply", "--modulepath"])
        .arg(dir.path().join("modules"))
        .args(["-e", asked])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let line = "0:0 1:1 65534:65534 65534:65534 0:1 Invalid user: nobody-has-this-name";
    assert!(text.contains(line), "{text}\n{output:?}");
}
