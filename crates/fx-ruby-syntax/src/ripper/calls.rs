//! Calls and what is written like them: operators, `yield`, `super`, `return`, lambdas.

use ruby_prism as p;

use super::{Maker, Sexp, Start, sexp};

impl Maker<'_> {
    pub(super) fn call_like(&self, node: &p::Node<'_>) -> Sexp {
        if let Some(call) = node.as_call_node() {
            return self.call(&call);
        }
        if let Some(node) = node.as_match_write_node() {
            return self.call(&node.call());
        }
        if let Some(node) = node.as_super_node() {
            return self.super_call(&node);
        }
        if let Some(node) = node.as_forwarding_super_node() {
            return self.with_block(sexp!("zsuper"), node.block().map(|block| block.as_node()));
        }
        if let Some(node) = node.as_yield_node() {
            return self.yield_call(&node);
        }
        if let Some(node) = node.as_return_node() {
            let none = sexp!("return0");
            return self.jump("return", none, node.arguments());
        }
        if let Some(node) = node.as_break_node() {
            let none = sexp!("break", Sexp::List(Vec::new()));
            return self.jump("break", none, node.arguments());
        }
        if let Some(node) = node.as_next_node() {
            let none = sexp!("next", Sexp::List(Vec::new()));
            return self.jump("next", none, node.arguments());
        }
        if let Some(node) = node.as_lambda_node() {
            return self.lambda(&node);
        }
        if let Some(node) = node.as_defined_node() {
            self.note_paren(node.keyword_loc().end(), Some(&node.value()));
            return sexp!("defined", self.node(&node.value()));
        }
        if let Some(node) = node.as_and_node() {
            return self.binary(&node.left(), &node.operator_loc(), &node.right());
        }
        if let Some(node) = node.as_or_node() {
            return self.binary(&node.left(), &node.operator_loc(), &node.right());
        }
        if let Some(node) = node.as_range_node() {
            let (left, right) = (self.maybe(node.left()), self.maybe(node.right()));
            return Self::range(left, right, node.is_exclude_end());
        }
        let node = node.as_flip_flop_node().expect("the last kind");
        let (left, right) = (self.maybe(node.left()), self.maybe(node.right()));
        Self::range(left, right, node.is_exclude_end())
    }

    fn range(left: Sexp, right: Sexp, exclude: bool) -> Sexp {
        if exclude { sexp!("dot3", left, right) } else { sexp!("dot2", left, right) }
    }

    fn binary(&self, left: &p::Node<'_>, operator: &p::Location<'_>, right: &p::Node<'_>) -> Sexp {
        let left = self.node(left);
        sexp!("binary", left, Sexp::Operator(operator.as_slice().to_vec()), self.node(right))
    }

    fn call(&self, node: &p::CallNode<'_>) -> Sexp {
        if node.is_variable_call() && node.block().is_none() {
            return sexp!("vcall", self.token("@ident", &node.location()));
        }
        if node.is_attribute_write() {
            return self.attribute_write(node);
        }
        let name = node.name();
        let (receiver, message) = (node.receiver(), node.message_loc());
        let bare = node.call_operator_loc().is_none();
        if let (Some(receiver), true) = (&receiver, bare) {
            let message = message.as_ref().expect("an operator is written");
            if name.as_slice() == b"[]" {
                return self.index(node, receiver);
            }
            if let Some(arguments) = node.arguments() {
                let right = arguments.arguments().first().expect("an operator has an argument");
                return self.binary(receiver, message, &right);
            }
            if message.as_slice() == b"not" {
                self.note_paren(message.end(), Some(receiver));
                // `not()` has brackets with nothing in them.
                let empty = receiver.as_parentheses_node().is_some_and(|it| {
                    it.body().is_none() && it.opening_loc().start() == message.end()
                });
                let of = if empty { Sexp::Nil } else { self.node(receiver) };
                return sexp!("unary", Sexp::Sym("not"), of);
            }
            let operator = Sexp::Operator(name.as_slice().to_vec());
            return sexp!("unary", operator, self.node(receiver));
        }
        let made = self.plain_call(node, receiver.as_ref(), message.as_ref());
        self.with_block(made, node.block())
    }

    /// A call without its block.
    fn plain_call(
        &self,
        node: &p::CallNode<'_>,
        receiver: Option<&p::Node<'_>>,
        message: Option<&p::Location<'_>>,
    ) -> Sexp {
        let (opening, arguments, block) = (node.opening_loc(), node.arguments(), node.block());
        let block_argument = block.as_ref().and_then(p::Node::as_block_argument_node);
        let command = opening.is_none() && (arguments.is_some() || block_argument.is_some());
        if let (true, Some(message)) = (command, message) {
            self.note_paren(message.end(), first_argument(arguments.as_ref()).as_ref());
        }
        let list = |maker: &Self| {
            let close = node.closing_loc().map(|at| at.start());
            maker.arguments(arguments.as_ref(), block_argument.as_ref(), close)
        };
        let Some(receiver) = receiver else {
            let name = self.name(message.expect("a call without receiver has a name"));
            if command {
                return sexp!("command", name, list(self));
            }
            let call = sexp!("fcall", name);
            return match opening {
                Some(_) => sexp!("method_add_arg", call, sexp!("arg_paren", list(self))),
                None => sexp!("method_add_arg", call, Sexp::List(Vec::new())),
            };
        };
        let receiver = self.node(receiver);
        let operator = self.call_operator(node.call_operator_loc().as_ref());
        let name = message.map_or(Sexp::Sym("call"), |at| self.name(at));
        if command {
            return sexp!("command_call", receiver, operator, name, list(self));
        }
        let call = sexp!("call", receiver, operator, name);
        match opening {
            Some(_) => sexp!("method_add_arg", call, sexp!("arg_paren", list(self))),
            None => call,
        }
    }

    /// `.`, `&.` and `::` between a receiver and a name.
    pub(super) fn call_operator(&self, at: Option<&p::Location<'_>>) -> Sexp {
        let Some(at) = at else { return Sexp::Nil };
        match at.as_slice() {
            b"::" => Sexp::Sym("::"),
            b"." => self.token("@period", at),
            _ => self.token("@op", at),
        }
    }

    fn index(&self, node: &p::CallNode<'_>, receiver: &p::Node<'_>) -> Sexp {
        let receiver = self.node(receiver);
        let block = node.block().as_ref().and_then(p::Node::as_block_argument_node);
        let close = node.closing_loc().map(|at| at.start());
        let index = self.arguments(node.arguments().as_ref(), block.as_ref(), close);
        let made = sexp!("aref", receiver, index);
        self.with_block(made, node.block())
    }

    fn attribute_write(&self, node: &p::CallNode<'_>) -> Sexp {
        let receiver = self.maybe(node.receiver());
        let arguments: Vec<_> =
            node.arguments().map(|it| it.arguments().iter().collect()).unwrap_or_default();
        let Some((value, before)) = arguments.split_last() else { return Sexp::Nil };
        let target = if node.call_operator_loc().is_none() {
            let block = node.block().as_ref().and_then(p::Node::as_block_argument_node);
            sexp!("aref_field", receiver, self.argument_list(before, block.as_ref()))
        } else {
            let operator = self.call_operator(node.call_operator_loc().as_ref());
            let name = node.message_loc().map_or(Sexp::Nil, |at| self.name(&at));
            sexp!("field", receiver, operator, name)
        };
        sexp!("assign", target, self.value(value))
    }

    /// What is given to a call. `close` is where its bracket closes.
    pub(super) fn arguments(
        &self,
        arguments: Option<&p::ArgumentsNode<'_>>,
        block: Option<&p::BlockArgumentNode<'_>>,
        close: Option<u32>,
    ) -> Sexp {
        let nodes: Vec<_> = arguments.map(|it| it.arguments().iter().collect()).unwrap_or_default();
        if nodes.is_empty() && block.is_none() {
            return Sexp::Nil;
        }
        if let ([only], None) = (nodes.as_slice(), block) {
            if only.as_forwarding_arguments_node().is_some() {
                return self.node(only);
            }
            if is_command(only) {
                return Sexp::List(vec![self.node(only)]);
            }
        }
        // A comma before the bracket leaves no room for a block, and with it goes the node.
        let end = nodes.last().map(|node| node.location().end());
        if let (None, Some(end), Some(close)) = (block, end, close)
            && self.has_comma(end, close)
        {
            return self.list_with_splats(&nodes);
        }
        self.argument_list(&nodes, block)
    }

    fn has_comma(&self, from: u32, to: u32) -> bool {
        let mut at = from;
        while at < to {
            if let Some(body) = self.heredocs.iter().find(|body| body.contains(&at)) {
                at = body.end;
                continue;
            }
            match self.byte(at) {
                b',' => return true,
                b'#' => {
                    while at < to && self.byte(at) != b'\n' {
                        at += 1;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        false
    }

    pub(super) fn argument_list(
        &self,
        nodes: &[p::Node<'_>],
        block: Option<&p::BlockArgumentNode<'_>>,
    ) -> Sexp {
        if nodes.is_empty() && block.is_none() {
            return Sexp::Nil;
        }
        let block = block.map_or(Sexp::False, |block| self.maybe(block.expression()));
        sexp!("args_add_block", self.list_with_splats(nodes), block)
    }

    /// A list in which each splat takes all before it into a node of its own.
    pub(super) fn list_with_splats(&self, nodes: &[p::Node<'_>]) -> Sexp {
        let mut list = Vec::new();
        for node in nodes {
            match node.as_splat_node() {
                Some(splat) => {
                    let of = self.maybe(splat.expression());
                    list = sexp!("args_add_star", Sexp::List(list), of).list();
                }
                None => list.push(self.node(node)),
            }
        }
        Sexp::List(list)
    }

    pub(super) fn with_block(&self, call: Sexp, block: Option<p::Node<'_>>) -> Sexp {
        let Some(block) = block.as_ref().and_then(p::Node::as_block_node) else { return call };
        let parameters = block.parameters();
        let from = parameters.as_ref().map_or(block.opening_loc().end(), |it| match it {
            p::Node::NumberedParametersNode { .. } | p::Node::ItParametersNode { .. } => {
                block.opening_loc().end()
            }
            it => it.location().end(),
        });
        let variables = parameters.map_or(Sexp::Nil, |it| self.block_parameters(&it));
        let made = if block.opening_loc().as_slice() == b"{" {
            let body = block.body().as_ref().and_then(p::Node::as_statements_node);
            sexp!("brace_block", variables, self.statements(body, from, Start::Open))
        } else {
            sexp!("do_block", variables, self.body(block.body(), from, Start::Open))
        };
        sexp!("method_add_block", call, made)
    }

    fn lambda(&self, node: &p::LambdaNode<'_>) -> Sexp {
        let parameters = self.lambda_parameters(node.parameters());
        let from = node.opening_loc().end();
        if node.opening_loc().as_slice() == b"{" {
            let body = node.body().as_ref().and_then(p::Node::as_statements_node);
            return sexp!("lambda", parameters, self.statements(body, from, Start::Open));
        }
        sexp!("lambda", parameters, self.body(node.body(), from, Start::Open))
    }

    fn super_call(&self, node: &p::SuperNode<'_>) -> Sexp {
        let block = node.block();
        let block_argument = block.as_ref().and_then(p::Node::as_block_argument_node);
        let arguments = node.arguments();
        if node.lparen_loc().is_none() {
            self.note_paren(node.keyword_loc().end(), first_argument(arguments.as_ref()).as_ref());
        }
        let close = node.rparen_loc().map(|at| at.start());
        let list = self.arguments(arguments.as_ref(), block_argument.as_ref(), close);
        let list = if node.lparen_loc().is_some() { sexp!("arg_paren", list) } else { list };
        self.with_block(sexp!("super", list), block)
    }

    fn yield_call(&self, node: &p::YieldNode<'_>) -> Sexp {
        let arguments = node.arguments();
        let close = node.rparen_loc().map(|at| at.start());
        if node.lparen_loc().is_none() {
            self.note_paren(node.keyword_loc().end(), first_argument(arguments.as_ref()).as_ref());
        }
        let list = self.arguments(arguments.as_ref(), None, close);
        match (node.lparen_loc(), arguments) {
            (None, None) => sexp!("yield0"),
            (None, Some(_)) => sexp!("yield", list),
            (Some(_), None) => sexp!("yield", sexp!("paren", Sexp::List(Vec::new()))),
            (Some(_), Some(_)) => sexp!("yield", sexp!("paren", list)),
        }
    }

    fn jump(
        &self,
        name: &'static str,
        none: Sexp,
        arguments: Option<p::ArgumentsNode<'_>>,
    ) -> Sexp {
        let Some(arguments) = arguments else { return none };
        // The block of a command belongs to the whole of `return command arguments do … end`.
        if let Some(call) = arguments.arguments().first().and_then(|it| it.as_call_node()) {
            let block = call.block().as_ref().and_then(p::Node::as_block_node);
            let alone = arguments.arguments().len() == 1 && is_command(&call.as_node());
            if let (Some(_), true, None) = (&block, alone, call.opening_loc()) {
                let (receiver, message) = (call.receiver(), call.message_loc());
                let made = self.plain_call(&call, receiver.as_ref(), message.as_ref());
                let made = Sexp::List(vec![Sexp::Sym(name), Sexp::List(vec![made])]);
                return self.with_block(made, call.block());
            }
        }
        let list = self.arguments(Some(&arguments), None, None);
        Sexp::List(vec![Sexp::Sym(name), list])
    }

    /// Remembers a bracket that opens the first argument after a space: there the lexer sees
    /// one expression in brackets and no list of statements.
    fn note_paren(&self, name_end: u32, first: Option<&p::Node<'_>>) {
        let Some(first) = first else { return };
        let start = first.location().start();
        if start > name_end && self.byte(start) == b'(' {
            self.argument_parens.borrow_mut().insert(start);
        }
    }
}

fn first_argument<'pr>(arguments: Option<&p::ArgumentsNode<'pr>>) -> Option<p::Node<'pr>> {
    arguments.and_then(|it| it.arguments().first())
}

/// A call whose arguments have no brackets.
fn is_command(node: &p::Node<'_>) -> bool {
    let has_block_argument = |block: Option<p::Node<'_>>| {
        block.as_ref().and_then(p::Node::as_block_argument_node).is_some()
    };
    if let Some(call) = node.as_call_node() {
        let named = call.receiver().is_none() || call.call_operator_loc().is_some();
        let given = call.arguments().is_some() || has_block_argument(call.block());
        return named && given && call.opening_loc().is_none() && !call.is_attribute_write();
    }
    if let Some(node) = node.as_super_node() {
        return node.lparen_loc().is_none();
    }
    node.as_yield_node().is_some_and(|it| it.lparen_loc().is_none() && it.arguments().is_some())
}
