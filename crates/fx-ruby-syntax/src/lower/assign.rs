//! Assignments: plain, operator, conditional and multiple.

use std::cell::Cell;

use ruby_prism as p;

use crate::Sym;
use crate::ast::{Args, Blk, Call, ConstScope, ConstSite, IvarSite, Kind, Multi, N, Target};
use crate::lower::{Lower, keep, keep_all};

/// How an assignment combines with the old value.
#[derive(Clone)]
pub(crate) enum Combine {
    Or,
    And,
    Op(Vec<u8>),
}

impl Lower<'_> {
    pub(crate) fn ivar(&mut self, name: &p::ConstantId<'_>) -> &'static IvarSite {
        let name = self.sym(name);
        keep(IvarSite { name, class: Cell::new(u32::MAX), slot: Cell::new(0) })
    }

    pub(crate) fn multi(
        &mut self,
        lefts: &p::NodeList<'_>,
        rest: Option<p::Node<'_>>,
        rights: &p::NodeList<'_>,
    ) -> &'static Multi {
        let pre: Vec<Target> = lefts.iter().map(|n| self.target(&n)).collect();
        let rest = rest.map(|n| match n.as_splat_node() {
            Some(splat) => splat.expression().map(|e| keep(self.target(&e))),
            None => None,
        });
        let rest: Option<Option<&'static Target>> =
            rest.map(|t| t.map(|t| -> &'static Target { t }));
        let post: Vec<Target> = rights.iter().map(|n| self.target(&n)).collect();
        keep(Multi { pre: keep_all(pre), rest, post: keep_all(post) })
    }

    pub(crate) fn target(&mut self, node: &p::Node<'_>) -> Target {
        if let Some(n) = node.as_local_variable_target_node() {
            return self.target_var(n.name().as_slice(), n.depth());
        }
        if let Some(n) = node.as_required_parameter_node() {
            return self.target_var(n.name().as_slice(), 0);
        }
        if let Some(n) = node.as_instance_variable_target_node() {
            return Target::Ivar(self.ivar(&n.name()));
        }
        if let Some(n) = node.as_global_variable_target_node() {
            return Target::Gvar(self.sym(&n.name()));
        }
        if let Some(n) = node.as_class_variable_target_node() {
            return Target::Cvar(self.sym(&n.name()));
        }
        if let Some(n) = node.as_constant_target_node() {
            return Target::Const(ConstScope::Lexical, self.sym(&n.name()));
        }
        if let Some(n) = node.as_constant_path_target_node() {
            let scope = match n.parent() {
                Some(parent) => ConstScope::In(self.expr(&parent)),
                None => ConstScope::Top,
            };
            let name = n.name().map_or(Sym(0), |id| self.sym(&id));
            return Target::Const(scope, name);
        }
        if let Some(n) = node.as_call_target_node() {
            let recv = self.expr(&n.receiver());
            let name = self.sym(&n.name());
            let mut call = self.new_call(n.location().start(), Some(recv), name, Vec::new());
            call.safe = n.is_safe_navigation();
            call.fcall |= n.is_ignore_visibility();
            return Target::Send(keep(call));
        }
        if let Some(n) = node.as_index_target_node() {
            let recv = self.expr(&n.receiver());
            let args = self.args(n.arguments(), None);
            let name = self.syms.intern(b"[]=");
            let mut call = self.new_call(n.location().start(), Some(recv), name, Vec::new());
            call.args = args;
            return Target::Send(keep(call));
        }
        if let Some(n) = node.as_multi_target_node() {
            return Target::Multi(self.multi(&n.lefts(), n.rest(), &n.rights()));
        }
        if let Some(n) = node.as_splat_node() {
            let target = n.expression().map(|e| keep(self.target(&e)));
            let rest = Some(target.map(|t| -> &'static Target { t }));
            return Target::Multi(keep(Multi { pre: &[], rest, post: &[] }));
        }
        self.fail(&node.location(), "this cannot be assigned");
        Target::Gvar(Sym(0))
    }

    /// Combines an old value with a new one and stores it.
    pub(crate) fn combined(
        &mut self,
        pos: u32,
        how: &Combine,
        old: N,
        value: N,
        store: impl FnOnce(&mut Self, N) -> N,
    ) -> N {
        match how {
            Combine::Or => {
                let set = store(self, value);
                self.node(pos, Kind::Or(old, set))
            }
            Combine::And => {
                let set = store(self, value);
                self.node(pos, Kind::And(old, set))
            }
            Combine::Op(op) => {
                let sum = self.binary(pos, old, op, value);
                store(self, sum)
            }
        }
    }

    pub(crate) fn local_combine(
        &mut self,
        at: u32,
        name: &[u8],
        depth: u32,
        how: &Combine,
        value: &p::Node<'_>,
    ) -> N {
        let var = self.resolve(name, depth);
        let old = self.read(at, var);
        let value = self.expr(value);
        self.combined(at, how, old, value, |s, v| s.write(at, var, v))
    }

    pub(crate) fn ivar_combine(
        &mut self,
        at: u32,
        name: &p::ConstantId<'_>,
        how: &Combine,
        value: &p::Node<'_>,
    ) -> N {
        let (get, set) = (self.ivar(name), self.ivar(name));
        let old = self.node(at, Kind::IVar(get));
        let value = self.expr(value);
        self.combined(at, how, old, value, |s, v| s.node(at, Kind::ISet(set, v)))
    }

    pub(crate) fn gvar_combine(
        &mut self,
        at: u32,
        name: &p::ConstantId<'_>,
        how: &Combine,
        value: &p::Node<'_>,
    ) -> N {
        let name = self.sym(name);
        let old = self.node(at, Kind::GVar(name));
        let value = self.expr(value);
        self.combined(at, how, old, value, |s, v| s.node(at, Kind::GSet(name, v)))
    }

    /// `||=` on what may not exist asks `defined?` first.
    fn guarded(&mut self, at: u32, how: &Combine, read: N) -> N {
        if matches!(how, Combine::Or) {
            let asked = self.node(at, Kind::Defined(read));
            return self.node(at, Kind::And(asked, read));
        }
        read
    }

    pub(crate) fn cvar_combine(
        &mut self,
        at: u32,
        name: &p::ConstantId<'_>,
        how: &Combine,
        value: &p::Node<'_>,
    ) -> N {
        let name = self.sym(name);
        let read = self.node(at, Kind::CVar(name));
        let old = self.guarded(at, how, read);
        let value = self.expr(value);
        self.combined(at, how, old, value, |s, v| s.node(at, Kind::CSet(name, v)))
    }

    pub(crate) fn const_combine(
        &mut self,
        at: u32,
        name: &p::ConstantId<'_>,
        how: &Combine,
        value: &p::Node<'_>,
    ) -> N {
        let read = self.constant(at, name);
        let old = self.guarded(at, how, read);
        let value = self.expr(value);
        let name = self.sym(name);
        self.combined(at, how, old, value, |s, v| {
            s.node(at, Kind::ConstSet(ConstScope::Lexical, name, v))
        })
    }

    pub(crate) fn path_combine(
        &mut self,
        at: u32,
        target: &p::ConstantPathNode<'_>,
        how: &Combine,
        value: &p::Node<'_>,
    ) -> N {
        let name = target.name().map_or(Sym(0), |id| self.sym(&id));
        let mut setup = None;
        let scope = match target.parent() {
            Some(parent) => {
                let parent = self.expr(&parent);
                let slot = self.temp();
                setup = Some(self.node(at, Kind::LSet(slot, parent)));
                ConstScope::In(self.node(at, Kind::LVar(slot)))
            }
            None => ConstScope::Top,
        };
        let read = self.node(at, Kind::ConstIn(scope, keep(ConstSite::new(name))));
        let old = self.guarded(at, how, read);
        let value = self.expr(value);
        let done =
            self.combined(at, how, old, value, |s, v| s.node(at, Kind::ConstSet(scope, name, v)));
        match setup {
            Some(setup) => self.node(at, Kind::Seq(keep_all(vec![setup, done]))),
            None => done,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of three prism nodes")]
    pub(crate) fn attr_combine(
        &mut self,
        at: u32,
        receiver: Option<p::Node<'_>>,
        safe: bool,
        ignore: bool,
        read_name: &p::ConstantId<'_>,
        write_name: &p::ConstantId<'_>,
        how: &Combine,
        value: &p::Node<'_>,
    ) -> N {
        let (read_name, write_name) = (self.sym(read_name), self.sym(write_name));
        let (setup, recv) = self.held(at, receiver);
        let mut get = self.new_call(at, recv, read_name, Vec::new());
        get.fcall |= ignore;
        let old = self.node(at, Kind::Call(keep(get)));
        let value = self.expr(value);
        let done = self.combined(at, how, old, value, |s, v| {
            let mut set = s.new_call(at, recv, write_name, vec![v]);
            set.asgn = true;
            set.fcall |= ignore;
            s.node(at, Kind::Call(keep(set)))
        });
        match setup {
            Some(setup) if safe => self.node(at, Kind::SafeSeq(setup, done)),
            Some(setup) => self.node(at, Kind::Seq(keep_all(vec![setup, done]))),
            None => done,
        }
    }

    /// Evaluates a receiver once: the node that stores it and the node that reads it.
    fn held(&mut self, at: u32, receiver: Option<p::Node<'_>>) -> (Option<N>, Option<N>) {
        match receiver {
            None => (None, None),
            Some(n) if n.as_self_node().is_some() => (None, Some(self.node(at, Kind::Zelf))),
            Some(n) => {
                let value = self.expr(&n);
                let slot = self.temp();
                let set = self.node(at, Kind::LSet(slot, value));
                (Some(set), Some(self.node(at, Kind::LVar(slot))))
            }
        }
    }

    pub(crate) fn index_combine(
        &mut self,
        at: u32,
        receiver: Option<p::Node<'_>>,
        arguments: Option<p::ArgumentsNode<'_>>,
        block: Option<p::BlockArgumentNode<'_>>,
        how: &Combine,
        value: &p::Node<'_>,
    ) -> N {
        let (setup, recv) = self.held(at, receiver);
        let mut steps: Vec<N> = setup.into_iter().collect();
        let args = self.args(arguments, None);
        let mut held = Vec::new();
        let items =
            args.pos.iter().copied().chain(args.kw().map(|pairs| self.node(at, Kind::Hash(pairs))));
        for item in items.collect::<Vec<_>>() {
            let slot = self.temp();
            let (value, splat) = match item.kind {
                Kind::Splat(_) => (self.node(at, Kind::ArraySplat(keep_all(vec![item]))), true),
                _ => (item, false),
            };
            steps.push(self.node(at, Kind::LSet(slot, value)));
            let read = self.node(at, Kind::LVar(slot));
            held.push(if splat { self.node(at, Kind::Splat(read)) } else { read });
        }
        let blk = match block.and_then(|b| b.expression()) {
            Some(e) => {
                let value = self.expr(&e);
                let slot = self.temp();
                steps.push(self.node(at, Kind::LSet(slot, value)));
                Blk::Pass(self.node(at, Kind::LVar(slot)))
            }
            None => Blk::None,
        };
        let (get_name, set_name) = (self.syms.intern(b"[]"), self.syms.intern(b"[]="));
        let mut get = self.new_call(at, recv, get_name, held.clone());
        get.args = Args::new(get.args.pos, get.args.splat, None, blk);
        let get: &'static Call = keep(get);
        let old = self.fuse(at, get, b"[]");
        let value = self.expr(value);
        let done = self.combined(at, how, old, value, |s, v| {
            let mut items = held;
            items.push(v);
            let mut set = s.new_call(at, recv, set_name, items);
            set.asgn = true;
            set.args = Args::new(set.args.pos, set.args.splat, None, blk);
            s.node(at, Kind::Call(keep(set)))
        });
        steps.push(done);
        self.node(at, Kind::Seq(keep_all(steps)))
    }
}
