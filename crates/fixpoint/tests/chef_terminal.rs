//! Control characters of names and values do not reach the terminal, and forge no lines.

#![expect(clippy::disallowed_methods, reason = "a test runs the program")]

use std::process::Command;

#[test]
fn names_and_messages_of_a_recipe_carry_no_terminal_control() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let at = dir.path().display();
    let recipe = format!(
        r#"
file("{at}/a\e[2Jx") {{ content "a\e[31mb\n" }}
file("{at}/b\nError: forged") {{ content "x" }}
log("l\e]0;title\a") {{ level :warn }}
execute("printf '\\033[2J'") {{ live_stream true }}
ruby_block("\u009b31m") {{ block {{ raise "why\e[2J" }}; ignore_failure true }}
ruby_block("last") {{ block {{ raise "end\e[2J" }} }}
"#
    );
    std::fs::write(dir.path().join("r.rb"), recipe).expect("a recipe");
    for verb in [vec!["chef-client", "-z"], vec!["chef-client", "-z", "-l", "trace", "-W"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_fixpoint"))
            .args(&verb)
            .arg("r.rb")
            .current_dir(dir.path())
            .env("HOME", dir.path())
            .output()
            .expect("it starts");
        for text in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(text);
            let bad = text.chars().find(|c| c.is_control() && *c != '\n' && *c != '\t');
            assert_eq!(bad, None, "{verb:?}: {text:?}");
            assert!(!text.lines().any(|line| line.starts_with("Error: forged")), "{text}");
        }
        assert!(String::from_utf8_lossy(&output.stdout).contains("ruby_block[last]"));
    }
}
