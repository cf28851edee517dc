//! What does not fit and where, in the original's words (`pops/types/type_mismatch_describer`).

use std::fmt::Write as _;
use std::rc::Rc;

use super::normal::{expanded, normalized, one_of};
use super::{ANY_SIZE, Signature, Size, Type, generalize};

/// A part of the way to what does not fit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Words that say what is looked at.
    Subject(String),
    Parameter(Rc<str>),
    Entry(Rc<str>),
    Key(Rc<str>),
    Index(usize),
    Variant(usize),
    Block,
    Return,
}

impl std::fmt::Display for Step {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Step::Subject(text) => out.write_str(text),
            Step::Parameter(name) => write!(out, "parameter '{name}'"),
            Step::Entry(name) => write!(out, "entry '{name}'"),
            Step::Key(name) => write!(out, "key of entry '{name}'"),
            Step::Index(at) => write!(out, "index {at}"),
            Step::Variant(at) => write!(out, "variant {at}"),
            Step::Block => out.write_str("block"),
            Step::Return => out.write_str("return"),
        }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
enum Wrong {
    MissingKey(Rc<str>),
    ExtraKey(Rc<str>),
    Size(Size, Size),
    Count(Size, Size),
    Type(Type, Type),
    Pattern(Type, Type),
    UnexpectedBlock,
    MissingBlock,
    Unresolved(Rc<str>),
    /// It does not fit, and no more is said.
    Untold,
}

/// One thing that does not fit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mismatch {
    path: Vec<Step>,
    wrong: Wrong,
}

/// Kinds of mismatches that several variants may share.
#[derive(Clone, Copy, PartialEq)]
enum Shared {
    Size,
    MissingBlock,
    UnexpectedBlock,
    Type,
}

impl Mismatch {
    /// What does not fit without anything to say of it.
    pub(crate) fn untold() -> Mismatch {
        Mismatch { path: Vec::new(), wrong: Wrong::Untold }
    }

    /// Whether there is nothing to say.
    pub(crate) fn is_untold(&self) -> bool {
        self.wrong == Wrong::Untold
    }

    fn typed(path: &[Step], expected: &Type, actual: &Type) -> Mismatch {
        let wrong = Wrong::Type(normalized(expected), normalized(actual));
        Mismatch { path: path.to_vec(), wrong }
    }

    /// The number of arguments is wrong.
    pub(crate) fn count(expected: Size, actual: usize) -> Mismatch {
        let actual = Size::exactly(i64::try_from(actual).unwrap_or(i64::MAX));
        Mismatch { path: Vec::new(), wrong: Wrong::Count(expected, actual) }
    }

    /// A block was given where none is taken.
    pub(crate) fn unexpected_block() -> Mismatch {
        Mismatch { path: Vec::new(), wrong: Wrong::UnexpectedBlock }
    }

    /// No block was given where one is needed.
    pub(crate) fn missing_block() -> Mismatch {
        Mismatch { path: Vec::new(), wrong: Wrong::MissingBlock }
    }

    /// The number of a block's parameters is wrong.
    pub(crate) fn block_count(expected: Size, actual: Size) -> Mismatch {
        Mismatch { path: vec![Step::Block], wrong: Wrong::Count(expected, actual) }
    }

    fn is(&self, kind: Shared) -> bool {
        match &self.wrong {
            Wrong::Size(..) | Wrong::Count(..) => kind == Shared::Size,
            Wrong::MissingBlock => kind == Shared::MissingBlock,
            Wrong::UnexpectedBlock => kind == Shared::UnexpectedBlock,
            Wrong::Type(..) | Wrong::Pattern(..) => kind == Shared::Type,
            _ => false,
        }
    }

    fn same_place(&self, other: &Mismatch) -> bool {
        let plain = |step: &&Step| !matches!(step, Step::Variant(_));
        self.path.iter().filter(plain).eq(other.path.iter().filter(plain))
    }

