//! The minimal formatter: a letter for each action, and at the end what was updated.

use std::fmt::Write as _;

use super::{Formatter, Style};
use crate::event::Event;

/// One action with the first line of each of its changes.
struct Action {
    resource: String,
    changes: Vec<String>,
    updated: bool,
}

pub(super) struct Minimal {
    style: Style,
    actions: Vec<Action>,
    /// Those under way, the innermost last.
    open: Vec<usize>,
}

impl Minimal {
    pub(super) fn new(style: Style) -> Minimal {
        Minimal { style, actions: Vec::new(), open: Vec::new() }
    }

    fn heading(&self, text: &str) -> String {
        if self.style.bare { String::new() } else { format!("{text}\n") }
    }

    fn current(&mut self) -> Option<&mut Action> {
        self.open.last().map(|index| &mut self.actions[*index])
    }

    fn converged(&self) -> String {
        let mut text = String::from("\nSystem converged.");
        let updated: Vec<_> = self.actions.iter().filter(|action| action.updated).collect();
        text.push_str(if updated.is_empty() {
            "\nno resources updated"
        } else {
            "\n\nresources updated this run:"
        });
        for action in updated {
            let _ = write!(text, "\n* {}", action.resource);
            for change in &action.changes {
                let _ = write!(text, "\n  - {change}");
            }
            text.push('\n');
        }
        self.heading(&text)
    }
}

impl Formatter for Minimal {
    fn text(&mut self, event: &Event<'_>) -> String {
        match event {
            Event::RunStarted => {
                let version = crate::VERSION;
                self.heading(&format!("Chef Infra Client, version {version} (fixpoint)"))
                    + &self.heading("Infra Phase starting")
            }
            Event::Registering { name } => self.heading(&crate::wording::registering(name)),
            Event::PolicyLoaded { name, revision } => {
                self.heading(&crate::wording::policy(name, revision))
            }
            Event::CookbooksResolving { run_list } => {
                self.heading(&format!("Resolving cookbooks for run list: {run_list}"))
            }
            Event::CookbooksSynchronized { cookbooks } => {
                let dots = ".".repeat(cookbooks.len());
                self.heading("Synchronizing cookbooks") + &self.heading(&format!("{dots}done."))
            }
            Event::Compiling => self.heading("Compiling cookbooks"),
            Event::Converging { resources, loaded } => {
                self.heading(&format!("{}done.", ".".repeat(*loaded)))
                    + &self.heading(&format!("Converging {resources} resources"))
            }
            Event::Converged { failed: false } => self.converged(),
            Event::RunEnded(ended) => {
                let word = if ended.failed { "failed." } else { "complete," };
                self.heading(&format!("Infra phase {word} {} resources updated", ended.updated))
            }
            Event::RunFailed { class, message } => self.heading(&format!("\n{class}: {message}")),
            Event::ActionStarted { resource, .. } => {
                self.open.push(self.actions.len());
                let resource = (*resource).to_owned();
                self.actions.push(Action { resource, changes: Vec::new(), updated: false });
                String::new()
            }
            Event::Applied { lines, .. } => {
                if let Some(action) = self.current() {
                    action.changes.extend(lines.first().cloned());
                }
                String::new()
            }
            Event::ActionUpdated => {
                if let Some(action) = self.current() {
                    action.updated = true;
                }
                "U".into()
            }
            Event::ActionUpToDate { .. } => ".".into(),
            Event::ActionSkipped { .. } => "S".into(),
            Event::ActionEnded => {
                self.open.pop();
                String::new()
            }
            _ => String::new(),
        }
    }
}
