//! Regions, selections and matching of lines that edit promises share.

use fx_cfengine::eval::promise::Expanded;
use fx_cfengine::outcome::Outcome;
use fx_cfengine::regex;
use fx_cfengine::text::Str;
use fx_engine::Level;

use crate::agent::Agent;

use super::lines::Lines;

/// A region by its delimiters; without one it is the whole file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Region {
    /// Line of the start delimiter.
    pub(crate) begin: Option<usize>,
    /// Line of the end delimiter.
    pub(crate) end: Option<usize>,
}

/// The lines an edit is to work on: those of its region, or all of them.
///
/// # Errors
///
/// How the promise ends when its region is not there.
pub(crate) fn lines_of(
    ctx: &mut Agent<'_>,
    promise: &Expanded,
    lines: &Lines,
    file: &str,
    what: &str,
) -> Result<std::ops::Range<usize>, Outcome> {
    if !promise.has("select_region") {
        return Ok(0..lines.len());
    }
    let Some(found) = select(ctx, promise, lines, file) else {
        let text = format!(
            "The promised {what} '{}' could not select an edit region in '{file}'",
            promise.promiser
        );
        return Err(ctx.settle(Level::Error, Outcome::Interrupted, promise, &text));
    };
    Ok(found.begin.unwrap_or(0)..found.end.unwrap_or(lines.len()))
}

/// The region a promise selects; `None` when its start is not there.
pub(crate) fn select(
    ctx: &Agent<'_>,
    promise: &Expanded,
    lines: &Lines,
    file: &str,
) -> Option<Region> {
    let start = promise.scalar("select_start");
    let end = promise.scalar("select_end");
    let include_start = promise.bool("include_start_delimiter").unwrap_or(false);
    let mut region = Region::default();
    for (at, line) in lines.as_slice().iter().enumerate() {
        if let Some(start) = start
            && region.begin.is_none()
            && regex::full_or_same(start, line)
        {
            if !include_start && at + 1 == lines.len() {
                ctx.verbose(&format!(
                    "The promised start pattern '{start}' found an empty region at the end of file '{file}'"
                ));
                return None;
            }
            region.begin = Some(at);
            continue;
        }
        if let Some(end) = end
            && region.begin.is_some()
            && regex::full_or_same(end, line)
        {
            region.end = Some(at);
            break;
        }
    }
    if region.begin.is_none() && start.is_some() {
        ctx.verbose(&format!(
            "The promised start pattern '{}' was not found when selecting edit region in '{file}'",
            start.map_or("", |start| start)
        ));
        return None;
    }
    Some(region)
}

/// Whether a missing end of a region is allowed.
pub(crate) fn open_end(ctx: &Agent<'_>, promise: &Expanded) -> bool {
    promise.bool("select_end_match_eof").unwrap_or(ctx.control.select_end_match_eof)
}

/// How many lines from `at` on a chunk of lines covers; 0 when it does not match there.
pub(crate) fn match_chunk(
    chunk: &[&str],
    lines: &[Str],
    at: usize,
    end: Option<usize>,
    is_regex: bool,
) -> usize {
    let mut position = at;
    for (index, wanted) in chunk.iter().enumerate() {
        let Some(line) = lines.get(position) else { return 0 };
        let same = if is_regex { regex::full_or_same(wanted, line) } else { **wanted == **line };
        if !same || Some(position) == end {
            return 0;
        }
        if position + 1 < lines.len() {
            position += 1;
        } else if index + 1 < chunk.len() {
            return 0;
        }
    }
    chunk.len()
}

/// Whether a line passes the selection lists of an insertion or deletion.
pub(crate) fn line_selected(promise: &Expanded, prefix: &str, line: &str) -> bool {
    let list = |name: &str| promise.list(&format!("{prefix}_if_{name}_from_list"));
    if let Some(list) = list("startwith") {
        return list.iter().any(|item| line.starts_with(&**item));
    }
    if let Some(list) = list("not_startwith") {
        return !list.iter().any(|item| line.starts_with(&**item));
    }
    if let Some(list) = list("match") {
        return list.iter().any(|item| regex::full_or_same(item, line));
    }
    if let Some(list) = list("not_match") {
        return !list.iter().any(|item| regex::full_or_same(item, line));
    }
    if let Some(list) = list("contains") {
        return list.iter().any(|item| regex::find(item, line).is_some());
    }
    if let Some(list) = list("not_contains") {
        return !list.iter().any(|item| regex::find(item, line).is_some());
    }
    true
}

/// Whether a line is "the same" under a whitespace policy.
pub(crate) fn same_line(wanted: &str, line: &str, policy: Option<&[Str]>) -> bool {
    let Some(policy) = policy.filter(|policy| !policy.is_empty()) else { return wanted == line };
    // As MatchPolicy does: each option widens the pattern of the one before.
    let mut pattern = String::with_capacity(wanted.len() + 8);
    for char in wanted.chars() {
        if matches!(char, '.' | '*') {
            pattern.push('\\');
        }
        pattern.push(char);
    }
    let mut same = false;
    for option in policy {
        match &**option {
            "exact_match" => {
                same |= wanted == line;
                break;
            }
            "ignore_embedded" => {
                let lead = pattern.len() - pattern.trim_start().len();
                let trail = pattern.trim_end().len();
                let mut wide = String::from(&pattern[..lead]);
                let mut blank = false;
                for char in pattern[lead..trail.max(lead)].chars() {
                    if char.is_ascii_whitespace() {
                        if !blank {
                            wide.push_str("\\s+");
                        }
                        blank = true;
                    } else {
                        blank = false;
                        wide.push(char);
                    }
                }
                wide.push_str(&pattern[trail.max(lead)..]);
                pattern = wide;
            }
            "ignore_leading" if !pattern.starts_with("\\s*") => {
                pattern = format!("\\s*{}", pattern.trim_start());
            }
            "ignore_trailing" if !pattern.ends_with("\\s*") => {
                // Blanks at the end of the promised line itself are asked for all the same.
                pattern.push_str("\\s*");
            }
            _ => {}
        }
        same |= regex::full_or_same(&pattern, line);
    }
    same
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_match_whole_lines_in_a_row() {
        let lines: Vec<Str> = ["a", "b", "c"].map(Into::into).to_vec();
        assert_eq!(match_chunk(&["a", "b"], &lines, 0, None, false), 2);
        assert_eq!(match_chunk(&["b", "c", "d"], &lines, 1, None, false), 0);
        assert_eq!(match_chunk(&["c"], &lines, 2, Some(2), false), 0);
        assert_eq!(match_chunk(&["[ab]"], &lines, 1, None, true), 1);
    }

    #[test]
    fn whitespace_policies_widen_equality() {
        let policy = |words: &[&str]| words.iter().map(|word| Str::from(*word)).collect::<Vec<_>>();
        assert!(same_line("a b", "a b", None));
        assert!(!same_line("a b", " a b", None));
        assert!(same_line("a b", "  a b", Some(&policy(&["ignore_leading"]))));
        assert!(same_line("a b", "a b  ", Some(&policy(&["ignore_trailing"]))));
        assert!(!same_line("a b  ", "a b", Some(&policy(&["ignore_trailing"]))));
        assert!(same_line("a b", "a    b", Some(&policy(&["ignore_embedded"]))));
        assert!(!same_line("a b", "a    b", Some(&policy(&["exact_match"]))));
    }
}
