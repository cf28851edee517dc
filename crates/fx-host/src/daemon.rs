//! Going into the background: the program starts itself once more and leaves when that one is
//! ready. What it prints until then is printed here.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Set for the one in the background to the number of the process that started it, so that what
/// it starts itself does not take it for its own.
const STARTER: &str = "FIXPOINT_STARTED_BY";
/// The last byte that the starter hears.
const READY: u8 = 0;

/// Whether this process was started to be in the background.
fn is_background() -> bool {
    let starter = std::env::var_os(STARTER);
    let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().to_string());
    starter.is_some() && starter == parent.map(OsString::from)
}

/// Starts this program in the background and waits until it is ready: the exit status with which
/// to leave. Nothing in the one that is to go on.
pub fn into_background(out: &mut dyn Write) -> std::io::Result<Option<u8>> {
    if is_background() {
        return Ok(None);
    }
    let (mut reader, writer) = std::io::pipe()?;
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    #[expect(clippy::disallowed_methods, reason = "this is the host")]
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg0(name)
        .args(arguments)
        .env(STARTER, std::process::id().to_string())
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    let mut child = command.spawn()?;
    // Our own copies of the writing end go with the command.
    drop(command);
    let mut buffer = [0; 4096];
    loop {
        let count = reader.read(&mut buffer)?;
        if count == 0 {
            let status = child.wait()?;
            return Ok(Some(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)));
        }
        let ready = buffer[..count].last() == Some(&READY);
        out.write_all(&buffer[..count - usize::from(ready)])?;
        if ready {
            out.flush()?;
            return Ok(Some(0));
        }
    }
}

/// Reports that this process is ready, and lets go of the terminal and of who started it.
pub fn detach() -> std::io::Result<()> {
    if !is_background() {
        return Ok(());
    }
    std::io::stdout().write_all(&[READY])?;
    std::io::stdout().flush()?;
    // One who leads a group of processes cannot leave it, and need not.
    let _leader = rustix::process::setsid();
    let null = rustix::fs::open(
        "/dev/null",
        rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC,
        rustix::fs::Mode::empty(),
    )?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}
