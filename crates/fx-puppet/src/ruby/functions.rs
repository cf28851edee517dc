//! Functions written in Ruby: finding and reading their files, choosing among signatures,
//! calling.

use std::path::PathBuf;
use std::rc::Rc;

use fx_ruby::value::{NIL, Value as Rb};
use fx_ruby::{Res, Vm};

use super::constant;
use crate::eval::{Closure, Evaluated, Evaluator, Flow, Parameters, Scope, check, reasons_against};
use crate::types::{Range, Size, Type, is_instance};
use crate::value::Value;

/// A function that was found.
pub(crate) enum Known {
    /// Of the 4.x API.
    New { object: Rb, dispatches: Vec<Dispatch> },
    /// Of the 3.x API.
    Old { arity: i64, is_statement: bool },
}

/// One signature with the method behind it.
pub(crate) struct Dispatch {
    method: Rb,
    parameters: Parameters,
    /// Places before which something is put in.
    injected: Vec<(usize, String)>,
    returns: Option<Rc<Type>>,
    /// It only says why arguments are wrong.
    is_complaint: bool,
}

/// A way to call a function, as Ruby describes it.
struct Row {
    method: Rb,
    /// Type, name and mark of each parameter.
    params: Vec<(String, String, String)>,
    /// Type and name of the block.
    block: Option<(String, String)>,
    block_is_optional: bool,
    /// What is put in between, by position.
    injected: Vec<(usize, String)>,
    returns: Option<String>,
    is_complaint: bool,
}

/// What a file defines.
enum Described {
    Nothing,
    Old { arity: i64, is_statement: bool },
    New { object: Rb, rows: Vec<Row>, aliases: Vec<String> },
}

/// Runs the file of a function and lets Ruby describe what it defines.
fn describe(vm: &mut Vm, name: &str, text: &[u8], shown: &str, is_new: bool) -> Res<Described> {
    let module =
        constant(vm, if is_new { "Puppet::Functions" } else { "Puppet::Parser::Functions" })?;
    // `defined?` looks for what is there and reads nothing by itself.
    if text.windows(11).any(|word| word == b"PuppetStack") {
        constant(vm, "Puppet::Pops")?;
    }
    if is_new {
        vm.run_text(text, shown)?;
    } else {
        vm.run_with_self(text, shown, module)?;
    }
    let key = vm.str(name);
    let described = vm.call_name(module, "__describe", &[key])?;
    if described.is_nil() {
        return Ok(Described::Nothing);
    }
    let parts = vm.heap.arr(described).clone();
    if !is_new {
        let arity = parts[0].fixnum().unwrap_or(-1);
        let is_statement = vm.to_s(parts[1])? == "statement";
        return Ok(Described::Old { arity, is_statement });
    }
    let rows = vm.heap.arr(parts[1]).clone();
    let mut rows: Vec<Row> = rows.into_iter().map(|row| read_row(vm, row)).collect();
    // A function with a `call` of its own is given the scope before all arguments.
    if vm.call_name(module, "__wants_scope", &[parts[0]])?.truthy() {
        for row in &mut rows {
            if !row.params.is_empty() {
                row.params.remove(0);
            }
            row.injected.insert(0, (0, "scope".to_owned()));
        }
    }
    let aliases = vm.heap.arr(parts[2]).clone();
    let aliases = aliases.into_iter().map(|text| vm.text(text)).collect();
    Ok(Described::New { object: vm.pin(parts[0]), rows, aliases })
}

