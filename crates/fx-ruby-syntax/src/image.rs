//! A lowered text as bytes: made while a crate is built, read at start without parsing.
//!
//! Methods stay bytes until they are first called, and branches in them until they are first taken,
//! so that a start pays only for what it uses. The form is private to one build: it carries no version and is never kept in a
//! file that outlives the binary.

use std::cell::{Cell, OnceCell};

use bumpalo::Bump;

use crate::ast::{Branch, Code, DefCode, Kind, N, Node};
use crate::image_nodes::Store;
use crate::trees::{keep, trees};
use crate::{Interner, Request, Sym, parse};

/// An image being read: its bytes, its names and the file its code belongs to.
pub struct Image {
    bytes: &'static [u8],
    /// Numbers of its names in the run's table; `u32::MAX` before the first use.
    names: Box<[Cell<u32>]>,
    file: u32,
    /// Whether methods and branches wait until they are needed.
    lazy: bool,
}

/// The code of a method, read when it is first asked for.
pub struct Stored {
    image: &'static Image,
    at: u32,
    code: OnceCell<&'static Code>,
}

/// A branch, read when it is first run.
pub struct Later {
    image: &'static Image,
    at: u32,
    node: OnceCell<N>,
}

/// A branch of fewer bytes is read at once: less than what is kept in its place.
const SHORT: usize = 16;

const WORD: usize = 4;

/// The image of a text, or `None` when the text has errors.
pub(crate) fn image(source: &[u8]) -> Option<Vec<u8>> {
    let mut syms = Interner::new();
    let request = Request {
        source,
        path: "<image>",
        file: 0,
        line: 1,
        scopes: None,
        frozen: false,
        main: false,
    };
    let parsed = parse(&request, &mut syms).ok()?;
    Some(write(parsed.code, &syms))
}

fn write(code: &'static Code, syms: &Interner) -> Vec<u8> {
    let mut writer = Writer::default();
    code.put(&mut writer);
    // Where the tree starts, how many names there are, the end of each name, the names.
    let mut names = Vec::new();
    let mut ends = Vec::new();
    for number in 0..syms.len() {
        names.extend_from_slice(syms.bytes(Sym(number as u32)));
        ends.push(names.len() as u32);
    }
    let start = WORD * (2 + ends.len()) + names.len();
    let mut out = Vec::with_capacity(start + writer.bytes.len());
    for word in [start as u32, ends.len() as u32].into_iter().chain(ends) {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(&names);
    out.extend_from_slice(&writer.bytes);
    out
}

impl Image {
    /// The program an image holds, as code of a file of the runtime's table.
    pub fn open(bytes: &'static [u8], file: u32, syms: &mut Interner) -> &'static Code {
        Image::new(bytes, file, true).program(syms)
    }

    fn new(bytes: &'static [u8], file: u32, lazy: bool) -> &'static Image {
        let count = word(bytes, 1) as usize;
        let names = vec![Cell::new(u32::MAX); count].into_boxed_slice();
        keep(Image { bytes, names, file, lazy })
    }

    fn program(&'static self, syms: &mut Interner) -> &'static Code {
        let at = word(self.bytes, 0) as usize;
        Store::get(&mut Reader::new(self, at, syms))
    }

    fn name(&self, number: usize, syms: &mut Interner) -> Sym {
        let Some(cell) = self.names.get(number) else { return Sym(0) };
        if cell.get() == u32::MAX {
            let base = WORD * (2 + self.names.len());
            let from = if number == 0 { 0 } else { word(self.bytes, 1 + number) as usize };
            let to = word(self.bytes, 2 + number) as usize;
            let name = self.bytes.get(base + from..base + to).unwrap_or_default();
            cell.set(syms.intern_static(name).0);
        }
        Sym(cell.get())
    }
}

impl Stored {
    /// The code, the same each time.
    pub fn code(&self, syms: &mut Interner) -> &'static Code {
        self.code.get_or_init(|| {
            let mut reader = Reader::new(self.image, self.at as usize, syms);
            keep(Code::get(&mut reader))
        })
    }
}

impl Later {
    /// The code, the same each time.
    pub fn node(&self, syms: &mut Interner) -> N {
        self.node.get_or_init(|| {
            let mut reader = Reader::new(self.image, self.at as usize, syms);
            Store::get(&mut reader)
        })
    }
}

fn word(bytes: &[u8], number: usize) -> u32 {
    let at = WORD * number;
    match bytes.get(at..at + WORD) {
        Some([a, b, c, d]) => u32::from_le_bytes([*a, *b, *c, *d]),
        _ => 0,
    }
}

/// What nodes are written to.
#[derive(Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(crate) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }
}

/// What nodes are read from.
pub(crate) struct Reader<'a> {
    image: &'static Image,
    at: usize,
    syms: &'a mut Interner,
    /// Where what is read is kept.
    pub(crate) trees: &'static Bump,
}

impl<'a> Reader<'a> {
    fn new(image: &'static Image, at: usize, syms: &'a mut Interner) -> Reader<'a> {
        Reader { image, at, syms, trees: trees() }
    }
}

