//! What the tree knows of a text and its bytes do not show: where literals begin and end, which
//! names are local variables, where a hash or a lambda opens.

use std::ops::Range;

use ruby_prism as p;
use ruby_prism::Visit;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Lines;

/// What begins at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The opening mark of a literal: its event.
    Open(&'static str),
    Content,
    /// Indentation that a here document with `~` takes away.
    Indentation,
    /// Space between words.
    Separator,
    /// The closing mark: its event.
    Close(&'static str),
    InsertOpen,
    InsertClose,
    /// `#` before a variable in a text.
    InsertVariable,
    HeredocOpen,
    HeredocClose,
    Char,
    /// `name:`, where it is no symbol.
    Label,
    /// The colon of a plain symbol.
    Symbol,
    /// A name that is a local variable by then.
    Local,
    /// `{` that opens a hash or a pattern.
    HashOpen,
    LambdaOpen,
    /// The bracket after the parameters of a method.
    ParametersClose,
    /// `=>` or `in` before a pattern on one line, or `in` of a `case`.
    Pattern,
    /// `<` before a parent class, after which a command may stand.
    Parent,
    /// The name that a `def` defines.
    Defined,
    /// The same where it has a receiver.
    DefinedOn,
    /// The bar after the parameters of a block.
    BarsClose,
    /// A comma between the names of an `undef`.
    UndefComma,
    /// A name or a symbol's colon after `alias`, before the second name.
    Alias,
    AliasSymbol,
    /// The last name of an `alias`, or one of an `undef`.
    AliasLast,
    /// A name among the parameters of a method.
    Parameter,
    /// `...` among parameters.
    Forwarded,
}

#[derive(Default)]
pub(super) struct Marks {
    /// End and kind by start.
    pub(super) at: FxHashMap<u32, (u32, Mark)>,
    /// Where bodies of here documents begin, where their openings are, and where they end.
    pub(super) bodies: FxHashMap<u32, (u32, u32)>,
}

/// The bodies of all here documents, each with the line that ends it.
pub(super) fn heredocs(source: &[u8], root: &p::Node<'_>, lines: &Lines) -> Vec<Range<u32>> {
    let mut finder = Finder::new(source, lines);
    finder.visit(root);
    let mut found = finder.heredocs;
    found.sort_by_key(|body| body.start);
    found
}

pub(super) fn marks(source: &[u8], root: &p::Node<'_>, lines: &Lines) -> Marks {
    let mut finder = Finder::new(source, lines);
    finder.visit(root);
    finder.marks
}

struct Finder<'s> {
    source: &'s [u8],
    lines: &'s Lines,
    marks: Marks,
    heredocs: Vec<Range<u32>>,
    /// Names known so far; a block sees those around it.
    scopes: Vec<(bool, FxHashSet<Vec<u8>>)>,
    /// The names are those of a method's parameters.
    parameters: bool,
}

