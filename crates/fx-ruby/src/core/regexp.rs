//! Regexp, MatchData and the variables of the last match.

mod match_data;
mod notation;

use std::rc::Rc;

use crate::encoding as e;
use crate::heap::{COPIED, Ext, MatchData, READ, RRegex, RString};
use crate::natives::{Native, on_class, private, public};
use crate::object::{Alloc, c};
use crate::regex::{Groups, Program};
use crate::value::{FALSE, NIL, TRUE, Value};
use crate::vm::{Args, R, Res, Vm};

/// From how many bytes on the text of a string that is searched again is kept.
const LONG: usize = 1 << 10;

pub(crate) fn escape(b: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(b.len());
    for x in b {
        match x {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            12 => out.extend_from_slice(b"\\f"),
            11 => out.extend_from_slice(b"\\v"),
            b'.' | b'*' | b'?' | b'+' | b'^' | b'$' | b'|' | b'\\' | b'(' | b')' | b'[' | b']'
            | b'{' | b'}' | b'-' | b'#' | b' ' => {
                out.push(b'\\');
                out.push(*x)
            }
            _ => out.push(*x),
        }
    }
    out
}

/// Whether a string is known to be UTF-8 that a pattern can be searched in as it is.
fn is_known(s: &RString, p: &Program) -> bool {
    match e::code_range(s) {
        1 => true,
        2 => matches!(s.enc, e::UTF8 | 31) && !p.binary,
        _ => false,
    }
}

/// What is left of a text from a place on, if that is between two characters.
fn tail(text: &[u8], from: usize) -> Option<&[u8]> {
    let rest = text.get(from..)?;
    rest.first().is_none_or(|byte| byte & 0xC0 != 0x80).then_some(rest)
}

impl Vm {
    pub(crate) fn new_regex(&mut self, source: &[u8], flags: u32, enc: crate::heap::Enc) -> R {
        let source: Rc<[u8]> = source.into();
        let enc = notation::encoding(&source, flags, enc);
        let prog = self.regex_program(&source, flags, enc)?;
        Ok(self.heap.regex(RRegex {
            class: c::REGEXP,
            frozen: true,
            source,
            flags,
            enc,
            prog: Some(prog),
        }))
    }

    fn regex_program(
        &mut self,
        source: &Rc<[u8]>,
        flags: u32,
        enc: crate::heap::Enc,
    ) -> Res<Rc<Program>> {
        let key = (Rc::clone(source), flags & 0x3F, enc);
        if let Some(p) = self.regex_cache.get(&key) {
            return Ok(Rc::clone(p));
        }
        let binary = enc == e::BINARY || (flags & 32 != 0 && !source.is_ascii());
        match Program::compile(source, flags, binary) {
            Ok(p) => {
                let p = Rc::new(p);
                self.heap.bytes += 2000;
                self.regex_cache.insert(key, Rc::clone(&p));
                Ok(p)
            }
            Err(m) => {
                let t = String::from_utf8_lossy(source).into_owned();
                self.fail(c::REGEXP_ERROR, format!("{m}: /{t}/"))
            }
        }
    }

    fn program(&mut self, re: Value) -> Res<Rc<Program>> {
        match &self.heap.regexes[re.index()].prog {
            Some(p) => Ok(Rc::clone(p)),
            None => self.type_error("uninitialized Regexp"),
        }
    }

    /// The program that fits a string: bytes are characters in a binary one.
    fn program_for(&mut self, re: Value, s: Value) -> Res<Rc<Program>> {
        let st = self.heap.str(s);
        let r = &self.heap.regexes[re.index()];
        if st.enc == e::BINARY && r.enc != e::BINARY && !st.bytes.is_ascii() {
            let (source, flags) = (Rc::clone(&r.source), r.flags);
            return self.regex_program(&source, flags, e::BINARY);
        }
        self.program(re)
    }

    fn search_failed<T>(&mut self, re: Value, why: &str) -> Res<T> {
        let t = self.inspect_string(re)?;
        self.fail(c::REGEXP_ERROR, format!("{why}: {t}"))
    }

