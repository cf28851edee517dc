//! Catalogs as fast as a server makes them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{nodes, times};

/// Facts of a file, as the agent of a node sends them.
pub(crate) fn facts(file: &str, name: &str) -> Value {
    let text = std::fs::read_to_string(file).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let mut values = all.get("values").unwrap_or(&all).clone();
    values["clientcert"] = name.into();
    values["clientversion"] = "7.23.0".into();
    values["clientnoop"] = false.into();
    json!({
        "name": name, "values": values,
        "timestamp": "2026-11-18T00:00:00.000000000+00:00",
        "expiration": "2026-11-18T00:30:00.000000000+00:00",
    })
}

/// Asks for so many catalogs from so many threads, each as a node of its own over one connection.
pub(crate) fn catalogs(
    server: &str,
    dir: &str,
    file: &str,
    count: usize,
    threads: usize,
    pid: Option<usize>,
) {
    let nodes = nodes::load(server, dir, threads);
    let done = AtomicUsize::new(0);
    let all = Mutex::new((Vec::<Duration>::new(), 0usize, 0usize));
    let early = Mutex::new(0.0);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for node in nodes.iter().cycle().take(threads) {
            let (done, all, early) = (&done, &all, &early);
            scope.spawn(move || {
                let connection = node.server();
                let facts = facts(file, &node.name);
                let (mut took, mut failed, mut bytes) = (Vec::new(), 0, 0);
                loop {
                    let at = done.fetch_add(1, Ordering::SeqCst);
                    if at >= count {
                        break;
                    }
                    if let (1000, Some(pid)) = (at, pid) {
                        *early.lock().unwrap() = times::memory(pid);
                    }
                    let began = Instant::now();
                    let answer =
                        connection.catalog(&node.name, &facts, "production", "production", "load");
                    match answer {
                        Ok(answer) if answer.is_success() => bytes = answer.body.len(),
                        Ok(answer) => {
                            failed += 1;
                            eprintln!("{} {}", answer.status, answer.text());
                        }
                        Err(error) => {
                            failed += 1;
                            eprintln!("{error}");
                        }
                    }
                    took.push(began.elapsed());
                }
                let mut all = all.lock().unwrap();
                all.0.extend(took);
                all.1 += failed;
                all.2 = all.2.max(bytes);
            });
        }
    });
    let seconds = began.elapsed().as_secs_f64();
    let (took, failed, bytes) = all.into_inner().unwrap();
    println!(
        "{count} catalogs of {bytes} bytes in {seconds:.2} s: {:.1} a second, {failed} failed; {}",
        count as f64 / seconds,
        times::shown(took)
    );
    if let Some(pid) = pid {
        let (early, late) = (early.into_inner().unwrap(), times::memory(pid));
        println!("memory after 1,000: {early:.1} MB, after {count}: {late:.1} MB");
    }
}
