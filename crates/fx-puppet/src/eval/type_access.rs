//! `Type[parameters]`: types made from types.

use std::rc::Rc;

use fx_source::Span;

use super::error::Flow;
use super::label::{short, value_label};
use super::text::program_text;
use super::{Evaluated, Evaluator};
use crate::regex::Regex;
use crate::types::{ANY_SIZE, KeyForm, Member, Range, Signature, Size, Type};
use crate::value::Value;

struct Keys<'k> {
    name: String,
    given: &'k [Value],
    span: Span,
    spans: &'k [Span],
}

impl Keys<'_> {
    fn at(&self, index: usize) -> Span {
        self.spans.get(index).copied().unwrap_or(self.span)
    }

    fn count(&self, least: usize, most: usize) -> Evaluated<()> {
        let given = self.given.len();
        if given >= least && given <= most {
            return Ok(());
        }
        let wanted = if least == most {
            format!("{least} argument{}", if least == 1 { "" } else { "s" })
        } else if most == usize::MAX {
            format!("{least} or more arguments")
        } else {
            format!("{least} to {most} arguments")
        };
        Err(Flow::at(self.span, format!("{}-Type[] accepts {wanted}. Got {given}", self.name)))
    }

    /// Keys of one kind each: `expected` says which, in the runtime's words.
    fn each(
        &self,
        least: usize,
        most: usize,
        expected: &str,
        fits: impl Fn(&Value) -> bool,
    ) -> Evaluated<()> {
        let given = self.given.len();
        if given < least || given > most {
            let wanted = match most {
                1 => "1 argument".to_owned(),
                usize::MAX => "1 or more arguments".to_owned(),
                most => format!("1 to {most} arguments"),
            };
            return Err(self.wrong_count(&wanted));
        }
        match self.given.iter().position(|key| !fits(key)) {
            Some(index) => Err(self.unusable(index, expected)),
            None => Ok(()),
        }
    }

    fn wrong_count(&self, wanted: &str) -> Flow {
        let article = if article(&self.name) == "an" { "An" } else { "A" };
        let got = self.given.len();
        Flow::at(self.span, format!("{article} {}-Type[] accepts {wanted}. Got {got}", self.name))
    }

    fn unusable(&self, index: usize, expected: &str) -> Flow {
        Flow::at(
            self.at(index),
            format!(
                "Error creating type specialization of {} {}-Type, Cannot use {} where {expected} is expected",
                article(&self.name),
                self.name,
                general(&self.given[index])
            ),
        )
    }

    fn ty(&self, index: usize) -> Evaluated<Rc<Type>> {
        match &self.given[index] {
            Value::Type(ty) => Ok(Rc::clone(ty)),
            other => Err(Flow::at(
                self.at(index),
                format!("{}-Type[] arguments must be types. Got {}", self.name, class_of(other)),
            )),
        }
    }

    /// The size that begins at a key.
    fn size(&self, index: usize) -> Evaluated<Size> {
        let number = |index: usize, open: Option<i64>| match self.given.get(index) {
            None => Ok(open),
            Some(Value::Default) => Ok(open),
            Some(Value::Int(number)) => Ok(Some(*number)),
            Some(other) => Err(Flow::at(
                self.at(index),
                format!(
                    "A Type's size constraint arguments must be a single Integer type, or 1-2 integers (or default). Got a {}",
                    class_of(other)
                ),
            )),
        };
        if let Some(Value::Type(ty)) = self.given.get(index)
            && let Type::Integer(range) = &**ty
        {
            return Ok(*range);
        }
        let range = Range::new(number(index, Some(0))?, number(index + 1, None)?);
        if let (Some(min), Some(max)) = (range.min, range.max)
            && min > max
        {
            return Err(Flow::raw(format!(
                "'from' must be less or equal to 'to'. Got ({min}, {max}"
            )));
        }
        Ok(range)
    }
}

fn article(name: &str) -> &'static str {
    if name.starts_with(|c: char| "AEIOU".contains(c)) { "an" } else { "a" }
}

