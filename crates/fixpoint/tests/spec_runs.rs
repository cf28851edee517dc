//! Runs of `fixpoint test` as a whole: in parts, again for what failed, with a profile, with the coverage of a
//! module, over acceptance policies, and again after each edit.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test runs the program from outside"
)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

const BIN: &str = env!("CARGO_BIN_EXE_fixpoint");

fn write(dir: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = dir.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// What a run prints, with its exit code; times are left out.
fn test(dir: &Path, args: &[&str]) -> String {
    test_with(dir, args, &[])
}

/// The same with more in its environment.
fn test_with(dir: &Path, args: &[&str], environment: &[(&str, &str)]) -> String {
    let output = Command::new(BIN)
        .arg("test")
        .args(args)
        .envs(environment.iter().copied())
        .current_dir(dir)
        .env("HOME", dir)
        .env("FIXPOINT_STATE", dir.join("state"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    let timed = |line: &str| line.starts_with("Finished in ");
    let kept: Vec<&str> = text.lines().filter(|line| !timed(line)).collect();
    format!("{}\nexit {}\n", kept.join("\n"), output.status.code().unwrap_or(-1))
}

const ONE: &str = r#"
RSpec.describe "one" do
  puts "loading one"
  before(:all) { puts "before one" }
  it("is good") { print "+" }
  it("is bad") { expect(1).to eq 2 }
  it("waits", :skip) { }
  describe("inside") { it("is deep") { } }
end
RSpec.describe("one more") { it("is there") { } }
"#;

const TWO: &str = r#"
RSpec.describe "two" do
  it("is good") { warn "told" ; expect(2).to eq 2 }
  it("is bad as well") { raise ArgumentError, "two\nlines" }
end
"#;

const THREE: &str = "RSpec.describe(\"three\") { it(\"is good\", focus: true) { } }\n";

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let files = [("a_spec.rb", ONE), ("b_spec.rb", TWO), ("c/d_spec.rb", THREE)];
    for (name, text) in files {
        write(dir.path(), &[(&format!("spec/{name}"), text)]);
    }
    dir
}

#[test]
fn parts_tell_what_one_process_tells() {
    let dir = project();
    let table: &[&[&str]] = &[
        &[],
        &["-f", "d"],
        &["-f", "json"],
        &["-f", "junit"],
        &["--order", "rand:7", "-f", "d"],
        &["--fail-fast", "-f", "d"],
        &["--only", "good", "-f", "d"],
        &["--only", "nothing like this"],
        &["--tag", "focus"],
    ];
    let untimed = |text: String| -> String {
        let number = |text: &str, mark: &str| {
            let mut parts = text.split(mark);
            let mut out = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                out += mark;
                out += part.trim_start_matches(|c: char| c.is_ascii_digit() || ".e-".contains(c));
            }
            out
        };
        ["run_time\":", "duration\":", "time=\""]
            .iter()
            .fold(text, |text, mark| number(&text, mark))
    };
    for args in table {
        let whole = untimed(test(dir.path(), &[&["--jobs", "1"], *args].concat()));
        let parts = untimed(test(dir.path(), &[&["--jobs", "3"], *args].concat()));
        // What is written to standard error has no place among the rest.
        let told = |text: &str| text.replace("told\n", "");
        assert_eq!(told(&whole), told(&parts), "{args:?}");
        assert!(whole.contains("exit "), "{whole}");
    }
}

#[test]
fn a_file_that_cannot_be_loaded_keeps_all_parts_from_running() {
    let dir = project();
    write(dir.path(), &[("spec/e_spec.rb", "RSpec.describe { nothing_like_this }\n")]);
    let told = test(dir.path(), &["--jobs", "4"]);
    assert_eq!(
        told.replace("loading one\n", ""),
        test(dir.path(), &["--jobs", "1"]).replace("loading one\n", "")
    );
    assert!(
        told.contains("0 examples, 0 failures, 1 error occurred outside of examples"),
        "{told}"
    );
    assert!(told.ends_with("exit 1\n"), "{told}");
}

#[test]
fn a_filter_that_leaves_nothing_counts_for_nothing_where_the_project_says_so() {
    let dir = project();
    let helper =
        "RSpec.configure { |c| c.filter_run(:focus); c.run_all_when_everything_filtered = true }\n";
    write(dir.path(), &[("spec/spec_helper.rb", helper), (".rspec", "--require spec_helper\n")]);
    for jobs in ["1", "3"] {
        assert!(test(dir.path(), &["--jobs", jobs]).contains("1 example, 0 failures"));
        let told = test(dir.path(), &["--jobs", jobs, "spec/a_spec.rb", "spec/b_spec.rb"]);
        assert!(told.contains("7 examples, 2 failures, 1 pending"), "{told}");
    }
}

#[test]
fn only_what_failed_is_run_again_by_the_table_of_rspec() {
    let dir = project();
    let helper =
        "RSpec.configure { |c| c.example_status_persistence_file_path = 'tmp/statuses.txt' }\n";
    write(dir.path(), &[("spec/spec_helper.rb", helper), (".rspec", "--require spec_helper\n")]);
    for jobs in ["1", "3"] {
        assert!(test(dir.path(), &["--jobs", jobs]).contains("8 examples, 2 failures, 1 pending"));
        let table = std::fs::read_to_string(dir.path().join("tmp/statuses.txt")).unwrap();
        let columns: Vec<Vec<&str>> =
            table.lines().map(|line| line.split(" | ").map(str::trim).collect()).collect();
        assert_eq!(columns[0][..2], ["example_id", "status"]);
        assert!(columns[0][2].starts_with("run_time ") && columns[0][2].ends_with(" |"), "{table}");
        assert_eq!(columns[2][..2], ["./spec/a_spec.rb[1:1]", "passed"], "{table}");
        assert_eq!(columns[3][..2], ["./spec/a_spec.rb[1:2]", "failed"], "{table}");
        assert_eq!(columns[4][..2], ["./spec/a_spec.rb[1:3]", "pending"], "{table}");
        assert_eq!(columns.len(), 10, "{table}");
        let again = test(dir.path(), &["--jobs", jobs, "--only-failures"]);
        assert!(again.contains("2 examples, 2 failures\n"), "{again}");
        let next = test(dir.path(), &["--jobs", jobs, "--next-failure"]);
        assert!(next.contains("1 example, 1 failure\n"), "{next}");
    }
    // What is mended is no failure any more; what was not run keeps its status.
    write(dir.path(), &[("spec/b_spec.rb", "RSpec.describe('two') { it('is good') { } }\n")]);
    assert!(test(dir.path(), &["spec/b_spec.rb"]).contains("1 example, 0 failures"));
    assert!(test(dir.path(), &["--only-failures"]).contains("1 example, 1 failure"));
}

#[test]
fn without_a_table_there_are_no_failures_to_run_again() {
    let dir = project();
    let told = test(dir.path(), &["--jobs", "1", "--only-failures"]);
    assert!(
        told.contains("you must first set `config.example_status_persistence_file_path`"),
        "{told}"
    );
    assert!(told.ends_with("exit 1\n"), "{told}");
}

#[test]
fn a_profile_names_the_slowest_examples_and_groups() {
    let dir = project();
    for jobs in ["1", "3"] {
        let told = test(dir.path(), &["--jobs", jobs, "--profile=2", "--only", "good"]);
        assert!(told.contains("Top 2 slowest examples ("), "{told}");
        assert!(told.contains("% of total time):\n  "), "{told}");
        assert!(told.contains("Top 2 slowest example groups:\n  "), "{told}");
        assert!(told.contains(" seconds / 1 example) ./spec/"), "{told}");
    }
}

/// The text is what rspec-puppet 2.9 prints of the same module.
#[test]
fn coverage_of_a_module_is_reported_in_the_words_of_the_original() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        &[
            ("metadata.json", r#"{ "name": "x-shelf", "version": "1.0.0", "dependencies": [] }"#),
            (
                "manifests/init.pp",
                "class shelf { file { ['/a', '/b']: ensure => file } include shelf::more shelf::item { 'x': } }",
            ),
            ("manifests/more.pp", "class shelf::more { notify { 'more': } }"),
            ("manifests/item.pp", "define shelf::item { notify { \"item ${title}\": } }"),
            (
                "spec/classes/shelf_spec.rb",
                "require 'spec_helper'\ndescribe('shelf') { it { is_expected.to contain_file('/a') } }\n",
            ),
            (
                "spec/classes/more_spec.rb",
                "require 'spec_helper'\ndescribe('shelf::more') { it { is_expected.to contain_notify('more') } }\n",
            ),
            (
                "spec/spec_helper.rb",
                "require 'rspec-puppet'\nRSpec.configure { |c| c.after(:suite) { RSpec::Puppet::Coverage.report! } }\n",
            ),
        ],
    );
    let report = "\n\nCoverage Report:\n\nTotal resources:   5\nTouched resources: 2\nResource coverage: 40.00%\n\n\
                  Untouched resources:\n  File[/b]\n  Notify[item x]\n  Shelf::Item[x]\n";
    for jobs in ["1", "2"] {
        let told = test(dir.path(), &["--jobs", jobs]);
        assert!(told.contains(report), "{told}");
        assert!(
            told.contains("3 examples, 0 failures"),
            "the report is an example of its own: {told}"
        );
    }
}

