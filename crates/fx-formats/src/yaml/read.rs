//! Reading YAML: the events of a text, and values built from them. What is wrong with a text is
//! said in the words of libyaml.

use std::collections::HashMap;
use std::fmt;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Tag};

use super::flow_lines::flow_further_in;

/// Deepest nesting that is built.
const MAX_DEPTH: usize = 200;

/// Values that all aliases of a text may stand for together. They share what they stand for, but
/// whoever looks a value up walks through all of it.
const MAX_ALIASED: u64 = 2_000_000;

/// Why a text is not YAML.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Both from 1.
    pub line: usize,
    pub column: usize,
    pub what: String,
    /// What was being read.
    pub context: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.context {
            Some(context) => write!(out, "{} while {context}", self.what),
            None => out.write_str(&self.what),
        }
    }
}

impl Problem {
    fn new(text: &str, error: &ScanError) -> Problem {
        let open = open_bracket(text);
        let (what, context) = worded(error.info(), open.map(|open| open.kind));
        let context = match context {
            Some("parsing a node") if open.is_some() => Some("parsing a flow node"),
            Some("parsing a node") => Some("parsing a block node"),
            other => other,
        };
        let at = error.marker();
        let (line, column) = match (context, open) {
            (Some(SEQUENCE | MAPPING), Some(open)) => (open.line, open.column),
            _ => (at.line(), at.col() + 1),
        };
        Problem { line, column, what, context: context.map(str::to_owned) }
    }
}

const SEQUENCE: &str = "parsing a flow sequence";
const MAPPING: &str = "parsing a flow mapping";

/// What the parser says in libyaml's words: the problem, and what was being read. `open` is the
/// last bracket that is not closed.
fn worded(info: &str, open: Option<char>) -> (String, Option<&str>) {
    let is_tab = info.contains("must be followed by a valid YAML whitespace")
        || info.ends_with("found a tab");
    if is_tab {
        let problem = "found a tab character that violates indentation";
        return (problem.into(), Some("scanning a plain scalar"));
    }
    if info.starts_with("unexpected character") || info.starts_with("tabs disallowed") {
        let problem = "found character that cannot start any token";
        return (problem.into(), Some("scanning for the next token"));
    }
    if info.starts_with("illegal placement of ':'")
        && let Some(bracket) = open
    {
        let (end, context) = if bracket == '[' { (']', SEQUENCE) } else { ('}', MAPPING) };
        return (format!("did not find expected ',' or '{end}'"), Some(context));
    }
    match info.strip_prefix("while ").and_then(|rest| rest.split_once(", ")) {
        Some((context, problem)) if problem.starts_with("expected") => {
            (format!("did not find {problem}"), Some(context))
        }
        Some((context, problem)) => (problem.to_owned(), Some(context)),
        None => (info.to_owned(), None),
    }
}

#[derive(Clone, Copy)]
struct Bracket {
    kind: char,
    line: usize,
    column: usize,
}

/// The last bracket that is not closed.
fn open_bracket(text: &str) -> Option<Bracket> {
    let mut open = Vec::new();
    for (line, content) in text.lines().enumerate() {
        for (column, c) in content.chars().enumerate() {
            match c {
                '[' | '{' => {
                    open.push(Bracket { kind: c, line: line + 1, column: column + 1 });
                }
                ']' | '}' => drop(open.pop()),
                _ => {}
            }
        }
    }
    open.pop()
}

/// Reads a text; where the parser refuses it, once more with the lines of its flow collections
/// put further in.
fn reading<T>(text: &str, mut read: impl FnMut(&str) -> Result<T, Wrong>) -> Result<T, Wrong> {
    let refused = match read(text) {
        Err(Wrong::Text(problem)) => problem,
        other => return other,
    };
    match flow_further_in(text).map(|further| read(&further)) {
        Some(Ok(value)) => Ok(value),
        _ => Err(Wrong::Text(refused)),
    }
}

