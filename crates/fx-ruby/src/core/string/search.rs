//! String searching: index, split, sub, gsub, scan, and comparisons of parts.

use crate::encoding as e;
use crate::names as n;
use crate::natives::{Native, public};
use crate::object::c;
use crate::regex::find;
use crate::value::{FALSE, NIL, Value};
use crate::vm::{Args, R, Res, Vm};

fn index(vm: &mut Vm, a: Args) -> R {
    let pat = vm.arg(a, 0);
    let len = e::count(vm.heap.str(a.recv)) as i64;
    let from = match vm.opt(a, 1) {
        Some(v) => vm.to_int(v)?,
        None => 0,
    };
    let from = if from < 0 { from + len } else { from };
    if from < 0 || from > len {
        if pat.is_regex() {
            vm.last_match = NIL
        }
        return Ok(NIL);
    }
    let at = e::offset(vm.heap.str(a.recv), from as usize).unwrap_or(0);
    if pat.is_regex() {
        let m = vm.regex_match(pat, a.recv, at)?;
        return Ok(if m.is_nil() { NIL } else { vm.match_begin(m, 0) });
    }
    let pat = vm.to_str(pat)?;
    vm.compat(a.recv, pat)?;
    let mut at = at;
    loop {
        let hay = vm.bytes(a.recv);
        match find(&hay[at..], vm.bytes(pat)) {
            Some(i) => {
                let pos = at + i;
                // A hit inside a character is none.
                if vm.heap.str(a.recv).enc == 0 && pos < hay.len() && hay[pos] & 0xC0 == 0x80 {
                    at = pos + 1;
                    continue;
                }
                return Ok(Value::fix(e::index_of(vm.heap.str(a.recv), pos) as i64));
            }
            None => return Ok(NIL),
        }
    }
}

fn rindex(vm: &mut Vm, a: Args) -> R {
    let pat = vm.arg(a, 0);
    let len = e::count(vm.heap.str(a.recv)) as i64;
    let from = match vm.opt(a, 1) {
        Some(v) => vm.to_int(v)?,
        None => len,
    };
    let from = if from < 0 { from + len } else { from };
    if from < 0 {
        if pat.is_regex() {
            vm.last_match = NIL
        }
        return Ok(NIL);
    }
    let at = e::offset(vm.heap.str(a.recv), from.min(len) as usize).unwrap_or(0);
    if pat.is_regex() {
        let m = vm.regex_match_back(pat, a.recv, at)?;
        return Ok(if m.is_nil() { NIL } else { vm.match_begin(m, 0) });
    }
    let pat = vm.to_str(pat)?;
    vm.compat(a.recv, pat)?;
    let (hay, needle) = (vm.bytes(a.recv), vm.bytes(pat));
    if needle.len() > hay.len() {
        return Ok(NIL);
    }
    let mut i = at.min(hay.len() - needle.len());
    loop {
        let boundary = i == hay.len() || hay[i] & 0xC0 != 0x80 || vm.heap.str(a.recv).enc != 0;
        if &hay[i..i + needle.len()] == needle && boundary {
            return Ok(Value::fix(e::index_of(vm.heap.str(a.recv), i) as i64));
        }
        if i == 0 {
            return Ok(NIL);
        }
        i -= 1;
    }
}

fn split(vm: &mut Vm, a: Args) -> R {
    let list = split_list(vm, a)?;
    if a.block.is_nil() {
        return Ok(vm.arr(list));
    }
    let held = vm.hold_call(a);
    let list = vm.arr(list);
    vm.hold(list);
    let mut i = 0;
    while let Some(v) = vm.heap.arr(list).get(i).copied() {
        vm.open(held).yield1(a.block, v)?;
        i += 1;
    }
    Ok(a.recv)
}

