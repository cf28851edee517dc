//! What is installed: packages by the package manager's own word, and the parts of Chef.

use std::time::Duration;

use fx_host::{Look, Spec};
use serde_json::{Map, Value as J, json};

use super::text;

pub(super) fn add(host: &dyn Look, out: &mut Map<String, J>) {
    let family = out.get("platform_family").and_then(J::as_str).unwrap_or_default();
    let packages = match family {
        "debian" => debs(&text(host, "/var/lib/dpkg/status").unwrap_or_default()),
        "rhel" | "fedora" | "suse" | "amazon" => rpms(host),
        _ => Map::new(),
    };
    out.insert("packages".into(), J::Object(packages));
    out.insert("languages".into(), json!({"ruby": {"version": "3.1.2", "platform": "x86_64-linux", "bin_dir": "/usr/bin", "ruby_bin": "/usr/bin/ruby"}}));
    out.insert(
        "chef_packages".into(),
        json!({"chef": {"version": crate::VERSION, "chef_root": "/opt/chef/embedded/lib"}, "ohai": {"version": "18.2.21", "ohai_root": "/opt/chef/embedded/lib"}}),
    );
}

/// All that dpkg knows, with the last word of each package's state. The file has about a kilobyte
/// for each package, most of it descriptions: a line is looked at only if its first letter fits.
fn debs(status: &str) -> Map<String, J> {
    let mut out = Map::new();
    let (mut name, mut version, mut arch, mut state) = ("", "", "", "");
    // An empty line ends a package, and the last one may have none.
    for line in status.split('\n').chain([""]) {
        match line.as_bytes().first() {
            None => {
                if !name.is_empty() {
                    let one = json!({"version": version, "arch": arch, "status": state});
                    out.insert(name.into(), one);
                }
                (name, version, arch, state) = ("", "", "", "");
            }
            Some(b'P' | b'V' | b'A' | b'S') => match line.split_once(": ") {
                Some(("Package", value)) => name = value,
                Some(("Version", value)) => version = value,
                Some(("Architecture", value)) => arch = value,
                Some(("Status", value)) => state = value.rsplit(' ').next().unwrap_or_default(),
                _ => {}
            },
            Some(_) => {}
        }
    }
    out
}

const PATIENCE: Duration = Duration::from_secs(30);

/// The database of rpm has had several forms; rpm itself is asked.
fn rpms(host: &dyn Look) -> Map<String, J> {
    const FORM: &str =
        "%{NAME}\\t%|EPOCH?{%{EPOCH}}:{0}|\\t%{VERSION}\\t%{RELEASE}\\t%{INSTALLTIME}\\t%{ARCH}\\n";
    // A database that somebody holds must not hold up the run.
    let asked = host.query(&Spec::argv(["rpm", "-qa", "--qf", FORM]).timeout(PATIENCE));
    asked.map(|ended| read_rpms(&String::from_utf8_lossy(&ended.stdout))).unwrap_or_default()
}

/// Of a package that is there several times the last is reported, and all in a list.
fn read_rpms(list: &str) -> Map<String, J> {
    let mut out: Map<String, J> = Map::new();
    for line in list.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [name, epoch, version, release, installed, arch] = fields[..] else { continue };
        let one = json!({"epoch": epoch, "version": version, "release": release, "installdate": installed, "arch": arch});
        let mut shown = one.clone();
        if let Some(before) = out.remove(name) {
            let mut versions = match before.get("versions") {
                Some(J::Array(versions)) => versions.clone(),
                _ => vec![before],
            };
            versions.push(one);
            shown["versions"] = J::Array(versions);
        }
        out.insert(name.into(), shown);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_dpkg_have_their_state() {
        let found = debs(
            "Package: a\nStatus: install ok installed\nArchitecture: all\nVersion: 1\n\nPackage: b\nStatus: deinstall ok config-files\nArchitecture: amd64\nVersion: 2\n",
        );
        assert_eq!(
            J::Object(found),
            json!({
                "a": {"version": "1", "arch": "all", "status": "installed"},
                "b": {"version": "2", "arch": "amd64", "status": "config-files"},
            })
        );
    }

    #[test]
    fn a_package_of_rpm_that_is_there_twice_has_both_versions() {
        let found = read_rpms("kernel\t0\t5.14\t1\t100\tx86_64\nkernel\t0\t5.14\t2\t200\tx86_64\n");
        assert_eq!(found["kernel"]["release"], json!("2"));
        let releases: Vec<&J> = found["kernel"]["versions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| &one["release"])
            .collect();
        assert_eq!(releases, ["1", "2"]);
    }
}
