//! What the authority may do, by `ca.conf`.

use super::tree::Part;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct AuthorityConf {
    pub(crate) allow_alt_names: bool,
    pub(crate) allow_authorization_extensions: bool,
    /// Seconds for which a renewed certificate is valid, where they are renewed.
    pub(crate) renewal: Option<u64>,
}

/// Sixty days, as the original has it.
const RENEWAL: u64 = 60 * 24 * 60 * 60;

impl AuthorityConf {
    pub(super) fn read(part: &Part<'_>) -> Result<AuthorityConf, String> {
        let (mut conf, mut renews, mut lifetime) = (AuthorityConf::default(), false, RENEWAL);
        for (name, member) in part.members()? {
            match name {
                "allow-subject-alt-names" => conf.allow_alt_names = member.flag()?,
                "allow-authorization-extensions" => {
                    conf.allow_authorization_extensions = member.flag()?;
                }
                "allow-auto-renewal" => renews = member.flag()?,
                "auto-renewal-cert-ttl" => lifetime = time(&member)?,
                // The full list is served: it holds what the short one would.
                "enable-infra-crl" => {
                    member.flag()?;
                }
                other => return Err(member.wrong(&format!("'{other}' is not known; remove it"))),
            }
        }
        conf.renewal = renews.then_some(lifetime);
        Ok(conf)
    }
}

/// `60d`, `12h`; seconds without a letter.
fn time(part: &Part<'_>) -> Result<u64, String> {
    let text = part.text()?;
    let (number, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1),
        Some((at, 'm')) => (&text[..at], 60),
        Some((at, 'h')) => (&text[..at], 3600),
        Some((at, 'd')) => (&text[..at], 86_400),
        Some((at, 'y')) => (&text[..at], 365 * 86_400),
        _ => (text.as_str(), 1),
    };
    let seconds = number.trim().parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    seconds.ok_or_else(|| part.wrong("this must be a time such as 60d"))
}