    fn merged(self, other: &Mismatch) -> Mismatch {
        let wider = |a: Size, b: Size| Size {
            min: Some(a.min.unwrap_or(0).min(b.min.unwrap_or(0))),
            max: a.max.zip(b.max).map(|(a, b)| a.max(b)),
        };
        let both = |a: Type, b: &Type| normalized(&one_of(vec![a, b.clone()]));
        let wrong = match (self.wrong, &other.wrong) {
            (Wrong::Size(a, actual), Wrong::Size(b, _)) => Wrong::Size(wider(a, *b), actual),
            (Wrong::Count(a, actual), Wrong::Count(b, _)) => Wrong::Count(wider(a, *b), actual),
            (Wrong::Type(a, actual), Wrong::Type(b, _) | Wrong::Pattern(b, _)) => {
                Wrong::Type(both(a, b), actual)
            }
            (Wrong::Pattern(a, actual), Wrong::Type(b, _) | Wrong::Pattern(b, _)) => {
                Wrong::Pattern(both(a, b), actual)
            }
            (wrong, _) => wrong,
        };
        Mismatch { path: self.path, wrong }
    }

    /// The text of it, without a blank in front.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        for step in &self.path {
            let _ = write!(out, "{step} ");
        }
        out.push_str(&self.message());
        out
    }

    fn message(&self) -> String {
        match &self.wrong {
            Wrong::MissingKey(key) => format!("expects a value for key '{key}'"),
            Wrong::ExtraKey(key) => format!("unrecognized key '{key}'"),
            Wrong::Size(expected, actual) => format!(
                "expects size to be {}, got {}",
                range_text(*expected, "0"),
                range_text(*actual, "0")
            ),
            Wrong::Count(expected, actual) => {
                let (min, max) = (expected.min.unwrap_or(0), expected.max);
                let one =
                    (min == 1 && matches!(max, Some(1) | None)) || (min == 0 && max == Some(1));
                format!(
                    "expects {} argument{}, got {}",
                    range_text(*expected, "no"),
                    if one { "" } else { "s" },
                    range_text(*actual, "none")
                )
            }
            Wrong::UnexpectedBlock => "does not expect a block".to_owned(),
            Wrong::MissingBlock => "expects a block".to_owned(),
            Wrong::Unresolved(name) => format!("references an unresolved type '{name}'"),
            Wrong::Untold => String::new(),
            Wrong::Pattern(expected, actual) => {
                let (prefix, expected) = match expected {
                    Type::Optional(Some(inner)) => ("an undef value or ", &**inner),
                    ty => ("", ty),
                };
                let got = match actual {
                    Type::Literal(text) => format!("'{text}'"),
                    ty => short_name(ty),
                };
                format!("expects {prefix}a match for {}, got {got}", expanded(expected))
            }
            Wrong::Type(expected, actual) => type_message(expected, actual),
        }
    }
}

fn range_text(range: Size, zero: &str) -> String {
    match (range.min.unwrap_or(0), range.max) {
        (0, Some(0)) => zero.to_owned(),
        (min, Some(max)) if min == max => min.to_string(),
        (0, None) => "unlimited".to_owned(),
        (0, Some(max)) => format!("at most {max}"),
        (min, None) => format!("at least {min}"),
        (min, Some(max)) => format!("between {min} and {max}"),
    }
}

