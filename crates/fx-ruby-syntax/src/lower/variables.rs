//! Variables and constants: reading and plain assignment.

use ruby_prism::Node as P;

use crate::ast::{ConstScope, ConstSite, Kind, N};
use crate::lower::expr::cast;
use crate::lower::{Lower, keep, keep_all};

impl Lower<'_> {
    /// Variables and constants, read and written.
    pub(super) fn variable(&mut self, node: &P<'_>, at: u32) -> Option<N> {
        Some(match node {
            P::LocalVariableReadNode { .. } => {
                let n = cast!(node, as_local_variable_read_node);
                let var = self.resolve(n.name().as_slice(), n.depth());
                self.read(at, var)
            }
            P::LocalVariableWriteNode { .. } => {
                let n = cast!(node, as_local_variable_write_node);
                let value = self.expr(&n.value());
                let var = self.resolve(n.name().as_slice(), n.depth());
                self.write(at, var, value)
            }
            P::InstanceVariableReadNode { .. } => {
                let site = self.ivar(&cast!(node, as_instance_variable_read_node).name());
                self.node(at, Kind::IVar(site))
            }
            P::InstanceVariableWriteNode { .. } => {
                let n = cast!(node, as_instance_variable_write_node);
                let value = self.expr(&n.value());
                let site = self.ivar(&n.name());
                self.node(at, Kind::ISet(site, value))
            }
            P::GlobalVariableReadNode { .. } => {
                let name = self.sym(&cast!(node, as_global_variable_read_node).name());
                self.node(at, Kind::GVar(name))
            }
            P::GlobalVariableWriteNode { .. } => {
                let n = cast!(node, as_global_variable_write_node);
                let value = self.expr(&n.value());
                let name = self.sym(&n.name());
                self.node(at, Kind::GSet(name, value))
            }
            P::ClassVariableReadNode { .. } => {
                let name = self.sym(&cast!(node, as_class_variable_read_node).name());
                self.node(at, Kind::CVar(name))
            }
            P::ClassVariableWriteNode { .. } => {
                let n = cast!(node, as_class_variable_write_node);
                let value = self.expr(&n.value());
                let name = self.sym(&n.name());
                self.node(at, Kind::CSet(name, value))
            }
            P::NumberedReferenceReadNode { .. } => {
                let n = cast!(node, as_numbered_reference_read_node);
                self.node(at, Kind::NthRef(n.number()))
            }
            P::BackReferenceReadNode { .. } => {
                let n = cast!(node, as_back_reference_read_node);
                let which = n.name().as_slice().get(1).copied().unwrap_or(b'&');
                self.node(at, Kind::BackRef(which))
            }
            P::ConstantReadNode { .. } => {
                self.constant(at, &cast!(node, as_constant_read_node).name())
            }
            P::ConstantPathNode { .. } => {
                let (scope, name) = self.const_scope(node);
                self.node(at, Kind::ConstIn(scope, keep(ConstSite::new(name))))
            }
            P::ConstantWriteNode { .. } => {
                let n = cast!(node, as_constant_write_node);
                let value = self.expr(&n.value());
                let name = self.sym(&n.name());
                self.node(at, Kind::ConstSet(ConstScope::Lexical, name, value))
            }
            P::ConstantPathWriteNode { .. } => {
                let n = cast!(node, as_constant_path_write_node);
                let (scope, name) = self.const_scope(&n.target().as_node());
                let value = self.expr(&n.value());
                self.node(at, Kind::ConstSet(scope, name, value))
            }
            P::ShareableConstantNode { .. } => {
                self.expr(&cast!(node, as_shareable_constant_node).write())
            }
            P::MultiWriteNode { .. } => {
                let n = cast!(node, as_multi_write_node);
                let multi = self.multi(&n.lefts(), n.rest(), &n.rights());
                let value = self.expr(&n.value());
                self.node(at, Kind::Masgn(multi, value))
            }
            P::MatchWriteNode { .. } => {
                let n = cast!(node, as_match_write_node);
                let call = self.call(&n.call());
                let mut vars = Vec::new();
                for target in &n.targets() {
                    if let Some(t) = target.as_local_variable_target_node() {
                        let var = self.resolve(t.name().as_slice(), t.depth());
                        vars.push((self.sym(&t.name()), var));
                    }
                }
                self.node(at, Kind::MatchWrite(call, keep_all(vars)))
            }
            P::ItLocalVariableReadNode { .. } => self.nil(at),
            _ => return None,
        })
    }
}
