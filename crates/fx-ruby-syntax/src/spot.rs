//! The part of a line to underline when a call or a constant failed. The tree keeps where
//! things begin and not where they end, so the text is parsed again: nobody asks but an error
//! that is reported.

use std::ops::Range;

use ruby_prism as p;
use ruby_prism::Visit;

/// The bytes of `source` to underline for what stands at `pos`, the place a frame keeps. The
/// name distinguishes constants of one path, and the steps of an assignment with an operator.
/// Nothing where it would take more than one line.
pub fn spot(source: &[u8], pos: u32, name: &[u8]) -> Option<Range<usize>> {
    let options = p::Options::default().version(p::Version::CRuby3_3).build();
    let result = p::parse_with_options(source, &options);
    let mut search = Search { source, pos, name, named: None, call: None };
    search.visit(&result.node());
    let found = search.named.or(search.call)??;
    let range = found.start as usize..found.end as usize;
    (!source.get(range.clone())?.contains(&b'\n')).then_some(range)
}

/// What was found is nothing where the form is never underlined.
type Found = Option<Option<Range<u32>>>;

struct Search<'s> {
    source: &'s [u8],
    pos: u32,
    name: &'s [u8],
    /// Found by place and name.
    named: Found,
    /// The call at the place, whatever its name: `send` fails for the name it was given.
    call: Found,
}

/// An assignment that reads, combines and writes, and the names of its steps.
struct Steps<'n> {
    read: &'n [u8],
    write: &'n [u8],
    operator: &'n [u8],
    /// What is read: `.name` or `[index]`.
    target: Option<Range<u32>>,
    /// The operator and its `=`.
    sign: Range<u32>,
}

impl Search<'_> {
    /// From a call's operator to its name, or the name alone if the operator stands elsewhere.
    fn dotted(
        &self,
        operator: Option<p::Location<'_>>,
        message: &Range<u32>,
    ) -> Option<Range<u32>> {
        let Some(operator) = operator else { return Some(message.clone()) };
        if operator.as_slice() == b"::" {
            return None;
        }
        let between = self.source.get(operator.start() as usize..message.start as usize)?;
        let start = if between.contains(&b'\n') { message.start } else { operator.start() };
        Some(start..message.end)
    }

    fn steps(&mut self, start: u32, steps: &Steps<'_>) {
        if start != self.pos {
            return;
        }
        let Steps { read, write, operator, target, sign } = steps;
        self.named = if self.name == *read {
            Some(target.clone())
        } else if self.name == *write {
            Some(target.clone().map(|target| target.start..sign.end))
        } else if self.name == *operator {
            Some(Some(sign.start..sign.end - 1))
        } else {
            return;
        };
    }

    fn constant(&mut self, start: u32, name: &[u8], at: Range<u32>) {
        if start == self.pos && name == self.name {
            self.named = Some(Some(at));
        }
    }
}

fn range(at: &p::Location<'_>) -> Range<u32> {
    at.start()..at.end()
}

/// Assignments to variables: only their operator is a call.
macro_rules! variables {
    ($($visit:ident, $node:ident);* $(;)?) => {$(
        fn $visit(&mut self, node: &p::$node<'pr>) {
            let steps = Steps {
                read: b"",
                write: b"",
                operator: node.binary_operator().as_slice(),
                target: None,
                sign: range(&node.binary_operator_loc()),
            };
            self.steps(node.location().start(), &steps);
            p::$visit(self, node);
        }
    )*};
}

