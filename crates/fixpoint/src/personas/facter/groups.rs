//! Groups of facts that can be left out or kept for a while, by name: those that Facter brings
//! and those of its configuration. What is done with them is decided elsewhere.

const BUILT_IN: &str = include_str!("groups.txt");

/// Names with the facts they stand for, in Facter's order.
pub(crate) struct Groups(Vec<(String, Vec<String>)>);

impl Groups {
    /// Facter's own, changed and completed by those of a configuration.
    pub(crate) fn read(own: &[(String, Vec<String>)]) -> Groups {
        let mut all: Vec<(String, Vec<String>)> = Vec::new();
        for line in BUILT_IN.lines() {
            match (line.strip_prefix("- "), all.last_mut()) {
                (Some(fact), Some((_, facts))) => facts.push(fact.to_owned()),
                _ => all.push((line.to_owned(), Vec::new())),
            }
        }
        for (name, facts) in own {
            match all.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => known.clone_from(facts),
                None => all.push((name.clone(), facts.clone())),
            }
        }
        Groups(all)
    }

    /// The facts of a group; a name that is none stands for itself.
    pub(crate) fn facts(&self, name: &str) -> Vec<String> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map_or_else(|| vec![name.to_owned()], |(_, facts)| facts.clone())
    }

    /// As `--list-block-groups` writes them.
    pub(crate) fn list(&self) -> String {
        let mut text = String::new();
        for (name, facts) in &self.0 {
            text.push_str(name);
            text.push('\n');
            for fact in facts {
                text.push_str("- ");
                text.push_str(fact);
                text.push('\n');
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Groups;

    #[test]
    fn groups_of_a_configuration_change_and_complete_the_known_ones() {
        let own = [
            ("augeas".to_owned(), vec!["x".to_owned()]),
            ("mine".to_owned(), vec!["os".to_owned(), "kernel".to_owned()]),
        ];
        let groups = Groups::read(&own);
        assert_eq!(groups.facts("augeas"), ["x"]);
        assert_eq!(groups.facts("EC2"), ["ec2_metadata", "ec2_userdata"]);
        assert_eq!(groups.facts("swapfree"), ["swapfree"]);
        assert!(groups.list().starts_with("AIX NIM type\n- nim_type\nEC2\n"));
        assert!(groups.list().ends_with("\nmine\n- os\n- kernel\n"));
    }
}