/// As rspec-puppet-facts 2.0.3 chooses from facterdb 1.12.1, with the sets cut to what is chosen by.
#[test]
fn facts_of_an_older_version_serve_where_there_are_none_of_the_wanted_one() {
    let dir = tempfile::tempdir().unwrap();
    let set = |system: &str, release: &str, major: &str, model: &str, version: &str| {
        format!(
            r#"{{ "operatingsystem": "{system}", "operatingsystemrelease": "{release}", "operatingsystemmajrelease": "{major}",
                "hardwaremodel": "{model}", "facterversion": "{version}" }}"#
        )
    };
    let metadata = r#"{ "name": "x-shelf", "version": "1.0.0", "operatingsystem_support": [
        { "operatingsystem": "Debian", "operatingsystemrelease": ["11", "12"] },
        { "operatingsystem": "SLES", "operatingsystemrelease": ["15"] },
        { "operatingsystem": "Windows", "operatingsystemrelease": ["2012 R2", "Server 2016"] },
        { "operatingsystem": "AIX", "operatingsystemrelease": ["7.1"] },
        { "operatingsystem": "Solaris", "operatingsystemrelease": ["11"] } ] }"#;
    let spec = "require 'rspec-puppet-facts'\ndescribe 'systems' do\n  on_supported_os.each do |os, facts|\n    \
                it(\"#{os} #{facts[:facterversion]}\") { }\n  end\n  \
                on_supported_os(facterversion: '3.6').each_key { |os| it(\"3.6 #{os}\") { } }\nend\n";
    write(
        dir.path(),
        &[
            ("metadata.json", metadata),
            ("spec/unit/os_spec.rb", spec),
            ("db/3.9/aix-7100-ibm.facts", &set("AIX", "7100-04-02", "7100", "IBM,8284", "3.9.4")),
            ("db/3.6/debian-11.facts", &set("Debian", "11.0", "11", "x86_64", "3.6.2")),
            ("db/3.11/sles-15.facts", &set("SLES", "15.1", "15", "x86_64", "3.11.0")),
            ("db/3.14/sles-15.facts", &set("SLES", "15.1", "15", "x86_64", "3.14.1")),
            ("db/3.14/windows.facts", &set("windows", "2012 R2", "2012 R2", "x86_64", "3.14.1")),
            ("db/4.2/debian-11.facts", &set("Debian", "11.0", "11", "x86_64", "4.2.2")),
            ("db/4.2/debian-11-i386.facts", &set("Debian", "11.0", "11", "i386", "4.2.2")),
            ("db/4.4/sles-15.facts", &set("SLES", "15.5", "15", "x86_64", "4.4.0")),
            ("db/broken.facts", "{"),
        ],
    );
    let environment = [("FACTERDB_SKIP_DEFAULTDB", "1"), ("FACTERDB_SEARCH_PATHS", "db")];
    let told = test_with(dir.path(), &["-f", "d"], &environment);
    let older = |system: &str, release: &str, model: &str, version: &str| {
        format!(
            "No facts were found in the FacterDB for Facter v4.2.14 on {{:operatingsystem=>\"{system}\", :operatingsystemrelease=>\"/^{release}/\", :hardwaremodel=>\"{model}\"}}, using v{version} instead\n"
        )
    };
    for line in [
        "systems\n  sles-15-x86_64 3.14.1\n  windows-2012 R2-x86_64 3.14.1\n  aix-7100-IBM,8284 3.9.4\n  debian-11-x86_64 4.2.2\n  3.6 debian-11-x86_64\n",
        "5 examples, 0 failures",
        &older("SLES", "15", "x86_64", "3.14.1"),
        &older("AIX", "7100-", "/^IBM,.*/", "3.9.4"),
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    let strict = [&environment[..], &[("SPEC_FACTS_STRICT", "yes")]].concat();
    let told = test_with(dir.path(), &["-f", "d"], &strict);
    assert!(told.contains(":operatingsystemrelease=>\"/^12/\""), "{told}");
    assert!(told.contains("aborting") && told.contains("exit 1"), "{told}");
}

