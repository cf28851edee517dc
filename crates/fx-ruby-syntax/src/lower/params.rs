//! Parameters, method definitions, blocks and lambdas.

use ruby_prism as p;

use crate::Sym;
use crate::ast::{
    Branch, Code, CodeKind, DefCode, DefNode, Kind, KwParam, Multi, N, OptParam, Params, Var,
};
use crate::locals::{self, Captured};
use crate::lower::{Lower, Scope, ZArgs, keep, keep_all, no_params};

impl Lower<'_> {
    pub(crate) fn def(&mut self, node: &p::DefNode<'_>) -> N {
        let at = node.location();
        let singleton = node.receiver().map(|n| self.expr(&n));
        let name = self.sym(&node.name());
        let captured = self.take_captured(locals::key(&at, locals::DEF));
        self.scopes.push(Scope::default());
        let mut copies = Vec::new();
        let params = match node.parameters() {
            Some(parameters) => {
                self.params(&parameters, Some(&node.locals()), &captured, &mut copies, false)
            }
            None => {
                self.declare_locals(&node.locals(), &captured);
                self.scope().zsuper = Some(ZArgs::default());
                no_params()
            }
        };
        let body = self.optional(node.body(), at.start());
        let body = self.strip_return(body);
        let code = self.close(CodeKind::Method, name, params, body, copies, at.start(), at.end());
        let code = DefCode::Here(code);
        self.node(at.start(), Kind::Def(keep(DefNode { name, singleton, code })))
    }

    /// A `return` in tail position is its value.
    fn strip_return(&self, body: N) -> N {
        match &body.kind {
            Kind::Return(value) => self.strip_return(value),
            Kind::Seq(nodes) => match nodes.split_last() {
                Some((last, rest)) => {
                    let stripped = self.strip_return(last);
                    if std::ptr::eq(stripped, *last) {
                        return body;
                    }
                    let mut nodes = rest.to_vec();
                    nodes.push(stripped);
                    self.node(body.pos, Kind::Seq(keep_all(nodes)))
                }
                None => body,
            },
            Kind::If(test, yes, no) => {
                let (new_yes, new_no) = (self.strip_return(yes.0), self.strip_return(no.0));
                if std::ptr::eq(new_yes, yes.0) && std::ptr::eq(new_no, no.0) {
                    return body;
                }
                self.node(body.pos, Kind::If(test, Branch(new_yes), Branch(new_no)))
            }
            _ => body,
        }
    }

    pub(crate) fn block(&mut self, node: &p::BlockNode<'_>) -> &'static Code {
        let at = node.location();
        let key = locals::key(&at, locals::BLOCK);
        self.block_code(&at, key, node.parameters(), &node.locals(), node.body(), CodeKind::Block)
    }

    pub(crate) fn lambda(&mut self, node: &p::LambdaNode<'_>) -> &'static Code {
        let at = node.location();
        let key = locals::key(&at, locals::LAMBDA);
        self.block_code(&at, key, node.parameters(), &node.locals(), node.body(), CodeKind::Lambda)
    }

    fn block_code(
        &mut self,
        at: &p::Location<'_>,
        key: locals::Key,
        parameters: Option<p::Node<'_>>,
        locals: &p::ConstantList<'_>,
        body: Option<p::Node<'_>>,
        kind: CodeKind,
    ) -> &'static Code {
        let captured = self.take_captured(key);
        self.scopes.push(Scope { block: true, ..Scope::default() });
        let mut copies = Vec::new();
        let params = self.block_params(parameters, locals, &captured, &mut copies);
        let body = self.optional(body, at.start());
        let name = self.syms.intern(b"block");
        self.close(kind, name, params, body, copies, at.start(), at.end())
    }

    fn block_params(
        &mut self,
        parameters: Option<p::Node<'_>>,
        locals: &p::ConstantList<'_>,
        captured: &Captured,
        copies: &mut Vec<(u32, u32)>,
    ) -> Params {
        let Some(node) = parameters else {
            self.declare_locals(locals, captured);
            return no_params();
        };
        if let Some(block) = node.as_block_parameters_node() {
            if let Some(parameters) = block.parameters() {
                return self.params(&parameters, Some(locals), captured, copies, true);
            }
            self.declare_locals(locals, captured);
            return no_params();
        }
        if let Some(numbered) = node.as_numbered_parameters_node() {
            let count = numbered.maximum();
            let mut names = Vec::new();
            for index in 1..=count {
                let name = format!("_{index}").into_bytes();
                let kept = captured.all || captured.names.contains(&name);
                self.declare_param(&name, kept, copies);
                names.push(Some(self.syms.intern(&name)));
            }
            self.declare_locals(locals, captured);
            return Params {
                req: u32::from(count),
                req_names: keep_all(names),
                simple: true,
                spreads: count > 1,
                numbered: count,
                ..no_params()
            };
        }
        self.declare_locals(locals, captured);
        no_params()
    }

    fn params(
        &mut self,
        node: &p::ParametersNode<'_>,
        locals: Option<&p::ConstantList<'_>>,
        captured: &Captured,
        copies: &mut Vec<(u32, u32)>,
        block: bool,
    ) -> Params {
        let kept = |name: &[u8]| captured.all || captured.names.contains(name);
        let mut z = ZArgs::default();
        let mut multis: Vec<(u32, p::MultiTargetNode<'_>)> = Vec::new();
        let mut req_names: Vec<Option<Sym>> = Vec::new();
        for required in &node.requireds() {
            self.required(&required, &kept, copies, &mut multis, &mut req_names, &mut z.pos);
        }
        let mut opts = Vec::new();
        for optional in &node.optionals() {
            if let Some(n) = optional.as_optional_parameter_node() {
                let id = n.name();
                let (slot, var) = self.declare_param(id.as_slice(), kept(id.as_slice()), copies);
                z.pos.push(id.as_slice().to_vec());
                opts.push((slot, var, self.syms.intern(id.as_slice()), n));
            }
        }
        let (mut rest, mut implicit_rest) = (None, false);
        if let Some(node) = node.rest() {
            if let Some(n) = node.as_rest_parameter_node() {
                let name = n.name();
                let bytes = name.as_ref().map_or(&b"*"[..], |id| id.as_slice());
                let keep = name.is_none() && !block || kept(bytes);
                rest = Some(self.named(bytes, keep, copies));
                z.rest = Some(bytes.to_vec());
            } else {
                implicit_rest = true;
            }
        }
        let forwarding =
            node.keyword_rest().is_some_and(|n| n.as_forwarding_parameter_node().is_some());
        if forwarding {
            rest = Some(self.named(b"*", true, copies));
            z.rest = Some(b"*".to_vec());
        }
        let mut post_names = Vec::new();
        for required in &node.posts() {
            self.required(&required, &kept, copies, &mut multis, &mut post_names, &mut z.post);
        }
        let kws = self.keywords(node, &kept, copies, &mut z);
        let (mut kwrest, mut no_kw) = (None, false);
        if let Some(node) = node.keyword_rest() {
            if let Some(n) = node.as_keyword_rest_parameter_node() {
                let name = n.name();
                let bytes = name.as_ref().map_or(&b"**"[..], |id| id.as_slice());
                let keep = name.is_none() || kept(bytes);
                kwrest = Some(self.named(bytes, keep, copies));
                z.kwrest = Some(bytes.to_vec());
            } else if node.as_no_keywords_parameter_node().is_some() {
                no_kw = true;
            }
        }
        if forwarding {
            kwrest = Some(self.named(b"**", true, copies));
            z.kwrest = Some(b"**".to_vec());
        }
        let mut blk = None;
        if let Some(n) = node.block().and_then(|n| n.as_block_parameter_node()) {
            let name = n.name();
            let bytes = name.as_ref().map_or(&b"&"[..], |id| id.as_slice());
            let keep = name.is_none() || kept(bytes);
            blk = Some(self.named(bytes, keep, copies));
        }
        if forwarding {
            blk = Some(self.named(b"&", true, copies));
        }
        if let Some(locals) = locals {
            self.declare_locals(locals, captured);
        }
        if !block {
            self.scope().zsuper = Some(z);
        }
        // Defaults are lowered only now: they may mention any local of the scope.
        let mut opt = Vec::new();
        for (slot, var, name, n) in opts {
            opt.push(OptParam { slot, var, name, default: self.expr(&n.value()) });
        }
        let mut kw = Vec::new();
        for (name, slot, var, default) in kws {
            kw.push(KwParam { name, slot, var, default: default.map(|n| self.expr(&n)) });
        }
        let destructure: Vec<(u32, &'static Multi)> = multis
            .into_iter()
            .map(|(slot, n)| (slot, self.multi(&n.lefts(), n.rest(), &n.rights())))
            .collect();
        let slot = |named: Option<(u32, Sym)>| named.map(|(slot, _)| slot);
        let name = |named: Option<(u32, Sym)>| named.map(|(_, name)| name);
        shaped(Params {
            req: req_names.len() as u32,
            req_names: keep_all(req_names),
            spreads: false,
            opt: keep_all(opt),
            rest: slot(rest),
            rest_name: name(rest),
            implicit_rest,
            post: post_names.len() as u32,
            post_names: keep_all(post_names),
            kw: keep_all(kw),
            kwrest: slot(kwrest),
            kwrest_name: name(kwrest),
            no_kw,
            block: slot(blk),
            block_name: name(blk),
            forwarding,
            destructure: keep_all(destructure),
            simple: false,
            numbered: 0,
        })
    }

    /// Declares the keywords; their defaults are lowered later.
    fn keywords<'pr>(
        &mut self,
        node: &p::ParametersNode<'pr>,
        kept: &dyn Fn(&[u8]) -> bool,
        copies: &mut Vec<(u32, u32)>,
        z: &mut ZArgs,
    ) -> Vec<(Sym, u32, Var, Option<p::Node<'pr>>)> {
        let mut found = Vec::new();
        for keyword in &node.keywords() {
            let (id, default) = if let Some(n) = keyword.as_required_keyword_parameter_node() {
                (n.name(), None)
            } else if let Some(n) = keyword.as_optional_keyword_parameter_node() {
                (n.name(), Some(n.value()))
            } else {
                continue;
            };
            let (slot, var) = self.declare_param(id.as_slice(), kept(id.as_slice()), copies);
            z.kw.push(id.as_slice().to_vec());
            found.push((self.syms.intern(id.as_slice()), slot, var, default));
        }
        found
    }

    /// Declares a parameter that takes what others leave; its slot and its name.
    fn named(&mut self, name: &[u8], keep: bool, copies: &mut Vec<(u32, u32)>) -> (u32, Sym) {
        (self.declare_param(name, keep, copies).0, self.syms.intern(name))
    }
    fn required<'pr>(
        &mut self,
        node: &p::Node<'pr>,
        kept: &dyn Fn(&[u8]) -> bool,
        copies: &mut Vec<(u32, u32)>,
        multis: &mut Vec<(u32, p::MultiTargetNode<'pr>)>,
        names: &mut Vec<Option<Sym>>,
        z: &mut Vec<Vec<u8>>,
    ) {
        if let Some(n) = node.as_required_parameter_node() {
            let id = n.name();
            self.declare_param(id.as_slice(), kept(id.as_slice()), copies);
            names.push(Some(self.syms.intern(id.as_slice())));
            z.push(id.as_slice().to_vec());
        } else if let Some(n) = node.as_multi_target_node() {
            let slot = self.temp();
            // Reachable under a name no program can write, so that super can pass it on.
            let hidden = format!("({slot})").into_bytes();
            self.scope().vars.insert(hidden.clone(), Var::Stack(slot));
            z.push(hidden);
            multis.push((slot, n));
            names.push(None);
        }
    }
}

/// Parameters with what follows from their kinds: whether there are only required ones, and whether
/// a block with them takes a single list apart.
fn shaped(params: Params) -> Params {
    let required = params.req + params.post;
    let positional = required + params.opt.len() as u32;
    let takes_rest = params.rest.is_some() || params.implicit_rest;
    let takes_keywords = !params.kw.is_empty() || params.kwrest.is_some();
    let simple = positional == params.req
        && !takes_rest
        && !takes_keywords
        && !params.no_kw
        && params.block.is_none()
        && params.destructure.is_empty();
    let spreads =
        positional > 1 || positional == 1 && (takes_rest || required > 0 && takes_keywords);
    Params { simple, spreads, ..params }
}
