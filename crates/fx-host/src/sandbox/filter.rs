//! The filter of system calls of a box, as a program for the kernel.
//!
//! Most of what it refuses is refused for want of a capability as well: it is the second
//! wall. The first are keyrings, namespaces of users, input faked on a terminal, and the
//! machine's audit log.

const EPERM: u32 = libc::EPERM as u32;
const ENOSYS: u32 = libc::ENOSYS as u32;
const EPROTONOSUPPORT: u32 = libc::EPROTONOSUPPORT as u32;

const AF_NETLINK: u32 = libc::AF_NETLINK as u32;
const NETLINK_AUDIT: u32 = 9;
const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;
const CLONE_NEWUSER: u32 = libc::CLONE_NEWUSER as u32;

/// Where the kernel puts the number, the architecture and the low half of the arguments.
const AT_NUMBER: u32 = 0;
const AT_ARCH: u32 = 4;
const fn at_argument(index: u32) -> u32 {
    16 + 8 * index
}

/// Numbers of one architecture.
struct Table {
    /// As the kernel names it in the audit.
    arch: u32,
    refused: &'static [u32],
    clone: u32,
    unshare: u32,
    ioctl: u32,
    socket: u32,
}

/// Calls whose numbers are the same everywhere: those newer than Linux 5.0.
const NEW: &[u32] = &[
    425, // io_uring_setup: what it does no filter sees
    428, // open_tree
    429, // move_mount
    430, // fsopen
    431, // fsconfig
    432, // fsmount
    433, // fspick
    442, // mount_setattr
    443, // quotactl_fd
    467, // open_tree_attr
];

const CLONE3: u32 = 435;

macro_rules! numbers {
    ($($name:ident),* $(,)?) => { &[$(libc::$name as u32),*] };
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
const NATIVE: Table = Table {
    arch: if cfg!(target_arch = "x86_64") {
        0xc000_003e
    } else if cfg!(target_arch = "aarch64") {
        0xc000_00b7
    } else {
        0xc000_00f3
    },
    refused: numbers![
        SYS_init_module,
        SYS_finit_module,
        SYS_delete_module,
        SYS_kexec_load,
        SYS_kexec_file_load,
        SYS_reboot,
        SYS_swapon,
        SYS_swapoff,
        SYS_settimeofday,
        SYS_clock_settime,
        SYS_clock_adjtime,
        SYS_adjtimex,
        SYS_syslog,
        SYS_acct,
        SYS_quotactl,
        SYS_nfsservctl,
        SYS_bpf,
        SYS_perf_event_open,
        SYS_keyctl,
        SYS_add_key,
        SYS_request_key,
        SYS_userfaultfd,
        SYS_open_by_handle_at,
        SYS_mount,
        SYS_umount2,
        SYS_pivot_root,
        SYS_setns,
    ],
    clone: libc::SYS_clone as u32,
    unshare: libc::SYS_unshare as u32,
    ioctl: libc::SYS_ioctl as u32,
    socket: libc::SYS_socket as u32,
};

/// What only Intel's processors have.
#[cfg(target_arch = "x86_64")]
const MORE: &[u32] = numbers![SYS_ioperm, SYS_iopl, SYS_uselib];
#[cfg(any(target_arch = "aarch64", target_arch = "riscv64"))]
const MORE: &[u32] = &[];

/// Programs of 32 bits, by the numbers of `asm/unistd_32.h`, in the order of the above: with
/// umount, stime, vm86old, vm86, and the calls with 64 bits of time.
#[cfg(target_arch = "x86_64")]
const OTHERS: &[Table] = &[Table {
    arch: 0x4000_0003,
    refused: &[
        128, 350, 129, 283, 88, 87, 115, 79, 264, 343, 124, 103, 51, 131, 169, 357, 336, 288, 286,
        287, 374, 342, 21, 52, 217, 346, 101, 110, 86, 127, 22, 25, 113, 166, 404, 405,
    ],
    clone: 120,
    unshare: 310,
    ioctl: 54,
    socket: 359,
}];
#[cfg(any(target_arch = "aarch64", target_arch = "riscv64"))]
const OTHERS: &[Table] = &[];

/// The program, or nothing for a processor whose numbers are not known here.
pub(super) fn program() -> Option<Vec<libc::sock_filter>> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
    {
        let mut out = vec![load(AT_ARCH)];
        for (table, more) in OTHERS.iter().map(|table| (table, &[][..])).chain([(&NATIVE, MORE)]) {
            let body = body(table, more);
            // Too long for the distance of a condition, so it is jumped over plainly.
            out.push(jump(libc::BPF_JEQ, table.arch, 1, 0));
            out.push(code(libc::BPF_JMP | libc::BPF_JA, body.len() as u32));
            out.extend(body);
        }
        out.push(answer(ENOSYS));
        Some(out)
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
    None
}

/// The rules of one architecture; each path through it ends in an answer.
fn body(table: &Table, more: &[u32]) -> Vec<libc::sock_filter> {
    let mut out = vec![load(AT_NUMBER)];
    if cfg!(target_arch = "x86_64") {
        // The numbers of the third interface of this processor, which would be another table.
        out.extend([jump(libc::BPF_JGE, 0x4000_0000, 0, 1), answer(ENOSYS)]);
    }
    for number in table.refused.iter().chain(more).chain(NEW) {
        out.extend([jump(libc::BPF_JEQ, *number, 0, 1), answer(EPERM)]);
    }
    // Its flags are behind a pointer. The library falls back to the older call.
    out.extend([jump(libc::BPF_JEQ, CLONE3, 0, 1), answer(ENOSYS)]);
    for number in [table.clone, table.unshare] {
        out.extend([
            jump(libc::BPF_JEQ, number, 0, 4),
            load(at_argument(0)),
            jump(libc::BPF_JSET, CLONE_NEWUSER, 0, 1),
            answer(EPERM),
            allow(),
        ]);
    }
    out.extend([
        jump(libc::BPF_JEQ, table.ioctl, 0, 6),
        load(at_argument(1)),
        jump(libc::BPF_JEQ, TIOCSTI, 0, 1),
        answer(EPERM),
        jump(libc::BPF_JEQ, TIOCLINUX, 0, 1),
        answer(EPERM),
        allow(),
    ]);
    // The audit log is the machine's. Programs go on where there is none.
    out.extend([
        jump(libc::BPF_JEQ, table.socket, 0, 6),
        load(at_argument(0)),
        jump(libc::BPF_JEQ, AF_NETLINK, 0, 3),
        load(at_argument(2)),
        jump(libc::BPF_JEQ, NETLINK_AUDIT, 0, 1),
        answer(EPROTONOSUPPORT),
        allow(),
        allow(),
    ]);
    out
}

fn code(code: u32, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

fn load(at: u32) -> libc::sock_filter {
    code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at)
}

fn jump(test: u32, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code: (libc::BPF_JMP | test | libc::BPF_K) as u16, jt, jf, k }
}

