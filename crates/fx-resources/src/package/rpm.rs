//! The RPM database as `rpm -q` tells it, shared by dnf, yum and zypper.

use fx_engine::Failure;
use fx_host::{Exit, Look};

use super::backend::State;
use super::version;
use crate::command;

// One line a package: epoch, version, release; nothing a name could be mistaken for.
const FORMAT: &str = "%{EPOCHNUM} %{VERSION} %{RELEASE}\\n";

/// What is installed under this name. Several lines are several versions, as of a kernel.
pub(super) fn installed(host: &dyn Look, name: &str) -> Result<State, Failure> {
    let spec = command::tool(["rpm", "-q", "--queryformat", FORMAT, name]);
    let ended = command::ask(host, &spec)?;
    if ended.exit != Exit::Code(0) {
        let text = command::stdout(&ended);
        if text.contains("is not installed") {
            return Ok(State::absent());
        }
        return Err(command::failure(&spec, &ended)
            .unwrap_or_else(|| Failure::new(format!("cannot query '{name}'"))));
    }
    let text = command::stdout(&ended);
    let versions = text.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (epoch, version, release) = (words.next()?, words.next()?, words.next()?);
        Some(match epoch {
            "0" | "(none)" => format!("{version}-{release}"),
            epoch => format!("{epoch}:{version}-{release}"),
        })
    });
    Ok(State { versions: versions.collect(), residual: false })
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
