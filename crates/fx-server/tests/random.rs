//! Random numbers of TLS come from the kernel: `.cargo/config.toml` turns off what the library would measure
//! before the first of them. A process of its own, since later ones cost nothing anyway.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test looks at the machine from outside"
)]

/// Processor time of this thread in nanoseconds.
fn spent() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn the_first_random_numbers_are_not_waited_for() {
    let before = spent();
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    provider.secure_random.fill(&mut [0; 32]).unwrap();
    let spent = spent() - before;
    assert!(spent < 20_000_000, "{spent} ns");
}
