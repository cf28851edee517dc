//! What `Type(…)` accepts: the parameters of the functions that make values. How the values are
//! made is reported beside.

use super::call::{check, reasons_against};
use super::error::Flow;
use super::{Evaluated, Evaluator};
use crate::types::{Type, generalize, infer};
use crate::value::Value;

/// One function that makes values of a type.
struct Constructor {
    name: &'static str,
    signatures: &'static [&'static str],
    /// Arguments of another kind that are reported in other words, and what they would become.
    refused: Option<(&'static str, &'static str)>,
}

const URI_PARTS: &str = "Struct[{Optional['scheme'] => String[1], Optional['userinfo'] => String[1], Optional['host'] => String[1], Optional['port'] => Integer[0], Optional['path'] => String[1], Optional['query'] => String[1], Optional['fragment'] => String[1], Optional['opaque'] => String[1]}] hash";
const FORMATS: &str = "Formats = Variant[String[2], Array[String[2], 1]]";

static BOOLEAN: Constructor = Constructor {
    name: "new_boolean",
    signatures: &[
        "Variant[Integer, Float, Boolean, Enum['false','true','yes','no','y','n',true]] from",
    ],
    refused: Some(("Any from", "Boolean")),
};
static ARRAY: Constructor = Constructor {
    name: "new_array",
    signatures: &[
        "Variant[Array, Hash, Binary, Iterable] from, Boolean[false] wrap?",
        "Any from, Boolean[true] wrap",
    ],
    refused: Some(("Any from, Boolean wrap?", "Array")),
};
static HASH: Constructor = Constructor {
    name: "new_hash",
    signatures: &[
        "TreeArray = Array[Tuple[Array,Any],1] from, NewHashOption = Enum[tree, hash_tree] build_option?",
        "KeyValueArray = Array[Tuple[Any,Any],1] from",
        "Any from",
    ],
    refused: None,
};
static SEMVER: Constructor = Constructor {
    name: "new_Version",
    signatures: &[
        "SemVerPattern = Pattern[/\\A(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?(?:\\+([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?\\Z/] str",
        "PositiveInteger = Integer[0] major, PositiveInteger = Integer[0] minor, PositiveInteger = Integer[0] patch, SemVerQualifier = Pattern[/\\A(?<part>[0-9A-Za-z-]+)(?:\\.\\g<part>)*\\Z/] prerelease?, SemVerQualifier = Pattern[/\\A(?<part>[0-9A-Za-z-]+)(?:\\.\\g<part>)*\\Z/] build?",
    ],
    refused: Some(("String str", "a SemVer")),
};
static RANGE: Constructor = Constructor {
    name: "new_VersionRange",
    signatures: &[
        "SemVerRangeString = String[1] str",
        "Variant[Default, SemVer] min, Variant[Default, SemVer] max, Boolean exclude_max?",
        "SemVerRangeHash = Struct[{'min' => Variant[Default, SemVer], Optional['max'] => Variant[Default, SemVer], Optional['exclude_max'] => Boolean}] hash_args",
    ],
    refused: None,
};
static BINARY: Constructor = Constructor {
    name: "new_Binary",
    signatures: &[
        "String str, Base64Format = Enum['%b', '%u', '%B', '%s', '%r'] format?",
        "Array[Integer[0, 255]] byte_array",
        "Variant[Struct[{'value' => String, 'format' => Optional[Enum['%b', '%u', '%B', '%s', '%r']]}], Struct[{'value' => Array[Integer[0, 255]]}]] hash_args",
    ],
    refused: None,
};
static URI: Constructor =
    Constructor { name: "new_error", signatures: &["String[1] uri", URI_PARTS], refused: None };
static STRING: Constructor = Constructor {
    name: "new_string",
    signatures: &["Any from, Variant[Default, String[1], Hash[Type, Any]] string_formats?"],
    refused: None,
};
static TYPE: Constructor =
    Constructor { name: "new_type", signatures: &["String[1] type_string"], refused: None };
