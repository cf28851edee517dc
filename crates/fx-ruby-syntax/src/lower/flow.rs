//! Calls, branches, loops and jumps.

use ruby_prism::Node as P;

use crate::ast::{Begin, Branch, Kind, N, Rescue};
use crate::lower::expr::cast;
use crate::lower::{Lower, keep, keep_all};

impl Lower<'_> {
    /// Calls, branches and loops.
    pub(super) fn flow(&mut self, node: &P<'_>, at: u32) -> Option<N> {
        Some(match node {
            P::CallNode { .. } => self.call(&cast!(node, as_call_node)),
            P::SuperNode { .. } => self.super_call(&cast!(node, as_super_node)),
            P::ForwardingSuperNode { .. } => self.zsuper(&cast!(node, as_forwarding_super_node)),
            P::YieldNode { .. } => {
                let args = self.args(cast!(node, as_yield_node).arguments(), None);
                self.node(at, Kind::Yield(keep(args)))
            }
            P::AndNode { .. } => {
                let n = cast!(node, as_and_node);
                let (l, r) = (self.expr(&n.left()), self.expr(&n.right()));
                self.node(at, Kind::And(l, r))
            }
            P::OrNode { .. } => {
                let n = cast!(node, as_or_node);
                let (l, r) = (self.expr(&n.left()), self.expr(&n.right()));
                self.node(at, Kind::Or(l, r))
            }
            P::IfNode { .. } => {
                let n = cast!(node, as_if_node);
                let test = self.expr(&n.predicate());
                let yes = self.maybe_statements(n.statements(), at);
                let no = self.optional(n.subsequent(), at);
                self.node(at, Kind::If(test, Branch(yes), Branch(no)))
            }
            P::UnlessNode { .. } => {
                let n = cast!(node, as_unless_node);
                let test = self.expr(&n.predicate());
                let yes = self.maybe_statements(n.statements(), at);
                let no = match n.else_clause() {
                    Some(e) => self.maybe_statements(e.statements(), at),
                    None => self.nil(at),
                };
                self.node(at, Kind::If(test, Branch(no), Branch(yes)))
            }
            P::ElseNode { .. } => {
                let n = cast!(node, as_else_node);
                self.maybe_statements(n.statements(), at)
            }
            P::WhileNode { .. } => {
                let n = cast!(node, as_while_node);
                self.while_node(at, &n.predicate(), n.statements(), false, n.is_begin_modifier())
            }
            P::UntilNode { .. } => {
                let n = cast!(node, as_until_node);
                self.while_node(at, &n.predicate(), n.statements(), true, n.is_begin_modifier())
            }
            P::ForNode { .. } => {
                let n = cast!(node, as_for_node);
                let collection = self.expr(&n.collection());
                let target = keep(self.target(&n.index()));
                let body = self.looped(|s| s.maybe_statements(n.statements(), at));
                self.node(at, Kind::For(target, collection, body))
            }
            P::CaseNode { .. } => self.case(&cast!(node, as_case_node)),
            P::CaseMatchNode { .. } => self.case_in(&cast!(node, as_case_match_node)),
            P::MatchPredicateNode { .. } => {
                let n = cast!(node, as_match_predicate_node);
                let value = self.expr(&n.value());
                let pat = keep(self.pattern(&n.pattern()));
                self.node(at, Kind::MatchPat(value, pat))
            }
            P::MatchRequiredNode { .. } => {
                let n = cast!(node, as_match_required_node);
                let value = self.expr(&n.value());
                let pat = keep(self.pattern(&n.pattern()));
                self.node(at, Kind::MatchReq(value, pat))
            }
            P::RescueModifierNode { .. } => {
                let n = cast!(node, as_rescue_modifier_node);
                let body = self.expr(&n.expression());
                let instead = Branch(self.expr(&n.rescue_expression()));
                let rescue = Rescue { classes: &[], target: None, body: instead };
                let begin =
                    Begin { body, rescues: keep_all(vec![rescue]), else_body: None, ensure: None };
                self.node(at, Kind::Begin(keep(begin)))
            }
            P::LambdaNode { .. } => {
                let code = self.lambda(&cast!(node, as_lambda_node));
                self.node(at, Kind::Lambda(code))
            }
            P::FlipFlopNode { .. } => {
                let n = cast!(node, as_flip_flop_node);
                let lo = self.optional(n.left(), at);
                let hi = self.optional(n.right(), at);
                self.node(at, Kind::FlipFlop(lo, hi, n.is_exclude_end()))
            }
            P::PreExecutionNode { .. } => {
                let n = cast!(node, as_pre_execution_node);
                self.maybe_statements(n.statements(), at)
            }
            _ => return None,
        })
    }

    /// What leaves a method, a block or a loop.
    pub(super) fn jump(&mut self, node: &P<'_>, at: u32) -> Option<N> {
        Some(match node {
            P::ReturnNode { .. } => {
                let value = self.jump_value(at, cast!(node, as_return_node).arguments());
                self.node(at, Kind::Return(value))
            }
            P::BreakNode { .. } => {
                let value = self.jump_value(at, cast!(node, as_break_node).arguments());
                let kind = if self.scope().loops > 0 {
                    Kind::LoopBreak(value)
                } else {
                    Kind::Break(value)
                };
                self.node(at, kind)
            }
            P::NextNode { .. } => {
                let value = self.jump_value(at, cast!(node, as_next_node).arguments());
                let kind =
                    if self.scope().loops > 0 { Kind::LoopNext(value) } else { Kind::Next(value) };
                self.node(at, kind)
            }
            P::RedoNode { .. } => {
                let kind = if self.scope().loops > 0 { Kind::LoopRedo } else { Kind::Redo };
                self.node(at, kind)
            }
            P::RetryNode { .. } => self.node(at, Kind::Retry),
            _ => return None,
        })
    }
}
