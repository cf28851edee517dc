//! PEM: labelled blocks of base64 in a text.

use fx_formats::base64;

use super::{Error, Result};

/// The bytes of all blocks with a label, in order. What stands around them is passed over.
pub fn blocks(text: &str, label: &str) -> Result<Vec<Vec<u8>>> {
    let (begin, end) = (format!("-----BEGIN {label}-----"), format!("-----END {label}-----"));
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(&begin) {
        let Some((body, after)) = after.split_once(&end) else {
            return Err(Error::Malformed("PEM block", format!("{label} has no end")));
        };
        let packed: String = body.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let bytes = base64::decode(&packed);
        found.push(bytes.ok_or_else(|| Error::Malformed("PEM block", "bad base64".into()))?);
        rest = after;
    }
    Ok(found)
}

/// The bytes of the first block with a label.
pub(super) fn first(text: &str, label: &'static str) -> Result<Vec<u8>> {
    blocks(text, label)?.into_iter().next().ok_or(Error::Missing(label))
}

/// A block, in lines of 64 characters.
pub(super) fn block(label: &str, der: &[u8]) -> String {
    let text = base64::encode(der);
    let lines = text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line) + "\n");
    format!("-----BEGIN {label}-----\n{}-----END {label}-----\n", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_found_among_other_text() {
        let text = format!("junk\n{}more\n{}", block("A", &[7; 60]), block("A", b"x"));
        assert_eq!(blocks(&text, "A"), Ok(vec![vec![7; 60], b"x".to_vec()]));
        assert_eq!(blocks(&text, "B"), Ok(vec![]));
        assert!(text.lines().all(|line| line.len() <= 64));
        assert!(blocks("-----BEGIN A-----\n*\n-----END A-----", "A").is_err());
        assert!(blocks("-----BEGIN A-----\n", "A").is_err());
    }
}
