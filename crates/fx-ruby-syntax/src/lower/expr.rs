//! Expressions and statements: the match over prism's node kinds.

use std::cell::Cell;

use ruby_prism as p;
use ruby_prism::Node as P;

use crate::Sym;
use crate::ast::{
    Begin, ClassNode, CodeKind, ConstScope, ConstSite, Kind, N, RegexLit, Rescue, StrLit,
    WhenClause,
};
use crate::lower::assign::Combine;
use crate::lower::{Lower, Scope, leak, leak_slice, no_params};

macro_rules! cast {
    ($node:expr, $f:ident) => {
        $node.$f().expect("the kind was just matched")
    };
}

impl Lower<'_> {
    pub(crate) fn optional(&mut self, node: Option<P<'_>>, at: u32) -> N {
        match node {
            Some(node) => self.expr(&node),
            None => self.nil(at),
        }
    }

    pub(crate) fn statements(&mut self, node: &p::StatementsNode<'_>) -> N {
        let body = node.body();
        let mut nodes: Vec<N> = body.iter().map(|n| self.expr(&n)).collect();
        match nodes.len() {
            0 => self.nil(node.location().start()),
            1 => nodes.remove(0),
            _ => self.node(node.location().start(), Kind::Seq(leak_slice(nodes))),
        }
    }

    pub(crate) fn maybe_statements(&mut self, node: Option<p::StatementsNode<'_>>, at: u32) -> N {
        match node {
            Some(node) => self.statements(&node),
            None => self.nil(at),
        }
    }

    pub(crate) fn constant(&mut self, at: u32, name: &p::ConstantId<'_>) -> N {
        let name = self.sym(name);
        let site = ConstSite { name, epoch: Cell::new(0), cref: Cell::new(0), value: Cell::new(0) };
        self.node(at, Kind::Const(leak(site)))
    }

    pub(crate) fn enc_of(&self, node: &p::StringNode<'_>) -> u8 {
        if node.is_forced_binary_encoding() {
            1
        } else if node.is_forced_utf8_encoding() {
            0
        } else {
            self.source_enc
        }
    }

    pub(crate) fn string(&self, at: u32, bytes: &[u8], enc: u8, frozen: bool) -> N {
        let bytes = leak_slice(bytes.to_vec());
        self.node(at, Kind::Str(leak(StrLit { bytes, enc, frozen, cached: Cell::new(0) })))
    }

    fn parts(&mut self, parts: &p::NodeList<'_>) -> Vec<N> {
        let mut out = Vec::new();
        for part in parts {
            let at = part.location().start();
            if let Some(n) = part.as_embedded_statements_node() {
                out.push(self.maybe_statements(n.statements(), at));
            } else if let Some(n) = part.as_embedded_variable_node() {
                out.push(self.expr(&n.variable()));
            } else if let Some(n) = part.as_interpolated_string_node() {
                out.extend(self.parts(&n.parts()));
            } else {
                out.push(self.expr(&part));
            }
        }
        out
    }

    fn integer(&self, at: u32, integer: &p::Integer<'_>) -> N {
        let (negative, digits) = integer.to_u32_digits();
        let mut value: i128 = 0;
        let small = digits.len() <= 2;
        if small {
            for digit in digits.iter().rev() {
                value = (value << 32) | i128::from(*digit);
            }
            if negative {
                value = -value;
            }
            if (-(1 << 62)..(1 << 62)).contains(&value) {
                return self.node(at, Kind::Int(value as i64));
            }
        }
        self.node(at, Kind::Big(negative, leak_slice(digits.to_vec())))
    }

    fn regex(&mut self, at: u32, parts: Vec<N>, flags: u32, once: bool) -> N {
        let lit = RegexLit { parts: leak_slice(parts), flags, once, cached: Cell::new(0) };
        self.node(at, Kind::Regex(leak(lit)))
    }

    fn const_scope(&mut self, path: &P<'_>) -> (ConstScope, Sym) {
        if let Some(n) = path.as_constant_path_node() {
            let scope = match n.parent() {
                Some(parent) => ConstScope::In(self.expr(&parent)),
                None => ConstScope::Top,
            };
            let name = n.name().map_or(Sym(0), |id| self.sym(&id));
            return (scope, name);
        }
        let name = path.as_constant_read_node().map_or(Sym(0), |n| self.sym(&n.name()));
        (ConstScope::Lexical, name)
    }

    fn looped(&mut self, body: impl FnOnce(&mut Self) -> N) -> N {
        self.scope().loops += 1;
        let node = body(self);
        self.scope().loops -= 1;
        node
    }

    fn begin(&mut self, node: &p::BeginNode<'_>) -> N {
        let at = node.location().start();
        let body = self.maybe_statements(node.statements(), at);
        let mut rescues = Vec::new();
        let mut clause = node.rescue_clause();
        while let Some(n) = clause {
            let classes: Vec<N> = n.exceptions().iter().map(|e| self.expr(&e)).collect();
            let target = n.reference().map(|r| self.target(&r));
            let body = self.maybe_statements(n.statements(), n.location().start());
            rescues.push(Rescue { classes: leak_slice(classes), target, body });
            clause = n.subsequent();
        }
        let else_body = node.else_clause().map(|n| self.maybe_statements(n.statements(), at));
        let ensure = node
            .ensure_clause()
            .map(|n| self.maybe_statements(n.statements(), n.location().start()));
        if rescues.is_empty() && else_body.is_none() && ensure.is_none() {
            return body;
        }
        let begin = Begin { body, rescues: leak_slice(rescues), else_body, ensure };
        self.node(at, Kind::Begin(leak(begin)))
    }

    fn case(&mut self, node: &p::CaseNode<'_>) -> N {
        let at = node.location().start();
        let subject = node.predicate().map(|n| self.expr(&n));
        let mut clauses = Vec::new();
        for condition in &node.conditions() {
            let Some(clause) = condition.as_when_node() else { continue };
            let conds: Vec<N> = clause.conditions().iter().map(|c| self.expr(&c)).collect();
            let body = self.maybe_statements(clause.statements(), clause.location().start());
            clauses.push(WhenClause { conds: leak_slice(conds), body });
        }
        let other = match node.else_clause() {
            Some(n) => self.maybe_statements(n.statements(), at),
            None => self.nil(at),
        };
        match subject {
            Some(subject) => self.node(at, Kind::Case(subject, 0, leak_slice(clauses), other)),
            None => self.node(at, Kind::CaseBare(leak_slice(clauses), other)),
        }
    }

    fn while_node(
        &mut self,
        at: u32,
        test: &P<'_>,
        body: Option<p::StatementsNode<'_>>,
        until: bool,
        last: bool,
    ) -> N {
        let (test, body) = {
            self.scope().loops += 1;
            let test = self.expr(test);
            let body = self.maybe_statements(body, at);
            self.scope().loops -= 1;
            (test, body)
        };
        let test = if until {
            let name = self.syms.intern(b"!");
            let call = leak(self.new_call(at, Some(test), name, Vec::new()));
            // `until` negates the truth, never through a method.
            let _ = call;
            let (yes, no) = (self.node(at, Kind::True), self.node(at, Kind::False));
            self.node(at, Kind::If(test, no, yes))
        } else {
            test
        };
        self.node(at, Kind::While(test, body, false, last))
    }

    pub(crate) fn expr(&mut self, node: &P<'_>) -> N {
        let at = node.location().start();
        match node {
            P::NilNode { .. } => self.nil(at),
            P::TrueNode { .. } => self.node(at, Kind::True),
            P::FalseNode { .. } => self.node(at, Kind::False),
            P::SelfNode { .. } => self.node(at, Kind::Zelf),
            P::IntegerNode { .. } => self.integer(at, &cast!(node, as_integer_node).value()),
            P::FloatNode { .. } => self.node(at, Kind::Float(cast!(node, as_float_node).value())),
            P::RationalNode { .. } => {
                let n = cast!(node, as_rational_node);
                let num = self.integer(at, &n.numerator());
                let den = self.integer(at, &n.denominator());
                self.node(at, Kind::Rational(num, den))
            }
            P::ImaginaryNode { .. } => {
                let inner = self.expr(&cast!(node, as_imaginary_node).numeric());
                self.node(at, Kind::Imaginary(inner))
            }
            P::StringNode { .. } => {
                let n = cast!(node, as_string_node);
                let enc = self.enc_of(&n);
                self.string(at, n.unescaped(), enc, n.is_frozen())
            }
            P::InterpolatedStringNode { .. } => {
                let n = cast!(node, as_interpolated_string_node);
                let parts = self.parts(&n.parts());
                if parts.iter().all(|p| matches!(p.kind, Kind::Str(_))) {
                    let mut bytes = Vec::new();
                    let mut enc = 0;
                    for part in &parts {
                        if let Kind::Str(lit) = &part.kind {
                            bytes.extend_from_slice(lit.bytes);
                            enc = enc.max(lit.enc);
                        }
                    }
                    return self.string(at, &bytes, enc, n.is_frozen());
                }
                self.node(at, Kind::DStr(leak_slice(parts)))
            }
            P::XStringNode { .. } => {
                let n = cast!(node, as_x_string_node);
                let text = self.string(at, n.unescaped(), 0, false);
                self.node(at, Kind::XStr(text))
            }
            P::InterpolatedXStringNode { .. } => {
                let parts = self.parts(&cast!(node, as_interpolated_x_string_node).parts());
                let text = self.node(at, Kind::DStr(leak_slice(parts)));
                self.node(at, Kind::XStr(text))
            }
            P::SymbolNode { .. } => {
                let sym = self.syms.intern(cast!(node, as_symbol_node).unescaped());
                self.node(at, Kind::Sym(sym))
            }
            P::InterpolatedSymbolNode { .. } => {
                let parts = self.parts(&cast!(node, as_interpolated_symbol_node).parts());
                self.node(at, Kind::DSym(leak_slice(parts)))
            }
            P::RegularExpressionNode { .. } => {
                let n = cast!(node, as_regular_expression_node);
                let flags = regex_flags(
                    n.is_ignore_case(),
                    n.is_extended(),
                    n.is_multi_line(),
                    n.is_ascii_8bit(),
                    n.is_utf_8(),
                );
                let text = self.string(at, n.unescaped(), 0, false);
                self.regex(at, vec![text], flags, true)
            }
            P::InterpolatedRegularExpressionNode { .. } => {
                let n = cast!(node, as_interpolated_regular_expression_node);
                let flags = regex_flags(
                    n.is_ignore_case(),
                    n.is_extended(),
                    n.is_multi_line(),
                    n.is_ascii_8bit(),
                    n.is_utf_8(),
                );
                let parts = self.parts(&n.parts());
                self.regex(at, parts, flags, n.is_once())
            }
            P::MatchLastLineNode { .. } => {
                let n = cast!(node, as_match_last_line_node);
                let flags = regex_flags(
                    n.is_ignore_case(),
                    n.is_extended(),
                    n.is_multi_line(),
                    n.is_ascii_8bit(),
                    n.is_utf_8(),
                );
                let text = self.string(at, n.unescaped(), 0, false);
                let regex = self.regex(at, vec![text], flags, true);
                self.node(at, Kind::MatchLast(regex))
            }
            P::InterpolatedMatchLastLineNode { .. } => {
                let n = cast!(node, as_interpolated_match_last_line_node);
                let flags = regex_flags(
                    n.is_ignore_case(),
                    n.is_extended(),
                    n.is_multi_line(),
                    n.is_ascii_8bit(),
                    n.is_utf_8(),
                );
                let parts = self.parts(&n.parts());
                let regex = self.regex(at, parts, flags, n.is_once());
                self.node(at, Kind::MatchLast(regex))
            }
            P::ArrayNode { .. } => {
                let n = cast!(node, as_array_node);
                let mut splat = false;
                let mut items = Vec::new();
                for element in &n.elements() {
                    splat |= element.as_splat_node().is_some();
                    items.push(match element.as_keyword_hash_node() {
                        Some(h) => {
                            let pairs = self.pairs(&h.elements());
                            self.node(at, Kind::Hash(pairs))
                        }
                        None => self.expr(&element),
                    });
                }
                let items = leak_slice(items);
                self.node(at, if splat { Kind::ArraySplat(items) } else { Kind::Array(items) })
            }
            P::SplatNode { .. } => {
                let inner = match cast!(node, as_splat_node).expression() {
                    Some(e) => self.expr(&e),
                    None => self.anonymous(at, b"*"),
                };
                self.node(at, Kind::Splat(inner))
            }
            P::HashNode { .. } => {
                let pairs = self.pairs(&cast!(node, as_hash_node).elements());
                self.node(at, Kind::Hash(pairs))
            }
            P::KeywordHashNode { .. } => {
                let pairs = self.pairs(&cast!(node, as_keyword_hash_node).elements());
                self.node(at, Kind::Hash(pairs))
            }
            P::RangeNode { .. } => {
                let n = cast!(node, as_range_node);
                let lo = self.optional(n.left(), at);
                let hi = self.optional(n.right(), at);
                self.node(at, Kind::Range(lo, hi, n.is_exclude_end()))
            }
            P::ImplicitNode { .. } => self.expr(&cast!(node, as_implicit_node).value()),
            P::ParenthesesNode { .. } => {
                let n = cast!(node, as_parentheses_node);
                self.optional(n.body(), at)
            }
            P::StatementsNode { .. } => self.statements(&cast!(node, as_statements_node)),
            P::BeginNode { .. } => self.begin(&cast!(node, as_begin_node)),
            P::EmbeddedStatementsNode { .. } => {
                let n = cast!(node, as_embedded_statements_node);
                self.maybe_statements(n.statements(), at)
            }
            P::EmbeddedVariableNode { .. } => {
                self.expr(&cast!(node, as_embedded_variable_node).variable())
            }
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
                self.node(at, Kind::ConstIn(scope, name))
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
            P::CallNode { .. } => self.call(&cast!(node, as_call_node)),
            P::SuperNode { .. } => self.super_call(&cast!(node, as_super_node)),
            P::ForwardingSuperNode { .. } => self.zsuper(&cast!(node, as_forwarding_super_node)),
            P::YieldNode { .. } => {
                let args = self.args(cast!(node, as_yield_node).arguments(), None);
                self.node(at, Kind::Yield(leak(args)))
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
                self.node(at, Kind::If(test, yes, no))
            }
            P::UnlessNode { .. } => {
                let n = cast!(node, as_unless_node);
                let test = self.expr(&n.predicate());
                let yes = self.maybe_statements(n.statements(), at);
                let no = match n.else_clause() {
                    Some(e) => self.maybe_statements(e.statements(), at),
                    None => self.nil(at),
                };
                self.node(at, Kind::If(test, no, yes))
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
                let target = leak(self.target(&n.index()));
                let body = self.looped(|s| s.maybe_statements(n.statements(), at));
                self.node(at, Kind::For(target, collection, body))
            }
            P::CaseNode { .. } => self.case(&cast!(node, as_case_node)),
            P::CaseMatchNode { .. } => self.case_in(&cast!(node, as_case_match_node)),
            P::MatchPredicateNode { .. } => {
                let n = cast!(node, as_match_predicate_node);
                let value = self.expr(&n.value());
                let pat = leak(self.pattern(&n.pattern()));
                self.node(at, Kind::MatchPat(value, pat))
            }
            P::MatchRequiredNode { .. } => {
                let n = cast!(node, as_match_required_node);
                let value = self.expr(&n.value());
                let pat = leak(self.pattern(&n.pattern()));
                self.node(at, Kind::MatchReq(value, pat))
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
                self.node(at, Kind::MatchWrite(call, leak_slice(vars)))
            }
            P::MultiWriteNode { .. } => {
                let n = cast!(node, as_multi_write_node);
                let multi = self.multi(&n.lefts(), n.rest(), &n.rights());
                let value = self.expr(&n.value());
                self.node(at, Kind::Masgn(multi, value))
            }
            P::RescueModifierNode { .. } => {
                let n = cast!(node, as_rescue_modifier_node);
                let body = self.expr(&n.expression());
                let rescue =
                    Rescue { classes: &[], target: None, body: self.expr(&n.rescue_expression()) };
                let begin = Begin {
                    body,
                    rescues: leak_slice(vec![rescue]),
                    else_body: None,
                    ensure: None,
                };
                self.node(at, Kind::Begin(leak(begin)))
            }
            P::DefNode { .. } => self.def(&cast!(node, as_def_node)),
            P::ClassNode { .. } => {
                let n = cast!(node, as_class_node);
                let (scope, name) = self.const_scope(&n.constant_path());
                let superclass = n.superclass().map(|s| self.expr(&s));
                let code = self.class_body(&n.location(), &n.locals(), n.body(), name);
                self.node(at, Kind::Class(leak(ClassNode { scope, name, superclass, code })))
            }
            P::ModuleNode { .. } => {
                let n = cast!(node, as_module_node);
                let (scope, name) = self.const_scope(&n.constant_path());
                let code = self.class_body(&n.location(), &n.locals(), n.body(), name);
                self.node(at, Kind::Module(leak(ClassNode { scope, name, superclass: None, code })))
            }
            P::SingletonClassNode { .. } => {
                let n = cast!(node, as_singleton_class_node);
                let object = self.expr(&n.expression());
                let name = self.syms.intern(b"singleton class");
                let code = self.class_body(&n.location(), &n.locals(), n.body(), name);
                self.node(at, Kind::SClass(object, code))
            }
            P::LambdaNode { .. } => {
                let code = self.lambda(&cast!(node, as_lambda_node));
                self.node(at, Kind::Lambda(code))
            }
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
            P::AliasMethodNode { .. } => {
                let n = cast!(node, as_alias_method_node);
                let (new, old) = (self.expr(&n.new_name()), self.expr(&n.old_name()));
                self.node(at, Kind::Alias(new, old))
            }
            P::AliasGlobalVariableNode { .. } => {
                let n = cast!(node, as_alias_global_variable_node);
                let new = self.syms.intern(n.new_name().location().as_slice());
                let old = self.syms.intern(n.old_name().location().as_slice());
                self.node(at, Kind::GAlias(new, old))
            }
            P::UndefNode { .. } => {
                let names =
                    cast!(node, as_undef_node).names().iter().map(|n| self.expr(&n)).collect();
                self.node(at, Kind::Undef(leak_slice(names)))
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
            P::PostExecutionNode { .. } => {
                let n = cast!(node, as_post_execution_node);
                self.scopes.push(Scope { block: true, ..Scope::default() });
                let body = self.maybe_statements(n.statements(), at);
                let name = self.syms.intern(b"block");
                let end = n.location().end();
                let code =
                    self.close(CodeKind::Block, name, no_params(), body, Vec::new(), at, end);
                self.node(at, Kind::PostExe(code, leak(Cell::new(false))))
            }
            P::DefinedNode { .. } => {
                let inner = self.expr(&cast!(node, as_defined_node).value());
                self.node(at, Kind::Defined(inner))
            }
            P::SourceFileNode { .. } => {
                let n = cast!(node, as_source_file_node);
                self.string(at, n.filepath(), 0, false)
            }
            P::SourceLineNode { .. } => {
                let line = node.location().start_line();
                self.node(at, Kind::Int(i64::from(line)))
            }
            P::SourceEncodingNode { .. } => self.node(at, Kind::Encoding),
            P::ItLocalVariableReadNode { .. } => self.nil(at),
            _ => self.combine(node, at),
        }
    }

    /// The operator, or- and and-writes.
    fn combine(&mut self, node: &P<'_>, at: u32) -> N {
        macro_rules! simple {
            ($f:ident, $or:ident, $and:ident, $op:ident) => {
                if let Some(n) = node.$or() {
                    return self.$f(at, &n.name(), &Combine::Or, &n.value());
                }
                if let Some(n) = node.$and() {
                    return self.$f(at, &n.name(), &Combine::And, &n.value());
                }
                if let Some(n) = node.$op() {
                    let op = Combine::Op(n.binary_operator().as_slice().to_vec());
                    return self.$f(at, &n.name(), &op, &n.value());
                }
            };
        }
        if let Some(n) = node.as_local_variable_or_write_node() {
            return self.local_combine(
                at,
                n.name().as_slice(),
                n.depth(),
                &Combine::Or,
                &n.value(),
            );
        }
        if let Some(n) = node.as_local_variable_and_write_node() {
            return self.local_combine(
                at,
                n.name().as_slice(),
                n.depth(),
                &Combine::And,
                &n.value(),
            );
        }
        if let Some(n) = node.as_local_variable_operator_write_node() {
            let op = Combine::Op(n.binary_operator().as_slice().to_vec());
            return self.local_combine(at, n.name().as_slice(), n.depth(), &op, &n.value());
        }
        simple!(
            ivar_combine,
            as_instance_variable_or_write_node,
            as_instance_variable_and_write_node,
            as_instance_variable_operator_write_node
        );
        simple!(
            gvar_combine,
            as_global_variable_or_write_node,
            as_global_variable_and_write_node,
            as_global_variable_operator_write_node
        );
        simple!(
            cvar_combine,
            as_class_variable_or_write_node,
            as_class_variable_and_write_node,
            as_class_variable_operator_write_node
        );
        simple!(
            const_combine,
            as_constant_or_write_node,
            as_constant_and_write_node,
            as_constant_operator_write_node
        );
        if let Some(n) = node.as_constant_path_or_write_node() {
            return self.path_combine(at, &n.target(), &Combine::Or, &n.value());
        }
        if let Some(n) = node.as_constant_path_and_write_node() {
            return self.path_combine(at, &n.target(), &Combine::And, &n.value());
        }
        if let Some(n) = node.as_constant_path_operator_write_node() {
            let op = Combine::Op(n.binary_operator().as_slice().to_vec());
            return self.path_combine(at, &n.target(), &op, &n.value());
        }
        if let Some(n) = node.as_call_or_write_node() {
            return self.attr_combine(
                at,
                n.receiver(),
                n.is_safe_navigation(),
                n.is_ignore_visibility(),
                &n.read_name(),
                &n.write_name(),
                &Combine::Or,
                &n.value(),
            );
        }
        if let Some(n) = node.as_call_and_write_node() {
            return self.attr_combine(
                at,
                n.receiver(),
                n.is_safe_navigation(),
                n.is_ignore_visibility(),
                &n.read_name(),
                &n.write_name(),
                &Combine::And,
                &n.value(),
            );
        }
        if let Some(n) = node.as_call_operator_write_node() {
            let op = Combine::Op(n.binary_operator().as_slice().to_vec());
            return self.attr_combine(
                at,
                n.receiver(),
                n.is_safe_navigation(),
                n.is_ignore_visibility(),
                &n.read_name(),
                &n.write_name(),
                &op,
                &n.value(),
            );
        }
        if let Some(n) = node.as_index_or_write_node() {
            return self.index_combine(
                at,
                n.receiver(),
                n.arguments(),
                n.block(),
                &Combine::Or,
                &n.value(),
            );
        }
        if let Some(n) = node.as_index_and_write_node() {
            return self.index_combine(
                at,
                n.receiver(),
                n.arguments(),
                n.block(),
                &Combine::And,
                &n.value(),
            );
        }
        if let Some(n) = node.as_index_operator_write_node() {
            let op = Combine::Op(n.binary_operator().as_slice().to_vec());
            return self.index_combine(at, n.receiver(), n.arguments(), n.block(), &op, &n.value());
        }
        self.fail(&node.location(), "this syntax is not supported");
        self.nil(at)
    }
}

fn regex_flags(i: bool, x: bool, m: bool, n: bool, u: bool) -> u32 {
    u32::from(i) | u32::from(x) << 1 | u32::from(m) << 2 | u32::from(n) << 5 | u32::from(u) << 4
}