/// The class of the runtime that holds a value.
fn class_of(value: &Value) -> String {
    match value {
        Value::Undef => "NilClass".into(),
        Value::Default => "Symbol".into(),
        Value::Bool(true) => "TrueClass".into(),
        Value::Bool(false) => "FalseClass".into(),
        Value::Regex(_) => "Regexp".into(),
        value => kind(value),
    }
}

/// The type of a value without its limits.
fn general(value: &Value) -> String {
    crate::types::generalize(&crate::types::infer(value)).to_string()
}

fn kind(value: &Value) -> String {
    match value {
        Value::Undef => "Undef".into(),
        Value::Type(ty) => format!("{}-Type", short(ty)),
        value => value_label(value),
    }
}

impl Evaluator {
    /// A type made from a type and parameters; or a resource's attribute.
    pub(super) fn access_type(
        &self,
        ty: &Rc<Type>,
        values: &[Value],
        span: Span,
        spans: &[Span],
    ) -> Evaluated {
        // Lists of keys count as keys, except where a list or a hash is one.
        let flat;
        let values = match &**ty {
            Type::Callable(_) | Type::Init(_) | Type::Resource { .. } | Type::Class(_) => values,
            _ if values.iter().any(|value| matches!(value, Value::Array(_))) => {
                flat = flattened(values);
                &flat
            }
            _ => values,
        };
        let keys = Keys { name: short(ty), given: values, span, spans };
        Ok(Value::ty(match &**ty {
            Type::Integer(_) => Type::Integer(self.integer_range(&keys)?),
            Type::Float(_) => Type::Float(Self::float_range(&keys)?),
            Type::String(_) => {
                if values.is_empty() || values.len() > 2 {
                    let got = values.len();
                    return Err(Flow::at(
                        span,
                        format!("String supports [] with one or two arguments. Got {got}"),
                    ));
                }
                let size = keys.size(0)?;
                // No text is shorter than the empty one.
                Type::String(Size::new(Some(size.min.unwrap_or(0).max(0)), size.max))
            }
            Type::Boolean(_) => {
                keys.each(1, 1, "TrueClass or FalseClass", |key| matches!(key, Value::Bool(_)))?;
                Type::Boolean(values.first().map(Value::is_true))
            }
            Type::Enum { .. } => self.enumeration(&keys)?,
            Type::Pattern(_) => Type::Pattern(self.patterns(&keys)?),
            Type::Regexp(_) => {
                if values.len() != 1 {
                    let blamed = Keys { span: keys.at(1), ..keys };
                    return Err(blamed.wrong_count("1 argument"));
                }
                match &values[0] {
                    Value::Regex(regex) => Type::Regexp(Some(Rc::clone(regex))),
                    Value::String(source) => Type::Regexp(Some(sound(source)?)),
                    _ => return Err(keys.unusable(0, "String or Regexp")),
                }
            }
            Type::Array { .. } => Self::array_of(&keys)?,
            Type::Hash { .. } => Self::hash_of(&keys)?,
            Type::Collection(_) => Type::Collection(keys.size(0)?),
            Type::Tuple { .. } => self.tuple_of(&keys)?,
            Type::Struct(_) => Type::Struct(self.struct_members(&keys)?),
            Type::Variant(_) => Self::variant_of(&keys)?,
            Type::Optional(_) => {
                keys.count(1, 1)?;
                Type::Optional(Some(self.type_or_text(&keys)?))
            }
            Type::NotUndef(_) => {
                keys.count(0, 1)?;
                match values {
                    [] => Type::NotUndef(None),
                    _ => match self.type_or_text(&keys)? {
                        ty if *ty == Type::Any => Type::NotUndef(None),
                        ty => Type::NotUndef(Some(ty)),
                    },
                }
            }
            Type::Meta(_) => Type::Meta(Some(self.only(&keys)?)),
            Type::Iterable(_) => Type::Iterable(Some(self.only(&keys)?)),
            Type::Iterator(_) => Type::Iterator(Some(self.only(&keys)?)),
            Type::Sensitive(_) => {
                Type::Sensitive(Some(self.only(&keys)?).filter(|inner| **inner != Type::Any))
            }
            Type::Init(_) => Type::Init(Some(keys.ty(0)?)),
            Type::Callable(_) => Type::Callable(Some(self.signature(&keys)?)),
            Type::Class(None) => return self.class_references(&keys),
            Type::Class(Some(name)) => return self.attribute_of("class", name, &keys),
            Type::Resource { name: Some(name), title: Some(title) } => {
                return self.attribute_of(name, title, &keys);
            }
            Type::Resource { name, title: None } => {
                return self.resource_reference(name.as_ref(), &keys);
            }
            Type::SemVer(_) => Type::SemVer(Self::version_ranges(&keys)?),
            Type::Timestamp(_) => Type::Timestamp(self.time_range(&keys, false)?),
            Type::Timespan(_) => Type::Timespan(self.time_range(&keys, true)?),
            Type::Runtime(_) => Type::Runtime(Self::runtime_of(&keys)?),
            Type::Object(None) => match values {
                [Value::Hash(hash)] => Type::Object(Some(Rc::new(self.object_type(hash)?))),
                _ => return Err(Flow::at(span, "Object-Type[] accepts one Hash")),
            },
            Type::Uri(_) => {
                keys.count(1, 1)?;
                Type::Uri(Some(match &values[0] {
                    Value::String(text) => Rc::clone(text),
                    other => program_text(other).into(),
                }))
            }
            Type::TypeSet => (**ty).clone(),
            Type::Alias { target, .. } => return self.access_type(target, values, span, spans),
            _ => {
                return Err(Flow::at(
                    span,
                    format!(
                        "Operator '[]' is not applicable to {} {}-Type.",
                        article(&keys.name),
                        keys.name
                    ),
                ));
            }
        }))
    }

