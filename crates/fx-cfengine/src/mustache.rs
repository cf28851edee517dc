//! Mustache as CFEngine renders it: sections, inverted sections, delimiters, and its own
//! tags for keys and serialised data. Text in, text out.

use fx_engine::Level;

use crate::json::Json;

/// Why a template does not render.
#[derive(Debug)]
pub struct Wrong {
    pub level: Level,
    pub text: String,
}

/// Renders a template, or reports that it is broken or that a section gets what it cannot take.
pub fn render(template: &str, data: &Json) -> Result<String, Wrong> {
    let mut renderer = Renderer {
        text: template,
        open: "{{".into(),
        close: "}}".into(),
        out: String::new(),
        wrong: None,
    };
    let mut stack: Vec<Option<&Json>> = vec![Some(data)];
    match renderer.render(0, &mut stack, None, false, false, 0) {
        Some(_) => Ok(renderer.out),
        None => Err(renderer.wrong.unwrap_or_else(|| Wrong {
            level: Level::Error,
            text: "Unexpected end to Mustache template".to_owned(),
        })),
    }
}

const MAX_DEPTH: usize = 64;

struct Renderer<'a> {
    text: &'a str,
    open: String,
    close: String,
    out: String,
    wrong: Option<Wrong>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    None,
    Section,
    Inverted,
    End,
    Comment,
    Delimiter,
    Raw,
    Pretty,
    Compact,
    Variable,
}

struct Found<'a> {
    tag: Tag,
    begin: usize,
    end: usize,
    content: &'a str,
}

impl<'a> Renderer<'a> {
    // Remembers why, and gives up.
    fn fail<T>(&mut self, level: Level, text: String) -> Option<T> {
        self.wrong.get_or_insert(Wrong { level, text });
        None
    }

