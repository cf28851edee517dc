//! The text of passwd(5) and group(5). Lines that make no sense are skipped, as libc does.

use crate::{Group, User};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn number(bytes: &[u8]) -> Option<u32> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

fn lines(content: &[u8]) -> impl Iterator<Item = Vec<&[u8]>> {
    content.split(|byte| *byte == b'\n').map(|line| line.split(|byte| *byte == b':').collect())
}

/// Users in the order of the lines.
pub fn parse_passwd(content: &[u8]) -> Vec<User> {
    lines(content)
        .filter_map(|fields| {
            let [name, _, uid, gid, comment, home, shell] = fields[..] else { return None };
            Some(User {
                name: text(name),
                uid: number(uid)?,
                gid: number(gid)?,
                comment: text(comment),
                home: text(home).into(),
                shell: text(shell).into(),
            })
        })
        .collect()
}

/// Groups in the order of the lines.
pub fn parse_group(content: &[u8]) -> Vec<Group> {
    lines(content)
        .filter_map(|fields| {
            let [name, _, gid, members] = fields[..] else { return None };
            let members = text(members)
                .split(',')
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect();
            Some(Group { name: text(name), gid: number(gid)?, members })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_lines_are_read_and_bad_ones_skipped() {
        let users = parse_passwd(b"root:x:0:0:root:/root:/bin/bash\nbad:line\n+::::::\nalice:x:1000:1000:A,,,:/home/alice:/bin/sh\n");
        assert_eq!(
            users.iter().map(|user| (user.name.as_str(), user.uid)).collect::<Vec<_>>(),
            [("root", 0), ("alice", 1000)]
        );
        let groups = parse_group(b"wheel:x:10:alice,bob\nnone:x:11:\nbroken:x:many:\n");
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[0].members, ["alice", "bob"]);
        assert!(groups[1].members.is_empty());
    }
}
