//! Entries of crontabs for the bodies of Chef's providers: what a user's table has, and what it
//! would be. The command that stores it runs as a change of the provider.

use fx_engine::Failure;
use fx_host::Exit;
use fx_resources::cron::table::{self, Comment, Entry, Schedule};
use fx_ruby::value::NIL;
use fx_ruby::{Args, R, Res, Value, Vm};

use crate::machine::{Machine, Method, raise, text};
use crate::ruby_data::{list, words};

pub(crate) const METHODS: &[(&str, Method)] =
    &[("cron_entry", entry), ("cron_table", whole_table), ("cron_words", store_words)];

const MARKER: &str = "Chef Name";

/// A user's table. That there is none is no failure, and the original takes the code 1 for that.
fn read(machine: &Machine, vm: &mut Vm, user: &str) -> Res<Vec<u8>> {
    match fx_resources::cron::read(machine.look(), user) {
        Ok(table) => Ok(table),
        Err(Failure::Command { exit: Exit::Code(1), .. }) => Ok(Vec::new()),
        Err(Failure::Host(error)) => vm.host_error(&error, "crontab"),
        Err(failure) => raise(vm, "Cron", &failure.to_string()),
    }
}

/// The entry that an argument asks for: variables, fields or one word for the time, command; nil
/// asks for none.
fn wanted(vm: &mut Vm, a: Args) -> Res<Option<Entry>> {
    let Some(given) = vm.opt_nil(a, 2).filter(|list| list.is_arr()) else { return Ok(None) };
    let parts = vm.heap.arr(given).clone();
    let part = |at: usize| parts.get(at).copied().filter(|part| !part.is_nil());
    let (environment, time) = (words(vm, part(0))?, words(vm, part(1))?);
    let command = words(vm, part(2))?.pop().unwrap_or_default();
    // A line says `*` where a schedule says nothing.
    let mut fields = time.into_iter().map(|field| if field == "*" { String::new() } else { field });
    let is_word = part(1).is_some_and(|time| !time.is_arr());
    let mut next = || fields.next().unwrap_or_default();
    let schedule = if is_word {
        Schedule { special: Some(next()), ..Schedule::default() }
    } else {
        let (minute, hour, monthday, month, weekday) = (next(), next(), next(), next(), next());
        Schedule { minute, hour, monthday, month, weekday, special: None }
    };
    Ok(Some(Entry { environment, schedule, user: None, command }))
}

/// `FX.cron_entry(user, name, entry)`: `[lines now, lines wanted, whether they say the same]`; nil
/// for lines that are not there or not wanted.
fn entry(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let (user, name) = (text(vm, a, 0)?.unwrap_or_default(), text(vm, a, 1)?.unwrap_or_default());
    let wanted = wanted(vm, a)?;
    let table = read(machine, vm, &user)?;
    let comment = Comment { marker: MARKER, name: &name };
    let found = table::find(&table, comment, false);
    let same = found == wanted;
    let mut shown = |entry: Option<Entry>| {
        entry.map_or(NIL, |entry| {
            let lines = std::iter::once(comment.line()).chain(entry.lines());
            list(vm, lines)
        })
    };
    let (found, wanted) = (shown(found), shown(wanted));
    Ok(vm.arr(vec![found, wanted, Value::bool(same)]))
}

/// `FX.cron_table(user, name, entry)`: the whole table with the entry, or without it.
fn whole_table(machine: &Machine, vm: &mut Vm, a: Args) -> R {
    let (user, name) = (text(vm, a, 0)?.unwrap_or_default(), text(vm, a, 1)?.unwrap_or_default());
    let wanted = wanted(vm, a)?;
    let table = read(machine, vm, &user)?;
    let comment = Comment { marker: MARKER, name: &name };
    let table = match wanted {
        Some(entry) => table::set(&table, comment, &entry),
        None => table::remove(&table, comment),
    };
    Ok(vm.str(table))
}

/// `FX.cron_words(user)`: the command that takes the table from its standard input.
fn store_words(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let user = text(vm, a, 0)?.unwrap_or_default();
    Ok(list(vm, fx_resources::cron::store(&user)))
}
