//! XML documents: read, written, and asked by a small part of XPath.
//!
//! A document is a list of nodes that name each other by number. Entities other than the
//! five of XML itself are kept as they stand; nothing outside the document is ever read.

use super::xpath::Expr;

/// A node by number.
pub(crate) type Id = usize;

/// Deepest nesting that is read.
const MAX_DEPTH: usize = 500;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Element {
        name: String,
        attributes: Vec<(String, String)>,
        children: Vec<Id>,
    },
    /// Characters, entities resolved.
    Text(String),
    /// Comments, instructions, character data, the type: as they stand.
    Raw(String),
}

/// A document; node 0 holds what stands at the top.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    nodes: Vec<Node>,
    declaration: Option<String>,
}

/// One step of a path: a name, whether any depth will do, and what must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) any_depth: bool,
    pub(crate) tests: Vec<Test>,
}

/// What a node must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    Attribute(String, Option<String>),
    Child(String, String),
    Text(String),
    Position(usize),
    /// Anything more; such a path selects but cannot be built.
    Holds(Expr),
}

impl Document {
    pub(crate) fn new() -> Document {
        Document { nodes: vec![element("", Vec::new())], declaration: None }
    }

    /// Reads a document; an empty text is an empty document.
    pub(crate) fn parse(text: &str) -> Option<Document> {
        let mut document = Document::new();
        let mut rest = text.trim_start_matches('\u{feff}').trim_start();
        if rest.starts_with("<?xml") {
            let end = rest.find("?>")? + 2;
            document.declaration = Some(rest[..end].to_owned());
            rest = rest[end..].trim_start();
        }
        let mut open: Vec<Id> = vec![0];
        while !rest.is_empty() {
            let parent = *open.last()?;
            if !rest.starts_with('<') {
                let end = rest.find('<').unwrap_or(rest.len());
                if parent != 0 {
                    document.append(parent, Node::Text(decoded(&rest[..end])));
                } else if !rest[..end].trim().is_empty() {
                    return None;
                }
                rest = &rest[end..];
                continue;
            }
            let raw = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
            if let Some((_, close)) = raw.iter().find(|(start, _)| rest.starts_with(start)) {
                let end = rest.find(close)? + close.len();
                document.append(parent, Node::Raw(rest[..end].to_owned()));
                rest = &rest[end..];
            } else if rest.starts_with("<!") {
                let end = doctype_end(rest)?;
                document.append(parent, Node::Raw(rest[..end].to_owned()));
                rest = &rest[end..];
            } else if let Some(tail) = rest.strip_prefix("</") {
                let end = tail.find('>')?;
                let Node::Element { name, .. } = &document.nodes[parent] else { return None };
                if parent == 0 || *name != tail[..end].trim_end() {
                    return None;
                }
                open.pop();
                rest = &tail[end + 1..];
            } else {
                let (name, attributes, closed, tail) = tag(&rest[1..])?;
                let id = document.append(parent, element(&name, attributes));
                if !closed {
                    if open.len() > MAX_DEPTH {
                        return None;
                    }
                    open.push(id);
                }
                rest = tail;
            }
        }
        (open.len() == 1).then_some(document)
    }

    /// The document as text.
    pub(crate) fn to_text(&self) -> String {
        let mut out =
            self.declaration.clone().unwrap_or_else(|| "<?xml version=\"1.0\"?>".to_owned());
        out.push('\n');
        for child in self.children(0) {
            self.write(*child, &mut out);
            out.push('\n');
        }
        out
    }

    fn write(&self, id: Id, out: &mut String) {
        match &self.nodes[id] {
            Node::Text(text) => out.push_str(&escaped(text, false)),
            Node::Raw(text) => out.push_str(text),
            Node::Element { name, attributes, children } => {
                out.push('<');
                out.push_str(name);
                for (key, value) in attributes {
                    out.push_str(&format!(" {key}=\"{}\"", escaped(value, true)));
                }
                if children.is_empty() {
                    out.push_str("/>");
                    return;
                }
                out.push('>');
                for child in children {
                    self.write(*child, out);
                }
                out.push_str(&format!("</{name}>"));
            }
        }
    }

