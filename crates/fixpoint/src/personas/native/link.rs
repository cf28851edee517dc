//! `fixpoint link`: links named like the originals, that make fixpoint answer as them.

use std::fmt::Write;
use std::path::PathBuf;

use fx_host::{Host, HostError, OsHost};

use super::failed;
use crate::{exit, persona, terminal};

/// Makes a symbolic link for each tool fixpoint can be. A name that is taken by anything
/// but such a link is left alone and reported: an original is never overwritten.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  fixpoint link /usr/local/lib/fixpoint/bin
  PATH=/usr/local/lib/fixpoint/bin:$PATH cf-agent --version")]
pub(crate) struct Args {
    /// Directory that gets the links; made if it is not there
    dir: PathBuf,
}

pub(crate) fn run(args: &Args) -> u8 {
    let host = OsHost::new();
    let target = match std::env::current_exe() {
        Ok(target) => target,
        Err(error) => return failed(format_args!("cannot find the running program: {error}")),
    };
    match make_links(&host, &args.dir, &target) {
        Ok((text, taken)) => {
            for name in &taken {
                terminal::complain(format_args!(
                    "'{}' is taken and left alone",
                    args.dir.join(name).display()
                ));
            }
            let written = terminal::print(&text);
            if taken.is_empty() { written } else { exit::ERROR }
        }
        Err(error) => failed(error),
    }
}

fn make_links(
    host: &dyn Host,
    dir: &std::path::Path,
    target: &std::path::Path,
) -> Result<(String, Vec<&'static str>), HostError> {
    let mut text = String::new();
    let mut taken = Vec::new();
    if !host.exists(dir)? {
        host.make_dir(dir, 0o755)?;
    }
    for name in persona::names() {
        let path = dir.join(name);
        match host.lstat_opt(&path)? {
            None => {
                host.symlink(target, &path)?;
                let _ = writeln!(text, "{} -> {}", path.display(), target.display());
            }
            Some(meta) if meta.is_symlink() && host.read_link(&path)? == target => {}
            Some(_) => taken.push(name),
        }
    }
    host.commit()?;
    Ok((text, taken))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fx_host::{Files, MemoryHost};

    use super::*;

    #[test]
    fn an_original_is_never_overwritten_and_a_second_time_changes_nothing() {
        let host = MemoryHost::new();
        host.put("/bin/cf-agent", "the original");
        let (dir, program) = (Path::new("/bin"), Path::new("/opt/fixpoint"));
        let (text, taken) = make_links(&host, dir, program).unwrap();
        assert_eq!(taken, ["cf-agent"]);
        assert_eq!(host.read(Path::new("/bin/cf-agent")).unwrap(), b"the original");
        assert!(text.contains("/bin/cf-promises -> /opt/fixpoint"), "{text}");
        let (text, _) = make_links(&host, dir, program).unwrap();
        assert_eq!(text, "");
    }
}