fn read_row(vm: &mut Vm, row: Rb) -> Row {
    let cells = vm.heap.arr(row).clone();
    let method = vm.text(cells[0]);
    let method = Rb::sym(vm.intern(&method));
    let mut params = Vec::new();
    for param in vm.heap.arr(cells[1]).clone() {
        let cells = vm.heap.arr(param).clone();
        params.push((vm.text(cells[0]), vm.text(cells[1]), vm.text(cells[2])));
    }
    let block = (!cells[2].is_nil()).then(|| {
        let cells = vm.heap.arr(cells[2]).clone();
        (vm.text(cells[0]), vm.text(cells[1]))
    });
    let mut injected = Vec::new();
    for one in vm.heap.arr(cells[4]).clone() {
        let pair = vm.heap.arr(one).clone();
        injected.push((pair[0].fixnum().unwrap_or(0) as usize, vm.text(pair[1])));
    }
    Row {
        method,
        params,
        block,
        block_is_optional: cells[3].truthy(),
        injected,
        returns: (!cells[5].is_nil()).then(|| vm.text(cells[5])),
        is_complaint: cells[6].truthy(),
    }
}

impl Evaluator {
    /// Calls a function written in Ruby; nothing if there is none of that name.
    pub(crate) fn call_ruby_function(
        &self,
        name: &str,
        args: Vec<Value>,
        block: Option<Closure>,
        scope: &Rc<Scope>,
    ) -> Evaluated<Option<Value>> {
        let Some(mut known) = self.ruby_function(name)? else { return Ok(None) };
        let files = self.machine.ruby.contested.borrow().get(name).cloned();
        if let Some(files) = files
            && let Some(own) = self.preferred(name, &files, &scope.frame.module)?
        {
            known = own;
        }
        self.machine.effects.author(name, || match &*known {
            Known::New { object, dispatches } => {
                self.call_new(name, *object, dispatches, &args, block, scope).map(Some)
            }
            Known::Old { arity, is_statement } => {
                self.call_old(name, *arity, *is_statement, &args, scope).map(Some)
            }
        })
    }

    /// A function written in Ruby, read from its file when first asked for.
    pub(crate) fn ruby_function(&self, name: &str) -> Evaluated<Option<Rc<Known>>> {
        if let Some(known) = self.machine.ruby.functions.borrow().get(name) {
            return Ok(known.clone());
        }
        let found = match self.function_file(name) {
            // A file may bring functions of other names than its own.
            None => match self.declared_function(name)? {
                Some(found) => Some(Rc::new(found)),
                None => return Ok(None),
            },
            Some((path, is_new)) => self.read_function(name, &path, is_new)?.map(Rc::new),
        };
        self.machine.ruby.functions.borrow_mut().insert(name.to_owned(), found.clone());
        if found.as_ref().is_some_and(|found| matches!(**found, Known::New { .. })) {
            let files = self.libs().all("puppet/functions", &format!("{name}.rb"));
            if files.len() > 1 {
                self.machine.ruby.contested.borrow_mut().insert(name.to_owned(), files.into());
            }
        }
        Ok(found)
    }

    /// Of several functions of one name that of the module itself, then those of the modules
    /// it declares to depend on; nothing where the first of all will do.
    fn preferred(
        &self,
        name: &str,
        files: &[PathBuf],
        module: &Rc<str>,
    ) -> Evaluated<Option<Rc<Known>>> {
        if module.is_empty() {
            return Ok(None);
        }
        let needs = self.declared_needs(module);
        let names = std::iter::once(&**module).chain(needs.iter().map(String::as_str));
        let dirs = names.filter_map(|name| self.module_dir(name));
        let file =
            dirs.into_iter().find_map(|dir| files.iter().find(|file| file.starts_with(&dir)));
        let Some(file) = file.filter(|file| *file != &files[0]) else { return Ok(None) };
        let key = format!("{name} {}", file.display());
        if let Some(known) = self.machine.ruby.functions.borrow().get(&key) {
            return Ok(known.clone());
        }
        let found = self.read_function(name, file, true)?.map(Rc::new);
        self.machine.ruby.functions.borrow_mut().insert(key, found.clone());
        Ok(found)
    }

