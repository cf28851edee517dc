//! Which locals are captured: a pass over prism's tree before lowering.
//!
//! A local touched from an inner block must live in an environment. A scope that calls
//! `binding`, `eval` or one of their kin keeps all its locals there, with their names.

use rustc_hash::{FxHashMap, FxHashSet};

use ruby_prism as p;
use ruby_prism::Visit;

/// Identifies a scope node: start, end, kind.
pub(crate) type Key = (u32, u32, u8);

/// What must live in the environment of a scope.
#[derive(Default)]
pub(crate) struct Captured {
    pub(crate) names: FxHashSet<Vec<u8>>,
    pub(crate) all: bool,
}

pub(crate) const PROGRAM: u8 = 0;
pub(crate) const DEF: u8 = 1;
pub(crate) const BLOCK: u8 = 2;
pub(crate) const LAMBDA: u8 = 3;
pub(crate) const CLASS: u8 = 4;

pub(crate) fn key(loc: &p::Location<'_>, kind: u8) -> Key {
    (loc.start(), loc.end(), kind)
}

/// Links of a chain on one way down the tree. The parser makes chains in a loop (`1 + 1 + …`,
/// `a.b.c…`, `elsif`), so its own limit of nesting does not see them; everything after it
/// walks them by recursion.
const MAX_CHAIN: u32 = 20_000;

/// Finds the captured locals of every scope; the place where a chain is too long, otherwise.
pub(crate) fn analyse(node: &p::Node<'_>) -> Result<FxHashMap<Key, Captured>, (u32, i32)> {
    let mut finder =
        Finder { open: Vec::new(), done: FxHashMap::default(), links: 0, too_long: None };
    finder.visit(node);
    finder.too_long.map_or(Ok(finder.done), Err)
}

struct Finder {
    open: Vec<(Key, Captured)>,
    done: FxHashMap<Key, Captured>,
    links: u32,
    /// Offset and line of the first link too many.
    too_long: Option<(u32, i32)>,
}

impl Finder {
    fn link(&mut self, at: &p::Location<'_>, walk: impl FnOnce(&mut Finder)) {
        if self.links >= MAX_CHAIN {
            self.too_long.get_or_insert_with(|| (at.start(), at.start_line()));
            return;
        }
        self.links += 1;
        walk(self);
        self.links -= 1;
    }

    fn scope(&mut self, key: Key, walk: impl FnOnce(&mut Finder)) {
        self.open.push((key, Captured::default()));
        walk(self);
        if let Some((key, captured)) = self.open.pop() {
            self.done.insert(key, captured);
        }
    }

    fn touch(&mut self, name: &p::ConstantId<'_>, depth: u32) {
        if depth == 0 {
            return;
        }
        let at = self.open.len() as i64 - 1 - i64::from(depth);
        if at >= 0 {
            self.open[at as usize].1.names.insert(name.as_slice().to_vec());
        }
    }

    fn keep_all(&mut self) {
        for (key, captured) in self.open.iter_mut().rev() {
            captured.all = true;
            if key.2 != BLOCK && key.2 != LAMBDA {
                break;
            }
        }
    }
}

