//! Names in a manifest that lead nowhere: variables, classes, resource types, functions.
//!
//! What other modules or the site may bring is not known here, so a name is reported only where
//! its module is on the path and has no such thing, or where it is almost one that is known.
//! Nothing is evaluated.

mod attributes;
mod declared;
mod files;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;

use fx_puppet_syntax::{
    AttributeOp, Definition, DefinitionKind, Expr, ExprKind, Lambda, Program, StringPart,
};
use fx_source::{Diagnostic, Severity, Span, nearest};

use crate::compile::Settings;
use crate::eval::Evaluator;
use crate::machine::Machine;

/// Deepest nesting that is looked into.
const MOST_DEEP: u32 = 400;

/// Variables that are there without being set.
const ALWAYS: [&str; 16] = [
    "facts",
    "trusted",
    "server_facts",
    "title",
    "name",
    "module_name",
    "caller_module_name",
    "environment",
    "clientcert",
    "clientversion",
    "clientnoop",
    "settings",
    "servername",
    "serverip",
    "serverip6",
    "serverversion",
];

/// What is reported about a program.
pub fn lint(machine: &Machine, modulepath: Vec<PathBuf>, program: &Program) -> Vec<Diagnostic> {
    let settings = Settings {
        node: "localhost".into(),
        environment: "production".into(),
        modulepath,
        facts: Some(Vec::new()),
        ..Settings::default()
    };
    let evaluator = Evaluator::new(machine, settings);
    // What the file defines is known whatever its name.
    let _clash = evaluator.add_definitions(program, "");
    let mut linter = Linter { evaluator, found: Vec::new(), has_defaults: false };
    linter.has_defaults = has_defaults(&program.body, 0)
        || program.definitions.iter().any(|definition| has_defaults(&definition.body, 0));
    linter.repeated_definitions(program);
    let mut top = Names::default();
    collect(&program.body, &mut top.own, 0);
    linter.expr(&program.body, &top, 0);
    for definition in &program.definitions {
        linter.definition(definition);
    }
    linter.found
}

/// Names that code may use.
#[derive(Clone, Default)]
struct Names {
    own: BTreeSet<Rc<str>>,
    /// Some of what is inherited is not known.
    open: bool,
    /// The code is that of a class, a define or a function.
    closed: bool,
}

struct Linter {
    evaluator: Rc<Evaluator>,
    found: Vec<Diagnostic>,
    /// The file sets attributes of all resources of a type.
    has_defaults: bool,
}

/// Whether code has `Type { attribute => value }`.
fn has_defaults(expr: &Expr, depth: u32) -> bool {
    if depth > MOST_DEEP {
        return false;
    }
    let mut found = matches!(expr.kind, ExprKind::ResourceDefaults { .. });
    inner(expr, &mut |inside| found |= has_defaults(inside, depth + 1), &mut |_| {});
    found
}

