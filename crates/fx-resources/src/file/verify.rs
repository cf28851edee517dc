//! Asking a command whether new content is good, before anybody else sees it.
//!
//! The content lies in a private file beside the real one for that time, since programs
//! look at includes and at the name's ending.

use std::ffi::OsString;
use std::path::Path;
use std::rc::Rc;

use fx_engine::Failure;
use fx_host::{Act, Program, WriteOptions};

use super::Desired;
use crate::command;
use crate::exec::Rules;
use fx_formats::hex;

/// A command that is given the path of the new content and accepts it by code zero.
#[derive(Clone)]
pub struct Verify {
    program: Rc<dyn Fn(&Path) -> Program>,
    rules: Rules,
}

impl Verify {
    /// The command for a path, with the rules it runs under.
    pub fn new(rules: Rules, program: impl Fn(&Path) -> Program + 'static) -> Verify {
        Verify { program: Rc::new(program), rules }
    }
}

impl std::fmt::Debug for Verify {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Verify")
    }
}

pub(super) fn check(
    host: &dyn Act,
    desired: &Desired,
    path: &Path,
    content: &[u8],
) -> Result<(), Failure> {
    let mut random = [0; 16];
    host.random(&mut random);
    let mut name = OsString::from(format!(".fx-{}-", hex(random)));
    name.push(path.file_name().unwrap_or_default());
    let trial = path.with_file_name(name);
    let options = WriteOptions { mode: Some(0o600), ..WriteOptions::default() };
    host.write(&trial, content, &options)?;
    let verdict =
        desired.verify.iter().try_for_each(|verify| ask(host, verify, path, &trial, desired));
    // A second try, since the content may be secret and must not stay.
    let removed = host.remove_file(&trial).or_else(|_| host.remove_file(&trial));
    verdict?;
    Ok(removed?)
}

fn ask(
    host: &dyn Act,
    verify: &Verify,
    path: &Path,
    trial: &Path,
    desired: &Desired,
) -> Result<(), Failure> {
    let spec = verify.rules.spec(host, &(verify.program)(trial))?;
    let ended = host.run(&spec)?;
    let Some(failure) = command::failure(&spec, &ended) else { return Ok(()) };
    // What a checker prints may quote the content.
    let check = match failure {
        Failure::Command { command, exit, .. } if desired.sensitive => {
            Failure::Command { command, exit, output: String::new() }
        }
        failure => failure,
    };
    Err(Failure::RefusedContent { path: path.to_owned(), check: Box::new(check) })
}