    pub(crate) fn children(&self, id: Id) -> &[Id] {
        match &self.nodes[id] {
            Node::Element { children, .. } => children,
            _ => &[],
        }
    }

    fn children_mut(&mut self, id: Id) -> Option<&mut Vec<Id>> {
        match &mut self.nodes[id] {
            Node::Element { children, .. } => Some(children),
            _ => None,
        }
    }

    pub(crate) fn append(&mut self, parent: Id, node: Node) -> Id {
        self.nodes.push(node);
        let id = self.nodes.len() - 1;
        if let Some(children) = self.children_mut(parent) {
            children.push(id);
        }
        id
    }

    pub(crate) fn root(&self) -> Option<Id> {
        self.children(0).iter().copied().find(|id| matches!(self.nodes[*id], Node::Element { .. }))
    }

    /// Copies a tree of another document under a node.
    pub(crate) fn graft(&mut self, parent: Id, other: &Document, from: Id) {
        let node = match &other.nodes[from] {
            Node::Element { name, attributes, .. } => element(name, attributes.clone()),
            leaf => leaf.clone(),
        };
        let id = self.append(parent, node);
        for child in other.children(from) {
            self.graft(id, other, *child);
        }
    }

    pub(crate) fn remove(&mut self, parent: Id, child: Id) {
        if let Some(children) = self.children_mut(parent) {
            children.retain(|id| *id != child);
        }
    }

    /// The child of a node that is the same tree, blanks around text aside.
    pub(crate) fn same_child(&self, parent: Id, other: &Document, tree: Id) -> Option<Id> {
        self.children(parent).iter().copied().find(|id| self.same(*id, other, tree))
    }

    pub(crate) fn same(&self, id: Id, other: &Document, tree: Id) -> bool {
        match (&self.nodes[id], &other.nodes[tree]) {
            (
                Node::Element { name, attributes, .. },
                Node::Element { name: wanted, attributes: others, .. },
            ) => {
                let left = self.significant(id);
                let right = other.significant(tree);
                name == wanted
                    && attributes.len() == others.len()
                    && attributes.iter().all(|pair| others.contains(pair))
                    && left.len() == right.len()
                    && left.iter().zip(&right).all(|(one, two)| self.same(*one, other, *two))
            }
            (Node::Text(text), Node::Text(wanted)) => text.trim() == wanted.trim(),
            (Node::Raw(text), Node::Raw(wanted)) => text == wanted,
            _ => false,
        }
    }

    // Children other than blanks.
    fn significant(&self, id: Id) -> Vec<Id> {
        let blank =
            |id: &Id| matches!(&self.nodes[*id], Node::Text(text) if text.trim().is_empty());
        self.children(id).iter().copied().filter(|id| !blank(id)).collect()
    }

