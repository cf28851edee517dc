//! The ruby persona: runs a program, `-e` text or standard input with our own runtime.
//!
//! A debugging aid and the way conformance runners drive the runtime; it takes the flags
//! that matter for that and refuses the rest by name.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::rc::Rc;

use fx_ruby::{Ended, Hooks, Limits, Options, Vm};

use crate::persona::Invocation;

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Lines {
    #[default]
    Off,
    Each,
    Printed,
}

#[derive(Default)]
struct Request {
    scripts: Vec<Vec<u8>>,
    file: Option<Vec<u8>>,
    args: Vec<Vec<u8>>,
    include: Vec<Vec<u8>>,
    require: Vec<Vec<u8>>,
    check: bool,
    /// `-n` and `-p`: the program runs for each line of the input.
    lines: Lines,
    verbose: Option<bool>,
    debug: bool,
    time: Option<f64>,
    wording: fx_ruby::Wording,
}

pub(crate) fn main(invocation: &Invocation) -> u8 {
    let args: Vec<Vec<u8>> = invocation.args.iter().cloned().map(OsString::into_vec).collect();
    let request = match parse(args) {
        Ok(Some(request)) => request,
        Ok(None) => return 0,
        Err(message) => {
            say(&mut std::io::stderr(), &format!("ruby: {message}\n"));
            return 1;
        }
    };
    crate::deep::ruby(move || run(request)).unwrap_or(70)
}

fn say(to: &mut dyn Write, text: &str) {
    drop(to.write_all(text.as_bytes()));
}

fn parse(args: Vec<Vec<u8>>) -> Result<Option<Request>, String> {
    let mut r = Request::default();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let mut value = |name: &str, rest: &[u8]| -> Result<Vec<u8>, String> {
            if rest.is_empty() {
                args.next().ok_or_else(|| format!("no argument for {name}"))
            } else {
                Ok(rest.to_vec())
            }
        };
        match arg.as_slice() {
            b"--version" | b"-v" => {
                say(&mut std::io::stdout(), "ruby 3.2.0 (fixpoint) [x86_64-linux]\n");
                if arg == b"--version" {
                    return Ok(None);
                }
                r.verbose = Some(true);
            }
            b"-c" => r.check = true,
            b"-n" => r.lines = Lines::Each,
            b"-p" => r.lines = Lines::Printed,
            b"-ne" | b"-pe" => {
                r.lines = if arg[1] == b'n' { Lines::Each } else { Lines::Printed };
                r.scripts.push(value("-e", b"")?);
            }
            b"-w" | b"-W" | b"-W2" => r.verbose = Some(true),
            b"-W0" => r.verbose = None,
            b"-d" | b"--debug" => r.debug = true,
            b"--" => {
                r.args.extend(args);
                if r.scripts.is_empty() && !r.args.is_empty() {
                    r.file = Some(r.args.remove(0));
                }
                return Ok(Some(r));
            }
            b"-" => {
                r.args.extend(args);
                return Ok(Some(r));
            }
            a if a.starts_with(b"-e") => r.scripts.push(value("-e", &a[2..])?),
            a if a.starts_with(b"-I") => {
                let v = value("-I", &a[2..])?;
                r.include.extend(v.split(|b| *b == b':').map(<[u8]>::to_vec));
            }
            a if a.starts_with(b"-r") => r.require.push(value("-r", &a[2..])?),
            a if a.starts_with(b"--time-limit=") => {
                let text = String::from_utf8_lossy(&a[13..]).into_owned();
                r.time = Some(text.parse().map_err(|_| format!("invalid time limit {text}"))?);
            }
            b"--messages=3.1" => r.wording = fx_ruby::Wording::Ruby31,
            b"--messages=3.4" => r.wording = fx_ruby::Wording::Ruby34,
            a if a.starts_with(b"--disable")
                || a.starts_with(b"--enable")
                || a.starts_with(b"-W")
                || a.starts_with(b"-K")
                || a.starts_with(b"-E")
                || a.starts_with(b"--encoding")
                || a.starts_with(b"--external-encoding") => {}
            a if a.starts_with(b"-") => {
                return Err(format!(
                    "invalid option {}  (-h will show valid options)",
                    String::from_utf8_lossy(a)
                ));
            }
            _ => {
                if r.scripts.is_empty() {
                    r.file = Some(arg);
                } else {
                    r.args.push(arg);
                }
                r.args.extend(args);
                return Ok(Some(r));
            }
        }
    }
    Ok(Some(r))
}