fn type_message(expected: &Type, actual: &Type) -> String {
    let (is_optional, expected) = match expected {
        Type::Optional(Some(inner)) => (true, &**inner),
        ty => (false, ty),
    };
    let types: Vec<&Type> = match expected {
        Type::Variant(types) if !types.is_empty() => types.iter().map(|ty| &**ty).collect(),
        ty => vec![ty],
    };
    let is_detailed = types.iter().any(|ty| always_detailed(ty, actual))
        || types.iter().any(|ty| default_accepts(ty, actual));
    let (mut names, got): (Vec<String>, String) = if is_detailed {
        (types.iter().map(|ty| expanded(ty)).collect(), detailed_actual(&types, actual))
    } else {
        let mut names: Vec<String> = Vec::new();
        for ty in &types {
            let name = short_name(ty);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        (names, short_name(actual))
    };
    if is_optional {
        names.insert(0, "Undef".to_owned());
    }
    match names.as_slice() {
        [one] => format!("expects {} value, got {got}", article(one)),
        [one, two] => format!("expects a value of type {one} or {two}, got {got}"),
        [rest @ .., last] => {
            format!("expects a value of type {}, or {last}, got {got}", rest.join(", "))
        }
        [] => format!("expects another value, got {got}"),
    }
}

fn article(text: &str) -> String {
    let vowel = text.starts_with(|c: char| "AEIOUaeiou".contains(c));
    format!("{} {text}", if vowel { "an" } else { "a" })
}

/// The name of a type without its parameters.
fn simple_name(ty: &Type) -> String {
    match ty {
        Type::Alias { name, .. } => name.to_string(),
        Type::Later(later) => later.name.to_string(),
        Type::Resource { .. } => "Resource".to_owned(),
        ty => {
            let text = ty.to_string();
            text.split('[').next().unwrap_or(&text).to_owned()
        }
    }
}

fn short_name(ty: &Type) -> String {
    let name = simple_name(ty);
    match ty {
        Type::Optional(Some(inner))
        | Type::NotUndef(Some(inner))
        | Type::Sensitive(Some(inner))
        | Type::Meta(Some(inner))
        | Type::Iterable(Some(inner))
        | Type::Iterator(Some(inner))
            if **inner != Type::Any =>
        {
            format!("{name}[{}]", simple_name(inner))
        }
        _ => name,
    }
}

fn same_class(a: &Type, b: &Type) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
        || matches!(
            (a, b),
            (Type::String(_) | Type::Literal(_), Type::String(_) | Type::Literal(_))
        )
}

fn always_detailed(expected: &Type, actual: &Type) -> bool {
    let is_alias =
        |ty: &Type| matches!(ty, Type::Alias { .. } | Type::Later(_) | Type::Data | Type::RichData);
    same_class(expected, actual)
        || is_alias(expected)
        || is_alias(actual)
        || matches!(
            (expected, actual),
            (Type::Struct(_), Type::Hash { .. }) | (Type::Tuple { .. }, Type::Array { .. })
        )
}

/// Whether the type without its parameters would take the value.
fn default_accepts(expected: &Type, actual: &Type) -> bool {
    let is_text =
        matches!(actual, Type::String(_) | Type::Literal(_) | Type::Enum { .. } | Type::Pattern(_));
    match expected.resolved() {
        Type::Enum { .. } | Type::Pattern(_) => is_text,
        Type::String(_) | Type::Literal(_) => is_text,
        Type::Struct(_) => matches!(actual, Type::Struct(members) if members.is_empty()),
        Type::Tuple { .. } => matches!(actual, Type::Tuple { .. } | Type::Array { .. }),
        Type::Variant(_) => false,
        Type::Optional(_) => true,
        Type::NotUndef(_) => *actual != Type::Undef,
        Type::Object(_) => matches!(actual, Type::Object(_)),
        ty => Type::named(&simple_name(ty)).is_some_and(|plain| plain.accepts(actual)),
    }
}

fn detailed_actual(expected: &[&Type], actual: &Type) -> String {
    // These two are aliases in the original; what they stand for decides.
    let is_data = |ty: &&&Type| matches!(ty, Type::Data | Type::RichData);
    if expected.len() == 1 && expected.iter().any(|ty| is_data(&ty)) {
        return simple_name(actual);
    }
    let resolved: Vec<&Type> = expected.iter().map(|ty| ty.resolved()).collect();
    let general = generalize(actual);
    if resolved.iter().any(|ty| always_detailed(ty, actual))
        || resolved.iter().any(|ty| ty.accepts(&general))
    {
        return expanded(actual);
    }
    simple_name(actual)
}

/// One line for each thing that does not fit: `place` says what was checked.
pub(crate) fn describe_mismatch(place: &str, expected: &Type, actual: &Type) -> Vec<String> {
    let path = if place.is_empty() { vec![] } else { vec![Step::Subject(place.to_owned())] };
    describe(expected, actual, &path).iter().map(Mismatch::text).collect()
}

