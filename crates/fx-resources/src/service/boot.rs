//! Init scripts at boot: the links that start them, and the tools that make these links.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use fx_engine::Failure;
use fx_host::Look;

/// Where run levels link to scripts, Debian's places first.
const LEVELS: [&str; 2] = ["/etc/rc{}.d", "/etc/rc.d/rc{}.d"];

/// A link of a run level, such as `S20name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The run level: a digit, or `S`.
    pub level: String,
    /// Whether it starts the script, or stops it.
    pub starts: bool,
    /// Its place in the order, two digits.
    pub order: String,
}

/// The links of these run levels to the script of a service.
pub fn links(host: &dyn Look, service: &str, levels: &[&str]) -> Result<Vec<Link>, Failure> {
    let mut found = Vec::new();
    for level in levels {
        for pattern in LEVELS {
            let dir = PathBuf::from(pattern.replace("{}", level));
            if host.stat_opt(&dir)?.is_none() {
                continue;
            }
            for entry in host.list(&dir)? {
                if let Some((starts, order)) = link(entry.name.as_bytes(), service) {
                    found.push(Link { level: (*level).to_owned(), starts, order });
                }
            }
        }
    }
    Ok(found)
}

// `S20name` starts it, `K20name` stops it.
fn link(name: &[u8], service: &str) -> Option<(bool, String)> {
    let starts = match name.first()? {
        b'S' => true,
        b'K' => false,
        _ => return None,
    };
    let order = name.get(1..3).filter(|number| number.iter().all(u8::is_ascii_digit))?;
    let order = String::from_utf8_lossy(order).into_owned();
    (name.get(3..)? == service.as_bytes()).then_some((starts, order))
}

/// What makes the links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Debian's.
    UpdateRcD,
    /// Red Hat's.
    Chkconfig,
    /// By what scripts say of each other.
    Insserv,
}

/// Whose words a tool is called with, where the originals differ.
#[derive(Clone, Debug, Default)]
pub enum Dialect {
    /// By the order that is in the script.
    #[default]
    Puppet,
    /// With what its resources say of order and run levels.
    Chef(Order),
}

/// What a resource of Chef says of the order.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// The place among the scripts of all levels.
    pub place: Option<i64>,
    /// Levels, each with whether the service starts there.
    pub levels: Vec<(String, bool)>,
    /// Run levels, by their digits, in which it starts.
    pub run_levels: String,
    /// Run levels in which it starts now and should not.
    pub surplus: String,
}

/// The commands that make a service start at boot, or not.
pub fn switch(tool: Tool, dialect: &Dialect, service: &str, on: bool) -> Vec<Vec<String>> {
    let commands: Vec<Vec<&str>> = match (tool, dialect) {
        (Tool::UpdateRcD, Dialect::Chef(order)) => return update_rc_d(order, service, on),
        (Tool::Chkconfig, Dialect::Chef(order)) => return chkconfig(order, service, on),
        // The links must exist before `enable` can switch them.
        (Tool::UpdateRcD, Dialect::Puppet) if on => {
            vec![vec!["update-rc.d", service, "defaults"], vec!["update-rc.d", service, "enable"]]
        }
        (Tool::UpdateRcD, Dialect::Puppet) => vec![vec!["update-rc.d", service, "disable"]],
        (Tool::Chkconfig, Dialect::Puppet) if on => {
            vec![vec!["chkconfig", "--add", service], vec!["chkconfig", service, "on"]]
        }
        (Tool::Chkconfig, Dialect::Puppet) => vec![vec!["chkconfig", service, "off"]],
        (Tool::Insserv, _) => {
            let call = |flag| vec!["/sbin/insserv", flag, "-f", "--", service];
            if on { vec![call("-r"), call("-d")] } else { vec![call("-r")] }
        }
    };
    commands.iter().map(|words| words.iter().map(|word| (*word).to_owned()).collect()).collect()
}

