//! Assignments with an operator, `a += 1`, `a ||= 1` and `a &&= 1`, for each kind of place.

use ruby_prism::Node as P;

use crate::ast::N;
use crate::lower::Lower;
use crate::lower::assign::Combine;

/// Returns what is lowered, if the node is one of the three forms for a kind of place.
macro_rules! forms {
    ($node:expr, $or:ident, $and:ident, $operator:ident, |$n:ident, $how:ident| $lowered:expr) => {
        if let Some($n) = $node.$or() {
            let $how = &Combine::Or;
            return $lowered;
        }
        if let Some($n) = $node.$and() {
            let $how = &Combine::And;
            return $lowered;
        }
        if let Some($n) = $node.$operator() {
            let $how = &Combine::Op($n.binary_operator().as_slice().to_vec());
            return $lowered;
        }
    };
}

impl Lower<'_> {
    /// An assignment with an operator; any other node is not known.
    pub(super) fn combine(&mut self, node: &P<'_>, at: u32) -> N {
        forms!(
            node,
            as_local_variable_or_write_node,
            as_local_variable_and_write_node,
            as_local_variable_operator_write_node,
            |n, how| self.local_combine(at, n.name().as_slice(), n.depth(), how, &n.value())
        );
        forms!(
            node,
            as_instance_variable_or_write_node,
            as_instance_variable_and_write_node,
            as_instance_variable_operator_write_node,
            |n, how| self.ivar_combine(at, &n.name(), how, &n.value())
        );
        forms!(
            node,
            as_global_variable_or_write_node,
            as_global_variable_and_write_node,
            as_global_variable_operator_write_node,
            |n, how| self.gvar_combine(at, &n.name(), how, &n.value())
        );
        forms!(
            node,
            as_class_variable_or_write_node,
            as_class_variable_and_write_node,
            as_class_variable_operator_write_node,
            |n, how| self.cvar_combine(at, &n.name(), how, &n.value())
        );
        forms!(
            node,
            as_constant_or_write_node,
            as_constant_and_write_node,
            as_constant_operator_write_node,
            |n, how| self.const_combine(at, &n.name(), how, &n.value())
        );
        forms!(
            node,
            as_constant_path_or_write_node,
            as_constant_path_and_write_node,
            as_constant_path_operator_write_node,
            |n, how| self.path_combine(at, &n.target(), how, &n.value())
        );
        forms!(
            node,
            as_call_or_write_node,
            as_call_and_write_node,
            as_call_operator_write_node,
            |n, how| {
                let (safe, ignore) = (n.is_safe_navigation(), n.is_ignore_visibility());
                let (read, write) = (n.read_name(), n.write_name());
                self.attr_combine(at, n.receiver(), safe, ignore, &read, &write, how, &n.value())
            }
        );
        forms!(
            node,
            as_index_or_write_node,
            as_index_and_write_node,
            as_index_operator_write_node,
            |n, how| {
                self.index_combine(at, n.receiver(), n.arguments(), n.block(), how, &n.value())
            }
        );
        self.fail(&node.location(), "this syntax is not supported");
        self.nil(at)
    }
}
