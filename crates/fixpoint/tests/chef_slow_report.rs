//! What `--slow-report` prints, recorded from Chef Infra Client 18.11.21.

#![expect(clippy::disallowed_methods, reason = "tests lay out and run their own files")]

use std::path::Path;
use std::process::Command;

/// Standard output of a run of the recipe from its line `Top` or `No resources` on, with `SECONDS` for the
/// time of each action.
fn report(recipe: &str, columns: &str, flags: &[&str]) -> String {
    let dir = tempfile::tempdir().expect("a scratch directory can be made");
    let at = dir.path();
    let put = |name: &str, text: &str| {
        let file = at.join(name);
        std::fs::create_dir_all(file.parent().expect("it has one"))
            .expect("directories can be made");
        std::fs::write(file, text).expect("files can be written");
    };
    put("cookbooks/t/metadata.rb", "name 't'\n");
    put("cookbooks/t/recipes/default.rb", recipe);
    let settings = |at: &Path| {
        let at = at.display();
        format!("cookbook_path '{at}/cookbooks'\ncache_path '{at}/cache'\nnode_path '{at}/nodes'\n")
    };
    put("client.rb", &settings(at));
    put("facts.json", r#"{"platform": "debian", "platform_version": "12.0", "os": "linux"}"#);
    let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
        .args(["chef-client", "-z", "-c", "client.rb", "-o", "t", "--fx-facts", "facts.json"])
        .args(["-l", "fatal", "-F", "min"])
        .args(flags)
        .env("COLUMNS", columns)
        .current_dir(at)
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let start = text.find("\nTop ").or_else(|| text.find("\nNo resources ")).map(|start| start + 1);
    let Some(start) = start else { return String::new() };
    let end = text.find("Infra phase complete").expect("a run ends so");
    text[start..end].lines().map(|line| masked(line) + "\n").collect()
}

/// A time has as many digits as it needs; the room it takes is left out too.
fn masked(line: &str) -> String {
    let time = |word: &str| {
        let plain = word.bytes().all(|byte| byte.is_ascii_digit() || b".e-".contains(&byte));
        plain && word.contains('.') && word.starts_with(|first: char| first.is_ascii_digit())
    };
    let words = line.split_whitespace();
    words.map(|word| if time(word) { "SECONDS" } else { word }).collect::<Vec<_>>().join(" ")
}

const RECIPE: &str = "log 'quick'\nruby_block 'long' do\n  block { sleep 0.3 }\nend\nlog 'last'\n";

#[test]
fn the_slowest_actions_are_a_table_where_the_terminal_is_wide_enough() {
    let expected = "Top 1 slowest resource:\n\
        \n\
        resource elapsed_time action cookbook recipe source\n\
        ---------------- ------------ ------ -------- ------- -------------------------------------\n\
        ruby_block[long] SECONDS run t default t/recipes/default.rb:2:in `from_file'\n\
        \n";
    assert_eq!(report(RECIPE, "200", &["--slow-report", "1"]), expected);
}

#[test]
fn where_it_is_not_they_are_pairs_one_below_the_other() {
    let expected = "Top 1 slowest resource:\n\
        \n\
        resource ruby_block[long]\n\
        elapsed_time SECONDS\n\
        action run\n\
        cookbook t\n\
        recipe default\n\
        source t/recipes/default.rb:2:in `from_file'\n\
        \n";
    assert_eq!(report(RECIPE, "80", &["--slow-report", "1"]), expected);
}

#[test]
fn ten_are_listed_where_no_number_is_given_and_none_without_the_flag() {
    let many = "12.times { |i| log \"a #{i}\" }\n";
    assert!(report(many, "200", &["--slow-report"]).starts_with("Top 10 slowest resources:\n"));
    assert!(
        report(many, "200", &["--slow-report", "20"]).starts_with("Top 12 slowest resources:\n")
    );
    assert_eq!(report("", "200", &["--slow-report"]), "No resources to profile\n\n");
    assert_eq!(report(many, "200", &[]), "");
    assert_eq!(report(many, "200", &["--no-slow-report"]), "");
}
