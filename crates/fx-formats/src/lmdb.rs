//! Files of LMDB, version 1 for 64 bits, with one unnamed database: read as a whole, written as a
//! whole. A reader sees what the last transaction left; a writer makes a packed file anew.
//!
//! The file is memory of another program, and any byte of it may be wrong: every number is checked
//! against the file, and a tree that leads back to itself ends.

use std::collections::BTreeMap;

const PAGE: usize = 4096;
const HEADER: usize = 16;
const MAGIC: u32 = 0xBEEF_C0DE;
const NO_PAGE: u64 = u64::MAX;
const BRANCH: u16 = 0x01;
const LEAF: u16 = 0x02;
const OVERFLOW: u16 = 0x04;
const META: u16 = 0x08;
const BIG: u16 = 0x01;
/// A node that is larger keeps its value on pages of its own.
const LARGEST_NODE: usize = 2038;
/// Flags of the file: keys of the list of free pages are numbers, and the file is no directory.
const FLAGS: u16 = 0x4008;
/// Keys may not be longer.
const LONGEST_KEY: usize = 511;
const DEEPEST: usize = 32;

/// Names and values, in the order of their bytes.
pub type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

/// What was found in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    pub entries: Entries,
    /// The number of the last transaction.
    pub transaction: u64,
    pub map_size: u64,
}

/// The file is none of LMDB's, or damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

fn number<const SIZE: usize>(bytes: &[u8], at: usize) -> Result<[u8; SIZE], Damaged> {
    let part = bytes.get(at..at.checked_add(SIZE).ok_or(Damaged)?).ok_or(Damaged)?;
    part.try_into().map_err(|_| Damaged)
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16, Damaged> {
    Ok(u16::from_le_bytes(number(bytes, at)?))
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, Damaged> {
    Ok(u32::from_le_bytes(number(bytes, at)?))
}

fn u64_at(bytes: &[u8], at: usize) -> Result<u64, Damaged> {
    Ok(u64::from_le_bytes(number(bytes, at)?))
}

struct Meta {
    page_size: usize,
    map_size: u64,
    root: u64,
    transaction: u64,
}

// Where numbers stand in a page of the head: after its header, the main database second.
fn meta(page: &[u8]) -> Result<Meta, Damaged> {
    let at = HEADER;
    if u32_at(page, at)? != MAGIC || u32_at(page, at + 4)? != 1 {
        return Err(Damaged);
    }
    let page_size = u32_at(page, at + 24)? as usize;
    if !page_size.is_power_of_two() || !(512..=65536).contains(&page_size) {
        return Err(Damaged);
    }
    Ok(Meta {
        page_size,
        map_size: u64_at(page, at + 16)?,
        root: u64_at(page, at + 24 + 48 + 40)?,
        transaction: u64_at(page, at + 24 + 96 + 8)?,
    })
}

/// Reads a file.
pub fn read(bytes: &[u8]) -> Result<Contents, Damaged> {
    if bytes.is_empty() {
        return Ok(Contents::default());
    }
    let first = meta(bytes)?;
    let second = bytes.get(first.page_size..).map(meta);
    let newest = match second {
        Some(Ok(second)) if second.transaction > first.transaction => second,
        _ => first,
    };
    let mut walk = Walk { bytes, page_size: newest.page_size, left: 0, entries: Entries::new() };
    walk.left = bytes.len() / walk.page_size + 1;
    if newest.root != NO_PAGE {
        walk.page(newest.root, 0)?;
    }
    Ok(Contents {
        entries: walk.entries,
        transaction: newest.transaction,
        map_size: newest.map_size,
    })
}

struct Walk<'a> {
    bytes: &'a [u8],
    page_size: usize,
    /// No more pages than the file has are looked at.
    left: usize,
    entries: Entries,
}

impl Walk<'_> {
    fn start(&self, page: u64) -> Result<usize, Damaged> {
        usize::try_from(page).ok().and_then(|page| page.checked_mul(self.page_size)).ok_or(Damaged)
    }

    fn page(&mut self, number: u64, depth: usize) -> Result<(), Damaged> {
        self.left = self.left.checked_sub(1).ok_or(Damaged)?;
        if depth > DEEPEST {
            return Err(Damaged);
        }
        let start = self.start(number)?;
        let page = self.bytes.get(start..start.saturating_add(self.page_size)).ok_or(Damaged)?;
        let (flags, lower) = (u16_at(page, 10)?, usize::from(u16_at(page, 12)?));
        let count = lower.checked_sub(HEADER).ok_or(Damaged)? / 2;
        for index in 0..count {
            let at = usize::from(u16_at(page, HEADER + 2 * index)?);
            let (low, high, extra) =
                (u16_at(page, at)?, u16_at(page, at + 2)?, u16_at(page, at + 4)?);
            let size = u64::from(low) | u64::from(high) << 16;
            if flags & BRANCH != 0 {
                self.page(size | u64::from(extra) << 32, depth + 1)?;
                continue;
            }
            if flags & LEAF == 0 {
                return Err(Damaged);
            }
            let key_size = usize::from(u16_at(page, at + 6)?);
            let key = page.get(at + 8..at + 8 + key_size).ok_or(Damaged)?.to_vec();
            let value = at + 8 + key_size;
            let size = size as usize;
            let value = if extra & BIG == 0 {
                page.get(value..value + size).ok_or(Damaged)?
            } else {
                let start = self.start(u64_at(page, value)?)?;
                let start = start.checked_add(HEADER).ok_or(Damaged)?;
                self.bytes.get(start..start.saturating_add(size)).ok_or(Damaged)?
            };
            self.entries.insert(key, value.to_vec());
        }
        Ok(())
    }
}