impl<'s> Finder<'s> {
    fn new(source: &'s [u8], lines: &'s Lines) -> Finder<'s> {
        Finder {
            source,
            lines,
            marks: Marks::default(),
            heredocs: Vec::new(),
            scopes: vec![(false, FxHashSet::default())],
            parameters: false,
        }
    }

    fn mark(&mut self, range: Range<u32>, mark: Mark) {
        if range.start < range.end {
            self.marks.at.insert(range.start, (range.end, mark));
        }
    }

    fn mark_at(&mut self, at: &p::Location<'_>, mark: Mark) {
        self.mark(at.start()..at.end(), mark);
    }

    /// A literal: marks, texts between the insertions.
    fn literal(
        &mut self,
        opening: &p::Location<'_>,
        closing: &p::Location<'_>,
        parts: &[p::Node<'_>],
        open: &'static str,
        close: &'static str,
    ) {
        let heredoc = opening.as_slice().starts_with(b"<<");
        let start = if heredoc {
            let first = parts.first().map_or(closing.start(), |part| part.location().start());
            self.lines.start(first.min(closing.start()))
        } else {
            opening.end()
        };
        if heredoc {
            self.mark_at(opening, Mark::HeredocOpen);
            self.mark_at(closing, Mark::HeredocClose);
            self.heredocs.push(start..closing.end());
            self.marks.bodies.insert(start, (opening.start(), closing.end()));
        } else {
            self.mark_at(opening, Mark::Open(open));
            self.mark_at(
                closing,
                Mark::Close(if closing.as_slice().ends_with(b":") { "label_end" } else { close }),
            );
        }
        let squiggly = opening.as_slice().starts_with(b"<<~");
        self.contents(start..closing.start(), parts, squiggly);
    }

    fn contents(&mut self, range: Range<u32>, parts: &[p::Node<'_>], squiggly: bool) {
        let mut texts = Vec::new();
        let mut start = range.start;
        for part in parts {
            if part.as_string_node().is_none() {
                texts.push(start..part.location().start());
                start = part.location().end();
            }
        }
        texts.push(start..range.end);
        if !squiggly {
            for text in texts {
                self.mark(text, Mark::Content);
            }
            return;
        }
        let width = self.shared_width(&range, &texts);
        for text in texts {
            let mut at = text.start;
            while at < text.end {
                let fresh = self.lines.place(at).1 == 0;
                let line = &self.source[at as usize..text.end as usize];
                let length = line.iter().position(|b| *b == b'\n').map_or(line.len(), |n| n + 1);
                let cut = if fresh { super::literals::prefix(&line[..length], width) } else { 0 };
                let (middle, end) = (at + cut as u32, at + length as u32);
                self.mark(at..middle, Mark::Indentation);
                self.mark(middle..end, Mark::Content);
                at = end;
            }
        }
    }

    fn shared_width(&self, range: &Range<u32>, texts: &[Range<u32>]) -> usize {
        let mut least = usize::MAX;
        let mut at = range.start;
        while at < range.end {
            let line = &self.source[at as usize..range.end as usize];
            let length = line.iter().position(|b| *b == b'\n').map_or(line.len(), |n| n + 1);
            // A line that begins in an insertion counts for nothing.
            if (texts.iter().any(|text| text.contains(&at)) || texts.iter().any(|t| t.start == at))
                && let Some(width) = super::literals::indentation(&line[..length])
            {
                least = least.min(width);
            }
            at += length as u32;
        }
        if least == usize::MAX { 0 } else { least }
    }

    fn words(&mut self, node: &p::ArrayNode<'_>, opening: &p::Location<'_>) {
        let event = match opening.as_slice().get(1) {
            Some(b'w') => "qwords_beg",
            Some(b'W') => "words_beg",
            Some(b'i') => "qsymbols_beg",
            _ => "symbols_beg",
        };
        self.mark_at(opening, Mark::Open(event));
        let Some(closing) = node.closing_loc() else { return };
        self.mark_at(&closing, Mark::Close("tstring_end"));
        let mut at = opening.end();
        for word in &node.elements() {
            let place = word.location();
            self.mark(at..place.start(), Mark::Separator);
            at = place.end();
            let parts: Vec<p::Node<'_>> = if let Some(it) = word.as_interpolated_string_node() {
                it.parts().iter().collect()
            } else if let Some(it) = word.as_interpolated_symbol_node() {
                it.parts().iter().collect()
            } else {
                Vec::new()
            };
            self.contents(place.start()..place.end(), &parts, false);
        }
        self.mark(at..closing.start(), Mark::Separator);
    }

    fn name(&mut self, at: &p::Location<'_>) {
        let name = at.as_slice();
        let name = name.strip_suffix(b":").unwrap_or(name).to_vec();
        let plain = at.as_slice() == name;
        if plain && self.known(&name) {
            self.mark_at(at, Mark::Local);
        } else if plain && self.parameters {
            self.mark_at(at, Mark::Parameter);
        }
        if let Some((_, names)) = self.scopes.last_mut() {
            names.insert(name);
        }
    }

    fn known(&self, name: &[u8]) -> bool {
        for (block, names) in self.scopes.iter().rev() {
            if names.contains(name) {
                return true;
            }
            if !block {
                return false;
            }
        }
        false
    }

    fn scoped(&mut self, block: bool, walk: impl FnOnce(&mut Self)) {
        self.scopes.push((block, FxHashSet::default()));
        walk(self);
        self.scopes.pop();
    }

    fn key(&mut self, node: &p::Node<'_>) {
        if let Some(symbol) = node.as_symbol_node().filter(|it| it.opening_loc().is_none()) {
            self.mark_at(&symbol.location(), Mark::Label);
        }
    }
}