/// Expressions inside an expression; lambdas and definitions apart.
fn inner<'e>(expr: &'e Expr, each: &mut dyn FnMut(&'e Expr), lambdas: &mut dyn FnMut(&'e Lambda)) {
    let operations = |all: &'e [AttributeOp], each: &mut dyn FnMut(&'e Expr)| {
        for one in all {
            match one {
                AttributeOp::Set { value, .. } | AttributeOp::Splat { value, .. } => each(value),
            }
        }
    };
    match &expr.kind {
        ExprKind::Interpolated(parts) => {
            for part in parts {
                if let StringPart::Expr(inner) = part {
                    each(inner);
                }
            }
        }
        ExprKind::Heredoc { text, .. } => each(text),
        ExprKind::Array(items) | ExprKind::Block(items) => items.iter().for_each(each),
        ExprKind::Hash(pairs) => pairs.iter().for_each(|(key, value)| {
            each(key);
            each(value);
        }),
        ExprKind::Access { left, keys } => {
            each(left);
            keys.iter().for_each(each);
        }
        ExprKind::Call { function, args, lambda, .. } => {
            each(function);
            args.iter().for_each(each);
            lambda.as_deref().into_iter().for_each(lambdas);
        }
        ExprKind::MethodCall { receiver, args, lambda, .. } => {
            each(receiver);
            args.iter().for_each(each);
            lambda.as_deref().into_iter().for_each(lambdas);
        }
        ExprKind::Not(inner)
        | ExprKind::Negate(inner)
        | ExprKind::Unfold(inner)
        | ExprKind::Parenthesized(inner)
        | ExprKind::RenderExpr(inner) => each(inner),
        ExprKind::Binary { left, right, .. }
        | ExprKind::Assign { left, right, .. }
        | ExprKind::AppendAssign { left, right, .. }
        | ExprKind::Relationship { left, right, .. } => {
            each(left);
            each(right);
        }
        ExprKind::Selector { left, options } | ExprKind::Case { subject: left, options } => {
            each(left);
            for option in options {
                option.values.iter().for_each(&mut *each);
                each(&option.then);
            }
        }
        ExprKind::If { condition, then, otherwise, .. } => {
            each(condition);
            each(then);
            each(otherwise);
        }
        ExprKind::Lambda(lambda) => lambdas(lambda),
        ExprKind::Resource { ty, bodies, .. } => {
            each(ty);
            for body in bodies {
                each(&body.title);
                operations(&body.operations, each);
            }
        }
        ExprKind::ResourceDefaults { ty, operations: all, .. } => {
            each(ty);
            operations(all, each);
        }
        ExprKind::ResourceOverride { resources, operations: all, .. } => {
            each(resources);
            operations(all, each);
        }
        ExprKind::Collector { ty, query, operations: all, .. } => {
            each(ty);
            query.as_deref().into_iter().for_each(&mut *each);
            operations(all, each);
        }
        ExprKind::Epp { body, .. } => each(body),
        _ => {}
    }
}

/// Variables that code sets, wherever in it; those of lambdas are their own.
fn collect(expr: &Expr, into: &mut BTreeSet<Rc<str>>, depth: u32) {
    if depth > MOST_DEEP {
        return;
    }
    if let ExprKind::Assign { left, .. } = &expr.kind {
        match &left.kind {
            ExprKind::Variable(name) => {
                into.insert(Rc::clone(name));
            }
            ExprKind::Array(items) => {
                for item in items {
                    if let ExprKind::Variable(name) = &item.kind {
                        into.insert(Rc::clone(name));
                    }
                }
            }
            _ => {}
        }
    }
    inner(expr, &mut |inside| collect(inside, into, depth + 1), &mut |_| {});
}

impl Linter {
    fn tell(&mut self, code: &'static str, span: Span, message: String, near: Option<String>) {
        let mut told = Diagnostic::warning(code, message).label(span, "");
        if let Some(near) = near {
            told = told.help(format!("did you mean '{near}'?"));
        }
        self.found.push(told);
    }

    /// An error, where `tell` only warns.
    fn wrong(&mut self, code: &'static str, span: Span, message: String, near: Option<String>) {
        let at = self.found.len();
        self.tell(code, span, message, near);
        for found in &mut self.found[at..] {
            found.severity = Severity::Error;
        }
    }

    /// Classes and defines that a file has twice.
    fn repeated_definitions(&mut self, program: &Program) {
        let mut seen = BTreeSet::new();
        for definition in &program.definitions {
            let counts = matches!(
                definition.kind,
                DefinitionKind::Define | DefinitionKind::Function | DefinitionKind::TypeAlias
            );
            let name = definition.name.trim_start_matches("::").to_lowercase();
            // Two classes of one name are one for the compiler, and hardly meant.
            let counts = counts || definition.kind == DefinitionKind::Class;
            if counts && !seen.insert(name.clone()) {
                let message = format!("'{name}' is defined twice");
                self.wrong("puppet-defined-twice", definition.name_span, message, None);
            }
        }
    }

