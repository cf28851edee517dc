//! The hundred places that values have.

/// How many there are.
pub(in super::super) const COUNT: usize = 100;

/// Services whose connections are counted: name and port, in the order of their pairs of slots.
pub(in super::super) const SERVICES: &[(&str, u16, usize)] = &[
    ("netbiosns", 137, 5),
    ("netbiosdgm", 138, 7),
    ("netbiosssn", 139, 9),
    ("imap", 143, 11),
    ("cfengine", 5308, 13),
    ("nfsd", 2049, 15),
    ("smtp", 25, 17),
    ("www", 80, 19),
    ("ftp", 21, 21),
    ("ssh", 22, 23),
    // As the original counts it.
    ("wwws", 433, 25),
    ("microsoft_ds", 445, 54),
    ("www_alt", 8080, 56),
    ("imaps", 993, 58),
    ("ldap", 389, 60),
    ("ldaps", 636, 62),
    ("mongo", 27017, 64),
    ("mysql", 3306, 66),
    ("postgres", 5432, 68),
    ("ipp", 631, 70),
];

const FIRST: [&str; 5] = ["users", "rootprocs", "otherprocs", "diskfree", "loadavg"];
const PACKETS: [&str; 14] = [
    "icmp_in",
    "icmp_out",
    "udp_in",
    "udp_out",
    "dns_in",
    "dns_out",
    "tcpsyn_in",
    "tcpsyn_out",
    "tcpack_in",
    "tcpack_out",
    "tcpfin_in",
    "tcpfin_out",
    "tcpmisc_in",
    "tcpmisc_out",
];
const REST: [&str; 13] = [
    "webaccess",
    "weberrors",
    "syslog",
    "messages",
    "temp0",
    "temp1",
    "temp2",
    "temp3",
    "cpu",
    "cpu0",
    "cpu1",
    "cpu2",
    "cpu3",
];
/// Places that are taken when they are used first.
const LATE: [&str; 9] = [
    "io_reads",
    "io_writes",
    "io_readdata",
    "io_writtendata",
    "mem_total",
    "mem_free",
    "mem_cached",
    "mem_swap",
    "mem_freeswap",
];
const LATE_START: usize = 72;
const SPARE: &str = "spare";

/// Names of all places; those of measurements come after ours.
#[derive(Clone, Debug)]
pub(in super::super) struct Slots {
    names: Vec<String>,
}

impl Slots {
    pub(in super::super) fn new() -> Slots {
        let mut names = vec![SPARE.to_owned(); COUNT];
        let mut put = |at: usize, list: &[&str]| {
            for (offset, name) in list.iter().enumerate() {
                names[at + offset] = (*name).to_owned();
            }
        };
        put(0, &FIRST);
        put(27, &PACKETS);
        put(41, &REST);
        put(LATE_START, &LATE);
        for (name, _, at) in SERVICES {
            names[*at] = format!("{name}_in");
            names[at + 1] = format!("{name}_out");
        }
        Slots { names }
    }

    pub(in super::super) fn name(&self, at: usize) -> &str {
        self.names.get(at).map_or(SPARE, String::as_str)
    }

    /// The place of a name; a new one for a name that has none, while there are any.
    pub(in super::super) fn of(&mut self, name: &str) -> Option<usize> {
        if let Some(known) = self.names.iter().position(|known| known == name) {
            return Some(known);
        }
        let free = (LATE_START..COUNT).find(|at| self.names[*at] == SPARE)?;
        name.clone_into(&mut self.names[free]);
        Some(free)
    }

    /// The text of `ts_key`.
    pub(in super::super) fn text(&self) -> String {
        let line = |(at, name): (usize, &String)| match name.as_str() {
            SPARE => format!("{at},spare,unused\n"),
            name => format!("{at},{name},{name},average,0.00,100.00,1\n"),
        };
        self.names.iter().enumerate().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_original() {
        let mut slots = Slots::new();
        let table = [
            (0, "users"),
            (4, "loadavg"),
            (13, "cfengine_in"),
            (26, "wwws_out"),
            (27, "icmp_in"),
            (40, "tcpmisc_out"),
            (41, "webaccess"),
            (49, "cpu"),
            (53, "cpu3"),
            (54, "microsoft_ds_in"),
            (71, "ipp_out"),
            (72, "io_reads"),
            (80, "mem_freeswap"),
            (81, "spare"),
        ];
        for (at, name) in table {
            assert_eq!(slots.name(at), name);
        }
        assert_eq!(slots.of("mine"), Some(81));
        assert_eq!(slots.of("mine"), Some(81));
        for number in 0..18 {
            assert!(slots.of(&format!("x{number}")).is_some());
        }
        assert_eq!(slots.of("too many"), None);
    }
}