    fn check_enc(&mut self, re: Value, s: Value) -> Res<()> {
        let r = &self.heap.regexes[re.index()];
        let st = self.heap.str(s);
        let range = e::code_range(st);
        if range == 1 {
            return Ok(());
        }
        if range == 3 {
            let name = e::name(st.enc);
            return self.arg_error(format!("invalid byte sequence in {name}"));
        }
        if r.enc != st.enc && (r.enc != e::ASCII || !e::ascii_compatible(st.enc)) {
            let (x, y) = (e::name(r.enc), e::name(st.enc));
            let class = self.compat_error_class();
            return self.fail(
                class,
                format!("incompatible encoding regexp match ({x} regexp with {y} string)"),
            );
        }
        Ok(())
    }

    pub(crate) fn regex_search(&mut self, re: Value, s: Value, from: usize) -> Res<Option<Groups>> {
        self.check_enc(re, s)?;
        let p = self.program_for(re, s)?;
        match self.found(&p, s, from, false) {
            Ok(g) => Ok(g),
            Err(m) => self.search_failed(re, &m),
        }
    }

    /// The match at or after a place, or only at it.
    fn found(
        &mut self,
        p: &Program,
        s: Value,
        from: usize,
        here: bool,
    ) -> Result<Option<Groups>, String> {
        let string = self.heap.str(s);
        if is_known(string, p)
            && let Ok(found) = p.search_known(&string.bytes, from, here)
        {
            return Ok(found);
        }
        match self.text_again(s, from) {
            Some(text) if !p.binary => p.search_text(&text, from, here),
            _ => p.search(&self.heap.str(s).bytes, from, here),
        }
    }

    pub(crate) fn new_match(&mut self, re: Value, s: Value, groups: Groups) -> Value {
        let enc = self.heap.str(s).enc;
        let copy = self.match_subject(s);
        let regex = if re.is_regex() {
            re
        } else {
            let b = escape(self.bytes(re));
            match self.new_regex(&b, 0, enc) {
                Ok(r) => r,
                Err(_) => NIL,
            }
        };
        self.heap.bytes += groups.len() * 24;
        self.heap.object(c::MATCH, Ext::Match(Box::new(MatchData { regex, string: copy, groups })))
    }

    /// The text of a long string that is searched from some place on, as by `scan`: read once, and
    /// not again for each match.
    fn text_again(&mut self, s: Value, from: usize) -> Option<Rc<str>> {
        let string = self.heap.str(s);
        if from == 0 || string.bytes.len() < LONG {
            return None;
        }
        if string.known.get() & READ != 0
            && let Some((of, text)) = &self.searched
            && *of == s
        {
            return Some(Rc::clone(text));
        }
        let text: Rc<str> = std::str::from_utf8(&string.bytes).ok()?.into();
        string.known.set(string.known.get() | READ);
        self.heap.bytes += text.len();
        self.searched = Some((s, Rc::clone(&text)));
        Some(text)
    }

    /// The string that a match refers to: what was searched, which may change later, so a frozen
    /// copy. The matches of one unchanged string share it.
    fn match_subject(&mut self, s: Value) -> Value {
        let string = self.heap.str(s);
        if string.frozen {
            return s;
        }
        if string.known.get() & COPIED != 0
            && let Some((of, copy)) = self.subject
            && of == s
        {
            return copy;
        }
        let (bytes, enc) = (string.bytes.clone(), string.enc);
        let copy = self.heap.string(c::STRING, bytes, enc);
        self.heap.strings[copy.index()].frozen = true;
        let known = &self.heap.str(s).known;
        known.set(known.get() | COPIED);
        self.subject = Some((s, copy));
        copy
    }

    /// Matches and sets `$~`.
    pub(crate) fn regex_match(&mut self, re: Value, s: Value, from: usize) -> R {
        let g = self.regex_search(re, s, from)?;
        self.last_match = match g {
            Some(g) => self.new_match(re, s, g),
            None => NIL,
        };
        Ok(self.last_match)
    }

