//! cf-monitord: samples the machine and what policy promises to measure, keeps averages, and leaves
//! values and classes for the other tools.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fx_cfengine::Component;
use fx_cfengine::config::{Paths, configure};
use fx_engine::Level;
use fx_formats::lmdb;
use fx_host::{Clock, Edits, Env, Files, HostError, OsHost, WriteOptions, limits};

use crate::persona::Invocation;

use super::evaluate::{request, with_policy};
use super::monitor::averages::{self, Point};
use super::monitor::measure::{History, Measured, Measurement};
use super::monitor::ports::Ports;
use super::monitor::sample::Sampler;
use super::monitor::slots::{COUNT, Slots};
use super::serverd::write_pid;
use super::tools::{self, Log};

/// Between two samples.
const PAUSE: Duration = Duration::from_secs(150);
const MAP_SIZE: u64 = 100 << 20;
const WEEK: f64 = 604_800.0;
const INTERVAL: f64 = 300.0;
const AGE: &[u8] = b"DATABASE_AGE\0";

/// A monitor at work.
struct Monitor {
    slots: Slots,
    sampler: Sampler,
    local: Vec<Point>,
    samples: f64,
    rate: f64,
    measurements: Vec<Measurement>,
}

pub(crate) fn monitord(invocation: &Invocation) -> u8 {
    let call = match tools::read(invocation) {
        Ok(call) => call,
        Err(code) => return code,
    };
    let foreground = call.has("no-fork") || call.log.0 >= Level::Verbose;
    if !foreground {
        match fx_host::into_background(&mut std::io::stdout()) {
            Ok(None) => {}
            Ok(Some(code)) => return code,
            Err(error) => {
                call.log.error(&format!("Could not go into the background: {error}"));
                return 1;
            }
        }
    }
    let stop = fx_host::stop_on_signals();
    // HUP is nothing to this daemon: its policy is never read anew.
    let _ignored = fx_host::reload_on_hangup();
    let host = OsHost::new();
    let request = request(&call, Component::Monitor);
    let paths = configure(&host, &request).paths;
    let read = with_policy(&request, |ctx| {
        let promised = ctx.evaluate_monitor();
        let mut measurements = Vec::new();
        for promise in &promised {
            match Measurement::read(promise) {
                Ok(measurement) => measurements.push(measurement),
                Err(why) => ctx.error(why),
            }
        }
        let rate = ctx.control.text("monitor", "forgetrate").and_then(|text| text.parse().ok());
        (measurements, averages::sane_rate(rate))
    });
    let Ok((measurements, rate)) = read else { return 1 };
    let mut monitor = Monitor {
        slots: Slots::new(),
        sampler: Sampler::default(),
        local: vec![Point::default(); COUNT],
        samples: 0.0,
        rate,
        measurements,
    };
    let pid_file = format!("{}/cf-monitord.pid", paths.pids);
    write_pid(&host, &pid_file);
    if let Err(error) = fx_host::detach() {
        call.log.error(&error.to_string());
    }
    while !stop.load(Ordering::Relaxed) {
        if let Err(error) = monitor.sample(&host, &paths, call.log) {
            call.log.error(&error.to_string());
        }
        wait(&stop);
    }
    let _gone = host.remove_file(Path::new(&pid_file));
    fx_host::leave(0)
}

