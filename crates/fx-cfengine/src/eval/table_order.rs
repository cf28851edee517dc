//! The order in which the original meets what it keeps in hash tables: classes, variables,
//! elements of an array. Policy sees it through `getindices()`, `classesmatching()` and
//! others like it, and relies on it.
//!
//! The tables themselves are ours; only the order of a listing is computed here.

use crate::text::Str;

use super::Context;
use super::vars::split_indices;

/// Added before each index, so that `v[te][st]` and `v[t][est]` differ.
const SEPARATOR: u32 = ']' as u32;
/// A map with at most so many entries is a list in order of insertion.
const TINY: usize = 14;
/// Buckets of a map that is just no longer tiny.
const FEWEST: usize = 128;

// One-at-a-time, as VarRefHash and StringHash do it.
fn mix(mut hash: u32, byte: u32) -> u32 {
    hash = hash.wrapping_add(byte);
    hash = hash.wrapping_add(hash << 10);
    hash ^ (hash >> 6)
}

fn finish(mut hash: u32) -> u32 {
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

/// The hash of a text.
pub(crate) fn string_hash(text: &str) -> u32 {
    finish(crate::text::encode(text).iter().fold(0, |hash, byte| mix(hash, u32::from(*byte))))
}

/// The hash of a class, `ns:name` or `name`.
pub(crate) fn class_hash(name: &str) -> u32 {
    if name.contains(':') { string_hash(name) } else { qualified_hash("default", name) }
}

/// The hash of `namespace:name`, without putting them together.
pub(crate) fn qualified_hash(namespace: &str, name: &str) -> u32 {
    let add = |hash, text: &str| {
        crate::text::encode(text).iter().fold(hash, |hash, byte| mix(hash, u32::from(*byte)))
    };
    finish(add(mix(add(0, namespace), u32::from(b':')), name))
}

fn mix_text(hash: u32, text: &str) -> u32 {
    // The original adds characters that are signed.
    crate::text::encode(text).iter().fold(hash, |hash, byte| mix(hash, *byte as i8 as u32))
}

/// The hash of a variable by its scope, `ns:bundle` or `bundle`, and its name with indices.
fn variable_hash(scope: &str, name: &str) -> u32 {
    let (namespace, bundle) = scope.split_once(':').unwrap_or(("default", scope));
    let at = name.find('[').unwrap_or(name.len());
    let mut hash = mix_text(mix_text(mix_text(0, namespace), bundle), &name[..at]);
    for index in split_indices(&name[at..]).unwrap_or_default() {
        hash = mix_text(mix(hash, SEPARATOR), index);
    }
    finish(hash)
}

/// Entries of a map in its order, given by hash in order of insertion.
pub(crate) fn map_order<T>(entries: Vec<(u32, T)>) -> Vec<T> {
    let total = entries.len();
    let numbered =
        entries.into_iter().enumerate().map(|(index, (hash, value))| (index, hash, value));
    some_in_map_order(total, numbered.collect())
}

/// Some entries of a map of `total`, each with its number in order of insertion and its hash,
/// in the order in which the map has them.
pub(crate) fn some_in_map_order<T>(total: usize, entries: Vec<(usize, u32, T)>) -> Vec<T> {
    if total <= TINY {
        return entries.into_iter().map(|(_, _, value)| value).collect();
    }
    let mut growths = Vec::new();
    let mut size = FEWEST;
    while size * 3 / 4 < total {
        growths.push(size * 3 / 4);
        size *= 2;
    }
    let mask = (size - 1) as u32;
    // The place in a bucket: what is put in last is met first, and each growth of the table
    // turns every bucket around.
    let place = |index: usize| {
        let later = growths.iter().filter(|growth| index <= **growth);
        later.fold(-(index as i64), |place, growth| -place - *growth as i64)
    };
    let mut placed: Vec<(u32, i64, T)> = entries
        .into_iter()
        .map(|(index, hash, value)| (hash & mask, place(index), value))
        .collect();
    placed.sort_by_key(|(bucket, place, _)| (*bucket, *place));
    placed.into_iter().map(|(_, _, value)| value).collect()
}

/// Texts in the order of a set of them.
pub(crate) fn set_order(texts: Vec<Str>) -> Vec<Str> {
    if texts.len() <= TINY {
        return texts;
    }
    map_order(texts.into_iter().map(|text| (string_hash(&text), text)).collect())
}

impl Context<'_> {
    // The original has one table for the variables of all scopes.
    fn variable_buckets(&self) -> usize {
        let count: usize = self.vars.scopes.values().map(|scope| scope.vars.len()).sum();
        let mut buckets = FEWEST;
        while count * 4 > buckets * 3 {
            buckets *= 2;
        }
        buckets
    }

    /// Puts variables, given in order of definition by scope and name, into table order.
    pub(crate) fn variables_in_table_order<T>(&self, names: Vec<(&str, &str, T)>) -> Vec<T> {
        let buckets = self.variable_buckets();
        let mut keyed: Vec<(usize, T)> = names
            .into_iter()
            .map(|(scope, name, value)| {
                (variable_hash(scope, name) as usize & (buckets - 1), value)
            })
            .collect();
        // What is put into a bucket last is met first.
        keyed.reverse();
        keyed.sort_by_key(|(bucket, _)| *bucket);
        keyed.into_iter().map(|(_, value)| value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_without_namespace_is_in_the_default_one() {
        assert_eq!(variable_hash("main", "a[x]"), variable_hash("default:main", "a[x]"));
        assert_ne!(variable_hash("main", "v[te][st]"), variable_hash("main", "v[t][est]"));
        assert_eq!(mix_text(0, "default"), 1_195_645_448);
    }

    #[test]
    fn few_entries_keep_their_order_and_buckets_turn_around_when_the_table_grows() {
        assert_eq!(map_order(vec![(9, 'a'), (1, 'b')]), ['a', 'b']);
        // All in one bucket: 96 fit, the 97th makes the table grow.
        let order = map_order((0..98).map(|at| (0, at)).collect());
        assert_eq!(order[..3], [97, 0, 1]);
        let order = map_order((0..96).map(|at| (0, at)).collect());
        assert_eq!(order[..3], [95, 94, 93]);
    }
}
