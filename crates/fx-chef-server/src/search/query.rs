//! The language of searches.

use super::words::IS;

/// What is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Query {
    All,
    /// A word with `*` and `?` in it.
    Word(Vec<Piece>),
    Phrase(Vec<String>),
    Range {
        from: String,
        to: String,
        inclusive: bool,
    },
    /// Clauses side by side.
    Clauses(Vec<(Occurs, Query)>),
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    /// `*`
    Any,
    /// `?`
    One,
}

/// Whether a clause must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occurs {
    May,
    Must,
    Not,
}

/// The end of all that a key may be.
const LAST: &str = "\u{fff0}";

impl Query {
    /// Reads a query; `None` where it is none.
    pub(super) fn parse(text: &str) -> Option<Query> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        if text == "*:*" {
            return Some(Query::All);
        }
        let mut parser = Parser { rest: text, depth: 0 };
        let query = parser.clauses()?;
        parser.rest.is_empty().then_some(query)
    }
}

/// The text of a pattern that has no place holders.
pub(super) fn exact(pieces: &[Piece]) -> Option<String> {
    let text = |piece: &Piece| match piece {
        Piece::Text(text) => Some(text.as_str().to_owned()),
        Piece::Any | Piece::One => None,
    };
    pieces.iter().map(text).collect()
}

/// What every word that fits begins with.
pub(super) fn prefix(pieces: &[Piece]) -> &str {
    match pieces.first() {
        Some(Piece::Text(text)) => text,
        _ => "",
    }
}

/// Whether a word fits a pattern, in time that grows with their lengths alone.
pub(super) fn matches(pieces: &[Piece], word: &str) -> bool {
    let word: Vec<char> = word.chars().collect();
    // Places of the word that the pieces so far lead to.
    let mut places = vec![false; word.len() + 1];
    places[0] = true;
    for piece in pieces {
        let mut next = vec![false; word.len() + 1];
        match piece {
            Piece::Any => {
                let first = places.iter().position(|on| *on).unwrap_or(places.len());
                next[first.min(word.len())..].fill(first < places.len());
            }
            Piece::One => next[1..].copy_from_slice(&places[..word.len()]),
            Piece::Text(text) => {
                let text: Vec<char> = text.chars().collect();
                for at in (0..=word.len()).filter(|at| places[*at]) {
                    if word[at..].starts_with(&text) {
                        next[at + text.len()] = true;
                    }
                }
            }
        }
        places = next;
    }
    places[word.len()]
}

struct Parser<'a> {
    rest: &'a str,
    depth: u32,
}

/// How deep groups may be.
const DEEPEST: u32 = 100;

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || "*?@_+./-".contains(character) || !character.is_ascii()
}

impl Parser<'_> {
    fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// A word that stands alone, such as an operator.
    fn take_word(&mut self, word: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(word) else { return false };
        if rest.starts_with(|one: char| is_word(one) || one == ':') {
            return false;
        }
        self.rest = rest;
        true
    }

    /// Clauses up to the end or a closing parenthesis.
    fn clauses(&mut self) -> Option<Query> {
        let mut clauses: Vec<(Occurs, Query)> = Vec::new();
        let mut both = false;
        loop {
            self.skip_space();
            if self.rest.is_empty() || self.rest.starts_with(')') {
                break;
            }
            if !clauses.is_empty() && (self.take_word("AND") || self.take("&&")) {
                if let Some((occurs @ Occurs::May, _)) = clauses.last_mut() {
                    *occurs = Occurs::Must;
                }
                both = true;
                self.skip_space();
            } else if !clauses.is_empty() && (self.take_word("OR") || self.take("||")) {
                self.skip_space();
            }
            let occurs = if self.take_word("NOT") || self.take("!") || self.take("-") {
                Occurs::Not
            } else if self.take("+") || both {
                Occurs::Must
            } else {
                Occurs::May
            };
            both = false;
            self.skip_space();
            let one = self.clause()?;
            clauses.push((occurs, one));
        }
        match clauses.len() {
            0 => None,
            1 if clauses[0].0 == Occurs::May => clauses.pop().map(|(_, one)| one),
            _ => Some(Query::Clauses(clauses)),
        }
    }

    fn group(&mut self) -> Option<Query> {
        self.depth += 1;
        let inner = (self.depth <= DEEPEST).then(|| self.clauses()).flatten()?;
        self.depth -= 1;
        self.take(")").then_some(inner)
    }

    fn clause(&mut self) -> Option<Query> {
        let query = if self.take("(") {
            self.group()?
        } else if self.take("\"") {
            let text = self.quoted()?;
            Query::Phrase(text.split_whitespace().map(str::to_owned).collect())
        } else {
            let word = self.word()?;
            if self.take(":") { self.field(word)? } else { Query::Word(word) }
        };
        // Likeness and weight change the order of hits, which is not ours to choose.
        if self.take("~") || self.take("^") {
            self.rest =
                self.rest.trim_start_matches(|one: char| one.is_ascii_digit() || one == '.');
        }
        Some(query)
    }

    fn field(&mut self, name: Vec<Piece>) -> Option<Query> {
        let tied = |mut rest: Vec<Piece>| {
            let mut pieces = name.clone();
            pieces.push(Piece::Text(IS.to_owned()));
            pieces.append(&mut rest);
            Query::Word(pieces)
        };
        if self.take("(") {
            return self.group();
        }
        if self.take("\"") {
            let text = self.quoted()?;
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            let first = words.first().cloned().unwrap_or_default();
            let first = format!("{}{IS}{first}", plain(&name));
            if words.is_empty() {
                words.push(first)
            } else {
                words[0] = first
            }
            return Some(Query::Phrase(words));
        }
        for (open, close, inclusive) in [("[", "]", true), ("{", "}", false)] {
            if !self.take(open) {
                continue;
            }
            self.skip_space();
            let from = self.word()?;
            self.skip_space();
            self.take_word("TO").then_some(())?;
            self.skip_space();
            let to = self.word()?;
            self.skip_space();
            self.take(close).then_some(())?;
            let is_open = |pieces: &[Piece]| pieces == [Piece::Any];
            if is_open(&from) && is_open(&to) {
                return Some(tied(vec![Piece::Any]));
            }
            let name = plain(&name);
            let bound = |pieces: &[Piece], open: &str| {
                let value = if is_open(pieces) { open.to_owned() } else { plain(pieces) };
                format!("{name}{IS}{value}")
            };
            return Some(Query::Range { from: bound(&from, ""), to: bound(&to, LAST), inclusive });
        }
        let word = self.word()?;
        Some(tied(word))
    }

    /// A text up to the quote that ends it.
    fn quoted(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut characters = self.rest.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Some(text);
                }
                '\\' => text.push(characters.next()?.1),
                other => text.push(other),
            }
        }
        None
    }

    fn word(&mut self) -> Option<Vec<Piece>> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut characters = self.rest.char_indices();
        let mut end = self.rest.len();
        let push = |pieces: &mut Vec<Piece>, one: char| match pieces.last_mut() {
            Some(Piece::Text(text)) => text.push(one),
            _ => pieces.push(Piece::Text(one.to_string())),
        };
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => push(&mut pieces, characters.next()?.1),
                '*' => pieces.push(Piece::Any),
                '?' if at > 0 => pieces.push(Piece::One),
                other if is_word(other) && !(at == 0 && "@+-?".contains(other)) => {
                    push(&mut pieces, other);
                }
                _ => {
                    end = at;
                    break;
                }
            }
        }
        self.rest = &self.rest[end..];
        (!pieces.is_empty()).then_some(pieces)
    }
}

