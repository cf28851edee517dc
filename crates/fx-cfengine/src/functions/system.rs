//! The machine: commands, environment, accounts, processes, packages.

use std::rc::Rc;
use std::time::Duration;

use fx_host::Spec;

use crate::command::{UNSET, command_arg0, is_executable, spec_for, unstarted};
use crate::eval::Context;
use crate::json::{Json, Object};
use crate::module_protocol::Module;
use crate::policy::Rval;
use crate::process_table;
use crate::regex;
use crate::text::{decode, int_from, os, path};

use super::{FnResult, Given, arg, container, list, text, truth};

/// `execresult`, `execresult_as_data`.
pub(crate) fn execute(ctx: &mut Context<'_>, Given { name, args, .. }: Given<'_>) -> FnResult {
    exec(ctx, name, args)
}

/// `returnszero`.
pub(crate) fn returnszero(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    returns_zero(ctx, args)
}

/// `getenv`.
pub(crate) fn getenv(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    let added = ctx.control.environment.iter().rev().find(|(name, _)| &**name == first);
    let value = match added {
        Some((_, value)) => os(value),
        None if UNSET.contains(&first) => std::ffi::OsString::new(),
        None => ctx.host().var(&os(first)).unwrap_or_default(),
    };
    let value = decode(std::os::unix::ffi::OsStrExt::as_bytes(value.as_os_str()));
    let max = int_from(arg(args, 1))?.max(0) as usize;
    text(value.chars().take(max).collect::<String>())
}

/// `getuid`.
pub(crate) fn getuid(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    match user(ctx, first) {
        Some(user) => text(user.uid.to_string()),
        None => {
            ctx.error(&format!("Could not get UID for user '{first}', (getpwnam: not found)"));
            None
        }
    }
}

/// `getgid`.
pub(crate) fn getgid(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    match group(ctx, first) {
        Some(group) => text(group.gid.to_string()),
        None => {
            ctx.error(&format!("Could not get GID for group '{first}', (getgrnam: not found)"));
            None
        }
    }
}

/// `userexists`.
pub(crate) fn userexists(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    let known = match first.parse() {
        Ok(uid) => ctx.host().user_by_id(uid).ok().flatten().is_some(),
        Err(_) => ctx.host().user(first).ok().flatten().is_some(),
    };
    truth(known)
}

/// `groupexists`.
pub(crate) fn groupexists(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    let known = match first.parse() {
        Ok(gid) => ctx.host().group_by_id(gid).ok().flatten().is_some(),
        Err(_) => ctx.host().group(first).ok().flatten().is_some(),
    };
    truth(known)
}

/// `getusers`.
pub(crate) fn getusers(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    let names: Vec<&str> = first.split(',').collect();
    let ids: Vec<&str> = arg(args, 1).split(',').collect();
    let users = ctx.host().users().ok()?;
    let kept = users
        .into_iter()
        .filter(|user| !names.contains(&&*user.name) && !ids.contains(&&*user.uid.to_string()))
        .map(|user| user.name.into());
    list(kept.collect())
}

/// `getuserinfo`.
pub(crate) fn getuserinfo(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    user_info(ctx, args)
}

/// `usemodule`.
pub(crate) fn usemodule(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    use_module(ctx, first, arg(args, 1))
}

/// `processexists`.
pub(crate) fn processexists(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    let table = process_table::table(ctx);
    truth(table.iter().any(|process| regex::find(first, process.command()).is_some()))
}

/// `findprocesses`.
pub(crate) fn findprocesses(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    let table = process_table::table(ctx);
    // Each find is put before those that are there.
    let found =
        table.iter().rev().filter(|process| regex::find(first, process.command()).is_some()).map(
            |process| {
                let mut object = Object::new();
                object.insert("line".into(), Json::Str(Rc::from(process.line.as_str())));
                object.insert("pid".into(), Json::Int(process.pid));
                Json::Object(object)
            },
        );
    container(Json::Array(found.collect()))
}

/// `packagesmatching`, `packageupdatesmatching`.
pub(crate) fn matching_packages(
    ctx: &mut Context<'_>,
    Given { name, args, .. }: Given<'_>,
) -> FnResult {
    crate::packages::matching(ctx, name, args)
}