fn wait(stop: &AtomicBool) {
    let began = Instant::now();
    while began.elapsed() < PAUSE && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// The place of a moment in the week: `Tue:Hr02:Min30_35`, in UTC.
fn moment(now: i64) -> Vec<u8> {
    let time = jiff::Timestamp::from_second(now).unwrap_or_default();
    let time = time.to_zoned(jiff::tz::TimeZone::UTC);
    let five = time.minute() / 5 * 5;
    let day = time.strftime("%a");
    format!("{day}:Hr{:02}:Min{five:02}_{:02}\0", time.hour(), (five + 5) % 60).into_bytes()
}

impl Monitor {
    fn sample(&mut self, host: &OsHost, paths: &Paths, log: Log) -> Result<(), HostError> {
        let mut values = vec![0.0; COUNT];
        let looked = self.sampler.look(host, &mut self.slots);
        let ports = Ports::read(host);
        for (slot, value) in looked.iter().chain(&ports.counts) {
            values[*slot] = *value;
        }
        let mut lines = Vec::new();
        self.measure(host, paths, &mut values, &mut lines, log)?;
        let week = self.remember(host, paths, &values)?;
        let mut all = Vec::new();
        for slot in 0..COUNT {
            let name = self.slots.name(slot).to_owned();
            let (value, week, local) = (values[slot], &week[slot], &self.local[slot]);
            all.extend(averages::classes(&name, value, week, local));
            let deviation = averages::deviation(week, local);
            all.push(format!("value_{name}={value:.2}"));
            all.push(format!("av_{name}={:.2}", week.expect));
            all.push(format!("dev_{name}={deviation:.2}"));
        }
        all.extend(lines);
        all.extend(ports.lines());
        let text: String = all.iter().map(|line| format!("{line}\n")).collect();
        let state = Path::new(&paths.state);
        let options = WriteOptions { mode: Some(0o600), ..WriteOptions::default() };
        host.write(&state.join("env_data"), text.as_bytes(), &options)?;
        host.write(&state.join("ts_key"), self.slots.text().as_bytes(), &options)?;
        self.samples += 1.0;
        host.commit()
    }

    // What policy promises to measure.
    fn measure(
        &mut self,
        host: &OsHost,
        paths: &Paths,
        values: &mut [f64],
        lines: &mut Vec<String>,
        log: Log,
    ) -> Result<(), HostError> {
        for measurement in &self.measurements {
            let handle = &measurement.handle;
            let measured = match measurement.take(host) {
                Ok(measured) => measured,
                Err(why) => {
                    log.error(&why);
                    continue;
                }
            };
            let shown = match &measured {
                Measured::Number(number) if number.fract() == 0.0 => format!("{number:.0}"),
                Measured::Number(number) => format!("{number:.2}"),
                Measured::Text(text) => text.clone(),
                Measured::List(items) => items.join(","),
            };
            match (measurement.history, measured) {
                (History::Weekly, Measured::Number(number)) => {
                    if let Some(slot) = self.slots.of(handle) {
                        values[slot] = number;
                    }
                }
                (History::Log, _) => {
                    let now = host.now().secs;
                    let time = jiff::Timestamp::from_second(now).unwrap_or_default();
                    let time = time.to_zoned(jiff::tz::TimeZone::system());
                    let date = time.strftime("%a %b %e %H:%M:%S %Y");
                    let file = PathBuf::from(format!("{}/{handle}_measure.log", paths.state));
                    host.append(&file, format!("{date},{now},{shown}\n").as_bytes(), 0o600)?;
                }
                (_, Measured::Number(_)) => lines.push(format!("value_{handle}={shown}")),
                (_, Measured::Text(_)) => lines.push(format!("{handle}={shown}")),
                (_, Measured::List(items)) => {
                    let items: Vec<String> = items.iter().map(|item| format!("'{item}'")).collect();
                    lines.push(format!("@{handle}={{{}}}", items.join(",")));
                }
            }
        }
        Ok(())
    }

    // The averages of this moment of the week, brought up to date.
    fn remember(
        &mut self,
        host: &OsHost,
        paths: &Paths,
        values: &[f64],
    ) -> Result<Vec<Point>, HostError> {
        let file = PathBuf::from(format!("{}/cf_observations.lmdb", paths.state));
        let bytes = host.read_limited(&file, limits::WHOLE).unwrap_or_default();
        // A file that cannot be read is begun anew.
        let mut contents = lmdb::read(&bytes).unwrap_or_default();
        let now = host.now().secs;
        let key = moment(now);
        let age = contents.entries.get(AGE).and_then(|bytes| bytes.as_slice().try_into().ok());
        let age = age.map_or(0.0, f64::from_le_bytes);
        let old = averages::from_bytes(contents.entries.get(&key).map_or(&[], Vec::as_slice));
        let ages = (age * INTERVAL / WEEK, self.samples);
        let mut new = Vec::with_capacity(COUNT);
        for (slot, value) in values.iter().enumerate() {
            let mut byte = [0];
            host.random(&mut byte);
            let chance = f64::from(byte[0]) / 256.0;
            let (week, local) =
                averages::next(*value, &old[slot], &self.local[slot], ages, self.rate, chance);
            self.local[slot] = local;
            new.push(week);
        }
        contents.entries.insert(key, averages::to_bytes(now, &new));
        contents.entries.insert(AGE.to_vec(), (age + 1.0).to_le_bytes().to_vec());
        contents.transaction += 1;
        contents.map_size = contents.map_size.max(MAP_SIZE);
        let options = WriteOptions { mode: Some(0o600), ..WriteOptions::default() };
        host.write(&file, &lmdb::write(&contents), &options)?;
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_a_week_have_the_names_of_the_original() {
        assert_eq!(moment(1_794_882_600), b"Tue:Hr02:Min30_35\0");
        assert_eq!(moment(0), b"Thu:Hr00:Min00_05\0");
        assert_eq!(moment(3599), b"Thu:Hr00:Min55_00\0");
    }
}
