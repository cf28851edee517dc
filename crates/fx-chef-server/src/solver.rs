//! Versions, constraints, and the choice of cookbooks for a run list.

use std::collections::{BTreeMap, BTreeSet};

use fx_fleet::Stopped;
use serde_json::{Map, Value, json};

use crate::context::{Answer, Context, fail};
use crate::message::Reply;
use crate::{environments, manifest, run_list};

/// A version of a cookbook: three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) [u64; 3]);

impl Version {
    /// `x`, `x.y` or `x.y.z`.
    pub(crate) fn parse(text: &str) -> Option<Version> {
        let mut numbers = [0; 3];
        let mut parts = text.split('.');
        for number in &mut numbers {
            let Some(part) = parts.next() else { break };
            if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            *number = part.parse().ok().filter(|value| i64::try_from(*value).is_ok())?;
        }
        parts.next().is_none().then_some(Version(numbers))
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.0;
        write!(out, "{x}.{y}.{z}")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    Above,
    Below,
    AtLeast,
    AtMost,
    /// At least so much, and the same up to the last but one of the numbers given.
    Close(usize),
}

/// What is demanded of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Constraint {
    operator: Operator,
    version: Version,
    text: String,
}

impl Constraint {
    /// An operator, a space and a version, or a bare version.
    pub(crate) fn parse(text: &str) -> Option<Constraint> {
        let (operator, version) = match text.split_once(' ') {
            Some(parts) => parts,
            None => ("=", text),
        };
        let operator = match operator {
            "=" => Operator::Equal,
            ">" => Operator::Above,
            "<" => Operator::Below,
            ">=" => Operator::AtLeast,
            "<=" => Operator::AtMost,
            "~>" => Operator::Close(version.split('.').count()),
            _ => return None,
        };
        if version.split('.').count() < 2 && operator != Operator::Equal {
            // `>= 1` is written by hand and understood by everybody.
            Version::parse(version)?;
        }
        let version = Version::parse(version)?;
        Some(Constraint { operator, version, text: text.to_owned() })
    }

    pub(crate) fn any() -> Constraint {
        let version = Version([0; 3]);
        Constraint { operator: Operator::AtLeast, version, text: ">= 0.0.0".into() }
    }

    fn pinned(version: Version) -> Constraint {
        Constraint { operator: Operator::Equal, version, text: format!("= {version}") }
    }

    pub(crate) fn allows(&self, version: Version) -> bool {
        let wanted = self.version;
        match self.operator {
            Operator::Equal => version == wanted,
            Operator::Above => version > wanted,
            Operator::Below => version < wanted,
            Operator::AtLeast => version >= wanted,
            Operator::AtMost => version <= wanted,
            Operator::Close(given) => {
                let same = given.saturating_sub(1).clamp(1, 2);
                version >= wanted && version.0[..same] == wanted.0[..same]
            }
        }
    }
}

/// Cookbooks by name, their versions with what each depends on.
pub(crate) type Universe = BTreeMap<String, BTreeMap<Version, Vec<(String, Constraint)>>>;

/// An item of a run list: a cookbook, perhaps in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    name: String,
    constraint: Constraint,
}

impl Demand {
    fn shown(&self) -> String {
        format!("({} {})", self.name, self.constraint.text)
    }
}

/// Why there is no choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unsolved {
    /// Cookbooks of the run list that are not there.
    Absent(Vec<String>),
    /// A cookbook of the run list without a version that is allowed.
    NoVersion(String),
    /// What the first failing item pulls in cannot be had.
    Unsatisfied {
        item: String,
        package: String,
        is_absent: bool,
        because: Vec<String>,
        most: Vec<String>,
    },
}

/// The steps that a search takes at most; who asks for more gets an error, not a wait.
const STEPS: u32 = 200_000;

