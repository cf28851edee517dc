//! How the shadow tools are called: a wanted change of a user or group becomes an argument
//! vector.
//!
//! A password is never an argument, where every user of the machine could see it: it is a
//! line for standard input.

/// The words that the originals use for the same thing.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The directory of the tools with its slash; empty where they are looked for.
    pub directory: &'static str,
    /// The order in which a new user's attributes are named; others follow.
    pub create: [Attribute; 6],
    /// The order in which changed attributes are named; others follow.
    pub modify: [Attribute; 6],
}

impl Default for Dialect {
    fn default() -> Dialect {
        use Attribute::{Comment, Gid, Groups, Home, Shell, Uid};
        let order = [Uid, Gid, Comment, Home, Shell, Groups];
        Dialect { directory: "", create: order, modify: order }
    }
}

/// What useradd and usermod can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// The number.
    Uid,
    /// The primary group.
    Gid,
    /// The full name and more.
    Comment,
    /// The home directory.
    Home,
    /// The shell.
    Shell,
    /// Further groups, separated by commas.
    Groups,
    /// The date on which the account ends.
    ExpireDate,
    /// Days after the password's age limit in which it may still be changed.
    Inactive,
}

impl Attribute {
    /// The option that sets it.
    pub fn flag(self) -> &'static str {
        match self {
            Attribute::Uid => "-u",
            Attribute::Gid => "-g",
            Attribute::Comment => "-c",
            Attribute::Home => "-d",
            Attribute::Shell => "-s",
            Attribute::Groups => "-G",
            Attribute::ExpireDate => "-e",
            Attribute::Inactive => "-f",
        }
    }

    /// Its name in changes.
    pub fn property(self) -> &'static str {
        match self {
            Attribute::Uid => "uid",
            Attribute::Gid => "gid",
            Attribute::Comment => "comment",
            Attribute::Home => "home",
            Attribute::Shell => "shell",
            Attribute::Groups => "groups",
            Attribute::ExpireDate => "expire_date",
            Attribute::Inactive => "inactive",
        }
    }
}

/// Attributes with what they should be.
pub type Attributes = Vec<(Attribute, String)>;

/// Ages of a password and the end of an account, in days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// Between two changes, at least.
    Min(i64),
    /// Until it must be changed.
    Max(i64),
    /// Of warning before that.
    Warn(i64),
    /// The day the account ends, counted from 1970-01-01; -1 for never.
    Expiry(i64),
}

