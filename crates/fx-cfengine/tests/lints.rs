//! What `fixpoint check` finds in policy that runs: one row a rule, and beside it what must
//! not be found.

use fx_cfengine::Request;
use fx_engine::{Cancel, Ledger, Run};
use fx_host::MemoryHost;
use fx_source::SourceMap;

fn check(bundle: &str, expected: &[&str]) {
    let host = MemoryHost::linux();
    host.put_mode("/policy/main.cf", bundle, 0o600);
    let (ledger, sources, cancel) = (Ledger::new(), SourceMap::new(), Cancel::default());
    let request = Request {
        file: Some("/policy/main.cf".to_owned()),
        interactive: true,
        ..Request::default()
    };
    let run = Run::new(&host, &ledger, &cancel);
    let (summary, found) = fx_cfengine::lint(run, &sources, &request);
    assert_eq!(summary.code, 0, "{bundle}");
    let found: Vec<String> = found
        .iter()
        .map(|one| {
            let at = one.primary().map(|span| sources.location(span).line).unwrap_or_default();
            let help = one.help.as_deref().map(|help| format!(" ({help})")).unwrap_or_default();
            format!("{at}: {}{help}", one.message)
        })
        .collect();
    assert_eq!(found, expected, "{bundle}");
}

fn main_with(promises: &str) -> String {
    format!("bundle agent main\n{{\n{promises}\n}}\n")
}

#[test]
fn variables_that_nothing_defines() {
    let unknown = "in bundle 'main'";
    for (promises, expected) in [
        (
            "vars: \"colour\" string => \"x\";\nreports: \"$(color)\";",
            vec![format!("4: nothing defines variable 'color' {unknown} (did you mean 'colour'?)")],
        ),
        (
            "reports: \"${other.x} $(sys.workdri)\";",
            vec!["3: there is no variable 'sys.workdri' here (did you mean 'workdir'?)".to_owned()],
        ),
        (
            "vars: \"a\" string => \"x\";\nreports: \"$(main.b) $(main.a)\";",
            vec![format!("4: nothing defines variable 'b' {unknown}")],
        ),
        (
            "reports: \"$(main.not_closed\";",
            vec!["3: the reference to variable 'main.not_closed' is not closed".to_owned()],
        ),
        (
            "vars: \"a\" string => ifelse(isvariable(\"main.b\"), \"$(main.b)\", \"x\");\nreports: \"$(a)\";",
            Vec::new(),
        ),
        // Made by a function, tested, made of variables, of the agent, or of a shell.
        (
            "classes: \"c\" expression => regextract(\"(.)\", \"x\", \"made\");\nreports: \"$(made[0])\";",
            Vec::new(),
        ),
        ("reports: \"$(maybe)\" if => isvariable(\"maybe\");", Vec::new()),
        (
            "vars: \"l\" slist => { \"a\" }; \"v_$(l)\" string => \"x\";\nreports: \"$(v_a) $($(l))\";",
            Vec::new(),
        ),
        ("reports: \"$(this.promiser) $(const.n) $(match.1) $(def.x) $(x_meta.y)\";", Vec::new()),
        ("commands: \"/bin/echo $(hostname) $(date +%s)\";", Vec::new()),
    ] {
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check(&main_with(promises), &expected);
    }
}

#[test]
fn classes_that_are_near_a_known_one() {
    check(
        &main_with(
            "classes: \"webserver\" expression => \"any\";\nreports:\n  websrever::\n    \"x\";",
        ),
        &["5: nothing defines class 'websrever' (did you mean 'webserver'?)"],
    );
    // From the command line, a platform, a host, or with another number.
    for guard in ["my_option", "windows", "ubuntu_22", "Hr23", "web2", "Monday", "ipv4_10_0"] {
        let text =
            format!("classes: \"web1\" expression => \"any\";\nreports:\n  {guard}::\n    \"x\";");
        check(&main_with(&text), &[]);
    }
}

#[test]
fn promises_that_are_never_reached() {
    let text = "this holds nowhere and never: what it guards is not reached";
    check(
        &main_with("reports:\n  !any::\n    \"x\";\n    \"y\";\n  linux.!linux::\n    \"z\";"),
        &[&format!("4: {text}"), &format!("7: {text}")],
    );
    check(&main_with("reports:\n  linux::\n    \"x\" if => \"!linux\";"), &[&format!("5: {text}")]);
    check(&main_with("reports:\n  linux|windows::\n    \"x\" unless => \"windows\";"), &[]);
}

#[test]
fn promises_behind_a_class_that_always_aborts() {
    let control = "body agent control\n{\nabortclasses => { \"stop.*\" };\n}\n";
    let with = |class: &str| format!("{control}{}", main_with(class));
    check(
        &with(
            "classes: \"stop_it\" expression => \"any\";\nreports: \"x\";\nfiles: \"/y\" touch => \"true\";",
        ),
        &["8: class 'stop_it' is always set and aborts: this and what follows is not reached"],
    );
    for class in [
        "classes: \"stop_it\" expression => \"linux\";\nreports: \"x\";",
        "classes: \"stop_it\" expression => \"any\", if => \"x\";\nreports: \"x\";",
        "classes: \"other\" expression => \"any\";\nreports: \"x\";",
        "classes:\n linux::\n \"stop_it\" expression => \"any\";\nreports: \"x\";",
        "classes: \"stop_it\" expression => \"any\";",
    ] {
        check(&with(class), &[]);
    }
}
