//! Definitions: methods, classes, modules, other names, and code for the end.

use std::cell::Cell;

use ruby_prism::Node as P;

use crate::ast::{ClassNode, CodeKind, Kind, N};
use crate::lower::expr::cast;
use crate::lower::{Lower, Scope, keep, keep_all, no_params};

impl Lower<'_> {
    /// Methods, classes, names, and code for the end.
    pub(super) fn definition(&mut self, node: &P<'_>, at: u32) -> Option<N> {
        Some(match node {
            P::DefNode { .. } => self.def(&cast!(node, as_def_node)),
            P::ClassNode { .. } => {
                let n = cast!(node, as_class_node);
                let (scope, name) = self.const_scope(&n.constant_path());
                let superclass = n.superclass().map(|s| self.expr(&s));
                let code = self.class_body(&n.location(), &n.locals(), n.body(), name);
                self.node(at, Kind::Class(keep(ClassNode { scope, name, superclass, code })))
            }
            P::ModuleNode { .. } => {
                let n = cast!(node, as_module_node);
                let (scope, name) = self.const_scope(&n.constant_path());
                let code = self.class_body(&n.location(), &n.locals(), n.body(), name);
                self.node(at, Kind::Module(keep(ClassNode { scope, name, superclass: None, code })))
            }
            P::SingletonClassNode { .. } => {
                let n = cast!(node, as_singleton_class_node);
                let object = self.expr(&n.expression());
                let name = self.syms.intern(b"singleton class");
                let code = self.class_body(&n.location(), &n.locals(), n.body(), name);
                self.node(at, Kind::SClass(object, code))
            }
            P::AliasMethodNode { .. } => {
                let n = cast!(node, as_alias_method_node);
                let (new, old) = (self.expr(&n.new_name()), self.expr(&n.old_name()));
                self.node(at, Kind::Alias(new, old))
            }
            P::AliasGlobalVariableNode { .. } => {
                let n = cast!(node, as_alias_global_variable_node);
                let new = self.syms.intern(n.new_name().location().as_slice());
                let old = self.syms.intern(n.old_name().location().as_slice());
                self.node(at, Kind::GAlias(new, old))
            }
            P::UndefNode { .. } => {
                let names =
                    cast!(node, as_undef_node).names().iter().map(|n| self.expr(&n)).collect();
                self.node(at, Kind::Undef(keep_all(names)))
            }
            P::PostExecutionNode { .. } => {
                let n = cast!(node, as_post_execution_node);
                self.scopes.push(Scope { block: true, ..Scope::default() });
                let body = self.maybe_statements(n.statements(), at);
                let name = self.syms.intern(b"block");
                let end = n.location().end();
                let code =
                    self.close(CodeKind::Block, name, no_params(), body, Vec::new(), at, end);
                self.node(at, Kind::PostExe(code, keep(Cell::new(false))))
            }
            P::DefinedNode { .. } => {
                let inner = self.expr(&cast!(node, as_defined_node).value());
                self.node(at, Kind::Defined(inner))
            }
            _ => return None,
        })
    }
}