fn stdin() -> Vec<u8> {
    let mut text = Vec::new();
    drop(std::io::stdin().read_to_end(&mut text));
    text
}

/// A program in the loop that `-n` and `-p` put around it; its lines keep their numbers.
fn for_each_line(text: Vec<u8>, lines: Lines) -> Vec<u8> {
    if lines == Lines::Off {
        return text;
    }
    let last: &[u8] = if lines == Lines::Printed { b"\nprint $_" } else { b"" };
    [b"__line_mode; while gets; ", text.as_slice(), last, b"\nend\n"].concat()
}

fn run(request: Request) -> u8 {
    let host: Rc<dyn fx_host::Host> = Rc::new(fx_host::OsHost::new());
    let (text, name) = if request.scripts.is_empty() {
        match &request.file {
            Some(path) => {
                let shown = String::from_utf8_lossy(path).into_owned();
                let full = host.cwd().join(&shown);
                match host.read(&full) {
                    Ok(text) => (text, shown),
                    Err(_) => {
                        say(
                            &mut std::io::stderr(),
                            &format!("ruby: No such file or directory -- {shown} (LoadError)\n"),
                        );
                        return 1;
                    }
                }
            }
            None => match crate::stdin::policy() {
                Ok(text) => (text, "-".to_owned()),
                Err(error) => {
                    say(&mut std::io::stderr(), &format!("ruby: {error}\n"));
                    return 1;
                }
            },
        }
    } else {
        let mut text = request.scripts.join(&b'\n');
        text.push(b'\n');
        (text, "-e".to_owned())
    };
    let text = for_each_line(text, request.lines);
    let limits =
        Limits { time: request.time.map(std::time::Duration::from_secs_f64), ..Limits::default() };
    let hooks = Hooks { stdin: Box::new(stdin), gems: true, ..Hooks::default() };
    let library = host.var(std::ffi::OsStr::new("RUBYLIB")).unwrap_or_default().into_vec();
    let library = library.split(|byte| *byte == b':').filter(|dir| !dir.is_empty());
    let include: Vec<Vec<u8>> =
        request.include.into_iter().chain(library.map(<[u8]>::to_vec)).collect();
    let mut vm = Vm::new(Options {
        host,
        out: Box::new(std::io::BufWriter::with_capacity(1 << 16, std::io::stdout())),
        err: Box::new(std::io::stderr()),
        limits,
        hooks,
        script: name.clone(),
        argv: request.args,
    });
    vm.wording = request.wording;
    vm.configure(&include, request.verbose, request.debug);
    if request.check {
        return match vm.check_syntax(&text, &name) {
            Ok(()) => {
                say(&mut std::io::stdout(), "Syntax OK\n");
                0
            }
            Err(unwind) => {
                let report = vm.explain(unwind);
                say(&mut std::io::stderr(), &report);
                1
            }
        };
    }
    for library in &request.require {
        if let Err(unwind) = vm.require_library(library) {
            let report = vm.explain(unwind);
            say(&mut std::io::stderr(), &report);
            return 1;
        }
    }
    let code = match vm.run_script(&text, &name) {
        Ended::Exit(code) => code as u8,
        Ended::Failed(report) => {
            vm.flush_output();
            say(&mut std::io::stderr(), &report);
            1
        }
        Ended::Spent(bound) => {
            vm.flush_output();
            say(&mut std::io::stderr(), &format!("{name}: {bound}\n"));
            1
        }
    };
    vm.flush_output();
    // The heap ends with the process; taking it apart would only cost time.
    std::mem::forget(vm);
    code
}
