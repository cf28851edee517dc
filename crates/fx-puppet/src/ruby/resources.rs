//! Resources of Ruby types at the time they are applied.

use fx_ruby::value::{NIL, Value as Rb};
use fx_ruby::{Res, Vm};

use super::{RubyDeclaration, constant};
use crate::eval::{Evaluated, Evaluator};
use crate::value::Value;

fn texts(vm: &mut Vm, row: Rb) -> Res<Vec<String>> {
    let mut out = Vec::new();
    for cell in vm.heap.arr(row).clone() {
        out.push(vm.to_s(cell)?);
    }
    Ok(out)
}

impl Evaluator {
    /// A resource as an object of its type, checked; and whether it can be refreshed.
    pub(crate) fn ruby_resource(
        &self,
        low: &str,
        title: &Value,
        params: &Value,
    ) -> Evaluated<(Rb, bool)> {
        let ruby = std::rc::Rc::clone(&self.machine.ruby);
        self.with_ruby(|vm| {
            let class = constant(vm, "Puppet::Type")?;
            let kind = vm.str(low);
            let title = ruby.to_ruby(vm, title)?;
            let params = ruby.to_ruby(vm, params)?;
            let object = vm.call_name(class, "__make", &[kind, title, params])?;
            vm.pin(object);
            let refresh = vm.intern("refresh");
            let can = vm.responds(object, refresh, false)?;
            Ok((object, can))
        })
    }

    /// What a resource calls itself.
    pub(crate) fn ruby_title(&self, object: Rb) -> Evaluated<String> {
        self.with_ruby(|vm| {
            let title = vm.call_name(object, "title", &[])?;
            vm.to_s(title)
        })
    }

    /// Whether the provider of a resource may start programs.
    pub(crate) fn ruby_runs_commands(&self, object: Rb) -> Evaluated<bool> {
        self.with_ruby(|vm| Ok(vm.call_name(object, "__runs_commands?", &[])?.truthy()))
    }

    /// Properties that are not as they should be: name, is, should, the message, the two
    /// values as they are shown, the name of the event, and why that could not be found out.
    pub(crate) fn ruby_observe(&self, object: Rb) -> Evaluated<Vec<[String; 8]>> {
        self.with_ruby(|vm| {
            let rows = vm.call_name(object, "__observe", &[])?;
            let mut out = Vec::new();
            for row in vm.heap.arr(rows).clone() {
                if let Ok(row) = <[String; 8]>::try_from(texts(vm, row)?) {
                    out.push(row);
                }
            }
            Ok(out)
        })
    }

    /// Brings a property to what it should be.
    pub(crate) fn ruby_sync(&self, object: Rb, name: &str) -> Evaluated<()> {
        self.with_ruby(|vm| {
            let name = vm.str(name);
            vm.call_name(object, "__sync", &[name]).map(drop)
        })
    }

    /// The name of a resource's provider, if it has one.
    pub(crate) fn ruby_provider(&self, object: Rb) -> String {
        self.with_ruby(|vm| {
            let name = vm.call_name(object, "__provider_name", &[])?;
            vm.to_s(name)
        })
        .unwrap_or_default()
    }

    /// Whether a resource reacts to its own changes.
    pub(crate) fn ruby_refreshes_itself(&self, object: Rb) -> bool {
        self.with_ruby(|vm| Ok(vm.call_name(object, "self_refresh?", &[])?.truthy()))
            .unwrap_or(false)
    }

    /// Lets the provider write what was collected.
    pub(crate) fn ruby_flush(&self, object: Rb) -> Evaluated<()> {
        self.with_ruby(|vm| vm.call_name(object, "__flush", &[]).map(drop))
    }

    /// Tells a resource its path.
    pub(crate) fn ruby_settle(&self, object: Rb, path: &str) -> Evaluated<()> {
        self.with_ruby(|vm| {
            let class = constant(vm, "Puppet::Type")?;
            let path = vm.str(path);
            vm.call_name(class, "__settle", &[object, path]).map(drop)
        })
    }

