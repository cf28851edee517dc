//! Libraries a program can require: each is a Ruby text that ships with the runtime, on
//! top of natives where speed or bytes matter.

mod digest;
mod erb;
mod json;
mod ripper;
mod strscan;
mod openssl;
mod yaml;
mod zlib;

use crate::vm::{Res, Shipped, Vm};

macro_rules! libraries {
    ($($name:literal => $file:literal),* $(,)?) => {
        /// A library.
        fn source(name: &str) -> Option<Shipped> {
            match name {
                $($name => Some(Shipped {
                    name: $name,
                    text: include_str!(concat!("../prelude/lib/", $file)),
                    image: include_bytes!(concat!(env!("OUT_DIR"), "/lib/", $file)),
                }),)*
                _ => None,
            }
        }
    };
}

libraries! {
    "json" => "json.rb", "yaml" => "yaml.rb", "erb" => "erb.rb", "stringio" => "stringio.rb", "strscan" => "strscan.rb",
    "shellwords" => "shellwords.rb", "pathname" => "pathname.rb", "uri" => "uri.rb", "digest" => "digest.rb", "openssl" => "openssl.rb", "openssl/bn" => "openssl/bn.rb", "openssl/asn1" => "openssl/asn1.rb", "openssl/cipher" => "openssl/cipher.rb",
    "openssl/pkey" => "openssl/pkey.rb", "openssl/x509" => "openssl/x509.rb", "openssl/pkcs" => "openssl/pkcs.rb", "base64" => "base64.rb", "ostruct" => "ostruct.rb",
    "forwardable" => "forwardable.rb", "singleton" => "singleton.rb", "delegate" => "delegate.rb", "logger" => "logger.rb", "timeout" => "timeout.rb", "observer" => "observer.rb",
    "securerandom" => "securerandom.rb", "open3" => "open3.rb", "fileutils" => "fileutils.rb", "tempfile" => "tempfile.rb", "tmpdir" => "tempfile.rb", "etc" => "etc.rb", "socket" => "socket.rb",
    "date" => "date.rb", "date/parse" => "date/parse.rb", "time" => "timelib.rb", "ipaddr" => "ipaddr.rb", "benchmark" => "benchmark.rb", "optparse" => "optparse.rb", "English" => "English.rb", "tsort" => "tsort.rb", "find" => "find.rb",
    "cgi" => "cgi.rb", "rbconfig" => "rbconfig.rb", "monitor" => "monitor.rb", "pp" => "pp.rb", "net/http" => "nethttp.rb", "net/http/responses" => "nethttp_responses.rb", "open-uri" => "openuri.rb", "csv" => "csv.rb", "rexml/document" => "rexml.rb", "rexml/xpath" => "rexml/xpath.rb", "rexml/formatters" => "rexml/formatters.rb", "weakref" => "delegate.rb", "abbrev" => "tsort.rb", "zlib" => "zlib.rb", "getoptlong" => "getoptlong.rb", "ripper" => "ripper.rb", "mutex_m" => "mutex_m.rb", "drb" => "drb.rb", "racc/parser" => "racc.rb", "openssl/ssl" => "openssl/ssl.rb", "resolv" => "resolv.rb", "bigdecimal" => "bigdecimal.rb",
}

/// Names that load something else, or nothing because it is always there.
fn alias(name: &str) -> Option<&'static str> {
    Some(match name {
        "rbconfig/sizeof" => "rbconfig",
        "json/ext" | "json/add/core" => "json",
        "digest/md5"
        | "digest/sha1"
        | "digest/sha2"
        | "digest/sha256"
        | "digest/sha512"
        | "digest/bubblebabble"
        | "digest/rmd160" => "digest",
        "net/https" => "net/http",
        "uri/generic" | "uri/http" => "uri",
        "cgi/util" | "cgi/escape" => "cgi",
        "rexml" | "rexml/rexml" | "rexml/formatters/pretty" | "rexml/element" | "rexml/text" => {
            "rexml/document"
        }
        "optparse/time" | "optparse/uri" => "optparse",
        "erb/util" => "erb",
        "psych" => "yaml",
        "drb/drb" | "drb/acl" | "drb/unix" | "drb/observer" => "drb",
        "bigdecimal/util" => "bigdecimal",
        "set"
        | "thread"
        | "enumerator"
        | "rational"
        | "complex"
        | "fiber"
        | "io/console"
        | "rubygems"
        | "rubygems/version"
        | "rubygems/requirement"
        | "io/wait"
        | "set/sorted_set"
        | "continuation"
        | "objspace"
        | "io/nonblock"
        | "bundler"
        | "did_you_mean"
        | "error_highlight"
        | "prettyprint"
        | "coverage"
        | "readline"
        | "fcntl"
        | "pty"
        | "win32ole" => "",
        _ => return None,
    })
}

/// Parts that need a C extension or a service we do not have.
const REFUSED: &[&str] = &[
    "continuation",
    "objspace",
    "coverage",
    "readline",
    "pty",
    "win32ole",
    "bundler",
    "set/sorted_set",
];

pub(crate) fn known(name: &str) -> bool {
    !REFUSED.contains(&name) && (source(name).is_some() || alias(name).is_some())
}

pub(crate) fn load(vm: &mut Vm, name: &str) -> Res<()> {
    if let Some(target) = alias(name) {
        if !target.is_empty() {
            vm.require(target)?;
        }
        return Ok(());
    }
    match name {
        "json" => json::init(vm),
        "yaml" => yaml::init(vm),
        "digest" => digest::init(vm),
        "openssl" => {
            digest::init(vm);
            openssl::init(vm);
        }
        "erb" => erb::init(vm),
        "strscan" => strscan::init(vm),
        "zlib" => zlib::init(vm),
        "ripper" => ripper::init(vm),
        _ => {}
    }
    let Some(found) = source(name) else { return Ok(()) };
    let code = vm.shipped_code(found)?;
    let (main, cref) = (vm.main, vm.top_cref);
    vm.run_program(code, main, cref)?;
    Ok(())
}
