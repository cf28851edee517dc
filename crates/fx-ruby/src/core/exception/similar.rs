//! `Did you mean?`: names close to one that was not found, which Ruby 3.1 adds to the message of
//! a NameError, a NoMethodError and a KeyError. They are looked for when the message is asked for.

use crate::heap::Ext;
use crate::names as n;
use crate::object::c;
use crate::value::{Tag, Value};
use crate::vm::{Args, R, Res, Vm};
use crate::wording::Wording;

/// Words of the language that can be meant where a variable was expected.
const WORDS: &[&str] = &[
    "BEGIN",
    "END",
    "alias",
    "and",
    "begin",
    "break",
    "case",
    "class",
    "def",
    "defined?",
    "else",
    "elsif",
    "end",
    "ensure",
    "false",
    "for",
    "module",
    "next",
    "nil",
    "not",
    "redo",
    "rescue",
    "retry",
    "return",
    "self",
    "super",
    "then",
    "true",
    "undef",
    "unless",
    "until",
    "when",
    "while",
    "yield",
    "__LINE__",
    "__FILE__",
    "__ENCODING__",
];

/// And where a method was.
const CALL_WORDS: &[&str] = &[
    "alias", "case", "def", "defined?", "elsif", "end", "ensure", "for", "rescue", "super",
    "undef", "unless", "until", "when", "while", "yield",
];

/// Names that begin like the runtime's own helpers but are the language's.
const LANGUAGE: &[&str] = &["__send__", "__id__", "__method__", "__dir__", "__callee__"];

impl Vm {
    /// What follows the message.
    pub(super) fn similar_names(&mut self, exception: Value) -> Option<String> {
        if self.wording != Wording::Ruby31 {
            return None;
        }
        let saved = self.pending.get();
        let found = self.similar(exception);
        self.pending.set(saved);
        let found = found.ok().filter(|found| !found.is_empty())?;
        Some(format!("\nDid you mean?  {}", found.join("\n               ")))
    }

    fn similar(&mut self, exception: Value) -> Res<Vec<String>> {
        let class = self.real_class(exception);
        match class {
            c::NAME_ERROR | c::NO_METHOD => {
                let name = self.ivar_get(exception, n::IV_NAME);
                let receiver = self.ivar_get(exception, n::IV_RECEIVER);
                let (Some(name), Some(receiver)) = (name, receiver) else { return Ok(Vec::new()) };
                let name = self.shown(name)?;
                if class == c::NO_METHOD {
                    return self.similar_methods(exception, receiver, &name);
                }
                let message = super::own_message(self, exception)?;
                let message = self.text(message);
                if message.contains("uninitialized constant") {
                    self.similar_constants(receiver, &name, &message)
                } else if message.contains("undefined ")
                    || message.contains("uninitialized class variable")
                    || message.contains("no member '")
                {
                    self.similar_variables(exception, receiver, &name)
                } else {
                    Ok(Vec::new())
                }
            }
            c::KEY_ERROR => self.similar_keys(exception, "@receiver"),
            c::NO_PATTERN_KEY => self.similar_keys(exception, "@matchee"),
            _ => Ok(Vec::new()),
        }
    }

    /// A name or key as text.
    fn shown(&mut self, v: Value) -> Res<String> {
        if let Some(sym) = v.as_sym() {
            return Ok(self.sym_str(sym).into_owned());
        }
        let text = self.send(v, n::TO_S, &[])?;
        Ok(if text.is_str() { self.text(text) } else { String::new() })
    }

    /// What a method that lists names gives, without the runtime's own helpers.
    fn listed(&mut self, of: Value, list: &str) -> Res<Vec<String>> {
        let names = self.call_name(of, list, &[])?;
        let names = if names.is_arr() { self.heap.arr(names).clone() } else { Vec::new() };
        let mut out = Vec::with_capacity(names.len());
        for name in names {
            let name = self.shown(name)?;
            if !name.starts_with("__") || LANGUAGE.contains(&name.as_str()) {
                out.push(name);
            }
        }
        Ok(out)
    }