impl Reader<'_> {
    pub(crate) fn byte(&mut self) -> u8 {
        let value = self.image.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        value
    }

    pub(crate) fn number(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 || shift > 56 {
                return value;
            }
            shift += 7;
        }
    }

    pub(crate) fn raw(&mut self) -> &'static [u8] {
        let len = self.number() as usize;
        let bytes = self.image.bytes.get(self.at..self.at + len).unwrap_or_default();
        self.at += len;
        bytes
    }

    pub(crate) fn sym(&mut self) -> Sym {
        let number = self.number() as usize;
        self.image.name(number, self.syms)
    }

    pub(crate) fn file(&self) -> u32 {
        self.image.file
    }
}

impl Store for DefCode {
    /// With its length before it, so that a reader can step over it.
    fn put(&self, w: &mut Writer) {
        // A tree that came from an image is not written.
        let DefCode::Here(code) = self else { return };
        let mut inner = Writer::default();
        code.put(&mut inner);
        w.raw(&inner.bytes);
    }
    fn get(r: &mut Reader<'_>) -> DefCode {
        let len = r.number() as usize;
        if !r.image.lazy {
            return DefCode::Here(Store::get(r));
        }
        let at = r.at as u32;
        r.at += len;
        DefCode::Stored(Stored { image: r.image, at, code: OnceCell::new() })
    }
}

impl Store for Branch {
    fn put(&self, w: &mut Writer) {
        let mut inner = Writer::default();
        self.0.put(&mut inner);
        w.raw(&inner.bytes);
    }
    fn get(r: &mut Reader<'_>) -> Branch {
        let len = r.number() as usize;
        if !r.image.lazy || len < SHORT {
            return Branch(Store::get(r));
        }
        let at = r.at;
        // What comes first is the place.
        let pos = Store::get(r);
        r.at = at + len;
        let later = Later { image: r.image, at: at as u32, node: OnceCell::new() };
        Branch(r.trees.alloc(Node { pos, kind: Kind::Later(r.trees.alloc(later)) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read from an image, written again, is the image.
    fn round(text: &str) {
        let first = image(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
        let bytes: &'static [u8] = Box::leak(first.clone().into_boxed_slice());
        let mut syms = Interner::new();
        let all = Image::new(bytes, 0, false);
        // The same numbers as before, so that the bytes can be compared.
        for number in 0..all.names.len() {
            all.name(number, &mut syms);
        }
        let code = all.program(&mut syms);
        assert!(write(code, &syms) == first, "{text}");
    }

    #[test]
    fn a_text_read_from_its_image_is_the_text() {
        for text in [
            "",
            "1 + 2.5r + 3i + 12345678901234567890123",
            "def a(b, c = 1, *d, e, f:, g: 2, **h, &i) = [b, c, d, e, f, g, h, i]",
            "class A < B; attr_reader :x; def self.y(...) = z(...); class << self; X = 1; end; end",
            "x = [1, *y]; h = {a: 1, **z}; a, (b, *c), @d, $e, F::G, i[1], j.k = x",
            "case x\nin [Integer => a, *rest] if a > 1 then a\nin {b: nil, **nil} then 2\nin nil | String then 1\nin [*, 3, *q] then q\nend",
            "case\nwhen a, b then 1\nelse 2\nend; while x; break 1 if y; next; end; for a, b in c do redo end",
            "begin; x; rescue A, B => e; retry; else 1; ensure 2; end; \"#{a}b\" 'c' =~ /d#{1}/o",
            "def z(q); ->(x; y) { x&.foo ||= 1 }; foo { |a, (b, c)| yield a }; foo { _1 + 1 }; super; super(1); end",
            "alias a b; alias $x $y; undef a, :b; defined?(x); __FILE__; `ls`; :\"a#{1}\"; 1..2; (1..); not x",
            "BEGIN { 1 }; END { 2 }; if (a == 1)..(b == 2) then 3 end; if /(?<n>x)/ =~ self then n end; if /x/ then 1 end",
            "@a = @@b = $c = D = e; $1; $~; $&; x = 1 if false; a ? b : c; a and b or c; return 1",
        ] {
            round(text);
        }
    }

    #[test]
    fn a_branch_is_read_once_and_only_where_it_is_long() {
        let text = "if a then b(1, 2, 3); c(4, 5, 6) else d end";
        let bytes: &'static [u8] =
            Box::leak(image(text.as_bytes()).expect("it parses").into_boxed_slice());
        let mut syms = Interner::new();
        let code = Image::open(bytes, 0, &mut syms);
        let Kind::If(_, yes, no) = &code.body.kind else { panic!("no branch") };
        let Kind::Later(later) = &yes.0.kind else { panic!("read at once") };
        let read = later.node(&mut syms);
        assert!(matches!(read.kind, Kind::Seq(nodes) if nodes.len() == 2) && read.pos == yes.0.pos);
        assert!(std::ptr::eq(read, later.node(&mut syms)));
        assert!(matches!(no.0.kind, Kind::Call(_)));
    }
}
