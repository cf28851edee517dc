//! What other nodes leave with the server: resources that they export, and what queries find.

use serde_json::{Map, Value};

/// A resource that another node exports.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedResource {
    /// The node.
    pub node: String,
    /// Name of its type, every segment capitalised.
    pub kind: String,
    pub title: String,
    pub parameters: Map<String, Value>,
}

/// Which exported resources a collector wants.
#[derive(Clone, Debug, PartialEq)]
pub enum ExportFilter {
    And(Box<ExportFilter>, Box<ExportFilter>),
    Or(Box<ExportFilter>, Box<ExportFilter>),
    Not(Box<ExportFilter>),
    /// In lower case.
    Tag(String),
    Title(Value),
    Parameter(String, Value),
}

/// The store of a server, as the compiler sees it.
pub trait Exports: std::fmt::Debug {
    /// What other nodes than this one export of a type.
    fn collect(
        &self,
        kind: &str,
        not_of: &str,
        filter: Option<&ExportFilter>,
    ) -> Result<Vec<ExportedResource>, String>;

    /// The answer to a query of PuppetDB: text of PQL, or a tree.
    fn query(&self, query: &Value) -> Result<Value, String>;
}