#[test]
fn systems_ship_where_no_facts_are_installed() {
    let dir = tempfile::tempdir().unwrap();
    let metadata = r#"{ "name": "x-shelf", "version": "1.0.0", "operatingsystem_support": [
        { "operatingsystem": "Debian", "operatingsystemrelease": ["12"] },
        { "operatingsystem": "Ubuntu", "operatingsystemrelease": ["24.04"] },
        { "operatingsystem": "RedHat", "operatingsystemrelease": ["9"] } ] }"#;
    let spec = "require 'rspec-puppet-facts'\ndescribe 'systems' do\n  on_supported_os.each do |os, facts|\n    \
                it(\"#{os} #{facts[:os]['family']} #{facts[:osfamily]} #{facts[:os]['release']['major']}\") { }\n  end\nend\n";
    write(dir.path(), &[("metadata.json", metadata), ("spec/unit/os_spec.rb", spec)]);
    let told = test(dir.path(), &["-f", "d"]);
    if !told.contains("3 examples, 0 failures") {
        // A machine with facterdb has its own sets.
        assert!(!told.contains("0 examples"), "{told}");
        return;
    }
    for line in [
        "  debian-12-x86_64 Debian Debian 12",
        "  ubuntu-24.04-x86_64 Debian Debian 24.04",
        "  redhat-9-x86_64 RedHat RedHat 9",
    ] {
        assert!(told.contains(line), "{told}");
    }
}