fn split_list(vm: &mut Vm, a: Args) -> Res<Vec<Value>> {
    let pat = match vm.opt(a, 0) {
        Some(v) if !v.is_nil() => Some(v),
        _ => {
            let fs = vm.global(n::GV_FS);
            if fs.is_nil() { None } else { Some(fs) }
        }
    };
    let limit = match vm.opt(a, 1) {
        Some(v) => vm.to_int(v)?,
        None => 0,
    };
    let bytes = vm.bytes(a.recv).to_vec();
    let enc = vm.heap.str(a.recv).enc;
    if limit == 1 {
        return Ok(if bytes.is_empty() { vec![] } else { vec![vm.str_enc(bytes, enc)] });
    }
    if !e::valid(vm.heap.str(a.recv)) {
        let name = e::name(enc);
        return vm.arg_error(format!("invalid byte sequence in {name}"));
    }
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let pat_str = match pat {
        None => Some(b" ".to_vec()),
        Some(p) if p.is_regex() => {
            let _ = p;
            None
        }
        Some(p) => {
            let p = vm.to_str(p)?;
            vm.compat(a.recv, p)?;
            Some(vm.bytes(p).to_vec())
        }
    };
    let max = if limit > 0 { limit as usize } else { usize::MAX };
    match pat_str {
        Some(sep) if sep == b" " => {
            let mut i = 0;
            let ws = |b: u8| b.is_ascii_whitespace() || b == 0x0B;
            loop {
                while i < bytes.len() && ws(bytes[i]) {
                    i += 1
                }
                if i >= bytes.len() {
                    if limit != 0 && !bytes.is_empty() && bytes.last().is_some_and(|b| ws(*b)) {
                        parts.push(Vec::new())
                    }
                    break;
                }
                if parts.len() + 1 == max {
                    parts.push(bytes[i..].to_vec());
                    break;
                }
                let start = i;
                while i < bytes.len() && !ws(bytes[i]) {
                    i += 1
                }
                parts.push(bytes[start..i].to_vec());
            }
        }
        Some(sep) if sep.is_empty() => {
            let chars = e::chars(&bytes, enc);
            for (k, (x, y)) in chars.iter().enumerate() {
                if parts.len() + 1 == max {
                    parts.push(bytes[*x..].to_vec());
                    break;
                }
                parts.push(bytes[*x..*y].to_vec());
                if k + 1 == chars.len() && limit != 0 && parts.len() < max {
                    parts.push(Vec::new())
                }
            }
        }
        Some(sep) => {
            let mut at = 0;
            while parts.len() + 1 < max {
                match find(&bytes[at..], &sep) {
                    Some(i) => {
                        parts.push(bytes[at..at + i].to_vec());
                        at += i + sep.len()
                    }
                    None => break,
                }
            }
            if !bytes.is_empty() {
                parts.push(bytes[at..].to_vec())
            }
        }
        None => {
            let re = pat.unwrap_or(NIL);
            let (mut at, mut from) = (0, 0);
            while parts.len() + 1 < max && from <= bytes.len() {
                let Some(g) = vm.regex_search(re, a.recv, from)? else { break };
                let (x, y) = g[0].unwrap_or((0, 0));
                if y == x {
                    if x >= bytes.len() {
                        if limit != 0 && at < x {
                            parts.push(bytes[at..x].to_vec());
                            parts.extend(
                                g[1..].iter().flatten().map(|(p, q)| bytes[*p..*q].to_vec()),
                            );
                            at = x;
                        }
                        break;
                    }
                    let len = e::char_len(&bytes[x..], enc).0;
                    if x == at {
                        from = x + len;
                        if from > bytes.len() || x + len > bytes.len() {
                            break;
                        }
                        // An empty match splits between characters.
                        let Some(g2) = vm.regex_search(re, a.recv, from)? else { break };
                        let (x2, y2) = g2[0].unwrap_or((0, 0));
                        if x2 >= bytes.len() && y2 == x2 && limit == 0 {
                            break;
                        }
                        parts.push(bytes[at..x2].to_vec());
                        for (p, q) in g2[1..].iter().flatten() {
                            parts.push(bytes[*p..*q].to_vec())
                        }
                        at = y2;
                        from = y2;
                        continue;
                    }
                    parts.push(bytes[at..x].to_vec());
                    for (p, q) in g[1..].iter().flatten() {
                        parts.push(bytes[*p..*q].to_vec())
                    }
                    at = x;
                    from = x;
                    continue;
                }
                parts.push(bytes[at..x].to_vec());
                for (p, q) in g[1..].iter().flatten() {
                    parts.push(bytes[*p..*q].to_vec())
                }
                at = y;
                from = y;
            }
            if !bytes.is_empty() {
                parts.push(bytes[at..].to_vec())
            }
        }
    }
    if limit == 0 {
        while parts.last().is_some_and(Vec::is_empty) {
            parts.pop();
        }
    }
    vm.heap.bytes += parts.len() * 64;
    Ok(parts.into_iter().map(|p| vm.str_enc(p, enc)).collect())
}

