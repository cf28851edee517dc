//! The URL of a database, as PostgreSQL's own clients read it: how connections are secured, and
//! whose certificates are trusted.

use std::path::{Path, PathBuf};

use fx_fleet::{Fleet, Security};
use fx_host::{Files, OsHost};
use fx_remote::{Identity, Trust, tls_config};
use fx_wire::puppet::{Pairs, percent_encoded};
use fx_wire::x509::{Certificate, Key};

/// What a URL says about TLS.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tls {
    mode: Mode,
    /// Certificates of authorities.
    roots: Option<PathBuf>,
    /// Our own certificate and its key.
    identity: Option<(PathBuf, PathBuf)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    Disable,
    #[default]
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

const MODES: &[(&str, Mode)] = &[
    ("disable", Mode::Disable),
    ("prefer", Mode::Prefer),
    ("require", Mode::Require),
    ("verify-ca", Mode::VerifyCa),
    ("verify-full", Mode::VerifyFull),
];

/// Opens the store in a database.
pub(crate) fn open(host: &OsHost, url: &str) -> Result<Fleet, String> {
    let (url, tls) = read(url)?;
    let security = security(host, &tls)?;
    Fleet::postgres_over(&url, &security).map_err(|error| error.to_string())
}

/// The URL without what is about TLS, and that.
fn read(url: &str) -> Result<(String, Tls), String> {
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let pairs = Pairs::parse(query).ok_or("the URL of the database is no text")?;
    let mut tls = Tls::default();
    let (mut certificate, mut key, mut rest) = (None, None, Vec::new());
    for name in pairs.names() {
        let value = pairs.get(name).unwrap_or_default();
        match name {
            "sslmode" => {
                let known = MODES.iter().find(|(word, _)| *word == value);
                let (_, mode) = known.ok_or_else(|| {
                    let words: Vec<&str> = MODES.iter().map(|(word, _)| *word).collect();
                    format!("sslmode '{value}' is not known; use one of {}", words.join(", "))
                })?;
                tls.mode = *mode;
            }
            "sslrootcert" => tls.roots = Some(PathBuf::from(value)),
            "sslcert" => certificate = Some(PathBuf::from(value)),
            "sslkey" => key = Some(PathBuf::from(value)),
            _ => rest.push(format!("{}={}", percent_encoded(name), percent_encoded(value))),
        }
    }
    tls.identity = match (certificate, key) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => return Err("sslcert and sslkey belong together: give both".into()),
    };
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    Ok((format!("{address}{query}"), tls))
}

fn security(host: &OsHost, tls: &Tls) -> Result<Security, String> {
    if tls.mode == Mode::Disable {
        return Ok(Security::None);
    }
    let text = |path: &Path| {
        let bytes = host.read_trusted_data(path).map_err(|error| error.to_string())?;
        Ok::<_, String>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let wrong = |path: &Path, why: &dyn std::fmt::Display| format!("'{}': {why}", path.display());
    let roots = match &tls.roots {
        Some(path) => {
            let found = Certificate::bundle(&text(path)?).map_err(|error| wrong(path, &error))?;
            if found.is_empty() {
                return Err(wrong(path, &"there is no certificate in it"));
            }
            Some(found)
        }
        None => None,
    };
    let identity = match &tls.identity {
        Some((certificate, key)) => Some(Identity {
            certificate: Certificate::from_pem(&text(certificate)?)
                .map_err(|error| wrong(certificate, &error))?,
            key: Key::from_pem(&text(key)?).map_err(|error| wrong(key, &error))?,
        }),
        None => None,
    };
    let trust = match (tls.mode, roots) {
        (Mode::VerifyFull, Some(roots)) => Trust::Known(roots),
        (Mode::VerifyCa | Mode::VerifyFull, None) => {
            return Err("sslmode=verify-ca and verify-full need sslrootcert=FILE".into());
        }
        // As PostgreSQL's own clients do: whoever names authorities wants them.
        (Mode::Require | Mode::VerifyCa, Some(roots)) => Trust::KnownByAnyName(roots),
        _ => Trust::Anyone,
    };
    let config = std::sync::Arc::new(tls_config(&trust, identity.as_ref())?);
    Ok(match tls.mode {
        Mode::Prefer => Security::Preferred(config),
        _ => Security::Required(config),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_about_tls_is_taken_out_of_the_address() {
        let check = |url: &str, rest: &str, mode: Mode, roots: Option<&str>| {
            let (found, tls) = read(url).expect("a sound URL");
            assert_eq!((found.as_str(), tls.mode), (rest, mode), "{url}");
            assert_eq!(tls.roots, roots.map(PathBuf::from), "{url}");
        };
        let plain = "postgresql://u@db/fleet";
        check(plain, plain, Mode::Prefer, None);
        check("postgresql://u@db/fleet?sslmode=disable", plain, Mode::Disable, None);
        check(
            "postgresql:///f?host=/run/p&sslmode=verify-full&sslrootcert=/etc/ca%20x.pem",
            "postgresql:///f?host=%2Frun%2Fp",
            Mode::VerifyFull,
            Some("/etc/ca x.pem"),
        );
        for wrong in ["postgresql://db/f?sslmode=allow", "postgresql://db/f?sslcert=/x"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn verification_needs_to_know_whom_to_trust() {
        let refused =
            |mode: Mode| security(&OsHost::new(), &Tls { mode, ..Tls::default() }).is_err();
        assert!(refused(Mode::VerifyCa) && refused(Mode::VerifyFull));
        assert!(!refused(Mode::Require) && !refused(Mode::Prefer));
    }
}
