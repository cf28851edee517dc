//! Names of a directory, several to a transaction.

use super::TERMINATOR;
use super::frame::{Frame, encode};

/// A packet is sent before a name would take it past this.
const FULL: usize = 3840;
/// Longer names are cut by the original.
const LONGEST: usize = 255;

/// Packets of an answer: names with a zero byte after each, and one more at the end of a packet.
pub fn packets<'a>(names: impl Iterator<Item = &'a [u8]>) -> Vec<Frame> {
    let (mut frames, mut payload) = (Vec::new(), Vec::new());
    for name in names {
        let name = &name[..name.len().min(LONGEST)];
        if payload.len() + name.len() + 1 >= FULL {
            payload.push(0);
            frames.push(Frame { more: true, payload: std::mem::take(&mut payload) });
        }
        payload.extend_from_slice(name);
        payload.push(0);
    }
    payload.extend_from_slice(TERMINATOR);
    payload.extend_from_slice(&[0, 0]);
    frames.push(Frame { more: false, payload });
    frames
}

/// Takes the names of one packet; whether it was the last.
pub fn names(payload: &[u8], into: &mut Vec<Vec<u8>>) -> bool {
    for name in payload.split(|byte| *byte == 0) {
        if name == TERMINATOR {
            return true;
        }
        if name.is_empty() {
            break;
        }
        into.push(name.to_vec());
    }
    false
}

impl Frame {
    /// Adds the bytes of the transaction to what is to be sent.
    pub fn write(&self, out: &mut Vec<u8>) {
        encode(self.more, &self.payload, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_any_size_arrives() {
        for count in [0, 1, 500] {
            let sent: Vec<Vec<u8>> =
                (0..count).map(|number| format!("name-{number:0>40}").into_bytes()).collect();
            let frames = packets(sent.iter().map(Vec::as_slice));
            let mut came = Vec::new();
            let ends: Vec<bool> =
                frames.iter().map(|frame| names(&frame.payload, &mut came)).collect();
            assert_eq!(came, sent);
            assert!(frames.iter().all(|frame| frame.payload.len() <= super::super::LARGEST));
            assert_eq!(ends.iter().filter(|end| **end).count(), 1);
            assert!(frames.iter().rev().skip(1).all(|frame| frame.more));
        }
    }
}
