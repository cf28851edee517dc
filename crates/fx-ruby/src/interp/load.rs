//! Running texts: programs, `require`, `load`, `eval`, and the lazily read prelude.

use std::borrow::Cow;
use std::path::PathBuf;
use std::rc::Rc;

use fx_host::HostError;
use fx_ruby_syntax::ast::Code;
use fx_ruby_syntax::{Image, Request, Sym};

use crate::heap::{BindFrame, BindingData, Ext};
use crate::interp::Fp;
use crate::names as n;
use crate::object::{Cref, Vis, c};
use crate::value::{NIL, Value};
use crate::vm::{Frame, NO_METHOD, R, Res, Shipped, Vm};

/// Where in `$LOAD_PATH` the libraries stand that ship with the runtime.
pub(crate) const SHIPPED: &str = "/usr/lib/ruby/3.2.0";

pub(crate) fn to_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// The encoding that a comment on the first line names, or on the second below `#!`.
fn magic_encoding(text: &[u8]) -> Option<crate::heap::Enc> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let mut line = lines.next()?;
    if line.starts_with(b"#!") {
        line = lines.next()?;
    }
    let line = String::from_utf8_lossy(line).to_ascii_lowercase();
    let comment = line.trim_start().strip_prefix('#')?;
    let after = &comment[comment.find("coding")? + "coding".len()..];
    let after = after.trim_start().strip_prefix([':', '='])?.trim_start();
    let end = after
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .unwrap_or(after.len());
    crate::encoding::find(&after[..end])
}

impl Vm {
    /// `__ENCODING__` of the file that runs.
    pub(crate) fn source_encoding(&mut self) -> R {
        let (file, _) = self.here();
        let text = self.files.get(file as usize).map(|f| magic_encoding(&f.text));
        self.encoding_object(text.flatten().unwrap_or(crate::encoding::UTF8))
    }

    /// Parses a text; a syntax error becomes a Ruby exception.
    pub(crate) fn compile(
        &mut self,
        text: &[u8],
        path: &str,
        line: i32,
        scopes: Option<Vec<Vec<Sym>>>,
        main: bool,
    ) -> Res<(&'static Code, Option<u32>)> {
        let file = self.add_file(path, text.to_vec(), line);
        let request = Request { source: text, path, file, line, scopes, frozen: false, main };
        match fx_ruby_syntax::parse(&request, &mut self.syms) {
            Ok(parsed) => Ok((parsed.code, parsed.data)),
            Err(errors) => {
                let lines: Vec<String> = errors
                    .iter()
                    .take(5)
                    .map(|e| format!("{path}:{}: {}", e.line, e.message))
                    .collect();
                let e = self.make_error(c::SYNTAX_ERROR, lines.join("\n"))?;
                let p = self.str(path);
                self.ivar_set(e, n::IV_PATH, p);
                self.throw(e)
            }
        }
    }

    /// Parses the text of a file that is loaded as such.
    pub(crate) fn compile_file(
        &mut self,
        text: &[u8],
        path: &str,
        main: bool,
    ) -> Res<(&'static Code, Option<u32>)> {
        let compiled = self.compile(text, path, 1, None, main)?;
        self.files[compiled.0.file as usize].loaded = true;
        Ok(compiled)
    }

    /// Checks the syntax only.
    pub fn check_syntax(&mut self, text: &[u8], path: &str) -> Res<()> {
        self.compile(text, path, 1, None, true).map(|_| ())
    }

