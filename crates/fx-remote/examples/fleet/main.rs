//! A fleet of agents on one machine, to press a server: it is the same to a puppetserver and to
//! ours. `conformance/puppet_network/load.sh` says what is measured with it.
//!
//! ```text
//! fleet enroll   HOST:PORT DIR COUNT             keys and signed certificates of so many nodes
//! fleet catalogs HOST:PORT DIR FACTS COUNT THREADS [PID]   catalogs as fast as they come
//! fleet cycles   HOST:PORT DIR FACTS SECONDS     each node's run once, spread over the time
//! fleet reports  HOST:PORT DIR FILE SECONDS      reports without a pause; FILE lists what was
//!                                                acknowledged
//! ```

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::exit,
    clippy::disallowed_methods,
    reason = "a tool that fails loudly and prints its figures"
)]

mod cycles;
mod nodes;
mod pressed;
mod reports;
mod times;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<usize>().unwrap();
    match words.as_slice() {
        ["enroll", server, dir, count] => nodes::enroll(server, dir, number(count)),
        ["catalogs", server, dir, facts, count, threads, pid @ ..] => {
            let pid = pid.first().map(|pid| number(pid));
            pressed::catalogs(server, dir, facts, number(count), number(threads), pid);
        }
        ["cycles", server, dir, facts, seconds] => {
            cycles::spread(server, dir, facts, number(seconds));
        }
        ["reports", server, dir, file, seconds] => {
            reports::press(server, dir, file, number(seconds));
        }
        _ => {
            eprintln!("usage: fleet enroll|catalogs|cycles|reports HOST:PORT DIR …");
            std::process::exit(2);
        }
    }
}