/// Everything that does not fit.
pub(crate) fn describe(expected: &Type, actual: &Type, path: &[Step]) -> Vec<Mismatch> {
    if let Some(name) = unresolved(expected, 0) {
        return vec![Mismatch { path: path.to_vec(), wrong: Wrong::Unresolved(name) }];
    }
    walk(&normalized(expected), expected, actual, path)
}

fn unresolved(ty: &Type, depth: u32) -> Option<Rc<str>> {
    if depth > 20 {
        return None;
    }
    let inner = |ty: &Rc<Type>| unresolved(ty, depth + 1);
    match ty {
        // Types of the runtime that no program can name.
        Type::Reference(name)
            if matches!(&**name, "Puppet::LookupContext" | "Annotation" | "Pcore") =>
        {
            None
        }
        Type::Reference(name) => Some(Rc::clone(name)),
        Type::Array { element, .. } => inner(element),
        Type::Hash { key, value, .. } => inner(key).or_else(|| inner(value)),
        Type::Tuple { types, .. } | Type::Variant(types) => types.iter().find_map(inner),
        Type::Struct(members) => members.iter().find_map(|member| inner(&member.value)),
        Type::Optional(Some(ty)) | Type::NotUndef(Some(ty)) | Type::Sensitive(Some(ty)) => {
            inner(ty)
        }
        Type::Alias { target, .. } => inner(target),
        _ => None,
    }
}

fn at(path: &[Step], step: Step) -> Vec<Step> {
    let mut path = path.to_vec();
    path.push(step);
    path
}

fn walk(expected: &Type, original: &Type, actual: &Type, path: &[Step]) -> Vec<Mismatch> {
    let plain = || vec![Mismatch::typed(path, original, actual)];
    let sized = |wanted: Size, got: Size| {
        vec![Mismatch { path: path.to_vec(), wrong: Wrong::Size(wanted, got) }]
    };
    match (expected, actual) {
        (Type::Variant(types), _) => variants(types, original, actual, path),
        (Type::Struct(members), Type::Struct(others)) => structs(members, others, path),
        (Type::Struct(members), Type::Hash { key, value, size }) => {
            let required = members.iter().filter(|member| member.is_required()).count();
            let wanted = Size::new(Some(required as i64), Some(members.len() as i64));
            if wanted.covers(size) {
                let (key, value) = (Rc::clone(key), Rc::clone(value));
                let actual = Type::Hash { key, value, size: ANY_SIZE };
                vec![Mismatch::typed(path, original, &actual)]
            } else {
                sized(wanted, *size)
            }
        }
        (Type::Hash { key, value, size }, Type::Struct(others)) => {
            let required = others.iter().filter(|other| other.is_required()).count();
            let got = Size::new(Some(required as i64), Some(others.len() as i64));
            if !size.covers(&got) {
                return sized(*size, got);
            }
            let mut found = Vec::new();
            for other in others {
                let name = Type::Literal(Rc::clone(&other.name));
                if !key.accepts(&name) {
                    let path = at(path, Step::Key(Rc::clone(&other.name)));
                    found.extend(describe(key, &name, &path));
                }
                if !value.accepts(&other.value) {
                    let path = at(path, Step::Entry(Rc::clone(&other.name)));
                    found.extend(describe(value, &other.value, &path));
                }
            }
            found
        }
        (Type::Hash { size, .. }, Type::Hash { key, value, size: got }) => {
            if *size == ANY_SIZE || size.covers(got) {
                let (key, value) = (Rc::clone(key), Rc::clone(value));
                let actual = Type::Hash { key, value, size: ANY_SIZE };
                vec![Mismatch::typed(path, original, &actual)]
            } else {
                sized(*size, *got)
            }
        }
        (Type::Tuple { types, size }, Type::Tuple { .. } | Type::Array { .. }) => {
            tuples(types, *size, original, actual, path, false)
        }
        (Type::Array { element, size }, Type::Tuple { types, size: got }) => {
            let got = got.unwrap_or(Size::exactly(types.len() as i64));
            if !size.covers(&got) {
                return sized(*size, got);
            }
            let mut found = Vec::new();
            for (index, ty) in types.iter().enumerate() {
                if !element.accepts(ty) {
                    found.extend(describe(element, ty, &at(path, Step::Index(index))));
                }
            }
            found
        }
        (Type::Array { size, .. }, Type::Array { element, size: got }) => {
            if *size == ANY_SIZE || size.covers(got) {
                let actual = Type::Array { element: Rc::clone(element), size: ANY_SIZE };
                vec![Mismatch::typed(path, original, &actual)]
            } else {
                sized(*size, *got)
            }
        }
        (Type::Callable(Some(wanted)), Type::Callable(Some(got))) => callables(wanted, got, path),
        (Type::Callable(None), Type::Callable(_)) => Vec::new(),
        (Type::Optional(inner), _) => match inner {
            Some(inner) if *actual != Type::Undef => {
                let is_alias = matches!(original, Type::Alias { .. });
                walk(inner, if is_alias { original } else { expected }, actual, path)
            }
            _ => Vec::new(),
        },
        (Type::Enum { .. } | Type::Pattern(_), _) => {
            let wrong = Wrong::Pattern(normalized(original), normalized(actual));
            vec![Mismatch { path: path.to_vec(), wrong }]
        }
        (Type::Alias { target, .. }, _) => walk(&normalized(target), expected, actual, path),
        (Type::Later(later), _) => match later.target.get() {
            Some(target) if path.len() < 50 => walk(&normalized(target), expected, actual, path),
            _ => plain(),
        },
        (
            Type::Struct(_)
            | Type::Hash { .. }
            | Type::Tuple { .. }
            | Type::Array { .. }
            | Type::Callable(_),
            _,
        ) => plain(),
        _ if expected.accepts(actual) => Vec::new(),
        _ => plain(),
    }
}