macro_rules! local_writes {
    ($($visit:ident, $node:ident);* $(;)?) => {$(
        fn $visit(&mut self, node: &p::$node<'pr>) {
            self.name(&node.name_loc());
            p::$visit(self, node);
        }
    )*};
}

macro_rules! local_places {
    ($($visit:ident, $node:ident);* $(;)?) => {$(
        fn $visit(&mut self, node: &p::$node<'pr>) {
            self.name(&node.location());
        }
    )*};
}

macro_rules! texts {
    ($($visit:ident, $node:ident, $open:literal, $close:literal);* $(;)?) => {$(
        fn $visit(&mut self, node: &p::$node<'pr>) {
            let parts: Vec<_> = node.parts().iter().collect();
            self.literal(&node.opening_loc(), &node.closing_loc(), &parts, $open, $close);
            p::$visit(self, node);
        }
    )*};
}

macro_rules! plain_texts {
    ($($visit:ident, $node:ident, $open:literal, $close:literal);* $(;)?) => {$(
        fn $visit(&mut self, node: &p::$node<'pr>) {
            self.literal(&node.opening_loc(), &node.closing_loc(), &[], $open, $close);
            if node.opening_loc().as_slice().starts_with(b"<<") {
                self.plain_heredoc(&node.content_loc(), &node.opening_loc(), &node.closing_loc());
            }
        }
    )*};
}

impl Finder<'_> {
    /// The body of a here document without insertions.
    fn plain_heredoc(
        &mut self,
        content: &p::Location<'_>,
        opening: &p::Location<'_>,
        closing: &p::Location<'_>,
    ) {
        let start = self.lines.start(content.start().min(closing.start()));
        self.heredocs.pop();
        self.heredocs.push(start..closing.end());
        self.marks.bodies.retain(|_, (open, _)| *open != opening.start());
        self.marks.bodies.insert(start, (opening.start(), closing.end()));
        let squiggly = opening.as_slice().starts_with(b"<<~");
        self.contents(start..closing.start(), &[], squiggly);
    }

    fn symbol_open(opening: &p::Location<'_>) -> &'static str {
        if matches!(opening.as_slice(), b"\"" | b"'") { "tstring_beg" } else { "symbeg" }
    }
}

