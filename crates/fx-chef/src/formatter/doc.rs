//! The doc formatter: a block for each resource, its changes below it.

use super::page::{Page, Place, Stream};
use super::{Formatter, Style};
use crate::actions::Skip;
use crate::event::{Ended, Event};

pub(super) struct Doc {
    style: Style,
    page: Page,
    /// The recipe whose heading was shown last.
    recipe: String,
}

impl Doc {
    pub(super) fn new(style: Style) -> Doc {
        Doc { style, page: Page::default(), recipe: String::new() }
    }

    fn heading(&mut self, out: &mut String, text: &str) {
        if !self.style.bare {
            self.page.puts_line(out, text);
        }
    }

    fn started(
        &mut self,
        out: &mut String,
        row: usize,
        (resource, action): (&str, &str),
        recipe: Option<&str>,
    ) {
        if let Some(recipe) = recipe.filter(|recipe| *recipe != self.recipe) {
            if !self.recipe.is_empty() {
                self.page.unindent();
            }
            self.page.puts_line(out, &format!("Recipe: {recipe}"));
            self.page.indent();
            recipe.clone_into(&mut self.recipe);
        }
        let line = format!("* {} action {action}", crate::masking::name(resource));
        self.page.start_line(out, &line, Stream::Row(row));
        self.page.indent();
    }

    fn applied(&mut self, out: &mut String, lines: &[String], probe: bool) {
        let would = if self.style.why_run || probe { "Would " } else { "" };
        for (number, line) in lines.iter().enumerate() {
            let line = if number == 0 { &format!("- {would}{line}") } else { line };
            self.page.start_line(out, line, Stream::Own);
        }
    }

    /// Ends the line of the action with a word; what is inside the action is over.
    fn ended(&mut self, out: &mut String, row: usize, word: &str) {
        self.page.puts(out, &format!(" ({word})"), Stream::Row(row));
        self.page.unindent();
    }
}

impl Formatter for Doc {
    fn text(&mut self, event: &Event<'_>) -> String {
        let mut text = String::new();
        let out = &mut text;
        match event {
            Event::RunStarted => {
                let version = crate::VERSION;
                self.heading(out, &format!("Chef Infra Client, version {version} (fixpoint)"));
                self.heading(out, "Infra Phase starting");
            }
            Event::Registering { name } => {
                self.heading(out, &crate::wording::registering(name));
            }
            Event::PolicyLoaded { name, revision } => {
                self.heading(out, &crate::wording::policy(name, revision));
            }
            Event::CookbooksResolving { run_list } => {
                self.heading(out, &format!("Resolving cookbooks for run list: {run_list}"));
            }
            Event::CookbooksSynchronized { cookbooks } => {
                self.heading(out, "Synchronizing cookbooks:");
                for (name, version) in *cookbooks {
                    self.heading(out, &format!("  - {name} ({version})"));
                }
                self.heading(out, "Installing cookbook gem dependencies:");
            }
            Event::Compiling => self.heading(out, "Compiling cookbooks..."),
            Event::ComplianceLoading => {
                for what in ["profile", "input", "waiver"] {
                    self.heading(out, &format!("Loading Chef InSpec {what} files:"));
                }
            }
            Event::Converging { resources, .. } => {
                self.heading(out, &format!("Converging {resources} resources"));
            }
            Event::Converged { .. } => self.page.unindent(),
            Event::HandlersStarted if self.style.bare => {}
            Event::HandlersStarted => {
                self.page.puts(out, "", Stream::Own);
                self.page.puts(out, "Running handlers:", Stream::Own);
            }
            Event::HandlerRan { name } => self.heading(out, &format!("  - {name}")),
            Event::HandlersCompleted => self.heading(out, "Running handlers complete"),
            Event::LoadFailed { title, sections } => self.page.failure(out, title, sections),
            Event::RunEnded(ended) => {
                if !ended.failed {
                    for line in ended.deprecations {
                        self.heading(out, line);
                    }
                }
                self.heading(out, &last_line(ended));
            }
            Event::RunFailed { class, message } => {
                self.heading(out, &format!("\n{class}: {message}"));
            }
            Event::ActionStarted { row, resource, action, recipe } => {
                self.started(out, *row, (resource, action), *recipe);
            }
            Event::Applied { lines, probe } => self.applied(out, lines, *probe),
            Event::Requirement { text } => {
                self.page.start_line(out, &format!("* {text}"), Stream::Own);
            }
            Event::Output { row, name, text } => {
                let stream = Stream::Command(*row);
                self.page.print(out, text, Place { stream, name: Some(name), ..Place::default() });
            }
            Event::ActionUpdated => {
                self.page.unindent();
                self.page.puts(out, "\n", Stream::Own);
            }
            Event::ActionUpToDate { quiet: true, .. } => self.page.unindent(),
            Event::ActionUpToDate { row, quiet: false } => self.ended(out, *row, "up to date"),
            Event::ActionSkipped { row, skip } => {
                let cause = match skip {
                    Skip::Nothing => "action :nothing",
                    Skip::Guard(guard) => guard,
                };
                self.ended(out, *row, &format!("skipped due to {cause}"));
            }
            Event::ActionBypassed { row, provider } => {
                let word = format!("Skipped: Why-Run not supported by provider {provider}");
                self.ended(out, *row, &word);
            }
            Event::ActionFailed { report } => {
                if let Some((title, sections)) = report {
                    self.page.failure(out, title, sections);
                }
                self.page.unindent();
            }
            Event::ActionEnded => {}
        }
        text
    }
}

fn last_line(ended: &Ended<'_>) -> String {
    let (updated, total) = (ended.updated, ended.total);
    let time = crate::clock::elapsed(ended.seconds);
    match (ended.failed, ended.why_run) {
        (false, false) => {
            format!("Infra Phase complete, {updated}/{total} resources updated in {time}")
        }
        (false, true) => {
            format!("Infra Phase complete, {updated}/{total} resources would have been updated")
        }
        (true, false) => format!("Infra Phase failed. {updated} resources updated in {time}"),
        (true, true) => format!("Infra Phase failed. {updated} resources would have been updated"),
    }
}
