//! The RPM database as `rpm -q` prints it, shared by dnf, yum and zypper.

use fx_engine::Failure;
use fx_host::{Exit, Look};

use super::backend::State;
use super::version;
use crate::command;

// One line a package: epoch, version, release; nothing a name could be mistaken for.
const FORMAT: &str = "%{EPOCHNUM} %{VERSION} %{RELEASE}\\n";

/// What is installed under this name. Several lines are several versions, as of a kernel.
pub(super) fn installed(host: &dyn Look, name: &str) -> Result<State, Failure> {
    queried(host, &["rpm", "-q", "--queryformat", FORMAT, name], name)
}

/// What is installed and provides this name.
pub(super) fn provided(host: &dyn Look, name: &str) -> Result<State, Failure> {
    queried(host, &["rpm", "-q", "--whatprovides", "--queryformat", FORMAT, name], name)
}

fn queried(host: &dyn Look, argv: &[&str], name: &str) -> Result<State, Failure> {
    let spec = command::tool(argv.iter().copied());
    let ended = command::ask(host, &spec)?;
    if ended.exit != Exit::Code(0) {
        let text = command::stdout(&ended);
        if text.contains("is not installed") || text.contains("no package provides") {
            return Ok(State::absent());
        }
        return Err(command::failure(&spec, &ended)
            .unwrap_or_else(|| Failure::new(format!("cannot query '{name}'"))));
    }
    let text = command::stdout(&ended);
    Ok(State { versions: text.lines().filter_map(version_of).collect(), residual: false })
}

fn version_of(line: &str) -> Option<String> {
    let mut words = line.split(' ');
    let (epoch, version, release) = (words.next()?, words.next()?, words.next()?);
    Some(match epoch {
        "0" | "(none)" => format!("{version}-{release}"),
        epoch => format!("{epoch}:{version}-{release}"),
    })
}

/// Name and version of the package in a file.
pub(super) fn in_file(host: &dyn Look, file: &str) -> Result<(String, String), Failure> {
    let format = format!("%{{NAME}}\\n{FORMAT}");
    let spec = command::tool(["rpm", "-qp", "--queryformat", &format, file]);
    let text = command::stdout(&command::query(host, &spec)?);
    let mut lines = text.lines();
    let name = lines.next().unwrap_or_default().to_owned();
    Ok((name, lines.next().and_then(version_of).unwrap_or_default()))
}

/// Whether an installed `epoch:version-release` is what policy means: parts that policy
/// leaves out are not compared.
pub(super) fn satisfies(installed: &str, wanted: &str) -> bool {
    let (have, want) = (version::Evr::parse(installed), version::Evr::parse(wanted));
    let part = |have: Option<&str>, want: Option<&str>| {
        want.is_none_or(|want| version::rpm_part(have.unwrap_or("0"), want).is_eq())
    };
    version::rpm_part(have.version, want.version).is_eq()
        && part(have.epoch, want.epoch)
        && part(have.release, want.release)
}
