//! Mounts for the bodies of Chef's providers: what is mounted, the lines of fstab, and the words
//! of commands. The commands themselves run as changes of the provider.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use fx_engine::Failure;
use fx_host::Program;
use fx_resources::mount::dialect::{Call, Dialect};
use fx_resources::mount::table::{self, FSTAB, Row};
use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Res, Value, Vm};

use crate::machine::{Machine, Method, answer, text};
use crate::ruby_data::{list, path_bytes};

pub(crate) const METHODS: &[(&str, Method)] = &[
    ("mounted?", is_mounted),
    ("fstab", fstab),
    ("edit_fstab", edit_fstab),
    ("mount_words", mount_words),
    ("check_mount_point", check_point),
];

/// `FX.mounted?(point)`: whether something is mounted there.
fn is_mounted(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let point = path_bytes(vm, a, 0)?;
    let mounted = table::is_mounted(machine.look(), &point);
    Ok(Value::bool(answer(vm, "Mount", mounted)?))
}

/// The line that a list of device, type, options, dump and pass asks for; nil asks for none.
fn wanted(vm: &mut Vm, a: Args, point: &[u8]) -> Res<Option<Row>> {
    let Some(given) = vm.opt_nil(a, 1).filter(|list| list.is_arr()) else { return Ok(None) };
    let mut fields = Vec::new();
    for item in vm.heap.arr(given).clone() {
        fields.push(vm.to_s(item)?.into_bytes());
    }
    let mut fields = fields.into_iter();
    Ok(Some(Row {
        device: fields.next().unwrap_or_default(),
        point: point.to_vec(),
        fstype: fields.next(),
        options: fields.next(),
        dump: fields.next(),
        pass: fields.next(),
    }))
}

/// What stands between the fields of a line that Chef writes.
const SEPARATOR: &str = " ";

/// `FX.fstab(point, fields)`: `[the line now, the line that is wanted, whether they say the same]`;
/// nil for a line that is not there or not wanted.
fn fstab(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let point = path_bytes(vm, a, 0)?;
    let wanted = wanted(vm, a, &point)?;
    let read = machine.look().read(Path::new(FSTAB)).map_err(Failure::from);
    let content = answer(vm, "Mount", read)?;
    let found = table::line_at(&content, &point);
    let same = found.as_ref().map(|(_, row)| row) == wanted.as_ref();
    let now = found.map_or(NIL, |(line, _)| vm.str(line));
    let wanted = wanted.map_or(NIL, |row| vm.str(row.line(SEPARATOR)));
    Ok(vm.arr(vec![now, wanted, Value::bool(same)]))
}

/// `FX.edit_fstab(point, fields)`: puts the line into the table, or takes it away.
fn edit_fstab(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let point = path_bytes(vm, a, 0)?;
    let wanted = wanted(vm, a, &point)?;
    let path = Path::new(FSTAB);
    let read = vm.host.read(path).map_err(Failure::from);
    let old = answer(vm, "Mount", read)?;
    let meant = |row: &Row| row.is_at(&point);
    let new = match wanted {
        Some(row) => table::with_line(&old, &row.line(SEPARATOR), &meant),
        None => table::without(&old, &meant),
    };
    let written = table::write(&*vm.host, path, &new).map_err(Failure::from);
    answer(vm, "Mount", written)?;
    Ok(NIL)
}

/// `FX.mount_words(call, point, device, type, options)`: the command that mounts, mounts again or
/// unmounts. Options are a list.
fn mount_words(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let call = text(vm, a, 0)?.unwrap_or_default();
    let point = path_bytes(vm, a, 1)?;
    let device = path_bytes(vm, a, 2)?;
    let fstype = text(vm, a, 3)?.map(String::into_bytes);
    let options = vm.opt_nil(a, 4);
    let options = crate::ruby_data::words(vm, options)?.join(",").into_bytes();
    let row = Row {
        device,
        point,
        fstype,
        options: Some(options).filter(|options| !options.is_empty()),
        ..Row::default()
    };
    let call = match call.as_str() {
        "mount" => Call::Row(&row),
        "unmount" => Call::Unmount(&row.point),
        "remount" => Call::RemountWith {
            options: row.options.as_deref().unwrap_or_default(),
            point: &row.point,
        },
        other => return vm.arg_error(format!("mounts have no change '{other}'")),
    };
    let words = match Dialect::default().command(call).program {
        Program::Argv(argv) => argv,
        Program::Shell(line) => vec![line],
    };
    Ok(list(vm, words.into_iter().map(|word| word.as_bytes().to_vec())))
}

/// `FX.check_mount_point(path)`: fails where a link of somebody else leads to it.
fn check_point(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let point = path_bytes(vm, a, 0)?;
    let path = Path::new(OsStr::from_bytes(&point));
    match fx_resources::mount::check_point(machine.look(), path) {
        Ok(()) => Ok(NIL),
        Err(failure) => vm.fail(fx_ruby::object::c::RUNTIME_ERROR, failure.to_string()),
    }
}