/// Expands `\1`, `\k<name>` and kin in a replacement.
fn expand(vm: &Vm, rep: &[u8], text: &[u8], groups: &crate::regex::Groups, re: Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(rep.len());
    let group =
        |i: usize| groups.get(i).copied().flatten().map(|(x, y)| &text[x..y]).unwrap_or(b"");
    let mut i = 0;
    while i < rep.len() {
        if rep[i] != b'\\' || i + 1 >= rep.len() {
            out.push(rep[i]);
            i += 1;
            continue;
        }
        match rep[i + 1] {
            d @ b'0'..=b'9' => out.extend_from_slice(group((d - b'0') as usize)),
            b'&' => out.extend_from_slice(group(0)),
            b'`' => out.extend_from_slice(&text[..groups[0].map_or(0, |g| g.0)]),
            b'\'' => out.extend_from_slice(&text[groups[0].map_or(0, |g| g.1)..]),
            b'\\' => out.push(b'\\'),
            b'+' => {
                let last = groups.iter().skip(1).rposition(Option::is_some);
                if let Some(i) = last {
                    out.extend_from_slice(group(i + 1));
                }
            }
            b'k' if rep.get(i + 2) == Some(&b'<') => {
                if let Some(end) = rep[i..].iter().position(|b| *b == b'>') {
                    let name = String::from_utf8_lossy(&rep[i + 3..i + end]).into_owned();
                    if let Some(k) = vm.regex_group_index(re, &name, groups) {
                        out.extend_from_slice(group(k))
                    }
                    i += end + 1;
                    continue;
                }
            }
            x => {
                out.push(b'\\');
                out.push(x)
            }
        }
        i += 2;
    }
    out
}

/// sub and gsub: the result, and whether anything matched.
fn substitute(vm: &mut Vm, a: Args, all: bool) -> Res<(Value, bool)> {
    let pat = vm.arg(a, 0);
    let rep = vm.opt(a, 1);
    let hash = match rep {
        Some(r) if r.is_hash() => Some(r),
        _ => None,
    };
    let rep = match rep {
        Some(r) if hash.is_none() => {
            if !r.is_str()
                && r.is_obj()
                && !vm.responds(r, n::TO_STR, true)?
                && vm.responds(r, n::TO_HASH, true)?
            {
                return {
                    let h = vm.to_hash(r)?;
                    sub_with(vm, a, pat, None, Some(h), all)
                };
            }
            Some(vm.to_str(r)?)
        }
        _ => None,
    };
    sub_with(vm, a, pat, rep, hash, all)
}

fn sub_with(
    vm: &mut Vm,
    a: Args,
    pat: Value,
    rep: Option<Value>,
    hash: Option<Value>,
    all: bool,
) -> Res<(Value, bool)> {
    let convertible = pat.is_obj() && vm.responds(pat, n::TO_STR, true)?;
    if !(pat.is_regex() || pat.is_str() || convertible) {
        let t = vm.type_name(pat);
        return vm.type_error(format!("wrong argument type {t} (expected Regexp)"));
    }
    let pat = if pat.is_regex() { pat } else { vm.to_str(pat)? };
    let held = vm.hold_call(a);
    vm.hold(pat);
    let mut enc = vm.heap.str(a.recv).enc;
    let text = vm.bytes(a.recv).to_vec();
    let rep_bytes = rep.map(|r| vm.bytes(r).to_vec());
    if let Some(r) = rep {
        enc = vm.compat(a.recv, r)?;
    }
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let (mut at, mut from, mut any) = (0, 0, false);
    let mut last = None;
    while from <= text.len() {
        let g = if pat.is_str() {
            find(&text[from..], vm.bytes(pat))
                .map(|i| vec![Some((from + i, from + i + vm.bytes(pat).len()))])
        } else {
            vm.regex_search(pat, a.recv, from)?
        };
        let Some(g) = g else { break };
        any = true;
        let (x, y) = g[0].unwrap_or((0, 0));
        out.extend_from_slice(&text[at..x]);
        match (&rep_bytes, hash) {
            (Some(r), _) => {
                if r.contains(&b'\\') {
                    out.extend(expand(vm, r, &text, &g, pat))
                } else {
                    out.extend_from_slice(r)
                }
            }
            (None, Some(h)) => {
                let key = vm.str_enc(&text[x..y], vm.heap.str(a.recv).enc);
                let v = vm.hash_aref(h, key)?;
                let s = vm.interpolate(v)?;
                out.extend_from_slice(vm.bytes(s));
            }
            _ => {
                let m = vm.new_match(pat, a.recv, g.clone());
                vm.last_match = m;
                let piece = vm.str_enc(&text[x..y], vm.heap.str(a.recv).enc);
                let v = vm.open(held).yield1(a.block, piece)?;
                let s = vm.interpolate(v)?;
                if !vm.bytes(s).is_ascii() {
                    let se = vm.heap.str(s).enc;
                    if se != enc {
                        let probe = vm.str_enc(out.clone(), enc);
                        enc = vm.compat(probe, s)?;
                    }
                }
                out.extend_from_slice(vm.bytes(s));
            }
        }
        last = Some(g);
        at = y;
        if y == x {
            if x < text.len() {
                let len = e::char_len(&text[x..], vm.heap.str(a.recv).enc).0;
                out.extend_from_slice(&text[x..x + len]);
                at = x + len;
                from = x + len
            } else {
                from = text.len() + 1;
                at = text.len()
            }
        } else {
            from = y
        }
        if !all {
            break;
        }
        vm.tick()?;
    }
    match last {
        Some(g) => {
            let m = vm.new_match(pat, a.recv, g);
            vm.last_match = m
        }
        None => vm.last_match = NIL,
    }
    if at < text.len() {
        out.extend_from_slice(&text[at..])
    }
    Ok((vm.str_enc(out, enc), any))
}

