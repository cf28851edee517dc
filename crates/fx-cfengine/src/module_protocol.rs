//! The line protocol of modules: classes, variables, lists and data from a program's output.

use std::rc::Rc;

use fx_engine::Level;

use crate::command::command_arg0;
use crate::eval::classes::ClassScope;
use crate::eval::value::{DataType, Value};
use crate::eval::{Context, log};
use crate::json::Json;
use crate::policy::scope_key;
use crate::text::{Str, canonify, canonify_class, path};

/// What a module has set for the lines that follow.
pub struct Module {
    command: String,
    scope: String,
    tags: Vec<Str>,
    minutes: i64,
    print: bool,
}

impl Module {
    /// A module run by this command; its variables go to a bundle named after the program.
    pub fn new(command: &str, print: bool) -> Module {
        let arg0 = command_arg0(command);
        let base = arg0.rsplit('/').next().unwrap_or(&arg0);
        Module {
            command: command.to_owned(),
            scope: canonify(base),
            tags: Vec::new(),
            minutes: 0,
            print,
        }
    }

    /// Takes one line.
    pub fn line(&mut self, ctx: &mut Context<'_>, line: &str) {
        let Some(first) = line.chars().next() else { return };
        let rest = &line[first.len_utf8()..];
        match first {
            '^' => self.directive(ctx, line, rest),
            '+' => {
                log!(ctx, Verbose, "Activating classes from module protocol: '{rest}'");
                let name = canonify_class(rest);
                ctx.put_class(&name, ClassScope::Namespace, self.tags.clone().into(), None);
                if self.minutes > 0 {
                    log!(
                        ctx,
                        Verbose,
                        "Module set persistent class '{name}' for {} minutes",
                        self.minutes
                    );
                    ctx.persist_class(&name, self.minutes, true, &self.tags.join(","));
                }
            }
            '-' => {
                log!(ctx, Verbose, "Deactivating classes from module protocol: '{rest}'");
                if !identifier(ctx, rest) {
                    return;
                }
                for class in rest.split(',') {
                    if ctx.hard.contains_key(class) {
                        ctx.fatal(&format!("Cannot negate the reserved class '{class}'"));
                        return;
                    }
                    ctx.cancel_class(class);
                }
            }
            '=' => {
                if let Some((name, value)) =
                    rest.split_once('=').filter(|(name, _)| identifier(ctx, name))
                {
                    log!(
                        ctx,
                        Verbose,
                        "Defined variable '{name}' in context '{}' with value '{value}'",
                        self.scope
                    );
                    self.put(ctx, name, DataType::String, Value::Scalar(value.into()));
                }
            }
            '@' => {
                if let Some((name, text)) =
                    rest.split_once('=').filter(|(name, _)| identifier(ctx, name))
                {
                    match parse_list(text) {
                        Some(items) => {
                            self.put(ctx, name, DataType::StringList, Value::List(items.into()))
                        }
                        None => {
                            ctx.error("Parsing error : Malformed string");
                            ctx.error(&format!(
                            "Module protocol could not parse variable {name}'s data content {text}"
                        ));
                        }
                    }
                }
            }
            '%' => {
                if let Some((name, text)) =
                    rest.split_once('=').filter(|(name, _)| identifier(ctx, name))
                {
                    match Json::try_parse(text, None) {
                        Err(wrong) => ctx.info(&format!(
                            "Failed to parse JSON '{}' for module protocol: {}",
                            wrong.rest, wrong.why
                        )),
                        Ok(json) if !json.is_container() => {
                            ctx.info(&format!(
                                "Module protocol JSON '{text}' should be object or array; wasn't"
                            ));
                        }
                        Ok(json) => self.put(ctx, name, DataType::Data, Value::Data(Rc::new(json))),
                    }
                }
            }
            '&' => {
                if let Some((name, file)) =
                    rest.split_once('=').filter(|(name, _)| identifier(ctx, name))
                {
                    self.data_file(ctx, name, file);
                }
            }
            _ => {
                if self.print {
                    ctx.log(Level::Info, &format!("M '{}': {line}", self.command));
                }
            }
        }
    }

