//! `puppet module list`: the modules of a path, and which of the modules they ask for are
//! missing or of another version.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use fx_host::Look;

use crate::semver::{Version, parse_range, satisfies};

/// Deepest tree that is shown; a module is shown once, so there are no cycles.
const MOST_DEEP: usize = 100;

/// A module that is there.
#[derive(Clone, Debug, Default)]
pub struct Installed {
    /// The name of its directory.
    pub name: String,
    /// `owner-name`, where its metadata say so.
    pub full: Option<String>,
    /// Its version, where its metadata say so.
    pub version: Option<String>,
    /// The directory that it is in.
    pub dir: PathBuf,
    /// Which modules it needs, and of what version.
    pub needs: Vec<(String, String)>,
}

type Module = Installed;

impl Installed {
    /// Its name without the owner's.
    pub fn short(&self) -> &str {
        let full = self.full.as_deref().unwrap_or(&self.name);
        full.split_once('-').map_or(full, |(_, short)| short)
    }

    fn shown(&self) -> &str {
        self.full.as_deref().unwrap_or(&self.name)
    }
}

/// Why a dependency is not met.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unmet {
    Strange,
    Mismatch,
    Missing,
}

/// What is reported: warnings, and the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleList {
    /// In order.
    pub warnings: Vec<String>,
    /// Lines, each with its end.
    pub text: String,
}

/// The modules of a path, as a list or as a tree of who asks for whom.
pub fn module_list(host: &dyn Look, path: &[PathBuf], as_tree: bool) -> ModuleList {
    let mut out = ModuleList::default();
    let path: Vec<&PathBuf> =
        path.iter().filter(|dir| host.stat(dir).is_ok_and(|meta| meta.is_dir())).collect();
    let modules: Vec<Module> =
        path.iter().flat_map(|dir| read_all(host, dir, &mut out.warnings)).collect();
    let list = List { modules: &modules };
    let bad = list.warn(&mut out.warnings);
    for dir in path {
        let own: Vec<usize> = (0..modules.len()).filter(|at| modules[*at].dir == **dir).collect();
        let none = if own.is_empty() { " (no modules installed)" } else { "" };
        out.text.push_str(&format!("{}{none}\n", dir.display()));
        let nodes = if as_tree {
            let mut own = own;
            own.sort_by_key(|at| list.required_by(*at));
            let mut seen = BTreeSet::new();
            list.tree(&own, None, dir, &bad, &mut seen, 0)
        } else {
            let mut own = own;
            own.sort_by(|a, b| modules[*a].shown().cmp(modules[*b].shown()));
            let node = |at: usize| Node {
                text: list.node(at, dir, bad.iter().any(|(name, _)| *name == modules[at].full)),
                below: Vec::new(),
            };
            own.into_iter().map(node).collect()
        };
        draw(&nodes, "", &mut out.text);
    }
    out
}

/// The modules of a path.
pub fn installed_modules(host: &dyn Look, path: &[PathBuf]) -> Vec<Installed> {
    path.iter().flat_map(|dir| read_all(host, dir, &mut Vec::new())).collect()
}

/// The module that a directory holds in a directory of any name, if its metadata name it well.
pub fn unpacked_module(host: &dyn Look, dir: &Path) -> Option<Installed> {
    let names = host.list(dir).ok()?;
    let names = names.iter().map(|item| item.name.to_string_lossy().into_owned());
    let mut all = names.map(|name| read(host, dir, name, &mut Vec::new()));
    all.find(|module| module.full.is_some() && is_module_name(module.short()))
}