    /// Names of the modules that a module's metadata name, in their order.
    fn declared_needs(&self, module: &Rc<str>) -> Rc<[String]> {
        if let Some(known) = self.machine.ruby.needs.borrow().get(module) {
            return Rc::clone(known);
        }
        let read = || {
            let text = self
                .run
                .look()
                .read_trusted_data(&self.module_dir(module)?.join("metadata.json"))
                .ok()?;
            let data: serde_json::Value = serde_json::from_slice(&text).ok()?;
            let all = data.get("dependencies")?.as_array()?.iter();
            let name = |need: &serde_json::Value| {
                let full = need.get("name")?.as_str()?;
                full.rsplit(['/', '-']).next().map(str::to_owned)
            };
            Some(all.filter_map(name).collect::<Rc<[String]>>())
        };
        let needs = read().unwrap_or_else(|| Rc::from([]));
        self.machine.ruby.needs.borrow_mut().insert(Rc::clone(module), Rc::clone(&needs));
        needs
    }

    /// A function of the 3.x API that some file already read has brought.
    fn declared_function(&self, name: &str) -> Evaluated<Option<Known>> {
        if self.machine.ruby.vm.borrow().is_none() {
            return Ok(None);
        }
        self.with_ruby(|vm| {
            let module = constant(vm, "Puppet::Parser::Functions")?;
            let key = vm.str(name);
            let described = vm.call_name(module, "__describe", &[key])?;
            if described.is_nil() {
                return Ok(None);
            }
            let parts = vm.heap.arr(described).clone();
            let arity = parts[0].fixnum().unwrap_or(-1);
            let is_statement = vm.to_s(parts[1])? == "statement";
            Ok(Some(Known::Old { arity, is_statement }))
        })
    }

    /// Reads a function of the 3.x API, though there may be one of the 4.x API by that name;
    /// says whether there is one.
    pub(super) fn read_old_function(&self, name: &str) -> Evaluated<bool> {
        let Some(path) = self.ruby_files("puppet/parser/functions").get(name).cloned() else {
            return Ok(false);
        };
        Ok(self.read_function(name, &path, false)?.is_some())
    }

    /// Whether a module brings a function in Ruby.
    pub(crate) fn has_ruby_function(&self, name: &str) -> bool {
        self.function_file(name).is_some()
    }