    fn scene_of(&self, exception: Value) -> fx_ruby_syntax::Scene {
        let Some(Ext::Exception(data)) = self.heap.ext(exception) else {
            return fx_ruby_syntax::Scene::default();
        };
        let frame = data.frames.iter().find(|(file, ..)| !self.is_internal(*file));
        frame
            .and_then(|(file, pos, _)| {
                let source = self.files.get(*file as usize)?;
                Some(fx_ruby_syntax::scene(&source.text, *pos))
            })
            .unwrap_or_default()
    }

    fn similar_methods(&mut self, e: Value, receiver: Value, name: &str) -> Res<Vec<String>> {
        // Everything that nil has is too little to be meant.
        if receiver.tag() == Tag::Nil || !self.is_a(receiver, c::OBJECT) {
            return Ok(Vec::new());
        }
        let own = self.scene_of(e).own_call;
        let mut names: Vec<String> = Vec::new();
        if own {
            names.extend(CALL_WORDS.iter().map(|word| (*word).to_owned()));
        }
        names.extend(self.listed(receiver, "methods")?);
        names.extend(self.listed(receiver, "singleton_methods")?);
        if own {
            names.extend(self.listed(receiver, "private_methods")?);
        }
        Ok(close_to(name, names))
    }

    fn similar_variables(&mut self, e: Value, receiver: Value, name: &str) -> Res<Vec<String>> {
        let mut names: Vec<String> = WORDS.iter().map(|word| (*word).to_owned()).collect();
        names.extend(self.scene_of(e).locals);
        for list in ["methods", "private_methods", "instance_variables"] {
            names.extend(self.listed(receiver, list)?);
        }
        let class = Value::class(self.real_class(receiver));
        names.extend(self.listed(class, "class_variables")?);
        if receiver.as_class().is_some() {
            names.extend(self.listed(receiver, "class_variables")?);
        }
        let mut found = close_to(&name.replace('@', ""), names);
        // The original's own exception: everybody's first name is no slip for these.
        if name == "foo" {
            found.retain(|found| found != "fork" && found != "for");
        }
        Ok(found)
    }

    /// Constants of every module that the receiver's name leads through.
    fn similar_constants(&mut self, at: Value, name: &str, message: &str) -> Res<Vec<String>> {
        let mut scopes = vec![(Value::class(c::OBJECT), String::new())];
        if let Some(class) = at.as_class().filter(|class| *class != c::OBJECT) {
            let mut path = String::new();
            for part in self.class_name(class).split("::") {
                path = if path.is_empty() { part.to_owned() } else { format!("{path}::{part}") };
                let whole = self.str(path.as_str());
                let scope = self.call_name(Value::class(c::OBJECT), "const_get", &[whole])?;
                scopes.push((scope, format!("{path}::")));
            }
        }
        let mut names = Vec::new();
        let mut full = Vec::new();
        for (scope, prefix) in scopes {
            for constant in self.listed(scope, "constants")? {
                full.push(format!("{prefix}{constant}"));
                names.push(constant);
            }
        }
        let found = closest(name, &names);
        let found = found.into_iter().map(|i| full[i].clone());
        Ok(found.filter(|found| !message.contains(found.as_str())).collect())
    }

    fn similar_keys(&mut self, exception: Value, of: &str) -> Res<Vec<String>> {
        let (key, of) = (self.intern("@key"), self.intern(of));
        let (Some(key), Some(of)) = (self.ivar_get(exception, key), self.ivar_get(exception, of))
        else {
            return Ok(Vec::new());
        };
        let keys = self.call_name(of, "keys", &[])?;
        let keys = if keys.is_arr() { self.heap.arr(keys).clone() } else { Vec::new() };
        let mut names = Vec::with_capacity(keys.len());
        for key in &keys {
            names.push(self.shown(*key)?);
        }
        let wanted = self.shown(key)?;
        let exact: Vec<usize> =
            (0..names.len()).filter(|i| key.is_str() && names[*i] == wanted).collect();
        let found = if exact.is_empty() { closest(&wanted, &names) } else { exact };
        found.into_iter().map(|i| self.inspect_string(keys[i])).collect()
    }
}

