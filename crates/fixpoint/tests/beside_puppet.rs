//! Lines of `puppet apply` and `puppet lookup` that users met on their second day, recorded from puppet 7.23: commands that
//! are lists, rehearsals of providers in Ruby, facts that fail, paths that are relative, values that knock out others.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test runs the program from outside"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn put(dir: &Path, name: &str, text: &str) {
    let file = dir.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// The lines that `puppet` prints in a directory, without those that name times, `DIR` for the directory.
fn puppet(dir: &Path, args: &[&str], variables: &[(&str, &str)]) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .arg("puppet")
        .args(args)
        .args(["--confdir", "conf", "--vardir", "var"])
        .current_dir(dir)
        .envs(variables.iter().copied())
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = [output.stderr, output.stdout].concat();
    let text = String::from_utf8_lossy(&text).replace(&dir.display().to_string(), "DIR");
    let timed = |line: &&str| line.ends_with(" seconds");
    text.lines().filter(|line| !timed(line)).map(str::to_owned).collect()
}

const LISTS: &str = r#"exec { 'one': command => ['/bin/false', 'a b', "c'd"] }
exec { 'two': command => ['/bin/echo', 'x y'], logoutput => true }
exec { 'three': command => ['/nonesuch', 'x'] }
exec { 'four': command => '/bin/true', unless => [['/bin/false', 'a b']], onlyif => [['/bin/true']] }
exec { 'five': command => ['/bin/echo', 'n'], refreshonly => true, subscribe => Exec['two'] }
"#;

#[test]
fn commands_that_are_lists_are_shown_as_lists() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "a.pp", LISTS);
    assert_eq!(
        puppet(dir.path(), &["apply", "a.pp"], &[]),
        [
            r#"Error: '["/bin/false", "a b", "c'd"]' returned 1 instead of one of [0]"#,
            r#"Error: /Stage[main]/Main/Exec[one]/returns: change from 'notrun' to ['0'] failed: '["/bin/false", "a b", "c'd"]' returned 1 instead of one of [0]"#,
            "Error: Could not find command '/nonesuch'",
            "Error: /Stage[main]/Main/Exec[three]/returns: change from 'notrun' to ['0'] failed: Could not find command '/nonesuch'",
            "Notice: /Stage[main]/Main/Exec[two]/returns: x y",
            "Notice: /Stage[main]/Main/Exec[two]/returns: executed successfully",
            "Notice: /Stage[main]/Main/Exec[four]/returns: executed successfully",
            "Notice: /Stage[main]/Main/Exec[five]: Triggered 'refresh' from 1 event",
        ]
    );
    let rehearsed = puppet(dir.path(), &["apply", "--noop", "a.pp"], &[]);
    let line = "Notice: /Stage[main]/Main/Exec[one]/returns: current_value 'notrun', should be ['0'] (noop)";
    assert_eq!(rehearsed[0], line);
    let line = "Notice: /Stage[main]/Main/Exec[five]: Would have triggered 'refresh' from 1 event";
    assert_eq!(rehearsed[4], line);
}

const LINE_TYPE: &str = "Puppet::Type.newtype(:one_line) do\n  ensurable { defaultvalues; defaultto :present }\n  newparam(:name, namevar: true)\n  newparam(:path)\n  newparam(:line)\nend\n";

/// A provider that reads the file it is about, and heeds a rehearsal as `file_line` does.
const LINE_PROVIDER: &str = "Puppet::Type.type(:one_line).provide(:ruby) do
  def exists?
    File.readlines(resource[:path]).map(&:chomp).include?(resource[:line])
  rescue Errno::ENOENT
    raise unless resource.noop?
  end
  def create = File.open(resource[:path], 'a') { |f| f.puts(resource[:line]) }
end
";

#[test]
fn a_rehearsal_tells_of_a_file_that_is_not_there_yet_what_a_run_would_do() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "mods/m/lib/puppet/type/one_line.rb", LINE_TYPE);
    put(dir.path(), "mods/m/lib/puppet/provider/one_line/ruby.rb", LINE_PROVIDER);
    let file = dir.path().join("made").display().to_string();
    let text = format!(
        "file {{ '{file}': content => \"a\\n\" }}\n-> one_line {{ 'x': path => '{file}', line => 'b' }}\n"
    );
    put(dir.path(), "a.pp", &text);
    assert_eq!(
        puppet(dir.path(), &["apply", "--noop", "--modulepath", "mods", "a.pp"], &[]),
        [
            "Notice: /Stage[main]/Main/File[DIR/made]/ensure: current_value 'absent', should be 'file' (noop)",
            "Notice: /Stage[main]/Main/One_line[x]/ensure: current_value 'absent', should be 'present' (noop)",
            "Notice: Class[Main]: Would have triggered 'refresh' from 2 events",
            "Notice: Stage[main]: Would have triggered 'refresh' from 1 event",
        ]
    );
    puppet(dir.path(), &["apply", "--modulepath", "mods", "a.pp"], &[]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "a\nb\n");
}