fn answer(errno: u32) -> libc::sock_filter {
    code(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | errno)
}

fn allow() -> libc::sock_filter {
    code(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the program answers, worked out as the kernel does it.
    fn answered(arch: u32, number: u32, arguments: [u32; 3]) -> u32 {
        let program = program().unwrap();
        let (mut at, mut held) = (0, 0);
        loop {
            let step = program[at];
            at += 1;
            let kind = u32::from(step.code);
            if kind == libc::BPF_RET | libc::BPF_K {
                return step.k;
            } else if kind & 7 == libc::BPF_LD {
                held = match step.k {
                    AT_NUMBER => number,
                    AT_ARCH => arch,
                    offset => arguments[(offset as usize - 16) / 8],
                };
            } else if kind == libc::BPF_JMP | libc::BPF_JA {
                at += step.k as usize;
            } else {
                let holds = match kind & 0xf0 {
                    libc::BPF_JEQ => held == step.k,
                    libc::BPF_JGE => held >= step.k,
                    libc::BPF_JSET => held & step.k != 0,
                    other => panic!("{other}"),
                };
                at += usize::from(if holds { step.jt } else { step.jf });
            }
        }
    }

    #[test]
    fn what_reaches_the_machine_is_refused_and_the_rest_is_not() {
        let refused = libc::SECCOMP_RET_ERRNO | EPERM;
        let absent = libc::SECCOMP_RET_ERRNO | ENOSYS;
        let unsupported = libc::SECCOMP_RET_ERRNO | EPROTONOSUPPORT;
        let allowed = libc::SECCOMP_RET_ALLOW;
        let native =
            |number: libc::c_long, arguments| answered(NATIVE.arch, number as u32, arguments);
        for number in NATIVE.refused.iter().chain(MORE).chain(NEW) {
            assert_eq!(answered(NATIVE.arch, *number, [0; 3]), refused, "{number}");
        }
        assert_eq!(answered(NATIVE.arch, CLONE3, [0; 3]), absent);
        assert_eq!(native(libc::SYS_clone, [CLONE_NEWUSER | 0x11, 0, 0]), refused);
        assert_eq!(native(libc::SYS_clone, [0x11, 0, 0]), allowed);
        assert_eq!(native(libc::SYS_unshare, [CLONE_NEWUSER, 0, 0]), refused);
        assert_eq!(native(libc::SYS_ioctl, [0, TIOCSTI, 0]), refused);
        assert_eq!(native(libc::SYS_ioctl, [0, TIOCLINUX, 0]), refused);
        assert_eq!(native(libc::SYS_ioctl, [0, 0x5401, 0]), allowed);
        assert_eq!(native(libc::SYS_socket, [AF_NETLINK, 3, NETLINK_AUDIT]), unsupported);
        assert_eq!(native(libc::SYS_socket, [AF_NETLINK, 3, 0]), allowed);
        assert_eq!(native(libc::SYS_socket, [2, 1, NETLINK_AUDIT]), allowed);
        for number in [libc::SYS_read, libc::SYS_execve, libc::SYS_fchownat, libc::SYS_chroot] {
            assert_eq!(native(number, [0; 3]), allowed, "{number}");
        }
        assert_eq!(answered(1, 0, [0; 3]), absent, "an architecture that is not known");
        for table in OTHERS {
            for number in table.refused {
                assert_eq!(answered(table.arch, *number, [0; 3]), refused, "{number}");
            }
            assert_eq!(answered(table.arch, 5, [0; 3]), allowed);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_third_interface_of_the_processor_is_no_way_around() {
        let absent = libc::SECCOMP_RET_ERRNO | ENOSYS;
        let number = 0x4000_0000 | libc::SYS_mount as u32;
        assert_eq!(answered(NATIVE.arch, number, [0; 3]), absent);
    }
}