    fn float_range(keys: &Keys<'_>) -> Evaluated<Range<f64>> {
        let values = keys.given;
        keys.count(1, 2)?;
        let number = |index: usize| match values.get(index) {
            None | Some(Value::Default) => Ok(None),
            Some(Value::Int(number)) => Ok(Some(*number as f64)),
            Some(Value::Float(number)) => Ok(Some(*number)),
            Some(other) => Err(Flow::at(
                keys.at(index),
                format!(
                    "Float-Type [] requires all arguments to be floats, or integers (or default). Got {}",
                    kind(other)
                ),
            )),
        };
        let range = Range::new(number(0)?, number(1)?);
        if let (Some(min), Some(max)) = (range.min, range.max)
            && min > max
        {
            return Err(Flow::raw(format!(
                "'from' must be less or equal to 'to'. Got ({min:?}, {max:?}"
            )));
        }
        Ok(range)
    }

    fn array_of(keys: &Keys<'_>) -> Evaluated<Type> {
        let values = keys.given;
        let element = match values {
            [Value::Int(_) | Value::Default, _] => None,
            [_, ..] => Some(keys.ty(0)?),
            [] => None,
        };
        keys.count(1, 3)?;
        let from = usize::from(element.is_some());
        let size = if values.len() > from { keys.size(from)? } else { ANY_SIZE };
        Ok(Type::Array { element: element.unwrap_or_else(|| Rc::new(Type::Any)), size })
    }

    fn hash_of(keys: &Keys<'_>) -> Evaluated<Type> {
        let values = keys.given;
        if let [Value::Int(_) | Value::Default, Value::Int(_) | Value::Default] = values {
            let any = Rc::new(Type::Any);
            return Ok(Type::Hash { key: Rc::clone(&any), value: any, size: keys.size(0)? });
        }
        for index in 0..values.len().min(2) {
            keys.ty(index)?;
        }
        keys.count(2, 4)?;
        let size = if values.len() > 2 { keys.size(2)? } else { ANY_SIZE };
        Ok(Type::Hash { key: keys.ty(0)?, value: keys.ty(1)?, size })
    }

