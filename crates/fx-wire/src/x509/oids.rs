//! Puppet's names for extensions of certificates.

/// Below this lie all of Puppet's extensions.
const ARC: &str = "1.3.6.1.4.1.34380.1.";

/// The last two parts of an identifier and its short name.
const NAMES: &[(&str, &str)] = &[
    ("1.1", "pp_uuid"),
    ("1.2", "pp_instance_id"),
    ("1.3", "pp_image_name"),
    ("1.4", "pp_preshared_key"),
    ("1.5", "pp_cost_center"),
    ("1.6", "pp_product"),
    ("1.7", "pp_project"),
    ("1.8", "pp_application"),
    ("1.9", "pp_service"),
    ("1.10", "pp_employee"),
    ("1.11", "pp_created_by"),
    ("1.12", "pp_environment"),
    ("1.13", "pp_role"),
    ("1.14", "pp_software_version"),
    ("1.15", "pp_department"),
    ("1.16", "pp_cluster"),
    ("1.17", "pp_provisioner"),
    ("1.18", "pp_region"),
    ("1.19", "pp_datacenter"),
    ("1.20", "pp_zone"),
    ("1.21", "pp_network"),
    ("1.22", "pp_securitypolicy"),
    ("1.23", "pp_cloudplatform"),
    ("1.24", "pp_apptier"),
    ("1.25", "pp_hostname"),
    ("1.26", "pp_owner"),
    ("3.1", "pp_authorization"),
    ("3.13", "pp_auth_role"),
    ("3.39", "pp_cli_auth"),
];

/// The short name of an identifier, or the identifier itself.
pub fn short_name(oid: &str) -> &str {
    let found = oid.strip_prefix(ARC).and_then(|rest| NAMES.iter().find(|(tail, _)| *tail == rest));
    found.map_or(oid, |(_, name)| name)
}

/// The identifier of a short name, or what was given if it is one already.
pub fn identifier(name: &str) -> Option<String> {
    if let Some((tail, _)) = NAMES.iter().find(|(_, known)| *known == name) {
        return Some(format!("{ARC}{tail}"));
    }
    let is_oid = name.contains('.')
        && name.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    is_oid.then(|| name.to_owned())
}

/// Whether an identifier is one that a request may carry: registered, private or authorization.
pub fn is_puppets(oid: &str) -> bool {
    oid.strip_prefix(ARC)
        .is_some_and(|rest| ["1.", "2.", "3."].iter().any(|arc| rest.starts_with(arc)))
}

/// Whether an identifier gives rights on the server.
pub fn is_authorization(oid: &str) -> bool {
    oid.strip_prefix(ARC).is_some_and(|rest| rest.starts_with("3."))
}

/// The right to administrate certificates.
pub const CLI_AUTH: &str = "1.3.6.1.4.1.34380.1.3.39";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_identifiers_lead_to_each_other() {
        for (tail, name) in NAMES {
            let oid = format!("{ARC}{tail}");
            assert_eq!((short_name(&oid), identifier(name)), (*name, Some(oid.clone())));
            assert_eq!(is_authorization(&oid), name.contains("auth"), "{name}");
        }
        assert_eq!(short_name("1.2.3"), "1.2.3");
        assert_eq!(identifier("1.2.3").as_deref(), Some("1.2.3"));
        assert_eq!(identifier("pp_nothing"), None);
        assert!(is_puppets("1.3.6.1.4.1.34380.1.2.7") && !is_puppets("2.5.29.17"));
    }
}
