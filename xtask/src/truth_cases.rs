//! The recorded cases as policies that can be planned: placeholders filled, what they need
//! made. Expects nothing of their outcome.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::truth::Policy;

/// The cases of a kind below a conformance directory; `with` holds the modules or the suite.
pub(crate) fn of(kind: &str, conformance: &Path, with: &Path) -> Result<Vec<Policy>> {
    match kind {
        "puppet" => sorted(&conformance.join("puppet_apply/open"))?
            .iter()
            .map(|case| puppet(case, with))
            .collect(),
        "chef" => {
            sorted(&conformance.join("chef_cases/open"))?.iter().map(|case| chef(case)).collect()
        }
        "cfengine" => {
            let list = std::fs::read_to_string(conformance.join("cfengine_open.txt"))?;
            let dir = with.join("tests/acceptance");
            let policy = |line: &str| Policy {
                name: line.to_owned(),
                words: [&format!("./{line}"), "-D", "AUTO,DEBUG"].map(str::to_owned).to_vec(),
                dir: Some(dir.clone()),
            };
            Ok(list.lines().filter(|line| !line.starts_with('#')).map(policy).collect())
        }
        _ => bail!("a kind is puppet, chef or cfengine"),
    }
}

fn sorted(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(dir).with_context(|| dir.display().to_string())?;
    let mut found: Vec<PathBuf> =
        entries.filter_map(|entry| entry.ok().map(|e| e.path())).collect();
    found.sort();
    Ok(found)
}

fn name(case: &Path) -> String {
    case.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A directory of a case's own that lives as long as the copy of the machine around.
fn scratch(case: &Path) -> Result<PathBuf> {
    let dir = Path::new("/tmp/truth").join(name(case));
    std::fs::create_dir_all(&dir)?;
    Ok(dir)
}

fn meta(file: &Path) -> Value {
    std::fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

fn puppet(case: &Path, modules: &Path) -> Result<Policy> {
    let dir = scratch(case)?;
    let filled = |text: &str| text.replace("@SCRATCH@", &dir.display().to_string());
    if let Some(line) = meta(&case.join("meta.json"))["setup"].as_str() {
        Command::new("sh").args(["-ec", &filled(line)]).current_dir(&dir).status()?;
    }
    let manifest = PathBuf::from(format!("{}.pp", dir.display()));
    std::fs::write(&manifest, filled(&std::fs::read_to_string(case.join("manifest.pp"))?))?;
    let path = format!("{}:{}", case.join("modules").display(), modules.display());
    let words = vec![manifest.display().to_string(), "--modulepath".to_owned(), path];
    Ok(Policy { name: name(case), words, dir: Some(dir) })
}

fn chef(case: &Path) -> Result<Policy> {
    let dir = scratch(case)?;
    let spec = meta(&case.join("case.json"));
    let root = dir.display().to_string();
    let attributes = spec["attrs"].to_string().replace("@ROOT@", &root);
    let mut attributes: Value = serde_json::from_str(&attributes).unwrap_or_default();
    if attributes.is_null() {
        attributes = json!({});
    }
    attributes["root"] = json!(root);
    let file = format!("{root}.json");
    std::fs::write(&file, attributes.to_string())?;
    let list: Vec<&str> =
        spec["run_list"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let list = if list.is_empty() { "recipe[t]".to_owned() } else { list.join(",") };
    let words = vec![case.display().to_string(), "-j".to_owned(), file, "-o".to_owned(), list];
    Ok(Policy { name: name(case), words, dir: Some(dir) })
}