/// A version for each cookbook that the demands need, the newest in the order of the demands.
pub(crate) fn choose(
    universe: &Universe,
    demands: &[Demand],
) -> Result<BTreeMap<String, Version>, Unsolved> {
    let absent: Vec<String> = demands
        .iter()
        .filter(|demand| !universe.contains_key(&demand.name))
        .map(|demand| demand.name.clone())
        .collect();
    if !absent.is_empty() {
        return Err(Unsolved::Absent(absent));
    }
    for demand in demands {
        let versions = &universe[&demand.name];
        if !versions.keys().any(|version| demand.constraint.allows(*version)) {
            return Err(Unsolved::NoVersion(demand.shown()));
        }
    }
    let mut steps = STEPS;
    for count in 1..=demands.len() {
        let open: Vec<(String, Constraint)> = demands[..count]
            .iter()
            .map(|demand| (demand.name.clone(), demand.constraint.clone()))
            .collect();
        if search(universe, &open, &mut BTreeMap::new(), &mut steps).is_none() {
            return Err(unsatisfied(universe, &demands[count - 1]));
        }
    }
    let open: Vec<(String, Constraint)> =
        demands.iter().map(|demand| (demand.name.clone(), demand.constraint.clone())).collect();
    let mut chosen = BTreeMap::new();
    search(universe, &open, &mut chosen, &mut steps);
    Ok(chosen)
}

/// Chooses for the first open constraint, newest first, and goes on with what it pulls in.
fn search(
    universe: &Universe,
    open: &[(String, Constraint)],
    chosen: &mut BTreeMap<String, Version>,
    steps: &mut u32,
) -> Option<()> {
    *steps = steps.checked_sub(1)?;
    let Some(((name, constraint), rest)) = open.split_first() else { return Some(()) };
    if let Some(version) = chosen.get(name) {
        return constraint
            .allows(*version)
            .then_some(())
            .and_then(|()| search(universe, rest, chosen, steps));
    }
    let versions = universe.get(name)?;
    for (version, needs) in versions.iter().rev() {
        let allowed = std::iter::once(constraint)
            .chain(rest.iter().filter(|(other, _)| other == name).map(|(_, one)| one))
            .all(|one| one.allows(*version));
        let fits = needs
            .iter()
            .all(|(other, one)| chosen.get(other).is_none_or(|chosen| one.allows(*chosen)));
        if !allowed || !fits {
            continue;
        }
        let before = chosen.clone();
        chosen.insert(name.clone(), *version);
        let more: Vec<(String, Constraint)> = rest.iter().chain(needs).cloned().collect();
        if search(universe, &more, chosen, steps).is_some() {
            return Some(());
        }
        *chosen = before;
    }
    None
}

/// What the item cannot have: the first dependency, nearest first, that nothing satisfies.
fn unsatisfied(universe: &Universe, demand: &Demand) -> Unsolved {
    let mut seen = BTreeSet::new();
    let mut paths = vec![(demand.name.clone(), Vec::new())];
    // The first that nothing satisfies counts; where all could be had alone, the first one.
    let mut last: Option<(String, Vec<String>, String)> = None;
    let mut is_sure = false;
    while let Some((name, path)) = (!paths.is_empty()).then(|| paths.remove(0)) {
        if !seen.insert(name.clone()) {
            continue;
        }
        let Some(versions) = universe.get(&name) else { continue };
        for (version, needs) in versions.iter().rev() {
            for (other, constraint) in needs {
                let mut why: Vec<String> = path.clone();
                why.push(format!("({name} = {version}) -> ({other} {})", constraint.text));
                match universe.get(other) {
                    None => {
                        return Unsolved::Unsatisfied {
                            item: demand.shown(),
                            package: other.clone(),
                            is_absent: true,
                            because: why,
                            most: Vec::new(),
                        };
                    }
                    Some(known) => {
                        let is_met = known.keys().any(|one| constraint.allows(*one));
                        let newest = known.last_key_value();
                        if (!is_met && !is_sure) || last.is_none() {
                            is_sure = !is_met;
                            let most = newest.map_or_else(String::new, |(version, needs)| {
                                let needs: Vec<String> = needs
                                    .iter()
                                    .map(|(name, one)| format!("({name} {})", one.text))
                                    .collect();
                                format!("{other} = {version} -> [{}]", needs.join(", "))
                            });
                            last = Some((other.clone(), why.clone(), most));
                        }
                        paths.push((other.clone(), why));
                    }
                }
            }
        }
    }
    let (package, because, most) =
        last.unwrap_or_else(|| (demand.name.clone(), Vec::new(), String::new()));
    Unsolved::Unsatisfied {
        item: demand.shown(),
        package,
        is_absent: false,
        because,
        most: vec![most],
    }
}