    /// The characters directly in a node.
    pub(crate) fn text(&self, id: Id) -> String {
        let texts = self.children(id).iter().filter_map(|child| match &self.nodes[*child] {
            Node::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Replaces the characters directly in a node.
    pub(crate) fn set_text(&mut self, id: Id, text: &str) {
        let kept: Vec<Id> = self
            .children(id)
            .iter()
            .copied()
            .filter(|child| !matches!(self.nodes[*child], Node::Text(_)))
            .collect();
        if let Some(children) = self.children_mut(id) {
            *children = kept;
        }
        if !text.is_empty() {
            self.add_text(id, text);
        }
    }

    /// Adds characters: after those a node begins with.
    pub(crate) fn add_text(&mut self, id: Id, text: &str) {
        if let Some(first) = self.children(id).first().copied()
            && let Node::Text(old) = &mut self.nodes[first]
        {
            old.push_str(text);
            return;
        }
        self.nodes.push(Node::Text(text.to_owned()));
        let new = self.nodes.len() - 1;
        if let Some(children) = self.children_mut(id) {
            children.insert(0, new);
        }
    }

    pub(crate) fn attribute(&self, id: Id, name: &str) -> Option<&str> {
        match &self.nodes[id] {
            Node::Element { attributes, .. } => {
                attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
            }
            _ => None,
        }
    }

    /// Sets an attribute, or removes it.
    pub(crate) fn set_attribute(&mut self, id: Id, name: &str, value: Option<&str>) {
        let Node::Element { attributes, .. } = &mut self.nodes[id] else { return };
        match (attributes.iter_mut().find(|(key, _)| key == name), value) {
            (Some(pair), Some(value)) => value.clone_into(&mut pair.1),
            (None, Some(value)) => attributes.push((name.to_owned(), value.to_owned())),
            (_, None) => attributes.retain(|(key, _)| key != name),
        }
    }

    /// The elements a path selects.
    pub(crate) fn select(&self, steps: &[Step]) -> Vec<Id> {
        let mut found = vec![0];
        for step in steps {
            let mut next = Vec::new();
            for id in found {
                let mut candidates = Vec::new();
                self.candidates(id, step, &mut candidates);
                let mut position = 0;
                candidates.retain(|id| {
                    let holds = step.tests.iter().all(|test| self.holds(*id, test));
                    position += usize::from(holds);
                    let at = step.tests.iter().find_map(|test| match test {
                        Test::Position(wanted) => Some(*wanted),
                        _ => None,
                    });
                    holds && at.is_none_or(|wanted| wanted == position)
                });
                for id in candidates {
                    if !next.contains(&id) {
                        next.push(id);
                    }
                }
            }
            found = next;
        }
        found
    }

    fn candidates(&self, id: Id, step: &Step, out: &mut Vec<Id>) {
        for child in self.children(id) {
            if let Node::Element { name, .. } = &self.nodes[*child] {
                if step.name == "*" || *name == step.name {
                    out.push(*child);
                }
                if step.any_depth {
                    self.candidates(*child, step, out);
                }
            }
        }
    }

    fn holds(&self, id: Id, test: &Test) -> bool {
        match test {
            Test::Attribute(name, wanted) => self
                .attribute(id, name)
                .is_some_and(|value| wanted.as_ref().is_none_or(|wanted| wanted == value)),
            Test::Child(name, text) => self.children(id).iter().any(|child| {
                matches!(&self.nodes[*child], Node::Element { name: known, .. } if known == name)
                    && self.text(*child) == *text
            }),
            Test::Text(text) => self.text(id) == *text,
            Test::Position(_) => true,
            Test::Holds(expr) => expr.holds(self, id),
        }
    }

    /// Child elements of a name.
    pub(super) fn child_elements(&self, id: Id, name: &str) -> Vec<Id> {
        let wanted = |child: &Id| matches!(&self.nodes[*child], Node::Element { name: known, .. } if known == name);
        self.children(id).iter().copied().filter(wanted).collect()
    }

    /// Makes what a path names, where it is not there; whether anything was made.
    pub(crate) fn build(&mut self, steps: &[Step]) -> bool {
        let mut at = 0;
        let mut made = false;
        for step in steps {
            let here = self.children(at).iter().copied().find(|id| {
                matches!(&self.nodes[*id], Node::Element { name, .. } if *name == step.name)
                    && step.tests.iter().all(|test| self.holds(*id, test))
            });
            if let Some(id) = here {
                at = id;
                continue;
            }
            made = true;
            at = self.append(at, element(&step.name, Vec::new()));
            for test in &step.tests {
                match test {
                    Test::Attribute(name, value) => {
                        self.set_attribute(at, name, Some(value.as_deref().unwrap_or_default()));
                    }
                    Test::Child(name, text) => {
                        let child = self.append(at, element(name, Vec::new()));
                        self.append(child, Node::Text(text.clone()));
                    }
                    Test::Text(text) => self.add_text(at, text),
                    Test::Position(_) | Test::Holds(_) => {}
                }
            }
        }
        made
    }
}

fn element(name: &str, attributes: Vec<(String, String)>) -> Node {
    Node::Element { name: name.to_owned(), attributes, children: Vec::new() }
}

/// Reads a path of names and predicates; `None` for any other XPath.
pub(crate) fn path(text: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let any_depth = rest.starts_with("//");
        rest = rest.trim_start_matches('/').trim_start();
        rest = rest.strip_prefix("child::").unwrap_or(rest);
        let end = rest.find(['/', '[']).unwrap_or(rest.len());
        let name = rest[..end].trim().to_owned();
        if name.is_empty() || name.contains(['(', '@', ' ']) {
            return None;
        }
        rest = &rest[end..];
        let mut tests = Vec::new();
        while let Some(tail) = rest.strip_prefix('[') {
            let end = closing(tail)?;
            match split_tests(&tail[..end]).into_iter().map(test).collect::<Option<Vec<Test>>>() {
                Some(simple) => tests.extend(simple),
                None => tests.push(Test::Holds(Expr::parse(&tail[..end])?)),
            }
            rest = tail[end + 1..].trim_start();
        }
        steps.push(Step { name, any_depth, tests });
    }
    (!steps.is_empty()).then_some(steps)
}

fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, ']') => return Some(at),
            _ => {}
        }
    }
    None
}