    pub(crate) fn regex_match_back(&mut self, re: Value, s: Value, from: usize) -> R {
        self.check_enc(re, s)?;
        let p = self.program(re)?;
        let g = match p.search_back(&self.heap.str(s).bytes, from) {
            Ok(g) => g,
            Err(m) => return self.search_failed(re, &m),
        };
        self.last_match = match g {
            Some(g) => self.new_match(re, s, g),
            None => NIL,
        };
        Ok(self.last_match)
    }

    /// Matches at a place only.
    pub(crate) fn regex_match_at(&mut self, re: Value, s: Value, at: usize) -> R {
        self.check_enc(re, s)?;
        let p = self.program(re)?;
        let g = match self.found(&p, s, at, true) {
            Ok(g) => g,
            Err(m) => return self.search_failed(re, &m),
        };
        self.last_match = match g {
            Some(g) => self.new_match(re, s, g),
            None => NIL,
        };
        Ok(self.last_match)
    }

    /// One step of a scanner: from a place on, which is the start of the text unless its anchors
    /// are fixed, and only at that place or anywhere after it. Sets no variable.
    pub(crate) fn regex_scan(
        &mut self,
        re: Value,
        s: Value,
        pos: usize,
        here: bool,
        fixed: bool,
    ) -> Res<Option<Groups>> {
        self.check_enc(re, s)?;
        let p = self.program_for(re, s)?;
        let cut = if fixed { 0 } else { pos };
        let found = if is_known(self.heap.str(s), &p)
            && let Some(rest) = tail(self.bytes(s), cut)
            && let Ok(found) = p.search_known(rest, pos - cut, here)
        {
            Ok(found)
        } else {
            match self.text_again(s, pos) {
                Some(text) if !p.binary && text.is_char_boundary(cut) => {
                    p.search_text(&text[cut..], pos - cut, here)
                }
                _ => p.search(&self.heap.str(s).bytes[cut..], pos - cut, here),
            }
        };
        match found {
            Ok(Some(mut groups)) => {
                for (from, to) in groups.iter_mut().flatten() {
                    *from += cut;
                    *to += cut;
                }
                Ok(Some(groups))
            }
            Ok(None) => Ok(None),
            Err(m) => self.search_failed(re, &m),
        }
    }

    pub(crate) fn match_data(&self, m: Value) -> Option<&MatchData> {
        match self.heap.ext(m) {
            Some(Ext::Match(d)) => Some(d),
            _ => None,
        }
    }

    pub(crate) fn match_group(&mut self, m: Value, i: usize) -> Value {
        let Some(d) = self.match_data(m) else { return NIL };
        let Some(Some((x, y))) = d.groups.get(i).copied() else { return NIL };
        let s = d.string;
        let b = self.bytes(s)[x..y].to_vec();
        self.like(s, b)
    }

    pub(crate) fn regex_group_index(
        &self,
        re: Value,
        name: &str,
        groups: &Groups,
    ) -> Option<usize> {
        if !re.is_regex() {
            return None;
        }
        let p = self.heap.regexes[re.index()].prog.as_ref()?;
        let (_, list) = p.names.iter().find(|(n, _)| **n == *name)?;
        list.iter()
            .rev()
            .find(|i| groups.get(**i).is_some_and(Option::is_some))
            .or(list.last())
            .copied()
    }

    pub(crate) fn match_named(&mut self, m: Value, name: fx_ruby_syntax::Sym) -> Value {
        let Some(d) = self.match_data(m) else { return NIL };
        let text = self.sym_str(name);
        match self.regex_group_index(d.regex, &text, &d.groups) {
            Some(i) => self.match_group(m, i),
            None => NIL,
        }
    }

