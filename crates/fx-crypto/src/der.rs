//! Walks DER: one tag, its content and what follows. Builds nothing.

use crate::{Error, Result};

pub const INTEGER: u8 = 0x02;
pub const OCTETS: u8 = 0x04;
pub const OID: u8 = 0x06;
pub const SEQUENCE: u8 = 0x30;
pub const SET: u8 = 0x31;

const BROKEN: Error = Error("not enough data");

/// One element: its first tag octet, its content, its whole text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element<'a> {
    pub tag: u8,
    pub content: &'a [u8],
    pub whole: &'a [u8],
}

/// The elements of a constructed value, one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn element(&mut self) -> Result<Element<'a>> {
        let input = self.0;
        let (&tag, rest) = input.split_first().ok_or(BROKEN)?;
        if tag & 0x1f == 0x1f {
            return Err(Error("tags above 30 are not supported"));
        }
        let (&first, rest) = rest.split_first().ok_or(BROKEN)?;
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            let octets = usize::from(first & 0x7f);
            if octets == 0 || octets > 4 || rest.len() < octets {
                return Err(Error("header too long"));
            }
            let (length, rest) = rest.split_at(octets);
            (length.iter().fold(0, |n, b| n << 8 | usize::from(*b)), rest)
        };
        if length > rest.len() {
            return Err(Error("too long"));
        }
        let (content, rest) = rest.split_at(length);
        self.0 = rest;
        Ok(Element { tag, content, whole: &input[..input.len() - rest.len()] })
    }

    /// The next element, which must have this tag.
    pub fn expect(&mut self, tag: u8) -> Result<Element<'a>> {
        let element = self.element()?;
        if element.tag == tag { Ok(element) } else { Err(Error("wrong tag")) }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> Element<'a> {
    pub fn inside(&self) -> Reader<'a> {
        Reader(self.content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_one_after_the_other_and_lengths_are_checked() {
        let mut r = Reader(&[0x30, 3, 2, 1, 5, 4, 0]);
        let seq = r.expect(SEQUENCE).expect("a sequence");
        assert_eq!(seq.inside().expect(INTEGER).expect("an integer").content, [5]);
        assert_eq!(r.element().expect("octets").tag, OCTETS);
        assert!(r.is_empty());
        for bad in
            [&[0x30][..], &[0x30, 5, 1], &[0x30, 0x80], &[0x30, 0x85, 1, 1, 1, 1, 1], &[0x1f, 1]]
        {
            assert!(Reader(bad).element().is_err(), "{bad:x?}");
        }
    }
}
