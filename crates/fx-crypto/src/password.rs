//! Hashes of passwords as crypt(3) makes them: the setting names the method and brings the
//! salt, and a hash is a setting for the password it was made of. Which method to choose is
//! the caller's affair.

mod des;
mod letters;
mod md5;

use base64ct::{Base64Bcrypt, Encoding};
use letters::{group, spell, unspell};
use sha_crypt::Params;

/// Most bytes one hash may need: what a setting asks for is not known to be honest.
const MAX_MEMORY: u64 = 1 << 30;

/// Why there is no hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The setting is none.
    Setting,
    /// A method of crypt(3) that is not here.
    Method(&'static str),
}

type Hashed = Result<String, Refused>;

/// Methods that other systems write, by how their settings begin.
const ABSENT: [&str; 5] = ["$7$", "$gy$", "$sha1$", "$md5", "_"];

/// The hash of a password. It ends, as in C, at the first zero.
///
/// # Errors
///
/// When the setting is not one of a method known here.
pub fn crypt(password: &[u8], setting: &[u8]) -> Hashed {
    let password = password.split(|byte| *byte == 0).next().unwrap_or_default();
    let setting = std::str::from_utf8(setting).map_err(|_| Refused::Setting)?;
    if setting.contains([':', ';', '*', '!', '\\'])
        || setting.bytes().any(|byte| !byte.is_ascii_graphic())
    {
        return Err(Refused::Setting);
    }
    if let Some(rest) = setting.strip_prefix("$6$") {
        return sha(password, "$6$", rest, |password, salt, params| {
            let sum = sha_crypt::sha512_crypt(password, salt, params);
            spell_mixed(&sum, 21, |[a, b, c]| [b + 1, c + 1, a + 1])
        });
    }
    if let Some(rest) = setting.strip_prefix("$5$") {
        return sha(password, "$5$", rest, |password, salt, params| {
            let sum = sha_crypt::sha256_crypt(password, salt, params);
            spell_mixed(&sum, 10, |[a, b, c]| [c + 1, a + 1, b + 1])
        });
    }
    if let Some(rest) = setting.strip_prefix("$y$") {
        return yescrypt(password, rest);
    }
    if let Some(rest) = setting.strip_prefix("$1$") {
        return Ok(md5::crypt(password, rest));
    }
    if ["$2a$", "$2b$", "$2y$"].iter().any(|method| setting.starts_with(method)) {
        return bcrypt(password, setting);
    }
    match ABSENT.iter().find(|method| setting.starts_with(**method)) {
        Some(method) => Err(Refused::Method(method)),
        None => des::crypt(password, setting).ok_or(Refused::Setting),
    }
}

/// SHA-256 and SHA-512, with the number of rounds if it is not the usual one.
fn sha(
    password: &[u8],
    method: &str,
    rest: &str,
    sum: impl FnOnce(&[u8], &[u8], Params) -> String,
) -> Hashed {
    let (rounds, rest) = match rest.strip_prefix("rounds=") {
        Some(rest) => {
            let (rounds, rest) = rest.split_once('$').ok_or(Refused::Setting)?;
            if rounds.starts_with(['0', '+']) {
                return Err(Refused::Setting);
            }
            (Some(rounds.parse::<u32>().map_err(|_| Refused::Setting)?), rest)
        }
        None => (None, rest),
    };
    let params = rounds.map_or(Ok(Params::RECOMMENDED), Params::new);
    let params = params.map_err(|_| Refused::Setting)?;
    let salt = rest.split('$').next().unwrap_or_default();
    let salt = &salt[..salt.len().min(16)];
    let hash = sum(password, salt.as_bytes(), params);
    let rounds = rounds.map_or(String::new(), |rounds| format!("rounds={rounds}$"));
    Ok(format!("{method}{rounds}{salt}${hash}"))
}

/// The bytes in the order of the method: triples that begin a third of the sum apart, the next
/// one by the rule given, and what is left over.
fn spell_mixed(sum: &[u8], third: usize, next: impl Fn([usize; 3]) -> [usize; 3]) -> String {
    let mut out = String::new();
    let mut at = [0, third, 2 * third];
    for _ in 0..third {
        let [a, b, c] = at.map(|at| u32::from(sum[at]));
        group(&mut out, a << 16 | b << 8 | c, 4);
        at = next(at);
    }
    match sum[3 * third..] {
        [last] => group(&mut out, u32::from(last), 2),
        [first, last] => group(&mut out, u32::from(last) << 8 | u32::from(first), 3),
        _ => {}
    }
    out
}

fn yescrypt(password: &[u8], rest: &str) -> Hashed {
    let (params, rest) = rest.split_once('$').ok_or(Refused::Setting)?;
    let salt = rest.split('$').next().unwrap_or_default();
    let bytes = unspell(salt).filter(|bytes| bytes.len() <= 64).ok_or(Refused::Setting)?;
    let known: yescrypt::Params = params.parse().map_err(|_| Refused::Setting)?;
    // A block for each step, and one for each that may go beside it with a table of its own.
    let (r, p) = (u64::from(known.r()), u64::from(known.p()));
    let blocks = known.n().saturating_add(p).saturating_mul(r).saturating_mul(128);
    let memory = blocks.saturating_add(p.saturating_mul(16 << 10));
    if memory > MAX_MEMORY {
        return Err(Refused::Setting);
    }
    let mut sum = [0; 32];
    yescrypt::yescrypt(password, &bytes, &known, &mut sum).map_err(|_| Refused::Setting)?;
    Ok(format!("$y${params}${salt}${}", spell(&sum)))
}

fn bcrypt(password: &[u8], setting: &str) -> Hashed {
    let cost: u32 = setting.get(4..6).and_then(|cost| cost.parse().ok()).ok_or(Refused::Setting)?;
    let salt =
        setting.get(6..29).and_then(|salt| salt.strip_prefix('$')).ok_or(Refused::Setting)?;
    // The last letter has two bits that count; the others are left out of the hash.
    let full = letters::cut_bcrypt(salt).ok_or(Refused::Setting)?;
    let mut bytes = [0; 16];
    Base64Bcrypt::decode(&full, &mut bytes).map_err(|_| Refused::Setting)?;
    let version = match setting.as_bytes()[2] {
        b'a' => bcrypt::Version::TwoA,
        b'b' => bcrypt::Version::TwoB,
        _ => bcrypt::Version::TwoY,
    };
    let hash = bcrypt::hash_with_salt(password, cost, bytes).map_err(|_| Refused::Setting)?;
    Ok(hash.format_for_version(version))
}

#[cfg(test)]
mod tests;