    fn definition(&mut self, definition: &Definition) {
        if matches!(definition.kind, DefinitionKind::TypeAlias | DefinitionKind::Plan) {
            return;
        }
        let closed = definition.kind != DefinitionKind::Node;
        let mut names = Names { closed, ..Names::default() };
        names.own.extend(definition.params.iter().map(|param| Rc::clone(&param.name)));
        collect(&definition.body, &mut names.own, 0);
        if let Some(parent) = &definition.parent {
            self.class(parent, definition.name_span);
        }
        let mut parent = definition.parent.clone();
        for _ in 0..20 {
            let Some(name) = parent.take() else { break };
            let low = name.trim_start_matches("::").to_lowercase();
            let Ok(Some(entry)) = self.evaluator.class_named(&low) else {
                names.open = true;
                break;
            };
            let above = &entry.definition;
            names.own.extend(above.params.iter().map(|param| Rc::clone(&param.name)));
            collect(&above.body, &mut names.own, 0);
            parent.clone_from(&above.parent);
        }
        for param in &*definition.params {
            if let Some(default) = &param.default {
                self.expr(default, &names, 0);
                self.value(param, default);
            }
        }
        self.expr(&definition.body, &names, 0);
    }

    fn expr(&mut self, expr: &Expr, names: &Names, depth: u32) {
        if depth > MOST_DEEP {
            return;
        }
        match &expr.kind {
            ExprKind::Variable(name) => self.variable(name, expr.span, names),
            ExprKind::Resource { ty, bodies, .. } => {
                if let ExprKind::Name(name) | ExprKind::Reference(name) = &ty.kind {
                    if name.eq_ignore_ascii_case("class") {
                        for body in bodies {
                            if let ExprKind::String(class) | ExprKind::Name(class) =
                                &body.title.kind
                            {
                                self.class(class, body.title.span);
                            }
                        }
                    } else {
                        self.resource_type(name, ty.span);
                        self.words(name, bodies);
                        self.numbers(name, bodies);
                        self.commands(name, bodies);
                        self.sources(bodies);
                    }
                    self.attributes(name, bodies);
                }
            }
            ExprKind::Call { function, args, .. } => {
                if let ExprKind::Name(name) = &function.kind {
                    self.function(name, function.span);
                    self.arity(name, args, 0, function.span);
                    self.read_files(name, args);
                    self.template_parameters(name, args, function.span);
                    if matches!(&**name, "include" | "contain" | "require") {
                        for arg in args {
                            if let ExprKind::String(class) | ExprKind::Name(class) = &arg.kind {
                                self.class(class, arg.span);
                            }
                        }
                    }
                }
            }
            ExprKind::MethodCall { name, name_span, args, .. } => {
                self.function(name, *name_span);
                self.arity(name, args, 1, *name_span);
            }
            ExprKind::Block(statements) => self.declared(statements),
            ExprKind::Epp { params, params_given, body } => {
                // Without parameters of its own a template sees the variables of who calls it.
                let closed = *params_given;
                let mut names = Names { closed, open: !closed, ..Names::default() };
                names.own.extend(params.iter().map(|param| Rc::clone(&param.name)));
                collect(body, &mut names.own, 0);
                self.expr(body, &names, depth + 1);
                return;
            }
            ExprKind::Access { left, .. } => self.small_reference(left),
            ExprKind::Interpolated(parts) => {
                for part in parts {
                    if let StringPart::Expr(part) = part {
                        self.capital_variable(part, names);
                    }
                }
            }
            _ => {}
        }
        let mut inside = Vec::new();
        let mut lambdas = Vec::new();
        inner(expr, &mut |expr| inside.push(expr), &mut |lambda| lambdas.push(lambda));
        for expr in inside {
            self.expr(expr, names, depth + 1);
        }
        for lambda in lambdas {
            let mut names = names.clone();
            names.own.extend(lambda.params.iter().map(|param| Rc::clone(&param.name)));
            collect(&lambda.body, &mut names.own, 0);
            for param in &*lambda.params {
                if let Some(default) = &param.default {
                    self.expr(default, &names, depth + 1);
                }
            }
            self.expr(&lambda.body, &names, depth + 1);
        }
    }