/// The body of the reply that says why.
fn explained(why: &Unsolved) -> Value {
    match why {
        Unsolved::Absent(names) => {
            let plural = if names.len() == 1 { "" } else { "s" };
            json!({
                "message": format!("Run list contains invalid items: no such cookbook{plural} {}.", names.join(", ")),
                "non_existent_cookbooks": names,
                "cookbooks_with_no_versions": [],
            })
        }
        Unsolved::NoVersion(item) => json!({
            "message": format!("Run list contains invalid items: no versions match the constraints on cookbook {item}."),
            "non_existent_cookbooks": [],
            "cookbooks_with_no_versions": [item],
        }),
        Unsolved::Unsatisfied { item, package, is_absent, because, most } => {
            let absent = if *is_absent { ", which does not exist," } else { "" };
            let because = because.join(" -> ");
            let message = format!(
                "Unable to satisfy constraints on package {package}{absent} due to solution constraint {item}. Solution constraints that may result in a constraint on {package}: [{because}]"
            );
            let non_existent: Vec<&String> = is_absent.then_some(package).into_iter().collect();
            let most: Vec<&String> = most.iter().filter(|_| !is_absent).collect();
            json!({
                "message": message,
                "unsatisfiable_run_list_item": item,
                "non_existent_cookbooks": non_existent,
                "most_constrained_cookbooks": most,
            })
        }
    }
}

/// The items of a body's run list, each cookbook once.
fn demands(body: &Map<String, Value>) -> Answer<Vec<Demand>> {
    let list = match body.get("run_list") {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return fail(400, "Field 'run_list' is not a valid run list"),
    };
    let mut found: Vec<Demand> = Vec::new();
    for item in list {
        let text = item.as_str().unwrap_or_default();
        let inner = text.strip_prefix("recipe[").and_then(|rest| rest.strip_suffix(']'));
        let inner = inner.unwrap_or(text);
        if !run_list::is_recipe(inner) {
            return fail(400, "Field 'run_list' is not a valid run list");
        }
        let (name, version) = inner.split_once('@').unwrap_or((inner, ""));
        let name = name.split("::").next().unwrap_or(name).to_owned();
        let constraint = Version::parse(version).map_or_else(Constraint::any, Constraint::pinned);
        let demand = Demand { name, constraint };
        if !found.contains(&demand) {
            found.push(demand);
        }
    }
    Ok(found)
}

