//! pack and unpack: the directives that configuration code uses.

use fx_formats::base64;

use crate::encoding as e;
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{Args, R, Res, Vm};

struct Item {
    kind: u8,
    count: Option<usize>,
    star: bool,
    big: Option<bool>,
    native: bool,
}

fn parse(vm: &mut Vm, text: &[u8]) -> Res<Vec<Item>> {
    let mut out = Vec::new();
    let mut i = 0;
    while i < text.len() {
        let kind = text[i];
        i += 1;
        if kind.is_ascii_whitespace() || kind == 0 {
            continue;
        }
        if kind == b'#' {
            while i < text.len() && text[i] != b'\n' {
                i += 1
            }
            continue;
        }
        let mut item = Item { kind, count: None, star: false, big: None, native: false };
        while let Some(m) = text.get(i) {
            match m {
                b'_' | b'!' => {
                    if !b"sSiIlLqQjJ".contains(&kind) {
                        return vm.arg_error(format!(
                            "'{}' allowed only after types sSiIlLqQjJ",
                            *m as char
                        ));
                    }
                    item.native = true
                }
                b'<' | b'>' => {
                    if !b"sSiIlLqQjJ".contains(&kind) {
                        return vm.arg_error(format!(
                            "'{}' allowed only after types sSiIlLqQjJ",
                            *m as char
                        ));
                    }
                    if item.big.is_some_and(|b| b != (*m == b'>')) {
                        return vm.fail(c::RANGE_ERROR, "Can't use both '<' and '>'");
                    }
                    item.big = Some(*m == b'>')
                }
                _ => break,
            }
            i += 1;
        }
        if text.get(i) == Some(&b'*') {
            item.star = true;
            i += 1
        } else {
            let start = i;
            while text.get(i).is_some_and(u8::is_ascii_digit) {
                i += 1
            }
            if i > start {
                item.count = String::from_utf8_lossy(&text[start..i]).parse().ok();
                if item.count.is_none() {
                    return vm.fail(c::RANGE_ERROR, "pack length too big");
                }
            }
        }
        out.push(item);
    }
    Ok(out)
}

/// Text for mail: lines end softly when longer than asked for.
fn quoted_printable(text: &[u8], count: usize, out: &mut Vec<u8>) {
    let most = if count <= 1 { 72 } else { count };
    let (mut column, mut before) = (0, None);
    for byte in text {
        match byte {
            b'\n' => {
                if matches!(before, Some(b' ' | b'\t')) {
                    out.extend_from_slice(b"=\n");
                }
                out.push(b'\n');
                (column, before) = (0, Some(b'\n'));
            }
            b'=' | 0..=8 | 11..=31 | 127.. => {
                out.extend_from_slice(format!("={byte:02X}").as_bytes());
                (column, before) = (column + 3, None);
            }
            _ => {
                out.push(*byte);
                (column, before) = (column + 1, Some(*byte));
            }
        }
        if column > most {
            out.extend_from_slice(b"=\n");
            (column, before) = (0, Some(b'\n'));
        }
    }
    if column > 0 {
        out.extend_from_slice(b"=\n");
    }
}

/// Width in bytes and byte order of a numeric directive.
fn width(item: &Item) -> Option<(usize, bool, bool)> {
    let big = item.big.unwrap_or(false);
    Some(match item.kind {
        b'c' => (1, true, big),
        b'C' => (1, false, big),
        b's' => (2, true, big),
        b'S' => (2, false, big),
        b'i' => (4, true, big),
        b'I' => (4, false, big),
        b'l' => (if item.native { 8 } else { 4 }, true, big),
        b'L' => (if item.native { 8 } else { 4 }, false, big),
        b'q' | b'j' => (8, true, big),
        b'Q' | b'J' => (8, false, big),
        b'n' => (2, false, true),
        b'N' => (4, false, true),
        b'v' => (2, false, false),
        b'V' => (4, false, false),
        _ => return None,
    })
}

