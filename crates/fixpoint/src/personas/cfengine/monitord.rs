//! cf-monitord: samples the machine and what policy promises to measure, keeps averages, and leaves
//! values and classes for the other tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fx_cfengine::Component;
use fx_cfengine::config::{Paths, configure};
use fx_cfengine::eval::Context;
use fx_host::{Clock, Edits, Env, Files, HostError, OsHost, WriteOptions};

use crate::persona::Invocation;

use super::daemon::{self, PidFile};
use super::evaluate::{request, with_policy};
use super::monitor::averages::{self, Point};
use super::monitor::connections;
use super::monitor::histograms::Histograms;
use super::monitor::kept::{Database, Kept};
use super::monitor::leaps::Leaps;
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
/// The long memory takes a record at most once in so many seconds.
const LONG: i64 = 59 * 60;
const SHIFTS: [&str; 4] = ["Night", "Morning", "Afternoon", "Evening"];
/// The minutes of each hour in which values are counted against their averages.
const COUNTED: std::ops::Range<i8> = 40..45;

/// A monitor at work.
struct Monitor<'a> {
    host: &'a OsHost,
    paths: &'a Paths,
    clock: &'a dyn Clock,
    log: Log,
    slots: Slots,
    sampler: Sampler,
    streams: Streams,
    leaps: Leaps,
    histograms: Histograms,
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
    let host = OsHost::cancelled_by(Arc::clone(&stop));
    let request = request(&call, Component::Monitor);
    let paths = configure(&host, &request).paths;
    let ended = with_policy(&request, |ctx| {
        let pid_file = PidFile::of(&paths.pids, "cf-monitord");
        pid_file.begin(&host, call.log);
        let mut monitor = Monitor::new(ctx, &host, &paths, &host, call.log);
        watch(ctx, &mut monitor, &stop);
        pid_file.end(&host);
    });
    fx_host::leave(u8::from(ended.is_err()))
}

// Takes samples until told to stop.
fn watch(ctx: &mut Context<'_>, monitor: &mut Monitor<'_>, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let promised = promised(ctx);
        match monitor.sample(&promised) {
            Ok(odd) => ctx.persist_for_others(&odd, ODD_MINUTES),
            Err(error) => monitor.log.error(&error.to_string()),
        }
        monitor.clock.sleep(PAUSE);
    }
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

/// The place of a moment in the week: `Tue:Hr02:Min30_35`, in UTC.
fn moment(now: i64) -> Vec<u8> {
    let time = jiff::Timestamp::from_second(now).unwrap_or_default();
    let time = time.to_zoned(jiff::tz::TimeZone::UTC);
    let five = time.minute() / 5 * 5;
    let day = time.strftime("%a");
    format!("{day}:Hr{:02}:Min{five:02}_{:02}\0", time.hour(), (five + 5) % 60).into_bytes()
}

/// The key of a moment in the long memory, which is three years: `17_Nov_Lcycle_1_Night`, in UTC.
fn shift(now: i64) -> Vec<u8> {
    let time = jiff::Timestamp::from_second(now).unwrap_or_default();
    let time = time.to_zoned(jiff::tz::TimeZone::UTC);
    let shift = SHIFTS[usize::try_from(time.hour() / 6).unwrap_or_default()];
    let (day, month, year) = (time.day(), time.strftime("%b"), time.year() % 3);
    format!("{day}_{month}_Lcycle_{year}_{shift}\0").into_bytes()
}

fn private() -> WriteOptions {
    WriteOptions { mode: Some(0o600), ..WriteOptions::default() }
}