/// Members of a struct that are missing, too many, or do not fit.
fn structs(members: &[super::Member], others: &[super::Member], path: &[Step]) -> Vec<Mismatch> {
    let mut found = Vec::new();
    for member in members {
        match others.iter().find(|other| other.name == member.name) {
            Some(other) if !member.value.accepts(&other.value) => found.extend(describe(
                &member.value,
                &other.value,
                &at(path, Step::Entry(Rc::clone(&member.name))),
            )),
            None if member.is_required() => found.push(Mismatch {
                path: path.to_vec(),
                wrong: Wrong::MissingKey(Rc::clone(&member.name)),
            }),
            _ => {}
        }
    }
    for other in others {
        if !members.iter().any(|member| member.name == other.name) {
            let wrong = Wrong::ExtraKey(Rc::clone(&other.name));
            found.push(Mismatch { path: path.to_vec(), wrong });
        }
    }
    found
}

fn tuples(
    types: &[Rc<Type>],
    size: Option<Size>,
    original: &Type,
    actual: &Type,
    path: &[Step],
    counts: bool,
) -> Vec<Mismatch> {
    let own = |types: &[Rc<Type>]| match types.len() {
        0 => ANY_SIZE,
        count => Size::exactly(count as i64),
    };
    let wanted = size.unwrap_or_else(|| own(types));
    let sized = |got: Size| {
        let wrong = if counts { Wrong::Count(wanted, got) } else { Wrong::Size(wanted, got) };
        vec![Mismatch { path: path.to_vec(), wrong }]
    };
    let mut found = Vec::new();
    match actual {
        Type::Tuple { types: others, size } => {
            let got = size.unwrap_or_else(|| Size::exactly(others.len() as i64));
            if !wanted.covers(&got) {
                return sized(got);
            }
            if types.is_empty() {
                return found;
            }
            for (index, other) in others.iter().enumerate() {
                let index = index.min(types.len() - 1);
                found.extend(describe(&types[index], other, &at(path, Step::Index(index))));
            }
            found
        }
        Type::Array { element, size: got } => {
            if types.is_empty() {
                return found;
            }
            if !wanted.covers(got) {
                return sized(*got);
            }
            for (index, ty) in types.iter().enumerate() {
                found.extend(describe(ty, element, &at(path, Step::Index(index))));
            }
            found
        }
        _ => vec![Mismatch::typed(path, original, actual)],
    }
}

