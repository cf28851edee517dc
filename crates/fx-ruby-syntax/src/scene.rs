//! What can be seen from a place in a text: the local variables, and whether the call there has
//! a receiver. Like [`crate::spot`], needed only when an error is reported, so the text is parsed again.

use ruby_prism as p;
use ruby_prism::Visit;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Scene {
    /// Innermost scope first.
    pub locals: Vec<String>,
    /// The call at the place is written without a receiver, or with `self`.
    pub own_call: bool,
}

/// The scene at `pos`, the place a frame keeps.
pub fn scene(source: &[u8], pos: u32) -> Scene {
    let options = p::Options::default().version(p::Version::CRuby3_3).build();
    let result = p::parse_with_options(source, &options);
    let mut search = Search { pos, scopes: Vec::new(), own_call: false };
    search.visit(&result.node());
    let locals = search.scopes.into_iter().rev().flatten().collect();
    Scene { locals, own_call: search.own_call }
}

struct Search {
    pos: u32,
    scopes: Vec<Vec<String>>,
    own_call: bool,
}

impl Search {
    /// Enters a scope if the place is in it. What is no block hides what is around it.
    fn scope(&mut self, at: &p::Location<'_>, locals: &p::ConstantList<'_>, block: bool) {
        if !(at.start()..at.end()).contains(&self.pos) {
            return;
        }
        if !block {
            self.scopes.clear();
        }
        let names = locals.iter().map(|name| String::from_utf8_lossy(name.as_slice()).into_owned());
        self.scopes.push(names.collect());
    }
}

macro_rules! scopes {
    ($($visit:ident, $node:ident, $block:literal);* $(;)?) => {$(
        fn $visit(&mut self, node: &p::$node<'pr>) {
            self.scope(&node.location(), &node.locals(), $block);
            p::$visit(self, node);
        }
    )*};
}

impl<'pr> Visit<'pr> for Search {
    scopes! {
        visit_program_node, ProgramNode, false;
        visit_def_node, DefNode, false;
        visit_class_node, ClassNode, false;
        visit_module_node, ModuleNode, false;
        visit_singleton_class_node, SingletonClassNode, false;
        visit_block_node, BlockNode, true;
        visit_lambda_node, LambdaNode, true;
    }

    fn visit_call_node(&mut self, node: &p::CallNode<'pr>) {
        if node.message_loc().is_some_and(|at| at.start() == self.pos) {
            let receiver = node.receiver();
            self.own_call = receiver.is_none_or(|receiver| receiver.as_self_node().is_some());
        }
        p::visit_call_node(self, node);
    }
}

#[cfg(test)]
mod tests {
    use super::scene;

    #[track_caller]
    fn check(marked: &str, locals: &[&str], own_call: bool) {
        let pos = marked.find('`').expect("a mark");
        let found = scene(marked.replace('`', "").as_bytes(), pos as u32);
        assert_eq!(
            (found.locals.as_slice(), found.own_call),
            (locals.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>().as_slice(), own_call,),
            "{marked}"
        );
    }

    #[test]
    fn blocks_see_what_is_around_them_and_methods_do_not() {
        check("a = 1; `foo", &["a"], true);
        check("a = 1; [1].each { |b| c = 2; `foo }", &["b", "c", "a"], true);
        check("a = 1; def m(b); `foo; end", &["b"], true);
        check("a = 1; class A; b = 1; self.`foo; end", &["b"], true);
    }

    #[test]
    fn a_call_with_a_receiver_is_not_own() {
        check("a = 1; a.`foo", &["a"], false);
        check("self.`foo(1)", &[], true);
    }
}