impl<'a> Monitor<'a> {
    fn new(
        ctx: &Context<'_>,
        host: &'a OsHost,
        paths: &'a Paths,
        clock: &'a dyn Clock,
        log: Log,
    ) -> Monitor<'a> {
        let rate = ctx.control.text("monitor", "forgetrate").and_then(|text| text.parse().ok());
        let state = Path::new(&paths.state);
        let counted = host.read(&state.join("histograms")).unwrap_or_default();
        if let Err(error) = connections::begin(host, state) {
            log.error(&error.to_string());
        }
        Monitor {
            host,
            paths,
            clock,
            log,
            slots: Slots::new(),
            sampler: Sampler::default(),
            streams: Streams::default(),
            leaps: Leaps::new(COUNT),
            histograms: Histograms::read(COUNT, &String::from_utf8_lossy(&counted)),
            local: vec![Point::default(); COUNT],
            samples: 0.0,
            rate: averages::sane_rate(rate),
        }
    }

    /// Takes a sample and leaves it for the other tools. What it says that is odd.
    fn sample(&mut self, promised: &[Measurement]) -> Result<Vec<String>, HostError> {
        let (host, paths) = (self.host, self.paths);
        let state = Path::new(&paths.state);
        let now = self.clock.now().secs;
        let mut values = vec![0.0; COUNT];
        let looked = self.sampler.look(host, &mut self.slots);
        let ports = Ports::read(host);
        for (slot, value) in looked.into_iter().chain(ports.counts()) {
            values[slot] = value;
        }
        let users: String = self.sampler.users.iter().map(|user| format!("{user}\n")).collect();
        host.write(&state.join("cf_users"), users.as_bytes(), &private())?;
        let mut spread = connections::save(host, state, &ports, now)?;
        let mut kept = Kept::read(host, &paths.state);
        let mut lines = Vec::new();
        for measurement in promised {
            match self.measure(measurement, &mut kept) {
                Ok(measured) => {
                    lines.extend(self.publish(measurement, measured, &mut kept, &mut values)?);
                }
                Err(reasons) => {
                    for reason in reasons {
                        self.log.error(&reason);
                    }
                }
            }
        }
        let static_text = kept.static_text();
        kept.write(host)?;
        let week = self.remember(&values)?;
        self.remember_long(&week, &static_text)?;
        self.leaps.take(&mut values);
        let (mut all, mut odd) = (Vec::new(), Vec::new());
        for slot in 0..COUNT {
            let name = self.slots.name(slot).to_owned();
            let (value, week, local) = (values[slot], &week[slot], &self.local[slot]);
            if week.var == 0.0 || local.var == 0.0 {
                // What never varies has no classes, and none of its addresses.
                let own = format!("entropy_{name}");
                spread.retain(|class| !class.starts_with(&own));
            }
            all.extend(averages::classes(&name, value, week, local));
            let deviation = averages::deviation(week, local);
            all.push(format!("value_{name}={value:.2}"));
            all.push(format!("av_{name}={:.2}", week.expect));
            all.push(format!("dev_{name}={deviation:.2}"));
            if self.leaps.has_leapt(slot) {
                let direction = if value > week.expect { "high" } else { "low" };
                all.push(format!("{name}_{direction}_ldt"));
            }
        }
        let is_odd = |line: &&String| !line.contains('=') && averages::is_odd(line);
        odd.extend(all.iter().filter(is_odd).cloned());
        all.extend(lines);
        all.extend(ports.lines());
        all.extend(spread);
        let text: String = all.iter().map(|line| format!("{line}\n")).collect();
        host.write(&state.join("env_data"), text.as_bytes(), &private())?;
        host.write(&state.join("ts_key"), self.slots.text().as_bytes(), &private())?;
        self.samples += 1.0;
        host.commit()?;
        Ok(odd)
    }

    // Reads the stream of a measurement and judges its lines.
    fn measure(
        &mut self,
        measurement: &Measurement,
        kept: &mut Kept,
    ) -> Result<Measured, Vec<String>> {
        let (handle, source) = (&measurement.handle, &measurement.source);
        let now = self.clock.now().secs;
        let mut offset = kept.offset(handle, &source.promiser);
        // A stream that is not there has no lines, and a number that is not there is zero.
        let text = self.streams.text(self.host, now, measurement, &mut offset);
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
        measurement: &Measurement,
        measured: Measured,
        kept: &mut Kept,
        values: &mut [f64],
    ) -> Result<Vec<String>, HostError> {
        let handle = &measurement.handle;
        let now = self.clock.now().secs;
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
                let file = PathBuf::from(format!("{}/{handle}_measure.log", self.paths.state));
                let line = format!("{date},{now},{measured}\n");
                self.host.append(&file, line.as_bytes(), 0o600)?;
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
    fn remember(&mut self, values: &[f64]) -> Result<Vec<Point>, HostError> {
        let file = PathBuf::from(format!("{}/cf_observations.lmdb", self.paths.state));
        let mut observations = Database::read(self.host, file);
        let now = self.clock.now().secs;
        let key = moment(now);
        let age = observations.get(AGE).and_then(|bytes| bytes.try_into().ok());
        let age = age.map_or(0.0, f64::from_le_bytes);
        let old = averages::from_bytes(observations.get(&key).unwrap_or_default(), COUNT);
        let ages = (age * INTERVAL / WEEK, self.samples);
        let mut new = Vec::with_capacity(COUNT);
        for (slot, value) in values.iter().enumerate() {
            let mut byte = [0];
            self.host.random(&mut byte);
            let chance = f64::from(byte[0]) / 256.0;
            let (week, local) =
                averages::next(*value, &old[slot], &self.local[slot], ages, self.rate, chance);
            self.local[slot] = local;
            new.push(week);
        }
        observations.put(key, averages::to_bytes(now, &new));
        observations.put(AGE.to_vec(), (age + 1.0).to_le_bytes().to_vec());
        observations.write(self.host)?;
        self.count(now, values, &old)?;
        Ok(new)
    }

    // Once in an hour values are counted by how far they are from their averages.
    fn count(&mut self, now: i64, values: &[f64], old: &[Point]) -> Result<(), HostError> {
        let time = jiff::Timestamp::from_second(now).unwrap_or_default();
        let here = time.to_zoned(jiff::tz::TimeZone::system());
        if !COUNTED.contains(&here.minute()) {
            return Ok(());
        }
        let day = time.to_zoned(jiff::tz::TimeZone::UTC).weekday().to_monday_zero_offset();
        self.histograms.count(usize::try_from(day).unwrap_or_default(), values, old);
        let file = PathBuf::from(format!("{}/histograms", self.paths.state));
        self.host.write(&file, self.histograms.text().as_bytes(), &private())
    }

    // Records of three years, and what does not change, for people to read.
    fn remember_long(&self, week: &[Point], static_text: &[u8]) -> Result<(), HostError> {
        let now = self.clock.now().secs;
        let file = PathBuf::from(format!("{}/history.lmdb", self.paths.state));
        let mut history = Database::read(self.host, file);
        let key = shift(now);
        let last = history.get(&key).and_then(|bytes| bytes.get(..8)?.try_into().ok());
        if last.map(i64::from_le_bytes).is_some_and(|last| (0..LONG).contains(&(now - last))) {
            return Ok(());
        }
        history.put(key, averages::to_bytes(now, week));
        history.write(self.host)?;
        let file = PathBuf::from(format!("{}/static_data", self.paths.state));
        self.host.write(&file, static_text, &private())
    }
}

#[cfg(test)]
mod tests;
