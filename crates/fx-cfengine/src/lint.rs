//! Findings about policy that can be run but hardly means what it says: names that nothing
//! defines, and promises that can never be reached. Nothing is evaluated here.
//!
//! Names may come from outside a policy (the command line, augments, modules), so what is
//! not known for sure is only reported where a known name is so near that it must be meant.

mod abort;
mod classes;
mod names;
mod reach;
mod statements;
mod symbols;
mod variables;
mod words;

use fx_cfengine_syntax as ast;
use fx_source::{Diagnostic, FileId, SourceMap, nearest};

use crate::eval::Context;

/// What is wrong with the texts of a policy: one error for each mistake, and the names that lead
/// nowhere where all texts can be read. Nothing is evaluated.
pub fn texts(sources: &SourceMap, files: &[FileId]) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let mut trees = Vec::new();
    for id in files {
        let source = sources.file(*id);
        let (tree, errors) = statements::read(*id, source.bytes());
        out.extend(errors);
        out.extend(words::check(sources, *id, &tree));
        trees.push(tree);
    }
    if out.is_empty() {
        let names: Vec<String> =
            files.iter().map(|id| sources.file(*id).name().to_string()).collect();
        let names = names::Names::of(&trees, &names);
        for tree in &trees {
            names::check(&names, tree, &mut out);
        }
    }
    out.sort_by_key(Diagnostic::primary);
    out.dedup();
    out
}

/// What is wrong with one text, whatever the others of its policy define.
pub fn text(sources: &SourceMap, file: FileId) -> Vec<Diagnostic> {
    let (tree, mut out) = statements::read(file, sources.file(file).bytes());
    out.extend(words::check(sources, file, &tree));
    out.sort_by_key(Diagnostic::primary);
    out.dedup();
    out
}

/// The texts that can be run by themselves: what `promises.cf` does not include of those
/// that have a control body or a main bundle.
pub fn entries(sources: &SourceMap, files: &[FileId]) -> Vec<FileId> {
    let is = |id: &FileId, name: &str| {
        sources.file(*id).name().rsplit('/').next().is_some_and(|last| last == name)
    };
    // That of a directory further in is the policy of a test or an example.
    let depth = |id: &FileId| sources.file(*id).name().matches('/').count();
    let least = files.iter().map(depth).min();
    let top = files.iter().find(|id| is(id, "promises.cf") && Some(depth(id)) == least);
    if let Some(first) = top {
        return vec![*first];
    }
    let runs = |id: &&FileId| {
        let (tree, _) = ast::parse(**id, sources.file(**id).bytes());
        tree.blocks.iter().any(names::begins_a_run)
    };
    files.iter().filter(runs).copied().collect()
}

/// Everything that is to be said of the policy that was loaded.
pub(crate) fn findings(ctx: &Context<'_>) -> Vec<Diagnostic> {
    let trees: Vec<ast::File> =
        ctx.parsed.iter().map(|id| ast::parse(*id, ctx.sources.file(*id).bytes()).0).collect();
    let symbols = symbols::Symbols::of(&trees);
    let aborts = abort::patterns(&trees);
    let mut out = Vec::new();
    for tree in &trees {
        for block in &tree.blocks {
            variables::check(ctx, &symbols, block, &mut out);
            classes::check(ctx, &symbols, block, &mut out);
            reach::check(block, &mut out);
            abort::check(&aborts, block, &mut out);
        }
    }
    out.sort_by_key(Diagnostic::primary);
    out.dedup();
    out
}

/// Every value of a promise or body with what it stands for: the attribute's name and the
/// right-hand side, calls and lists taken apart.
fn walk<'t>(value: &'t ast::Rval, visit: &mut dyn FnMut(&'t ast::Rval), depth: usize) {
    visit(value);
    if depth > 32 {
        return;
    }
    let parts = match &value.kind {
        ast::RvalKind::List(items) => items,
        ast::RvalKind::Call { args, .. } => args,
        _ => return,
    };
    for part in parts {
        walk(part, visit, depth + 1);
    }
}

/// The text of a value that is one.
fn text_of(value: &ast::Rval) -> Option<&str> {
    match &value.kind {
        ast::RvalKind::Quoted(text) | ast::RvalKind::Naked(text) | ast::RvalKind::Bare(text) => {
            Some(text)
        }
        _ => None,
    }
}