/// `puppet module list --render-as json`.
pub fn module_json(host: &dyn Look, path: &[PathBuf], environment: &str) -> serde_json::Value {
    use serde_json::{Map, Value as Json, json};
    let path: Vec<&PathBuf> =
        path.iter().filter(|dir| host.stat(dir).is_ok_and(|meta| meta.is_dir())).collect();
    let modules: Vec<Module> =
        path.iter().flat_map(|dir| read_all(host, dir, &mut Vec::new())).collect();
    let list = List { modules: &modules };
    let mut by_path = Map::new();
    for dir in path {
        let own = modules.iter().filter(|module| module.dir == **dir);
        let shown = own.map(|module| {
            let place = dir.join(&module.name);
            Json::from(format!("Module {}({})", module.name, place.display()))
        });
        by_path.insert(dir.to_string_lossy().into_owned(), shown.collect());
    }
    let slashed = |name: &str| name.replacen('-', "/", 1);
    let unmet = |kind: Unmet| {
        let mut found = Map::new();
        for module in &modules {
            let version = with_v(module.version.as_deref().unwrap_or_default());
            for (name, range) in module.needs.iter().filter(|need| list.unmet(need) == Some(kind)) {
                let error = format!(
                    "'{}' ({version}) requires '{name}' ({})",
                    module.shown(),
                    with_v(range)
                );
                let there = list.find(name).and_then(|at| modules[at].version.clone());
                let entry = found.entry(slashed(name)).or_insert_with(|| {
                    let parent = json!({"name": slashed(module.shown()), "version": version});
                    json!({"errors": [], "parent": parent, "version": there})
                });
                if let Some(errors) = entry["errors"].as_array_mut() {
                    errors.push(Json::from(error));
                }
            }
        }
        Json::Object(found)
    };
    json!({
        "environment": environment,
        "modules_by_path": by_path,
        "unmet_dependencies": {
            "non_semantic_version": unmet(Unmet::Strange),
            "version_mismatch": unmet(Unmet::Mismatch),
            "missing": unmet(Unmet::Missing),
        },
    })
}

/// Modules of a folder, in the order of their names.
fn read_all(host: &dyn Look, dir: &Path, warnings: &mut Vec<String>) -> Vec<Module> {
    let mut names: Vec<String> = host
        .list(dir)
        .unwrap_or_default()
        .iter()
        .map(|item| item.name.to_string_lossy().into_owned())
        .filter(|name| is_module_name(name))
        .filter(|name| host.stat(&dir.join(name)).is_ok_and(|meta| meta.is_dir()))
        .collect();
    names.sort();
    names.into_iter().map(|name| read(host, dir, name, warnings)).collect()
}

fn is_module_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn read(host: &dyn Look, dir: &Path, name: String, warnings: &mut Vec<String>) -> Module {
    let text = host.read_trusted_data(&dir.join(&name).join("metadata.json")).ok();
    let data = text.map(|text| serde_json::from_slice::<serde_json::Value>(&text));
    if let Some(Err(error)) = &data {
        warnings.push(format!(
            "{name} has an invalid and unparsable metadata.json file. The parse error: {error}"
        ));
    }
    let data = data.and_then(Result::ok).unwrap_or_default();
    let word = |key: &str| data.get(key)?.as_str().map(str::to_owned);
    let dash = |name: String| name.replace('/', "-");
    let needs = data.get("dependencies").and_then(|list| list.as_array()).into_iter().flatten();
    let needs = needs.filter_map(|need| {
        let range = need.get("version_requirement").and_then(|range| range.as_str());
        let name = need.get("name")?.as_str()?.to_owned();
        Some((dash(name), range.unwrap_or(">= 0.0.0").to_owned()))
    });
    Module {
        full: word("name").map(dash),
        version: word("version"),
        dir: dir.to_owned(),
        needs: needs.collect(),
        name,
    }
}

struct Node {
    text: String,
    below: Vec<Node>,
}

struct List<'a> {
    modules: &'a [Module],
}

/// A module that is of a wrong version, and who said so last.
type Bad = Vec<(Option<String>, usize)>;

fn with_v(version: &str) -> String {
    let v = if version.starts_with(|c: char| c.is_ascii_digit()) { "v" } else { "" };
    format!("{v}{version}")
}

