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

    fn ty(&self, index: usize) -> Evaluated<Rc<Type>> {
        match &self.given[index] {
            Value::Type(ty) => Ok(Rc::clone(ty)),
            other => Err(Flow::at(
                self.at(index),
                format!("{}-Type[] arguments must be types. Got {}", self.name, kind(other)),
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
                    "Error creating type specialization of {} {}-Type, Cannot use {} where Integer is expected",
                    article(&self.name),
                    self.name,
                    kind(other)
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
        let keys = Keys { name: short(ty), given: values, span, spans };
        let rc = |ty: Type| Rc::new(ty);
        Ok(Value::ty(match &**ty {
            Type::Integer(_) => Type::Integer(self.integer_range(&keys)?),
            Type::Float(_) => {
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
                Type::Float(range)
            }
            Type::String(_) => {
                keys.count(1, 2)?;
                match values {
                    [Value::String(text)] => Type::Literal(Rc::clone(text)),
                    _ => Type::String(keys.size(0)?),
                }
            }
            Type::Boolean(_) => {
                if let [Value::Bool(truth)] = values {
                    Type::Boolean(Some(*truth))
                } else {
                    keys.count(1, 1)?;
                    return Err(Flow::at(
                        keys.at(0),
                        format!(
                            "Boolean-Type[] argument must be true or false. Got {}",
                            kind(&values[0])
                        ),
                    ));
                }
            }
            Type::Enum { .. } => self.enumeration(&keys)?,
            Type::Pattern(_) => Type::Pattern(self.patterns(&keys)?),
            Type::Regexp(_) => {
                keys.count(1, 1)?;
                match &values[0] {
                    Value::Regex(regex) => Type::Regexp(Some(Rc::clone(regex))),
                    Value::String(source) => Type::Regexp(Some(Rc::new(Regex::new(source)))),
                    other => {
                        return Err(Flow::at(
                            keys.at(0),
                            format!(
                                "Error creating type specialization of a Regexp-Type, Cannot use {} where String or Regexp is expected",
                                kind(other)
                            ),
                        ));
                    }
                }
            }
            Type::Array { .. } => match values {
                [Value::Int(_) | Value::Default, ..] => {
                    keys.count(1, 3)?;
                    if matches!(values, [Value::Int(_)]) {
                        return Err(Flow::at(
                            keys.at(0),
                            "Array-Type[] arguments must be types. Got Integer",
                        ));
                    }
                    Type::Array { element: rc(Type::Any), size: keys.size(0)? }
                }
                _ if matches!(&**ty, Type::Array { element, .. } if **element != Type::Any) => {
                    keys.ty(0)?;
                    keys.count(1, 3)?;
                    Type::Array {
                        element: keys.ty(0)?,
                        size: if values.len() > 1 { keys.size(1)? } else { ANY_SIZE },
                    }
                }
                _ => {
                    keys.count(1, 3)?;
                    Type::Array {
                        element: keys.ty(0)?,
                        size: if values.len() > 1 { keys.size(1)? } else { ANY_SIZE },
                    }
                }
            },
            Type::Hash { .. } => {
                if let [Value::Int(_) | Value::Default, Value::Int(_) | Value::Default] = values {
                    Type::Hash { key: rc(Type::Any), value: rc(Type::Any), size: keys.size(0)? }
                } else {
                    keys.count(2, 4)?;
                    Type::Hash {
                        key: keys.ty(0)?,
                        value: keys.ty(1)?,
                        size: if values.len() > 2 { keys.size(2)? } else { ANY_SIZE },
                    }
                }
            }
            Type::Collection(_) => Type::Collection(keys.size(0)?),
            Type::Tuple { .. } => {
                let (types, size) = self.types_and_size(&keys, 0, values.len())?;
                Type::Tuple { types, size }
            }
            Type::Struct(_) => Type::Struct(self.struct_members(&keys)?),
            Type::Variant(_) => {
                let mut types: Vec<Rc<Type>> = Vec::new();
                for index in 0..values.len() {
                    let ty = keys.ty(index)?;
                    // A variant of variants is one variant, each type once.
                    let parts =
                        if let Type::Variant(inner) = &*ty { inner.clone() } else { vec![ty] };
                    for part in parts {
                        if !types.contains(&part) {
                            types.push(part);
                        }
                    }
                }
                if types.len() == 1 { (*types[0]).clone() } else { Type::Variant(types) }
            }
            Type::Optional(_) => {
                keys.count(1, 1)?;
                Type::Optional(Some(self.type_or_text(&keys)?))
            }
            Type::NotUndef(_) => {
                keys.count(1, 1)?;
                Type::NotUndef(Some(self.type_or_text(&keys)?))
            }
            Type::Meta(_) => Type::Meta(Some(keys.ty(0)?)),
            Type::Iterable(_) => Type::Iterable(Some(keys.ty(0)?)),
            Type::Iterator(_) => Type::Iterator(Some(keys.ty(0)?)),
            Type::Sensitive(_) => Type::Sensitive(Some(keys.ty(0)?)),
            Type::Init(_) => Type::Init(Some(keys.ty(0)?)),
            Type::Callable(_) => Type::Callable(Some(self.signature(&keys)?)),
            Type::Class(None) => {
                let mut classes = Vec::new();
                for (index, value) in values.iter().enumerate() {
                    match value {
                        Value::String(name) => classes.push(Value::ty(Type::Class(Some(
                            name.trim_start_matches("::").to_lowercase().into(),
                        )))),
                        other => {
                            return Err(Flow::at(
                                keys.at(index),
                                format!(
                                    "Illegal Class name in class reference. A {} cannot be used where a String is expected",
                                    kind(other)
                                ),
                            ));
                        }
                    }
                }
                return Ok(if classes.len() == 1 {
                    classes.remove(0)
                } else {
                    Value::array(classes)
                });
            }
            Type::Class(Some(name)) => return self.attribute_of("class", name, &keys),
            Type::Resource { name: Some(name), title: Some(title) } => {
                return self.attribute_of(name, title, &keys);
            }
            Type::Resource { name, title: None } => {
                return self.resource_reference(name.as_ref(), &keys);
            }
            Type::SemVer(_) => {
                let mut ranges = Vec::new();
                for value in values {
                    match value {
                        Value::String(text) | Value::SemVerRange(text) => {
                            ranges.push(Rc::clone(text))
                        }
                        other => {
                            return Err(Flow::raw(format!(
                                "SemVer-Type[] arguments must be strings or ranges. Got {}",
                                kind(other)
                            )));
                        }
                    }
                }
                Type::SemVer(ranges)
            }
            Type::Timestamp(_) => Type::Timestamp(self.time_range(&keys, false)?),
            Type::Timespan(_) => Type::Timespan(self.time_range(&keys, true)?),
            Type::Runtime(_) => {
                if let [Value::String(runtime), Value::String(name)] = values {
                    Type::Runtime(Some((Rc::clone(runtime), Rc::clone(name))))
                } else {
                    keys.count(2, 2)?;
                    return Err(Flow::at(span, "Runtime-Type[] requires two strings"));
                }
            }
            Type::Object(None) => match values {
                [Value::Hash(hash)] => Type::Object(Some(Rc::new(self.object_type(hash)?))),
                _ => return Err(Flow::at(span, "Object-Type[] accepts one Hash")),
            },
            Type::Uri | Type::TypeSet => (**ty).clone(),
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

    fn integer_range(&self, keys: &Keys<'_>) -> Evaluated<Range<i64>> {
        keys.count(1, 2)?;
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
        let mut values = Vec::new();
        let mut ignore_case = false;
        for (index, value) in keys.given.iter().enumerate() {
            match value {
                Value::String(text) => values.push(Rc::clone(text)),
                Value::Array(items) if items.iter().all(|item| item.as_str().is_some()) => {
                    values.extend(items.iter().filter_map(|item| item.as_str().map(Rc::from)));
                }
                Value::Bool(truth) if index + 1 == keys.given.len() => ignore_case = *truth,
                other => {
                    return Err(Flow::at(
                        keys.at(index),
                        format!("Enum-Type[] arguments must be strings. Got {}", kind(other)),
                    ));
                }
            }
        }
        Ok(crate::types::enumeration(values, ignore_case))
    }

    fn patterns(&self, keys: &Keys<'_>) -> Evaluated<Vec<Rc<Regex>>> {
        let mut patterns = Vec::new();
        for (index, value) in keys.given.iter().enumerate() {
            match value {
                Value::Regex(regex) => patterns.push(Rc::clone(regex)),
                Value::String(source) => patterns.push(Rc::new(Regex::new(source))),
                Value::Type(ty) => match ty.resolved() {
                    Type::Pattern(more) => patterns.extend(more.iter().cloned()),
                    Type::Regexp(Some(regex)) => patterns.push(Rc::clone(regex)),
                    _ => return Err(self.bad_pattern(keys, index, value)),
                },
                other => return Err(self.bad_pattern(keys, index, other)),
            }
        }
        Ok(patterns)
    }

    fn bad_pattern(&self, keys: &Keys<'_>, index: usize, value: &Value) -> Flow {
        Flow::at(
            keys.at(index),
            format!(
                "Error creating type specialization of a Pattern-Type, Cannot use {} where String or Regexp or Pattern-Type or Regexp-Type is expected",
                kind(value)
            ),
        )
    }

    fn type_or_text(&self, keys: &Keys<'_>) -> Evaluated<Rc<Type>> {
        match &keys.given[0] {
            Value::Type(ty) => Ok(Rc::clone(ty)),
            Value::String(text) => Ok(Rc::new(Type::Literal(Rc::clone(text)))),
            other => Err(Flow::at(
                keys.at(0),
                format!(
                    "{}-Type[] argument must be a Type or a String. Got {}",
                    keys.name,
                    kind(other)
                ),
            )),
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
        let [Value::Hash(hash)] = keys.given else {
            keys.count(1, 1)?;
            return Err(Flow::at(
                keys.at(0),
                format!("Struct-Type[] argument must be a Hash. Got {}", kind(&keys.given[0])),
            ));
        };
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
            let value = match value {
                Value::Type(ty) => Rc::clone(ty),
                other => {
                    return Err(Flow::raw(format!(
                        "Struct-Type[] values must be types. Got {}",
                        kind(other)
                    )));
                }
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
        keys.count(1, 2)?;
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
                                kind(&keys.given[0])
                            ),
                        ));
                    }
                },
                other => {
                    let got = other.map_or_else(|| "nothing".to_owned(), kind);
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
        let mut references = Vec::new();
        for (index, title) in titles.iter().enumerate() {
            match title {
                Value::String(title) if &*name == "class" => {
                    references.push(Value::ty(Type::Class(Some(title.to_lowercase().into()))))
                }
                Value::String(title) => references.push(Value::ty(Type::Resource {
                    name: Some(Rc::clone(&name)),
                    title: Some(Rc::clone(title)),
                })),
                Value::Array(titles) => {
                    for title in titles.iter().filter_map(Value::as_str) {
                        references.push(Value::ty(Type::Resource {
                            name: Some(Rc::clone(&name)),
                            title: Some(title.into()),
                        }));
                    }
                }
                Value::Default => references
                    .push(Value::ty(Type::Resource { name: Some(Rc::clone(&name)), title: None })),
                other => {
                    let shown = crate::types::capitalized(&name);
                    return Err(Flow::at(
                        keys.at(index + first),
                        format!(
                            "Error creating type specialization of {} {shown}-Type, Cannot use {} where a resource title String is expected",
                            article(&shown),
                            kind(other)
                        ),
                    ));
                }
            }
        }
        // A list of titles gives a list, be it of one.
        let is_list = titles.len() > 1 || matches!(titles.first(), Some(Value::Array(_)));
        Ok(if references.len() == 1 && !is_list {
            references.remove(0)
        } else {
            Value::array(references)
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

fn illegal_key(got: &str) -> Flow {
    Flow::raw(format!(
        "Illegal Struct member key type. Expected NotUndef, Optional, String, or Enum. Got: {got}"
    ))
}