    fn tuple_of(&self, keys: &Keys<'_>) -> Evaluated<Type> {
        let values = keys.given;
        let is_limit = |key: Option<&Value>| matches!(key, Some(Value::Int(_) | Value::Default));
        let count = values.len();
        let limits = match (count.checked_sub(2).map(|at| &values[at]), values.last()) {
            (before, last) if is_limit(before) && is_limit(last) => 2,
            (_, last) if is_limit(last) => 1,
            _ => 0,
        };
        let typed = Keys {
            name: keys.name.clone(),
            given: &values[..count - limits],
            span: keys.span,
            spans: keys.spans,
        };
        typed.each(1, usize::MAX, "Any-Type", |key| matches!(key, Value::Type(_)))?;
        let (types, size) = self.types_and_size(keys, 0, count)?;
        Ok(Type::Tuple { types, size })
    }

    fn variant_of(keys: &Keys<'_>) -> Evaluated<Type> {
        keys.each(1, usize::MAX, "Any-Type", |key| matches!(key, Value::Type(_)))?;
        let mut types: Vec<Rc<Type>> = Vec::new();
        for index in 0..keys.given.len() {
            let ty = keys.ty(index)?;
            // A variant of variants is one variant, each type once.
            let parts = if let Type::Variant(inner) = &*ty { inner.clone() } else { vec![ty] };
            for part in parts {
                if !types.contains(&part) {
                    types.push(part);
                }
            }
        }
        Ok(if types.len() == 1 { (*types[0]).clone() } else { Type::Variant(types) })
    }

    fn version_ranges(keys: &Keys<'_>) -> Evaluated<Vec<Rc<str>>> {
        keys.each(1, usize::MAX, "String or SemanticPuppet::VersionRange", |key| {
            matches!(key, Value::String(_) | Value::SemVerRange(_))
        })?;
        let mut ranges = Vec::new();
        for value in keys.given {
            if let Value::String(text) | Value::SemVerRange(text) = value {
                if crate::semver::range_text(text).is_none() {
                    return Err(Flow::raw(format!("Unparsable version range: \"{text}\"")));
                }
                ranges.push(Rc::clone(text));
            }
        }
        Ok(ranges)
    }

    fn runtime_of(keys: &Keys<'_>) -> Evaluated<Option<(Rc<str>, Rc<str>)>> {
        keys.each(2, 2, "String or String", |key| key.as_str().is_some())?;
        Ok(match keys.given {
            [Value::String(runtime), Value::String(name)] => {
                Some((Rc::clone(runtime), Rc::clone(name)))
            }
            _ => None,
        })
    }

    fn integer_range(&self, keys: &Keys<'_>) -> Evaluated<Range<i64>> {
        if keys.given.is_empty() || keys.given.len() > 2 {
            return Err(Flow::at(
                keys.span,
                format!(
                    "Integer-Type supports [] with one or two arguments (from, to). Got {}",
                    keys.given.len()
                ),
            ));
        }
        let number = |index: usize| match keys.given.get(index) {
            None | Some(Value::Default) => Ok(None),
            Some(Value::Int(number)) => Ok(Some(*number)),
            Some(other) => Err(Flow::at(
                keys.at(index),
                format!(
                    "Integer-Type [] requires all arguments to be integers (or default). Got {}",
                    kind(other)
                ),
            )),
        };
        let range = Range::new(number(0)?, number(1)?);
        match (range.min, range.max) {
            (Some(min), Some(max)) if min > max => {
                Err(Flow::raw(format!("'from' must be less or equal to 'to'. Got ({min}, {max}")))
            }
            _ => Ok(range),
        }
    }

    fn enumeration(&self, keys: &Keys<'_>) -> Evaluated<Type> {
        let (given, ignore_case) = match keys.given {
            [given @ .., Value::Bool(truth)] => (given, *truth),
            given => (given, false),
        };
        let texts = Keys { name: keys.name.clone(), given, ..*keys };
        texts.each(1, usize::MAX, "String", |key| key.as_str().is_some())?;
        let values = given.iter().filter_map(|key| key.as_str().map(Rc::from)).collect();
        Ok(crate::types::enumeration(values, ignore_case))
    }

    /// The one type between the brackets.
    fn only(&self, keys: &Keys<'_>) -> Evaluated<Rc<Type>> {
        keys.count(1, 1)?;
        keys.ty(0)
    }

