//! Names in a manifest that lead nowhere: variables, classes, resource types, functions.
//!
//! What other modules or the site may bring is not known here, so a name is told only where
//! its module is on the path and has no such thing, or where it is almost one that is known.
//! Nothing is evaluated.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;

use fx_puppet_syntax::{
    AttributeOp, Definition, DefinitionKind, Expr, ExprKind, Lambda, Program, StringPart,
};
use fx_source::{Diagnostic, Span};

use crate::compile::Settings;
use crate::eval::Evaluator;
use crate::machine::Machine;

/// Deepest nesting that is looked into.
const MOST_DEEP: u32 = 400;

/// Variables that are there without being set.
const ALWAYS: [&str; 12] = [
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
];

/// What is told of a program.
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
    let mut linter = Linter { evaluator, found: Vec::new() };
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
}

struct Linter {
    evaluator: Rc<Evaluator>,
    found: Vec<Diagnostic>,
}

/// Steps from one word to another by single letters, up to three.
fn distance(a: &str, b: &str) -> usize {
    if a.len().abs_diff(b.len()) > 2 {
        return 3;
    }
    // Two letters that changed places are one slip.
    let differ: Vec<usize> =
        (0..a.len().min(b.len())).filter(|at| a.as_bytes()[*at] != b.as_bytes()[*at]).collect();
    if let [first, second] = differ[..]
        && a.len() == b.len()
        && second == first + 1
        && a.as_bytes()[first] == b.as_bytes()[second]
        && a.as_bytes()[second] == b.as_bytes()[first]
    {
        return 1;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let step = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = step.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// The nearest of some names, if it is near enough to be meant.
fn nearest<'n>(name: &str, all: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let most = match name.len() {
        0..=3 => return None,
        4..=7 => 1,
        _ => 2,
    };
    all.map(|known| (distance(name, known), known))
        .filter(|(far, known)| *far > 0 && *far <= most && known.len() > 3)
        // A number more or less at the end is another name, not a slip.
        .filter(|(_, known)| {
            known.trim_end_matches(|c: char| c.is_ascii_digit())
                != name.trim_end_matches(|c: char| c.is_ascii_digit())
        })
        .filter(|(_, known)| known.trim_end_matches('s') != name.trim_end_matches('s'))
        .min()
        .map(|(_, known)| known)
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

    fn definition(&mut self, definition: &Definition) {
        if matches!(definition.kind, DefinitionKind::TypeAlias | DefinitionKind::Plan) {
            return;
        }
        let mut names = Names::default();
        names.own.extend(definition.params.iter().map(|param| Rc::clone(&param.name)));
        collect(&definition.body, &mut names.own, 0);
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
                    }
                }
            }
            ExprKind::Call { function, args, .. } => {
                if let ExprKind::Name(name) = &function.kind {
                    self.function(name, function.span);
                    if matches!(&**name, "include" | "contain" | "require") {
                        for arg in args {
                            if let ExprKind::String(class) | ExprKind::Name(class) = &arg.kind {
                                self.class(class, arg.span);
                            }
                        }
                    }
                }
            }
            ExprKind::MethodCall { name, name_span, .. } => self.function(name, *name_span),
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
        if let Some(near) = nearest(bare, names.own.iter().map(|name| &**name)) {
            let near = format!("${near}");
            self.tell(
                "puppet-unknown-variable",
                span,
                format!("unknown variable '${bare}'"),
                Some(near),
            );
        }
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

    fn class(&mut self, name: &str, span: Span) {
        let low = name.trim_start_matches("::").to_lowercase();
        if low.contains('$') || !self.has_module(&low) {
            return;
        }
        if matches!(self.evaluator.class_named(&low), Ok(None)) {
            let message = format!("unknown class '{low}': its module has none of this name");
            self.tell("puppet-unknown-class", span, message, None);
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
        if low.contains("::") {
            if self.has_module(&low) {
                let message =
                    format!("unknown resource type '{low}': its module has none of this name");
                self.tell("puppet-unknown-type", span, message, None);
            }
        } else if let Some(near) = nearest(&low, built_in.into_iter()) {
            let message = format!("unknown resource type '{low}'");
            self.tell("puppet-unknown-type", span, message, Some(near.to_owned()));
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
                self.tell("puppet-unknown-function", span, message, None);
            }
        } else if let Some(near) = nearest(low, crate::functions::names()) {
            let message = format!("unknown function '{low}'");
            self.tell("puppet-unknown-function", span, message, Some(near.to_owned()));
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
        check("class a { notice($osfamily, $anything_at_all, $1, $::x) }", &[]);
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
}
