//! The external classifier: a program that says of a node which classes it has, and which
//! variables and environment.

use std::rc::Rc;

use crate::machine::Machine;
use crate::value::{Hash, Value};

/// What a classifier says of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Classification {
    /// Classes with their parameters.
    pub classes: Vec<(String, Hash)>,
    /// Variables at the top.
    pub variables: Vec<(String, Value)>,
    /// The environment, where it has a say.
    pub environment: Option<String>,
}

/// Queries the program for a node.
pub fn classify(machine: &Machine, command: &str, node: &str) -> Result<Classification, String> {
    if !command.starts_with('/') {
        return Err(
            "You must set the 'external_nodes' parameter to a fully qualified command".into()
        );
    }
    let program = command.split_whitespace().next().unwrap_or_default();
    let trusted = machine.run.look().check_trusted(program.as_ref());
    if let Err(error @ fx_host::HostError::Untrusted { .. }) = trusted {
        return Err(error.to_string());
    }
    let mut words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    words.push(node.to_owned());
    let shown = words.join(" ");
    let failed = |why: String| format!("Failed to find {node} via exec: {why}");
    let spec = fx_host::Spec::argv(words);
    let ended = machine
        .run
        .evaluate("external_nodes", |act| act.run(&spec))
        .map_err(|error| failed(format!("Could not run '{shown}': {error}")))?;
    if !ended.exit.success() {
        let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
        let code = ended.exit.code();
        return Err(failed(format!("Execution of '{shown}' returned {code}: {said}")));
    }
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    read(&text).map_err(|why| format!("Could not load external node results for {node}: {why}"))
}

fn read(text: &str) -> Result<Classification, String> {
    let mut found = Classification::default();
    let all = match crate::yaml::parse(text)? {
        Value::Hash(all) => all,
        Value::Undef => return Ok(found),
        _ => return Err("the answer is no hash".into()),
    };
    let text_of = |value: &Value| crate::eval::interpolated(value);
    match all.get(&Value::from("classes")) {
        Some(Value::Array(names)) => {
            found.classes = names.iter().map(|name| (text_of(name), Hash::default())).collect();
        }
        Some(Value::Hash(classes)) => {
            for (name, parameters) in &**classes {
                let parameters = match parameters {
                    Value::Hash(parameters) => Hash::clone(parameters),
                    _ => Hash::default(),
                };
                found.classes.push((text_of(name), parameters));
            }
        }
        _ => {}
    }
    if let Some(Value::Hash(parameters)) = all.get(&Value::from("parameters")) {
        let parameters = Rc::clone(parameters);
        found.variables =
            parameters.iter().map(|(name, value)| (text_of(name), value.clone())).collect();
    }
    found.environment = all.get(&Value::from("environment")).map(text_of);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_come_as_a_list_or_with_parameters() {
        let found = read("classes: [a, b]\nparameters: {x: 1}\nenvironment: test\n").unwrap();
        assert_eq!(found.classes.len(), 2);
        assert_eq!(found.variables, [("x".to_owned(), Value::Int(1))]);
        assert_eq!(found.environment.as_deref(), Some("test"));
        let found = read("---\nclasses:\n  a:\n    p: 1\n  b:\n").unwrap();
        assert_eq!(found.classes[0].1.get(&Value::from("p")), Some(&Value::Int(1)));
        assert!(found.classes[1].1.is_empty());
        assert!(read("just text").is_err());
    }
}
