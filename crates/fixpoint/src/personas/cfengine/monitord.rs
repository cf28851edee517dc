//! cf-monitord: samples the machine and what policy promises to measure, keeps averages, and leaves
//! values and classes for the other tools.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fx_cfengine::Component;
use fx_cfengine::config::{Paths, configure};
use fx_cfengine::eval::Context;
use fx_host::{Clock, Edits, Env, HostError, OsHost, WriteOptions};

use crate::persona::Invocation;

use super::daemon::{self, PidFile};
use super::evaluate::{request, with_policy};
use super::monitor::averages::{self, Point};
use super::monitor::kept::{Database, Kept};
use super::monitor::measure::{History, Invalid, Measured, Measurement};
use super::monitor::ports::Ports;
use super::monitor::sample::Sampler;
use super::monitor::slots::{COUNT, Slots};
use super::monitor::streams::{MOST_LINES, Streams};
use super::tools::{self, Log};

const NO_HANDLE: &str = "The promised measurement has no handle to register it by.";
const NO_GROUP: &str =
    "The extraction_regex must contain a single backreference for the extraction";
/// Between two samples.
const PAUSE: Duration = Duration::from_secs(150);
const WEEK: f64 = 604_800.0;
const INTERVAL: f64 = 300.0;
/// How long other runs know of what was odd.
const ODD_MINUTES: i64 = 10;
const AGE: &[u8] = b"DATABASE_AGE\0";

/// A monitor at work.
struct Monitor {
    slots: Slots,
    sampler: Sampler,
    streams: Streams,
    local: Vec<Point>,
    samples: f64,
    rate: f64,
}

pub(crate) fn monitord(invocation: &Invocation) -> u8 {
    let call = match tools::read(invocation) {
        Ok(call) => call,
        Err(code) => return code,
    };
    if let Err(code) = daemon::into_background(&call) {
        return code;
    }
    let stop = fx_host::stop_on_signals();
    // HUP is nothing to this daemon: its policy is never read anew.
    let _ignored = fx_host::reload_on_hangup();
    let host = OsHost::new();
    let request = request(&call, Component::Monitor);
    let paths = configure(&host, &request).paths;
    let ended = with_policy(&request, |ctx| {
        let rate = ctx.control.text("monitor", "forgetrate").and_then(|text| text.parse().ok());
        let mut monitor = Monitor {
            slots: Slots::new(),
            sampler: Sampler::default(),
            streams: Streams::default(),
            local: vec![Point::default(); COUNT],
            samples: 0.0,
            rate: averages::sane_rate(rate),
        };
        let pid_file = PidFile::of(&paths.pids, "cf-monitord");
        pid_file.begin(&host, call.log);
        while !stop.load(Ordering::Relaxed) {
            let promised = promised(ctx);
            match monitor.sample(&host, &paths, &promised, call.log) {
                Ok(odd) => ctx.persist_for_others(&odd, ODD_MINUTES),
                Err(error) => call.log.error(&error.to_string()),
            }
            wait(&stop);
        }
        pid_file.end(&host);
    });
    fx_host::leave(u8::from(ended.is_err()))
}