/// What is wrong with a text, if anything is.
pub fn problem(text: &str) -> Option<Problem> {
    let whole = |text: &str| match Parser::new_from_str(text).find_map(Result::err) {
        Some(error) => Err(Wrong::Text(Problem::new(text, &error))),
        None => Ok(()),
    };
    match reading(text, whole) {
        Err(Wrong::Text(problem)) => Some(problem),
        _ => None,
    }
}

/// A part of a text, with the number of its anchor (0 for none) and its tag.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Document,
    EndDocument,
    Alias(usize),
    Scalar { text: String, is_plain: bool, anchor: usize, tag: Option<String> },
    Sequence(usize, Option<String>),
    EndSequence,
    Mapping(usize, Option<String>),
    EndMapping,
}

/// All parts of a text.
pub fn items(text: &str) -> Result<Vec<Item>, Problem> {
    let all = |text: &str| {
        let mut items = Vec::new();
        for event in Parser::new_from_str(text) {
            let (event, _) = event.map_err(|error| Wrong::Text(Problem::new(text, &error)))?;
            items.extend(item(event));
        }
        Ok(items)
    };
    reading(text, all).map_err(|wrong| match wrong {
        Wrong::Text(problem) => problem,
        Wrong::TooDeep | Wrong::TooManyAliases(_) | Wrong::Refused(_) => {
            Problem { line: 0, column: 0, what: wrong.to_string(), context: None }
        }
    })
}

fn item(event: Event<'_>) -> Option<Item> {
    Some(match event {
        Event::DocumentStart(..) => Item::Document,
        Event::DocumentEnd => Item::EndDocument,
        Event::Alias(anchor) => Item::Alias(anchor),
        Event::Scalar(text, style, anchor, tag) => Item::Scalar {
            text: text.into_owned(),
            is_plain: style == ScalarStyle::Plain,
            anchor,
            tag: tag.as_deref().map(name),
        },
        Event::SequenceStart(anchor, tag) => Item::Sequence(anchor, tag.as_deref().map(name)),
        Event::SequenceEnd => Item::EndSequence,
        Event::MappingStart(anchor, tag) => Item::Mapping(anchor, tag.as_deref().map(name)),
        Event::MappingEnd => Item::EndMapping,
        _ => return None,
    })
}

fn name(tag: &Tag) -> String {
    format!("{}{}", tag.handle, tag.suffix)
}

/// Makes values of a language. What it refuses it says in words.
pub trait Make {
    type Value: Clone;

    fn scalar(
        &mut self,
        text: &str,
        is_plain: bool,
        tag: Option<&str>,
    ) -> Result<Self::Value, String>;
    fn list(&mut self, items: Vec<Self::Value>) -> Self::Value;
    fn map(
        &mut self,
        pairs: Vec<(Self::Value, Self::Value)>,
        tag: Option<&str>,
    ) -> Result<Self::Value, String>;

    /// A scalar that is the key of a mapping.
    fn key(
        &mut self,
        text: &str,
        is_plain: bool,
        tag: Option<&str>,
    ) -> Result<Self::Value, String> {
        self.scalar(text, is_plain, tag)
    }

    /// What an alias stands for.
    fn alias(&mut self, value: Self::Value) -> Self::Value {
        value
    }
}

/// Why no value could be built.
#[derive(Clone, Debug, PartialEq)]
pub enum Wrong {
    Text(Problem),
    TooDeep,
    /// In this line.
    TooManyAliases(usize),
    Refused(String),
}

impl fmt::Display for Wrong {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Text(at) => write!(out, "{at} at line {} column {}", at.line, at.column),
            Wrong::TooDeep => out.write_str("nesting is too deep"),
            Wrong::TooManyAliases(line) => {
                write!(out, "aliases stand for more than {MAX_ALIASED} values at line {line}")
            }
            Wrong::Refused(why) => out.write_str(why),
        }
    }
}

/// The value of the first document; nothing for a text without one.
pub fn build<M: Make>(text: &str, make: &mut M) -> Result<Option<M::Value>, Wrong> {
    reading(text, |text| Builder::new(make).build(text))
}