macro_rules! attributes {
    ($($visit:ident, $node:ident, $sign:ident, $operator:expr);* $(;)?) => {$(
        fn $visit(&mut self, node: &p::$node<'pr>) {
            let operator: fn(&p::$node<'pr>) -> Vec<u8> = $operator;
            let message = node.message_loc().map(|at| range(&at));
            let steps = Steps {
                read: node.read_name().as_slice(),
                write: node.write_name().as_slice(),
                operator: &operator(node),
                target: message.and_then(|at| self.dotted(node.call_operator_loc(), &at)),
                sign: range(&node.$sign()),
            };
            self.steps(node.location().start(), &steps);
            p::$visit(self, node);
        }
    )*};
}

macro_rules! indexes {
    ($($visit:ident, $node:ident, $sign:ident, $operator:expr);* $(;)?) => {$(
        fn $visit(&mut self, node: &p::$node<'pr>) {
            let operator: fn(&p::$node<'pr>) -> Vec<u8> = $operator;
            let steps = Steps {
                read: b"[]",
                write: b"[]=",
                operator: &operator(node),
                target: Some(node.opening_loc().start()..node.closing_loc().end()),
                sign: range(&node.$sign()),
            };
            self.steps(node.location().start(), &steps);
            p::$visit(self, node);
        }
    )*};
}

impl<'pr> Visit<'pr> for Search<'_> {
    fn visit_call_node(&mut self, node: &p::CallNode<'pr>) {
        let message = node.message_loc().map(|at| range(&at));
        match message {
            Some(at) if at.start == self.pos => {
                let end = node.equal_loc().map_or(at.end, |equal| equal.end());
                let found = self.dotted(node.call_operator_loc(), &at);
                self.call = Some(found.map(|found| found.start..end));
            }
            None if node.location().start() == self.pos && self.name == b"call" => {
                self.named = Some(None);
            }
            _ => {}
        }
        p::visit_call_node(self, node);
    }

    fn visit_constant_read_node(&mut self, node: &p::ConstantReadNode<'pr>) {
        let at = node.location();
        self.constant(at.start(), node.name().as_slice(), range(&at));
    }

    fn visit_constant_path_node(&mut self, node: &p::ConstantPathNode<'pr>) {
        if let Some(name) = node.name() {
            let at = node.delimiter_loc().start()..node.name_loc().end();
            self.constant(node.location().start(), name.as_slice(), at);
        }
        p::visit_constant_path_node(self, node);
    }

    variables! {
        visit_local_variable_operator_write_node, LocalVariableOperatorWriteNode;
        visit_instance_variable_operator_write_node, InstanceVariableOperatorWriteNode;
        visit_global_variable_operator_write_node, GlobalVariableOperatorWriteNode;
        visit_class_variable_operator_write_node, ClassVariableOperatorWriteNode;
        visit_constant_operator_write_node, ConstantOperatorWriteNode;
    }

    attributes! {
        visit_call_operator_write_node, CallOperatorWriteNode, binary_operator_loc,
            |node| node.binary_operator().as_slice().to_vec();
        visit_call_or_write_node, CallOrWriteNode, operator_loc, |_| Vec::new();
        visit_call_and_write_node, CallAndWriteNode, operator_loc, |_| Vec::new();
    }

    indexes! {
        visit_index_operator_write_node, IndexOperatorWriteNode, binary_operator_loc,
            |node| node.binary_operator().as_slice().to_vec();
        visit_index_or_write_node, IndexOrWriteNode, operator_loc, |_| Vec::new();
        visit_index_and_write_node, IndexAndWriteNode, operator_loc, |_| Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::spot;

    /// The text has a mark before what fails, where a frame would point to.
    #[track_caller]
    fn check(marked: &str, name: &str, expected: Option<&str>) {
        let pos = marked.find('`').expect("a mark");
        let text = marked.replace('`', "");
        let found = spot(text.as_bytes(), pos as u32, name.as_bytes());
        assert_eq!(found.map(|at| &text[at]), expected, "{marked}");
    }

    #[test]
    fn calls_are_underlined_from_their_dot() {
        check("x.`foo(1).bar", "foo", Some(".foo"));
        check("x.foo(1).`bar", "bar", Some(".bar"));
        check("x&.`foo", "foo", Some("&.foo"));
        check("x\n  .`foo", "foo", Some(".foo"));
        check("x.\n  `foo", "foo", Some("foo"));
        check("`foo 1", "foo", Some("foo"));
        check("nil.`send(:zork)", "zork", Some(".send"));
        check("x.`foo  = 3", "foo=", Some(".foo  ="));
        check("x `<\n 1", "<", Some("<"));
        check("`-x", "-@", Some("-"));
        check("x::`foo", "foo", None);
        check("`x.()", "call", None);
    }

    #[test]
    fn indexes_are_underlined_if_they_fit_a_line() {
        check("x`[0]", "[]", Some("[0]"));
        check("x`[0]  = 1", "[]=", Some("[0]  ="));
        check("x`[0,\n 1]", "[]", None);
    }

    #[test]
    fn steps_of_an_assignment_are_told_apart() {
        check("`x.y += 1", "y", Some(".y"));
        check("`x.y += 1", "y=", Some(".y +="));
        check("`x.y += 1", "+", Some("+"));
        check("`x.y ||= 1", "y", Some(".y"));
        check("`x[1] <<= 1", "[]", Some("[1]"));
        check("`x[1] <<= 1", "[]=", Some("[1] <<="));
        check("`x[1] <<= 1", "<<", Some("<<"));
        check("`@x += 1", "+", Some("+"));
        check("`foo.y += 1", "foo", Some("foo"));
    }

    #[test]
    fn constants_of_a_path_are_told_apart() {
        check("`Foo::Bar::Baz", "Foo", Some("Foo"));
        check("`Foo::Bar::Baz", "Bar", Some("::Bar"));
        check("`Foo::Bar::Baz", "Baz", Some("::Baz"));
        check("`::Foo", "Foo", Some("::Foo"));
    }

    #[test]
    fn what_is_no_call_has_no_place() {
        check("def a; `super; end", "a", None);
        check("`@@x", "@@x", None);
        check("x = `1", "x", None);
    }
}