    /// Group number for an index, name or symbol.
    fn group_number(&mut self, m: Value, key: Value) -> Res<Option<usize>> {
        let name = match key.as_sym() {
            Some(s) => Some(self.sym_str(s).into_owned()),
            None if key.is_str() => Some(self.text(key)),
            None => None,
        };
        let Some(d) = self.match_data(m) else { return Ok(None) };
        let (re, len) = (d.regex, d.groups.len() as i64);
        if let Some(name) = name {
            let g = self.match_data(m).map(|d| d.groups.clone()).unwrap_or_default();
            return match self.regex_group_index(re, &name, &g) {
                Some(i) => Ok(Some(i)),
                None => {
                    self.fail(c::INDEX_ERROR, format!("undefined group name reference: {name}"))
                }
            };
        }
        let i = self.to_int(key)?;
        // Counted from the end, the whole match is out of reach.
        let i = if i < 0 { if i + len <= 0 { len } else { i + len } } else { i };
        Ok(if i >= len { None } else { Some(i as usize) })
    }

    pub(crate) fn match_ref(&mut self, m: Value, key: Value) -> R {
        if m.is_nil() {
            return Ok(NIL);
        }
        Ok(match self.group_number(m, key)? {
            Some(i) => self.match_group(m, i),
            None => NIL,
        })
    }

    pub(crate) fn match_range(&mut self, m: Value, key: Value) -> Res<Option<(usize, usize)>> {
        if m.is_nil() {
            return Ok(None);
        }
        let number =
            if key.is_fix() && key.as_fix() < 0 { None } else { self.group_number(m, key)? };
        let Some(i) = number else {
            let t = self.inspect_string(key)?;
            return self.fail(c::INDEX_ERROR, format!("index {t} out of regexp"));
        };
        Ok(self.match_data(m).and_then(|d| d.groups[i]))
    }

    /// Character offset where a group begins.
    pub(crate) fn match_begin(&mut self, m: Value, i: usize) -> Value {
        let Some(d) = self.match_data(m) else { return NIL };
        match d.groups.get(i).copied().flatten() {
            Some((x, _)) => Value::fix(e::index_of(self.heap.str(d.string), x) as i64),
            None => NIL,
        }
    }

    pub(crate) fn back_ref(&mut self, which: u8) -> R {
        let m = self.last_match;
        let Some(d) = self.match_data(m) else { return Ok(NIL) };
        let (s, (x, y)) = (d.string, d.groups[0].unwrap_or((0, 0)));
        Ok(match which {
            b'`' => {
                let b = self.bytes(s)[..x].to_vec();
                self.like(s, b)
            }
            b'\'' => {
                let b = self.bytes(s)[y..].to_vec();
                self.like(s, b)
            }
            b'+' => {
                let last = d.groups.iter().rposition(Option::is_some).filter(|i| *i > 0);
                match last {
                    Some(i) => self.match_group(m, i),
                    None => NIL,
                }
            }
            _ => self.match_group(m, 0),
        })
    }
}

fn subject(vm: &mut Vm, v: Value) -> Res<Option<Value>> {
    if v.is_nil() {
        return Ok(None);
    }
    if let Some(s) = v.as_sym() {
        let t = vm.syms.bytes(s).to_vec();
        return Ok(Some(vm.str(t)));
    }
    vm.to_str(v).map(Some)
}

