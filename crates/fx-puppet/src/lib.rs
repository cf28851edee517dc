//! Puppet, from manifests to a catalog: values, types, evaluation, functions, lookup, compiling,
//! and the Ruby code of modules.
//!
//! Knows the engine and resources, not the other languages. Applying a catalog is the matter of
//! `fx-puppet-apply`, whose interface is [`Catalog`] and [`Compiled`]. What it does not do yet
//! is said by an error that names it.

#![forbid(unsafe_code)]
#![expect(clippy::unused_self, reason = "methods of the evaluator read alike, needed or not")]
#![expect(clippy::format_push_string, reason = "text is put together where speed is no matter")]
#![expect(clippy::many_single_char_names, reason = "both sides of a comparison")]
#![expect(clippy::float_cmp, reason = "the language compares floats exactly")]
#![expect(clippy::unnecessary_wraps, reason = "functions of one table have one signature")]
#![expect(clippy::mutable_key_type, reason = "a compiled expression is no part of a key")]
#![expect(clippy::type_complexity, reason = "short tuples of well-known types")]

mod value;
mod regex;
mod semver;
mod random;
pub mod settings;
mod types;
mod eval;
mod exports;
mod functions;
mod lookup;
mod effects;
mod machine;
mod ruby;
mod tools;
mod yaml;
mod catalogs;
mod class_list;
mod classifier;
mod custom_facts;
mod type_docs;
mod compile;
mod compiled;
mod deferred;
mod providers;
mod inspect;
mod lint;
mod modules;

pub use catalogs::{
    CatalogRequest, Compilation, Server, catalog, compile, compile_texts, facts_from_json,
    manifests, read_facts,
};
pub use class_list::class_list;
pub use classifier::{Classification, classify};
pub use compile::{Attribute, Attributes, Catalog, Refused, Resource, Settings, Tags};
pub use compiled::{
    Backup, Compiled, Fetched, FileServer, Served, ServedKind, ServerBucket, TreeWish,
};
pub use custom_facts::{external_fact_folders, more_facts};
pub use effects::learn as learn_secret;
pub use eval::{local_time, strftime_of as strftime};
pub use exports::{ExportFilter, ExportedResource, Exports};
pub use inspect::{Found, inspect};
pub use lint::lint;
pub use lookup::{glob_regex, parse_hocon};
pub use machine::{Machine, node_name};
pub use modules::{
    Installed, ModuleList, installed_modules, module_json, module_list, unpacked_module,
};
pub use providers::{default_provider, providers};
pub use regex::Regex;
pub use ruby::{Heard, RubyChange, RubyDeclaration, RubyResource, RubySession, Said};
pub use tools::{
    assert_type, epp, evaluate, explain_lookup, explain_lookup_options, lookup, machine_facts,
    ruby_text, shown_json, value_from_text, value_to_json,
};
pub use type_docs::{Asked, describe, type_list};
pub use types::Type;
pub use value::{Hash, Value};
pub use yaml::{error as yaml_error, parse as parse_yaml};

/// Whether a type that is there without any module has a parameter of a name; `None` where
/// there is no such type.
pub fn has_parameter(kind: &str, name: &str) -> Option<bool> {
    let known = compile::built_in(kind)?;
    Some(known.parameters.contains(name) || compile::is_metaparameter(name))
}

/// Whether a type is there without any module.
pub fn is_built_in(kind: &str) -> bool {
    compile::built_in(kind).is_some()
}

/// Whether every type has a parameter of this name.
pub fn is_metaparameter(name: &str) -> bool {
    compile::is_metaparameter(name)
}

/// Values and names as text, in the forms that the language has.
pub mod text {
    pub use crate::eval::{capitalize, inspected, interpolated, program_text};
    pub use crate::types::capitalized;
}

/// Stack that an evaluation as deep as allowed needs, with room to spare.
pub const STACK: usize = 256 << 20;

/// The version of the original that this equals.
pub const VERSION: &str = "7.23.0";