// Links are made anew, since those that exist keep their order.
fn update_rc_d(order: &Order, service: &str, on: bool) -> Vec<Vec<String>> {
    let call = |words: &[&str]| {
        let words = ["/usr/sbin/update-rc.d"].iter().chain(words);
        words.map(|word| (*word).to_owned()).collect::<Vec<String>>()
    };
    let mut commands = vec![call(&["-f", service, "remove"])];
    if !order.levels.is_empty() {
        commands.push(call(&[service, "defaults"]));
        for (level, starts) in &order.levels {
            commands.push(call(&[service, if *starts { "enable" } else { "disable" }, level]));
        }
    } else if on {
        let place = order.place.unwrap_or(20);
        let (start, stop) = (place.to_string(), (100 - place).to_string());
        commands.push(call(&[service, "defaults", &start, &stop]));
    } else {
        commands.push(call(&[service, "defaults"]));
        commands.push(call(&[service, "disable"]));
    }
    commands
}

fn chkconfig(order: &Order, service: &str, on: bool) -> Vec<Vec<String>> {
    let call = |levels: &str, word: &str| {
        let mut words = vec!["/sbin/chkconfig".to_owned()];
        if !levels.is_empty() {
            words.extend(["--level".to_owned(), levels.to_owned()]);
        }
        words.extend([service.to_owned(), word.to_owned()]);
        words
    };
    let mut commands = Vec::new();
    if on && !order.run_levels.is_empty() && !order.surplus.is_empty() {
        commands.push(call(&order.surplus, "off"));
    }
    commands.push(call(&order.run_levels, if on { "on" } else { "off" }));
    commands
}

#[cfg(test)]
mod tests {
    use super::*;
    use fx_host::MemoryHost;

    fn lines(tool: Tool, dialect: &Dialect, on: bool) -> String {
        let commands = switch(tool, dialect, "app", on);
        commands.iter().map(|words| words.join(" ")).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn each_original_calls_the_tools_in_its_own_words() {
        let chef = |order| Dialect::Chef(order);
        let placed = || chef(Order { place: Some(80), ..Order::default() });
        let levels = vec![("2".to_owned(), true), ("0".to_owned(), false)];
        let levels = || chef(Order { levels: levels.clone(), ..Order::default() });
        let runs = || {
            let (run_levels, surplus) = ("35".to_owned(), "2".to_owned());
            chef(Order { run_levels, surplus, ..Order::default() })
        };
        let rc = "/usr/sbin/update-rc.d";
        let table = [
            (
                Tool::UpdateRcD,
                Dialect::Puppet,
                true,
                "update-rc.d app defaults; update-rc.d app enable".to_owned(),
            ),
            (Tool::UpdateRcD, Dialect::Puppet, false, "update-rc.d app disable".to_owned()),
            (
                Tool::UpdateRcD,
                placed(),
                true,
                format!("{rc} -f app remove; {rc} app defaults 80 20"),
            ),
            (
                Tool::UpdateRcD,
                placed(),
                false,
                format!("{rc} -f app remove; {rc} app defaults; {rc} app disable"),
            ),
            (
                Tool::UpdateRcD,
                levels(),
                true,
                format!(
                    "{rc} -f app remove; {rc} app defaults; {rc} app enable 2; {rc} app disable 0"
                ),
            ),
            (
                Tool::Chkconfig,
                Dialect::Puppet,
                true,
                "chkconfig --add app; chkconfig app on".to_owned(),
            ),
            (Tool::Chkconfig, chef(Order::default()), true, "/sbin/chkconfig app on".to_owned()),
            (
                Tool::Chkconfig,
                runs(),
                true,
                "/sbin/chkconfig --level 2 app off; /sbin/chkconfig --level 35 app on".to_owned(),
            ),
            (Tool::Chkconfig, runs(), false, "/sbin/chkconfig --level 35 app off".to_owned()),
            (
                Tool::Insserv,
                chef(Order::default()),
                true,
                "/sbin/insserv -r -f -- app; /sbin/insserv -d -f -- app".to_owned(),
            ),
        ];
        for (tool, dialect, on, expected) in table {
            assert_eq!(lines(tool, &dialect, on), expected, "{tool:?} {dialect:?} {on}");
        }
    }

    #[test]
    fn links_are_found_by_level_and_name() {
        let host = MemoryHost::linux();
        for name in ["rc2.d/S20app", "rc2.d/S21apple", "rc0.d/K01app", "rc2.d/README"] {
            host.put(format!("/etc/{name}"), "");
        }
        let found = links(&host, "app", &["0", "2", "3"]).unwrap();
        let shown: Vec<String> = found
            .iter()
            .map(|link| format!("{} {} {}", link.level, link.starts, link.order))
            .collect();
        assert_eq!(shown, ["0 false 01", "2 true 20"]);
    }
}
