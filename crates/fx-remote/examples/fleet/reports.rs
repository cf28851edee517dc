//! Reports without a pause, through servers that come and go: what was acknowledged is noted.

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::{cycles, nodes};

/// All nodes report until the time is over. Each acknowledged report's name goes into the file.
pub(crate) fn press(server: &str, dir: &str, file: &str, seconds: usize) {
    let nodes = nodes::load(server, dir, usize::MAX);
    let until = Instant::now() + Duration::from_secs(seconds as u64);
    let noted = Mutex::new(std::fs::File::create(file).unwrap());
    let (sent, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for node in &nodes {
            let (noted, sent, refused) = (&noted, &sent, &refused);
            scope.spawn(move || {
                let mut connection = node.server();
                let catalog = json!({"version": "1", "resources": [], "catalog_uuid": null});
                for at in 0usize.. {
                    if Instant::now() >= until {
                        return;
                    }
                    let uuid = format!("{}-{at}", node.name);
                    let report = cycles::report(&node.name, &uuid, &catalog);
                    match connection.report(&node.name, &report, "production") {
                        Ok(answer) if answer.is_success() => {
                            sent.fetch_add(1, Ordering::SeqCst);
                            writeln!(noted.lock().unwrap(), "{uuid}").unwrap();
                        }
                        _ => {
                            refused.fetch_add(1, Ordering::SeqCst);
                            std::thread::sleep(Duration::from_millis(50));
                            connection = node.server();
                        }
                    }
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
        }
    });
    println!(
        "{} reports acknowledged, {} not",
        sent.load(Ordering::SeqCst),
        refused.load(Ordering::SeqCst)
    );
}
