//! Events and the lines that each formatter makes of them.

use super::*;
use crate::actions::Skip;
use crate::event::Ended;

fn shown(style: Style, events: &[Event<'_>]) -> String {
    let mut formatter: Box<dyn Formatter> = match style.format {
        Format::Doc => Box::new(doc::Doc::new(style)),
        Format::Minimal => Box::new(minimal::Minimal::new(style)),
        Format::Null => Box::new(Null),
    };
    events.iter().map(|event| formatter.text(event)).collect()
}

fn run(format: Format, why_run: bool, bare: bool) -> String {
    let changes = ["create new file /a".to_owned(), "@@ -1 +1 @@".to_owned()];
    let guard = Skip::Guard("only_if".into());
    let start = |row, resource| Event::ActionStarted {
        row,
        resource,
        action: "create",
        recipe: Some("t::default"),
    };
    let ended =
        Ended { failed: false, why_run, updated: 1, total: 4, seconds: 61, deprecations: &[] };
    let events = [
        Event::Converging { resources: 4, loaded: 2 },
        start(0, "file[/a]"),
        Event::Applied { lines: &changes, probe: false },
        Event::ActionUpdated,
        Event::ActionEnded,
        start(1, "file[/b]"),
        Event::ActionUpToDate { row: 1, quiet: false },
        Event::ActionEnded,
        start(2, "file[/c]"),
        Event::ActionSkipped { row: 2, skip: &guard },
        Event::ActionEnded,
        start(3, "file[/d]"),
        Event::ActionSkipped { row: 3, skip: &Skip::Nothing },
        Event::ActionEnded,
        Event::Converged { failed: false },
        Event::RunEnded(&ended),
    ];
    shown(Style { format, why_run, bare }, &events)
}

#[test]
fn doc_shows_a_block_for_each_resource() {
    let expected = "Converging 4 resources
Recipe: t::default
  * file[/a] action create
    - create new file /a
    @@ -1 +1 @@
  * file[/b] action create (up to date)
  * file[/c] action create (skipped due to only_if)
  * file[/d] action create (skipped due to action :nothing)
Infra Phase complete, 1/4 resources updated in 01 minutes 01 seconds
";
    assert_eq!(run(Format::Doc, false, false), expected);
}

#[test]
fn doc_says_what_would_be_done() {
    let text = run(Format::Doc, true, false);
    assert!(text.contains("    - Would create new file /a\n"));
    assert!(text.ends_with("1/4 resources would have been updated\n"));
}

#[test]
fn doc_says_what_would_be_done_where_it_is_only_found_out() {
    let changes = ["execute squid -Nz".to_owned()];
    let event = Event::Applied { lines: &changes, probe: true };
    assert_eq!(shown(Style::default(), &[event]), "- Would execute squid -Nz");
}

#[test]
fn without_headings_only_resources_are_shown() {
    let text = run(Format::Doc, false, true);
    assert!(text.starts_with("Recipe: t::default\n") && !text.contains("Infra Phase"));
    assert_eq!(run(Format::Minimal, false, true), "U.SS");
}

#[test]
fn minimal_shows_letters_and_lists_what_was_updated() {
    let expected = "..done.
Converging 4 resources
U.SS
System converged.

resources updated this run:
* file[/a]
  - create new file /a

Infra phase complete, 1 resources updated
";
    assert_eq!(run(Format::Minimal, false, false), expected);
}

#[test]
fn null_shows_nothing() {
    assert_eq!(run(Format::Null, false, false), "");
}
