//! Parameters of methods, blocks and lambdas.

use ruby_prism as p;

use super::{Maker, Sexp, sexp};

fn nothing() -> Sexp {
    params([Sexp::Nil, Sexp::Nil, Sexp::Nil, Sexp::Nil, Sexp::Nil, Sexp::Nil, Sexp::Nil])
}

fn params(parts: [Sexp; 7]) -> Sexp {
    let mut list = vec![Sexp::Sym("params")];
    list.extend(parts);
    Sexp::List(list)
}

fn list_or_nil(list: Vec<Sexp>) -> Sexp {
    if list.is_empty() { Sexp::Nil } else { Sexp::List(list) }
}

impl Maker<'_> {
    pub(super) fn method_parameters(&self, node: Option<p::ParametersNode<'_>>) -> Sexp {
        node.map_or_else(nothing, |node| self.parameters(&node))
    }

    fn parameters(&self, node: &p::ParametersNode<'_>) -> Sexp {
        let required = node.requireds().iter().map(|it| self.target(&it)).collect();
        let optional = node.optionals().iter().filter_map(|it| {
            let it = it.as_optional_parameter_node()?;
            let name = self.token("@ident", &it.name_loc());
            Some(Sexp::List(vec![name, self.node(&it.value())]))
        });
        let rest = node.rest().map_or(Sexp::Nil, |it| match it.as_rest_parameter_node() {
            Some(it) => sexp!("rest_param", self.ident(it.name_loc())),
            None => sexp!("excessed_comma"),
        });
        let posts = node.posts().iter().map(|it| self.target(&it)).collect();
        let keywords = node.keywords().iter().map(|it| self.keyword(&it)).collect();
        let (mut keyword_rest, mut block) = (Sexp::Nil, Sexp::Nil);
        match node.keyword_rest() {
            Some(p::Node::ForwardingParameterNode { .. }) => {
                keyword_rest = sexp!("args_forward");
                block = Sexp::Sym("&");
            }
            Some(p::Node::NoKeywordsParameterNode { .. }) => keyword_rest = Sexp::Sym("nil"),
            Some(it) => {
                let name = it.as_keyword_rest_parameter_node().and_then(|it| it.name_loc());
                keyword_rest = sexp!("kwrest_param", self.ident(name));
            }
            None => {}
        }
        if let Some(it) = node.block().as_ref().and_then(p::Node::as_block_parameter_node) {
            block = sexp!("blockarg", self.ident(it.name_loc()));
        }
        params([
            list_or_nil(required),
            list_or_nil(optional.collect()),
            rest,
            list_or_nil(posts),
            list_or_nil(keywords),
            keyword_rest,
            block,
        ])
    }

    fn ident(&self, at: Option<p::Location<'_>>) -> Sexp {
        at.map_or(Sexp::Nil, |at| self.token("@ident", &at))
    }

    fn keyword(&self, node: &p::Node<'_>) -> Sexp {
        if let Some(it) = node.as_optional_keyword_parameter_node() {
            let name = self.token("@label", &it.name_loc());
            return Sexp::List(vec![name, self.node(&it.value())]);
        }
        let name = node
            .as_required_keyword_parameter_node()
            .map_or(Sexp::Nil, |it| self.token("@label", &it.name_loc()));
        Sexp::List(vec![name, Sexp::False])
    }

    /// What stands between the bars of a block.
    pub(super) fn block_parameters(&self, node: &p::Node<'_>) -> Sexp {
        let Some(it) = node.as_block_parameters_node() else { return Sexp::Nil };
        let locals: Vec<_> =
            it.locals().iter().map(|local| self.token("@ident", &local.location())).collect();
        let locals = if locals.is_empty() { Sexp::False } else { Sexp::List(locals) };
        sexp!("block_var", self.method_parameters(it.parameters()), locals)
    }

    pub(super) fn lambda_parameters(&self, node: Option<p::Node<'_>>) -> Sexp {
        let Some(it) = node.as_ref().and_then(p::Node::as_block_parameters_node) else {
            return nothing();
        };
        let made = self.method_parameters(it.parameters());
        if it.opening_loc().is_some() { sexp!("paren", made) } else { made }
    }
}