impl List<'_> {
    fn find(&self, full: &str) -> Option<usize> {
        self.modules.iter().position(|module| module.full.as_deref() == Some(full))
    }

    fn required_by(&self, at: usize) -> usize {
        let Some(full) = &self.modules[at].full else { return 0 };
        let needs = self.modules.iter().filter(|module| module.full.is_some());
        needs.flat_map(|module| &module.needs).filter(|(name, _)| name == full).count()
    }

    fn unmet(&self, need: &(String, String)) -> Option<Unmet> {
        let (name, range) = need;
        let Some(found) = self.find(name) else { return Some(Unmet::Missing) };
        let version = self.modules[found].version.as_deref().unwrap_or_default();
        if parse_range(range).is_none() || Version::parse(version).is_none() {
            return Some(Unmet::Strange);
        }
        (!satisfies(version, range)).then_some(Unmet::Mismatch)
    }

    /// Tells of all that is not met; the modules of a wrong version.
    fn warn(&self, warnings: &mut Vec<String>) -> Bad {
        let mut bad = Bad::new();
        let mut order: Vec<usize> = (0..self.modules.len()).collect();
        order.sort_by(|a, b| self.modules[*a].name.cmp(&self.modules[*b].name));
        for kind in [Unmet::Strange, Unmet::Mismatch, Unmet::Missing] {
            let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
            for at in &order {
                let module = &self.modules[*at];
                let mut needs: Vec<_> =
                    module.needs.iter().filter(|need| self.unmet(need) == Some(kind)).collect();
                needs.sort();
                for (name, range) in needs {
                    found.entry(name).or_default().push(format!(
                        "  '{}' ({}) requires '{name}' ({})",
                        module.shown(),
                        with_v(module.version.as_deref().unwrap_or_default()),
                        with_v(range)
                    ));
                    if kind == Unmet::Mismatch {
                        bad.retain(|(known, _)| known.as_deref() != Some(name));
                        bad.push((Some(name.clone()), *at));
                    }
                }
            }
            for (name, lines) in found {
                let at = self.find(name);
                let version = at.and_then(|at| self.modules[at].version.as_deref());
                let version = version.unwrap_or_default();
                let head = match kind {
                    Unmet::Mismatch => {
                        format!("Module '{name}' (v{version}) fails to meet some dependencies:")
                    }
                    Unmet::Strange => {
                        format!("Non semantic version dependency {name} (v{version}):")
                    }
                    Unmet::Missing => format!("Missing dependency '{name}':"),
                };
                warnings.push(format!("{head}\n{}", lines.join("\n")));
            }
        }
        bad
    }

    fn node(&self, at: usize, dir: &Path, is_bad: bool) -> String {
        let module = &self.modules[at];
        let version = module.version.as_ref().map_or("???".into(), |text| format!("v{text}"));
        let elsewhere =
            if module.dir == dir { String::new() } else { format!(" [{}]", module.dir.display()) };
        let bad = if is_bad { "  invalid" } else { "" };
        format!("{} ({version}){elsewhere}{bad}", module.shown())
    }

    fn tree(
        &self,
        list: &[usize],
        parent: Option<usize>,
        dir: &Path,
        bad: &Bad,
        seen: &mut BTreeSet<String>,
        depth: usize,
    ) -> Vec<Node> {
        let mut out = Vec::new();
        for at in list {
            let module = &self.modules[*at];
            if depth > MOST_DEEP || !seen.insert(module.shown().to_owned()) {
                continue;
            }
            let is_bad = bad.iter().any(|(name, by)| *name == module.full && parent == Some(*by));
            let missing =
                module.needs.iter().filter(|need| self.unmet(need) == Some(Unmet::Missing));
            let mut below: Vec<Node> = missing
                .map(|(name, range)| Node {
                    text: format!("UNMET DEPENDENCY {name} ({})", with_v(range)),
                    below: Vec::new(),
                })
                .collect();
            let needs: Vec<usize> =
                module.needs.iter().filter_map(|(name, _)| self.find(name)).collect();
            below.extend(self.tree(&needs, Some(*at), dir, bad, seen, depth + 1));
            out.push(Node { text: self.node(*at, dir, is_bad), below });
        }
        out
    }
}

