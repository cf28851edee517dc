//! Assignments and what they assign to.

use ruby_prism as p;

use super::{Maker, Sexp, name_kind, sexp};

macro_rules! operator_writes {
    ($maker:ident, $node:ident; $($cast:ident: $operator:ident => $target:expr),* $(,)?) => {
        $(if let Some(it) = $node.$cast() {
            let target: Sexp = $target($maker, &it);
            let operator = $maker.token("@op", &it.$operator());
            return sexp!("opassign", target, operator, $maker.value(&it.value()));
        })*
    };
}

impl Maker<'_> {
    fn var_field(&self, at: &p::Location<'_>) -> Sexp {
        sexp!("var_field", self.token(name_kind(at.as_slice()), at))
    }

    fn field_of(
        &self,
        receiver: Option<p::Node<'_>>,
        operator: Option<p::Location<'_>>,
        name: Option<p::Location<'_>>,
    ) -> Sexp {
        let (receiver, operator) = (self.maybe(receiver), self.call_operator(operator.as_ref()));
        sexp!("field", receiver, operator, name.map_or(Sexp::Nil, |at| self.name(&at)))
    }

    fn aref_field(
        &self,
        receiver: Option<p::Node<'_>>,
        arguments: Option<p::ArgumentsNode<'_>>,
        block: Option<&p::BlockArgumentNode<'_>>,
    ) -> Sexp {
        let receiver = self.maybe(receiver);
        sexp!("aref_field", receiver, self.arguments(arguments.as_ref(), block, None))
    }

    fn path_field(&self, parent: Option<p::Node<'_>>, name: &p::Location<'_>) -> Sexp {
        let name = self.token("@const", name);
        match parent {
            Some(parent) => sexp!("const_path_field", self.node(&parent), name),
            None => sexp!("top_const_field", name),
        }
    }

    /// What is on the right of an assignment: one value, or a list without brackets.
    pub(super) fn value(&self, node: &p::Node<'_>) -> Sexp {
        if let Some(array) = node.as_array_node().filter(|array| array.opening_loc().is_none()) {
            let nodes: Vec<_> = array.elements().iter().collect();
            return self.right_side(&nodes);
        }
        self.node(node)
    }

    /// Several values on the right of an assignment, or the classes of a `rescue`.
    pub(super) fn right_side(&self, nodes: &[p::Node<'_>]) -> Sexp {
        let Some((last, before)) = nodes.split_last() else { return Sexp::Nil };
        let made = |maker: &Self| sexp!("mrhs_new_from_args", maker.list_with_splats(before));
        let Some(splat) = last.as_splat_node() else {
            let mut made = made(self).list();
            made.push(self.node(last));
            return Sexp::List(made);
        };
        let before = if before.is_empty() { Sexp::List(Vec::new()) } else { made(self) };
        sexp!("mrhs_add_star", before, self.maybe(splat.expression()))
    }

    pub(super) fn assignment(&self, node: &p::Node<'_>) -> Sexp {
        if let Some(made) = self.plain_write(node) {
            return made;
        }
        if let Some(it) = node.as_multi_write_node() {
            let targets = self.target_list(&it.lefts(), it.rest(), &it.rights());
            let targets = match it.lparen_loc() {
                Some(_) => mlhs(targets),
                None => Sexp::List(targets),
            };
            return sexp!("massign", targets, self.value(&it.value()));
        }
        if let Some(it) = node.as_shareable_constant_node() {
            return self.node(&it.write());
        }
        if let Some(it) = node.as_implicit_node() {
            return self.node(&it.value());
        }
        if let Some(it) = node.as_splat_node() {
            return self.maybe(it.expression());
        }
        let name = |maker: &Maker<'_>, at: p::Location<'_>| maker.var_field(&at);
        operator_writes!(self, node;
            as_local_variable_operator_write_node: binary_operator_loc => |m, it: &p::LocalVariableOperatorWriteNode<'_>| name(m, it.name_loc()),
            as_local_variable_and_write_node: operator_loc => |m, it: &p::LocalVariableAndWriteNode<'_>| name(m, it.name_loc()),
            as_local_variable_or_write_node: operator_loc => |m, it: &p::LocalVariableOrWriteNode<'_>| name(m, it.name_loc()),
            as_instance_variable_operator_write_node: binary_operator_loc => |m, it: &p::InstanceVariableOperatorWriteNode<'_>| name(m, it.name_loc()),
            as_instance_variable_and_write_node: operator_loc => |m, it: &p::InstanceVariableAndWriteNode<'_>| name(m, it.name_loc()),
            as_instance_variable_or_write_node: operator_loc => |m, it: &p::InstanceVariableOrWriteNode<'_>| name(m, it.name_loc()),
            as_class_variable_operator_write_node: binary_operator_loc => |m, it: &p::ClassVariableOperatorWriteNode<'_>| name(m, it.name_loc()),
            as_class_variable_and_write_node: operator_loc => |m, it: &p::ClassVariableAndWriteNode<'_>| name(m, it.name_loc()),
            as_class_variable_or_write_node: operator_loc => |m, it: &p::ClassVariableOrWriteNode<'_>| name(m, it.name_loc()),
            as_global_variable_operator_write_node: binary_operator_loc => |m, it: &p::GlobalVariableOperatorWriteNode<'_>| name(m, it.name_loc()),
            as_global_variable_and_write_node: operator_loc => |m, it: &p::GlobalVariableAndWriteNode<'_>| name(m, it.name_loc()),
            as_global_variable_or_write_node: operator_loc => |m, it: &p::GlobalVariableOrWriteNode<'_>| name(m, it.name_loc()),
            as_constant_operator_write_node: binary_operator_loc => |m, it: &p::ConstantOperatorWriteNode<'_>| name(m, it.name_loc()),
            as_constant_and_write_node: operator_loc => |m, it: &p::ConstantAndWriteNode<'_>| name(m, it.name_loc()),
            as_constant_or_write_node: operator_loc => |m, it: &p::ConstantOrWriteNode<'_>| name(m, it.name_loc()),
            as_constant_path_operator_write_node: binary_operator_loc => |m: &Maker<'_>, it: &p::ConstantPathOperatorWriteNode<'_>| m.path_target(&it.target()),
            as_constant_path_and_write_node: operator_loc => |m: &Maker<'_>, it: &p::ConstantPathAndWriteNode<'_>| m.path_target(&it.target()),
            as_constant_path_or_write_node: operator_loc => |m: &Maker<'_>, it: &p::ConstantPathOrWriteNode<'_>| m.path_target(&it.target()),
            as_call_operator_write_node: binary_operator_loc => |m: &Maker<'_>, it: &p::CallOperatorWriteNode<'_>| m.field_of(it.receiver(), it.call_operator_loc(), it.message_loc()),
            as_call_and_write_node: operator_loc => |m: &Maker<'_>, it: &p::CallAndWriteNode<'_>| m.field_of(it.receiver(), it.call_operator_loc(), it.message_loc()),
            as_call_or_write_node: operator_loc => |m: &Maker<'_>, it: &p::CallOrWriteNode<'_>| m.field_of(it.receiver(), it.call_operator_loc(), it.message_loc()),
            as_index_operator_write_node: binary_operator_loc => |m: &Maker<'_>, it: &p::IndexOperatorWriteNode<'_>| m.aref_field(it.receiver(), it.arguments(), it.block().as_ref()),
            as_index_and_write_node: operator_loc => |m: &Maker<'_>, it: &p::IndexAndWriteNode<'_>| m.aref_field(it.receiver(), it.arguments(), it.block().as_ref()),
            as_index_or_write_node: operator_loc => |m: &Maker<'_>, it: &p::IndexOrWriteNode<'_>| m.aref_field(it.receiver(), it.arguments(), it.block().as_ref()),
        );
        self.constant_path(node)
    }

    fn path_target(&self, path: &p::ConstantPathNode<'_>) -> Sexp {
        self.path_field(path.parent(), &path.name_loc())
    }

    fn plain_write(&self, node: &p::Node<'_>) -> Option<Sexp> {
        let (name, value) = if let Some(it) = node.as_local_variable_write_node() {
            (it.name_loc(), it.value())
        } else if let Some(it) = node.as_instance_variable_write_node() {
            (it.name_loc(), it.value())
        } else if let Some(it) = node.as_class_variable_write_node() {
            (it.name_loc(), it.value())
        } else if let Some(it) = node.as_global_variable_write_node() {
            (it.name_loc(), it.value())
        } else if let Some(it) = node.as_constant_write_node() {
            (it.name_loc(), it.value())
        } else if let Some(it) = node.as_constant_path_write_node() {
            let target = self.path_target(&it.target());
            return Some(sexp!("assign", target, self.value(&it.value())));
        } else {
            return None;
        };
        Some(sexp!("assign", self.var_field(&name), self.value(&value)))
    }

    pub(super) fn constant_path(&self, node: &p::Node<'_>) -> Sexp {
        let Some(path) = node.as_constant_path_node() else { return Sexp::Nil };
        let name = self.token("@const", &path.name_loc());
        match path.parent() {
            Some(parent) => sexp!("const_path_ref", self.node(&parent), name),
            None => sexp!("top_const_ref", name),
        }
    }

    fn target_list(
        &self,
        lefts: &p::NodeList<'_>,
        rest: Option<p::Node<'_>>,
        rights: &p::NodeList<'_>,
    ) -> Vec<Sexp> {
        let mut list: Vec<_> = lefts.iter().map(|node| self.target(&node)).collect();
        if let Some(splat) = rest.as_ref().and_then(p::Node::as_splat_node) {
            let of = splat.expression().map_or(Sexp::Nil, |node| self.target(&node));
            list.push(sexp!("rest_param", of));
        }
        list.extend(rights.iter().map(|node| self.target(&node)));
        list
    }

    /// What `for` assigns to.
    pub(super) fn index_of_for(&self, node: &p::Node<'_>) -> Sexp {
        if let Some(splat) = node.as_splat_node() {
            let of = splat.expression().map_or(Sexp::Nil, |node| self.target(&node));
            return Sexp::List(vec![sexp!("rest_param", of)]);
        }
        match node.as_multi_target_node() {
            Some(it) if it.lparen_loc().is_none() => {
                Sexp::List(self.target_list(&it.lefts(), it.rest(), &it.rights()))
            }
            _ => self.target(node),
        }
    }

    pub(super) fn target(&self, node: &p::Node<'_>) -> Sexp {
        if let Some(it) = node.as_multi_target_node() {
            return mlhs(self.target_list(&it.lefts(), it.rest(), &it.rights()));
        }
        if let Some(it) = node.as_call_target_node() {
            let (operator, name) = (it.call_operator_loc(), it.message_loc());
            return self.field_of(Some(it.receiver()), Some(operator), Some(name));
        }
        if let Some(it) = node.as_index_target_node() {
            return self.aref_field(Some(it.receiver()), it.arguments(), it.block().as_ref());
        }
        if let Some(it) = node.as_constant_path_target_node() {
            return self.path_field(it.parent(), &it.name_loc());
        }
        if let Some(it) = node.as_required_parameter_node() {
            return self.token("@ident", &it.location());
        }
        self.var_field(&node.location())
    }
}

fn mlhs(targets: Vec<Sexp>) -> Sexp {
    let mut list = vec![Sexp::Sym("mlhs")];
    list.extend(targets);
    Sexp::List(list)
}
