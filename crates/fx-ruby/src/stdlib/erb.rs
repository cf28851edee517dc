//! The compiler of ERB templates: text with tags to the Ruby source that renders it.
//!
//! It works on bytes: every mark it looks for is ASCII. Running the source is Ruby's part.

use crate::object::c;
use crate::value::NIL;
use crate::vm::Vm;

/// What is being put together.
struct Compiler<'t> {
    /// Name of the variable that takes the text.
    out: &'t [u8],
    /// Trim mode without `%`.
    mode: &'t [u8],
    src: Vec<u8>,
    /// Text that has not been written yet.
    text: Vec<u8>,
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}

/// The place of the next `<%` from a place on.
fn next_open(s: &[u8], from: usize) -> Option<usize> {
    s.get(from..)?.windows(2).position(|pair| pair == b"<%").map(|at| at + from)
}

/// The place of the next end of a tag: `%%>`, `-%>` or `%>`.
fn next_close(s: &[u8], from: usize) -> Option<usize> {
    (from..s.len()).find(|at| {
        let rest = &s[*at..];
        rest.starts_with(b"%%>") || rest.starts_with(b"-%>") || rest.starts_with(b"%>")
    })
}

impl Compiler<'_> {
    /// Writes the text gathered so far; its lines stay lines.
    fn emit(&mut self) {
        if self.text.is_empty() {
            return;
        }
        self.src.extend(self.out);
        self.src.extend(b".<< \"");
        for (at, byte) in self.text.iter().enumerate() {
            match byte {
                b'"' | b'\\' => self.src.extend([b'\\', *byte]),
                b'#' if matches!(self.text.get(at + 1), Some(b'{' | b'$' | b'@')) => {
                    self.src.extend(b"\\#");
                }
                b'\n' => self.src.extend(b"\\n"),
                b'\r' => self.src.extend(b"\\r"),
                other => self.src.push(*other),
            }
        }
        self.src.extend(b"\".freeze; ");
        self.src.extend(std::iter::repeat_n(b'\n', newlines(&self.text)));
        self.text.clear();
    }

    fn scan(&mut self, s: &[u8]) -> Result<(), &'static str> {
        let mut pos = 0;
        while let Some(open) = next_open(s, pos) {
            let mut before = &s[pos..open];
            let mark = s.get(open + 2).copied();
            if mark == Some(b'%') {
                self.text.extend(before);
                self.text.extend(b"<%");
                pos = open + 3;
                continue;
            }
            let kind = match mark {
                Some(b'-') if self.mode == b"-" => b'-',
                Some(kind @ (b'=' | b'#')) => kind,
                _ => b' ',
            };
            let starts_line = |at: usize| at == 0 || s[at - 1] == b'\n';
            let at_line_start =
                if before.is_empty() { starts_line(pos) } else { before.ends_with(b"\n") };
            if kind == b'-' {
                let blanks = before.iter().rev().take_while(|b| matches!(b, b' ' | b'\t')).count();
                let bare = &before[..before.len() - blanks];
                // Ruby's scanner takes the end of a tag for the start of a line.
                if bare.ends_with(b"\n") || bare.is_empty() {
                    before = bare;
                }
            }
            self.text.extend(before);
            let mut from = open + if kind == b' ' { 2 } else { 3 };
            let mut body = Vec::new();
            let mut close = loop {
                let close = next_close(s, from).ok_or("unterminated ERB tag")?;
                body.extend(&s[from..close]);
                if !s[close..].starts_with(b"%%>") {
                    break close;
                }
                body.extend(b"%>");
                from = close + 3;
            };
            let mut trims = s[close] == b'-';
            if trims {
                close += 1;
                if self.mode != b"-" {
                    body.push(b'-');
                    trims = false;
                }
            }
            self.emit();
            match kind {
                b'=' => {
                    self.src.extend(self.out);
                    self.src.extend(b".<<((");
                    self.src.extend(&body);
                    self.src.extend(b").to_s); ");
                }
                b'#' => self.src.extend(std::iter::repeat_n(b'\n', newlines(&body))),
                // A comment at the end of a tag takes the text behind it along, up to the end
                // of its line, as in the original.
                _ => {
                    self.src.extend(&body);
                    self.src.extend(if body.ends_with(b"\n") { &b"\n"[..] } else { b"; " });
                }
            }
            pos = close + 2;
            if trims || self.mode == b">" || (self.mode == b"<>" && at_line_start) {
                if s[pos..].starts_with(b"\n") {
                    self.src.push(b'\n');
                    pos += 1;
                } else if s[pos..].starts_with(b"\r\n") {
                    pos += 2;
                }
            }
        }
        self.text.extend(s.get(pos..).unwrap_or_default());
        Ok(())
    }

    /// Lines that start with `%` are code.
    fn scan_lines(&mut self, s: &[u8]) -> Result<(), &'static str> {
        let mut buffer: Vec<u8> = Vec::new();
        for line in s.split_inclusive(|byte| *byte == b'\n') {
            let opens: Vec<usize> = (0..buffer.len().saturating_sub(1))
                .filter(|at| buffer[*at..].starts_with(b"<%") && buffer.get(at + 2) != Some(&b'%'))
                .collect();
            let closes =
                |from: usize| buffer[from..].windows(2).filter(|pair| *pair == b"%>").count();
            let is_open = opens.last().is_some_and(|at| closes(at + 2) == 0);
            if line.starts_with(b"%%") && !is_open {
                buffer.extend(&line[1..]);
            } else if line.starts_with(b"%") && opens.len() == closes(0) {
                self.scan(&buffer)?;
                buffer.clear();
                self.emit();
                let code = &line[1..];
                let code = code.strip_suffix(b"\n").unwrap_or(code);
                self.src.extend(code.strip_suffix(b"\r").unwrap_or(code));
                self.src.push(b'\n');
            } else {
                buffer.extend(line);
            }
        }
        self.scan(&buffer)
    }
}

