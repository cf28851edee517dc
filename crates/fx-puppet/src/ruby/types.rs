//! Resource types written in Ruby, as far as a compiler must know them.

use std::path::PathBuf;
use std::rc::Rc;

use fx_ruby::Vm;
use rustc_hash::FxHashMap;

use super::{Libs, constant};
use crate::compile::Kind;
use crate::eval::{Evaluated, Evaluator};
use crate::regex::Regex;

impl Evaluator {
    /// Whether a module has this file in a folder of its `lib`.
    pub(crate) fn has_lib_file(&self, folder: &str, name: &str) -> bool {
        !self.libs().all(folder, name).is_empty()
    }

    /// What the libraries of the environment and its modules hold.
    pub(super) fn libs(&self) -> Rc<Libs> {
        if let Some(known) = &*self.machine.read.libs.borrow() {
            return Rc::clone(known);
        }
        let mut dirs: Vec<PathBuf> =
            self.settings.environment_dir.iter().map(|dir| dir.join("lib")).collect();
        dirs.extend(self.modules().iter().map(|(_, dir)| dir.join("lib")));
        let libs = Rc::new(Libs::new(
            Rc::<fx_host::RecordingHost<'static>>::clone(&self.machine.ruby_host),
            dirs,
        ));
        *self.machine.read.libs.borrow_mut() = Some(Rc::clone(&libs));
        libs
    }

    /// Whether a module brings a type in Ruby.
    pub(crate) fn has_ruby_type(&self, low: &str) -> bool {
        self.type_file(low).is_some()
    }

    pub(super) fn type_file(&self, low: &str) -> Option<PathBuf> {
        if !low.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return None;
        }
        self.ruby_files("puppet/type").get(low).cloned()
    }

    /// Ruby files of one folder of `lib` over all modules, by name: the first of a name counts.
    pub(super) fn ruby_files(&self, folder: &'static str) -> Rc<FxHashMap<String, PathBuf>> {
        if let Some(known) = self.machine.read.ruby_files.borrow().get(folder) {
            return Rc::clone(known);
        }
        let found = Rc::new(self.libs().ruby_files(folder));
        self.machine.read.ruby_files.borrow_mut().insert(folder, Rc::clone(&found));
        found
    }

    /// A type written in Ruby, by its name in lower case.
    /// What a type in Ruby says of itself and of its attributes; its own text has no name.
    pub(crate) fn ruby_docs(&self, low: &str) -> Evaluated<Vec<(String, String)>> {
        self.with_ruby(|vm: &mut Vm| {
            let class = constant(vm, "Puppet::Type")?;
            let name = vm.str(low);
            let found = vm.call_name(class, "type", &[name])?;
            let docs = vm.call_name(found, "__docs", &[])?;
            let mut out = Vec::new();
            for row in vm.heap.arr(docs).clone() {
                let row = vm.heap.arr(row).clone();
                out.push((vm.text(row[0]), vm.text(row[1])));
            }
            Ok(out)
        })
    }

    pub(crate) fn ruby_kind(&self, low: &str) -> Evaluated<Option<Kind>> {
        if self.type_file(low).is_none() {
            return Ok(None);
        }
        let read = self.with_ruby(|vm: &mut Vm| {
            let class = constant(vm, "Puppet::Type")?;
            let name = vm.str(low);
            let found = vm.call_name(class, "type", &[name])?;
            if found.is_nil() {
                return Ok(None);
            }
            let info = vm.call_name(found, "__info", &[])?;
            let cells = vm.heap.arr(info).clone();
            let texts = |vm: &Vm, list: fx_ruby::Value| -> Vec<Rc<str>> {
                vm.heap.arr(list).iter().map(|text| Rc::from(vm.text(*text))).collect()
            };
            let parameters = texts(vm, cells[0]);
            let keys = texts(vm, cells[1]);
            let mut patterns = Vec::new();
            for row in vm.heap.arr(cells[2]).clone() {
                let row = vm.heap.arr(row).clone();
                let mut source = vm.text(row[0]);
                let flags = row[1].fixnum().unwrap_or(0);
                let marks: String = [(1, 'i'), (2, 'x'), (4, 'm')]
                    .iter()
                    .filter(|(bit, _)| flags & bit != 0)
                    .map(|(_, mark)| *mark)
                    .collect();
                if !marks.is_empty() {
                    source = format!("(?{marks}:{source})");
                }
                patterns.push((Regex::new(&source), texts(vm, row[2])));
            }
            Ok(Some((parameters, keys, patterns, cells[3].truthy())))
        })?;
        Ok(read.map(|(parameters, keys, patterns, isomorphic)| Kind {
            parameters: parameters.into_iter().collect(),
            // One key whose pattern is everything needs no expression.
            patterns: if keys.len() == 1
                && patterns.len() == 1
                && patterns[0].0.source() == "(?m:(.*))"
            {
                Vec::new()
            } else {
                patterns
            },
            keys,
            isomorphic,
            is_path: false,
            is_ruby: true,
        }))
    }
}
