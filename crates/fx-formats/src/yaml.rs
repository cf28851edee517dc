//! YAML: text as libyaml emits it ([`emit`]), and documents as Psych writes them ([`psych`]).

pub mod emit;
pub mod psych;