/// The text of a word, its wildcards as they are written.
fn plain(pieces: &[Piece]) -> String {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Any => "*",
            Piece::One => "?",
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::index::Index;
    use super::super::words;
    use super::*;

    #[test]
    fn documents_are_found_by_what_they_hold() {
        let document = json!({
            "name": "n1",
            "deep": {"er": {"k": "v1"}},
            "arr": ["a", "b"],
            "txt": "hello world",
            "bang": "hello!world",
            "n": 3,
            "on": true,
            "run_list": ["recipe[apache2::mod]"],
        });
        let index = Index::of_one(&words::of(&document));
        for (query, fits) in [
            ("*:*", true),
            ("deep_er_k:v1", true),
            ("k:v1", true),
            ("arr:b", true),
            ("deep:er", true),
            ("deep_er:k", true),
            ("er:k", true),
            ("er_k:v1", false),
            ("name:n*", true),
            ("name:N1", false),
            ("name:n?", true),
            ("*:v1", true),
            ("txt:hello", true),
            ("txt:world", false),
            ("world", true),
            ("txt:\"hello world\"", true),
            ("txt:\"world hello\"", false),
            ("bang:hello", false),
            ("bang:hello\\!*", true),
            ("bang:*\\!*", true),
            ("*:hello\\!world", true),
            ("n:[1 TO 5]", true),
            ("n:{3 TO 5}", false),
            ("n:[4 TO *]", false),
            ("n:[* TO 3]", true),
            ("n:[* TO *]", true),
            ("on:true", true),
            ("run_list:recipe\\[apache2\\:\\:mod\\]", true),
            ("name:n1 AND k:v1", true),
            ("name:n1 AND k:v2", false),
            ("name:n2 OR k:v1", true),
            ("name:n2 k:v1", true),
            ("name:n1 AND NOT k:v1", false),
            ("name:n1 AND NOT k:v2", true),
            ("NOT name:n2", true),
            ("NOT name:n1", false),
            ("-name:n1", false),
            ("+name:n1 -k:v2", true),
            ("!name:n2", true),
            ("(name:n2 OR name:n1) AND n:3", true),
            ("name:n1 && n:4", false),
            ("name:n2 || n:3", true),
            ("name:n1~0.5", true),
            ("name:n1^2", true),
        ] {
            let parsed = Query::parse(query).unwrap_or_else(|| panic!("{query}"));
            assert_eq!(!index.find(&parsed).is_empty(), fits, "{query}");
        }
    }

    #[test]
    fn what_is_no_query_is_refused() {
        let deep = "(".repeat(100_000);
        for query in ["", "  ", "a:", "(a", "a)", "n:[1 TO", "n:[1 5]", ":x", "\"a", &deep, "a\\"] {
            assert_eq!(Query::parse(query), None, "{}", &query[..query.len().min(20)]);
        }
    }

    #[test]
    fn patterns_take_time_that_grows_with_the_word() {
        let query = Query::parse(&format!("k:{}b", "*a".repeat(200))).unwrap();
        let index = Index::of_one(&words::of(&json!({"k": "a".repeat(2000)})));
        assert!(index.find(&query).is_empty());
    }
}