    fn class_references(&self, keys: &Keys<'_>) -> Evaluated {
        if keys.given.is_empty() {
            return Err(Flow::at(keys.span, "Class[] accepts 1 or more arguments. Got 0"));
        }
        let is_list = keys.given.len() > 1 || matches!(keys.given, [Value::Array(_)]);
        let mut classes = Vec::new();
        let flat = flattened(keys.given);
        for (index, value) in flat.iter().filter(|key| !matches!(key, Value::Undef)).enumerate() {
            let Value::String(text) = value else {
                let kind = super::label::with_article(value);
                let kind = format!("{}{}", kind[..1].to_uppercase(), &kind[1..]);
                return Err(Flow::at(
                    keys.at(index),
                    format!(
                        "Illegal Class name in class reference. {kind} cannot be used where a String is expected"
                    ),
                ));
            };
            let lower = text.to_lowercase();
            let name = lower.strip_prefix("::").unwrap_or(&lower);
            if !is_name(name) {
                return Err(Flow::at(
                    keys.at(index),
                    format!(
                        "Illegal name. The given name '{text}' does not conform to the naming rule /^((::)?[a-z_]\\w*)(::[a-z]\\w*)*$/"
                    ),
                ));
            }
            classes.push(Value::ty(Type::Class(Some(name.into()))));
        }
        Ok(match classes.as_slice() {
            [] if !is_list => Value::Undef,
            [class] if !is_list => class.clone(),
            _ => Value::array(classes),
        })
    }

    fn patterns(&self, keys: &Keys<'_>) -> Evaluated<Vec<Rc<Regex>>> {
        if keys.given.is_empty() {
            return Err(keys.wrong_count("1 or more arguments"));
        }
        let mut patterns = Vec::new();
        for (index, value) in keys.given.iter().enumerate() {
            match value {
                Value::Regex(regex) => patterns.push(Rc::clone(regex)),
                Value::String(source) => patterns.push(sound(source)?),
                Value::Type(ty) => match ty.resolved() {
                    Type::Pattern(more) => patterns.extend(more.iter().cloned()),
                    Type::Regexp(Some(regex)) => patterns.push(Rc::clone(regex)),
                    _ => return Err(keys.unusable(index, PATTERN_KEYS)),
                },
                _ => return Err(keys.unusable(index, PATTERN_KEYS)),
            }
        }
        Ok(patterns)
    }

    fn type_or_text(&self, keys: &Keys<'_>) -> Evaluated<Rc<Type>> {
        match &keys.given[0] {
            Value::Type(ty) => Ok(Rc::clone(ty)),
            Value::String(text) => Ok(Rc::new(Type::Literal(Rc::clone(text)))),
            other => {
                let wanted = match keys.name.as_str() {
                    "NotUndef" => "argument must be a Type or a String",
                    _ => "arguments must be types",
                };
                Err(Flow::at(
                    keys.at(0),
                    format!("{}-Type[] {wanted}. Got {}", keys.name, class_of(other)),
                ))
            }
        }
    }

    fn types_and_size(
        &self,
        keys: &Keys<'_>,
        from: usize,
        to: usize,
    ) -> Evaluated<(Vec<Rc<Type>>, Option<Size>)> {
        let mut types = Vec::new();
        let mut index = from;
        while index < to && matches!(keys.given[index], Value::Type(_)) {
            types.push(keys.ty(index)?);
            index += 1;
        }
        let part = Keys {
            name: keys.name.clone(),
            given: &keys.given[..to],
            span: keys.span,
            spans: keys.spans,
        };
        Ok(if index < to {
            if !matches!(keys.given[index], Value::Int(_) | Value::Default) {
                keys.ty(index)?;
            }
            let size = part.size(index)?;
            (types, Some(size))
        } else {
            (types, None)
        })
    }