const METHODS: &[Native] = &[
    private("initialize", 1, 3, |vm, mut a| {
        let _ = vm.take_kw(&mut a);
        if vm.heap.regexes[a.recv.index()].frozen {
            return vm.frozen_error(a.recv);
        }
        if vm.heap.regexes[a.recv.index()].prog.is_some() {
            return vm.type_error("already initialized regexp");
        }
        let src = vm.arg(a, 0);
        let (source, mut flags, enc) = if src.is_regex() {
            let r = &vm.heap.regexes[src.index()];
            (r.source.to_vec(), r.flags, r.enc)
        } else {
            let s = vm.to_str(src)?;
            (vm.bytes(s).to_vec(), 0, vm.heap.str(s).enc)
        };
        if let Some(o) = vm.opt(a, 1) {
            if src.is_regex() {
                vm.warn("warning: flags ignored\n")?;
            } else if let Some(i) = o.fixnum() {
                flags = i as u32 & 0x37
            } else if o.is_str() {
                for b in vm.bytes(o).to_vec() {
                    match b {
                        b'i' => flags |= 1,
                        b'x' => flags |= 2,
                        b'm' => flags |= 4,
                        _ => {
                            let t = vm.text(o);
                            return vm.arg_error(format!("unknown regexp option: {t}"));
                        }
                    }
                }
            } else if o.truthy() {
                flags |= 1
            }
        }
        let v = vm.new_regex(&source, flags, enc)?;
        let (p, src, enc) = {
            let r = &vm.heap.regexes[v.index()];
            (r.prog.clone(), r.source.clone(), r.enc)
        };
        let me = &mut vm.heap.regexes[a.recv.index()];
        me.prog = p;
        me.source = src;
        me.enc = enc;
        me.flags = flags;
        me.frozen = false;
        Ok(NIL)
    }),
    on_class("escape", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        let Some(s) = subject(vm, v)? else {
            return vm.type_error("no implicit conversion of nil into String");
        };
        let b = escape(vm.bytes(s));
        let plain = b.is_ascii() && e::ascii_compatible(vm.heap.str(s).enc);
        if plain { Ok(vm.ascii(b)) } else { Ok(vm.like(s, b)) }
    })
    .also(&["quote"]),
    on_class("last_match", 0, 1, |vm, a| {
        let m = vm.last_match;
        match vm.opt(a, 0) {
            Some(i) => vm.match_ref(m, i),
            None => Ok(m),
        }
    }),
    on_class("try_convert", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        if v.is_regex() {
            return Ok(v);
        }
        let s = vm.intern("to_regexp");
        match vm.try_send(v, s, &[])? {
            Some(r) if r.is_regex() || r.is_nil() => Ok(r),
            Some(r) => {
                let (x, y) = (vm.type_name(v), vm.type_name(r));
                vm.type_error(format!("can't convert {x} to Regexp ({x}#to_regexp gives {y})"))
            }
            None => Ok(NIL),
        }
    }),
    on_class("timeout", 0, 0, |_, _| Ok(NIL)),
    on_class("linear_time?", 1, 3, |_, _| Ok(TRUE)),
    public("source", 0, 0, |vm, a| {
        let r = &vm.heap.regexes[a.recv.index()];
        let (s, enc) = (r.source.to_vec(), r.enc);
        let out = String::from_utf8_lossy(&s).contains("\\/");
        let s = if out { String::from_utf8_lossy(&s).replace("\\/", "/").into_bytes() } else { s };
        Ok(vm.str_enc(s, enc))
    }),
    public("options", 0, 0, |vm, a| {
        let r = &vm.heap.regexes[a.recv.index()];
        let f = r.flags | if r.enc == e::ASCII { 0 } else { 16 };
        Ok(Value::fix(i64::from(f)))
    }),
    public("casefold?", 0, 0, |vm, a| {
        Ok(Value::bool(vm.heap.regexes[a.recv.index()].flags & 1 != 0))
    }),
    public("fixed_encoding?", 0, 0, |vm, a| {
        let r = &vm.heap.regexes[a.recv.index()];
        Ok(Value::bool(r.enc != e::ASCII))
    }),
    public("encoding", 0, 0, |vm, a| {
        let enc = vm.heap.regexes[a.recv.index()].enc;
        vm.encoding_object(enc)
    }),
    public("to_s", 0, 0, |vm, a| {
        let r = &vm.heap.regexes[a.recv.index()];
        let t = notation::with_options(&r.source, r.flags, r.enc == e::BINARY);
        Ok(vm.str(t))
    }),
    public("inspect", 0, 0, |vm, a| {
        let r = &vm.heap.regexes[a.recv.index()];
        let out = notation::between_slashes(&r.source);
        let n = if r.flags & 32 != 0 { "n" } else { "" };
        let t = format!("/{out}/{}{n}", notation::options(r.flags));
        Ok(vm.str(t))
    }),
    public("==", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        if !o.is_regex() {
            return Ok(FALSE);
        }
        let (x, y) = (&vm.heap.regexes[a.recv.index()], &vm.heap.regexes[o.index()]);
        let same = x.source == y.source && x.flags & 7 == y.flags & 7 && x.enc == y.enc;
        Ok(Value::bool(same))
    })
    .also(&["eql?"]),
    public("hash", 0, 0, |vm, a| {
        let s = vm.heap.regexes[a.recv.index()].source.to_vec();
        let f = vm.heap.regexes[a.recv.index()].flags;
        let v = vm.str(s);
        Ok(Value::fix((vm.hash_of(v)? >> 3) as i64 ^ i64::from(f & 7)))
    }),
    public("=~", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        let Some(s) = subject(vm, v)? else {
            vm.last_match = NIL;
            return Ok(NIL);
        };
        let m = vm.regex_match(a.recv, s, 0)?;
        Ok(if m.is_nil() { NIL } else { vm.match_begin(m, 0) })
    }),
    public("===", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        let s = if v.is_str() {
            v
        } else if v.is_sym() {
            match subject(vm, v)? {
                Some(s) => s,
                None => return Ok(FALSE),
            }
        } else {
            match vm.check_str(v)? {
                Some(s) => s,
                None => {
                    vm.last_match = NIL;
                    return Ok(FALSE);
                }
            }
        };
        Ok(Value::bool(!vm.regex_match(a.recv, s, 0)?.is_nil()))
    }),
    public("~", 0, 0, |vm, a| {
        let l = vm.last_line;
        if !l.is_str() {
            vm.last_match = NIL;
            return Ok(NIL);
        }
        let m = vm.regex_match(a.recv, l, 0)?;
        Ok(if m.is_nil() { NIL } else { vm.match_begin(m, 0) })
    }),
    public("match", 1, 2, |vm, a| {
        let v = vm.arg(a, 0);
        let Some(s) = subject(vm, v)? else {
            vm.last_match = NIL;
            return Ok(NIL);
        };
        let Some(at) = start_at(vm, a, s)? else {
            vm.last_match = NIL;
            return Ok(NIL);
        };
        let m = vm.regex_match(a.recv, s, at)?;
        if !m.is_nil() && !a.block.is_nil() {
            return vm.open_call(a).yield1(a.block, m);
        }
        Ok(m)
    }),
    public("match?", 1, 2, |vm, a| {
        let v = vm.arg(a, 0);
        let Some(s) = subject(vm, v)? else { return Ok(FALSE) };
        let Some(at) = start_at(vm, a, s)? else { return Ok(FALSE) };
        Ok(Value::bool(vm.regex_search(a.recv, s, at)?.is_some()))
    }),
    public("names", 0, 0, |vm, a| {
        let p = vm.program(a.recv)?;
        let l = p.names.iter().map(|(n, _)| vm.str(n.as_bytes())).collect();
        Ok(vm.arr(l))
    }),
    public("named_captures", 0, 0, |vm, a| {
        let p = vm.program(a.recv)?;
        let h = vm.hash();
        for (name, list) in &p.names {
            let key = vm.str(name.as_bytes());
            let l = list.iter().map(|i| Value::fix(*i as i64)).collect();
            let l = vm.arr(l);
            vm.hash_set(h, key, l)?;
        }
        Ok(h)
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    let k = c::REGEXP;
    vm.classes[k as usize].alloc = Alloc::Regexp;
    vm.natives(c::REGEXP, METHODS);
    for (name, i) in [
        ("IGNORECASE", 1),
        ("EXTENDED", 2),
        ("MULTILINE", 4),
        ("FIXEDENCODING", 16),
        ("NOENCODING", 32),
    ] {
        let s = vm.intern(name);
        vm.const_set(k, s, Value::fix(i));
    }
    match_data::init(vm);
}

fn start_at(vm: &mut Vm, a: Args, s: Value) -> Res<Option<usize>> {
    let Some(p) = vm.opt_nil(a, 1) else { return Ok(Some(0)) };
    let i = vm.to_int(p)?;
    let len = e::count(vm.heap.str(s)) as i64;
    let i = if i < 0 { i + len } else { i };
    Ok(if i < 0 || i > len { None } else { e::offset(vm.heap.str(s), i as usize) })
}
