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
    let line = "0:0 1:1 65534:65534 65534:65534 0:1 Execution of '/bin/sh -c echo $(id -u):$(id -g)' returned 1: ";
    assert!(text.contains(line), "{text}\n{output:?}");
}

/// Calls of `Puppet::Util::Execution.execute` with what puppet 7.23 gives: the output and the code, or the error.
const EXECUTED: [(&str, &str); 17] = [
    ("['/nonesuch/x', 'a'], {}", "\"\" 1"),
    (
        "['/nonesuch/x']",
        "Puppet::ExecutionFailure: Execution of '/nonesuch/x' returned 1: Error: Could not execute posix command: No such file or directory - /nonesuch/x",
    ),
    (
        "['/nonesuch/x'], failonfail: true",
        "Puppet::ExecutionFailure: Execution of '/nonesuch/x' returned 1: ",
    ),
    ("['/nonesuch/x'], failonfail: false", "\"\" 1"),
    (
        "'/nonesuch/x a', combine: true",
        "\"Error: Could not execute posix command: No such file or directory - /nonesuch/x\\n\" 1",
    ),
    (
        "'/etc/passwd', combine: true",
        "\"Error: Could not execute posix command: Permission denied - /etc/passwd\\n\" 1",
    ),
    (
        "['/bin/echo'], uid: 'nobody-has-it', combine: true",
        "\"Error: Could not execute posix command: Invalid user: nobody-has-it\\n\" 1",
    ),
    ("['/bin/sh', '-c', 'echo out; echo err >&2']", "\"out\\nerr\\n\" 0"),
    ("['/bin/sh', '-c', 'echo out; echo err >&2'], failonfail: true", "\"out\\n\" 0"),
    (
        "['/bin/sh', '-c', 'echo out; exit 4']",
        "Puppet::ExecutionFailure: Execution of '/bin/sh -c echo out; exit 4' returned 4: out",
    ),
    (
        "['/bin/sh', '-c', 'exit 4'], failonfail: true, sensitive: true",
        "Puppet::ExecutionFailure: Execution of '[redacted]' returned 4: ",
    ),
    ("['/bin/sh', '-c', 'kill -9 $$'], {}", "\"\" nil"),
    ("'/bin/echo hi', squelch: true", "\"\" 0"),
    ("['/bin/sh', '-c', 'echo $LANG $LC_ALL $HOME'], {}", "\"C C\\n\" 0"),
    (
        "'/bin/echo x', cwd: '/nonesuch'",
        "ArgumentError: Working directory /nonesuch does not exist!",
    ),
    (
        "['/bin/cat'], stdinfile: '/nonesuch'",
        "Errno::ENOENT: No such file or directory @ rb_sysopen - /nonesuch",
    ),
    ("['/bin/sh', '-c', 'echo $FOO'], custom_environment: { 'FOO' => 'bar' }", "\"bar\\n\" 0"),
];

/// The same of `Facter::Core::Execution`, as facter 4.3 gives it.
const OF_FACTER: [(&str, &str); 7] = [
    (
        "'/nonesuch/x a'",
        "Facter::Core::Execution::ExecutionFailure: Could not execute '/nonesuch/x a': command not found",
    ),
    ("'/nonesuch/x a', on_fail: nil", "nil"),
    ("'nonesuchprog | cat', on_fail: 5", "5"),
    ("'/etc/passwd', on_fail: 'z'", "\"z\""),
    ("'echo hi; exit 3'", "\"hi\""),
    ("'/bin/sh -c \"echo a; echo b >&2\"'", "\"a\""),
    ("'/bin/sh -c \"exit 127\"'", "\"\""),
];

#[test]
fn a_command_that_cannot_begin_ends_as_the_original_says() {
    let dir = tempfile::tempdir().unwrap();
    let functions = dir.path().join("modules/m/lib/puppet/functions");
    fs::create_dir_all(&functions).unwrap();
    let guarded = |call: String| {
        format!(
            "given << (begin; {call}; rescue StandardError => e; \"#{{e.class}}: #{{e.message}}\"; end)\n"
        )
    };
    let executed = EXECUTED.iter().map(|(call, _)| {
        guarded(format!(
            "r = Puppet::Util::Execution.execute({call}); \"#{{r.to_s.inspect}} #{{r.exitstatus.inspect}}\""
        ))
    });
    let of_facter = OF_FACTER
        .iter()
        .map(|(call, _)| guarded(format!("Facter::Core::Execution.execute({call}).inspect")));
    let calls: String = executed.chain(of_facter).collect();
    let function = format!(
        "Puppet::Functions.create_function(:ran) do\n  def ran\n    given = []\n{calls}    given\n  end\nend\n"
    );
    fs::write(functions.join("ran.rb"), function).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(["puppet", "apply", "--modulepath"])
        .arg(dir.path().join("modules"))
        .args(["-e", "ran().each |$one| { notice($one) }"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let given: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("Notice: Scope(Class[main]): ")).collect();
    let expected: Vec<&str> = EXECUTED.iter().chain(&OF_FACTER).map(|(_, gives)| *gives).collect();
    assert_eq!(given, expected, "{output:?}");
}
