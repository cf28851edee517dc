//! YAML: values from text ([`read`]), what a scalar is to Psych ([`scalar`]), text as libyaml
//! emits it ([`emit`]), and documents as Psych writes them ([`psych`]).

pub mod emit;
mod flow_lines;
pub mod psych;
pub mod read;
pub mod scalar;
