//! The settings of the original: names, kinds and defaults, for root on a system whose paths
//! follow Debian. Where they come from (flags, `puppet.conf`) is the persona's.

use std::collections::BTreeMap;

use crate::value::Value;

/// What a setting's text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text as it is.
    Text,
    /// `true` or `false`.
    Bool,
    /// A number.
    Int,
    /// Seconds, or a number with a unit: `30m`.
    Duration,
    /// As a duration, or `unlimited`.
    Ttl,
    /// Parts with commas between them.
    List,
    /// One word of a fixed set; a symbol in Ruby.
    Symbol,
}

/// Values by name, as far as they are given.
pub type Given = BTreeMap<String, String>;

/// The kind of a setting, if there is one of that name.
pub fn kind(name: &str) -> Option<Kind> {
    find(name).map(|(_, kind, _)| *kind)
}

fn find(name: &str) -> Option<&'static (&'static str, Kind, Option<&'static str>)> {
    DEFAULTS.binary_search_by(|(known, ..)| known.cmp(&name)).ok().map(|at| &DEFAULTS[at])
}

/// The text of a setting with everything put in; `None` where it has no value.
pub fn text(given: &Given, name: &str) -> Option<String> {
    expanded(given, name, 0)
}

fn expanded(given: &Given, name: &str, depth: u32) -> Option<String> {
    let raw = match given.get(name) {
        Some(text) => text.as_str(),
        None if name == "run_mode" => "user",
        None => find(name)?.2?,
    };
    Some(interpolated(given, raw, depth))
}

/// A text with the settings it names put in.
pub fn interpolate(given: &Given, text: &str) -> String {
    interpolated(given, text, 0)
}

fn interpolated(given: &Given, text: &str, depth: u32) -> String {
    if depth > 20 {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (name, left) = match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some(pair) => pair,
            None => {
                let end = after
                    .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                    .unwrap_or(after.len());
                after.split_at(end)
            }
        };
        out.push_str(&expanded(given, name, depth + 1).unwrap_or_default());
        rest = left;
    }
    out.push_str(rest);
    out
}

/// The value of a setting as code sees it.
pub fn value(given: &Given, name: &str) -> Option<Value> {
    let kind = kind(name).unwrap_or(Kind::Text);
    let Some(text) = text(given, name) else {
        return find(name).map(|_| Value::Undef);
    };
    Some(match kind {
        Kind::Text | Kind::Symbol => Value::from(text),
        Kind::Bool => Value::Bool(text == "true"),
        Kind::Int => text.parse().map_or_else(|_| Value::from(text.as_str()), Value::Int),
        Kind::Duration | Kind::Ttl => match seconds(&text) {
            Some(secs) => Value::Int(secs),
            None if text == "unlimited" => Value::Float(f64::INFINITY),
            None => Value::from(text),
        },
        Kind::List => Value::array(
            text.split(',')
                .filter(|part| !part.is_empty())
                .map(|part| part.trim().into())
                .collect(),
        ),
    })
}

/// Seconds of `30`, `30m`, `2h`, `5y`.
pub fn seconds(text: &str) -> Option<i64> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: i64 = text[..split].parse().ok()?;
    let unit = match &text[split..] {
        "" | "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        "y" => 365 * 24 * 60 * 60,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// Names of all settings, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    DEFAULTS.iter().map(|(name, ..)| *name)
}