/// `sysctlvalue`.
pub(crate) fn sysctlvalue(ctx: &mut Context<'_>, Given { args, .. }: Given<'_>) -> FnResult {
    let first = arg(args, 0);
    let file = format!("{}/proc/sys/{}", proc_root(ctx), first.replace('.', "/"));
    if ctx.host().stat(&path(&file)).is_ok_and(|meta| meta.is_dir()) {
        ctx.info(&format!("Error while reading file '{file}' because it's a directory (Success)"));
        return None;
    }
    let read = ctx.host().read(&path(&file));
    let read = read.inspect_err(|error| ctx.verbose(&unread(&file, error)));
    text(decode(&read.ok()?).trim_end_matches('\n').to_owned())
}

/// `data_sysctlvalues`.
pub(crate) fn data_sysctlvalues(ctx: &mut Context<'_>, _: Given<'_>) -> FnResult {
    let mut out = Object::new();
    sysctl_tree(ctx, &format!("{}/proc/sys", proc_root(ctx)), "", &mut out, 0);
    container(Json::Object(out))
}

/// `hostinnetgroup`.
pub(crate) fn hostinnetgroup(_: &mut Context<'_>, _: Given<'_>) -> FnResult {
    truth(false)
}

/// `registryvalue`.
pub(crate) fn registryvalue(_: &mut Context<'_>, _: Given<'_>) -> FnResult {
    None
}

// Where /proc is looked for; tests put another in its place.
// An account by its name, or by its number as getent takes it.
fn user(ctx: &Context<'_>, text: &str) -> Option<fx_host::User> {
    match text.parse() {
        Ok(uid) => ctx.host().user_by_id(uid).ok().flatten(),
        Err(_) => ctx.host().user(text).ok().flatten(),
    }
}

fn group(ctx: &Context<'_>, text: &str) -> Option<fx_host::Group> {
    match text.parse() {
        Ok(gid) => ctx.host().group_by_id(gid).ok().flatten(),
        Err(_) => ctx.host().group(text).ok().flatten(),
    }
}

fn proc_root(ctx: &Context<'_>) -> String {
    let root = ctx.host().var(&os("CFENGINE_TEST_OVERRIDE_PROCDIR")).unwrap_or_default();
    decode(std::os::unix::ffi::OsStrExt::as_bytes(root.as_os_str()))
}

fn unread(file: &str, error: &fx_host::HostError) -> String {
    format!("Error while reading file '{file}' ({})", crate::reason::reason(error))
}

fn sysctl_tree(ctx: &Context<'_>, dir: &str, prefix: &str, out: &mut Object, depth: u32) {
    if depth > 8 {
        return;
    }
    for entry in ctx.host().list(&path(dir)).unwrap_or_default() {
        let name = crate::text::from_path(std::path::Path::new(&entry.name));
        let file = format!("{dir}/{name}");
        let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
        match ctx.host().lstat(&path(&file)) {
            Ok(meta) if meta.is_dir() => sysctl_tree(ctx, &file, &key, out, depth + 1),
            Ok(_) => match ctx.host().read(&path(&file)) {
                Ok(bytes) => {
                    out.insert(key.into(), Json::Str(decode(&bytes).trim_end().into()));
                }
                Err(error) => ctx.info(&unread(&file, &error)),
            },
            Err(_) => {}
        }
    }
}

impl Context<'_> {
    /// A command line of policy as a program to start, in the directory we were started in.
    pub fn command_spec(&self, line: &str, shell: bool) -> Spec {
        Spec { output_limit: OUTPUT, ..spec_for(self, line, shell) }
    }
}

/// Bytes of a command's output that are kept.
const OUTPUT: usize = 4 << 20;

fn exec(ctx: &mut Context<'_>, name: &str, args: &[Rval]) -> FnResult {
    let command = arg(args, 0);
    match args.len() {
        0 => ctx.fatal(&format!("Missing argument to {name}() - Must specify command")),
        1 => ctx.fatal(&format!(
            "Missing argument to {name}() - Must specify 'noshell', 'useshell', or 'powershell'"
        )),
        2 | 3 => {}
        _ => ctx.fatal(&format!("Too many arguments to {name}() - Maximum 3 allowed")),
    }
    if ctx.stopped() {
        return None;
    }
    let (shell, power) = (arg(args, 1) == "useshell", arg(args, 1) == "powershell");
    if command.starts_with('/') {
        if !is_executable(ctx, &command_arg0(command)) {
            ctx.error(&format!("{name} '{command}' is assumed to be executable but isn't"));
            return None;
        }
    } else if !shell && !power && !command.starts_with(['"', '\'']) {
        ctx.error(&format!("{name} '{command}' does not have an absolute path"));
        return None;
    }
    if power {
        ctx.error("Powershell is only supported on Windows");
        return None;
    }
    let mut spec = ctx.command_spec(command, shell);
    let select = if args.len() > 2 { arg(args, 2) } else { "both" };
    spec.merge_stderr = select == "both";
    let ended = ctx.in_evaluation(name, |act| act.run(&spec));
    let ended = ended.unwrap_or_else(|error| unstarted(command, &error));
    if ended.truncated {
        ctx.warning(&format!(
            "{name} '{command}' printed more than {OUTPUT} bytes; the rest is not used"
        ));
    }
    let output = decode(if select == "stderr" { &ended.stderr } else { &ended.stdout });
    let output = output.trim_end().to_owned();
    if name == "execresult" {
        return text(output);
    }
    let mut object = Object::new();
    object.insert("exit_code".into(), Json::Int(i64::from(ended.exit.code())));
    object.insert("output".into(), Json::Str(output.into()));
    container(Json::Object(object))
}