    pub(crate) fn run_program(&mut self, code: &'static Code, me: Value, cref: &'static Cref) -> R {
        self.check_spent()?;
        if self.frames.len() >= self.limits.depth as usize {
            return self.too_deep();
        }
        let start = self.stack.len();
        self.stack.resize(start + code.nstack as usize, NIL);
        let env = if code.env_names.is_empty() { 0 } else { self.open_env(code, 0, start) };
        self.heap.escape_env(env);
        let label = if self.frames.is_empty() { n::MAIN } else { self.intern("<top (required)>") };
        self.push_frame(code, cref, me, NIL, NO_METHOD, c::OBJECT, label, start as u32, env);
        let top = self.frames.len() - 1;
        self.frames[top].vis =
            if cref.class == c::OBJECT && !self.loading_lazy { Vis::Private } else { Vis::Public };
        let home = self.serial;
        let saved_match = self.last_match;
        let result = self.eval(Fp::new(start as u32, env, me), code.body.get());
        self.last_match = saved_match;
        self.frames.pop();
        self.stack.truncate(start);
        match result {
            Ok(v) => Ok(v),
            Err(_) => self.catch_return(home),
        }
    }

    /// Runs a text as the program.
    pub fn run_main(&mut self, text: &[u8], path: &str) -> R {
        let (code, data) = self.compile_file(text, path, true)?;
        if let Some(at) = data {
            self.set_data(text, at as usize, path)?;
        }
        self.run_program(code, self.main, self.top_cref)
    }

    /// Runs a text at the top, as `eval` with the outermost binding does.
    pub fn run_text(&mut self, text: &[u8], path: &str) -> R {
        let (code, _) = self.compile(text, path, 1, None, false)?;
        self.deferring(|vm| vm.run_program(code, vm.main, vm.top_cref))
    }

    /// Runs a file's text with a given self, as an embedder does for recipes.
    pub fn run_with_self(&mut self, text: &[u8], path: &str, me: Value) -> R {
        self.deferring(|vm| vm.file_with_self(text, path, me))
    }

    pub(crate) fn file_with_self(&mut self, text: &[u8], path: &str, me: Value) -> R {
        let (code, _) = self.compile(text, path, 1, None, false)?;
        let class = self.singleton_class(me)?;
        let cref = self.cref_below(self.file_cref, class, false);
        self.run_program(code, me, cref)
    }

    /// Runs a file's text as the body of a class, seeing no locals but its own.
    pub fn run_in_class(&mut self, text: &[u8], path: &str, class: u32) -> R {
        self.deferring(|vm| vm.file_in_class(text, path, class))
    }

    pub(crate) fn file_in_class(&mut self, text: &[u8], path: &str, class: u32) -> R {
        let (code, _) = self.compile(text, path, 1, None, false)?;
        let cref = self.cref_below(self.file_cref, class, false);
        self.run_program(code, Value::class(class), cref)
    }

    /// Puts files that an embedder runs inside modules, outermost first: their constants are
    /// seen there as if the text stood in the modules' bodies.
    pub fn set_file_scope(&mut self, modules: &[u32]) {
        self.file_cref =
            modules.iter().fold(self.top_cref, |up, class| self.cref_below(up, *class, false));
    }

    /// Evaluates a text in a binding. New variables stay with the binding.
    pub(crate) fn eval_in(
        &mut self,
        binding: &mut BindingData,
        text: &[u8],
        path: &str,
        line: i32,
        cref: Option<&'static Cref>,
        vis: Vis,
    ) -> R {
        let mut scopes = Vec::new();
        let mut env = binding.env;
        while env != 0 {
            scopes.push(self.heap.envs[env as usize].names.to_vec());
            env = self.heap.envs[env as usize].up;
        }
        scopes.reverse();
        let code = self.compile_eval(text, path, line, scopes)?;
        self.refine_like_here(code.file);
        if self.frames.len() >= self.limits.depth as usize {
            return self.too_deep();
        }
        let start = self.stack.len();
        self.stack.resize(start + code.nstack as usize, NIL);
        let env = if code.env_names.is_empty() {
            binding.env
        } else {
            self.open_env(code, binding.env, start)
        };
        self.heap.escape_env(env);
        binding.env = env;
        let f = binding.frame;
        self.serial += 1;
        self.frames.push(Frame {
            code,
            self_val: binding.self_val,
            block: f.block,
            method: f.method,
            owner: f.owner,
            cref: cref.unwrap_or(f.cref),
            home: f.home,
            break_tag: 0,
            env,
            base: start as u32,
            pos: code.pos,
            name: f.name,
            vis,
            module_function: false,
            lambda: false,
            saved_match: self.last_match,
        });
        let result = self.eval(Fp::new(start as u32, env, binding.self_val), code.body.get());
        self.frames.pop();
        self.stack.truncate(start);
        result
    }

