//! The timeline as one page: data and program inside, nothing fetched.

use super::{Moment, timeline_json};

const PAGE: &str = include_str!("page.html");

/// The page for these moments.
pub fn page(target: &str, moments: &[Moment]) -> String {
    // Inside a script a closing tag would end it, wherever it stands.
    let data = timeline_json(target, moments).to_string().replace('<', "\\u003c");
    PAGE.replace("{{DATA}}", &data)
}