/// The names of a list that can be meant by another one.
pub(crate) fn similar_in_list(vm: &mut Vm, a: Args) -> R {
    let (word, list) = (vm.arg(a, 0), vm.arg(a, 1));
    let word = vm.shown(word)?;
    let list = if list.is_arr() { vm.heap.arr(list).clone() } else { Vec::new() };
    let mut names = Vec::with_capacity(list.len());
    for name in &list {
        names.push(vm.shown(*name)?);
    }
    let found = closest(&word, &names).into_iter().map(|at| list[at]).collect();
    Ok(vm.arr(found))
}

fn close_to(name: &str, mut names: Vec<String>) -> Vec<String> {
    let mut seen = rustc_hash::FxHashSet::default();
    names.retain(|name| seen.insert(name.clone()));
    closest(name, &names).into_iter().map(|i| names[i].clone()).collect()
}

fn normal(name: &str) -> Vec<char> {
    name.to_lowercase().chars().filter(|c| *c != '@').collect()
}

/// The places of the names that can be meant, best first: alike by their letters, then no more
/// than a quarter of the letters to change, or else the best one with less to change than to keep.
fn closest(name: &str, names: &[String]) -> Vec<usize> {
    let wanted = normal(name);
    let alike = if wanted.len() > 3 { 0.834 } else { 0.77 };
    let mut words: Vec<(f64, usize, usize)> = Vec::new();
    for (i, word) in names.iter().enumerate() {
        let plain = normal(word);
        if word != name && similarity(&plain, &wanted) >= alike {
            let rank = similarity(&word.chars().collect::<Vec<_>>(), &wanted);
            words.push((rank, i, distance(&plain, &wanted)));
        }
    }
    words.sort_by(|a, b| a.0.total_cmp(&b.0));
    words.reverse();
    let near = wanted.len().div_ceil(4);
    let found: Vec<usize> = words.iter().filter(|w| w.2 <= near).map(|w| w.1).collect();
    if !found.is_empty() {
        return found;
    }
    let best = words.iter().find(|w| w.2 < wanted.len().min(normal(&names[w.1]).len()));
    best.map(|w| w.1).into_iter().collect()
}

/// Jaro's measure, higher for a common beginning as Winkler has it.
fn similarity(a: &[char], b: &[char]) -> f64 {
    let (short, long) = if a.len() > b.len() { (b, a) } else { (a, b) };
    let range = (long.len() / 2).saturating_sub(1);
    let (mut in_short, mut in_long) = (vec![false; short.len()], vec![false; long.len()]);
    for (i, c) in short.iter().enumerate() {
        let last = (i + range).min(long.len().saturating_sub(1));
        let found = (i.saturating_sub(range)..=last).find(|j| !in_long[*j] && long[*j] == *c);
        if let Some(j) = found {
            (in_short[i], in_long[j]) = (true, true);
        }
    }
    let matched = |text: &[char], flags: &[bool]| -> Vec<char> {
        text.iter().zip(flags).filter(|(_, flag)| **flag).map(|(c, _)| *c).collect()
    };
    let (x, y) = (matched(short, &in_short), matched(long, &in_long));
    if x.is_empty() {
        return 0.0;
    }
    let moved = x.iter().zip(&y).filter(|(x, y)| x != y).count() / 2;
    let m = x.len() as f64;
    let jaro = (m / short.len() as f64 + m / long.len() as f64 + (m - moved as f64) / m) / 3.0;
    if jaro <= 0.7 {
        return jaro;
    }
    let common = a.iter().zip(b).take(4).take_while(|(x, y)| x == y).count();
    jaro + common as f64 * 0.1 * (1.0 - jaro)
}

/// How many letters must be added, left out or changed.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = change.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