#[test]
fn a_kind_of_file_that_is_misspelt_is_a_link_beside_its_content() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "a.pp", "file { '/nonesuch/x': ensure => fille, content => 'x' }\n");
    assert_eq!(
        puppet(dir.path(), &["apply", "a.pp"], &[]),
        [
            "Error: Validation of File[/nonesuch/x] failed: You cannot specify more than one of content, source, target (file: DIR/a.pp, line: 1)"
        ]
    );
}

#[test]
fn a_fact_that_fails_is_an_error_of_facter_and_the_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "mods/m/lib/facter/a.rb", "Facter.add(:bad) { setcode { raise 'oh no' } }\n");
    put(dir.path(), "mods/m/lib/facter/b.rb", "raise 'load'\n");
    let code = "notice($facts['bad'])";
    assert_eq!(
        puppet(dir.path(), &["apply", "--modulepath", "mods", "-e", code], &[]),
        [
            "Error: Facter: error while resolving custom facts in DIR/mods/m/lib/facter/b.rb load",
            "Error: Facter: Error while resolving custom fact fact='bad', resolution='<anonymous>': oh no",
            "Notice: Scope(Class[main]): ",
        ]
    );
}

const SET_BY_CLI: &str = "Puppet::Functions.create_function(:cli) do
  def cli = [:modulepath, :noop, 'vardir'].map { |name| Puppet.settings.set_by_cli?(name) }
end
";

#[test]
fn relative_paths_of_modules_serve_trees_and_ruby() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out").display().to_string();
    let text = format!(
        "file {{ '{out}': ensure => directory, recurse => true, source => 'puppet:///modules/y/tree' }}\nnotice(cli())\n"
    );
    put(dir.path(), "a.pp", &text);
    for place in ["rel", "envs/production/modules"] {
        put(dir.path(), &format!("{place}/y/files/tree/a"), "1\n");
        put(dir.path(), &format!("{place}/y/lib/puppet/functions/cli.rb"), SET_BY_CLI);
    }
    for (flags, by_flag) in
        [(["--modulepath", "rel"], true), (["--environmentpath", "envs"], false)]
    {
        let _not_there = fs::remove_dir_all(&out);
        let lines = puppet(dir.path(), &["apply", flags[0], flags[1], "a.pp"], &[]);
        assert_eq!(
            lines,
            [
                format!("Notice: Scope(Class[main]): [{by_flag}, false, true]"),
                "Notice: /Stage[main]/Main/File[DIR/out]/ensure: created".to_owned(),
                "Notice: /Stage[main]/Main/File[DIR/out/a]/ensure: defined content as '{sha256}4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865'".to_owned(),
            ]
        );
    }
}

#[test]
fn variables_of_the_environment_are_facts() {
    let dir = tempfile::tempdir().unwrap();
    let lines = puppet(
        dir.path(),
        &["apply", "-e", "notice($facts['foo'], $foo)"],
        &[("FACTER_foo", "bar")],
    );
    assert_eq!(lines, ["Notice: Scope(Class[main]): bar bar"]);
}

#[test]
fn values_knock_out_others_level_by_level() {
    let dir = tempfile::tempdir().unwrap();
    let hierarchy = "version: 5\nhierarchy:\n  - {name: all, paths: [a.yaml, b.yaml, c.yaml]}\n";
    put(dir.path(), "hie/hiera.yaml", hierarchy);
    let options = "lookup_options: {k: {merge: {strategy: deep, knockout_prefix: '--'}}}\n";
    put(dir.path(), "hie/data/a.yaml", &format!("k: [b, '--a']\n{options}"));
    put(dir.path(), "hie/data/b.yaml", "k: [b, '--a']\n");
    put(dir.path(), "hie/data/c.yaml", "k: [a]\n");
    let lines = puppet(dir.path(), &["lookup", "--hiera_config", "hie/hiera.yaml", "k"], &[]);
    assert_eq!(lines, ["---", "- a", "- b"]);
}