struct Builder<'a, M: Make> {
    make: &'a mut M,
    open: Vec<Open<M::Value>>,
    /// Values of anchors and how many values each stands for.
    anchors: HashMap<usize, (M::Value, u64)>,
    aliased: u64,
}

/// A collection that is not at its end.
struct Open<V> {
    anchor: usize,
    tag: Option<String>,
    size: u64,
    content: Content<V>,
}

enum Content<V> {
    List(Vec<V>),
    Map(Vec<(V, V)>, Option<V>),
}

impl<'a, M: Make> Builder<'a, M> {
    fn new(make: &'a mut M) -> Builder<'a, M> {
        Builder { make, open: Vec::new(), anchors: HashMap::new(), aliased: 0 }
    }

    fn build(mut self, text: &str) -> Result<Option<M::Value>, Wrong> {
        for event in Parser::new_from_str(text) {
            let (event, span) = event.map_err(|error| Wrong::Text(Problem::new(text, &error)))?;
            let (value, size) = match event {
                Event::DocumentEnd => break,
                Event::SequenceStart(anchor, tag) => {
                    self.start(anchor, tag.as_deref(), Content::List(Vec::new()))?;
                    continue;
                }
                Event::MappingStart(anchor, tag) => {
                    self.start(anchor, tag.as_deref(), Content::Map(Vec::new(), None))?;
                    continue;
                }
                Event::SequenceEnd | Event::MappingEnd => self.end()?,
                Event::Scalar(text, style, anchor, tag) => {
                    let value = self.scalar(&text, style == ScalarStyle::Plain, tag.as_deref())?;
                    self.keep(anchor, &value, 1);
                    (value, 1)
                }
                Event::Alias(anchor) => match self.alias(anchor) {
                    Some(known) => known,
                    None => return Err(Wrong::TooManyAliases(span.start.line())),
                },
                _ => continue,
            };
            if let Some(value) = self.put(value, size) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    fn start(
        &mut self,
        anchor: usize,
        tag: Option<&Tag>,
        content: Content<M::Value>,
    ) -> Result<(), Wrong> {
        self.open.push(Open { anchor, tag: tag.map(name), size: 1, content });
        if self.open.len() > MAX_DEPTH { Err(Wrong::TooDeep) } else { Ok(()) }
    }

    fn end(&mut self) -> Result<(M::Value, u64), Wrong> {
        let Some(Open { anchor, tag, size, content }) = self.open.pop() else {
            return Err(Wrong::Refused("a collection ends that has not begun".into()));
        };
        let value = match content {
            Content::List(items) => self.make.list(items),
            Content::Map(pairs, _) => {
                self.make.map(pairs, tag.as_deref()).map_err(Wrong::Refused)?
            }
        };
        self.keep(anchor, &value, size);
        Ok((value, size))
    }

    fn scalar(&mut self, text: &str, is_plain: bool, tag: Option<&Tag>) -> Result<M::Value, Wrong> {
        let tag = tag.map(name);
        let is_key = matches!(self.open.last(), Some(Open { content: Content::Map(_, None), .. }));
        let made = if is_key {
            self.make.key(text, is_plain, tag.as_deref())
        } else {
            self.make.scalar(text, is_plain, tag.as_deref())
        };
        made.map_err(Wrong::Refused)
    }

    fn keep(&mut self, anchor: usize, value: &M::Value, size: u64) {
        if anchor > 0 {
            self.anchors.insert(anchor, (value.clone(), size));
        }
    }

    /// What an alias stands for; nothing if all of them stand for too much. The parser knows no
    /// alias without an anchor, but one inside its own anchor stands for nothing yet.
    fn alias(&mut self, anchor: usize) -> Option<(M::Value, u64)> {
        let (value, size) = match self.anchors.get(&anchor) {
            Some((value, size)) => (value.clone(), *size),
            None => (self.make.scalar("", true, None).ok()?, 1),
        };
        self.aliased = self.aliased.saturating_add(size);
        (self.aliased <= MAX_ALIASED).then(|| (self.make.alias(value), size))
    }

    /// Puts a value where it belongs; gives it back if it is the whole document.
    fn put(&mut self, value: M::Value, size: u64) -> Option<M::Value> {
        let Some(open) = self.open.last_mut() else { return Some(value) };
        open.size = open.size.saturating_add(size);
        match &mut open.content {
            Content::List(items) => items.push(value),
            Content::Map(pairs, key) => match key.take() {
                None => *key = Some(value),
                Some(key) => pairs.push((key, value)),
            },
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything as text.
    struct Shown;

    impl Make for Shown {
        type Value = String;

        fn scalar(&mut self, text: &str, _: bool, tag: Option<&str>) -> Result<String, String> {
            match tag {
                Some("!no") => Err(format!("{text} is refused")),
                _ => Ok(text.to_owned()),
            }
        }

        fn list(&mut self, items: Vec<String>) -> String {
            format!("[{}]", items.join(","))
        }

        fn map(&mut self, pairs: Vec<(String, String)>, _: Option<&str>) -> Result<String, String> {
            let pairs: Vec<String> =
                pairs.iter().map(|(key, value)| format!("{key}:{value}")).collect();
            Ok(format!("{{{}}}", pairs.join(",")))
        }
    }

    fn built(text: &str) -> Result<Option<String>, String> {
        build(text, &mut Shown).map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn values_are_built_from_the_first_document() {
        assert_eq!(built("a: [1, {b: c}]\n--- x\n"), Ok(Some("{a:[1,{b:c}]}".into())));
        assert_eq!(built("a: &x [1]\nb: *x\n"), Ok(Some("{a:[1],b:[1]}".into())));
        assert_eq!(built(""), Ok(None));
        assert_eq!(built("a: !no b"), Err("b is refused".into()));
        // Lines of a flow collection may stand further out than what they stand in.
        assert_eq!(built("a:\n  b: [\n 1\n]\n"), Ok(Some("{a:{b:[1]}}".into())));
    }

    #[test]
    fn nesting_and_aliases_have_limits() {
        let deep = "[".repeat(210) + &"]".repeat(210);
        assert_eq!(built(&deep), Err("nesting is too deep".into()));
        let lines = "abcdefgh".chars().zip("bcdefghi".chars()).map(|(from, to)| {
            let list = vec![format!("*{from}"); 10].join(",");
            format!("{to}: &{to} [{list}]\n")
        });
        let text = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned() + &lines.collect::<String>();
        let refused = "aliases stand for more than 2000000 values at line 7";
        // A list of text would grow with each alias: count with nothing.
        assert_eq!(build(&text, &mut Nothing).map_err(|w| w.to_string()), Err(refused.into()));
        let many = format!("a: &a [1, 2]\nb: [{}]\n", vec!["*a"; 10_000].join(", "));
        assert_eq!(build(&many, &mut Nothing), Ok(Some(())));
    }

    struct Nothing;

    impl Make for Nothing {
        type Value = ();

        fn scalar(&mut self, _: &str, _: bool, _: Option<&str>) -> Result<(), String> {
            Ok(())
        }

        fn list(&mut self, _: Vec<()>) {}

        fn map(&mut self, _: Vec<((), ())>, _: Option<&str>) -> Result<(), String> {
            Ok(())
        }
    }

    /// The words were recorded from Psych 4.0.4 with libyaml 0.2.5.
    #[test]
    fn problems_have_a_place_and_libyamls_words() {
        let shown = |text: &str| {
            problem(text).map(|p| format!("{p} at line {} column {}", p.line, p.column))
        };
        let flow =
            "did not find expected ',' or ']' while parsing a flow sequence at line 1 column 4";
        assert_eq!(shown("a: [1, 2\nb: 3\n").as_deref(), Some(flow));
        let start = "found character that cannot start any token while scanning for the next token \
                     at line 1 column 4";
        assert_eq!(shown("a: @b\n").as_deref(), Some(start));
        assert_eq!(shown("a: 1\n"), None);
    }
}
