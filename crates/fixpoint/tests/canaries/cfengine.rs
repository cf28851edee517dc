//! What CFEngine policy holds of secrets: passwords of users promises, as texts and as hashes.

use super::Case;

const POLICY: &str = r#"
body common control { bundlesequence => { "main" }; }
bundle agent main
{
  vars:
      "pw" string => "CANARYc01";
  users:
      "canplain" policy => "present", password => plain("$(pw)");
      "canliteral" policy => "present", password => literal;
      "canhash" policy => "present", password => hashed("$6$CANARYc03$abcdefgh");
      "canold" policy => "present", password => plain("CANARYc04");
      "canlocked" policy => "locked", password => hashed("$6$CANARYc05$abcdefgh");
      "can:wrong" policy => "present", password => plain("CANARYc06");
      "canwarned" policy => "present", password => plain("CANARYc07"), action => warned;
      "canold2" policy => "present", password => plain("CANARYc08
x");
      "canbad" policy => "present", password => hashed("CANARYc09:y"), classes => outcome;
      "canshell" policy => "present", shell => "/no/such", password => plain("CANARYc10");
      "cangroup" policy => "present", group_primary => "nosuchgroup", password => plain("CANARYc11");
  reports:
    failed:: "failed";
    any:: "done";
}
body password plain(p) { format => "plaintext"; data => "$(p)"; }
body password literal { format => "plaintext"; data => "CANARYc02"; }
body password hashed(p) { format => "hash"; data => "$(p)"; }
body action warned { action_policy => "warn"; }
body classes outcome { repair_failed => { "failed" }; }
"#;

const WRONG: &[&str] = &[
    "body password p { format => \"plaintext\"; data => \"CANARYd01\"; nosuch => \"x\"; }\nbundle agent main { users: \"u\" policy => \"present\", password => p; }",
    "body password p { format => \"wrong\"; data => \"CANARYd02\"; }\nbundle agent main { users: \"u\" policy => \"present\", password => p; }",
    "body password p(x) { format => \"plaintext\"; data => \"$(x)\"; }\nbundle agent main { users: \"u\" policy => \"present\", password => p(\"CANARYd03\", \"x\"); }",
    "body password p { format => \"plaintext\"; data => { \"CANARYd04\" }; }\nbundle agent main { users: \"u\" policy => \"present\", password => p; }",
    "body password p { format => \"plaintext\"; data => \"CANARYd05\" }\nbundle agent main { users: \"u\" policy => \"present\", password => p; }",
    "body password p { format => \"plaintext\"; data => \"CANARYd06\"; }\nbundle agent main { users: \"u\" policy => \"nosuch\", password => p; }",
];

const GOOD: &str = "
bundle agent main { users: \"canhash\" policy => \"present\", password => hashed(\"$6$CANARYc13$abcdefgh\"); }
body password hashed(p) { format => \"hash\"; data => \"$(p)\"; }
";

const SET_UP: &str = "
for u in canplain canliteral canhash canold canlocked canwarned canold2 canbad canshell cangroup; do userdel $u 2>/dev/null; done
useradd canold; echo canold:CANARYc12 | chpasswd -e; useradd canold2
";

pub(super) fn case() -> Case {
    let mut files =
        vec![("main.cf".to_owned(), POLICY.to_owned()), ("good.cf".to_owned(), GOOD.to_owned())];
    for (number, text) in WRONG.iter().enumerate() {
        files.push((format!("wrong{number}.cf"), format!("{text}\n")));
    }
    let mut commands: Vec<String> = Vec::new();
    for options in [
        "-K",
        "-KI",
        "-Kv",
        "-Kd",
        "-KIn",
        "-Kvn",
        "-K --log-level=debug",
        "-KIv --show-evaluated-classes=.",
    ] {
        commands.push(format!("fresh; $F cf-agent {options} -f /srv/policy/main.cf"));
    }
    for options in ["", "-v", "-d", "-p json", "-p cf"] {
        let to = if options.starts_with("-p") { "> /srv/target/policy" } else { "" };
        commands.push(format!(
            "mkdir -p /srv/target; $F cf-promises {options} -f /srv/policy/main.cf {to}"
        ));
    }
    for verb in [
        "run",
        "run -v",
        "run --format json",
        "run --format trace",
        "plan",
        "plan -v --format json",
        "try",
        "try --format json",
        "explain",
        "explain --format json",
        "explain --format html",
        "explain --why can",
        "check",
        "check --format json",
        "check --format sarif",
    ] {
        commands.push(format!("fresh; $F {verb} main.cf"));
    }
    for number in 0..WRONG.len() {
        for verb in [
            "cf-agent -Kv -f /srv/policy/",
            "cf-promises -f /srv/policy/",
            "run ",
            "check ",
            "check --format sarif ",
            "plan --format json ",
        ] {
            commands.push(format!("$F {verb}wrong{number}.cf"));
        }
    }
    for verb in ["history", "history show 1", "history show 2 --format json", "facts"] {
        commands.push(format!("$F {verb}"));
    }
    commands.push("fresh; $F plan --out /srv/out/saved.plan good.cf".to_owned());
    commands.push("$F run --plan /srv/out/saved.plan good.cf".to_owned());
    Case {
        name: "cfengine",
        files,
        set_up: SET_UP,
        commands,
        targets: &[],
        written: ("/etc/shadow", "CANARYc13"),
        witness: &["canplain", "chpasswd", "done"],
        least: 17,
    }
}