    fn directive(&mut self, ctx: &mut Context<'_>, line: &str, rest: &str) {
        if let Some(name) = rest.strip_prefix("context=").filter(|name| !name.is_empty()) {
            let name: String = name.chars().take(50).collect();
            if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                log!(
                    ctx,
                    Verbose,
                    "Module changed variable context from '{}' to '{name}'",
                    self.scope
                );
                self.scope = name;
            } else {
                ctx.error(&format!(
                    "Module protocol was given an unacceptable ^context directive '{name}', skipping"
                ));
            }
        } else if let Some(tags) = rest.strip_prefix("meta=").filter(|tags| !tags.is_empty()) {
            self.tags = tags.split(',').map(Into::into).collect();
            self.tags.push("source=module".into());
        } else if let Some(minutes) =
            rest.strip_prefix("persistence=").and_then(|text| text.trim().parse().ok())
        {
            self.minutes = minutes;
        } else {
            ctx.info(&format!("Unknown extended module command '{line}'"));
        }
    }

    fn put(&self, ctx: &mut Context<'_>, name: &str, kind: DataType, value: Value) {
        let scope = scope_key("default", &self.scope);
        let tags: Rc<[Str]> = self.tags.clone().into();
        ctx.vars.put(&scope, name, kind, value, &tags);
    }

    fn data_file(&self, ctx: &mut Context<'_>, name: &str, file: &str) {
        match ctx.host().read(&path(file)) {
            Err(_) => ctx.error(&format!("could not load module file '{file}'")),
            Ok(bytes) => {
                let text = crate::text::decode(&bytes);
                if let Some(json) = crate::functions::data::parse_by_suffix(file, &text) {
                    self.put(ctx, name, DataType::Data, Value::Data(Rc::new(json)));
                }
            }
        }
    }
}

// As CheckID does: words, and a few signs that array names and qualified names need.
fn identifier(ctx: &Context<'_>, name: &str) -> bool {
    for char in name.chars() {
        let fine = char.is_ascii_alphanumeric()
            || matches!(char, '.' | '-' | '_' | '[' | ']' | '/' | '@' | ',' | ':' | ' ')
            || !char.is_ascii();
        if !fine {
            ctx.verbose(&format!("Module protocol contained an illegal character '{char}' in class/variable identifier '{name}'."));
            return false;
        }
    }
    true
}

/// `{ "a", "b" }` to its items.
pub(crate) fn parse_list(text: &str) -> Option<Vec<Str>> {
    let inner = text.trim().strip_prefix('{')?.trim_end().strip_suffix('}')?;
    let mut items = Vec::new();
    let mut rest = inner.trim_start();
    while !rest.is_empty() {
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let mut item = String::new();
        let mut chars = rest.char_indices().skip(1);
        let mut end = None;
        while let Some((at, char)) = chars.next() {
            if char == '\\' {
                if let Some((_, next)) = chars.next() {
                    if !matches!(next, '"' | '\'' | '\\') {
                        item.push('\\');
                    }
                    item.push(next);
                }
            } else if char == quote {
                end = Some(at + 1);
                break;
            } else {
                item.push(char);
            }
        }
        items.push(item.into());
        rest = rest[end?..].trim_start();
        match rest.strip_prefix(',') {
            Some(tail) => rest = tail.trim_start(),
            None if rest.is_empty() => {}
            None => return None,
        }
    }
    Some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let read = |text: &str| parse_list(text).map(|items| items.join("|"));
        assert_eq!(read("{ \"a\", 'b,c' }"), Some("a|b,c".into()));
        assert_eq!(read("{}"), Some(String::new()));
        assert_eq!(read("{ \"a\\\"b\" }"), Some("a\"b".into()));
        assert_eq!(read("a, b"), None);
    }
}