    fn struct_members(&self, keys: &Keys<'_>) -> Evaluated<Vec<Member>> {
        keys.each(1, 1, "Hash", |key| matches!(key, Value::Hash(_)))?;
        let [Value::Hash(hash)] = keys.given else { return Ok(Vec::new()) };
        let mut members = Vec::new();
        for (key, value) in &**hash {
            let (name, form) = match key {
                Value::String(name) => (Rc::clone(name), KeyForm::Plain),
                Value::Type(ty) => match &**ty {
                    Type::Optional(Some(inner)) => (self.literal(inner)?, KeyForm::Optional),
                    Type::NotUndef(Some(inner)) => (self.literal(inner)?, KeyForm::NotUndef),
                    Type::Enum { values, .. } if values.len() == 1 => {
                        (Rc::clone(&values[0]), KeyForm::Plain)
                    }
                    Type::Literal(text) => (Rc::clone(text), KeyForm::Plain),
                    _ => return Err(illegal_key(&format!("{ty}"))),
                },
                other => return Err(illegal_key(&kind(other))),
            };
            // What is no type stands for its own type; a text names a class of the runtime.
            let value = match value {
                Value::Type(ty) => Rc::clone(ty),
                other => Rc::new(standing_for(other)),
            };
            members.push(Member { name, key: form, value });
        }
        Ok(members)
    }

    fn literal(&self, ty: &Type) -> Evaluated<Rc<str>> {
        match ty {
            Type::Literal(text) => Ok(Rc::clone(text)),
            Type::Enum { values, .. } if values.len() == 1 => Ok(Rc::clone(&values[0])),
            ty => Err(illegal_key(&ty.to_string())),
        }
    }

    fn signature(&self, keys: &Keys<'_>) -> Evaluated<Signature> {
        // `Callable[[params], Result]`
        if matches!(keys.given, [Value::Array(_), rest @ ..] if rest.len() != 1) {
            return Err(keys.wrong_count("2 arguments"));
        }
        if let [Value::Array(params), Value::Type(returns)] = keys.given {
            let inner =
                Keys { name: keys.name.clone(), given: params, span: keys.span, spans: &[] };
            let mut signature = self.signature(&inner)?;
            signature.returns = Some(Rc::clone(returns));
            return Ok(signature);
        }
        let mut count = keys.given.len();
        let is_block = |value: &Value| match value {
            Value::Type(ty) => {
                let inner = if let Type::Optional(Some(inner)) = &**ty { inner } else { ty };
                matches!(**inner, Type::Callable(_))
            }
            _ => false,
        };
        let block = match keys.given.last() {
            Some(last) if is_block(last) => {
                count -= 1;
                Some(keys.ty(count)?)
            }
            _ => None,
        };
        let (params, size) = self.types_and_size(keys, 0, count)?;
        let size = size.unwrap_or(Size::exactly(params.len() as i64));
        Ok(Signature { params, size, block, returns: None })
    }

    fn time_range(&self, keys: &Keys<'_>, span: bool) -> Evaluated<Range<i128>> {
        if keys.given.len() > 2 {
            return Err(keys.wrong_count("0 to 2 arguments"));
        }
        let moment = |index: usize| match keys.given.get(index) {
            None | Some(Value::Default) => Ok(None),
            Some(value) => {
                let made = if span {
                    self.new_timespan(std::slice::from_ref(value))
                } else {
                    self.new_timestamp(std::slice::from_ref(value))
                }?;
                match made {
                    Value::Timespan(nanos) | Value::Timestamp(nanos) => Ok(Some(nanos)),
                    _ => Ok(None),
                }
            }
        };
        Ok(Range::new(moment(0)?, moment(1)?))
    }

