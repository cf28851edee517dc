//! Descriptors that the caller left open: closed at the start, so that they lead neither a
//! command nor what runs in a copy of the machine anywhere.

/// Closes every descriptor above standard error. For the very start of a process, when
/// nothing of its own is open.
#[expect(unsafe_code, reason = "descriptors that nobody owns yet are closed by number")]
pub fn close_inherited() {
    const FIRST: i32 = 3;
    // SAFETY: plain numbers, and nothing of ours is open.
    if unsafe { libc::syscall(libc::SYS_close_range, FIRST, u32::MAX, 0) } == 0 {
        return;
    }
    // Before Linux 5.9.
    let open: Vec<i32> = std::fs::read_dir("/proc/self/fd")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    for fd in open.into_iter().filter(|fd| *fd >= FIRST) {
        // SAFETY: as above; the listing itself is closed by now.
        unsafe { libc::close(fd) };
    }
}