impl<'pr> Visit<'pr> for Finder<'_> {
    local_writes! {
        visit_local_variable_write_node, LocalVariableWriteNode;
        visit_local_variable_operator_write_node, LocalVariableOperatorWriteNode;
        visit_local_variable_and_write_node, LocalVariableAndWriteNode;
        visit_local_variable_or_write_node, LocalVariableOrWriteNode;
        visit_optional_parameter_node, OptionalParameterNode;
    }
    local_places! {
        visit_local_variable_target_node, LocalVariableTargetNode;
        visit_required_parameter_node, RequiredParameterNode;
        visit_block_local_variable_node, BlockLocalVariableNode;
    }
    texts! {
        visit_interpolated_x_string_node, InterpolatedXStringNode, "backtick", "tstring_end";
        visit_interpolated_regular_expression_node, InterpolatedRegularExpressionNode, "regexp_beg", "regexp_end";
        visit_interpolated_match_last_line_node, InterpolatedMatchLastLineNode, "regexp_beg", "regexp_end";
    }
    plain_texts! {
        visit_x_string_node, XStringNode, "backtick", "tstring_end";
        visit_regular_expression_node, RegularExpressionNode, "regexp_beg", "regexp_end";
        visit_match_last_line_node, MatchLastLineNode, "regexp_beg", "regexp_end";
    }

    fn visit_string_node(&mut self, node: &p::StringNode<'pr>) {
        let Some(opening) = node.opening_loc() else { return };
        if opening.as_slice() == b"?" {
            return self.mark_at(&node.location(), Mark::Char);
        }
        let Some(closing) = node.closing_loc() else { return };
        self.literal(&opening, &closing, &[], "tstring_beg", "tstring_end");
        if opening.as_slice().starts_with(b"<<") {
            self.plain_heredoc(&node.content_loc(), &opening, &closing);
        }
    }

    fn visit_interpolated_string_node(&mut self, node: &p::InterpolatedStringNode<'pr>) {
        if let (Some(opening), Some(closing)) = (node.opening_loc(), node.closing_loc()) {
            let parts: Vec<_> = node.parts().iter().collect();
            self.literal(&opening, &closing, &parts, "tstring_beg", "tstring_end");
        }
        p::visit_interpolated_string_node(self, node);
    }

    fn visit_symbol_node(&mut self, node: &p::SymbolNode<'pr>) {
        let Some(opening) = node.opening_loc() else { return };
        match node.closing_loc() {
            None => self.mark_at(&opening, Mark::Symbol),
            Some(closing) => {
                let event = Self::symbol_open(&opening);
                self.literal(&opening, &closing, &[], event, "tstring_end");
            }
        }
    }

    fn visit_interpolated_symbol_node(&mut self, node: &p::InterpolatedSymbolNode<'pr>) {
        if let (Some(opening), Some(closing)) = (node.opening_loc(), node.closing_loc()) {
            let parts: Vec<_> = node.parts().iter().collect();
            let event = Self::symbol_open(&opening);
            self.literal(&opening, &closing, &parts, event, "tstring_end");
        }
        p::visit_interpolated_symbol_node(self, node);
    }

    fn visit_embedded_statements_node(&mut self, node: &p::EmbeddedStatementsNode<'pr>) {
        self.mark_at(&node.opening_loc(), Mark::InsertOpen);
        self.mark_at(&node.closing_loc(), Mark::InsertClose);
        p::visit_embedded_statements_node(self, node);
    }

    fn visit_embedded_variable_node(&mut self, node: &p::EmbeddedVariableNode<'pr>) {
        self.mark_at(&node.operator_loc(), Mark::InsertVariable);
    }

    fn visit_array_node(&mut self, node: &p::ArrayNode<'pr>) {
        if let Some(opening) = node.opening_loc().filter(|at| at.as_slice().starts_with(b"%")) {
            self.words(node, &opening);
        }
        p::visit_array_node(self, node);
    }

    fn visit_assoc_node(&mut self, node: &p::AssocNode<'pr>) {
        self.key(&node.key());
        p::visit_assoc_node(self, node);
    }

    fn visit_hash_node(&mut self, node: &p::HashNode<'pr>) {
        self.mark_at(&node.opening_loc(), Mark::HashOpen);
        p::visit_hash_node(self, node);
    }

    fn visit_hash_pattern_node(&mut self, node: &p::HashPatternNode<'pr>) {
        if let Some(opening) = node.opening_loc().filter(|at| at.as_slice() == b"{") {
            self.mark_at(&opening, Mark::HashOpen);
        }
        p::visit_hash_pattern_node(self, node);
    }

    fn visit_local_variable_read_node(&mut self, node: &p::LocalVariableReadNode<'pr>) {
        // `_1` is one only from its second use on.
        let at = node.location();
        let name = at.as_slice();
        if !matches!(name, [b'_', b'1'..=b'9']) || self.known(name) {
            self.mark_at(&at, Mark::Local);
        } else {
            self.name(&at);
        }
    }

    fn visit_call_node(&mut self, node: &p::CallNode<'pr>) {
        if let (None, Some(message)) = (node.receiver(), node.message_loc())
            && self.known(message.as_slice())
        {
            self.mark_at(&message, Mark::Local);
        }
        p::visit_call_node(self, node);
    }

    fn visit_required_keyword_parameter_node(
        &mut self,
        node: &p::RequiredKeywordParameterNode<'pr>,
    ) {
        self.mark_at(&node.name_loc(), Mark::Label);
        self.name(&node.name_loc());
    }

    fn visit_optional_keyword_parameter_node(
        &mut self,
        node: &p::OptionalKeywordParameterNode<'pr>,
    ) {
        self.mark_at(&node.name_loc(), Mark::Label);
        self.name(&node.name_loc());
        p::visit_optional_keyword_parameter_node(self, node);
    }

    fn visit_parameters_node(&mut self, node: &p::ParametersNode<'pr>) {
        let method = self.scopes.last().is_some_and(|(block, _)| !block);
        self.parameters = method;
        p::visit_parameters_node(self, node);
        self.parameters = false;
    }

    fn visit_block_parameters_node(&mut self, node: &p::BlockParametersNode<'pr>) {
        if let Some(close) = node.closing_loc().filter(|at| at.as_slice() == b"|") {
            self.mark_at(&close, Mark::BarsClose);
        }
        p::visit_block_parameters_node(self, node);
    }

    fn visit_rest_parameter_node(&mut self, node: &p::RestParameterNode<'pr>) {
        if let Some(name) = node.name_loc() {
            self.name(&name);
        }
    }

    fn visit_keyword_rest_parameter_node(&mut self, node: &p::KeywordRestParameterNode<'pr>) {
        if let Some(name) = node.name_loc() {
            self.name(&name);
        }
    }

    fn visit_block_parameter_node(&mut self, node: &p::BlockParameterNode<'pr>) {
        if let Some(name) = node.name_loc() {
            self.name(&name);
        }
    }

    fn visit_forwarding_parameter_node(&mut self, node: &p::ForwardingParameterNode<'pr>) {
        self.mark_at(&node.location(), Mark::Forwarded);
    }

    fn visit_def_node(&mut self, node: &p::DefNode<'pr>) {
        let own = node.receiver().is_none();
        self.mark_at(&node.name_loc(), if own { Mark::Defined } else { Mark::DefinedOn });
        if let Some(close) = node.rparen_loc() {
            self.mark_at(&close, Mark::ParametersClose);
        }
        self.scoped(false, |finder| p::visit_def_node(finder, node));
    }

    fn visit_class_node(&mut self, node: &p::ClassNode<'pr>) {
        if let Some(at) = node.inheritance_operator_loc() {
            self.mark_at(&at, Mark::Parent);
        }
        self.scoped(false, |finder| p::visit_class_node(finder, node));
    }

    fn visit_module_node(&mut self, node: &p::ModuleNode<'pr>) {
        self.scoped(false, |finder| p::visit_module_node(finder, node));
    }

    fn visit_singleton_class_node(&mut self, node: &p::SingletonClassNode<'pr>) {
        self.mark_at(&node.operator_loc(), Mark::Parent);
        self.scoped(false, |finder| p::visit_singleton_class_node(finder, node));
    }

    fn visit_block_node(&mut self, node: &p::BlockNode<'pr>) {
        self.scoped(true, |finder| p::visit_block_node(finder, node));
    }

    fn visit_lambda_node(&mut self, node: &p::LambdaNode<'pr>) {
        if node.opening_loc().as_slice() == b"{" {
            self.mark_at(&node.opening_loc(), Mark::LambdaOpen);
        }
        self.scoped(true, |finder| p::visit_lambda_node(finder, node));
    }

    fn visit_in_node(&mut self, node: &p::InNode<'pr>) {
        self.mark_at(&node.in_keyword_loc(), Mark::Pattern);
        p::visit_in_node(self, node);
    }

    fn visit_match_predicate_node(&mut self, node: &p::MatchPredicateNode<'pr>) {
        self.mark_at(&node.keyword_loc(), Mark::Pattern);
        p::visit_match_predicate_node(self, node);
    }

    fn visit_match_required_node(&mut self, node: &p::MatchRequiredNode<'pr>) {
        self.mark_at(&node.operator_loc(), Mark::Pattern);
        p::visit_match_required_node(self, node);
    }

    fn visit_alias_method_node(&mut self, node: &p::AliasMethodNode<'pr>) {
        p::visit_alias_method_node(self, node);
        let names = [(node.new_name(), Mark::Alias), (node.old_name(), Mark::AliasLast)];
        for (name, mark) in names {
            let Some(symbol) = name.as_symbol_node() else { continue };
            match symbol.opening_loc() {
                None => self.mark_at(&symbol.location(), mark),
                Some(colon) if mark == Mark::Alias && symbol.closing_loc().is_none() => {
                    self.mark_at(&colon, Mark::AliasSymbol);
                }
                Some(_) => {}
            }
        }
    }

    fn visit_undef_node(&mut self, node: &p::UndefNode<'pr>) {
        let mut last: Option<u32> = None;
        for name in &node.names() {
            let at = name.location();
            let between = last.map_or(0..0, |last| last as usize..at.start() as usize);
            let comma = self.source[between].iter().position(|byte| *byte == b',');
            if let (Some(last), Some(comma)) = (last, comma) {
                let comma = last + comma as u32;
                self.mark(comma..comma + 1, Mark::UndefComma);
            }
            last = Some(at.end());
            if let Some(symbol) = name.as_symbol_node().filter(|it| it.opening_loc().is_none()) {
                self.mark_at(&symbol.location(), Mark::AliasLast);
            }
        }
        p::visit_undef_node(self, node);
    }
}