fn returns_zero(ctx: &mut Context<'_>, args: &[Rval]) -> FnResult {
    let command = arg(args, 0);
    let (shell, power) = (arg(args, 1) == "useshell", arg(args, 1) == "powershell");
    if command.starts_with('/') {
        if !is_executable(ctx, &command_arg0(command)) {
            ctx.error(&format!("returnszero '{command}' is assumed to be executable but isn't"));
            return truth(false);
        }
    } else if !shell && !power && !command.starts_with(['"', '\'']) {
        ctx.error(&format!("returnszero '{command}' does not have an absolute path"));
        return truth(false);
    }
    if power {
        ctx.error("Powershell is only supported on Windows");
        return truth(false);
    }
    let spec = ctx.command_spec(command, shell);
    let ended = ctx.in_evaluation("returnszero", |act| act.run(&spec));
    let ended = ended.unwrap_or_else(|error| unstarted(command, &error));
    // What a shell says is seen, what a command says only by whoever asked to be informed.
    if shell || ctx.logs(fx_engine::Level::Info) {
        if !ended.stdout.is_empty() {
            ctx.print(decode(&ended.stdout).trim_end_matches('\n'));
        }
        if !ended.stderr.is_empty() {
            ctx.aside(decode(&ended.stderr).trim_end_matches('\n'));
        }
    }
    truth(ended.exit.success())
}

fn user_info(ctx: &Context<'_>, args: &[Rval]) -> FnResult {
    let named = args.first().and_then(|_| match arg(args, 0).parse() {
        Ok(uid) => ctx.host().user_by_id(uid).ok().flatten(),
        Err(_) => ctx.host().user(arg(args, 0)).ok().flatten(),
    });
    // Of somebody who is not there the original gives who it runs as.
    let user = match named {
        Some(user) => user,
        None => ctx.host().user_by_id(ctx.host().euid()).ok().flatten()?,
    };
    let mut object = Object::new();
    object.insert("username".into(), Json::str(&user.name));
    object.insert("description".into(), Json::str(&user.comment));
    object.insert("home_dir".into(), Json::Str(crate::text::from_path(&user.home).into()));
    object.insert("shell".into(), Json::Str(crate::text::from_path(&user.shell).into()));
    object.insert("uid".into(), Json::Int(i64::from(user.uid)));
    object.insert("gid".into(), Json::Int(i64::from(user.gid)));
    container(Json::Object(object))
}

fn use_module(ctx: &mut Context<'_>, module: &str, args: &str) -> FnResult {
    let file = format!("{}/{module}", ctx.config.paths.modules);
    let Ok(meta) = ctx.host().stat(&path(&file)) else {
        ctx.error(&format!("Plug-in module '\"{file}\"' not found"));
        return None;
    };
    if meta.uid != 0 && meta.uid != ctx.host().euid() {
        ctx.error(&format!(
            "Module '\"{file}\"' was not owned by uid {} who is executing agent",
            ctx.host().euid()
        ));
        return None;
    }
    if let Err(error) = ctx.host().check_trusted(&path(&file)) {
        ctx.error(&error.to_string());
        return None;
    }
    let command = format!("\"{file}\" {args}");
    let mut spec = ctx.command_spec(&command, false);
    spec.timeout = Some(Duration::from_hours(1));
    let ended = ctx.in_evaluation("usemodule", |act| act.run(&spec)).ok()?;
    let mut reader = Module::new(&command, true);
    for line in decode(&ended.stdout).lines() {
        reader.line(ctx, line);
    }
    truth(true)
}