    /// Whether messages about resources of a type name no place.
    pub(crate) fn ruby_is_placeless(&self, low: &str) -> bool {
        self.type_file(low).is_some()
            && self
                .with_ruby(|vm| {
                    let class = constant(vm, "Puppet::Type")?;
                    let name = vm.str(low);
                    Ok(vm.call_name(class, "__placeless?", &[name])?.truthy())
                })
                .unwrap_or(false)
    }

    /// Collects what Ruby logs from here on, until it is taken.
    pub(crate) fn ruby_listen(&self) {
        *self.machine.ruby.said.borrow_mut() = Some(Vec::new());
    }

    /// What Ruby logged since; from here on it is logged at once again.
    pub(crate) fn ruby_heard(&self) -> Vec<super::Said> {
        self.machine.ruby.said.borrow_mut().take().unwrap_or_default()
    }

    /// Names of all resources of a type that the machine has; nothing where its type is not
    /// written in Ruby.
    pub(crate) fn ruby_instances(&self, low: &str) -> Evaluated<Option<Vec<String>>> {
        if self.type_file(low).is_none() {
            return Ok(None);
        }
        self.with_ruby(|vm| {
            let class = constant(vm, "Puppet::Type")?;
            let name = vm.str(low);
            let found = vm.call_name(class, "__instances", &[name])?;
            texts(vm, found).map(Some)
        })
    }

    /// All resources of a type with their properties, as its providers find them; nothing
    /// where its type is not written in Ruby.
    pub(crate) fn ruby_inspect(
        &self,
        low: &str,
    ) -> Evaluated<Option<Vec<(String, Vec<(String, Value)>)>>> {
        if self.type_file(low).is_none() {
            return Ok(None);
        }
        let ruby = std::rc::Rc::clone(&self.machine.ruby);
        let found = self.with_ruby(|vm| {
            let class = constant(vm, "Puppet::Type")?;
            let name = vm.str(low);
            let found = vm.call_name(class, "__inspect_all", &[name])?;
            ruby.language_value(vm, found)
        })?;
        let mut out = Vec::new();
        if let Value::Hash(all) = found {
            for (title, properties) in &*all {
                let Value::Hash(properties) = properties else { continue };
                let rows = properties
                    .iter()
                    .map(|(name, value)| (crate::eval::interpolated(name), value.clone()));
                out.push((crate::eval::interpolated(title), rows.collect()));
            }
        }
        Ok(Some(out))
    }

    /// Resources of a type of the resource API as text of the language, by title: all, or one.
    pub(crate) fn ruby_manifests(
        &self,
        low: &str,
        title: Option<&str>,
    ) -> Evaluated<Vec<(String, String)>> {
        self.with_ruby(|vm| {
            let class = constant(vm, "Puppet::Type")?;
            let name = vm.str(low);
            let kind = vm.call_name(class, "type", &[name])?;
            let title = title.map_or(NIL, |title| vm.str(title));
            let rows = vm.call_name(kind, "__manifests", &[title])?;
            let mut out = Vec::new();
            for row in vm.heap.arr(rows).clone() {
                if let [title, text] = texts(vm, row)?.as_slice() {
                    out.push((title.clone(), text.clone()));
                }
            }
            Ok(out)
        })
    }

    /// Facts that files of modules define, by name.
    pub(crate) fn ruby_facts(
        &self,
        files: &[std::path::PathBuf],
        only: Option<&[String]>,
    ) -> Evaluated<Vec<(String, Value)>> {
        let ruby = std::rc::Rc::clone(&self.machine.ruby);
        self.with_ruby(|vm| {
            let facter = constant(vm, "Facter")?;
            let mut list = Vec::new();
            for file in files {
                list.push(vm.str(file.to_string_lossy().into_owned()));
            }
            let list = vm.arr(list);
            let only = match only {
                Some(names) => {
                    let names = names.iter().map(|name| vm.str(name.to_lowercase())).collect();
                    vm.arr(names)
                }
                None => NIL,
            };
            let found = vm.call_name(facter, "__load", &[list, only])?;
            let mut out = Vec::new();
            if let Value::Hash(facts) = ruby.language_value(vm, found)? {
                for (name, value) in &*facts {
                    out.push((crate::eval::interpolated(name), value.clone()));
                }
            }
            Ok(out)
        })
    }