    // The tag at or after a place; one that does not end is reported.
    fn tag_at(&mut self, from: usize) -> Option<Found<'a>> {
        let found = self.next_tag(from);
        if found.is_none() {
            let rest = &self.text[from..];
            let begin = rest.find(&self.open).unwrap_or(0);
            let quoted = rest[begin + self.open.len()..].starts_with('{');
            let text = if quoted {
                format!(
                    "Broken mustache template, couldn't find end tag for quoted begin tag at '{rest:>20}'..."
                )
            } else {
                format!(
                    "Broken Mustache template, could not find end delimiter after reading start delimiter at '{rest:>20}'..."
                )
            };
            return self.fail(Level::Error, text);
        }
        found
    }

    fn next_tag(&self, from: usize) -> Option<Found<'a>> {
        let text = self.text;
        let Some(begin) = text[from..].find(&self.open).map(|at| at + from) else {
            return Some(Found { tag: Tag::None, begin: text.len(), end: text.len(), content: "" });
        };
        let mut content = begin + self.open.len();
        let (tag, extra) = match text.as_bytes().get(content) {
            Some(b'#') => (Tag::Section, None),
            Some(b'^') => (Tag::Inverted, None),
            Some(b'/') => (Tag::End, None),
            Some(b'!') => (Tag::Comment, None),
            Some(b'=') => (Tag::Delimiter, Some("=")),
            Some(b'{') => (Tag::Raw, Some("}")),
            Some(b'&') => (Tag::Raw, None),
            Some(b'%') => (Tag::Pretty, None),
            Some(b'$') => (Tag::Compact, None),
            _ => (Tag::Variable, None),
        };
        if tag != Tag::Variable {
            content += 1;
        }
        let close = match extra {
            Some(extra) => format!("{extra}{}", self.close),
            None => self.close.clone(),
        };
        let length = text[content..].find(&close)?;
        let end = content + length + close.len();
        Some(Found {
            tag,
            begin,
            end,
            content: text[content..content + length].trim_matches([' ', '\t']),
        })
    }

    // Whether a tag has its line to itself: where the line begins and where the next does.
    fn standalone(&self, begin: usize, end: usize) -> Option<(usize, usize)> {
        let before = &self.text[..begin];
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        if !before[line..].chars().all(|char| matches!(char, ' ' | '\t')) {
            return None;
        }
        let after = &self.text[end..];
        let rest = after.trim_start_matches([' ', '\t']);
        let skipped = after.len() - rest.len();
        if rest.is_empty() {
            return Some((line, end + skipped));
        }
        if rest.starts_with('\n') {
            return Some((line, end + skipped + 1));
        }
        rest.starts_with("\r\n").then_some((line, end + skipped + 2))
    }

    fn put(&mut self, text: &str, skip: bool) {
        if !skip {
            self.out.push_str(text);
        }
    }

    // Renders from `at`; in a section, up to its end, whose position is returned.
    fn render(
        &mut self,
        mut at: usize,
        stack: &mut Vec<Option<&'a Json>>,
        key: Option<&str>,
        skip: bool,
        in_section: bool,
        depth: usize,
    ) -> Option<usize>
    where
        Self: 'a,
    {
        if depth > MAX_DEPTH {
            return None;
        }
        loop {
            let found = self.tag_at(at)?;
            let renderable =
                matches!(found.tag, Tag::Variable | Tag::Raw | Tag::Pretty | Tag::Compact);
            let alone = if renderable || found.tag == Tag::None {
                None
            } else {
                self.standalone(found.begin, found.end)
            };
            let text = self.text;
            match alone {
                Some((line, next)) => {
                    self.put(&text[at..line.max(at)], skip);
                    at = next;
                }
                None => {
                    self.put(&text[at..found.begin], skip);
                    at = found.end;
                }
            }
            match found.tag {
                Tag::None if in_section => {
                    return self
                        .fail(Level::Error, "Unexpected end to Mustache template".to_owned());
                }
                Tag::None => return Some(at),
                Tag::Comment => {}
                Tag::Delimiter => {
                    let words: Vec<&str> = found.content.split_whitespace().collect();
                    let [open, close] = words[..] else {
                        let text = format!(
                            "Could not parse delimiter mustache, number of tokens is {}, expected 2 in '{}'",
                            words.len(),
                            found.content
                        );
                        return self.fail(Level::Warning, text);
                    };
                    self.open = open.to_owned();
                    self.close = close.to_owned();
                }
                Tag::Variable | Tag::Raw | Tag::Pretty | Tag::Compact => {
                    if !skip {
                        self.variable(&found, stack, key)?;
                    }
                }
                Tag::End => {
                    if !in_section {
                        let text = format!(
                            "Unknown section close in mustache template '{}'",
                            found.content
                        );
                        return self.fail(Level::Warning, text);
                    }
                    return Some(at);
                }
                Tag::Section | Tag::Inverted => {
                    at = self.section(at, &found, stack, skip, depth)?;
                }
            }
        }
    }

    fn section(
        &mut self,
        at: usize,
        found: &Found<'a>,
        stack: &mut Vec<Option<&'a Json>>,
        skip: bool,
        depth: usize,
    ) -> Option<usize> {
        let inverted = found.tag == Tag::Inverted;
        let value = lookup(stack, found.content);
        stack.push(value);
        let end = match value {
            None => self.render(at, stack, None, skip || !inverted, true, depth + 1),
            Some(Json::Bool(truth)) => {
                self.render(at, stack, None, skip || *truth == inverted, true, depth + 1)
            }
            Some(json @ Json::Object(map))
                if !self.iterates(at) || map.is_empty() && !self.iterates(at) =>
            {
                debug_assert!(json.is_container(), "an object is a container");
                self.render(at, stack, None, skip || inverted, true, depth + 1)
            }
            Some(json @ (Json::Object(_) | Json::Array(_))) => {
                if json.len() == 0 {
                    self.render(at, stack, None, skip || !inverted, true, depth + 1)
                } else {
                    let children: Vec<(String, &Json)> = match json {
                        Json::Object(map) => {
                            map.iter().map(|(key, child)| (key.to_string(), child)).collect()
                        }
                        Json::Array(items) => items
                            .iter()
                            .enumerate()
                            .map(|(index, child)| (index.to_string(), child))
                            .collect(),
                        _ => Vec::new(),
                    };
                    let mut end = None;
                    for (key, child) in children {
                        stack.push(Some(child));
                        end = self.render(at, stack, Some(&key), skip || inverted, true, depth + 1);
                        stack.pop();
                        end?;
                    }
                    end
                }
            }
            Some(_) => {
                let text = format!(
                    "Mustache sections can only take a boolean or a container (array or map) value, but section '{}' isn't getting one of those.",
                    found.content
                );
                self.fail(Level::Warning, text)
            }
        };
        stack.pop();
        end
    }

    // An object is iterated when `@` or `.` is the first thing used of it in its section.
    fn iterates(&self, from: usize) -> bool {
        let mut at = from;
        while let Some(found) = self.next_tag(at) {
            match found.tag {
                Tag::None | Tag::End | Tag::Section | Tag::Inverted => return false,
                Tag::Variable | Tag::Raw | Tag::Pretty | Tag::Compact => {
                    if matches!(found.content, "@" | ".") {
                        return true;
                    }
                }
                _ => {}
            }
            at = found.end;
        }
        false
    }

    fn variable(
        &mut self,
        found: &Found<'_>,
        stack: &[Option<&'a Json>],
        key: Option<&str>,
    ) -> Option<()> {
        if found.content.is_empty() {
            let (open, close) = (self.open.clone(), self.close.clone());
            self.out.push_str(&open);
            self.out.push_str(&close);
            return Some(());
        }
        let escape = found.tag == Tag::Variable;
        if found.content == "@" {
            let Some(key) = key else {
                return self.fail(
                    Level::Warning,
                    "RenderVariable: {{@}} Mustache tag must be used in a context where there's a valid key or iteration position".to_owned(),
                );
            };
            if escape {
                escape_html(key, &mut self.out);
            } else {
                self.out.push_str(key);
            }
            return Some(());
        }
        let value = if found.content == "." {
            stack.last().copied().flatten()
        } else {
            lookup(stack, found.content)
        };
        let Some(value) = value else { return Some(()) };
        match value {
            Json::Array(_) | Json::Object(_) => match found.tag {
                Tag::Pretty => self.out.push_str(&value.pretty()),
                Tag::Compact => self.out.push_str(&value.compact()),
                _ if found.content == "." => {
                    return self.fail(
                        Level::Warning,
                        "{{.}} mustache tag cannot expand a container without specifying conversion - consider {{$.}} or {{%.}}".to_owned(),
                    );
                }
                _ => return None,
            },
            Json::Null => {}
            Json::Str(text) if escape => escape_html(text, &mut self.out),
            other => self.out.push_str(&other.iterated().unwrap_or_default()),
        }
        Some(())
    }
}