    /// The binding of the Ruby code that called the running native method.
    pub(crate) fn caller_binding(&mut self) -> BindingData {
        let (self_val, env) = self.frames.last().map_or((self.main, 0), |f| (f.self_val, f.env));
        self.heap.escape_env(env);
        let frame: BindFrame = self.bind_frame();
        self.heap.escape(frame.block);
        BindingData { self_val, env, frame }
    }

    pub(crate) fn new_binding(&mut self, data: BindingData) -> Value {
        self.heap.object(c::BINDING, Ext::Binding(Box::new(data)))
    }

    // ---- require ----------------------------------------------------------

    pub(crate) fn autoload(&mut self, path: &str) -> Res<()> {
        if let Some(text) = path.strip_prefix("prelude:") {
            self.load_prelude_file(text)?;
            return Ok(());
        }
        let v = self.str(path);
        self.call_name(self.main, "require", &[v])?;
        Ok(())
    }

    /// The code of a text that ships: from its image, or parsed when it has none.
    pub(crate) fn shipped_code(&mut self, found: Shipped) -> Res<&'static Code> {
        let path = format!("<internal:{}>", found.name);
        if found.image.is_empty() {
            return Ok(self.compile(found.text.as_bytes(), &path, 1, None, false)?.0);
        }
        let file = self.add_file(&path, found.text.as_bytes(), 1);
        Ok(Image::open(found.image, file, &mut self.syms))
    }

    /// Reads a text that ships with the runtime or with the embedder, once.
    pub fn load_prelude_file(&mut self, name: &str) -> Res<()> {
        let shipped = || self.shipped.iter().find(|shipped| shipped.name == name).copied();
        let own = crate::prelude::source(name);
        let Some(found) = own.or_else(shipped) else { return Ok(()) };
        if self.required.iter().any(|r| **r == *name) {
            return Ok(());
        }
        self.required.push(name.into());
        self.lazy.retain(|(_, n, _)| *n != name);
        let code = self.shipped_code(found)?;
        let saved = self.loading_lazy;
        // What natives define wins over our own texts; an embedder's text may redefine.
        self.loading_lazy = own.is_some();
        // Read when something is first used, by whoever uses it.
        let result = self.deferring(|vm| vm.run_program(code, vm.main, vm.top_cref));
        self.loading_lazy = saved;
        result.map(|_| ())
    }

    /// Reads the Ruby part of the classes above a class; true when there was one.
    pub(crate) fn load_lazy(&mut self, class: u32) -> bool {
        if self.lazy.is_empty() {
            return false;
        }
        let mro = self.mro(class);
        let mut due = Vec::new();
        self.lazy.retain(|(id, name, _)| {
            if mro.contains(id) {
                if !due.contains(name) {
                    due.push(*name);
                }
                false
            } else {
                true
            }
        });
        if due.is_empty() {
            return false;
        }
        let saved = self.pending.get();
        for name in due {
            if self.load_prelude_file(name).is_err()
                && let Some(e) = self.take_raise()
            {
                let text = self.report(e);
                drop(writeln_err(self, &text));
            }
        }
        self.pending.set(saved);
        true
    }

    /// The text of a file to run; none where it cannot be read. One that is refused raises what
    /// no plain `rescue` takes for a missing file.
    pub(crate) fn read_source(&mut self, path: &str) -> Res<Option<Vec<u8>>> {
        let full = self.absolute(path.as_bytes());
        self.file_read(&full);
        if !self.hooks.trusted_sources {
            return Ok(self.host.read_opt(&to_path(&full)).ok().flatten());
        }
        match self.host.read_trusted_opt(&to_path(&full)) {
            Err(error @ HostError::Untrusted { .. }) => {
                self.fail(c::SECURITY_ERROR, error.to_string())
            }
            text => Ok(text.ok().flatten()),
        }
    }

    /// Path of a file to require: as given or along `$LOAD_PATH`, in which the libraries that
    /// ship with the runtime have their place.
    pub(crate) fn find_feature(&mut self, name: &str) -> Option<Rc<str>> {
        let file: Cow<'_, str> =
            if name.ends_with(".rb") { name.into() } else { format!("{name}.rb").into() };
        if ["/", "./", "../", "~"].iter().any(|start| name.starts_with(start)) {
            return self.feature_at(file.as_bytes());
        }
        let short = name.strip_suffix(".rb").or_else(|| name.strip_suffix(".so")).unwrap_or(name);
        let is_known = crate::stdlib::known(short);
        let list = self.global(n::GV_LOAD_PATH);
        let mut at = 0;
        while list.is_arr()
            && let Some(&entry) = self.heap.arr(list).get(at)
        {
            at += 1;
            let dir = if entry.is_str() {
                entry
            } else if let Ok(Some(Some(path))) =
                self.forgetting(|vm| vm.try_send(entry, n::TO_PATH, &[]))
            {
                path
            } else {
                continue;
            };
            let dir = self.bytes(dir);
            if dir == SHIPPED.as_bytes() {
                if is_known {
                    return Some(format!("{SHIPPED}/{short}.rb").into());
                }
                continue;
            }
            if self.hooks.may_hold.as_ref().is_some_and(|may_hold| !may_hold(dir, &file)) {
                continue;
            }
            let path = [dir, b"/", file.as_bytes()].concat();
            if let Some(found) = self.feature_at(&path) {
                return Some(found);
            }
        }
        None
    }

    /// The real path of a file, where there is one.
    /// A path below the home directory, written with a tilde.
    pub(crate) fn home_path(&mut self, path: &[u8]) -> Option<Vec<u8>> {
        let rest = path.strip_prefix(b"~/")?;
        let (_, home) = self.env_vars().iter().find(|(name, _)| name == b"HOME")?;
        Some([home, b"/".as_slice(), rest].concat())
    }

    fn feature_at(&mut self, path: &[u8]) -> Option<Rc<str>> {
        let full = match self.home_path(path) {
            Some(full) => full,
            None => self.absolute(path),
        };
        let stat = self.host.stat_opt(&to_path(&full)).ok().flatten()?;
        if stat.kind != fx_host::Kind::File {
            return None;
        }
        let real = self.host.real_path(&to_path(&full)).ok();
        let text = real.map_or_else(
            || String::from_utf8_lossy(&full).into_owned(),
            |path| path.to_string_lossy().into_owned(),
        );
        Some(text.into())
    }

    pub(crate) fn require(&mut self, name: &str) -> R {
        if self.is_provided(name) {
            return Ok(Value::bool(false));
        }
        let mut found = self.find_feature(name);
        if found.is_none() && self.gem_has(name)? {
            found = self.find_feature(name);
        }
        let Some(path) = found else { return self.load_error(name) };
        self.await_loading(&path)?;
        if self.is_loaded(&path) || self.loading.iter().any(|(at, _)| *at == path) {
            return Ok(Value::bool(false));
        }
        let shipped = path.strip_prefix(SHIPPED).and_then(|rest| rest.strip_prefix('/'));
        let shipped = shipped.and_then(|rest| rest.strip_suffix(".rb"));
        let thread = self.thread();
        self.loading.push((Rc::clone(&path), thread));
        let result = match shipped.filter(|name| crate::stdlib::known(name)) {
            Some(name) => crate::stdlib::load(self, name),
            None => match self.read_source(&path) {
                Err(unwind) => Err(unwind),
                Ok(Some(text)) => self
                    .compile_file(&text, &path, false)
                    .and_then(|(code, _)| self.run_program(code, self.main, self.top_cref))
                    .map(drop),
                Ok(None) => self.load_error(name).map(drop),
            },
        };
        self.loading.retain(|(at, _)| *at != path);
        result?;
        self.mark_loaded(&path);
        Ok(Value::bool(true))
    }

    /// Whether `$LOADED_FEATURES` has a file of that name: as it is written, or below a directory
    /// of the load path. No file is looked for then.
    fn is_provided(&mut self, name: &str) -> bool {
        if ["/", "./", "../", "~"].iter().any(|start| name.starts_with(start)) {
            return false;
        }
        let (list, paths) = (self.global(n::GV_FEATURES), self.global(n::GV_LOAD_PATH));
        if !list.is_arr() || !paths.is_arr() {
            return false;
        }
        let file = if name.ends_with(".rb") { name.to_owned() } else { format!("{name}.rb") };
        let within = |feature: &[u8]| -> bool {
            let Some(dir) = feature.strip_suffix(file.as_bytes()) else { return false };
            let Some(dir) = dir.strip_suffix(b"/") else { return dir.is_empty() };
            self.heap.arr(paths).iter().any(|path| path.is_str() && self.bytes(*path) == dir)
        };
        self.heap.arr(list).iter().any(|feature| feature.is_str() && within(self.bytes(*feature)))
    }

    /// Waits while another thread loads a file.
    fn await_loading(&mut self, path: &str) -> Res<()> {
        let me = self.thread();
        let elsewhere =
            self.loading.iter().find(|(at, thread)| **at == *path && *thread != me).cloned();
        let Some(loading) = elsewhere else { return Ok(()) };
        let ready = self.native_proc(
            0,
            false,
            &[],
            crate::core::kernel::boxed(move |vm, _, _, _| {
                Ok(Value::bool(!vm.loading.contains(&loading)))
            }),
        );
        let wait = self.intern("__wait");
        self.method_call(Value::class(c::THREAD), wait, &[], ready, false, true).map(drop)
    }

    /// Whether an installed gem has the file, whose directory is in the load path then.
    fn gem_has(&mut self, name: &str) -> Res<bool> {
        if !self.hooks.gems {
            return Ok(false);
        }
        let gem = self.intern("Gem");
        let gem = self.const_get(self.top_cref, gem)?;
        let name = self.str(name);
        Ok(self.call_name(gem, "__activate_for", &[name])?.truthy())
    }

    fn is_loaded(&self, path: &str) -> bool {
        let list = self.global(n::GV_FEATURES);
        list.is_arr()
            && self.heap.arr(list).iter().any(|v| v.is_str() && self.bytes(*v) == path.as_bytes())
    }

    fn mark_loaded(&mut self, path: &str) {
        let v = self.str(path);
        self.freeze(v);
        let list = self.global(n::GV_FEATURES);
        if list.is_arr() {
            self.heap.arr_mut(list).push(v);
        }
    }

    pub(crate) fn load_error(&mut self, name: &str) -> R {
        let e = self.make_error(c::LOAD_ERROR, format!("cannot load such file -- {name}"))?;
        let p = self.str(name);
        self.ivar_set(e, n::IV_PATH, p);
        self.throw(e)
    }

    fn set_data(&mut self, text: &[u8], at: usize, path: &str) -> Res<()> {
        let rest = &text[at..];
        let skip = rest.iter().position(|b| *b == b'\n').map_or(rest.len(), |i| i + 1);
        let v = self.data_file(path, at + skip)?;
        self.const_set(c::OBJECT, n::DATA, v);
        Ok(())
    }
}

pub(crate) fn writeln_err(vm: &mut Vm, text: &str) -> std::io::Result<()> {
    vm.err.write_all(text.as_bytes())
}