fn split_tests(text: &str) -> Vec<&str> {
    text.split('|').flat_map(|part| part.split(" and ")).map(str::trim).collect()
}

fn test(text: &str) -> Option<Test> {
    if let Ok(position) = text.parse() {
        return Some(Test::Position(position));
    }
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => {
            let value = value.trim();
            let bare = value.trim_matches(['"', '\'']);
            (name.trim(), Some(bare.to_owned()))
        }
        None => (text, None),
    };
    // Operators and functions are for the larger grammar.
    let plain = |text: &str| {
        let bare = text.trim_start_matches('@');
        bare == "text()" || !bare.contains(['(', ')', '!', '<', '>', '"', '\'', '/', ' ', '@'])
    };
    if !plain(name) || value.as_ref().is_some_and(|value| value.contains(['"', '\''])) {
        return None;
    }
    match (name.strip_prefix('@'), value) {
        (Some(name), value) => Some(Test::Attribute(name.trim().to_owned(), value)),
        (None, Some(value)) if name == "text()" => Some(Test::Text(value)),
        (None, Some(value)) => Some(Test::Child(name.to_owned(), value)),
        (None, None) => None,
    }
}

/// A start tag without its first mark: name, attributes, whether it closes itself, the rest.
type Tag<'t> = (String, Vec<(String, String)>, bool, &'t str);

fn tag(text: &str) -> Option<Tag<'_>> {
    let end = text.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'))?;
    let name = text[..end].to_owned();
    if name.is_empty() {
        return None;
    }
    let mut rest = text[end..].trim_start();
    let mut attributes = Vec::new();
    loop {
        if let Some(tail) = rest.strip_prefix("/>") {
            return Some((name, attributes, true, tail));
        }
        if let Some(tail) = rest.strip_prefix('>') {
            return Some((name, attributes, false, tail));
        }
        let equals = rest.find('=')?;
        let key = rest[..equals].trim().to_owned();
        if key.is_empty() || key.contains(['<', '>', '"', '\'']) {
            return None;
        }
        let tail = rest[equals + 1..].trim_start();
        let quote = tail.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let close = tail[1..].find(quote)? + 1;
        attributes.push((key, decoded(&tail[1..close])));
        rest = tail[close + 1..].trim_start();
    }
}

fn doctype_end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            '>' if depth == 0 => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn decoded(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}

fn escaped(text: &str, attribute: bool) -> String {
    let out = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    if attribute { out.replace('"', "&quot;").replace('\n', "&#10;") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_written_as_it_was_read() {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- x --><a b=\"1 &lt; 2\">\n  <c/>text<![CDATA[<]]>\n</a>\n";
        let document = Document::parse(text).expect("reads");
        assert_eq!(document.to_text().replace("-->\n", "-->"), text);
        for broken in ["<a>", "<a></b>", "text", "<a b=c/>", "</a>"] {
            assert!(Document::parse(broken).is_none(), "{broken}");
        }
    }

    #[test]
    fn paths_select_and_build() {
        let mut document = Document::new();
        let steps = path("/Server/Host[ @name=\"x\" | Alias = y ]").expect("a path");
        assert!(document.build(&steps));
        assert!(!document.build(&steps));
        let expected = "<Server><Host name=\"x\"><Alias>y</Alias></Host></Server>";
        assert_eq!(document.to_text(), format!("<?xml version=\"1.0\"?>\n{expected}\n"));
        let table = [("//Host", 1), ("/Server/*", 1), ("/Host", 0), ("//Host[@name='z']", 0)];
        for (text, count) in table {
            assert_eq!(document.select(&path(text).expect("a path")).len(), count, "{text}");
        }
    }
}