/// Writes a file as the given transaction. Keys that are empty or too long for the format are
/// left out.
pub fn write(contents: &Contents) -> Vec<u8> {
    let mut writer = Writer { pages: vec![vec![0; PAGE]; 2], overflow: 0 };
    let mut leaves: Vec<(Vec<u8>, u64)> = Vec::new();
    let mut page = Page::new(LEAF);
    let mut count = 0_u64;
    for (key, value) in &contents.entries {
        if key.is_empty() || key.len() > LONGEST_KEY {
            continue;
        }
        count += 1;
        let node = writer.leaf_node(key, value);
        if !page.fits(&node) {
            leaves.push(writer.add(std::mem::replace(&mut page, Page::new(LEAF))));
        }
        page.push(key, &node);
    }
    if count > 0 {
        leaves.push(writer.add(page));
    }
    let (leaf_pages, mut branch_pages, mut depth) =
        (leaves.len() as u64, 0_u64, u16::from(count > 0));
    let mut level = leaves;
    while level.len() > 1 {
        let mut above = Vec::new();
        let mut page = Page::new(BRANCH);
        for (key, child) in level {
            // The first of a page stands for all that is smaller.
            let name: &[u8] = if page.nodes.is_empty() { &[] } else { &key };
            let mut node = branch_node(name, child);
            if !page.fits(&node) {
                above.push(writer.add(std::mem::replace(&mut page, Page::new(BRANCH))));
                node = branch_node(&[], child);
            }
            page.push(&key, &node);
        }
        above.push(writer.add(page));
        branch_pages += above.len() as u64;
        depth += 1;
        level = above;
    }
    let root = level.first().map_or(NO_PAGE, |(_, page)| *page);
    let tree = Tree {
        depth,
        branch_pages,
        leaf_pages,
        overflow_pages: writer.overflow,
        entries: count,
        root,
    };
    writer.finish(contents, &tree)
}

struct Tree {
    depth: u16,
    branch_pages: u64,
    leaf_pages: u64,
    overflow_pages: u64,
    entries: u64,
    root: u64,
}

fn branch_node(key: &[u8], child: u64) -> Vec<u8> {
    let mut node = Vec::with_capacity(8 + key.len());
    node.extend_from_slice(&(child as u16).to_le_bytes());
    node.extend_from_slice(&((child >> 16) as u16).to_le_bytes());
    node.extend_from_slice(&((child >> 32) as u16).to_le_bytes());
    node.extend_from_slice(&(key.len() as u16).to_le_bytes());
    node.extend_from_slice(key);
    node
}

struct Page {
    kind: u16,
    first: Vec<u8>,
    nodes: Vec<Vec<u8>>,
    used: usize,
}

impl Page {
    fn new(kind: u16) -> Page {
        Page { kind, first: Vec::new(), nodes: Vec::new(), used: HEADER }
    }

    fn size(node: &[u8]) -> usize {
        node.len().next_multiple_of(2) + 2
    }

    fn fits(&self, node: &[u8]) -> bool {
        self.used + Page::size(node) <= PAGE
    }

    fn push(&mut self, key: &[u8], node: &[u8]) {
        if self.nodes.is_empty() {
            self.first = key.to_vec();
        }
        self.used += Page::size(node);
        self.nodes.push(node.to_vec());
    }

    fn bytes(&self, number: u64) -> Vec<u8> {
        let mut page = vec![0; PAGE];
        let mut upper = PAGE;
        for (index, node) in self.nodes.iter().enumerate() {
            upper -= node.len().next_multiple_of(2);
            page[upper..upper + node.len()].copy_from_slice(node);
            let at = HEADER + 2 * index;
            page[at..at + 2].copy_from_slice(&(upper as u16).to_le_bytes());
        }
        let lower = HEADER + 2 * self.nodes.len();
        header(&mut page, number, self.kind);
        page[12..14].copy_from_slice(&(lower as u16).to_le_bytes());
        page[14..16].copy_from_slice(&(upper as u16).to_le_bytes());
        page
    }
}

fn header(page: &mut [u8], number: u64, kind: u16) {
    page[..8].copy_from_slice(&number.to_le_bytes());
    page[10..12].copy_from_slice(&kind.to_le_bytes());
}

