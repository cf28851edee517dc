//! Runs whose cost must grow with what they manage and not with its square: four times as
//! many files may cost at most six times as much processor time.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test runs the program from outside"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// What other tests of this program run at the same time must not be measured.
static ALONE: Mutex<()> = Mutex::new(());

/// The most that four times the size may cost.
const MOST: f64 = 6.0;

/// Processor time of all children so far, in ticks of the clock.
fn spent() -> u64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap();
    // The name in brackets may hold anything; what follows it begins with the third field.
    let fields: Vec<&str> = text.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[13].parse::<u64>().unwrap() + fields[14].parse::<u64>().unwrap()
}

/// Runs the program in a directory and returns the ticks it took.
fn cost(dir: &Path, args: &[&str]) -> u64 {
    let before = spent();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixpoint"));
    command.args(args).current_dir(dir).env("FIXPOINT_STATE", dir.join("state"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    let shown = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{args:?}: {:?}\n{}", output.status, &shown);
    spent() - before
}

/// Measures a small and a four times larger case. A machine that is busy with other things
/// gets three chances.
fn grows_with_size(what: &str, small: usize, run: impl Fn(usize) -> u64) {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut told = String::new();
    for _ in 0..3 {
        let (one, four) = (run(small), run(4 * small));
        writeln!(told, "{small}: {one} ticks, {}: {four} ticks", 4 * small).unwrap();
        if four as f64 <= one.max(1) as f64 * MOST {
            eprintln!("{what}: {told}");
            return;
        }
    }
    panic!("{what} grows faster than what it manages:\n{told}");
}

/// Files in directories of a hundred.
fn fill(top: &Path, count: usize) {
    for number in 0..count {
        let dir = top.join(format!("d{}", number / 100));
        if number % 100 == 0 {
            fs::create_dir_all(&dir).unwrap();
        }
        fs::write(dir.join(format!("f{number}")), format!("content {number}\n")).unwrap();
    }
}

fn apply(dir: &Path, manifest: &str) -> u64 {
    let manifest = manifest.replace("DIR", dir.to_str().unwrap());
    fs::write(dir.join("m.pp"), manifest).unwrap();
    let args = ["--confdir", "conf", "--vardir", "var", "--lastrunreport", "report.yaml", "m.pp"];
    cost(dir, &[["puppet", "apply"].as_slice(), &args].concat())
}

/// How often a report has a line.
fn lines(dir: &Path, wanted: &str) -> usize {
    let report = fs::read_to_string(dir.join("report.yaml")).unwrap();
    report.lines().filter(|line| *line == wanted).count()
}

#[test]
fn a_directory_with_a_source_costs_what_it_holds() {
    grows_with_size("a directory with a source", 1500, |count| {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        fill(&dir.join("src"), count);
        fill(&dir.join("dst"), count);
        let ticks = apply(
            dir,
            "file { 'DIR/dst': ensure => directory, recurse => true, purge => true, force => true,\n\
             source => 'DIR/src' }\n",
        );
        assert_eq!(lines(dir, "    resource_type: File"), 1 + count + count.div_ceil(100));
        assert_eq!(lines(dir, "    changed: true"), 0);
        ticks
    });
}

#[test]
fn files_of_a_directory_that_others_manage_cost_no_more_for_being_many() {
    grows_with_size("a directory full of files managed one by one", 700, |count| {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        fill(&dir.join("src"), count);
        fill(&dir.join("dst"), count);
        let mut manifest = "file { 'DIR/dst': ensure => directory, recurse => true, \
                            purge => true, force => true, source => 'DIR/src' }\n"
            .to_owned();
        for number in 0..count {
            writeln!(
                manifest,
                "file {{ 'DIR/dst/d{}/own{number}': content => 'x' }}",
                number / 100
            )
            .unwrap();
            fs::write(dir.join(format!("dst/d{}/own{number}", number / 100)), "x").unwrap();
        }
        let ticks = apply(dir, &manifest);
        assert_eq!(lines(dir, "    resource_type: File"), 1 + 2 * count + count.div_ceil(100));
        assert_eq!(lines(dir, "    changed: true"), 0);
        ticks
    });
}

#[test]
fn a_recipe_costs_what_it_declares_and_looks_at() {
    grows_with_size("a recipe", 3000, |count| {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        fs::create_dir_all(dir.join("cookbooks/t/recipes")).unwrap();
        fs::create_dir(dir.join("x")).unwrap();
        let here = dir.display();
        // Each file is looked at before it is declared: nothing is seen too early.
        let recipe = format!(
            "{count}.times do |i|\n\
             File.exist?(\"{here}/x/#{{i}}\")\n\
             file(\"{here}/x/#{{i}}\") {{ content 'c' }}\n\
             end\n"
        );
        fs::write(dir.join("cookbooks/t/recipes/default.rb"), recipe).unwrap();
        fs::write(dir.join("cookbooks/t/metadata.rb"), "name 't'\nversion '1.0.0'\n").unwrap();
        let config = format!("chef_repo_path '{here}'\ncookbook_path '{here}/cookbooks'\n");
        fs::write(dir.join("c.rb"), config).unwrap();
        for number in 0..count {
            fs::write(dir.join(format!("x/{number}")), "c").unwrap();
        }
        cost(dir, &["chef-client", "-z", "-c", "c.rb", "-o", "t", "--no-color", "--no-fork"])
    });
}