const POLICY: &str = r#"
body common control { bundlesequence => { "test", "check" }; }
bundle agent test { files: "/etc/fixpoint-was-here" create => "true"; }
bundle agent check {
  classes: "ok" expression => fileexists("/etc/fixpoint-was-here");
  reports:
    ok:: "$(this.promise_filename) Pass";
    !ok:: "$(this.promise_filename) FAIL";
}
"#;

#[test]
fn policies_that_test_themselves_run_in_copies() {
    let meta = std::fs::metadata("/proc/self").unwrap();
    if std::os::unix::fs::MetadataExt::uid(&meta) != 0 {
        eprintln!("SKIPPED: a copy of the machine needs root");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let fails = POLICY.replace("create => \"true\"", "delete => rm").replace(
        "bundle agent check",
        "body delete rm { dirlinks => \"delete\"; rmdirs => \"true\"; }\nbundle agent check",
    );
    let skips = POLICY.replace(" Pass\"", " Skip/unsupported\"");
    write(
        dir.path(),
        &[
            ("policies/good.cf", POLICY),
            ("policies/bad.cf", &fails),
            ("policies/skips.cf", &skips),
            ("policies/broken.x.cf", "bundle agent {\n"),
            ("policies/helper.cf.sub", "this is no test\n"),
        ],
    );
    let told = test(dir.path(), &["-f", "d", "policies"]);
    assert!(told.contains("4 examples, 1 failure, 1 pending"), "{told}");
    assert!(told.contains("./policies/bad.cf\n  passes (FAILED - 1)"), "{told}");
    assert!(told.contains("passes (PENDING: No platform support)"), "{told}");
    assert!(
        told.contains("R: ") && told.contains("bad.cf FAIL"),
        "the end of its output is shown: {told}"
    );
    assert!(!Path::new("/etc/fixpoint-was-here").exists(), "the copy took it along");
}

#[test]
fn an_edit_runs_again_what_it_touches_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let spec = |name: &str, library: &str| {
        format!(
            "require_relative '../lib/{library}'\nRSpec.describe('{name}') {{ it('sees ' + WORDS.last) {{ }} }}\n"
        )
    };
    write(
        dir.path(),
        &[
            ("spec/a_spec.rb", &spec("a", "one")),
            ("spec/b_spec.rb", &spec("b", "two")),
            ("lib/one.rb", "(WORDS ||= []) << 'first'\n"),
            ("lib/two.rb", "(WORDS ||= []) << 'second'\n"),
        ],
    );
    let mut child = Command::new(BIN)
        .args(["test", "--watch", "-f", "d"])
        .current_dir(dir.path())
        .env("HOME", dir.path())
        .env("FIXPOINT_STATE", dir.path().join("state"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    // A run has told all once its last line is there.
    let mut run = || {
        lines.by_ref().take_while(|line| !line.contains("failure")).collect::<Vec<_>>().join("\n")
    };
    let first = run();
    // Edits may come while the last run still ends: each is another size, which is seen whenever it is looked at.
    write(dir.path(), &[("lib/two.rb", "(WORDS ||= []) << 'second, edited'\n")]);
    let second = run();
    write(dir.path(), &[("spec/c_spec.rb", &spec("c", "one"))]);
    let third = run();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(first.contains("sees first") && first.contains("sees second"), "{first}");
    assert!(second.contains("sees second, edited") && !second.contains("sees first"), "{second}");
    assert!(
        third.contains("\nc\n") && !third.contains("\na\n") && !third.contains("\nb\n"),
        "{third}"
    );
}

/// The text is what ChefSpec 9.4 prints of the same recipe.
#[test]
fn coverage_of_a_cookbook_is_reported_in_the_words_of_the_original() {
    let dir = tempfile::tempdir().unwrap();
    let spec = "require 'chefspec'\nChefSpec::Coverage.start!\ndescribe 'x::default' do\n  platform 'debian', '12'\n  \
                recipe do\n    file '/a'\n    file '/b'\n    package('c') { action :nothing }\n  end\n  \
                it { is_expected.to create_file('/a') }\nend\n";
    let cookbook = dir.path().join("cookbooks/x");
    write(&cookbook, &[("metadata.rb", "name 'x'\n"), ("spec/x_spec.rb", spec)]);
    let told = test(&cookbook, &[]);
    let report = "1 example, 0 failures\n\n\nChefSpec Coverage report generated...\n\n  Total Resources:   3\n  \
                  Touched Resources: 1\n  Touch Coverage:    33.33%\n\nUntouched Resources:\n\n  \
                  file[/b]                           /spec/x_spec.rb:7\n  \
                  apt_package[c]                     /spec/x_spec.rb:8\n";
    assert!(told.contains(report), "{told}");
}
