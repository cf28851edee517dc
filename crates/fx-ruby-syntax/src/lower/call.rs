//! Calls, arguments, super and yield.

use std::cell::Cell;

use ruby_prism as p;

use crate::ast::{Args, Blk, Call, Kind, N, NO_SLOT, Op, Pair};
use crate::lower::{Lower, keep, keep_all};

impl Lower<'_> {
    pub(crate) fn call(&mut self, node: &p::CallNode<'_>) -> N {
        let pos = node.message_loc().map_or_else(|| node.location().start(), |at| at.start());
        let id = node.name();
        let name = id.as_slice();
        let recv = node.receiver().map(|n| self.expr(&n));
        let sym = self.syms.intern(name);
        let args = self.args(node.arguments(), node.block());
        let fcall = node.receiver().is_none_or(|n| n.as_self_node().is_some())
            || node.is_ignore_visibility();
        let call: &'static Call = keep(Call {
            recv,
            name: sym,
            args,
            safe: node.is_safe_navigation(),
            fcall,
            vcall: node.is_variable_call(),
            asgn: node.is_attribute_write(),
            c_class: Cell::new(u32::MAX),
            c_epoch: Cell::new(0),
            c_meth: Cell::new(0),
            c_slot: Cell::new(NO_SLOT),
            pos,
        });
        self.fuse(pos, call, name)
    }

    /// Operators get nodes of their own with a fast path for small integers.
    pub(crate) fn fuse(&self, pos: u32, call: &'static Call, name: &[u8]) -> N {
        let plain = call.args.simple && !call.safe;
        if let (true, Some(l)) = (plain, call.recv) {
            if name == b"!" && call.args.pos.is_empty() {
                return self.node(pos, Kind::Not(l, call));
            }
            if let ([r], Some(op)) = (call.args.pos, operator(name)) {
                return match (&l.kind, &r.kind) {
                    (Kind::LVar(slot), Kind::Int(i)) if op != Op::Index && op != Op::Shl => {
                        self.node(pos, Kind::BinLI(op, *slot, *i, call))
                    }
                    _ => self.node(pos, Kind::Bin(op, l, r, call)),
                };
            }
        }
        self.node(pos, Kind::Call(call))
    }

    /// A binary operation that the lowering itself needs.
    pub(crate) fn binary(&mut self, pos: u32, l: N, name: &[u8], r: N) -> N {
        let sym = self.syms.intern(name);
        let call = keep(self.new_call(pos, Some(l), sym, vec![r]));
        self.fuse(pos, call, name)
    }

    pub(crate) fn args(
        &mut self,
        arguments: Option<p::ArgumentsNode<'_>>,
        block: Option<p::Node<'_>>,
    ) -> Args {
        let mut pos = Vec::new();
        let mut kw: Option<&'static [Pair]> = None;
        let mut splat = false;
        let mut blk = Blk::None;
        if let Some(arguments) = arguments {
            for argument in &arguments.arguments() {
                let at = argument.location().start();
                if let Some(n) = argument.as_keyword_hash_node() {
                    kw = Some(self.pairs(&n.elements()));
                } else if argument.as_forwarding_arguments_node().is_some() {
                    let rest = self.anonymous(at, b"*");
                    pos.push(self.node(at, Kind::Splat(rest)));
                    splat = true;
                    let keywords = self.anonymous(at, b"**");
                    kw = Some(keep_all(vec![(None, keywords)]));
                    blk = Blk::Pass(self.anonymous(at, b"&"));
                } else {
                    splat |= argument.as_splat_node().is_some();
                    pos.push(self.expr(&argument));
                }
            }
        }
        if let Some(block) = block {
            if let Some(n) = block.as_block_node() {
                blk = Blk::Code(self.block(&n));
            } else if let Some(n) = block.as_block_argument_node() {
                let at = n.location().start();
                blk = Blk::Pass(match n.expression() {
                    Some(e) => self.expr(&e),
                    None => self.anonymous(at, b"&"),
                });
            }
        }
        Args::new(keep_all(pos), splat, kw, blk)
    }

    /// Reads an anonymous parameter of the enclosing method.
    pub(crate) fn anonymous(&mut self, at: u32, name: &[u8]) -> N {
        let depth = self.scopes.iter().rev().position(|s| s.vars.contains_key(name)).unwrap_or(0);
        let var = self.resolve(name, depth as u32);
        self.read(at, var)
    }

    pub(crate) fn pairs(&mut self, elements: &p::NodeList<'_>) -> &'static [Pair] {
        let mut pairs = Vec::new();
        for element in elements {
            if let Some(n) = element.as_assoc_node() {
                let key = self.hash_key(&n.key());
                let value = self.expr(&n.value());
                pairs.push((Some(key), value));
            } else if let Some(n) = element.as_assoc_splat_node() {
                let at = n.location().start();
                let value = match n.value() {
                    Some(e) => self.expr(&e),
                    None => self.anonymous(at, b"**"),
                };
                pairs.push((None, value));
            }
        }
        keep_all(pairs)
    }

    fn hash_key(&mut self, node: &p::Node<'_>) -> N {
        if let Some(n) = node.as_string_node() {
            return self.string(node.location().start(), n.unescaped(), self.enc_of(&n), true);
        }
        self.expr(node)
    }

    pub(crate) fn zsuper(&mut self, node: &p::ForwardingSuperNode<'_>) -> N {
        let at = node.location().start();
        let up = self.scopes.iter().rev().position(|s| !s.block).unwrap_or(0);
        let index = self.scopes.len() - 1 - up;
        let z = self.scopes[index].zsuper.clone().unwrap_or_default();
        let depth = up as u32;
        let mut pos = Vec::new();
        let mut splat = false;
        for name in &z.pos {
            let var = self.resolve(name, depth);
            pos.push(self.read(at, var));
        }
        if let Some(name) = &z.rest {
            let var = self.resolve(name, depth);
            let read = self.read(at, var);
            pos.push(self.node(at, Kind::Splat(read)));
            splat = true;
        }
        for name in &z.post {
            let var = self.resolve(name, depth);
            pos.push(self.read(at, var));
        }
        let mut pairs: Vec<Pair> = Vec::new();
        for name in &z.kw {
            let var = self.resolve(name, depth);
            let value = self.read(at, var);
            let sym = self.syms.intern(name);
            pairs.push((Some(self.node(at, Kind::Sym(sym))), value));
        }
        if let Some(name) = &z.kwrest {
            let var = self.resolve(name, depth);
            pairs.push((None, self.read(at, var)));
        }
        let block = match node.block() {
            Some(block) => Blk::Code(self.block(&block)),
            None => Blk::None,
        };
        let name = self.syms.intern(b"super");
        let mut call = self.new_call(at, None, name, Vec::new());
        let kw = if pairs.is_empty() { None } else { Some(keep_all(pairs)) };
        call.args = Args::new(keep_all(pos), splat, kw, block);
        self.node(at, Kind::ZSuper(keep(call)))
    }

    pub(crate) fn super_call(&mut self, node: &p::SuperNode<'_>) -> N {
        let at = node.location().start();
        let args = self.args(node.arguments(), node.block());
        let name = self.syms.intern(b"super");
        let mut call = self.new_call(at, None, name, Vec::new());
        call.args = args;
        self.node(at, Kind::Super(keep(call)))
    }

    /// Arguments of return, break and next as one value.
    pub(crate) fn jump_value(&mut self, at: u32, arguments: Option<p::ArgumentsNode<'_>>) -> N {
        let Some(arguments) = arguments else {
            return self.nil(at);
        };
        let args = self.args(Some(arguments), None);
        let mut items = args.pos.to_vec();
        if let Some(pairs) = args.kw() {
            items.push(self.node(at, Kind::Hash(pairs)));
        }
        match items.as_slice() {
            [] => self.nil(at),
            [one] if !args.splat => one,
            _ if args.splat => self.node(at, Kind::ArraySplat(keep_all(items))),
            _ => self.node(at, Kind::Array(keep_all(items))),
        }
    }
}

pub(crate) fn operator(name: &[u8]) -> Option<Op> {
    Some(match name {
        b"+" => Op::Add,
        b"-" => Op::Sub,
        b"*" => Op::Mul,
        b"/" => Op::Div,
        b"%" => Op::Mod,
        b"<" => Op::Lt,
        b"<=" => Op::Le,
        b">" => Op::Gt,
        b">=" => Op::Ge,
        b"==" => Op::Eq,
        b"!=" => Op::Ne,
        b"[]" => Op::Index,
        b"<<" => Op::Shl,
        b"&" => Op::And,
        b"|" => Op::Or,
        b">>" => Op::Shr,
        b"^" => Op::Xor,
        b"<=>" => Op::Cmp,
        _ => return None,
    })
}
