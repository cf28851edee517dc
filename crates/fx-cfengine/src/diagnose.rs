//! `cf-agent --self-diagnostics`: what an installation has and what it lacks. Looks only.

use fx_host::Look;

use crate::config::Request;
use crate::text::path;

/// The report, one line a check.
pub fn diagnose(host: &dyn Look, request: &Request) -> String {
    let config = crate::config::configure(host, request);
    let paths = &config.paths;
    let mut out = String::new();
    for (name, dir) in [
        ("workdir", &paths.workdir),
        ("inputdir", &paths.inputs),
        ("logdir", &paths.logs),
        ("statedir", &paths.state),
    ] {
        out.push_str(&format!("self-diagnostics for agent using {name} '{dir}'\n"));
    }
    let there = |file: &str| host.stat(&path(file)).is_ok();
    let mut check = |what: &str, good: bool, yes: String, no: String| {
        let (mark, why) = if good { ("YES", yes) } else { ("NO ", no) };
        out.push_str(&format!("[ {mark} ] Check {what}: {why}\n"));
    };
    let bootstrapped = there(&format!("{}/policy_server.dat", paths.workdir));
    check(
        "that agent is bootstrapped",
        bootstrapped,
        "Bootstrapped".into(),
        "Not bootstrapped".into(),
    );
    check(
        "if agent is acting as a policy server",
        there(&format!("{}/am_policy_hub", paths.state)),
        "Acting as a policy server".into(),
        "Not acting as a policy server".into(),
    );
    for (kind, ending) in [("private", "priv"), ("public", "pub")] {
        let file = format!("{}/ppkeys/localhost.{ending}", paths.workdir);
        let yes = format!("OK at '{file}'");
        check(
            &format!("{kind} key"),
            there(&file),
            yes,
            format!("No {kind} key found at '{file}'"),
        );
    }
    for (what, name) in [
        ("persistent classes", "fx_classes"),
        ("checksums", "fx_changes.json"),
        ("locks", "fx_locks"),
    ] {
        let file = format!("{}/{name}", paths.state);
        let yes = format!("OK at '{file}'");
        check(&format!("{what} store"), there(&file), yes, format!("None yet at '{file}'"));
    }
    out.pop();
    out
}
