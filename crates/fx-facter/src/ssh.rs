//! The `ssh` fact: the machine's public keys and their fingerprints for the name service.

use fx_host::Look;
use fx_value::Value;
use sha2::Digest;

use super::{map, read, text_of};

/// Name of a kind of key, its name in the file, its number in a fingerprint.
const KINDS: [(&str, &str, u8); 4] = [
    ("dsa", "ssh-dss", 2),
    ("ecdsa", "ecdsa-sha2-nistp256", 3),
    ("ed25519", "ssh-ed25519", 4),
    ("rsa", "ssh-rsa", 1),
];

const PLACES: [&str; 5] =
    ["/etc/ssh", "/usr/local/etc/ssh", "/etc", "/usr/local/etc", "/etc/opt/ssh"];

pub(super) fn ssh(host: &dyn Look) -> Value {
    KINDS
        .iter()
        .filter_map(|(kind, name, number)| {
            // A key in a later place stands for one in an earlier.
            let key = PLACES.iter().rev().find_map(|place| {
                let line = read(host, &format!("{place}/ssh_host_{kind}_key.pub"))?;
                let mut words = line.split_whitespace();
                (words.next()? == *name).then(|| words.next().map(str::to_owned))?
            })?;
            let bytes = fx_formats::base64::decode_relaxed(&key)?;
            let fingerprint = |kind: u8, digest: &[u8]| {
                let hex = fx_formats::hex(digest);
                Value::from(format!("SSHFP {number} {kind} {hex}"))
            };
            let fingerprints = map([
                ("sha1", fingerprint(1, &sha1::Sha1::digest(&bytes))),
                ("sha256", fingerprint(2, &sha2::Sha256::digest(&bytes))),
            ]);
            let value = map([
                ("fingerprints", fingerprints),
                ("key", Value::from(key)),
                ("type", text_of(name)),
            ]);
            Some((*kind, value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use fx_host::MemoryHost;

    use super::*;

    #[test]
    fn a_key_has_its_fingerprints() {
        let host = MemoryHost::linux();
        let key = "AAAAC3NzaC1lZDI1NTE5AAAAICZwkEHlR56976aDKFtdo7xTz6GYwoc7HDP4aZWvyNRY";
        host.put("/etc/ssh/ssh_host_ed25519_key.pub", format!("ssh-ed25519 {key} root@vm\n"));
        // Recorded from Facter 4.3.
        assert_eq!(
            ssh(&host).to_json(),
            serde_json::json!({"ed25519": {
                "fingerprints": {
                    "sha1": "SSHFP 4 1 84abf5f0cbe1df064261b443c50bdefef8bf4d50",
                    "sha256": "SSHFP 4 2 eb544204a3c8b1e978c78effbeefd63a1f0bd47a7ff283b7568968ad8d7bc577",
                },
                "key": key,
                "type": "ssh-ed25519",
            }})
        );
    }
}