fn sub_common(vm: &mut Vm, a: Args, all: bool, bang: bool) -> R {
    if a.argc == 1 && a.block.is_nil() {
        if !all {
            return vm.wrong_args(1, 2, Some(2));
        }
        return vm.enumerator(a);
    }
    if bang {
        vm.check_frozen(a.recv)?;
    }
    let before = vm.bytes(a.recv).len();
    let (v, any) = substitute(vm, a, all)?;
    if !bang {
        return Ok(v);
    }
    if !any {
        return Ok(NIL);
    }
    vm.check_frozen(a.recv)?;
    if !a.block.is_nil() && vm.bytes(a.recv).len() != before {
        return vm.fail(c::RUNTIME_ERROR, "string modified");
    }
    let (b, enc) = (vm.bytes(v).to_vec(), vm.heap.str(v).enc);
    let s = vm.heap.str_mut(a.recv);
    s.bytes = b.into();
    s.enc = enc;
    Ok(a.recv)
}

const METHODS: &[Native] = &[
    public("index", 1, 2, index),
    public("rindex", 1, 2, rindex),
    public("byteindex", 1, 2, |vm, a| {
        let pat = vm.arg(a, 0);
        let from = match vm.opt(a, 1) {
            Some(v) => vm.to_int(v)?,
            None => 0,
        };
        let len = vm.bytes(a.recv).len() as i64;
        let from = if from < 0 { from + len } else { from };
        if from < 0 || from > len {
            return Ok(NIL);
        }
        if pat.is_regex() {
            let m = vm.regex_match(pat, a.recv, from as usize)?;
            return Ok(vm
                .match_range(m, Value::fix(0))?
                .map_or(NIL, |(x, _)| Value::fix(x as i64)));
        }
        let pat = vm.to_str(pat)?;
        Ok(find(&vm.bytes(a.recv)[from as usize..], vm.bytes(pat))
            .map_or(NIL, |i| Value::fix(i as i64 + from)))
    }),
    public("include?", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        let o = vm.to_str(o)?;
        vm.compat(a.recv, o)?;
        Ok(Value::bool(find(vm.bytes(a.recv), vm.bytes(o)).is_some()))
    }),
    public("start_with?", 0, -1, |vm, a| {
        for v in vm.args(a) {
            if v.is_regex() {
                let m = vm.regex_match_at(v, a.recv, 0)?;
                if !m.is_nil() {
                    return Ok(Value::bool(true));
                }
                continue;
            }
            let v = vm.to_str(v)?;
            if vm.bytes(a.recv).starts_with(vm.bytes(v)) {
                return Ok(Value::bool(true));
            }
        }
        Ok(FALSE)
    }),
    public("end_with?", 0, -1, |vm, a| {
        for v in vm.args(a) {
            let v = vm.to_str(v)?;
            vm.compat(a.recv, v)?;
            let (b, t) = (vm.bytes(a.recv), vm.bytes(v));
            if b.ends_with(t)
                && (t.is_empty()
                    || vm.heap.str(a.recv).enc != 0
                    || b[b.len() - t.len()] & 0xC0 != 0x80)
            {
                return Ok(Value::bool(true));
            }
        }
        Ok(FALSE)
    }),
    public("split", 0, 2, split),
    public("sub", 1, 2, |vm, a| sub_common(vm, a, false, false)),
    public("gsub", 1, 2, |vm, a| sub_common(vm, a, true, false)),
    public("sub!", 1, 2, |vm, a| sub_common(vm, a, false, true)),
    public("gsub!", 1, 2, |vm, a| sub_common(vm, a, true, true)),
    public("scan", 1, 1, |vm, a| {
        let pat = vm.arg(a, 0);
        let pat = if pat.is_regex() {
            pat
        } else {
            let p = vm.to_str(pat)?;
            let src = crate::core::regexp::escape(vm.bytes(p));
            let enc = vm.heap.str(p).enc;
            vm.new_regex(&src, 0, enc)?
        };
        let enc = vm.heap.str(a.recv).enc;
        let text = vm.bytes(a.recv).to_vec();
        let held = vm.hold_call(a);
        vm.hold(pat);
        let last_held = vm.hold(NIL);
        let mut out = Vec::new();
        let mut from = 0;
        let mut last = NIL;
        while from <= text.len() {
            let Some(g) = vm.regex_search(pat, a.recv, from)? else { break };
            let (x, y) = g[0].unwrap_or((0, 0));
            from = if y > x {
                y
            } else if x < text.len() {
                x + e::char_len(&text[x..], enc).0
            } else {
                x + 1
            };
            let v = if g.len() == 1 {
                vm.str_enc(&text[x..y], enc)
            } else {
                let items = g[1..]
                    .iter()
                    .map(|r| r.map_or(NIL, |(p, q)| vm.str_enc(&text[p..q], enc)))
                    .collect();
                vm.arr(items)
            };
            last = vm.new_match(pat, a.recv, g);
            if a.block.is_nil() {
                out.push(v)
            } else {
                vm.last_match = last;
                vm.set_held(last_held, last);
                vm.open(held).yield1(a.block, v)?;
            }
            vm.tick()?;
        }
        vm.last_match = last;
        Ok(if a.block.is_nil() { vm.arr(out) } else { a.recv })
    }),
    public("=~", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        if o.is_str() {
            return vm.type_error("type mismatch: String given");
        }
        if o.is_regex() {
            let m = vm.regex_match(o, a.recv, 0)?;
            return Ok(if m.is_nil() { NIL } else { vm.match_begin(m, 0) });
        }
        vm.send(o, n::MATCH_OP, &[a.recv])
    }),
    public("casecmp", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        let Some(o) = vm.check_str(o)? else { return Ok(NIL) };
        if e::compatible(vm.heap.str(a.recv), vm.heap.str(o)).is_none() {
            return Ok(NIL);
        }
        let (x, y) = (vm.bytes(a.recv).to_ascii_lowercase(), vm.bytes(o).to_ascii_lowercase());
        Ok(Value::fix(x.cmp(&y) as i64))
    }),
    public("casecmp?", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        let Some(o) = vm.check_str(o)? else { return Ok(NIL) };
        if e::compatible(vm.heap.str(a.recv), vm.heap.str(o)).is_none() {
            return Ok(NIL);
        }
        let fold = |t: String| t.to_lowercase().replace('ß', "ss");
        Ok(Value::bool(fold(vm.text(a.recv)) == fold(vm.text(o))))
    }),
    public("__set", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        vm.check_frozen(a.recv)?;
        let (b, enc) = (vm.heap.str(v).bytes.clone(), vm.heap.str(v).enc);
        let same = *b == *vm.bytes(a.recv);
        let me = vm.heap.str_mut(a.recv);
        me.bytes = b;
        me.enc = enc;
        Ok(if same { NIL } else { a.recv })
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    let s = c::STRING;
    vm.natives(c::STRING, METHODS);
    for name in ["match", "match?"] {
        vm.def(
            s,
            name,
            |vm, a| {
                let pat = vm.arg(a, 0);
                let pat = if pat.is_regex() {
                    pat
                } else {
                    let p = vm.to_str(pat)?;
                    let (b, enc) = (vm.bytes(p).to_vec(), vm.heap.str(p).enc);
                    vm.new_regex(&b, 0, enc)?
                };
                let mut args = vec![a.recv];
                if let Some(p) = vm.opt(a, 1) {
                    args.push(p)
                }
                let name = vm.methods[a.method as usize].orig;
                vm.open_call(a).send_full(pat, name, &args, a.block, false)
            },
            1,
            2,
        );
    }
}