    fn resource_reference(&self, name: Option<&Rc<str>>, keys: &Keys<'_>) -> Evaluated {
        let (name, titles, first): (Rc<str>, &[Value], usize) = match name {
            Some(name) => (Rc::clone(name), keys.given, 0),
            None => match keys.given.first() {
                Some(Value::String(name)) => {
                    (name.to_lowercase().trim_start_matches("::").into(), &keys.given[1..], 1)
                }
                Some(Value::Type(ty)) => match &**ty {
                    Type::Resource { name: Some(name), title: None } => {
                        (Rc::clone(name), &keys.given[1..], 1)
                    }
                    Type::Class(None) => ("class".into(), &keys.given[1..], 1),
                    _ => {
                        return Err(Flow::at(
                            keys.at(0),
                            format!(
                                "First argument to Resource[] must be a resource type or a String. Got {}.",
                                general(&keys.given[0])
                            ),
                        ));
                    }
                },
                other => {
                    let got = other.map_or_else(|| "nothing".to_owned(), general);
                    return Err(Flow::at(
                        keys.at(0),
                        format!(
                            "First argument to Resource[] must be a resource type or a String. Got {got}."
                        ),
                    ));
                }
            },
        };
        if titles.is_empty() {
            return Ok(Value::ty(if &*name == "class" {
                Type::Class(None)
            } else {
                Type::Resource { name: Some(name), title: None }
            }));
        }
        // A list of titles gives a list, be it of one; undef is no title.
        let is_list = titles.len() > 1 || matches!(titles.first(), Some(Value::Array(_)));
        let mut references = Vec::new();
        for (index, title) in flattened(titles).iter().enumerate() {
            match title {
                Value::String(title) if &*name == "class" => {
                    references.push(Value::ty(Type::Class(Some(title.to_lowercase().into()))))
                }
                Value::String(title) => references.push(Value::ty(Type::Resource {
                    name: Some(Rc::clone(&name)),
                    title: Some(Rc::clone(title)),
                })),
                Value::Undef => {}
                Value::Default => references
                    .push(Value::ty(Type::Resource { name: Some(Rc::clone(&name)), title: None })),
                other => {
                    let shown = crate::types::capitalized(&name);
                    return Err(Flow::at(
                        keys.at(index + first),
                        format!(
                            "Error creating type specialization of {} {shown}-Type, Cannot use {} where a resource title String is expected",
                            article(&shown),
                            general(other)
                        ),
                    ));
                }
            }
        }
        Ok(match references.as_slice() {
            [] if !is_list => Value::Undef,
            [one] if !is_list => one.clone(),
            _ => Value::array(references),
        })
    }

    /// `File['/x']['mode']`
    fn attribute_of(&self, name: &str, title: &str, keys: &Keys<'_>) -> Evaluated {
        let mut values = Vec::new();
        for key in keys.given {
            let Value::String(attribute) = key else {
                return Err(Flow::at(
                    keys.span,
                    format!(
                        "A Resource parameter name must be a String. Got {}",
                        program_text(key)
                    ),
                ));
            };
            values.push(self.resource_attribute(name, title, attribute, keys.span)?);
        }
        Ok(if values.len() == 1 { values.remove(0) } else { Value::array(values) })
    }
}

/// A type for what stands where a type should.
fn standing_for(value: &Value) -> Type {
    match value {
        Value::String(name) => Type::Runtime(Some(("ruby".into(), Rc::clone(name)))),
        value => crate::types::generalize(&crate::types::infer(value)),
    }
}

const PATTERN_KEYS: &str = "String or Regexp or Pattern-Type or Regexp-Type";

/// A regular expression that compiles.
fn sound(source: &str) -> Evaluated<Rc<Regex>> {
    let regex = Regex::new(source);
    regex.check().map_err(Flow::raw)?;
    Ok(Rc::new(regex))
}

fn is_name(name: &str) -> bool {
    name.split("::").enumerate().all(|(index, part)| {
        let head = |c: char| c.is_ascii_lowercase() || (index == 0 && c == '_');
        part.starts_with(head) && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn flattened(values: &[Value]) -> Vec<Value> {
    fn put(out: &mut Vec<Value>, values: &[Value], depth: u32) {
        for value in values {
            match value {
                Value::Array(items) if depth < 100 => put(out, items, depth + 1),
                value => out.push(value.clone()),
            }
        }
    }
    let mut out = Vec::new();
    put(&mut out, values, 0);
    out
}

fn illegal_key(got: &str) -> Flow {
    Flow::raw(format!(
        "Illegal Struct member key type. Expected NotUndef, Optional, String, or Enum. Got: {got}"
    ))
}
