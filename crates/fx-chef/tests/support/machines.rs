//! Fake machines as cases describe them.

use fx_cases::Case;
use fx_host::{MemoryHost, Program, Reply, Spec};
use serde_json::Value as J;

/// A command in one line.
pub(crate) fn line(spec: &Spec) -> String {
    match &spec.program {
        Program::Argv(argv) => argv
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect::<Vec<_>>()
            .join(" "),
        Program::Shell(line) => line.to_string_lossy().into_owned(),
    }
}

/// A machine with what the case says: directories, files, programs, and answers to commands.
pub(crate) fn machine(case: &J) -> MemoryHost {
    let host = MemoryHost::linux();
    let texts = |key: &str| -> Vec<(String, String)> {
        let map = case[key].as_object().into_iter().flatten();
        map.map(|(name, text)| (name.clone(), text.as_str().unwrap_or_default().to_owned()))
            .collect()
    };
    for dir in case["dirs"].as_array().into_iter().flatten().filter_map(J::as_str) {
        host.put_dir(dir, 0o755);
    }
    for (path, text) in texts("files") {
        host.put(path, text);
    }
    for name in case["programs"].as_array().into_iter().flatten().filter_map(J::as_str) {
        host.put_program(format!("/usr/bin/{name}"));
    }
    let answers = texts("commands");
    let failing: Vec<(String, i64)> = case["fail"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(command, code)| (command.clone(), code.as_i64().unwrap_or(1)))
        .collect();
    host.on_any(move |_, spec| {
        let asked = line(spec);
        if let Some((_, code)) = failing.iter().find(|(command, _)| *command == asked) {
            return Some(Reply::exit(*code as i32));
        }
        let known = answers.iter().find(|(command, _)| *command == asked);
        Some(known.map_or_else(|| Reply::exit(0), |(_, text)| Reply::prints(text.as_bytes())))
    });
    host
}

/// What the machine of a case has and answers.
pub(crate) fn machine_of(case: &Case) -> J {
    let json = case.get("machine.json");
    json.map_or(J::Null, |text| serde_json::from_str(text).expect("the machine of a case is JSON"))
}
