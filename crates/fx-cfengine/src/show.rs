//! `--show-*`: classes and variables as tables, and policy written out.

use fx_source::Origin;

use crate::config::Request;
use crate::eval::Context;
use crate::eval::value::Value;
use crate::regex;
use crate::text::Str;

impl Context<'_> {
    /// What a check is asked to print.
    pub(crate) fn show(&self, request: &Request) {
        if request.check {
            match request.output.as_deref() {
                Some("json-full") => {
                    self.print_raw(&crate::policy_json::output(&self.policy, None))
                }
                Some("json") => {
                    let entry = Some(&*self.config.paths.entry);
                    self.print_raw(&crate::policy_json::output(&self.policy, entry));
                }
                Some("cf-full") => self.print_policy(None),
                Some("cf") => self.print_policy(Some(&self.config.paths.entry)),
                _ => {}
            }
            self.show_tables(request);
        }
    }

    // Without a newline of its own: several such texts are read one after the other.
    fn print_raw(&self, text: &str) {
        let fields = [("text".into(), fx_value::Value::from(&*crate::text::encode(text)))];
        self.run.ledger.note("cf.raw", &fields, &Origin::default());
    }

    fn print_policy(&self, only: Option<&str>) {
        let text = crate::policy_text::output(&self.policy, only);
        if !text.is_empty() {
            self.print(text.strip_suffix('\n').unwrap_or(&text));
        }
    }

    /// What the end of a run is asked to print.
    pub fn show_evaluated(&self, request: &Request) {
        self.show_tables(request);
    }

    fn show_tables(&self, request: &Request) {
        if let Some(pattern) = &request.show_classes
            && self.compiles(pattern)
        {
            self.show_classes(pattern);
        }
        if let Some(pattern) = &request.show_vars
            && self.compiles(pattern)
        {
            self.show_vars(pattern);
        }
    }

    fn compiles(&self, pattern: &str) -> bool {
        let compiles = regex::compile(pattern).is_some();
        for wrong in regex::take_wrong() {
            self.error(&wrong);
        }
        if !compiles {
            self.error(&format!("Sorry, we could not compile regular expression {pattern}"));
        }
        compiles
    }

    /// Writes a line to standard output as it is.
    pub fn print(&self, text: &str) {
        let fields = [("text".into(), fx_value::Value::from(&*crate::text::encode(text)))];
        self.run.ledger.note("cf.print", &fields, &Origin::default());
    }

    fn show_classes(&self, pattern: &str) {
        self.print(&format!("{:<60} {:<40} {:<40}", "Class name", "Meta tags", "Comment"));
        let mut rows: Vec<(Str, String, Str)> = self
            .hard
            .iter()
            .map(|(name, class)| (name, class, true))
            .chain(self.soft.iter().map(|(name, class)| (name, class, false)))
            .filter(|(name, _, _)| pattern.is_empty() || regex::find(pattern, name).is_some())
            .map(|(name, class, hard)| {
                let mut tags = class.tags.join(",");
                if hard {
                    tags.push_str(",hardclass");
                }
                (name.clone(), tags, class.comment.clone().unwrap_or_default())
            })
            .collect();
        rows.sort();
        for (name, tags, comment) in rows {
            self.print(&format!("{name:<60} {tags:<40} {comment:<40}"));
        }
    }

    fn show_vars(&self, pattern: &str) {
        self.print(&format!(
            "{:<40} {:<60} {:<40} {:<40}",
            "Variable name", "Variable value", "Meta tags", "Comment"
        ));
        let mut rows: Vec<(String, String, String, Str)> = Vec::new();
        for scope in self.vars.scope_names() {
            for (name, variable) in self.variables_of(&scope) {
                let full = if scope.contains(':') {
                    format!("{scope}.{name}")
                } else {
                    format!("default:{scope}.{name}")
                };
                if !pattern.is_empty() && regex::find(pattern, &full).is_none() {
                    continue;
                }
                let value = match &variable.value {
                    Value::Scalar(text) if !printable(text) => "<non-printable>".to_owned(),
                    Value::Scalar(text) => escape(text),
                    Value::List(items) if items.is_empty() => String::new(),
                    Value::List(items) if !items.iter().all(|item| printable(item)) => {
                        "<non-printable>".to_owned()
                    }
                    Value::List(items) => {
                        let items: Vec<String> =
                            items.iter().map(|item| format!("\"{}\"", escape(item))).collect();
                        format!(" {{{}}}", items.join(","))
                    }
                    Value::Data(json) => json.compact(),
                };
                rows.push((
                    full,
                    value,
                    variable.tags.join(","),
                    variable.comment.clone().unwrap_or_default(),
                ));
            }
        }
        rows.sort();
        for (name, value, tags, comment) in rows {
            self.print(&format!("{name:<40} {value:<60} {tags:<40} {comment:<40}"));
        }
    }
}

// What is not plain ASCII is not shown.
fn printable(text: &str) -> bool {
    text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
}

// Quotes alone are escaped, not what escapes them: as the original has it.
fn escape(text: &str) -> String {
    text.replace('"', "\\\"")
}
