//! Literals: numbers, texts, regular expressions, lists, hashes and ranges.

use ruby_prism::Node as P;

use crate::ast::{Kind, N};
use crate::lower::expr::cast;
use crate::lower::{Lower, keep_all};

/// The flags of a regular expression, as the runtime numbers them. Four kinds of nodes have them.
macro_rules! flags {
    ($n:expr) => {
        u32::from($n.is_ignore_case())
            | u32::from($n.is_extended()) << 1
            | u32::from($n.is_multi_line()) << 2
            | u32::from($n.is_utf_8()) << 4
            | u32::from($n.is_ascii_8bit()) << 5
    };
}

impl Lower<'_> {
    /// Numbers, texts and expressions that stand for themselves.
    pub(super) fn literal(&mut self, node: &P<'_>, at: u32) -> Option<N> {
        Some(match node {
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
                    return Some(self.string(at, &bytes, enc, n.is_frozen()));
                }
                self.node(at, Kind::DStr(keep_all(parts)))
            }
            P::XStringNode { .. } => {
                let n = cast!(node, as_x_string_node);
                let text = self.string(at, n.unescaped(), 0, false);
                self.node(at, Kind::XStr(text))
            }
            P::InterpolatedXStringNode { .. } => {
                let parts = self.parts(&cast!(node, as_interpolated_x_string_node).parts());
                let text = self.node(at, Kind::DStr(keep_all(parts)));
                self.node(at, Kind::XStr(text))
            }
            P::SymbolNode { .. } => {
                let sym = self.syms.intern(cast!(node, as_symbol_node).unescaped());
                self.node(at, Kind::Sym(sym))
            }
            P::InterpolatedSymbolNode { .. } => {
                let parts = self.parts(&cast!(node, as_interpolated_symbol_node).parts());
                self.node(at, Kind::DSym(keep_all(parts)))
            }
            P::RegularExpressionNode { .. } => {
                let n = cast!(node, as_regular_expression_node);
                let flags = flags!(n);
                let text = self.string(at, n.unescaped(), 0, false);
                self.regex(at, vec![text], flags, true)
            }
            P::InterpolatedRegularExpressionNode { .. } => {
                let n = cast!(node, as_interpolated_regular_expression_node);
                let flags = flags!(n);
                let parts = self.parts(&n.parts());
                self.regex(at, parts, flags, n.is_once())
            }
            P::MatchLastLineNode { .. } => {
                let n = cast!(node, as_match_last_line_node);
                let flags = flags!(n);
                let text = self.string(at, n.unescaped(), 0, false);
                let regex = self.regex(at, vec![text], flags, true);
                self.node(at, Kind::MatchLast(regex))
            }
            P::InterpolatedMatchLastLineNode { .. } => {
                let n = cast!(node, as_interpolated_match_last_line_node);
                let flags = flags!(n);
                let parts = self.parts(&n.parts());
                let regex = self.regex(at, parts, flags, n.is_once());
                self.node(at, Kind::MatchLast(regex))
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
            _ => return None,
        })
    }

    /// Lists, hashes, ranges, and what only holds others together.
    pub(super) fn collection(&mut self, node: &P<'_>, at: u32) -> Option<N> {
        Some(match node {
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
                let items = keep_all(items);
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
            _ => return None,
        })
    }
}
