//! The first instructions of the process, and the answer they may give. Nothing of the C
//! library works yet, not even `memcmp` and `memset`, which a compiler likes to put in place of
//! loops and arrays: the arguments are read a byte at a time, each as if it could change, and
//! nothing is built on the stack.

use std::arch::{asm, naked_asm};

use crate::{ANSWERS, Answer};

unsafe extern "C" {
    /// The entry of the C library.
    fn _start() -> !;
}

/// The entry that the linker is told of; `_start` finds stack and registers as the kernel left
/// them.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn fixpoint_entry() -> ! {
    naked_asm!(
        "mov rdi, rsp",
        "push rdx",
        "sub rsp, 8",
        "call {answer}",
        "add rsp, 8",
        "pop rdx",
        "jmp {start}",
        answer = sym answer,
        start = sym _start,
    )
}

/// Ends the process if the two words on the stack, name and argument, are a question for a
/// version and the answer could be written. Comes back otherwise.
unsafe extern "C" fn answer(stack: *const usize) {
    // SAFETY: the kernel starts a process with the count of its arguments on top of the stack,
    // and as many pointers to texts that end in a zero above it.
    unsafe {
        if stack.read() != 2 {
            return;
        }
        let name = base(stack.add(1).read() as *const u8);
        let flag = stack.add(2).read() as *const u8;
        for known in &ANSWERS {
            if same(name, known.tool) && asks(flag, known) && write(known.line.as_bytes()) {
                exit();
            }
        }
    }
}

/// Whether the flag is one by which this tool is asked for its version.
unsafe fn asks(flag: *const u8, known: &Answer) -> bool {
    // SAFETY: the caller gives a text that ends in a zero.
    unsafe { same(flag, known.flags[0]) || same(flag, known.flags[1]) }
}

/// The part of a path after its last slash.
unsafe fn base(path: *const u8) -> *const u8 {
    let mut from = path;
    let mut at = path;
    // SAFETY: the text is read up to the zero it ends in.
    unsafe {
        loop {
            match at.read_volatile() {
                0 => return from,
                b'/' => from = at.add(1),
                _ => {}
            }
            at = at.add(1);
        }
    }
}

/// Whether a text that ends in a zero is this word.
unsafe fn same(text: *const u8, word: &str) -> bool {
    let mut at = text;
    // SAFETY: a byte is read only if those before it were equal to the word's, so not zero.
    unsafe {
        for byte in word.as_bytes() {
            if at.read_volatile() != *byte {
                return false;
            }
            at = at.add(1);
        }
        at.read_volatile() == 0
    }
}

/// The action that ignores a signal: what to do (1), flags, way back, mask.
static IGNORED: [usize; 4] = [1, 0, 0, 0];

/// Writes to standard output. A reader that is gone must not end the process by a signal; the
/// originals ignore it too. A line this short is taken whole or not at all.
fn write(line: &[u8]) -> bool {
    const WRITE: usize = 1;
    const CHANGE_SIGNAL: usize = 13;
    const PIPE: usize = 13;
    const BYTES_OF_A_MASK: usize = 8;
    // SAFETY: the calls read the action and the line, and change no memory.
    unsafe {
        system(CHANGE_SIGNAL, PIPE, IGNORED.as_ptr().addr(), 0, BYTES_OF_A_MASK);
        system(WRITE, 1, line.as_ptr().addr(), line.len(), 0) == line.len()
    }
}

/// Ends the process in success.
fn exit() -> ! {
    const EXIT_GROUP: usize = 231;
    loop {
        // SAFETY: nothing of the process is in use yet.
        unsafe { system(EXIT_GROUP, 0, 0, 0, 0) };
    }
}

/// One call of the kernel.
unsafe fn system(number: usize, a: usize, b: usize, c: usize, d: usize) -> usize {
    let answer: usize;
    // SAFETY: the caller answers for what the call does; it keeps all registers but these.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => answer,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            in("r10") d,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    answer
}
