//! Lines of cf-agent and of what it starts, in one place: the order is that of cf-agent 3.21.

#![expect(clippy::disallowed_methods, reason = "tests lay out and run their own files")]

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const POLICY: &str = r#"promise agent noop
{
  interpreter => "/bin/sh";
  path => "DIR/module";
}
bundle agent main
{
  files:
      "DIR/made" create => "true";
  noop:
      "a";
      "b";
  reports:
      "done";
}
"#;

/// Says on standard error when it starts and what it is asked to do.
const MODULE: &str = r#"echo "module: starts" >&2
read header
read blank
echo "noop 0.0.1 v1 line_based"
echo ""
while true; do
  op=
  while read line; do
    [ -z "$line" ] && break
    case "$line" in operation=*) op=${line#operation=};; esac
  done
  [ -z "$op" ] && exit 0
  echo "module: $op" >&2
  echo "operation=$op"
  case $op in
    validate_promise) echo "result=valid";;
    evaluate_promise) echo "log_info=did it"; echo "result=repaired";;
    terminate) echo "result=success"; echo; exit 0;;
  esac
  echo
done
"#;

/// Answers before it is asked, and reads nothing.
const HASTY: &str = r#"exec 0<&-
printf 'noop 0.0.1 v1 line_based\n\n'
for name in a b; do
  printf 'operation=validate_promise\npromiser=%s\nresult=valid\n\n' $name
  printf 'operation=evaluate_promise\npromiser=%s\nlog_info=did %s\nresult=repaired\n\n' $name $name
done
"#;

/// What cf-agent and its module print, in the order in which they print it.
fn printed(module: &str) -> String {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let at = dir.path().to_str().expect("a name of letters");
    let put = |name: &str, text: &str| {
        let file = dir.path().join(name);
        std::fs::write(&file, text.replace("DIR", at)).expect("a file");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o700)).expect("a mode");
    };
    put("case.cf", POLICY);
    put("module", module);
    let run = "\"$0\" cf-agent -KI -f \"$1/case.cf\" > \"$1/out\" 2>&1";
    let status = Command::new("/bin/sh")
        .args(["-c", run, env!("CARGO_BIN_EXE_fixpoint"), at])
        .env("CFENGINE_TEST_OVERRIDE_WORKDIR", dir.path().join("work"))
        .status()
        .expect("it starts");
    let text = std::fs::read_to_string(dir.path().join("out")).expect("its output");
    assert!(status.success(), "{text}");
    text.replace(at, "DIR")
}

#[test]
fn what_a_promise_module_prints_itself_comes_when_it_prints_it() {
    assert_eq!(
        printed(MODULE),
        "    info: Created file 'DIR/made', mode 0600\n\
         R: done\n\
         module: starts\n\
         module: validate_promise\n\
         module: evaluate_promise\n    \
             info: did it\n\
         module: validate_promise\n\
         module: evaluate_promise\n    \
             info: did it\n\
         module: terminate\n"
    );
}

#[test]
fn a_promise_module_that_is_gone_may_have_left_its_answers() {
    assert_eq!(
        printed(HASTY),
        "    info: Created file 'DIR/made', mode 0600\n\
         R: done\n    \
             info: did a\n    \
             info: did b\n"
    );
}
