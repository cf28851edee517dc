//! Files of a repository that are written in Ruby, as the documents that a server keeps.

use std::cell::RefCell;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

use fx_engine::{Cancel, Ledger};
use fx_host::{Env, LookingHost};
use fx_source::SourceMap;
use serde_json::{Value as J, json};

use crate::machine::{Request, run};

/// What a file describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Described {
    /// A cookbook's `metadata.rb`
    Metadata,
    Role,
    Environment,
    /// The configuration of a workstation
    Config,
}

impl Described {
    fn word(self) -> &'static str {
        match self {
            Described::Metadata => "metadata",
            Described::Role => "role",
            Described::Environment => "environment",
            Described::Config => "config",
        }
    }
}

/// Takes what is printed.
#[derive(Clone, Default)]
struct Taken(Rc<RefCell<Vec<u8>>>);

impl Write for Taken {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The document of each file, or why it has none. Evaluating them changes nothing.
pub fn describe(host: Rc<LookingHost>, files: &[(Described, &Path)]) -> Vec<Result<J, String>> {
    let items: Vec<J> =
        files.iter().map(|(kind, path)| json!([kind.word(), path.display().to_string()])).collect();
    let mut request = Request { cwd: host.cwd(), ..Request::default() };
    request.options.insert("local".into(), json!(true));
    request.options.insert("describe".into(), J::Array(items));
    let out = Taken::default();
    let err = Taken::default();
    run(
        host,
        Rc::new(Ledger::new()),
        Cancel::default(),
        Rc::new(SourceMap::new()),
        request,
        Box::new(out.clone()),
        Box::new(err.clone()),
    );
    let text = out.0.borrow();
    let start = text.iter().position(|byte| *byte == b'[').unwrap_or(text.len());
    let answers = serde_json::from_slice::<Vec<J>>(&text[start..]).unwrap_or_default();
    let unread = || {
        let text = String::from_utf8_lossy(&err.0.borrow()).trim().to_owned();
        Err(if text.is_empty() { "the file could not be evaluated".to_owned() } else { text })
    };
    let mut answers = answers.into_iter();
    let mut next = || match answers.next() {
        Some(mut answer) => match answer["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(answer["document"].take()),
        },
        None => unread(),
    };
    files.iter().map(|_| next()).collect()
}