pub(crate) fn pack(vm: &mut Vm, mut a: Args) -> R {
    let kw = vm.take_kw(&mut a);
    let f = vm.arg(a, 0);
    let f = vm.to_str_bytes(f)?;
    let items = vm.heap.arr(a.recv).clone();
    let mut at = 0;
    let buffer = vm.kw(kw, "buffer");
    let mut out: Vec<u8> = match buffer {
        None => Vec::new(),
        Some(buffer) if buffer.is_str() => {
            vm.check_frozen(buffer)?;
            vm.bytes(buffer).to_vec()
        }
        Some(other) => {
            let name = vm.type_name(other);
            return vm.type_error(format!("buffer must be String, not {name}"));
        }
    };
    let (mut utf8, mut ascii) = (false, true);
    let mut first = true;
    for item in parse(vm, &f)? {
        if item.kind == b'U' && first {
            utf8 = true
        }
        if !b"UmMu".contains(&item.kind) {
            ascii = false
        }
        first = false;
        let left = items.len().saturating_sub(at);
        let mut take = |vm: &mut Vm| -> R {
            at += 1;
            match items.get(at - 1) {
                Some(v) => Ok(*v),
                None => vm.arg_error("too few arguments"),
            }
        };
        if let Some((w, _, big)) = width(&item) {
            let n = if item.star { left } else { item.count.unwrap_or(1) };
            for _ in 0..n {
                let v = take(vm)?;
                let v = vm.to_int_value(v)?;
                let d = vm.big_value(v);
                let mut b = d
                    .bitop(&crate::bignum::Big::from_i128((1i128 << 64) - 1), |x, y| x & y)
                    .to_i128()
                    .unwrap_or(0) as u64;
                b &= if w == 8 { u64::MAX } else { (1 << (w * 8)) - 1 };
                let bytes = b.to_le_bytes();
                if big {
                    out.extend(bytes[..w].iter().rev())
                } else {
                    out.extend_from_slice(&bytes[..w])
                }
            }
            continue;
        }
        match item.kind {
            b'a' | b'A' | b'Z' => {
                let v = take(vm)?;
                let b = if v.is_nil() { Vec::new() } else { vm.to_str_bytes(v)? };
                let n = if item.star {
                    b.len() + usize::from(item.kind == b'Z')
                } else {
                    item.count.unwrap_or(1)
                };
                vm.reserve(n)?;
                let mut b: Vec<u8> = b.into_iter().take(n).collect();
                b.resize(n, if item.kind == b'A' { b' ' } else { 0 });
                out.extend(b);
            }
            b'U' | b'w' => {
                let n = if item.star { left } else { item.count.unwrap_or(1) };
                for _ in 0..n {
                    let v = take(vm)?;
                    let i = vm.to_int(v)?;
                    if item.kind == b'w' {
                        if i < 0 {
                            return vm.arg_error("can't compress negative numbers");
                        }
                        let mut b = vec![(i & 0x7f) as u8];
                        let mut r = i >> 7;
                        while r > 0 {
                            b.push((r & 0x7f) as u8 | 0x80);
                            r >>= 7
                        }
                        b.reverse();
                        out.extend(b)
                    } else {
                        if i < 0 {
                            return vm.fail(c::RANGE_ERROR, "pack(U): value out of range");
                        }
                        match e::encode_char(i as u32, 0) {
                            Some(b) => out.extend(b),
                            None => {
                                let i = i as u32;
                                out.extend([
                                    0xE0 | (i >> 12) as u8,
                                    0x80 | (i >> 6 & 63) as u8,
                                    0x80 | (i & 63) as u8,
                                ])
                            }
                        }
                    }
                }
            }
            b'm' => {
                let v = take(vm)?;
                let b = vm.to_str_bytes(v)?;
                if item.count == Some(0) {
                    out.extend_from_slice(base64::encode(&b).as_bytes())
                } else {
                    let len = item.count.map_or(45, |n| if n < 3 { 45 } else { n / 3 * 3 });
                    for ch in b.chunks(len) {
                        out.extend_from_slice(base64::encode(ch).as_bytes());
                        out.push(b'\n')
                    }
                }
            }
            b'M' => {
                let v = take(vm)?;
                let text = vm.to_s(v)?;
                quoted_printable(text.as_bytes(), item.count.unwrap_or(1), &mut out);
            }
            b'u' => {
                let v = take(vm)?;
                let b = vm.to_str_bytes(v)?;
                for ch in b.chunks(45) {
                    out.push(32 + ch.len() as u8);
                    for t in ch.chunks(3) {
                        let v = u32::from(t[0]) << 16
                            | u32::from(*t.get(1).unwrap_or(&0)) << 8
                            | u32::from(*t.get(2).unwrap_or(&0));
                        for i in 0..4 {
                            let x = (v >> (18 - 6 * i)) & 63;
                            out.push(if x == 0 { b'`' } else { 32 + x as u8 })
                        }
                    }
                    out.push(b'\n')
                }
            }
            b'H' | b'h' => {
                let v = take(vm)?;
                let b = if v.is_nil() { Vec::new() } else { vm.to_str_bytes(v)? };
                let n = if item.star { b.len() } else { item.count.unwrap_or(1) };
                let d: Vec<u8> = b
                    .iter()
                    .take(n)
                    .map(|x| if x.is_ascii_alphabetic() { ((x & 7) + 9) & 15 } else { x & 15 })
                    .collect();
                for p in d.chunks(2) {
                    let (x, y) = (p[0], *p.get(1).unwrap_or(&0));
                    out.push(if item.kind == b'H' { x << 4 | y } else { y << 4 | x })
                }
                let have = d.len().div_ceil(2);
                for _ in have..n.div_ceil(2) {
                    out.push(0)
                }
            }
            b'B' | b'b' => {
                let v = take(vm)?;
                let b = vm.to_str_bytes(v)?;
                let n = if item.star { b.len() } else { item.count.unwrap_or(1) };
                let d: Vec<u8> = b.iter().take(n).map(|x| x & 1).collect();
                for p in d.chunks(8) {
                    let mut x = 0;
                    for (i, bit) in p.iter().enumerate() {
                        x |= if item.kind == b'B' { bit << (7 - i) } else { bit << i }
                    }
                    out.push(x)
                }
                for _ in d.len().div_ceil(8)..n.div_ceil(8) {
                    out.push(0)
                }
            }
            b'x' => {
                let n = if item.star { 0 } else { item.count.unwrap_or(1) };
                vm.reserve(n)?;
                out.extend(std::iter::repeat_n(0, n))
            }
            b'X' => {
                let n = if item.star { 0 } else { item.count.unwrap_or(1) };
                if n > out.len() {
                    return vm.arg_error("X outside of string");
                }
                out.truncate(out.len() - n)
            }
            b'@' => {
                let n = item.count.unwrap_or(1);
                vm.reserve(n)?;
                out.resize(n, 0)
            }
            b'e' | b'g' | b'f' | b'F' | b'E' | b'G' | b'd' | b'D' => {
                let n = if item.star { left } else { item.count.unwrap_or(1) };
                for _ in 0..n {
                    let v = take(vm)?;
                    let x = vm.to_f(v)?;
                    match item.kind {
                        b'e' | b'f' | b'F' => out.extend((x as f32).to_le_bytes()),
                        b'g' => out.extend((x as f32).to_be_bytes()),
                        b'G' => out.extend(x.to_be_bytes()),
                        _ => out.extend(x.to_le_bytes()),
                    }
                }
            }
            k => {
                let t = String::from_utf8_lossy(&f).into_owned();
                vm.warn(&format!("warning: unknown pack directive '{}' in '{t}'\n", k as char))?
            }
        }
    }
    let enc = if utf8 {
        0
    } else if ascii || f.is_empty() {
        e::ASCII
    } else {
        e::BINARY
    };
    if let Some(buffer) = buffer {
        vm.heap.str_mut(buffer).bytes = out.into();
        return Ok(buffer);
    }
    Ok(vm.str_enc(out, enc))
}