#[test]
fn data_without_a_configuration_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let module = "envs/production/modules/m";
    put(dir.path(), "envs/production/data/common.yaml", "k: environment\n");
    put(dir.path(), &format!("{module}/data/common.yaml"), "m::x: module\n");
    put(dir.path(), &format!("{module}/manifests/init.pp"), "class m($x = 1) { notice($x) }\n");
    let apply = ["apply", "--environmentpath", "envs", "-e", "include m"];
    assert_eq!(puppet(dir.path(), &apply, &[]), ["Notice: Scope(Class[M]): 1"]);
    let lookup = ["lookup", "--environmentpath", "envs", "--explain", "m::x"];
    assert_eq!(
        puppet(dir.path(), &lookup, &[]),
        [
            "Searching for \"lookup_options\"",
            "  Global Data Provider (hiera configuration version 5)",
            "    No such key: \"lookup_options\"",
            "  Module data provider for module \"m\" not found",
            "Searching for \"m::x\"",
            "  Global Data Provider (hiera configuration version 5)",
            "    No such key: \"m::x\"",
            "  Module data provider for module \"m\" not found",
            "Function lookup() did not find a value for the name 'm::x'",
        ]
    );
    put(dir.path(), "envs/production/hiera.yaml", "version: 5\n");
    let lookup = ["lookup", "--environmentpath", "envs", "--explain", "k"];
    let lines = puppet(dir.path(), &lookup, &[]);
    assert!(lines.iter().any(|line| line == "    Hierarchy entry \"Common\""), "{lines:?}");
    assert!(lines.iter().any(|line| line.ends_with("value: \"environment\"")), "{lines:?}");
}

#[test]
fn a_provider_that_cannot_set_a_property_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let without = LINE_TYPE.replace("defaultvalues; ", "");
    put(dir.path(), "mods/m/lib/puppet/type/one_line.rb", &without);
    let provider = "Puppet::Type.type(:one_line).provide(:ruby) do\n  def exists? = false\nend\n";
    put(dir.path(), "mods/m/lib/puppet/provider/one_line/ruby.rb", provider);
    assert_eq!(
        puppet(dir.path(), &["apply", "--modulepath", "mods", "-e", "one_line { 'x': }"], &[]),
        [
            "Error: The ruby provider can not handle attribute ensure",
            "Error: /Stage[main]/Main/One_line[x]/ensure: change from 'absent' to 'present' failed: The ruby provider can not handle attribute ensure",
        ]
    );
}

const PRINTING_FUNCTION: &str = "Puppet::Functions.create_function(:printing) do
  def printing
    warn 'a warning'
    warn 'with its place', uplevel: 0
    $stderr.print 'in ', \"pieces\\n\"
    puts 'to standard output', \"of two\\nlines\"
    ERB.new('old', 0, '-').result
  end
end
";

const PRINTING_PROVIDER: &str = "Puppet::Type.type(:printing).provide(:ruby) do
  def exists?
    $stdout.puts \"red \\e[31m\"
    Kernel.warn('of a provider', uplevel: 0)
    true
  end
end
";

#[test]
fn what_code_of_modules_prints_itself_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), "mods/m/lib/puppet/functions/printing.rb", PRINTING_FUNCTION);
    put(dir.path(), "mods/m/lib/puppet/provider/printing/ruby.rb", PRINTING_PROVIDER);
    let kind =
        "Puppet::Type.newtype(:printing) do\n  ensurable\n  newparam(:name, namevar: true)\nend\n";
    put(dir.path(), "mods/m/lib/puppet/type/printing.rb", kind);
    let fact = "Facter.add(:printing) { setcode { warn 'of a fact'; 'x' } }\n";
    put(dir.path(), "mods/m/lib/facter/printing.rb", fact);
    let code = "notice($facts['printing'], printing()) printing { 'a': ensure => present }";
    assert_eq!(
        puppet(dir.path(), &["apply", "--modulepath", "mods", "-e", code], &[]),
        [
            "of a fact",
            "a warning",
            "DIR/mods/m/lib/puppet/functions/printing.rb:4: warning: with its place",
            "in pieces",
            "DIR/mods/m/lib/puppet/functions/printing.rb:7: warning: Passing safe_level with the 2nd argument of ERB.new is deprecated. Do not use it, and specify other arguments as keyword arguments.",
            "DIR/mods/m/lib/puppet/functions/printing.rb:7: warning: Passing trim_mode with the 3rd argument of ERB.new is deprecated. Use keyword argument like ERB.new(str, trim_mode: ...) instead.",
            "DIR/mods/m/lib/puppet/provider/printing/ruby.rb:4: warning: of a provider",
            "to standard output",
            "of two",
            "lines",
            "Notice: Scope(Class[main]): x old",
            // A terminal is not driven by what a module prints.
            "red \\x1b[31m",
        ]
    );
}
