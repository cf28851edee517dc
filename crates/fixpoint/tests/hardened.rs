//! How the program is linked: what makes a mistake in it harder to use.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test reads the program")]

const PT_DYNAMIC: u32 = 2;
const PT_GNU_STACK: u32 = 0x6474_e551;
const PT_GNU_RELRO: u32 = 0x6474_e552;

struct Elf(Vec<u8>);

impl Elf {
    fn number(&self, at: usize, bytes: usize) -> u64 {
        let field = &self.0[at..at + bytes];
        field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Type, flags, and where it lies in the file, of each program header.
    fn headers(&self) -> Vec<(u32, u32, std::ops::Range<usize>)> {
        let (start, size, count) = (self.number(32, 8), self.number(54, 2), self.number(56, 2));
        let header = |number: u64| {
            let at = (start + number * size) as usize;
            let (from, length) =
                (self.number(at + 8, 8) as usize, self.number(at + 32, 8) as usize);
            (self.number(at, 4) as u32, self.number(at + 4, 4) as u32, from..from + length)
        };
        (0..count).map(header).collect()
    }
}

#[test]
fn the_program_is_position_independent_with_full_relro_and_no_executable_stack() {
    let elf = Elf(std::fs::read(env!("CARGO_BIN_EXE_fixpoint")).unwrap());
    assert_eq!(&elf.0[..4], b"\x7fELF");
    assert_eq!(elf.number(16, 2), 3, "a shared object, which can be loaded anywhere");
    let headers = elf.headers();
    let find = |kind: u32| headers.iter().find(|(found, ..)| *found == kind);
    let (_, flags, _) = find(PT_GNU_STACK).expect("the program says what its stack may be");
    assert_eq!(flags & 1, 0, "the stack is not executable");
    assert!(find(PT_GNU_RELRO).is_some(), "what is written at start only is read-only after it");
    let (.., dynamic) = find(PT_DYNAMIC).expect("a dynamic section");
    // DT_FLAGS (30) with DF_BIND_NOW, or DT_FLAGS_1 (0x6ffffffb) with DF_1_NOW: full RELRO.
    let entries = dynamic.clone().step_by(16).map(|at| (elf.number(at, 8), elf.number(at + 8, 8)));
    let now = entries.into_iter().any(|(tag, value)| {
        (tag == 30 && value & 8 != 0) || (tag == 0x6fff_fffb && value & 1 != 0)
    });
    assert!(now, "names are resolved before the table of them becomes read-only");
}