static SENSITIVE: Constructor = Constructor {
    name: "new_Sensitive",
    signatures: &["Sensitive value", "Any value"],
    refused: None,
};

impl Evaluator {
    /// Checks the arguments that a value of a type shall be made from.
    pub(super) fn check_new(&self, ty: &Type, args: &[Value]) -> Evaluated<()> {
        let constructor = match ty {
            Type::String(_) | Type::Literal(_) => &STRING,
            Type::Boolean(_) => &BOOLEAN,
            Type::Array { .. } | Type::Tuple { .. } => &ARRAY,
            Type::Hash { .. } | Type::Struct(_) => &HASH,
            // What is a version already is taken as it is.
            Type::SemVer(_) if matches!(args, [Value::String(_) | Value::Hash(_)]) => return Ok(()),
            Type::SemVer(_) => &SEMVER,
            Type::SemVerRange => &RANGE,
            Type::Binary => &BINARY,
            Type::Uri(_) if matches!(args, [Value::Uri(_)]) => return Ok(()),
            Type::Uri(_) => &URI,
            Type::Meta(_) if matches!(args, [Value::Type(_)]) => return Ok(()),
            Type::Meta(_) => &TYPE,
            Type::Sensitive(_) => &SENSITIVE,
            Type::Timespan(_) => return self.check_time(args, true),
            Type::Timestamp(_) => return self.check_time(args, false),
            _ => return Ok(()),
        };
        self.check_with(constructor, args)
    }

    fn check_with(&self, constructor: &Constructor, args: &[Value]) -> Evaluated<()> {
        let mut signatures = Vec::new();
        for text in constructor.signatures {
            signatures.push(self.read_parameters(text)?);
        }
        let Err(flow) = check(constructor.name, &signatures, args, None) else { return Ok(()) };
        let Some((refused, wanted)) = constructor.refused else { return Err(flow) };
        if !reasons_against(&self.read_parameters(refused)?, args, None).is_empty() {
            return Err(flow);
        }
        Err(cannot(constructor.name, args.first().unwrap_or(&Value::Undef), wanted))
    }

    fn check_time(&self, args: &[Value], spans: bool) -> Evaluated<()> {
        let mut texts: Vec<String> = Vec::new();
        if !spans {
            texts.push(String::new());
        }
        texts.push("Variant[Integer, Float] seconds".into());
        let zone = if spans { "" } else { ", String[1] timezone?" };
        texts.push(format!("String[1] string, {FORMATS} format?{zone}"));
        if spans {
            texts.push("Integer days, Integer hours, Integer minutes, Integer seconds, Integer milliseconds?, Integer microseconds?, Integer nanoseconds?".into());
        }
        let zone = if spans { "" } else { ", Optional['timezone'] => String[1]" };
        texts.push(format!(
            "Struct[{{'string' => String[1], Optional['format'] => Variant[String[2], Array[String[2], 1]]{zone}}}] hash_arg"
        ));
        if spans {
            texts.push("Struct[{Optional['negative'] => Boolean, Optional['days'] => Integer, Optional['hours'] => Integer, Optional['minutes'] => Integer, Optional['seconds'] => Integer, Optional['milliseconds'] => Integer, Optional['microseconds'] => Integer, Optional['nanoseconds'] => Integer}] hash_arg".into());
        }
        let mut signatures = Vec::new();
        for text in &texts {
            signatures.push(self.read_parameters(text)?);
        }
        check(if spans { "new_timespan" } else { "new_timestamp" }, &signatures, args, None)
    }
}

/// A value that cannot become what was asked for.
pub(super) fn cannot(function: &str, value: &Value, wanted: &str) -> Flow {
    let prefix = if function.is_empty() { String::new() } else { format!("'{function}' ") };
    Flow::raw(match value {
        Value::String(text) if wanted != "Array" => {
            format!("{prefix}The string '{text}' cannot be converted to {wanted}")
        }
        other => format!(
            "{prefix}Value of type {} cannot be converted to {wanted}",
            generalize(&infer(other))
        ),
    })
}
