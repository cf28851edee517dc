//! The snapshot: a cell for each part, filled on first use, and its form as plain data.

use std::cell::{OnceCell, RefCell};
use std::time::Duration;

use fx_host::{Look, Uname};
use fx_value::Value;

use crate::probe::{cpu, disk, dmi, memory, network, os, software, time, user, virt};

/// What could not be learned, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Name of the part.
    pub fact: &'static str,
    /// One line for people.
    pub message: String,
}

/// Time that all answers of file systems together may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The facts of one machine at one time.
pub struct Facts<'h> {
    host: &'h dyn Look,
    os: OnceCell<os::Os>,
    kernel: OnceCell<Uname>,
    cpu: OnceCell<cpu::Cpu>,
    memory: OnceCell<memory::Memory>,
    network: OnceCell<network::Network>,
    disks: OnceCell<Vec<disk::Disk>>,
    mounts: OnceCell<Vec<disk::Mount>>,
    dmi: OnceCell<Vec<(&'static str, String)>>,
    virtualization: OnceCell<virt::Virtualization>,
    identity: OnceCell<user::Identity>,
    uptime: OnceCell<time::Uptime>,
    timezone: OnceCell<time::Timezone>,
    software: OnceCell<software::Software>,
    problems: RefCell<Vec<Problem>>,
}

/// Names of the parts, in the order in which they are shown.
pub(crate) const PARTS: [&str; 13] = [
    "cpu",
    "disks",
    "dmi",
    "identity",
    "kernel",
    "memory",
    "mounts",
    "network",
    "os",
    "software",
    "timezone",
    "uptime",
    "virtualization",
];

impl<'h> Facts<'h> {
    /// Nothing is probed yet.
    pub fn new(host: &'h dyn Look) -> Facts<'h> {
        Facts {
            host,
            os: OnceCell::new(),
            kernel: OnceCell::new(),
            cpu: OnceCell::new(),
            memory: OnceCell::new(),
            network: OnceCell::new(),
            disks: OnceCell::new(),
            mounts: OnceCell::new(),
            dmi: OnceCell::new(),
            virtualization: OnceCell::new(),
            identity: OnceCell::new(),
            uptime: OnceCell::new(),
            timezone: OnceCell::new(),
            software: OnceCell::new(),
            problems: RefCell::default(),
        }
    }

    /// The distribution.
    pub fn os(&self) -> &os::Os {
        self.os.get_or_init(|| os::probe(self.host))
    }

    /// Kernel and node names.
    pub fn kernel(&self) -> &Uname {
        self.kernel.get_or_init(|| self.host.uname())
    }

    /// Processors.
    pub fn cpu(&self) -> &cpu::Cpu {
        self.cpu.get_or_init(|| cpu::probe(self.host))
    }

    /// Memory and swap, in bytes.
    pub fn memory(&self) -> &memory::Memory {
        self.memory.get_or_init(|| memory::probe(self.host))
    }

    /// Names, interfaces and addresses.
    pub fn network(&self) -> &network::Network {
        self.network.get_or_init(|| network::probe(self.host))
    }

    /// Block devices.
    pub fn disks(&self) -> &[disk::Disk] {
        self.disks.get_or_init(|| disk::disks(self.host))
    }

    /// Mounted file systems with their room.
    pub fn mounts(&self) -> &[disk::Mount] {
        self.mounts.get_or_init(|| {
            disk::mounts(self.host, PATIENCE, &|message| self.report("mounts", message))
        })
    }

    /// What the firmware says of the machine, by the kernel's names.
    pub fn dmi(&self) -> &[(&'static str, String)] {
        self.dmi.get_or_init(|| dmi::probe(self.host))
    }

    /// One entry of [`Facts::dmi`].
    pub fn dmi_value(&self, name: &str) -> Option<&str> {
        self.dmi().iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// Hypervisor or container around us.
    pub fn virtualization(&self) -> &virt::Virtualization {
        self.virtualization.get_or_init(|| virt::probe(self.host, self))
    }

    /// Who we are.
    pub fn identity(&self) -> &user::Identity {
        self.identity.get_or_init(|| user::probe(self.host))
    }

    /// Since when the machine runs.
    pub fn uptime(&self) -> &time::Uptime {
        self.uptime.get_or_init(|| time::uptime(self.host))
    }

    /// Time zone of the machine.
    pub fn timezone(&self) -> &time::Timezone {
        self.timezone.get_or_init(|| time::timezone(self.host))
    }

    /// Package manager and init system.
    pub fn software(&self) -> &software::Software {
        self.software.get_or_init(|| software::probe(self.host))
    }

    /// What could not be learned so far.
    pub fn problems(&self) -> Vec<Problem> {
        self.problems.borrow().clone()
    }

    fn report(&self, fact: &'static str, message: String) {
        self.problems.borrow_mut().push(Problem { fact, message });
    }

    /// Names of the parts, in the order in which they are shown.
    pub fn names() -> &'static [&'static str] {
        &PARTS
    }

    /// A fact by its dotted name, such as `os.id` or `mounts.0.path`; only its part is probed.
    pub fn get(&self, name: &str) -> Option<Value> {
        let (part, rest) = name.split_once('.').unwrap_or((name, ""));
        let path: Vec<&str> = rest.split('.').filter(|key| !key.is_empty()).collect();
        self.part(part)?.dig(&path)
    }

    /// Everything.
    pub fn all(&self) -> Value {
        PARTS.iter().filter_map(|part| Some((*part, self.part(part)?))).collect()
    }

    fn part(&self, name: &str) -> Option<Value> {
        let uname = |uname: &Uname| -> Value {
            let fields = [
                ("name", &uname.sysname),
                ("node", &uname.nodename),
                ("release", &uname.release),
                ("version", &uname.version),
                ("machine", &uname.machine),
            ];
            fields.into_iter().map(|(key, value)| (key, Value::from(value.as_str()))).collect()
        };
        Some(match name {
            "cpu" => self.cpu().to_value(),
            "disks" => self.disks().iter().map(disk::Disk::to_value).collect::<Vec<Value>>().into(),
            "dmi" => {
                self.dmi().iter().map(|(key, value)| (*key, Value::from(value.as_str()))).collect()
            }
            "identity" => self.identity().to_value(),
            "kernel" => uname(self.kernel()),
            "memory" => self.memory().to_value(),
            "mounts" => {
                self.mounts().iter().map(disk::Mount::to_value).collect::<Vec<Value>>().into()
            }
            "network" => self.network().to_value(),
            "os" => self.os().to_value(),
            "software" => self.software().to_value(),
            "timezone" => self.timezone().to_value(),
            "uptime" => self.uptime().to_value(),
            "virtualization" => self.virtualization().to_value(),
            _ => return None,
        })
    }
}