/// `POST environments/E/cookbook_versions`
pub(crate) fn solve(context: &mut Context<'_, '_>, parts: &[String]) -> Answer {
    let body = context.body()?;
    let demands = demands(&body)?;
    let Some(environment) = context.own("environment", &parts[0])? else {
        return fail(404, format!("environment '{}' not found", parts[0]));
    };
    context.need("read", "containers", "cookbooks")?;
    context.need("read", "environments", &parts[0])?;
    let limits = environments::constraints(&environment);
    let mut universe = Universe::new();
    for (name, version, record) in manifest::all(context)? {
        let allowed = limits.iter().filter(|(known, _)| *known == name);
        let entry = universe.entry(name.clone()).or_default();
        if allowed.into_iter().all(|(_, constraint)| constraint.allows(version)) {
            entry.insert(version, manifest::dependencies(&record));
        }
    }
    match choose(&universe, &demands) {
        Ok(chosen) => {
            let mut rows = Map::new();
            let mut refused = Vec::new();
            for (name, version) in chosen {
                if !context.may("read", "cookbooks", &name)? {
                    refused.push(name);
                    continue;
                }
                let key = format!("{name}/{version}");
                let record = context.own("cookbook", &key)?.unwrap_or_default();
                rows.insert(name, manifest::minimal(context, &record));
            }
            if !refused.is_empty() {
                let body = json!({"error": [{
                    "message": "Read permission is not granted for one or more cookbooks",
                    "unauthorized_cookbooks": refused,
                }]});
                return Err(Stopped::Caller(Reply::json(403, &body)));
            }
            Ok(Reply::ok(&Value::Object(rows)))
        }
        Err(why) => Err(Stopped::Caller(Reply::json(412, &json!({"error": [explained(&why)]})))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

    fn universe(rows: &[Row<'_>]) -> Universe {
        let mut all = Universe::new();
        for (name, version, needs) in rows {
            let needs = needs
                .iter()
                .map(|(name, text)| ((*name).to_owned(), Constraint::parse(text).unwrap()))
                .collect();
            let version = Version::parse(version).unwrap();
            all.entry((*name).to_owned()).or_default().insert(version, needs);
        }
        all
    }

    fn demand(text: &str) -> Demand {
        let (name, version) = text.split_once('@').unwrap_or((text, ""));
        let constraint = Version::parse(version).map_or_else(Constraint::any, Constraint::pinned);
        Demand { name: name.to_owned(), constraint }
    }

    #[test]
    fn constraints_allow_what_they_say() {
        for (constraint, good, bad) in [
            ("~> 1.2", &["1.2.0", "1.9.0"][..], &["2.0.0", "1.1.9"][..]),
            ("~> 1.2.3", &["1.2.3", "1.2.9"], &["1.3.0", "1.2.2"]),
            (">= 1.0", &["1.0.0", "2.0.0"], &["0.9.9"]),
            ("1.0", &["1.0.0"], &["1.0.1"]),
            ("< 2.0.0", &["1.9.9"], &["2.0.0"]),
        ] {
            let constraint = Constraint::parse(constraint).unwrap();
            let allows = |text: &&&str| constraint.allows(Version::parse(text).unwrap());
            assert!(good.iter().all(|one| allows(&one)), "{constraint:?}");
            assert!(!bad.iter().any(|one| allows(&one)), "{constraint:?}");
        }
        for bad in ["", "1.2.3.4", "a", ">= x", ">=1.0", "=> 1.0", "1..2", "-1.0"] {
            assert_eq!(Constraint::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_newest_are_chosen_and_earlier_choices_given_up_where_they_must() {
        let all = universe(&[
            ("a", "2.0", &[("c", "= 1.0")]),
            ("a", "1.0", &[("c", ">= 1.0")]),
            ("b", "1.0", &[("c", "= 2.0")]),
            ("c", "1.0", &[]),
            ("c", "2.0", &[]),
        ]);
        let chosen = choose(&all, &[demand("a"), demand("b")]).unwrap();
        let shown: Vec<String> =
            chosen.iter().map(|(name, version)| format!("{name} {version}")).collect();
        assert_eq!(shown, ["a 1.0.0", "b 1.0.0", "c 2.0.0"]);
        let chosen = choose(&all, &[demand("a")]).unwrap();
        assert_eq!(chosen["a"], Version([2, 0, 0]));
    }

    #[test]
    fn circles_are_fine() {
        let all = universe(&[("a", "1.0", &[("b", ">= 0.0")]), ("b", "1.0", &[("a", ">= 0.0")])]);
        assert_eq!(choose(&all, &[demand("a")]).unwrap().len(), 2);
    }

    #[test]
    fn what_cannot_be_had_is_said() {
        let all = universe(&[
            ("foo", "1.2.3", &[("bar", "> 2.0.0")]),
            ("bar", "2.0.0", &[("foo", "> 3.0.0")]),
            ("lost", "1.0.0", &[("none", ">= 0.0.0")]),
        ]);
        let message = |items: &[&str]| {
            let demands: Vec<Demand> = items.iter().map(|item| demand(item)).collect();
            let why = choose(&all, &demands).unwrap_err();
            explained(&why)["message"].as_str().unwrap().to_owned()
        };
        assert_eq!(
            message(&["x", "foo", "y"]),
            "Run list contains invalid items: no such cookbooks x, y."
        );
        assert_eq!(
            message(&["foo@3.0.0"]),
            "Run list contains invalid items: no versions match the constraints on cookbook (foo = 3.0.0)."
        );
        assert_eq!(
            message(&["foo"]),
            "Unable to satisfy constraints on package bar due to solution constraint (foo >= 0.0.0). Solution constraints that may result in a constraint on bar: [(foo = 1.2.3) -> (bar > 2.0.0)]"
        );
        assert_eq!(
            message(&["lost"]),
            "Unable to satisfy constraints on package none, which does not exist, due to solution constraint (lost >= 0.0.0). Solution constraints that may result in a constraint on none: [(lost = 1.0.0) -> (none >= 0.0.0)]"
        );
    }
}