struct Writer {
    pages: Vec<Vec<u8>>,
    overflow: u64,
}

impl Writer {
    fn leaf_node(&mut self, key: &[u8], value: &[u8]) -> Vec<u8> {
        let size = value.len() as u32;
        let mut node = Vec::with_capacity(8 + key.len() + value.len());
        node.extend_from_slice(&size.to_le_bytes());
        let is_big = 8 + key.len() + value.len() > LARGEST_NODE;
        node.extend_from_slice(&u16::from(is_big).to_le_bytes());
        node.extend_from_slice(&(key.len() as u16).to_le_bytes());
        node.extend_from_slice(key);
        if is_big {
            node.extend_from_slice(&self.big(value).to_le_bytes());
        } else {
            node.extend_from_slice(value);
        }
        node
    }

    fn big(&mut self, value: &[u8]) -> u64 {
        let number = self.pages.len() as u64;
        let count = (HEADER + value.len()).div_ceil(PAGE);
        let mut bytes = vec![0; count * PAGE];
        header(&mut bytes, number, OVERFLOW);
        bytes[12..16].copy_from_slice(&(count as u32).to_le_bytes());
        bytes[HEADER..HEADER + value.len()].copy_from_slice(value);
        self.pages.extend(bytes.chunks(PAGE).map(<[u8]>::to_vec));
        self.overflow += count as u64;
        number
    }

    fn add(&mut self, page: Page) -> (Vec<u8>, u64) {
        let number = self.pages.len() as u64;
        self.pages.push(page.bytes(number));
        (page.first, number)
    }

    fn finish(mut self, contents: &Contents, tree: &Tree) -> Vec<u8> {
        let last = self.pages.len() as u64 - 1;
        let empty = Tree {
            depth: 0,
            branch_pages: 0,
            leaf_pages: 0,
            overflow_pages: 0,
            entries: 0,
            root: NO_PAGE,
        };
        // The page of the head that a transaction writes follows from its number.
        let transaction = contents.transaction.max(1);
        let own = (transaction & 1) as usize;
        self.pages[own] = meta_page(own as u64, contents.map_size, tree, last, transaction);
        let other = 1 - own;
        self.pages[other] =
            meta_page(other as u64, contents.map_size, &empty, last, transaction - 1);
        self.pages.concat()
    }
}

fn meta_page(number: u64, map_size: u64, tree: &Tree, last: u64, transaction: u64) -> Vec<u8> {
    let mut page = vec![0; PAGE];
    header(&mut page, number, META);
    let mut at = HEADER;
    let mut put = |bytes: &[u8]| {
        page[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    };
    put(&MAGIC.to_le_bytes());
    put(&1_u32.to_le_bytes());
    put(&0_u64.to_le_bytes());
    put(&map_size.to_le_bytes());
    // The list of free pages: none are.
    put(&(PAGE as u32).to_le_bytes());
    put(&FLAGS.to_le_bytes());
    put(&[0; 2 + 4 * 8]);
    put(&NO_PAGE.to_le_bytes());
    put(&[0; 6]);
    put(&tree.depth.to_le_bytes());
    for count in [tree.branch_pages, tree.leaf_pages, tree.overflow_pages, tree.entries] {
        put(&count.to_le_bytes());
    }
    put(&tree.root.to_le_bytes());
    put(&last.to_le_bytes());
    put(&transaction.to_le_bytes());
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(count: usize, size: usize) -> Contents {
        let entries = (0..count).map(|number| {
            let key = format!("key-{:06}", number * 7919 % 1_000_003).into_bytes();
            (key, vec![number as u8; size])
        });
        Contents { entries: entries.collect(), transaction: 3, map_size: 100 << 20 }
    }

    #[test]
    fn what_is_written_is_read() {
        for (count, size) in [(0, 0), (1, 5), (40, 40), (5000, 40), (30, 3000), (3, 100_000)] {
            let contents = contents(count, size);
            let bytes = write(&contents);
            assert_eq!(read(&bytes).as_ref(), Ok(&contents), "{count} of {size}");
            assert_eq!(bytes.len() % PAGE, 0);
        }
        assert_eq!(read(&[]), Ok(Contents::default()));
    }

    #[test]
    fn damaged_files_are_refused_or_read_and_never_followed_for_ever() {
        let bytes = write(&contents(2000, 40));
        let mut state = 88_172_645_463_325_252_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for _ in 0..2000 {
            let mut broken = bytes.clone();
            for _ in 0..8 {
                let at = (next() as usize) % broken.len();
                broken[at] = next() as u8;
            }
            broken.truncate(broken.len() - (next() as usize) % PAGE);
            let _either = read(&broken);
        }
        assert_eq!(read(b"no database at all"), Err(Damaged));
        assert_eq!(read(&bytes[..PAGE * 2]), Err(Damaged));
    }
}