impl<'pr> Visit<'pr> for Finder {
    fn visit_program_node(&mut self, node: &p::ProgramNode<'pr>) {
        self.scope(key(&node.location(), PROGRAM), |f| p::visit_program_node(f, node));
    }
    fn visit_def_node(&mut self, node: &p::DefNode<'pr>) {
        if let Some(receiver) = node.receiver() {
            self.visit(&receiver);
        }
        self.scope(key(&node.location(), DEF), |f| {
            if let Some(parameters) = node.parameters() {
                f.visit(&parameters.as_node());
            }
            if let Some(body) = node.body() {
                f.visit(&body);
            }
        });
    }
    fn visit_block_node(&mut self, node: &p::BlockNode<'pr>) {
        self.scope(key(&node.location(), BLOCK), |f| p::visit_block_node(f, node));
    }
    fn visit_lambda_node(&mut self, node: &p::LambdaNode<'pr>) {
        self.scope(key(&node.location(), LAMBDA), |f| p::visit_lambda_node(f, node));
    }
    fn visit_class_node(&mut self, node: &p::ClassNode<'pr>) {
        self.visit(&node.constant_path());
        if let Some(superclass) = node.superclass() {
            self.visit(&superclass);
        }
        self.scope(key(&node.location(), CLASS), |f| {
            if let Some(body) = node.body() {
                f.visit(&body);
            }
        });
    }
    fn visit_module_node(&mut self, node: &p::ModuleNode<'pr>) {
        self.visit(&node.constant_path());
        self.scope(key(&node.location(), CLASS), |f| {
            if let Some(body) = node.body() {
                f.visit(&body);
            }
        });
    }
    fn visit_singleton_class_node(&mut self, node: &p::SingletonClassNode<'pr>) {
        self.visit(&node.expression());
        self.scope(key(&node.location(), CLASS), |f| {
            if let Some(body) = node.body() {
                f.visit(&body);
            }
        });
    }
    fn visit_post_execution_node(&mut self, node: &p::PostExecutionNode<'pr>) {
        // The body becomes a block of its own, and prism counts no scope for it.
        self.keep_all();
        p::visit_post_execution_node(self, node);
    }
    fn visit_forwarding_super_node(&mut self, node: &p::ForwardingSuperNode<'pr>) {
        let inside = self.open.last().is_some_and(|(key, _)| key.2 == BLOCK || key.2 == LAMBDA);
        if inside {
            self.keep_all();
        }
        p::visit_forwarding_super_node(self, node);
    }
    fn visit_local_variable_read_node(&mut self, node: &p::LocalVariableReadNode<'pr>) {
        self.touch(&node.name(), node.depth());
    }
    fn visit_local_variable_write_node(&mut self, node: &p::LocalVariableWriteNode<'pr>) {
        self.touch(&node.name(), node.depth());
        p::visit_local_variable_write_node(self, node);
    }
    fn visit_local_variable_target_node(&mut self, node: &p::LocalVariableTargetNode<'pr>) {
        self.touch(&node.name(), node.depth());
    }
    fn visit_local_variable_or_write_node(&mut self, node: &p::LocalVariableOrWriteNode<'pr>) {
        self.touch(&node.name(), node.depth());
        p::visit_local_variable_or_write_node(self, node);
    }
    fn visit_local_variable_and_write_node(&mut self, node: &p::LocalVariableAndWriteNode<'pr>) {
        self.touch(&node.name(), node.depth());
        p::visit_local_variable_and_write_node(self, node);
    }
    fn visit_local_variable_operator_write_node(
        &mut self,
        node: &p::LocalVariableOperatorWriteNode<'pr>,
    ) {
        self.touch(&node.name(), node.depth());
        p::visit_local_variable_operator_write_node(self, node);
    }
    fn visit_call_node(&mut self, node: &p::CallNode<'pr>) {
        let name = node.name();
        let dynamic = match name.as_slice() {
            b"binding" | b"eval" | b"local_variables" => true,
            b"instance_eval" | b"class_eval" | b"module_eval" => node.arguments().is_some(),
            b"send" | b"__send__" | b"public_send" => node.arguments().is_some_and(|a| {
                a.arguments().first().is_some_and(|n| {
                    n.as_symbol_node().is_some_and(|s| {
                        matches!(
                            s.unescaped(),
                            b"binding" | b"eval" | b"local_variables" | b"instance_eval"
                        )
                    })
                })
            }),
            _ => false,
        };
        if dynamic {
            self.keep_all();
        }
        self.link(&node.location(), |f| p::visit_call_node(f, node));
    }
    fn visit_and_node(&mut self, node: &p::AndNode<'pr>) {
        self.link(&node.location(), |f| p::visit_and_node(f, node));
    }
    fn visit_or_node(&mut self, node: &p::OrNode<'pr>) {
        self.link(&node.location(), |f| p::visit_or_node(f, node));
    }
    fn visit_if_node(&mut self, node: &p::IfNode<'pr>) {
        self.link(&node.location(), |f| p::visit_if_node(f, node));
    }
    fn visit_unless_node(&mut self, node: &p::UnlessNode<'pr>) {
        self.link(&node.location(), |f| p::visit_unless_node(f, node));
    }
    fn visit_while_node(&mut self, node: &p::WhileNode<'pr>) {
        self.link(&node.location(), |f| p::visit_while_node(f, node));
    }
    fn visit_until_node(&mut self, node: &p::UntilNode<'pr>) {
        self.link(&node.location(), |f| p::visit_until_node(f, node));
    }
    fn visit_rescue_node(&mut self, node: &p::RescueNode<'pr>) {
        self.link(&node.location(), |f| p::visit_rescue_node(f, node));
    }
    fn visit_rescue_modifier_node(&mut self, node: &p::RescueModifierNode<'pr>) {
        self.link(&node.location(), |f| p::visit_rescue_modifier_node(f, node));
    }
    fn visit_constant_path_node(&mut self, node: &p::ConstantPathNode<'pr>) {
        self.link(&node.location(), |f| p::visit_constant_path_node(f, node));
    }
    fn visit_alternation_pattern_node(&mut self, node: &p::AlternationPatternNode<'pr>) {
        self.link(&node.location(), |f| p::visit_alternation_pattern_node(f, node));
    }
    fn visit_match_predicate_node(&mut self, node: &p::MatchPredicateNode<'pr>) {
        self.link(&node.location(), |f| p::visit_match_predicate_node(f, node));
    }
    fn visit_match_required_node(&mut self, node: &p::MatchRequiredNode<'pr>) {
        self.link(&node.location(), |f| p::visit_match_required_node(f, node));
    }
}