    fn function_file(&self, name: &str) -> Option<(PathBuf, bool)> {
        let host = self.run.look();
        let is_good = name.split("::").all(|part| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        });
        if !is_good {
            return None;
        }
        let relative = format!("{}.rb", name.replace("::", "/"));
        if let Some((module, _)) = name.split_once("::") {
            let dir = self.module_dir(module).or_else(|| self.settings.plugins.clone())?;
            let path = dir.join("lib/puppet/functions").join(&relative);
            let exists = host.stat(&path).is_ok_and(|meta| meta.is_file());
            return exists.then_some((path, true));
        }
        let find = |folder| self.ruby_files(folder).get(name).cloned();
        find("puppet/functions")
            .map(|path| (path, true))
            .or_else(|| find("puppet/parser/functions").map(|path| (path, false)))
    }

    fn read_function(
        &self,
        name: &str,
        path: &std::path::Path,
        is_new: bool,
    ) -> Evaluated<Option<Known>> {
        let text =
            self.run.look().read_trusted(path).map_err(|error| Flow::raw(error.to_string()))?;
        let shown = path.to_string_lossy().into_owned();
        let described = self.with_ruby(|vm| describe(vm, name, &text, &shown, is_new))?;
        let (object, rows, aliases) = match described {
            Described::Nothing => return Ok(None),
            Described::Old { arity, is_statement } => {
                return Ok(Some(Known::Old { arity, is_statement }));
            }
            Described::New { object, rows, aliases } => (object, rows, aliases),
        };
        for alias in aliases {
            self.add_local_type(&alias)?;
        }
        let dispatches: Evaluated<Vec<Dispatch>> =
            rows.into_iter().map(|row| self.dispatch_of(row)).collect();
        Ok(Some(Known::New { object, dispatches: dispatches? }))
    }

    /// A way to call a function, its types read.
    fn dispatch_of(&self, row: Row) -> Evaluated<Dispatch> {
        let (mut least, mut most) = (0, Some(0));
        let mut shown = Vec::new();
        let mut typed: Vec<(Rc<str>, Rc<Type>)> = Vec::new();
        for (ty, name, mark) in &row.params {
            let ty = self.type_from_text(ty)?;
            shown.push(format!("{ty} {name}{mark}"));
            match mark.as_str() {
                "?" => most = most.map(|most| most + 1),
                "*" => most = None,
                "+" => {
                    least += 1;
                    most = None;
                }
                _ => {
                    least += 1;
                    most = most.map(|most| most + 1);
                }
            }
            typed.push((name.as_str().into(), ty));
        }
        let block = match row.block {
            None => None,
            Some((ty, name)) => {
                let ty = self.type_from_text(&ty)?;
                shown.push(format!("{ty} {name}{}", if row.block_is_optional { "?" } else { "" }));
                Some((ty, row.block_is_optional))
            }
        };
        let size: Size = Range::new(Some(least), most);
        let parameters =
            Parameters { params: typed, size, block, shown: format!("({})", shown.join(", ")) };
        let returns = match row.returns {
            Some(text) => Some(self.type_from_text(&text)?),
            None => None,
        };
        let (method, injected, is_complaint) = (row.method, row.injected, row.is_complaint);
        Ok(Dispatch { method, parameters, injected, returns, is_complaint })
    }

    fn call_new(
        &self,
        name: &str,
        object: Rb,
        dispatches: &[Dispatch],
        args: &[Value],
        block: Option<Closure>,
        scope: &Rc<Scope>,
    ) -> Evaluated {
        let fits = |dispatch: &&Dispatch| {
            reasons_against(&dispatch.parameters, args, block.as_ref()).is_empty()
        };
        let chosen = dispatches
            .iter()
            .filter(|dispatch| !dispatch.is_complaint)
            .find(fits)
            .or_else(|| dispatches.iter().filter(|dispatch| dispatch.is_complaint).find(fits));
        let Some(dispatch) = chosen else {
            let all: Vec<&Parameters> = dispatches
                .iter()
                .filter(|dispatch| !dispatch.is_complaint)
                .map(|dispatch| &dispatch.parameters)
                .collect();
            check(name, &all, args, block.as_ref())?;
            return Err(Flow::raw(format!(
                "'{name}' was called with arguments it does not accept"
            )));
        };
        let number = self.scope_number(scope);
        let ruby = Rc::clone(&self.machine.ruby);
        let result = self.with_ruby(|vm| {
            let mut given = Vec::with_capacity(args.len() + dispatch.injected.len());
            for (at, arg) in args.iter().enumerate() {
                inject(vm, dispatch, at, number, &mut given)?;
                given.push(ruby.to_ruby(vm, arg)?);
            }
            for at in args.len()..=args.len().max(dispatch.parameters.params.len()) {
                inject(vm, dispatch, at, number, &mut given)?;
            }
            let block = match &block {
                Some(block) => self.block_for_ruby(vm, block),
                None => NIL,
            };
            let scope_key = vm.intern("@__scope");
            let old = vm.ivar_get(object, scope_key).unwrap_or(NIL);
            let number = vm.int(number);
            vm.ivar_set(object, scope_key, number);
            let method = dispatch.method.as_sym();
            let result = match method {
                Some(method) if args.last().is_some_and(crate::lookup::is_context) => {
                    let module = constant(vm, "Puppet::Functions")?;
                    let given = vm.arr(given);
                    let leaving = [object, Rb::sym(method), number, given, block];
                    vm.call_name(module, "__run", &leaving)
                }
                Some(method) => vm.send_block(object, method, &given, block),
                None => Ok(NIL),
            };
            vm.ivar_set(object, scope_key, old);
            let result = result?;
            if dispatch.is_complaint {
                let text = vm.to_s(result)?;
                return Ok(Err(text));
            }
            ruby.language_value(vm, result).map(Ok)
        })?;
        let value = match result {
            Ok(value) => value,
            Err(complaint) => return Err(Flow::raw(format!("'{name}' {complaint}"))),
        };
        if let Some(ty) = &dispatch.returns
            && !is_instance(ty, &value)
        {
            return Err(Flow::raw(crate::eval::mismatch_text(
                &format!("value returned from function '{name}' has wrong type,"),
                ty,
                &value,
            )));
        }
        Ok(value)
    }

    /// A block of the language as a lambda of Ruby.
    fn block_for_ruby(&self, vm: &mut Vm, block: &Closure) -> Rb {
        let ruby = Rc::downgrade(&self.machine.ruby);
        let closure = block.clone();
        let size = closure.arity();
        let arity = match (size.min, size.max) {
            (Some(least), Some(most)) if least == most => least as i32,
            (least, _) => -(least.unwrap_or(0) as i32) - 1,
        };
        let run = move |vm: &mut Vm, _: &[Rb], args: &[Rb], _block: Rb| -> Res<Rb> {
            let Some(ruby) = ruby.upgrade() else { return Ok(NIL) };
            let Some(evaluator) = ruby.evaluator() else { return Ok(NIL) };
            let mut values = Vec::with_capacity(args.len());
            for arg in args {
                values.push(ruby.language_value(vm, *arg)?);
            }
            let result = ruby.lend(vm, &evaluator, || evaluator.call_closure(&closure, values));
            match result {
                Ok(value) => ruby.to_ruby(vm, &value),
                Err(flow) => super::carry(&ruby, vm, flow),
            }
        };
        vm.native_proc(arity, true, &[], Rc::new(run))
    }

    fn call_old(
        &self,
        name: &str,
        arity: i64,
        is_statement: bool,
        args: &[Value],
        scope: &Rc<Scope>,
    ) -> Evaluated {
        let count = args.len() as i64;
        let wrong = if arity >= 0 { count != arity } else { count < -(arity + 1) };
        if wrong {
            return Err(Flow::raw(format!(
                "{name}(): Wrong number of arguments given ({count} for {}{})",
                if arity >= 0 { "" } else { "minimum " },
                if arity >= 0 { arity } else { -(arity + 1) }
            )));
        }
        let number = self.scope_number(scope);
        let ruby = Rc::clone(&self.machine.ruby);
        let value = self.with_ruby(|vm| {
            let module = constant(vm, "Puppet::Parser::Functions")?;
            let given = self.old_arguments(vm, args)?;
            let given = vm.arr(given);
            let (key, number) = (vm.str(name), vm.int(number));
            let result = vm.call_name(module, "__run", &[key, number, given])?;
            ruby.language_value(vm, result)
        })?;
        Ok(if is_statement { Value::Undef } else { value })
    }

    /// `type X = …` of a function, known from then on.
    fn add_local_type(&self, text: &str) -> Evaluated<()> {
        let source = format!("type {text}");
        let (program, errors) = fx_puppet_syntax::parse(source.as_bytes(), self.builtin);
        if let Some(error) = errors.first() {
            return Err(Flow::raw(error.message.clone()));
        }
        // A second function may bring the same one.
        let _known = self.add_definitions(&program, "");
        Ok(())
    }
}

fn inject(
    vm: &mut Vm,
    dispatch: &Dispatch,
    at: usize,
    number: i64,
    given: &mut Vec<Rb>,
) -> Res<()> {
    for (place, what) in &dispatch.injected {
        if *place == at {
            let scope = {
                let class = constant(vm, "Puppet::Parser::Scope")?;
                let number = vm.int(number);
                vm.call_name(class, "new", &[number])?
            };
            given.push(match what.as_str() {
                "compiler" => vm.call_name(scope, "compiler", &[])?,
                "cache" => vm.hash(),
                _ => scope,
            });
        }
    }
    Ok(())
}