fn callables(wanted: &Signature, got: &Signature, path: &[Step]) -> Vec<Mismatch> {
    let tuple = Type::Tuple { types: got.params.clone(), size: Some(got.size) };
    let found = tuples(&wanted.params, Some(wanted.size), &tuple, &tuple, path, true);
    if !found.is_empty() {
        return found;
    }
    let any = Rc::new(Type::Any);
    let undef = Rc::new(Type::Undef);
    let (here, there) =
        (wanted.returns.as_ref().unwrap_or(&any), got.returns.as_ref().unwrap_or(&any));
    if !here.accepts(there) {
        return vec![Mismatch::typed(&at(path, Step::Return), here, there)];
    }
    let (here, there) =
        (wanted.block.as_ref().unwrap_or(&undef), got.block.as_ref().unwrap_or(&undef));
    if there.accepts(here) {
        Vec::new()
    } else {
        vec![Mismatch::typed(&at(path, Step::Block), here, there)]
    }
}

fn variants(types: &[Rc<Type>], original: &Type, actual: &Type, path: &[Step]) -> Vec<Mismatch> {
    let undef = Rc::new(Type::Undef);
    let first = matches!(original, Type::Optional(_)).then_some(&undef);
    let mut all = Vec::new();
    for (index, ty) in first.into_iter().chain(types).enumerate() {
        let found = describe(ty, actual, &at(path, Step::Variant(index)));
        if found.is_empty() {
            return found;
        }
        all.push(found);
    }
    let found = merge(path.len(), all);
    if matches!(original, Type::Alias { .. }) && found.len() == 1 {
        // All variants failed alike: the alias is what does not fit.
        return vec![Mismatch::typed(path, original, actual)];
    }
    found
}

/// What all alternatives have in common is reported once.
fn merge(varying: usize, all: Vec<Vec<Mismatch>>) -> Vec<Mismatch> {
    let count = all.len();
    let mut found: Vec<Mismatch> = all.into_iter().flatten().collect();
    for kind in [Shared::Size, Shared::MissingBlock, Shared::UnexpectedBlock, Shared::Type] {
        let of_kind: Vec<&Mismatch> = found.iter().filter(|one| one.is(kind)).collect();
        if of_kind.len() != count {
            continue;
        }
        let Some((first, rest)) = of_kind.split_first() else { continue };
        if rest.iter().all(|other| first.same_place(other)) {
            let one = rest.iter().fold((*first).clone(), |one, other| one.merged(other));
            found = vec![one];
            break;
        }
    }
    let plain = |step: &&Step| !matches!(step, Step::Variant(_));
    let mut kept: Vec<Mismatch> = Vec::new();
    for one in found {
        // Keys are reported each time, as in the original.
        let is_key = matches!(one.wrong, Wrong::MissingKey(_) | Wrong::ExtraKey(_));
        let same = |other: &Mismatch| {
            !is_key
                && other.wrong == one.wrong
                && other.path.iter().filter(plain).eq(one.path.iter().filter(plain))
        };
        if !kept.iter().any(same) {
            kept.push(one);
        }
    }
    if let [one] = kept.as_mut_slice()
        && varying < one.path.len()
    {
        one.path.remove(varying);
    }
    kept
}

/// What all signatures of a function have against a call, if that is one thing.
pub(crate) fn common(all: &[Vec<Mismatch>]) -> Option<Mismatch> {
    let varied = all.iter().enumerate().map(|(index, found)| {
        let behind = |one: &Mismatch| {
            let mut path = vec![Step::Variant(index)];
            path.extend(one.path.iter().cloned());
            Mismatch { path, wrong: one.wrong.clone() }
        };
        found.iter().map(behind).collect()
    });
    match merge(0, varied.collect()).as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    }
}