    /// `package['x']`, which is no reference.
    fn small_reference(&mut self, left: &Expr) {
        let ExprKind::Name(name) = &left.kind else { return };
        let low = name.trim_start_matches("::");
        if low == "class" || crate::compile::built_in(low).is_some() {
            let message = format!("'{name}' is a word; a reference begins with a capital letter");
            let near = crate::types::capitalized(low);
            self.wrong("puppet-reference", left.span, message, Some(near));
        }
    }

    /// `${Name}`, which is a type.
    fn capital_variable(&mut self, part: &Expr, names: &Names) {
        let ExprKind::Reference(name) = &part.kind else { return };
        if !matches!(self.evaluator.known_type(name, part.span), Ok(Some(_))) {
            let message = format!("unknown type '{name}'; variables begin with a small letter");
            let near = names.own.iter().find(|known| known.eq_ignore_ascii_case(name));
            let near = near.map(|near| format!("${near}"));
            self.wrong("puppet-unknown-variable", part.span, message, near);
        }
    }

    fn variable(&mut self, name: &Rc<str>, span: Span, names: &Names) {
        let bare = name.trim_start_matches("::");
        if let Some((class, variable)) = bare.rsplit_once("::") {
            self.class_variable(class, variable, name, span);
            return;
        }
        let is_known = names.open
            || name.starts_with("::")
            || name.starts_with(|c: char| c.is_ascii_digit())
            || ALWAYS.contains(&bare)
            || names.own.contains(name)
            || fx_facter::is_legacy_name(bare);
        if is_known {
            return;
        }
        let near = nearest(bare, names.own.iter().map(|name| &**name));
        // At top scope what is not set here may be set by whoever includes this.
        if near.is_some() || (names.closed && !self.is_fact(bare)) {
            let near = near.map(|near| format!("${near}"));
            let message = format!("unknown variable '${bare}'");
            self.tell("puppet-unknown-variable", span, message, near);
        }
    }

    /// Whether a module has a fact of this name, or a name that belongs to facts.
    fn is_fact(&self, name: &str) -> bool {
        let host = self.evaluator.run.look();
        let dirs = self.evaluator.settings.modulepath.iter();
        let mut modules = dirs.flat_map(|dir| {
            host.list(dir).unwrap_or_default().into_iter().map(|entry| dir.join(entry.name))
        });
        modules.any(|module| {
            let facts = module.join("lib/facter");
            host.stat(&facts.join(format!("{name}.rb"))).is_ok()
                || host.list(&facts).unwrap_or_default().iter().any(|entry| {
                    let text = host.read(&facts.join(&entry.name)).unwrap_or_default();
                    String::from_utf8_lossy(&text).contains(name)
                })
        })
    }

    fn class_variable(&mut self, class: &str, variable: &str, shown: &str, span: Span) {
        if class == "settings" || variable.is_empty() {
            return;
        }
        let low = class.to_lowercase();
        let mut at = Some(low);
        let mut all = BTreeSet::new();
        for _ in 0..20 {
            let Some(name) = at.take() else { break };
            let Ok(Some(entry)) = self.evaluator.class_named(&name) else { return };
            let definition = &entry.definition;
            all.extend(definition.params.iter().map(|param| Rc::clone(&param.name)));
            collect(&definition.body, &mut all, 0);
            at.clone_from(&entry.parent.as_deref().map(str::to_owned));
        }
        if all.contains(variable) || matches!(variable, "title" | "name" | "module_name") {
            return;
        }
        let near = nearest(variable, all.iter().map(|name| &**name));
        let near = near.map(|near| format!("${class}::{near}"));
        let message = format!("unknown variable '${shown}': class {class} has no such variable");
        self.tell("puppet-unknown-variable", span, message, near);
    }

    /// Whether the module of a qualified name is there to be asked.
    fn has_module(&self, name: &str) -> bool {
        let module = name.split("::").next().unwrap_or_default();
        self.evaluator.module_dir(module).is_some()
    }

