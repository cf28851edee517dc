//! Data as knife prints it: lines of keys and values, or JSON laid out as its library does.

use serde_json::{Map, Value as J};

fn is_single(value: &J) -> bool {
    !matches!(value, J::Array(_) | J::Object(_))
}

/// Adds to a text, which cannot fail.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _infallible = std::fmt::Write::write_fmt(out, text);
}

/// A value that stands on one line.
pub(super) fn plain(value: &J) -> String {
    match value {
        J::Null => String::new(),
        J::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Keys with their values, sorted; what holds others is indented below its key.
pub(super) fn text(value: &J) -> String {
    match value {
        J::Object(all) => of_object(all),
        J::Array(all) => {
            let mut out = String::new();
            for (at, item) in all.iter().enumerate() {
                out.push_str(&text(item));
                if !is_single(item) && at + 1 < all.len() {
                    out.push('\n');
                }
            }
            out
        }
        single => plain(single) + "\n",
    }
}

fn of_object(all: &Map<String, J>) -> String {
    let width = all.keys().map(|key| key.chars().count()).max().unwrap_or(0) + 1;
    let mut keys: Vec<&String> = all.keys().collect();
    keys.sort_unstable();
    let mut out = String::new();
    for key in keys {
        let value = match &all[key] {
            J::Array(items) if items.len() == 1 && is_single(&items[0]) => &items[0],
            value => value,
        };
        if is_single(value) {
            let label = format!("{key}:");
            put(&mut out, format_args!("{label:<width$} {}\n", plain(value)));
            continue;
        }
        put(&mut out, format_args!("{key}:\n"));
        let inner = text(value);
        // Empty lines at the end are not kept.
        for line in inner.trim_end_matches('\n').split('\n').filter(|_| !inner.is_empty()) {
            put(&mut out, format_args!("  {line}\n"));
        }
    }
    out
}

/// JSON as yajl lays it out: an empty container takes three lines.
pub(super) fn json(value: &J) -> String {
    laid_out(value, "") + "\n"
}

fn laid_out(value: &J, pad: &str) -> String {
    let deep = format!("{pad}  ");
    match value {
        J::Object(all) => {
            let rows: Vec<String> = all
                .iter()
                .map(|(key, value)| {
                    format!("{deep}{}: {}", J::from(key.as_str()), laid_out(value, &deep))
                })
                .collect();
            format!("{{\n{}\n{pad}}}", rows.join(",\n"))
        }
        J::Array(all) => {
            let rows: Vec<String> =
                all.iter().map(|value| format!("{deep}{}", laid_out(value, &deep))).collect();
            format!("[\n{}\n{pad}]", rows.join(",\n"))
        }
        single => single.to_string(),
    }
}

/// The summary of a node.
pub(super) fn node(node: &J) -> String {
    let automatic = &node["automatic"];
    let list = |value: &J| {
        let items = value.as_array().into_iter().flatten();
        items.map(plain).collect::<Vec<_>>().join(", ")
    };
    let cloud = &automatic["cloud"]["public_ipv4_addrs"][0];
    let ip = if cloud.is_string() { cloud } else { &automatic["ipaddress"] };
    let mut out = format!("Node Name:   {}\n", plain(&node["name"]));
    let by_policy = node["policy_name"].is_string() || node["policy_group"].is_string();
    if by_policy {
        put(
            &mut out,
            format_args!(
                "Policy Name:  {}\nPolicy Group: {}\n",
                plain(&node["policy_name"]),
                plain(&node["policy_group"])
            ),
        );
    } else {
        put(&mut out, format_args!("Environment: {}\n", plain(&node["chef_environment"])));
    }
    put(
        &mut out,
        format_args!("FQDN:        {}\nIP:          {}\n", plain(&automatic["fqdn"]), plain(ip)),
    );
    put(&mut out, format_args!("Run List:    {}\n", list(&node["run_list"])));
    if !by_policy {
        put(&mut out, format_args!("Roles:       {}\n", list(&automatic["roles"])));
    }
    let platform =
        format!("{} {}", plain(&automatic["platform"]), plain(&automatic["platform_version"]));
    put(
        &mut out,
        format_args!(
            "Recipes:     {}\nPlatform:    {}\nTags:        {}\n",
            list(&automatic["recipes"]),
            platform.trim_end(),
            list(&node["normal"]["tags"])
        ),
    );
    out
}

#[cfg(test)]
mod tests {
    use super::{json, text};
    use serde_json::json as j;

    #[test]
    fn data_is_printed_as_recorded() {
        let role = j!({"chef_type": "role", "default_attributes": {"color": "red"}, "description": "",
            "env_run_lists": {}, "run_list": ["recipe[web]"]});
        assert_eq!(
            text(&role),
            "chef_type:          role\ndefault_attributes:\n  color: red\ndescription:        \nenv_run_lists:\nrun_list:           recipe[web]\n"
        );
        let two = j!({"x1": {"run_list": ["recipe[base]", "role[web]"]}});
        assert_eq!(text(&two), "x1:\n  run_list:\n    recipe[base]\n    role[web]\n");
        let item = j!({"id": "alice", "none": {}});
        assert_eq!(json(&item), "{\n  \"id\": \"alice\",\n  \"none\": {\n\n  }\n}\n");
    }
}
