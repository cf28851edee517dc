//! Texts given to `eval` and the code they became: a text that is evaluated again is not parsed
//! again. Code lives as long as the machine, so this also bounds it by the number of different
//! texts.

use std::hash::{Hash, Hasher};

use fx_ruby_syntax::Sym;
use fx_ruby_syntax::ast::Code;
use rustc_hash::{FxHashMap, FxHasher};

use crate::vm::{Res, Vm};

/// Names of the variables around a text, outermost scope first.
type Scopes = Vec<Vec<Sym>>;

#[derive(Default)]
pub struct Compiled(FxHashMap<u64, Vec<(&'static Code, Scopes)>>);

impl Vm {
    /// The code of a text given to `eval`.
    pub(crate) fn compile_eval(
        &mut self,
        text: &[u8],
        path: &str,
        line: i32,
        scopes: Scopes,
    ) -> Res<&'static Code> {
        // Which refinements a text sees belongs to its file, and so to the place of the call.
        if !self.refining.idle() || keeps_state(text) {
            return Ok(self.compile(text, path, line, Some(scopes), false)?.0);
        }
        let mut hasher = FxHasher::default();
        (text, path, line, &scopes.len()).hash(&mut hasher);
        let key = hasher.finish();
        let known = self.compiled.0.get(&key).and_then(|list| {
            list.iter().find(|(code, names)| {
                let file = &self.files[code.file as usize];
                file.first_line == line
                    && *file.path == *path
                    && *file.text == *text
                    && *names == scopes
            })
        });
        if let Some((code, _)) = known {
            return Ok(code);
        }
        let (code, _) = self.compile(text, path, line, Some(scopes.clone()), false)?;
        self.compiled.0.entry(key).or_default().push((code, scopes));
        Ok(code)
    }
}

/// Whether code of a text may remember something that each evaluation must begin anew: `END`,
/// a regular expression with the flag `o`, and `super`, whose cache belongs to one method.
fn keeps_state(text: &[u8]) -> bool {
    let has = |word: &[u8]| text.windows(word.len()).any(|piece| piece == word);
    has(b"END") || has(b"super") || has_once_flag(text)
}

/// Whether flags with an `o` may follow the end of a regular expression. Says yes too often
/// rather than too seldom.
fn has_once_flag(text: &[u8]) -> bool {
    text.iter().enumerate().filter(|(_, byte)| byte.is_ascii_punctuation()).any(|(at, _)| {
        let rest = &text[at + 1..];
        let word = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        let word = &rest[..word.unwrap_or(rest.len())];
        word.contains(&b'o') && word.iter().all(|byte| b"imxounse".contains(byte))
    })
}

#[cfg(test)]
mod tests {
    use super::keeps_state;

    #[test]
    fn texts_whose_code_remembers_something_are_known() {
        for text in ["x =~ /a#{b}/o", "%r{#{a}}mo.match(x)", "END { p 1 }", "def f = super"] {
            assert!(keeps_state(text.as_bytes()), "{text}");
        }
        for text in ["_erbout << (x).to_s", "\"/opt/#{a}/other\"", "a.map { |x| x + 1 }"] {
            assert!(!keeps_state(text.as_bytes()), "{text}");
        }
    }
}
