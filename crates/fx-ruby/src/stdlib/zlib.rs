//! Compression for Zlib: whole texts in, whole texts out.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::{DeflateDecoder, ZlibDecoder};
use flate2::write::{DeflateEncoder, ZlibEncoder};

use crate::encoding::BINARY;
use crate::natives::{Native, on_class};
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{Args, R, Vm};

/// Bytes compressed at a level, with zlib's frame or without.
fn deflate(vm: &mut Vm, a: Args) -> R {
    let (text, level, raw) = (vm.arg(a, 0), vm.arg(a, 1), vm.arg(a, 2).truthy());
    let text = vm.to_str_bytes(text)?;
    let level = vm.to_int(level)?;
    let level = Compression::new(u32::try_from(level).unwrap_or(6).min(9));
    let made = if raw {
        let mut out = DeflateEncoder::new(Vec::new(), level);
        out.write_all(&text).and_then(|()| out.finish())
    } else {
        let mut out = ZlibEncoder::new(Vec::new(), level);
        out.write_all(&text).and_then(|()| out.finish())
    };
    match made {
        Ok(bytes) => Ok(vm.str_enc(bytes, BINARY)),
        Err(_) => Ok(NIL),
    }
}

/// What was compressed and how many bytes of it there were, or nil if it is damaged. No more is
/// made than the heap may hold.
fn inflate(vm: &mut Vm, a: Args) -> R {
    let (text, raw) = (vm.arg(a, 0), vm.arg(a, 1).truthy());
    let text = vm.to_str_bytes(text)?;
    let most = vm.limits.heap.saturating_sub(vm.heap.bytes) as u64;
    let mut out = Vec::new();
    let (read, used) = if raw {
        let mut from = DeflateDecoder::new(text.as_slice());
        let read = (&mut from).take(most + 1).read_to_end(&mut out);
        (read, from.total_in())
    } else {
        let mut from = ZlibDecoder::new(text.as_slice());
        let read = (&mut from).take(most + 1).read_to_end(&mut out);
        (read, from.total_in())
    };
    if out.len() as u64 > most {
        return vm.fail(c::NO_MEMORY, "failed to allocate memory");
    }
    if read.is_err() {
        return Ok(NIL);
    }
    let made = vm.str_enc(out, BINARY);
    Ok(vm.arr(vec![made, Value::fix(used as i64)]))
}

fn crc32(vm: &mut Vm, a: Args) -> R {
    let (text, crc) = (vm.arg(a, 0), vm.arg(a, 1));
    let text = vm.to_str_bytes(text)?;
    let crc = !(vm.to_int(crc)? as u32);
    let crc = text.iter().fold(crc, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 }
        })
    });
    Ok(Value::fix(i64::from(!crc)))
}

const METHODS: &[Native] = &[
    on_class("__deflate", 3, 3, deflate),
    on_class("__inflate", 2, 2, inflate),
    on_class("__crc32", 2, 2, crc32),
];

pub(super) fn init(vm: &mut Vm) {
    let zlib = vm.define_module(c::OBJECT, "Zlib");
    vm.natives(zlib, METHODS);
}