/// What policy promises to measure at this moment.
fn promised(ctx: &mut Context<'_>) -> Vec<Measurement> {
    let mut measurements = Vec::new();
    for promise in ctx.evaluate_monitor() {
        match Measurement::read(&promise) {
            Ok(measurement) => measurements.push(measurement),
            Err(Invalid::NoHandle) => ctx.error(NO_HANDLE),
            Err(Invalid::NoGroup) => {
                ctx.error(NO_GROUP);
                ctx.error("Measurement promise is not valid");
            }
        }
    }
    measurements
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
    /// Takes a sample and leaves it for the other tools. What it says that is odd.
    fn sample(
        &mut self,
        host: &OsHost,
        paths: &Paths,
        promised: &[Measurement],
        log: Log,
    ) -> Result<Vec<String>, HostError> {
        let mut values = vec![0.0; COUNT];
        let looked = self.sampler.look(host, &mut self.slots);
        let ports = Ports::read(host);
        for (slot, value) in looked.iter().chain(&ports.counts) {
            values[*slot] = *value;
        }
        let mut kept = Kept::read(host, &paths.state);
        let mut lines = Vec::new();
        for measurement in promised {
            let measured = self.measure(host, measurement, &mut kept);
            match measured {
                Ok(measured) => {
                    self.publish(host, paths, measurement, measured, &mut kept, &mut values)?
                        .into_iter()
                        .for_each(|line| lines.push(line));
                }
                Err(reasons) => {
                    for reason in reasons {
                        log.error(&reason);
                    }
                }
            }
        }
        kept.write(host)?;
        let week = self.remember(host, paths, &values)?;
        let (mut all, mut odd) = (Vec::new(), Vec::new());
        for slot in 0..COUNT {
            let name = self.slots.name(slot).to_owned();
            let (value, week, local) = (values[slot], &week[slot], &self.local[slot]);
            let classes = averages::classes(&name, value, week, local);
            odd.extend(classes.iter().filter(|class| averages::is_odd(class)).cloned());
            all.extend(classes);
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
        host.commit()?;
        Ok(odd)
    }

    // Reads the stream of a measurement and judges its lines.
    fn measure(
        &mut self,
        host: &OsHost,
        measurement: &Measurement,
        kept: &mut Kept,
    ) -> Result<Measured, Vec<String>> {
        let (handle, source) = (&measurement.handle, &measurement.source);
        let mut offset = kept.offset(handle, &source.promiser);
        // A stream that is not there has no lines, and a number that is not there is zero.
        let text = self.streams.text(host, measurement, &mut offset);
        let text =
            if source.is_pipe { text.map_err(|why| vec![why])? } else { text.unwrap_or_default() };
        if source.grows {
            kept.set_offset(handle, &source.promiser, offset);
        }
        measurement.judge(text.lines().take(MOST_LINES))
    }

    // Puts a value where others find it: its slot, a file, or lines for the other tools.
    fn publish(
        &mut self,
        host: &OsHost,
        paths: &Paths,
        measurement: &Measurement,
        measured: Measured,
        kept: &mut Kept,
        values: &mut [f64],
    ) -> Result<Vec<String>, HostError> {
        let handle = &measurement.handle;
        let now = host.now().secs;
        match (measurement.history, measured) {
            (History::Weekly, Measured::Number(number)) => {
                if let Some(slot) = self.slots.of(handle, &measurement.about, &measurement.units) {
                    values[slot] = number;
                }
                Ok(Vec::new())
            }
            (History::Log, measured) => {
                let time = jiff::Timestamp::from_second(now).unwrap_or_default();
                let time = time.to_zoned(jiff::tz::TimeZone::system());
                let date = time.strftime("%a %b %e %H:%M:%S %Y");
                let file = PathBuf::from(format!("{}/{handle}_measure.log", paths.state));
                let line = format!("{date},{now},{measured}\n");
                host.append(&file, line.as_bytes(), 0o600)?;
                Ok(Vec::new())
            }
            (_, Measured::Number(number)) => {
                let point = kept.scalar(handle, number, now);
                Ok(vec![
                    format!("value_{handle}={}", Measured::Number(number)),
                    format!("av_{handle}={:.2}", point.expect),
                    format!("dev_{handle}={:.2}", point.var.sqrt()),
                ])
            }
            (_, Measured::Text(text)) => {
                kept.text(handle, &text);
                Ok(Vec::new())
            }
            (_, Measured::List(items)) => {
                kept.list(handle, &items);
                Ok(Vec::new())
            }
        }
    }

    // The averages of this moment of the week, brought up to date.
    fn remember(
        &mut self,
        host: &OsHost,
        paths: &Paths,
        values: &[f64],
    ) -> Result<Vec<Point>, HostError> {
        let file = PathBuf::from(format!("{}/cf_observations.lmdb", paths.state));
        let mut observations = Database::read(host, file);
        let now = host.now().secs;
        let key = moment(now);
        let age = observations.get(AGE).and_then(|bytes| bytes.try_into().ok());
        let age = age.map_or(0.0, f64::from_le_bytes);
        let old = averages::from_bytes(observations.get(&key).unwrap_or_default(), COUNT);
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
        observations.put(key, averages::to_bytes(now, &new));
        observations.put(AGE.to_vec(), (age + 1.0).to_le_bytes().to_vec());
        observations.write(host)?;
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