pub(crate) fn unpack(vm: &mut Vm, mut a: Args) -> R {
    let kw = vm.take_kw(&mut a);
    let f = vm.arg(a, 0);
    let f = vm.to_str_bytes(f)?;
    let data = vm.bytes(a.recv).to_vec();
    let mut at = match vm.kw(kw, "offset") {
        Some(v) => {
            let o = vm.to_int(v)?;
            if o < 0 {
                return vm.arg_error("offset can't be negative");
            }
            if o as usize > data.len() {
                return vm.arg_error("offset outside of string");
            }
            o as usize
        }
        None => 0,
    };
    let mut out = Vec::new();
    for item in parse(vm, &f)? {
        let rest = &data[at.min(data.len())..];
        if let Some((w, signed, big)) = width(&item) {
            let n = if item.star { rest.len() / w } else { item.count.unwrap_or(1) };
            for i in 0..n {
                let Some(b) = rest.get(i * w..i * w + w) else {
                    if !item.star {
                        out.push(NIL)
                    }
                    continue;
                };
                let mut x = 0u64;
                for (j, y) in b.iter().enumerate() {
                    x |= u64::from(*y) << (8 * if big { w - 1 - j } else { j })
                }
                let v = if signed {
                    i128::from((x << (64 - w * 8)) as i64 >> (64 - w * 8))
                } else {
                    i128::from(x)
                };
                out.push(vm.int128(v));
                at += w
            }
            continue;
        }
        match item.kind {
            b'a' | b'A' | b'Z' => {
                let n =
                    if item.star { rest.len() } else { item.count.unwrap_or(1).min(rest.len()) };
                let mut b = &rest[..n];
                let mut used = n;
                if item.kind == b'A' {
                    while let [r @ .., x] = b {
                        if *x == b' ' || *x == 0 { b = r } else { break }
                    }
                }
                if item.kind == b'Z'
                    && let Some(i) = b.iter().position(|x| *x == 0)
                {
                    if item.star {
                        used = i + 1
                    }
                    b = &b[..i]
                }
                out.push(vm.str_enc(b, e::BINARY));
                at += used;
            }
            b'U' => {
                let mut n = if item.star { usize::MAX } else { item.count.unwrap_or(1) };
                while n > 0 && at < data.len() {
                    let (len, good) = e::char_len(&data[at..], 0);
                    if !good {
                        return vm.arg_error("malformed UTF-8 character");
                    }
                    out.push(Value::fix(i64::from(e::codepoint(&data[at..], 0).unwrap_or(0))));
                    at += len;
                    n -= 1
                }
            }
            b'w' => {
                let mut n = if item.star { usize::MAX } else { item.count.unwrap_or(1) };
                while n > 0 && at < data.len() {
                    let mut v = 0i128;
                    while at < data.len() {
                        let b = data[at];
                        at += 1;
                        v = v << 7 | i128::from(b & 0x7f);
                        if b < 0x80 {
                            break;
                        }
                    }
                    out.push(vm.int128(v));
                    n -= 1
                }
            }
            b'm' => {
                let strict = item.count == Some(0);
                if strict
                    && (!rest.len().is_multiple_of(4)
                        || rest.iter().any(|x| base64::code(*x).is_none() && *x != b'='))
                {
                    return vm.arg_error("invalid base64");
                }
                let b = base64::decode_lenient(rest);
                at = data.len();
                out.push(vm.str_enc(b, e::BINARY))
            }
            b'M' => {
                let mut b = Vec::new();
                let mut i = 0;
                while i < rest.len() {
                    if rest[i] == b'=' {
                        if rest.get(i + 1) == Some(&b'\n') {
                            i += 2;
                            continue;
                        }
                        if rest.get(i + 1..i + 3) == Some(b"\r\n") {
                            i += 3;
                            continue;
                        }
                        match rest
                            .get(i + 1..i + 3)
                            .and_then(|h| u8::from_str_radix(std::str::from_utf8(h).ok()?, 16).ok())
                        {
                            Some(x) => {
                                b.push(x);
                                i += 3
                            }
                            None => {
                                b.extend_from_slice(&rest[i..]);
                                break;
                            }
                        }
                    } else {
                        b.push(rest[i]);
                        i += 1
                    }
                }
                at = data.len();
                out.push(vm.str_enc(b, e::BINARY))
            }
            b'u' => {
                let mut b = Vec::new();
                for line in rest.split(|x| *x == b'\n') {
                    if line.is_empty() {
                        continue;
                    }
                    let n = (line[0].wrapping_sub(32) & 63) as usize;
                    let mut t = Vec::new();
                    for ch in line[1..].chunks(4) {
                        let mut v = 0u32;
                        for i in 0..4 {
                            v = v << 6 | u32::from(ch.get(i).unwrap_or(&32).wrapping_sub(32) & 63)
                        }
                        t.extend([(v >> 16) as u8, (v >> 8) as u8, v as u8])
                    }
                    t.truncate(n);
                    b.extend(t)
                }
                at = data.len();
                out.push(vm.str_enc(b, e::BINARY))
            }
            b'H' | b'h' => {
                let n = if item.star {
                    rest.len() * 2
                } else {
                    item.count.unwrap_or(1).min(rest.len() * 2)
                };
                let mut s = String::new();
                for i in 0..n {
                    let b = rest[i / 2];
                    let x = if (i % 2 == 0) == (item.kind == b'H') { b >> 4 } else { b & 15 };
                    s.push(std::char::from_digit(u32::from(x), 16).unwrap_or('0'))
                }
                at += n.div_ceil(2);
                out.push(vm.ascii(s))
            }
            b'B' | b'b' => {
                let n = if item.star {
                    rest.len() * 8
                } else {
                    item.count.unwrap_or(1).min(rest.len() * 8)
                };
                let mut s = String::new();
                for i in 0..n {
                    let b = rest[i / 8];
                    let bit = if item.kind == b'B' { b >> (7 - i % 8) } else { b >> (i % 8) } & 1;
                    s.push(if bit == 1 { '1' } else { '0' })
                }
                at += n.div_ceil(8);
                out.push(vm.ascii(s))
            }
            b'x' => {
                let n = if item.star { rest.len() } else { item.count.unwrap_or(1) };
                if n > rest.len() {
                    return vm.arg_error("x outside of string");
                }
                at += n
            }
            b'X' => {
                let n = if item.star { 0 } else { item.count.unwrap_or(1) };
                if n > at {
                    return vm.arg_error("X outside of string");
                }
                at -= n
            }
            b'@' => {
                let n = if item.star { at } else { item.count.unwrap_or(0) };
                if n > data.len() {
                    return vm.arg_error("@ outside of string");
                }
                at = n
            }
            b'e' | b'g' | b'f' | b'F' | b'E' | b'G' | b'd' | b'D' => {
                let w = if b"egfF".contains(&item.kind) { 4 } else { 8 };
                let n = if item.star { rest.len() / w } else { item.count.unwrap_or(1) };
                for i in 0..n {
                    let Some(b) = rest.get(i * w..i * w + w) else {
                        if !item.star {
                            out.push(NIL)
                        }
                        continue;
                    };
                    let mut x = [0u8; 8];
                    x[..w].copy_from_slice(b);
                    if b"gG".contains(&item.kind) {
                        x[..w].reverse()
                    }
                    let f = if w == 4 {
                        f64::from(f32::from_le_bytes([x[0], x[1], x[2], x[3]]))
                    } else {
                        f64::from_le_bytes(x)
                    };
                    out.push(vm.float(f));
                    at += w
                }
            }
            k => {
                let t = String::from_utf8_lossy(&f).into_owned();
                vm.warn(&format!("warning: unknown unpack directive '{}' in '{t}'\n", k as char))?
            }
        }
    }
    if !a.block.is_nil() {
        let held = vm.hold_call(a);
        for v in &out {
            vm.hold(*v);
        }
        for v in out {
            vm.open(held).yield1(a.block, v)?;
        }
        return Ok(NIL);
    }
    Ok(vm.arr(out))
}