    /// What the files of a name's module define, by their paths.
    fn members(&self, name: &str) -> Vec<String> {
        let module = name.split("::").next().unwrap_or_default();
        let Some(dir) = self.evaluator.module_dir(module) else { return Vec::new() };
        let host = self.evaluator.run.look();
        let mut found = Vec::new();
        let mut todo = vec![(dir.join("manifests"), module.to_owned())];
        while let Some((dir, prefix)) = todo.pop() {
            for entry in host.list(&dir).unwrap_or_default() {
                let file = entry.name.to_string_lossy().into_owned();
                match file.strip_suffix(".pp") {
                    Some("init") => found.push(prefix.clone()),
                    Some(name) => found.push(format!("{prefix}::{name}")),
                    None if found.len() < 10_000 && todo.len() < 1000 => {
                        todo.push((dir.join(&file), format!("{prefix}::{file}")));
                    }
                    None => {}
                }
            }
        }
        found
    }

    /// Names of the modules on the path.
    fn module_names(&self) -> Vec<String> {
        let host = self.evaluator.run.look();
        let dirs = self.evaluator.settings.modulepath.iter();
        let entries = dirs.flat_map(|dir| host.list(dir).unwrap_or_default());
        entries.map(|entry| entry.name.to_string_lossy().into_owned()).collect()
    }

    fn class(&mut self, name: &str, span: Span) {
        let low = name.trim_start_matches("::").to_lowercase();
        if low.contains('$') || !matches!(self.evaluator.class_named(&low), Ok(None)) {
            return;
        }
        let all: Vec<Rc<str>> =
            self.evaluator.definitions.borrow().classes.keys().map(Rc::clone).collect();
        let modules = self.module_names();
        let own = self.members(&low);
        let known = all.iter().map(|name| &**name).chain(modules.iter().map(String::as_str));
        let known = known.chain(own.iter().map(String::as_str));
        let near = fx_source::meant(&low, known).map(str::to_owned);
        if self.has_module(&low) {
            let message = format!("unknown class '{low}': its module has none of this name");
            self.wrong("puppet-unknown-class", span, message, near);
        } else if near.is_some() {
            // The module of this name may be elsewhere.
            self.tell("puppet-unknown-class", span, format!("unknown class '{low}'"), near);
        }
    }

    fn resource_type(&mut self, name: &str, span: Span) {
        let low = name.trim_start_matches("::").to_lowercase();
        // A type that cannot be read is not unknown.
        let known = self.evaluator.has_ruby_type(&low)
            || crate::compile::built_in(&low).is_some()
            || !matches!(self.evaluator.define_named(&low), Ok(None));
        if known {
            return;
        }
        let built_in = crate::compile::built_in_names();
        let own: Vec<Rc<str>> =
            self.evaluator.definitions.borrow().defines.keys().map(Rc::clone).collect();
        let members = self.members(&low);
        let members = members.iter().map(String::as_str);
        let own = own.iter().map(|name| &**name);
        let near = nearest(&low, built_in.into_iter().chain(own).chain(members));
        let near = near.map(str::to_owned);
        if low.contains("::") {
            if self.has_module(&low) {
                let message =
                    format!("unknown resource type '{low}': its module has none of this name");
                self.wrong("puppet-unknown-type", span, message, near);
            }
        } else if near.is_some() {
            let message = format!("unknown resource type '{low}'");
            self.wrong("puppet-unknown-type", span, message, near);
        }
    }