    /// Whether a resource brings others with it.
    pub(crate) fn ruby_generates(&self, object: Rb) -> bool {
        self.with_ruby(|vm| {
            let class = constant(vm, "Puppet::Type")?;
            Ok(vm.call_name(class, "__generates?", &[object])?.truthy())
        })
        .unwrap_or(false)
    }

    /// Whether it brings others before the run, and whether when it has its turn.
    pub(crate) fn ruby_ways_to_generate(&self, object: Rb) -> (bool, bool) {
        let ruby = std::rc::Rc::clone(&self.machine.ruby);
        let ways = self.with_ruby(|vm| {
            let class = constant(vm, "Puppet::Type")?;
            let ways = vm.call_name(class, "__ways_to_generate", &[object])?;
            ruby.language_value(vm, ways)
        });
        let Ok(Value::Array(ways)) = ways else { return (false, false) };
        let has = |word: &str| ways.iter().any(|way| *way == Value::from(word));
        (has("generate"), has("eval_generate"))
    }

    /// What a resource brings with it; `whole` once its turn has come.
    pub(crate) fn ruby_generated(
        &self,
        object: Rb,
        whole: bool,
    ) -> Evaluated<Vec<RubyDeclaration>> {
        self.ruby_told("__generated", &[object, Rb::bool(whole)])
    }

    /// Resources that Ruby gave other values since it was asked last.
    pub(crate) fn ruby_changed(&self) -> Evaluated<Vec<RubyDeclaration>> {
        self.ruby_told("__changed", &[])
    }

    fn ruby_told(&self, method: &str, args: &[Rb]) -> Evaluated<Vec<RubyDeclaration>> {
        let ruby = std::rc::Rc::clone(&self.machine.ruby);
        let found = self.with_ruby(|vm| {
            let class = constant(vm, "Puppet::Type")?;
            let rows = vm.call_name(class, method, args)?;
            ruby.language_value(vm, rows)
        })?;
        let mut told = Vec::new();
        if let Value::Array(rows) = found {
            for row in rows.iter() {
                let Value::Array(row) = row else { continue };
                let [low, title, Value::Hash(values), Value::Array(secret)] = row.as_slice() else {
                    continue;
                };
                told.push(RubyDeclaration {
                    low: crate::eval::interpolated(low),
                    title: crate::eval::interpolated(title),
                    values: std::rc::Rc::clone(values),
                    secret: secret.iter().map(crate::eval::interpolated).collect(),
                });
            }
        }
        Ok(told)
    }

    /// Lets it react to a change elsewhere.
    pub(crate) fn ruby_refresh(&self, object: Rb) -> Evaluated<()> {
        self.with_ruby(|vm| vm.call_name(object, "refresh", &[]).map(drop))
    }

    /// Edges its type draws by itself.
    pub(crate) fn ruby_autos(&self, object: Rb) -> Evaluated<Vec<(String, String, String)>> {
        self.with_ruby(|vm| {
            let rows = vm.call_name(object, "__autos", &[])?;
            let mut out = Vec::new();
            for row in vm.heap.arr(rows).clone() {
                if let [how, kind, title] = texts(vm, row)?.as_slice() {
                    out.push((how.clone(), kind.clone(), title.clone()));
                }
            }
            Ok(out)
        })
    }

    /// Reads what providers know of all resources of their types at once.
    pub(crate) fn ruby_prefetch(&self, objects: &[Rb]) -> Evaluated<()> {
        if objects.is_empty() {
            return Ok(());
        }
        self.with_ruby(|vm| {
            let class = constant(vm, "Puppet::Type")?;
            let list = vm.arr(objects.to_vec());
            vm.call_name(class, "__prefetch", &[list]).map(drop).map(|()| NIL).map(drop)
        })
    }
}
