//! CFEngine's view of the machine: hard classes, `sys.*` and `const.*`, from neutral facts.

mod distribution;
mod interfaces;
mod proc_net;

use std::rc::Rc;

use fx_facts::Facts;
use fx_wire::cfengine::{HostPort, PORT};

use crate::clock;
use crate::eval::Context;
use crate::eval::value::{DataType, Value};
use crate::json::{Json, Object};
use crate::peers::Peers;
use crate::text::{Str, canonify, from_path, path};

pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(crate) const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

const TIME_BASED: &str = "time_based";

fn tags(text: &str) -> Rc<[Str]> {
    text.split(',').map(Into::into).collect()
}

impl Context<'_> {
    /// Defines everything known about the machine before policy is read.
    pub(crate) fn discover(&mut self) {
        let facts = Facts::new(self.run.look());
        let agent = tags("source=agent");
        let kind = self.config.component.class();
        self.put_hard("any", &agent);
        self.put_hard(kind, &tags("cfe_internal,source=agent"));
        self.discover_time();
        self.discover_constants();
        self.discover_paths();
        self.discover_key();
        self.discover_bootstrap_id();
        self.discover_system(&facts);
        self.discover_network(&facts);
        for class in
            ["cfengine", "cfengine_3", "cfengine_3_21", "cfengine_3_21_0", "community_edition"]
        {
            self.put_hard(class, &tags("inventory,attribute_name=none,source=agent"));
        }
        self.put_hard("compiled_on_linux_gnu", &agent);
        for feature in [
            "yaml",
            "xml",
            "tls_1_0",
            "tls_1_1",
            "tls_1_2",
            "tls_1_3",
            "def_json_preparse",
            "copyfrom_restrict_keys",
            "host_specific_data_load",
        ] {
            let mut name = String::from("feature");
            self.put_hard(&name, &agent);
            for part in feature.split('_') {
                name.push('_');
                name.push_str(part);
                self.put_hard(&name, &agent);
            }
        }
        let environment = tags("cfe_internal,source=environment");
        if self.config.dry_run {
            self.put_hard("opt_dry_run", &environment);
        }
        if self.config.level >= fx_engine::Level::Debug {
            self.put_hard("opt_debug", &tags("cfe_internal,source=agent"));
        }
        for (level, class) in [
            (fx_engine::Level::Info, "inform_mode"),
            (fx_engine::Level::Verbose, "verbose_mode"),
            (fx_engine::Level::Debug, "debug_mode"),
        ] {
            if self.config.level >= level {
                self.put_hard(class, &environment);
            }
        }
    }

    fn sys(&mut self, name: &str, value: impl Into<Str>) {
        self.vars.put_string("sys", name, value, &tags("source=agent"));
    }

    fn sys_tagged(&mut self, name: &str, value: impl Into<Str>, text: &str) {
        self.vars.put_string("sys", name, value, &tags(text));
    }

    fn discover_constants(&mut self) {
        for (name, value) in [
            ("dollar", "$"),
            ("at", "@"),
            ("n", "\n"),
            ("r", "\r"),
            ("t", "\t"),
            ("endl", "\n"),
            ("dirsep", "/"),
        ] {
            self.vars.put_string("const", name, value, &tags("source=agent"));
        }
        self.vars.put_string(
            "def",
            "jq",
            "jq --compact-output --monochrome-output --ascii-output --unbuffered --sort-keys",
            &tags("invocation,source=agent,command_name=jq"),
        );
    }

    /// Brings the classes of the time up to date, for who runs on.
    pub(crate) fn renew_time(&mut self) {
        self.hard.retain(|_, class| !class.tags.iter().any(|tag| &**tag == TIME_BASED));
        self.vars.note_change();
        self.discover_time();
    }

    fn discover_time(&mut self) {
        let now = self.host().now().secs;
        crate::text::set_start(now);
        let label =
            tags(&format!("{TIME_BASED},cfengine_internal_time_based_autoremove,source=agent"));
        for (utc, prefix) in [(false, ""), (true, "GMT_")] {
            let Some(at) = clock::zoned(self, now, utc) else { continue };
            let (hour, minute) = (i64::from(at.hour()), i64::from(at.minute()));
            let shift = match hour {
                0..6 => "Night",
                6..12 => "Morning",
                12..18 => "Afternoon",
                _ => "Evening",
            };
            let five = minute / 5 * 5;
            let quarter = minute / 15 + 1;
            let weekday = DAYS[at.weekday().to_monday_zero_offset() as usize];
            let month = MONTHS[(at.month() - 1) as usize];
            for class in [
                format!("Lcycle_{}", at.year() % 3),
                format!("Yr{:04}", at.year()),
                month.to_owned(),
                weekday.to_owned(),
                format!("Day{}", at.day()),
                shift.to_owned(),
                format!("Hr{hour:02}"),
                format!("Hr{hour}"),
                format!("Q{quarter}"),
                format!("Hr{hour:02}_Q{quarter}"),
                format!("Min{minute:02}"),
                format!("Min{five:02}_{:02}", (five + 5) % 60),
            ] {
                self.put_hard(&format!("{prefix}{class}"), &label);
            }
        }
        let date = clock::format(self, now, false, "%a %b %e %H:%M:%S %Y").unwrap_or_default();
        self.sys_tagged("date", date.as_str(), "time_based,source=agent");
        self.sys_tagged("cdate", canonify(&date), "time_based,source=agent");
        self.sys_tagged("systime", now.to_string(), "time_based,source=agent");
        self.sys_tagged("sysday", (now / 86400).to_string(), "time_based,source=agent");
    }

    fn discover_paths(&mut self) {
        let paths = Rc::clone(&self.config.paths);
        let inputs = paths.inputs.clone();
        let entry = if paths.entry.starts_with('/') {
            paths.entry.clone()
        } else {
            crate::text::compress_path(&format!("{}/{}", self.config.launch_dir, paths.entry))
        };
        for (name, value) in [
            ("workdir", paths.workdir.clone()),
            ("inputdir", inputs.clone()),
            ("masterdir", paths.masterfiles.clone()),
            ("statedir", paths.state.clone()),
            ("bindir", paths.bin.clone()),
            ("logdir", paths.logs.clone()),
            ("piddir", paths.pids.clone()),
            ("libdir", format!("{inputs}/lib")),
            ("local_libdir", "lib".to_owned()),
            ("default_policy_path", format!("{inputs}/promises.cf")),
            ("failsafe_policy_path", format!("{inputs}/failsafe.cf")),
            ("update_policy_path", format!("{inputs}/update.cf")),
            ("policy_entry_filename", entry.clone()),
            (
                "policy_entry_dirname",
                entry.rfind('/').map_or("/", |at| &entry[..at.max(1)]).to_owned(),
            ),
            (
                "policy_entry_basename",
                paths.entry.rsplit('/').next().unwrap_or_default().to_owned(),
            ),
            ("cf_version_major", "3".to_owned()),
            ("cf_version_minor", "21".to_owned()),
            ("cf_version_patch", "0".to_owned()),
            ("cf_version_release", "1".to_owned()),
            ("exports", "/etc/exports".to_owned()),
            ("fstab", "/etc/fstab".to_owned()),
            ("maildir", "/var/spool/mail".to_owned()),
            ("resolv", "/etc/resolv.conf".to_owned()),
        ] {
            self.sys(name, value);
        }
        self.sys_tagged(
            "cf_version",
            "3.21.0",
            "inventory,source=agent,attribute_name=CFEngine version",
        );
        // Where the directory is missing, none of them is worth a look of its own.
        let has_bin = self.host().stat(&path(&paths.bin)).is_ok();
        for tool in [
            "cf-agent",
            "cf-promises",
            "cf-serverd",
            "cf-execd",
            "cf-key",
            "cf-secret",
            "cf-net",
            "cf-check",
            "cf-runagent",
            "cf-monitord",
            "cf-hub",
            "cf-upgrade",
            "rpmvercmp",
            "cf-twin",
        ] {
            let file = format!("{}/{tool}", paths.bin);
            if has_bin && self.host().stat(&path(&file)).is_ok() {
                let name = tool.replace('-', "_");
                self.sys_tagged(&name, format!("\"{file}\""), "cfe_internal,source=agent");
                if tool == "cf-agent" {
                    self.sys_tagged("cf_twin", format!("\"{file}\""), "cfe_internal,source=agent");
                }
            }
        }
        if let Ok(bytes) = self.host().read(&path(&format!("{}/policy_server.dat", paths.workdir)))
        {
            let server = HostPort::parse(crate::text::decode(&bytes).trim());
            let port = server.port.clone().unwrap_or_else(|| PORT.to_string());
            let address = self.host().resolve(&server.host).ok();
            let address = address.and_then(|found| found.first().map(ToString::to_string));
            self.sys("policy_hub", address.unwrap_or(server.host));
            self.sys("policy_hub_port", port);
            if self.host().stat(&path(&format!("{}/am_policy_hub", paths.state))).is_ok() {
                let old = tags("source=bootstrap,deprecated,alias=policy_server");
                self.put_hard("am_policy_hub", &old);
                let label = tags("inventory,attribute_name=CFEngine roles,source=bootstrap");
                self.put_hard("policy_server", &label);
            }
        }
    }

    fn discover_bootstrap_id(&mut self) {
        let file = format!("{}/bootstrap_id.dat", self.config.paths.workdir);
        if let Ok(bytes) = self.host().read_limited(&path(&file), 1024) {
            let id = crate::text::decode(&bytes).trim().to_owned();
            self.sys("bootstrap_id", id);
        }
    }

    // Our own key, by which others know us.
    fn discover_key(&mut self) {
        let peers = Peers::new(&self.config.paths.workdir);
        let Ok(key) = peers.own_public_key(self.host()) else { return };
        let digest = key.digest();
        let label = "inventory,attribute_name=CFEngine ID,source=agent";
        self.sys_tagged("key_digest", digest.as_str(), label);
        let class = format!("PK_{}", canonify(digest.as_str()));
        self.put_hard(&class, &tags("inventory,attribute_name=none,source=agent"));
    }

    fn discover_system(&mut self, facts: &Facts<'_>) {
        let kernel = facts.kernel().clone();
        let release = facts.os().clone();
        let machine = kernel.machine.clone();
        let system = kernel.sysname.to_ascii_lowercase();
        self.sys_tagged(
            "arch",
            machine.as_str(),
            "inventory,source=agent,attribute_name=Architecture",
        );
        self.sys_tagged("class", system.as_str(), "inventory,source=agent,attribute_name=Kernel");
        self.sys("os", system.as_str());
        self.sys_tagged(
            "release",
            kernel.release.as_str(),
            "inventory,source=agent,attribute_name=Kernel Release",
        );
        self.sys("version", kernel.version.as_str());
        self.sys("ostype", format!("{system}_{machine}"));
        let long = canonify(&format!("{system}_{machine}_{}_{}", kernel.release, kernel.version));
        self.sys("long_arch", long.as_str());
        let agent = tags("source=agent");
        let inventory = "inventory,attribute_name=none,source=agent";
        for (class, label) in [
            (system.clone(), format!("{inventory},derived-from=sys.class")),
            (
                format!("{system}_{}", kernel.release),
                format!("{inventory},derived-from=sys.sysname,derived-from=sys.release"),
            ),
            (machine.clone(), "source=agent,derived-from=sys.machine".to_owned()),
            (
                format!("{system}_{machine}"),
                "source=agent,derived-from=sys.sysname,derived-from=sys.machine".to_owned(),
            ),
            (
                format!("{system}_{machine}_{}", kernel.release),
                "source=agent,derived-from=sys.sysname,derived-from=sys.machine,derived-from=sys.release".to_owned(),
            ),
            (long, "source=agent,derived-from=sys.long_arch".to_owned()),
        ] {
            self.put_hard(&class, &tags(&label));
        }
        self.put_hard("64_bit", &agent);
        let cpus = facts.cpu().models.len().max(1);
        self.sys_tagged(
            "cpus",
            cpus.to_string(),
            "inventory,source=agent,attribute_name=CPU logical cores",
        );
        let count = if cpus == 1 { "1_cpu".to_owned() } else { format!("{cpus}_cpus") };
        self.put_hard(&count, &tags("source=agent,derived-from=sys.cpus"));
        self.discover_distribution(&release);
        let uptime = facts.uptime().seconds / 60;
        self.sys_tagged(
            "uptime",
            uptime.to_string(),
            "inventory,time_based,source=agent,attribute_name=Uptime minutes",
        );
        self.discover_user();
    }

    fn discover_user(&mut self) {
        let uid = self.host().euid();
        let Some(user) = self.host().user_by_id(uid).ok().flatten() else { return };
        let mut object = Object::new();
        object.insert("username".into(), Json::str(&user.name));
        object.insert("description".into(), Json::str(&user.comment));
        object.insert("home_dir".into(), Json::Str(from_path(&user.home).into()));
        object.insert("shell".into(), Json::Str(from_path(&user.shell).into()));
        object.insert("uid".into(), Json::Int(i64::from(user.uid)));
        object.insert("gid".into(), Json::Int(i64::from(user.gid)));
        let data = Value::Data(Rc::new(Json::Object(object)));
        self.vars.put("sys", "user_data", DataType::Data, data, &tags("source=agent,user_info"));
    }

    fn discover_network(&mut self, facts: &Facts<'_>) {
        let network = facts.network();
        let host = network.hostname.clone();
        let domain = network.domain.clone().unwrap_or_default();
        let full = if domain.is_empty() { host.clone() } else { format!("{host}.{domain}") };
        self.sys_tagged(
            "host",
            facts.kernel().nodename.as_str(),
            "inventory,source=agent,attribute_name=none",
        );
        self.sys_tagged("uqhost", host.as_str(), "inventory,source=agent,attribute_name=none");
        self.sys_tagged("fqhost", full.as_str(), "inventory,source=agent,attribute_name=Host name");
        self.sys("domain", domain.as_str());
        let label = tags("inventory,attribute_name=none,source=agent,derived-from=sys.fqhost");
        self.put_hard(&full, &label);
        // Every part of the full name after a dot is a class too.
        let mut rest = full.as_str();
        while let Some((_, after)) = rest.split_once('.') {
            self.put_hard(after, &label);
            rest = after;
        }
        self.put_hard(&host, &tags("source=agent,derived-from=sys.uqhost"));
        self.put_hard(&domain, &tags("source=agent,derived-from=sys.domain"));
        self.discover_interfaces(network);
        self.discover_gateways();
    }
}