/// What holds where nothing is given.
static DEFAULTS: &[(&str, Kind, Option<&str>)] = &[
    ("agent_catalog_run_lockfile", Kind::Text, Some("$statedir/agent_catalog_run.lock")),
    ("agent_disabled_lockfile", Kind::Text, Some("$statedir/agent_disabled.lock")),
    ("allow_duplicate_certs", Kind::Bool, Some("false")),
    ("always_retry_plugins", Kind::Bool, Some("true")),
    ("autoflush", Kind::Bool, Some("true")),
    ("autosign", Kind::Text, Some("$confdir/autosign.conf")),
    ("basemodulepath", Kind::Text, Some("$codedir/modules:/usr/share/puppet/modules")),
    ("binder_config", Kind::Text, None),
    ("bucketdir", Kind::Text, Some("$vardir/bucket")),
    ("ca_fingerprint", Kind::Text, None),
    ("ca_name", Kind::Text, Some("Puppet CA: $certname")),
    ("ca_port", Kind::Int, Some("$serverport")),
    ("ca_server", Kind::Text, Some("$server")),
    ("ca_ttl", Kind::Duration, Some("5y")),
    ("cacert", Kind::Text, Some("$cadir/ca_crt.pem")),
    ("cacrl", Kind::Text, Some("$cadir/ca_crl.pem")),
    ("cadir", Kind::Text, Some("$confdir/puppetserver/ca")),
    ("cakey", Kind::Text, Some("$cadir/ca_key.pem")),
    ("capub", Kind::Text, Some("$cadir/ca_pub.pem")),
    ("catalog_cache_terminus", Kind::Symbol, None),
    ("catalog_terminus", Kind::Symbol, Some("compiler")),
    ("cert_inventory", Kind::Text, Some("$cadir/inventory.txt")),
    ("certdir", Kind::Text, Some("$ssldir/certs")),
    ("certificate_revocation", Kind::Symbol, Some("chain")),
    ("certname", Kind::Text, Some("")),
    (
        "ciphers",
        Kind::Text,
        Some(
            "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES256-SHA384:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:DHE-RSA-AES128-SHA256:DHE-RSA-AES256-SHA256:AES128-GCM-SHA256:AES256-GCM-SHA384:AES128-SHA256:AES256-SHA256",
        ),
    ),
    ("classfile", Kind::Text, Some("$statedir/classes.txt")),
    ("client_datadir", Kind::Text, Some("$vardir/client_data")),
    ("clientbucketdir", Kind::Text, Some("$vardir/clientbucket")),
    ("clientyamldir", Kind::Text, Some("$vardir/client_yaml")),
    ("code", Kind::Text, Some("")),
    ("codedir", Kind::Text, Some("/etc/puppet/code")),
    ("color", Kind::Text, Some("ansi")),
    ("confdir", Kind::Text, Some("/etc/puppet")),
    ("config", Kind::Text, Some("$confdir/${config_file_name}")),
    ("config_file_name", Kind::Text, Some("puppet.conf")),
    ("config_version", Kind::Text, Some("")),
    ("configprint", Kind::Text, Some("")),
    ("crl_refresh_interval", Kind::Duration, None),
    ("csr_attributes", Kind::Text, Some("$confdir/csr_attributes.yaml")),
    ("csrdir", Kind::Text, Some("$cadir/requests")),
    ("daemonize", Kind::Bool, Some("true")),
    ("data_binding_terminus", Kind::Symbol, Some("hiera")),
    ("default_file_terminus", Kind::Symbol, Some("rest")),
    ("default_manifest", Kind::Text, Some("./manifests")),
    ("default_schedules", Kind::Bool, Some("true")),
    ("deviceconfdir", Kind::Text, Some("$confdir/devices")),
    ("deviceconfig", Kind::Text, Some("$confdir/device.conf")),
    ("devicedir", Kind::Text, Some("$vardir/devices")),
    ("diff", Kind::Text, Some("diff")),
    ("diff_args", Kind::Text, Some("-u")),
    ("digest_algorithm", Kind::Text, Some("sha256")),
    ("disable_i18n", Kind::Bool, Some("true")),
    ("disable_per_environment_manifest", Kind::Bool, Some("false")),
    ("disable_warnings", Kind::List, Some("")),
    ("dns_alt_names", Kind::Text, Some("")),
    ("document_all", Kind::Bool, Some("false")),
    ("environment", Kind::Text, Some("production")),
    ("environment_data_provider", Kind::Text, None),
    ("environment_timeout", Kind::Ttl, Some("0")),
    ("environmentpath", Kind::Text, Some("$codedir/environments")),
    ("evaltrace", Kind::Bool, Some("false")),
    ("exclude_unchanged_resources", Kind::Bool, Some("false")),
    ("external_nodes", Kind::Text, Some("none")),
    ("fact_name_length_soft_limit", Kind::Int, Some("2560")),
    ("fact_value_length_soft_limit", Kind::Int, Some("4096")),
    ("factpath", Kind::Text, Some("$vardir/lib/facter:$vardir/facts")),
    ("facts_terminus", Kind::Text, Some("facter")),
    ("fileserverconfig", Kind::Text, Some("$confdir/fileserver.conf")),
    ("filetimeout", Kind::Duration, Some("15s")),
    ("forge_authorization", Kind::Text, None),
    ("freeze_main", Kind::Bool, Some("false")),
    ("genconfig", Kind::Bool, Some("false")),
    ("genmanifest", Kind::Bool, Some("false")),
    ("graph", Kind::Bool, Some("false")),
    ("graphdir", Kind::Text, Some("$statedir/graphs")),
    ("group", Kind::Text, Some("puppet")),
    ("hiera_config", Kind::Text, Some("$confdir/hiera.yaml")),
    ("hostcert", Kind::Text, Some("$certdir/$certname.pem")),
    ("hostcrl", Kind::Text, Some("$ssldir/crl.pem")),
    ("hostcsr", Kind::Text, Some("$requestdir/$certname.pem")),
    ("hostprivkey", Kind::Text, Some("$privatekeydir/$certname.pem")),
    ("hostpubkey", Kind::Text, Some("$publickeydir/$certname.pem")),
    ("http_connect_timeout", Kind::Duration, Some("2m")),
    ("http_debug", Kind::Bool, Some("false")),
    ("http_extra_headers", Kind::List, Some("")),
    ("http_keepalive_timeout", Kind::Duration, Some("4s")),
    ("http_proxy_host", Kind::Text, Some("none")),
    ("http_proxy_password", Kind::Text, Some("none")),
    ("http_proxy_port", Kind::Int, Some("3128")),
    ("http_proxy_user", Kind::Text, Some("none")),
    ("http_read_timeout", Kind::Duration, Some("10m")),
    ("http_user_agent", Kind::Text, Some("Puppet/7.23.0")),
    ("ignore_plugin_errors", Kind::Bool, Some("false")),
    ("ignoremissingtypes", Kind::Bool, Some("false")),
    ("ignoreschedules", Kind::Bool, Some("false")),
    ("include_legacy_facts", Kind::Bool, Some("true")),
    ("key_type", Kind::Text, Some("rsa")),
    ("keylength", Kind::Int, Some("4096")),
    ("lastrunfile", Kind::Text, Some("$publicdir/last_run_summary.yaml")),
    ("lastrunreport", Kind::Text, Some("$statedir/last_run_report.yaml")),
    ("ldapattrs", Kind::Text, Some("all")),
    ("ldapbase", Kind::Text, Some("")),
    ("ldapclassattrs", Kind::Text, Some("puppetclass")),
    ("ldapparentattr", Kind::Text, Some("parentnode")),
    ("ldappassword", Kind::Text, Some("")),
    ("ldapport", Kind::Int, Some("389")),
    ("ldapserver", Kind::Text, Some("ldap")),
    ("ldapssl", Kind::Bool, Some("false")),
    ("ldapstackedattrs", Kind::Text, Some("puppetvar")),
    ("ldapstring", Kind::Text, Some("(&(objectclass=puppetClient)(cn=%s))")),
    ("ldaptls", Kind::Bool, Some("false")),
    ("ldapuser", Kind::Text, Some("")),
    ("libdir", Kind::Text, Some("$vardir/lib")),
    ("localcacert", Kind::Text, Some("$certdir/ca.pem")),
    ("localedest", Kind::Text, Some("$vardir/locales")),
    ("localesource", Kind::Text, Some("puppet:///locales")),
    ("location_trusted", Kind::Bool, Some("false")),
    ("log_level", Kind::Text, Some("notice")),
    ("logdest", Kind::Text, None),
    ("logdir", Kind::Text, Some("/var/log/puppet")),
    ("manage_internal_file_permissions", Kind::Bool, Some("true")),
    ("manifest", Kind::Text, None),
    ("masterport", Kind::Int, Some("8140")),
    ("max_deprecations", Kind::Int, Some("10")),
    ("max_errors", Kind::Int, Some("10")),
    ("max_warnings", Kind::Int, Some("10")),
    ("maximum_uid", Kind::Int, Some("4294967290")),
    ("maxwaitforcert", Kind::Ttl, Some("unlimited")),
    ("maxwaitforlock", Kind::Ttl, Some("1m")),
    ("merge_dependency_warnings", Kind::Bool, Some("false")),
    ("mkusers", Kind::Bool, Some("false")),
    ("module_groups", Kind::Text, None),
    ("module_repository", Kind::Text, Some("https://forgeapi.puppet.com")),
    ("module_working_dir", Kind::Text, Some("$vardir/puppet-module")),
    ("modulepath", Kind::Text, Some("")),
    ("named_curve", Kind::Text, Some("prime256v1")),
    ("no_proxy", Kind::Text, Some("localhost, 127.0.0.1")),
    ("node_cache_terminus", Kind::Symbol, None),
    ("node_name_fact", Kind::Text, Some("")),
    ("node_name_value", Kind::Text, Some("$certname")),
    ("node_terminus", Kind::Symbol, Some("plain")),
    ("noop", Kind::Bool, Some("false")),
    ("number_of_facts_soft_limit", Kind::Int, Some("2048")),
    ("onetime", Kind::Bool, Some("false")),
    ("passfile", Kind::Text, Some("$privatedir/password")),
    ("path", Kind::Text, Some("none")),
    ("payload_soft_limit", Kind::Int, Some("16777216")),
    ("pidfile", Kind::Text, Some("$rundir/${run_mode}.pid")),
    ("plugindest", Kind::Text, Some("$libdir")),
    ("pluginfactdest", Kind::Text, Some("$vardir/facts.d")),
    ("pluginfactsource", Kind::Text, Some("puppet:///pluginfacts")),
    ("pluginsignore", Kind::Text, Some(".svn CVS .git .hg")),
    ("pluginsource", Kind::Text, Some("puppet:///plugins")),
    ("pluginsync", Kind::Bool, Some("true")),
    ("postrun_command", Kind::Text, Some("")),
    ("preferred_serialization_format", Kind::Text, Some("json")),
    ("preprocess_deferred", Kind::Bool, Some("true")),
    ("prerun_command", Kind::Text, Some("")),
    ("preview_outputdir", Kind::Text, Some("$vardir/preview")),
    ("priority", Kind::Text, None),
    ("privatedir", Kind::Text, Some("$ssldir/private")),
    ("privatekeydir", Kind::Text, Some("$ssldir/private_keys")),
    ("profile", Kind::Bool, Some("false")),
    ("publicdir", Kind::Text, Some("$vardir/public")),
    ("publickeydir", Kind::Text, Some("$ssldir/public_keys")),
    ("puppet_trace", Kind::Bool, Some("false")),
    ("puppetdlog", Kind::Text, Some("$logdir/puppetd.log")),
    ("report", Kind::Bool, Some("true")),
    ("report_include_system_store", Kind::Bool, Some("false")),
    ("report_port", Kind::Int, Some("$serverport")),
    ("report_server", Kind::Text, Some("$server")),
    ("reportdir", Kind::Text, Some("$vardir/reports")),
    ("reports", Kind::Text, Some("store")),
    ("reporturl", Kind::Text, Some("http://localhost:3000/reports/upload")),
    ("requestdir", Kind::Text, Some("$ssldir/certificate_requests")),
    ("resourcefile", Kind::Text, Some("$statedir/resources.txt")),
    ("resubmit_facts", Kind::Bool, Some("false")),
    ("rich_data", Kind::Bool, Some("true")),
    ("route_file", Kind::Text, Some("$confdir/routes.yaml")),
    ("rundir", Kind::Text, Some("/run/puppet")),
    ("runinterval", Kind::Duration, Some("30m")),
    ("runtimeout", Kind::Duration, Some("1h")),
    ("serial", Kind::Text, Some("$cadir/serial")),
    ("server", Kind::Text, Some("puppet")),
    ("server_datadir", Kind::Text, Some("$vardir/server_data")),
    ("server_list", Kind::List, Some("")),
    ("serverport", Kind::Int, Some("$masterport")),
    ("settings_catalog", Kind::Bool, Some("true")),
    ("show_diff", Kind::Bool, Some("false")),
    ("signeddir", Kind::Text, Some("$cadir/signed")),
    ("skip_tags", Kind::Text, Some("")),
    ("sourceaddress", Kind::Text, None),
    ("splay", Kind::Bool, Some("false")),
    ("splaylimit", Kind::Duration, Some("$runinterval")),
    ("srv_domain", Kind::Text, Some("<proc>")),
    ("ssl_client_header", Kind::Text, Some("HTTP_X_CLIENT_DN")),
    ("ssl_client_verify_header", Kind::Text, Some("HTTP_X_CLIENT_VERIFY")),
    ("ssl_lockfile", Kind::Text, Some("$ssldir/ssl.lock")),
    ("ssl_trust_store", Kind::Text, None),
    ("ssldir", Kind::Text, Some("/var/lib/puppet/ssl")),
    ("statedir", Kind::Text, Some("$vardir/state")),
    ("statefile", Kind::Text, Some("$statedir/state.yaml")),
    ("statettl", Kind::Ttl, Some("32d")),
    ("static_catalogs", Kind::Bool, Some("true")),
    ("storeconfigs", Kind::Bool, Some("false")),
    ("storeconfigs_backend", Kind::Symbol, Some("puppetdb")),
    ("strict", Kind::Symbol, Some("warning")),
    ("strict_environment_mode", Kind::Bool, Some("false")),
    ("strict_variables", Kind::Bool, Some("false")),
    ("summarize", Kind::Bool, Some("false")),
    ("supported_checksum_types", Kind::List, Some("sha256,sha384,sha512,sha224,md5")),
    ("syslogfacility", Kind::Text, Some("daemon")),
    ("tags", Kind::Text, Some("")),
    ("tasks", Kind::Bool, Some("false")),
    ("top_level_facts_soft_limit", Kind::Int, Some("512")),
    ("trace", Kind::Bool, Some("false")),
    ("transactionstorefile", Kind::Text, Some("$statedir/transactionstore.yaml")),
    ("trusted_external_command", Kind::Text, None),
    ("trusted_oid_mapping_file", Kind::Text, Some("$confdir/custom_trusted_oid_mapping.yaml")),
    ("use_cached_catalog", Kind::Bool, Some("false")),
    ("use_last_environment", Kind::Bool, Some("true")),
    ("use_srv_records", Kind::Bool, Some("false")),
    ("usecacheonfailure", Kind::Bool, Some("true")),
    ("user", Kind::Text, Some("puppet")),
    ("vardir", Kind::Text, Some("/var/cache/puppet")),
    ("vendormoduledir", Kind::Text, Some("/usr/share/puppet/vendor_modules")),
    ("versioned_environment_dirs", Kind::Bool, Some("false")),
    ("waitforcert", Kind::Duration, Some("2m")),
    ("waitforlock", Kind::Duration, Some("0")),
    ("write_catalog_summary", Kind::Bool, Some("true")),
    ("yamldir", Kind::Text, Some("$vardir/yaml")),
];

#[cfg(test)]
mod tests {
    use super::{DEFAULTS, Given, text, value};
    use crate::value::Value;

    #[test]
    fn the_table_is_in_order() {
        assert!(DEFAULTS.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn settings_are_put_into_others() {
        let given = Given::from([("vardir".to_owned(), "/v".to_owned())]);
        assert_eq!(text(&given, "statefile").as_deref(), Some("/v/state/state.yaml"));
        assert_eq!(text(&given, "binder_config"), None);
    }

    #[test]
    fn values_have_the_kind_of_their_setting() {
        let given = Given::new();
        for (name, wanted) in [
            ("runinterval", Value::Int(1800)),
            ("splaylimit", Value::Int(1800)),
            ("ca_port", Value::Int(8140)),
            ("noop", Value::Bool(false)),
            ("server", Value::from("puppet")),
            ("ca_ttl", Value::Int(157_680_000)),
            ("maxwaitforcert", Value::Float(f64::INFINITY)),
        ] {
            assert_eq!(value(&given, name), Some(wanted), "{name}");
        }
        assert_eq!(value(&given, "no_such_setting"), None);
    }
}
