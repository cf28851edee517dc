//! The order in which the original meets the elements of an array: that of its one hash table
//! of variables. Policy sees it through `getindices()` and `getvalues()`, and relies on it.

use super::Context;
use super::vars::split_indices;

/// Added before each index, so that `v[te][st]` and `v[t][est]` differ.
const SEPARATOR: u32 = ']' as u32;
/// Buckets of an empty table.
const FEWEST: usize = 32;

// One-at-a-time, as VarRefHash does it.
fn mix(mut hash: u32, byte: u32) -> u32 {
    hash = hash.wrapping_add(byte);
    hash = hash.wrapping_add(hash << 10);
    hash ^ (hash >> 6)
}

fn mix_text(hash: u32, text: &str) -> u32 {
    // The original adds characters that are signed.
    crate::text::encode(text).iter().fold(hash, |hash, byte| mix(hash, *byte as i8 as u32))
}

/// The hash of a variable by its scope, `ns:bundle` or `bundle`, and its name with indices.
fn hash(scope: &str, name: &str) -> u32 {
    let (namespace, bundle) = scope.split_once(':').unwrap_or(("default", scope));
    let at = name.find('[').unwrap_or(name.len());
    let mut hash = mix_text(mix_text(mix_text(0, namespace), bundle), &name[..at]);
    for index in split_indices(&name[at..]).unwrap_or_default() {
        hash = mix_text(mix(hash, SEPARATOR), index);
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

impl Context<'_> {
    /// Puts names of one scope, given in order of definition, into the original's order.
    pub(crate) fn in_table_order<T>(&self, scope: &str, names: Vec<(&str, T)>) -> Vec<T> {
        let count: usize = self.vars.scopes.values().map(|scope| scope.vars.len()).sum();
        let mut buckets = FEWEST;
        while count * 4 > buckets * 3 {
            buckets *= 2;
        }
        let mut keyed: Vec<(usize, T)> = names
            .into_iter()
            .map(|(name, value)| (hash(scope, name) as usize & (buckets - 1), value))
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
        assert_eq!(hash("main", "a[x]"), hash("default:main", "a[x]"));
        assert_ne!(hash("main", "v[te][st]"), hash("main", "v[t][est]"));
        assert_eq!(mix_text(0, "default"), 1_195_645_448);
    }
}