fn lookup<'a>(stack: &[Option<&'a Json>], name: &str) -> Option<&'a Json> {
    let mut parts = name.split('.').filter(|part| !part.is_empty());
    let first = parts.next()?;
    let mut found = if first == "-top-" { stack.first().copied().flatten() } else { None };
    for level in stack.iter().rev().flatten() {
        if let Json::Object(map) = level
            && let Some(value) = map.get(first)
        {
            found = Some(value);
            break;
        }
    }
    let mut value = found?;
    for part in parts {
        match value {
            Json::Object(map) => value = map.get(part)?,
            _ => return None,
        }
    }
    Some(value)
}

fn escape_html(text: &str, out: &mut String) {
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            char => out.push(char),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, data: &str, expected: Option<&str>) {
        let json = Json::parse(data).expect("valid data");
        assert_eq!(render(template, &json).ok().as_deref(), expected, "{template}");
    }

    #[test]
    fn templates_render() {
        let data = r#"{"a": "<x>", "t": true, "f": false, "l": [1, 2], "o": {"k": "v"}, "e": [], "n": 1.5}"#;
        check("{{a}} {{{a}}} {{&a}}", data, Some("&lt;x&gt; <x> <x>"));
        check("{{#t}}yes{{/t}}{{^f}}no{{/f}}{{#f}}x{{/f}}", data, Some("yesno"));
        check("{{#l}}{{.}},{{/l}}", data, Some("1,2,"));
        check("{{#o}}{{@}}={{.}};{{/o}}", data, Some("k=v;"));
        check("{{#o}}{{k}}{{/o}} {{o.k}}", data, Some("v v"));
        check("{{^e}}empty{{/e}}{{#e}}x{{/e}}", data, Some("empty"));
        check("a\n{{#l}}\n- {{.}}\n{{/l}}\nb\n", data, Some("a\n- 1\n- 2\nb\n"));
        check("{{$o}} {{n}}", data, Some("{\"k\":\"v\"} 1.50"));
        check("{{=<% %>=}}<%a%>", data, Some("&lt;x&gt;"));
        check("{{#a}}x{{/a}}", data, None);
        check("{{missing}}.", data, Some("."));
    }
}