fn draw(nodes: &[Node], indent: &str, out: &mut String) {
    for (number, node) in nodes.iter().enumerate() {
        let is_last = number + 1 == nodes.len();
        let (corner, line) = if is_last { ("└", "  ") } else { ("├", "│ ") };
        let fork = if node.below.is_empty() { "─" } else { "┬" };
        out.push_str(&format!("{indent}{corner}─{fork} {}\n", node.text));
        draw(&node.below, &format!("{indent}{line}"), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use fx_host::MemoryHost;

    fn machine() -> MemoryHost {
        let host = MemoryHost::linux();
        for (dir, name, version, needs) in [
            ("/m/stdlib", "puppetlabs-stdlib", "1.0.0", ""),
            (
                "/m/a",
                "me-a",
                "0.1.0",
                r#"{"name":"puppetlabs/stdlib","version_requirement":">= 4.0.0"},{"name":"me/b"},{"name":"me-z","version_requirement":"1.x"}"#,
            ),
            ("/m2/b", "me-b", "0.2.0", r#"{"name":"me/c","version_requirement":">= 1.0.0"}"#),
            ("/m/c", "me-c", "1.2.0", r#"{"name":"me/b","version_requirement":">= 0.1.0"}"#),
        ] {
            let text =
                format!(r#"{{"name":"{name}","version":"{version}","dependencies":[{needs}]}}"#);
            host.put(format!("{dir}/metadata.json"), text);
        }
        host.put("/m/plain/README", "");
        host
    }

    fn told(as_tree: bool) -> String {
        let path = ["/m", "/m2", "/none"].map(PathBuf::from);
        let list = module_list(&machine(), &path, as_tree);
        format!("{}\n{}", list.warnings.join("\n"), list.text)
    }

    #[test]
    fn a_list_in_json_has_what_is_not_met() {
        let path = ["/m", "/none"].map(PathBuf::from);
        let list = module_json(&machine(), &path, "test");
        assert_eq!(list["modules_by_path"]["/m"][0], "Module a(/m/a)");
        let missing = &list["unmet_dependencies"]["missing"]["me/z"];
        assert_eq!(missing["errors"][0], "'me-a' (v0.1.0) requires 'me-z' (v1.x)");
        assert_eq!(missing["parent"]["name"], "me/a");
        let mismatch = &list["unmet_dependencies"]["version_mismatch"]["puppetlabs/stdlib"];
        assert_eq!(mismatch["version"], "1.0.0");
    }

    #[test]
    fn modules_are_listed_with_what_they_lack() {
        expect![[r#"
            Module 'puppetlabs-stdlib' (v1.0.0) fails to meet some dependencies:
              'me-a' (v0.1.0) requires 'puppetlabs-stdlib' (>= 4.0.0)
            Missing dependency 'me-z':
              'me-a' (v0.1.0) requires 'me-z' (v1.x)
            /m
            ├── me-a (v0.1.0)
            ├── me-c (v1.2.0)
            ├── plain (???)
            └── puppetlabs-stdlib (v1.0.0)  invalid
            /m2
            └── me-b (v0.2.0)
        "#]]
        .assert_eq(&told(false));
    }

    #[test]
    fn the_tree_starts_with_those_that_nobody_asks_for() {
        let tree = told(true);
        let tree = &tree[tree.find("/m\n").unwrap()..];
        expect![[r#"
            /m
            ├─┬ me-a (v0.1.0)
            │ ├── UNMET DEPENDENCY me-z (v1.x)
            │ ├── puppetlabs-stdlib (v1.0.0)  invalid
            │ └─┬ me-b (v0.2.0) [/m2]
            │   └── me-c (v1.2.0)
            └── plain (???)
            /m2
            └─┬ me-b (v0.2.0)
              └── me-c (v1.2.0) [/m]
        "#]]
        .assert_eq(tree);
    }
}