/// A change of one user or group.
#[derive(Clone, Debug)]
pub enum Call<'a> {
    /// A new user.
    AddUser {
        /// What is known about it.
        attributes: &'a Attributes,
        /// Its number may be that of another user.
        non_unique: bool,
        /// Its home directory is made.
        make_home: bool,
        /// Its number is from the system's range.
        system: bool,
    },
    /// Other attributes for a user.
    ChangeUser {
        /// What they should be.
        attributes: &'a Attributes,
        /// Its number may be that of another user.
        non_unique: bool,
        /// Its home directory is moved.
        move_home: bool,
    },
    /// No such user.
    RemoveUser {
        /// Its home directory is removed.
        remove_home: bool,
    },
    /// No such user, also where it is logged in.
    ForceRemoveUser {
        /// Its home directory is removed.
        remove_home: bool,
    },
    /// The password of the line on standard input, see [`password_line`].
    SetPassword {
        /// It is a hash.
        hashed: bool,
    },
    /// Other ages.
    SetAges(&'a [Age]),
    /// A password that is locked or not.
    LockPassword(bool),
    /// The day an account ends, as a date; empty for never.
    Expire(&'a str),
    /// A new group.
    AddGroup {
        /// Its number, and whether that may be the number of another group.
        gid: Option<(u32, bool)>,
        /// Its number is from the system's range.
        system: bool,
    },
    /// Another number for a group.
    ChangeGroup {
        /// Its number, and whether that may be the number of another group.
        gid: Option<(u32, bool)>,
    },
    /// All members of a group.
    SetMembers(&'a [String]),
    /// One more member of a group.
    AddMember(&'a str),
    /// One member of a group less.
    RemoveMember(&'a str),
    /// No such group.
    RemoveGroup,
}

/// The line that gives a password to chpasswd.
pub fn password_line(name: &str, password: &str) -> String {
    format!("{name}:{password}\n")
}

impl Dialect {
    /// The command for a change of the user or group of this name.
    pub fn argv(&self, name: &str, call: &Call<'_>) -> Vec<String> {
        let (tool, mut words) = self.words(call);
        words.insert(0, format!("{}{tool}", self.directory));
        if !matches!(call, Call::SetPassword { .. }) {
            // What looks like an option is a name all the same.
            words.extend(name.starts_with('-').then(|| "--".to_owned()));
            words.push(name.to_owned());
        }
        words
    }

    fn words(&self, call: &Call<'_>) -> (&'static str, Vec<String>) {
        let flag = |flag: &str, given: bool| given.then(|| flag.to_owned());
        let flags = |flags: &[Option<String>]| flags.iter().flatten().cloned().collect();
        match call {
            Call::AddUser { attributes, non_unique, make_home, system } => {
                let mut words = ordered(&self.create, attributes, *non_unique);
                words.push(if *make_home { "-m" } else { "-M" }.to_owned());
                words.extend(flag("-r", *system));
                ("useradd", words)
            }
            Call::ChangeUser { attributes, non_unique, move_home } => {
                let mut words = ordered(&self.modify, attributes, *non_unique);
                words.extend(flag("-m", *move_home));
                ("usermod", words)
            }
            Call::RemoveUser { remove_home } => ("userdel", flags(&[flag("-r", *remove_home)])),
            Call::ForceRemoveUser { remove_home } => {
                ("userdel", flags(&[flag("-r", *remove_home), flag("-f", true)]))
            }
            Call::SetPassword { hashed } => ("chpasswd", flags(&[flag("-e", *hashed)])),
            Call::SetAges(ages) => ("chage", ages.iter().flat_map(|age| age.words()).collect()),
            Call::LockPassword(lock) => ("usermod", flags(&[flag("-L", *lock), flag("-U", !lock)])),
            Call::Expire(date) => ("usermod", vec!["-e".to_owned(), (*date).to_owned()]),
            Call::AddGroup { gid, system } => {
                let mut words = number(*gid);
                words.extend(flag("-r", *system));
                ("groupadd", words)
            }
            Call::ChangeGroup { gid } => ("groupmod", number(*gid)),
            Call::SetMembers(members) => ("gpasswd", vec!["-M".to_owned(), members.join(",")]),
            Call::AddMember(name) => ("gpasswd", vec!["-a".to_owned(), (*name).to_owned()]),
            Call::RemoveMember(name) => ("gpasswd", vec!["-d".to_owned(), (*name).to_owned()]),
            Call::RemoveGroup => ("groupdel", Vec::new()),
        }
    }
}

impl Age {
    fn words(self) -> [String; 2] {
        let (flag, days) = match self {
            Age::Min(days) => ("-m", days),
            Age::Max(days) => ("-M", days),
            Age::Warn(days) => ("-W", days),
            Age::Expiry(day) => ("-E", day),
        };
        [flag.to_owned(), days.to_string()]
    }
}

fn ordered(order: &[Attribute], attributes: &Attributes, non_unique: bool) -> Vec<String> {
    let mut words = Vec::new();
    let listed = order.iter().filter_map(|one| attributes.iter().find(|(known, _)| known == one));
    let others = attributes.iter().filter(|(known, _)| !order.contains(known));
    for (attribute, value) in listed.chain(others) {
        words.extend([attribute.flag().to_owned(), value.clone()]);
    }
    let numbered = attributes.iter().any(|(attribute, _)| *attribute == Attribute::Uid);
    words.extend((non_unique && numbered).then(|| "-o".to_owned()));
    words
}

fn number(gid: Option<(u32, bool)>) -> Vec<String> {
    let Some((gid, non_unique)) = gid else { return Vec::new() };
    let mut words = vec!["-g".to_owned(), gid.to_string()];
    words.extend(non_unique.then(|| "-o".to_owned()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_named_in_the_order_of_the_dialect() {
        use Attribute::{Comment, Gid, Groups, Home, Shell, Uid};
        let attributes: Attributes = [Groups, Shell, Home, Comment, Gid, Uid]
            .map(|attribute| (attribute, attribute.property().to_owned()))
            .into();
        let add = |non_unique| Call::AddUser {
            attributes: &attributes,
            non_unique,
            make_home: false,
            system: false,
        };
        let expected = "useradd -u uid -g gid -c comment -d home -s shell -G groups -o -M bob";
        assert_eq!(Dialect::default().argv("bob", &add(true)).join(" "), expected);
        let other = Dialect {
            directory: "/usr/sbin/",
            create: [Uid, Comment, Gid, Groups, Home, Shell],
            ..Dialect::default()
        };
        let expected =
            "/usr/sbin/useradd -u uid -c comment -g gid -G groups -d home -s shell -M bob";
        assert_eq!(other.argv("bob", &add(false)).join(" "), expected);
    }

    #[test]
    fn each_change_has_its_tool() {
        let members = ["ann".to_owned(), "bob".to_owned()];
        let home = vec![(Attribute::Home, "/srv/x".to_owned())];
        let ages = [Age::Min(1), Age::Max(2), Age::Warn(3), Age::Expiry(-1)];
        let table = [
            (
                Call::ChangeUser { attributes: &home, non_unique: true, move_home: true },
                "usermod -d /srv/x -m x",
            ),
            (Call::RemoveUser { remove_home: true }, "userdel -r x"),
            (Call::ForceRemoveUser { remove_home: true }, "userdel -r -f x"),
            (Call::SetPassword { hashed: true }, "chpasswd -e"),
            (Call::SetPassword { hashed: false }, "chpasswd"),
            (Call::SetAges(&ages), "chage -m 1 -M 2 -W 3 -E -1 x"),
            (Call::LockPassword(true), "usermod -L x"),
            (Call::LockPassword(false), "usermod -U x"),
            (Call::Expire("1970-01-02"), "usermod -e 1970-01-02 x"),
            (Call::AddGroup { gid: None, system: true }, "groupadd -r x"),
            (Call::ChangeGroup { gid: Some((7, true)) }, "groupmod -g 7 -o x"),
            (Call::SetMembers(&members), "gpasswd -M ann,bob x"),
            (Call::AddMember("ann"), "gpasswd -a ann x"),
            (Call::RemoveMember("ann"), "gpasswd -d ann x"),
            (Call::RemoveGroup, "groupdel x"),
        ];
        for (call, expected) in table {
            assert_eq!(Dialect::default().argv("x", &call).join(" "), expected);
        }
        assert_eq!(password_line("x", "$6$y"), "x:$6$y\n");
        let odd = Dialect::default().argv("-x", &Call::RemoveGroup);
        assert_eq!(odd.join(" "), "groupdel -- -x");
    }

    #[test]
    fn what_the_order_does_not_name_comes_last() {
        let attributes = vec![
            (Attribute::Inactive, "5".to_owned()),
            (Attribute::ExpireDate, "2030-01-01".to_owned()),
            (Attribute::Uid, "7".to_owned()),
        ];
        let call =
            Call::ChangeUser { attributes: &attributes, non_unique: false, move_home: false };
        let expected = "usermod -u 7 -f 5 -e 2030-01-01 x";
        assert_eq!(Dialect::default().argv("x", &call).join(" "), expected);
    }
}
