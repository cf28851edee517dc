//! Plain data in and out of Ruby values, for methods of `FX`.

use fx_ruby::value::NIL;
use fx_ruby::{Args, Res, Value, Vm};

/// A list of texts.
pub(crate) fn list<T: Into<Vec<u8>>>(vm: &mut Vm, texts: impl IntoIterator<Item = T>) -> Value {
    let texts = texts.into_iter().map(|text| vm.str(text)).collect();
    vm.arr(texts)
}

/// The texts in a list; one text alone is a list as well, and nil is none.
pub(crate) fn words(vm: &mut Vm, list: Option<Value>) -> Res<Vec<String>> {
    let items = match list {
        Some(list) if list.is_arr() => vm.heap.arr(list).clone(),
        Some(one) => vec![one],
        None => Vec::new(),
    };
    items.into_iter().map(|item| vm.to_s(item)).collect()
}

/// A value of a hash by its name, which may be a text or a symbol there.
pub(crate) fn setting(vm: &mut Vm, settings: Value, name: &str) -> Res<Option<Value>> {
    if !settings.is_hash() {
        return Ok(None);
    }
    for (key, value) in vm.hash_pairs(settings) {
        if vm.to_s(key)? == name {
            return Ok(Some(value).filter(|value| !value.is_nil()));
        }
    }
    Ok(None)
}

/// The same as text.
pub(crate) fn setting_text(vm: &mut Vm, settings: Value, name: &str) -> Res<Option<String>> {
    match setting(vm, settings, name)? {
        Some(value) => vm.to_s(value).map(Some),
        None => Ok(None),
    }
}

/// Whether a setting is true.
pub(crate) fn is_set(vm: &mut Vm, settings: Value, name: &str) -> Res<bool> {
    Ok(setting(vm, settings, name)?.is_some_and(Value::truthy))
}

/// A hash whose keys are symbols.
pub(crate) fn record(vm: &mut Vm, fields: &[(&str, Value)]) -> Res<Value> {
    let hash = vm.hash();
    for (name, value) in fields {
        let key = Value::sym(vm.intern(name));
        vm.hash_set(hash, key, *value)?;
    }
    Ok(hash)
}

/// A text, or nil.
pub(crate) fn maybe(vm: &mut Vm, text: Option<String>) -> Value {
    text.map_or(NIL, |text| vm.str(text))
}

/// An argument as bytes, which a path is; nil is none.
pub(crate) fn path_bytes(vm: &mut Vm, a: Args, i: u32) -> Res<Vec<u8>> {
    Ok(crate::machine::bytes(vm, a, i)?.unwrap_or_default())
}