    fn function(&mut self, name: &str, span: Span) {
        let low = name.trim_start_matches("::");
        if crate::functions::find(low).is_some() {
            return;
        }
        let known = !matches!(self.evaluator.function_named(low), Ok(None))
            || self.evaluator.has_ruby_function(low);
        if known {
            return;
        }
        if low.contains("::") {
            if self.has_module(low) {
                let message = format!("unknown function '{low}': its module has none of this name");
                self.wrong("puppet-unknown-function", span, message, None);
            }
        } else if let Some(near) = nearest(low, crate::functions::names()) {
            let message = format!("unknown function '{low}'");
            self.wrong("puppet-unknown-function", span, message, Some(near.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use fx_engine::Cancel;
    use fx_host::MemoryHost;

    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let host = Rc::new(MemoryHost::new());
        host.put_dir("/m", 0o755);
        host.put_dir("/m/web", 0o755);
        host.put_dir("/m/web/manifests", 0o755);
        host.put("/m/web/manifests/init.pp", "class web($port = 80) { $made = 1 }");
        host.put_dir("/m/web/templates", 0o755);
        host.put("/m/web/templates/a.erb", "");
        host.put_dir("/m/web/files", 0o755);
        host.put_dir("/m/web/files/conf", 0o755);
        host.put("/m/web/files/conf/main", "");
        let machine = Machine::new(host, Cancel::default());
        let file = machine.sources.add("x.pp", text.as_bytes().to_vec());
        let (program, _) = fx_puppet_syntax::parse(text.as_bytes(), file);
        let told = lint(&machine, vec!["/m".into()], &program);
        let lines: Vec<String> = told
            .iter()
            .map(|told| match &told.help {
                Some(help) => format!("{}; {help}", told.message),
                None => told.message.clone(),
            })
            .collect();
        assert_eq!(lines, expected, "{text}");
    }

    #[test]
    fn names_that_lead_nowhere_are_told_with_what_was_meant() {
        check(
            "class a($server) { notice($sever) }",
            &["unknown variable '$sever'; did you mean '$server'?"],
        );
        check("class a { notice($osfamily, $1, $::x) } notice($anything_at_all)", &[]);
        check("class a { notice($anything_at_all) }", &["unknown variable '$anything_at_all'"]);
        check("class a($list) { $list.each |$item| { notice($item) } }", &[]);
        check("class a inherits web { notice($port, $made) }", &[]);
        check("class a inherits elsewhere { notice($sever, $server) }", &[]);
        check(
            "notice($web::porrt)",
            &[
                "unknown variable '$web::porrt': class web has no such variable; did you mean '$web::port'?",
            ],
        );
        check(
            "include web, web::nosuch, other",
            &["unknown class 'web::nosuch': its module has none of this name"],
        );
        check("packge { 'x': }", &["unknown resource type 'packge'; did you mean 'package'?"]);
        check(
            "ini_setting { 'x': } web::thing { 'y': }",
            &["unknown resource type 'web::thing': its module has none of this name"],
        );
        check("notcie('x')", &["unknown function 'notcie'; did you mean 'notice'?"]);
        check(
            "$x = web::f(1)\n$y = merge({}, {})",
            &["unknown function 'web::f': its module has none of this name"],
        );
    }

    #[test]
    fn files_of_modules_that_are_not_there_are_told() {
        check("$a = template('web/a.erb', 'other/x.erb')\n$b = epp('web/a.erb', {})", &[]);
        check(
            "$a = template('web/b.erb')",
            &["module 'web' has no template 'b.erb'; did you mean 'web/a.erb'?"],
        );
        check("$a = file('web/none', 'web/conf/main')", &[]);
        check("file { '/x': source => 'puppet:///modules/web/conf/main' }", &[]);
        check("file { '/x': source => ['puppet:///modules/web/none', '/y'] }", &[]);
        check(
            "file { '/x': source => 'puppet:///modules/web/conf/mian' }",
            &["module 'web' has no file 'conf/mian'; did you mean 'web/conf/main'?"],
        );
    }

    #[test]
    fn values_that_no_run_takes_are_told() {
        check(
            "file { '/x': mode => 0644 }",
            &["a mode must be a string, not a number; did you mean ''0644''?"],
        );
        check("file { '/x': mode => '0644' } package { 'x': ensure => '1.2-3' }", &[]);
        check(
            "package { 'x': ensure => instaled }",
            &[
                "'instaled' is no value of 'ensure'; it takes present, installed, latest, absent, purged, held, disabled; did you mean 'installed'?",
            ],
        );
        check("exec { 'ls -l': }", &["'ls' is not qualified and no path was specified"]);
        check("exec { 'x': command => '/bin/ls' } exec { 'ls': path => '/bin' }", &[]);
        check("Exec { path => '/bin' } exec { 'ls': }", &[]);
        check("exec { 'cd /x': provider => shell }", &[]);
    }
}