/// The source that renders a template.
fn compile(text: &[u8], mode: &[u8], out: &[u8], coding: &[u8]) -> Result<Vec<u8>, &'static str> {
    let by_line = mode.contains(&b'%');
    let mode: Vec<u8> = mode.iter().copied().filter(|byte| *byte != b'%').collect();
    let mut compiler =
        Compiler { out, mode: &mode, src: Vec::with_capacity(text.len() * 2), text: Vec::new() };
    for part in [b"#coding:", coding, b"\n", out, b" = +''; "] {
        compiler.src.extend(part);
    }
    if by_line {
        compiler.scan_lines(text)?;
    } else {
        compiler.scan(text)?;
    }
    compiler.emit();
    compiler.src.extend(out);
    Ok(compiler.src)
}

/// Names of the instance variables that a text mentions, each once.
fn variables(text: &[u8]) -> Vec<&[u8]> {
    let mut found: Vec<&[u8]> = Vec::new();
    for part in text.split(|byte| *byte == b'@').skip(1) {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let len = part.iter().take_while(|byte| is_word(byte)).count();
        let name = &part[..len];
        if name.first().is_some_and(|byte| !byte.is_ascii_digit()) && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

pub(crate) fn init(vm: &mut Vm) {
    let class = vm.define_class(c::OBJECT, "ERB", c::OBJECT);
    vm.def_single(
        class,
        "__compile",
        |vm, a| {
            let [text, mode, out, coding] = [0, 1, 2, 3].map(|at| vm.arg(a, at));
            let enc = vm.heap.str(text).enc;
            let made = compile(vm.bytes(text), vm.bytes(mode), vm.bytes(out), vm.bytes(coding));
            Ok(match made {
                Ok(src) => vm.str_enc(src, enc),
                Err(_) => NIL,
            })
        },
        4,
        4,
    );
    vm.def_single(
        class,
        "__variables",
        |vm, a| {
            let text = vm.arg(a, 0);
            let names: Vec<Vec<u8>> =
                variables(vm.bytes(text)).into_iter().map(<[u8]>::to_vec).collect();
            let names = names.into_iter().map(|name| vm.str_enc(name, 0)).collect();
            Ok(vm.arr(names))
        },
        1,
        1,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, mode: &str, expected: &str) {
        let made = compile(text.as_bytes(), mode.as_bytes(), b"o", b"UTF-8");
        let made = made.map(|src| String::from_utf8_lossy(&src).into_owned());
        let body = made.as_deref().map(|src| src.trim_start_matches("#coding:UTF-8\no = +''; "));
        assert_eq!(body, Ok(expected), "{text:?} with {mode:?}");
    }

    #[test]
    fn tags_become_code_and_text_stays_text() {
        check("a\"#{b}\n", "", "o.<< \"a\\\"\\#{b}\\n\".freeze; \no");
        check("<%= 1 %>", "", "o.<<(( 1 ).to_s); o");
        check("a<% x -%>\nb", "-", "o.<< \"a\".freeze;  x ; \no.<< \"b\".freeze; o");
        check("  <%- x -%>\n", "-", " x ; \no");
        check("a <%- x -%>", "-", "o.<< \"a \".freeze;  x ; o");
        check("<%- x %>", "", "- x ; o");
        check("<% x # why %>b", "", " x # why ; o.<< \"b\".freeze; o");
        check("<%# one\ntwo %>b", "", "\no.<< \"b\".freeze; o");
        check("<%% a %%>", "", "o.<< \"<% a %%>\".freeze; o");
        check("<% x %>\nb", ">", " x ; \no.<< \"b\".freeze; o");
        check("a<% x %>\nb", "<>", "o.<< \"a\".freeze;  x ; o.<< \"\\nb\".freeze; \no");
        check("% x\n%% y\n", "%", " x\no.<< \"% y\\n\".freeze; \no");
        assert!(compile(b"<% x", b"", b"o", b"UTF-8").is_err());
    }

    #[test]
    fn variables_are_named_once() {
        assert_eq!(variables(b"@a @b_1 x@a @1 @@c"), [&b"a"[..], b"b_1", b"c"]);
    }
}
