//! What `upcase` and its kin may be given: ASCII only, Turkic letters, folding. Lithuanian is
//! taken and changes nothing, as in Ruby.

use crate::vm::{Args, Res, Vm};

/// How letters are mapped.
#[derive(Clone, Copy, Default)]
pub(super) struct Options {
    pub(super) ascii: bool,
    pub(super) turkic: bool,
    pub(super) fold: bool,
}

pub(super) fn options(vm: &mut Vm, a: Args, down: bool) -> Res<Options> {
    let mut o = Options::default();
    if a.argc == 0 {
        return Ok(o);
    }
    if a.argc > 2 {
        return vm.arg_error("too many options");
    }
    let names: Vec<&[u8]> =
        vm.args(a).iter().map(|v| v.as_sym().map_or(&b""[..], |s| vm.syms.bytes(s))).collect();
    match names[0] {
        b"ascii" => o.ascii = true,
        b"fold" if down => o.fold = true,
        b"fold" => return vm.arg_error("option :fold only allowed for downcasing"),
        b"turkic" => o.turkic = true,
        b"lithuanian" => {}
        _ => return vm.arg_error("invalid option"),
    }
    match names.get(1).copied() {
        None => {}
        Some(_) if o.ascii || o.fold => return vm.arg_error("too many options"),
        Some(b"lithuanian") if o.turkic => {}
        Some(b"turkic") if !o.turkic => o.turkic = true,
        Some(_) => return vm.arg_error("invalid second option"),
    }
    Ok(o)
}

pub(super) fn up(c: char, o: Options) -> String {
    if o.turkic && c == 'i' { "İ".into() } else { c.to_uppercase().collect() }
}

/// One letter at a time: a sigma at the end of a word is like any other.
pub(super) fn down(c: char, o: Options) -> String {
    match c {
        'I' if o.turkic => "ı".into(),
        'İ' if o.turkic => "i".into(),
        'ß' | 'ẞ' if o.fold => "ss".into(),
        'ς' if o.fold => "σ".into(),
        _ => c.to_lowercase().collect(),
    }
}

pub(super) fn swap(c: char, o: Options) -> String {
    if c.is_uppercase() { down(c, o) } else { up(c, o) }
}

/// The first letter as a title has it: of several, only the first stays large.
pub(super) fn title(c: char, o: Options) -> String {
    let up = up(c, o);
    let mut letters = up.chars();
    match letters.next() {
        Some(first) => {
            first.to_string() + &letters.flat_map(char::to_lowercase).collect::<String>()
        }
        None => up,
    }
}
