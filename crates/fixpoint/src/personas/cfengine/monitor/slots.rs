//! The hundred places that values have.

/// How many there are.
pub(in super::super) const COUNT: usize = 100;

/// Services whose connections are counted: their names in lists of connections, ports, and the
/// first of their two slots.
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
    ("www-alt", 8080, 56),
    ("imaps", 993, 58),
    ("ldap", 389, 60),
    ("ldaps", 636, 62),
    ("mongo", 27017, 64),
    ("mysql", 3306, 66),
    ("postgresql", 5432, 68),
    ("ipp", 631, 70),
];

/// The places that are always taken, as `ts_key` has them.
const KNOWN: &str = include_str!("slots.csv");
const SPARE: &str = "spare";

/// Names of all places; those of measurements come after ours.
#[derive(Clone, Debug)]
pub(in super::super) struct Slots {
    names: Vec<String>,
    /// Lines of `ts_key`.
    lines: Vec<String>,
}

impl Slots {
    pub(in super::super) fn new() -> Slots {
        let name = |line: &str| line.split(',').nth(1).unwrap_or(SPARE).to_owned();
        let free = (KNOWN.lines().count()..COUNT).map(|at| format!("{at},{SPARE},unused"));
        let lines: Vec<String> = KNOWN.lines().map(str::to_owned).chain(free).collect();
        Slots { names: lines.iter().map(|line| name(line)).collect(), lines }
    }

    pub(in super::super) fn name(&self, at: usize) -> &str {
        self.names.get(at).map_or(SPARE, String::as_str)
    }

    /// The place of a name; a new one for a name that has none, while there are any.
    pub(in super::super) fn of(&mut self, name: &str, about: &str, units: &str) -> Option<usize> {
        if let Some(known) = self.names.iter().position(|known| known == name) {
            return Some(known);
        }
        let free = self.names.iter().position(|known| known == SPARE)?;
        name.clone_into(&mut self.names[free]);
        self.lines[free] = format!("{free},{name},{about},{units},0.000,100.000,1");
        Some(free)
    }

    /// The text of `ts_key`.
    pub(in super::super) fn text(&self) -> String {
        self.lines.join("\n") + "\n"
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
        assert_eq!(slots.of("mine", "What I count", "pieces"), Some(81));
        assert_eq!(slots.of("mine", "", ""), Some(81));
        for number in 0..18 {
            assert!(slots.of(&format!("x{number}"), "", "").is_some());
        }
        assert_eq!(slots.of("too many", "", ""), None);
        let text = slots.text();
        assert_eq!(text.lines().count(), COUNT);
        assert_eq!(text.lines().nth(81), Some("81,mine,What I count,pieces,0.000,100.000,1"));
    }
}
