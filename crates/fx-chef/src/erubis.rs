//! Templates by Erubis' rules: ERB text into Ruby that appends to a buffer.
//!
//! A line that holds only a code tag vanishes; `-%>` and `=%>` eat the newline after an expression, and only there.

use fx_ruby::{Args, R, Vm};

use crate::machine::{Machine, Method, bytes};

pub(crate) const METHODS: &[(&str, Method)] = &[("erubis", compile)];

/// `FX.erubis(text)`: the Ruby program, whose value is the result.
fn compile(_: &Machine, vm: &mut Vm, a: Args) -> R {
    let text = bytes(vm, a, 0)?.unwrap_or_default();
    Ok(vm.str(program(&text)))
}

struct Out {
    code: Vec<u8>,
}

impl Out {
    fn text(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        self.code.extend_from_slice(b"_b << '");
        for byte in text {
            if matches!(byte, b'\\' | b'\'') {
                self.code.push(b'\\');
            }
            self.code.push(*byte);
        }
        self.code.push(b'\'');
        // Templates are read as bytes, so text beyond ASCII has no encoding.
        if !text.is_ascii() {
            self.code.extend_from_slice(b".b");
        }
        self.code.extend_from_slice(b"; ");
    }

    fn expression(&mut self, code: &[u8]) {
        self.code.extend_from_slice(b"_b << (");
        self.code.extend_from_slice(code);
        self.code.extend_from_slice(b").to_s; ");
    }

    fn statement(&mut self, code: &[u8]) {
        self.code.extend_from_slice(code);
        if code.last() != Some(&b'\n') {
            self.code.extend_from_slice(b"; ");
        }
    }
}

fn find(text: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    text[from..].windows(what.len()).position(|w| w == what).map(|i| from + i)
}

fn blank(text: &[u8]) -> bool {
    text.iter().all(|b| matches!(b, b' ' | b'\t'))
}

/// Where the blanks before a tag begin, when nothing else is before it on its line.
fn indent(text: &[u8], at_line_start: bool) -> Option<usize> {
    let start = text.iter().rposition(|b| *b == b'\n').map(|i| i + 1);
    match start {
        Some(start) => blank(&text[start..]).then_some(start),
        None => (at_line_start && blank(text)).then_some(0),
    }
}

fn program(input: &[u8]) -> Vec<u8> {
    let mut out = Out { code: b"_b = +''; ".to_vec() };
    let mut pos = 0;
    let mut line_start = true;
    while let Some(open) = find(input, pos, b"<%") {
        let (mark, body) = match input.get(open + 2) {
            Some(b'=') => {
                let mut end = open + 3;
                while input.get(end) == Some(&b'=') {
                    end += 1;
                }
                (b'=', end)
            }
            Some(mark @ (b'-' | b'#' | b'%')) => (*mark, open + 3),
            _ => (0, open + 2),
        };
        let Some(close) = find(input, body, b"%>") else { break };
        let mut code = &input[body..close];
        let mut tail = false;
        if let Some((b'-' | b'=', rest)) = code.split_last() {
            code = rest;
            tail = true;
        }
        let mut end = close + 2;
        let blanks = input[end..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let after = &input[end + blanks..];
        let newline =
            if after.starts_with(b"\r\n") { 2 } else { usize::from(after.starts_with(b"\n")) };
        let mut right: &[u8] = &[];
        if newline > 0 {
            right = &input[end..end + blanks + newline];
            end += right.len();
        }
        let mut text = &input[pos..open];
        let mut left = None;
        if mark != b'=' {
            left = indent(text, line_start).map(|start| {
                let spaces = &text[start..];
                text = &text[..start];
                spaces
            });
        }
        line_start = !right.is_empty();
        pos = end;
        out.text(text);
        let left_text = left.unwrap_or_default();
        match mark {
            b'=' => {
                out.expression(code);
                out.newline_or(right, tail);
            }
            b'#' => {
                let lines = code.split(|b| *b == b'\n').count() - 1;
                if left.is_some() && !right.is_empty() {
                    out.code.extend(std::iter::repeat_n(b'\n', lines + 1));
                } else {
                    out.text(left_text);
                    out.code.extend(std::iter::repeat_n(b'\n', lines));
                    out.text(right);
                }
            }
            b'%' => {
                let mut whole = left_text.to_vec();
                whole.extend_from_slice(b"<%");
                whole.extend_from_slice(&input[body..close]);
                whole.extend_from_slice(b"%>");
                whole.extend_from_slice(right);
                out.text(&whole);
            }
            _ if left.is_some() && !right.is_empty() => {
                out.statement(code);
                out.code.push(b'\n');
            }
            _ => {
                out.text(left_text);
                out.statement(code);
                out.text(right);
            }
        }
    }
    out.text(&input[pos..]);
    out.code.extend_from_slice(b"\n_b");
    out.code
}

impl Out {
    /// The blanks and newline after a tag, unless the tag eats them.
    fn newline_or(&mut self, right: &[u8], eaten: bool) {
        if right.is_empty() {
            return;
        }
        if eaten {
            self.code.push(b'\n');
        } else {
            self.text(right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::program;

    fn check(input: &str, expected: &str) {
        assert_eq!(String::from_utf8_lossy(&program(input.as_bytes())), expected);
    }

    #[test]
    fn a_line_with_only_code_vanishes() {
        check("a\n  <% x %>\nb\n", "_b = +''; _b << 'a\n';  x ; \n_b << 'b\n'; \n_b");
    }

    #[test]
    fn an_expression_keeps_its_newline_unless_it_eats_it() {
        check(
            "<%= x %>\n<%= y -%>\nz",
            "_b = +''; _b << ( x ).to_s; _b << '\n'; _b << ( y ).to_s; \n_b << 'z'; \n_b",
        );
    }

    #[test]
    fn code_beside_text_keeps_blanks_and_newline() {
        check(
            "a<% x -%>\n  <%- y %>b\n",
            "_b = +''; _b << 'a';  x ; _b << '\n'; _b << '  ';  y ; _b << 'b\n'; \n_b",
        );
        check("a<%# x -%>\nb", "_b = +''; _b << 'a'; _b << '\n'; _b << 'b'; \n_b");
    }

    #[test]
    fn a_doubled_mark_is_printed() {
        check("<%% x %>", "_b = +''; _b << '<% x %>'; \n_b");
    }
}
