//! Time: seconds and nanoseconds with an offset; zones come from the host's zone files.

use crate::heap::Ext;
use crate::object::{Alloc, c};
use crate::value::{NIL, Value};
use crate::vm::{R, Vm};

/// Nanoseconds since the epoch, offset and kind of zone.
#[derive(Clone, Default)]
pub struct TimeData {
    pub ns: i128,
    pub offset: i64,
    pub utc: bool,
    pub fixed: bool,
    pub zone: Option<String>,
    pub dst: bool,
}

/// Days since the epoch of a civil date.
pub(crate) fn days(y: i64, m: i64, d: i64) -> i64 {
    let y = if m <= 2 { y - 1 } else { y };
    let era = y.div_euclid(400);
    let yoe = y - era * 400;
    let doy = (153 * (m + if m > 2 { -3 } else { 9 }) + 2) / 5 + d - 1;
    let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    era * 146_097 + doe - 719_468
}

pub(crate) fn civil(z: i64) -> (i64, i64, i64) {
    let z = z + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z - era * 146_097;
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (d, m) = (doy - (153 * mp + 2) / 5 + 1, if mp < 10 { mp + 3 } else { mp - 9 });
    (yoe + era * 400 + i64::from(m <= 2), m, d)
}

fn be(b: &[u8]) -> i64 {
    let mut v = i64::from(b[0] as i8);
    for x in &b[1..] {
        v = v << 8 | i64::from(*x)
    }
    v
}

/// Offset, daylight flag and name at a moment, from a zone file.
fn tzif(data: &[u8], at: i64) -> Option<(i64, bool, String)> {
    if data.len() < 44 || &data[..4] != b"TZif" {
        return None;
    }
    let head = |o: usize| -> [usize; 6] {
        let mut r = [0; 6];
        for (i, x) in r.iter_mut().enumerate() {
            *x = be(&data[o + 20 + i * 4..o + 24 + i * 4]) as usize
        }
        r
    };
    let h = head(0);
    let first = 44 + h[3] * 5 + h[4] * 6 + h[5] + h[2] * 8 + h[1] + h[0];
    let (o, w, h) = if data[4] >= b'2' && data.len() > first + 44 {
        (first, 8, head(first))
    } else {
        (0, 4, h)
    };
    let (timecnt, typecnt, charcnt) = (h[3], h[4], h[5]);
    let times = o + 44;
    let idx = times + timecnt * w;
    let types = idx + timecnt;
    let names = types + typecnt * 6;
    let mut ty = 0;
    let mut past = timecnt == 0;
    for i in 0..timecnt {
        if be(data.get(times + i * w..times + i * w + w)?) <= at {
            ty = *data.get(idx + i)? as usize;
            past = i + 1 == timecnt
        } else {
            break;
        }
    }
    if past && w == 8 {
        let end = names + charcnt + h[2] * 12 + h[1] + h[0];
        if let Some(rule) = data.get(end + 1..) {
            let rule = String::from_utf8_lossy(rule);
            if let Some(r) = posix_tz(rule.trim(), at) {
                return Some(r);
            }
        }
    }
    let t = data.get(types + ty * 6..types + ty * 6 + 6)?;
    let name: String = data
        .get(names + t[5] as usize..)?
        .iter()
        .take_while(|b| **b != 0)
        .map(|b| *b as char)
        .collect();
    Some((be(&t[..4]), t[4] != 0, name))
}

/// A rule such as `CET-1CEST,M3.5.0,M10.5.0/3`.
fn posix_tz(text: &str, at: i64) -> Option<(i64, bool, String)> {
    let (zone, rules) = text.split_once(',').map_or((text, None), |(a, b)| (a, Some(b)));
    let mut rest = zone;
    let name = |rest: &mut &str| -> Option<String> {
        if let Some(r) = rest.strip_prefix('<') {
            let (n, r) = r.split_once('>')?;
            *rest = r;
            return Some(n.to_owned());
        }
        let end = rest.find(|ch: char| !ch.is_ascii_alphabetic()).unwrap_or(rest.len());
        let (n, r) = rest.split_at(end);
        *rest = r;
        if n.len() < 3 { None } else { Some(n.to_owned()) }
    };
    let offset = |rest: &mut &str| -> Option<i64> {
        let end = rest
            .find(|ch: char| !(ch.is_ascii_digit() || ch == ':' || ch == '-' || ch == '+'))
            .unwrap_or(rest.len());
        let (n, r) = rest.split_at(end);
        *rest = r;
        hms(n)
    };
    let std = name(&mut rest)?;
    let off = -offset(&mut rest)?;
    if rest.is_empty() {
        return Some((off, false, std));
    }
    let dst = name(&mut rest)?;
    let doff = if rest.is_empty() { off + 3600 } else { -offset(&mut rest)? };
    let rules = rules.unwrap_or("M3.2.0,M11.1.0");
    let (a, b) = rules.split_once(',')?;
    let year = civil((at + off).div_euclid(86_400)).0;
    let start = rule_at(a, year)? - off;
    let end = rule_at(b, year)? - doff;
    let on = if start < end { at >= start && at < end } else { at >= start || at < end };
    Some(if on { (doff, true, dst) } else { (off, false, std) })
}

fn hms(t: &str) -> Option<i64> {
    let (neg, t) = match t.strip_prefix('-') {
        Some(t) => (true, t),
        None => (false, t.strip_prefix('+').unwrap_or(t)),
    };
    let mut p = t.split(':');
    let v = p.next()?.parse::<i64>().ok()? * 3600
        + p.next().map_or(0, |x| x.parse().unwrap_or(0)) * 60
        + p.next().map_or(0, |x| x.parse().unwrap_or(0));
    Some(if neg { -v } else { v })
}

fn rule_at(rule: &str, year: i64) -> Option<i64> {
    let (day, time) =
        rule.split_once('/').map_or((rule, 7200), |(d, t)| (d, hms(t).unwrap_or(7200)));
    let d = if let Some(m) = day.strip_prefix('M') {
        let p: Vec<i64> = m.split('.').filter_map(|x| x.parse().ok()).collect();
        let [month, week, wday] = p.as_slice() else { return None };
        let first = days(year, *month, 1);
        let dow = (first + 4).rem_euclid(7);
        let mut d = first + (wday - dow).rem_euclid(7) + (week - 1) * 7;
        let next = if *month == 12 { days(year + 1, 1, 1) } else { days(year, month + 1, 1) };
        while d >= next {
            d -= 7
        }
        d
    } else if let Some(j) = day.strip_prefix('J') {
        let n: i64 = j.parse().ok()?;
        let leap = days(year, 3, 1) - days(year, 2, 1) == 29;
        days(year, 1, 1) + n - 1 + i64::from(leap && n >= 60)
    } else {
        days(year, 1, 1) + day.parse::<i64>().ok()?
    };
    Some(d * 86_400 + time)
}

impl Vm {
    /// Offset, daylight flag and zone name of local time at a moment.
    pub fn local_zone(&mut self, at: i64) -> (i64, bool, String) {
        let tz = self.env_get(b"TZ").map(|b| String::from_utf8_lossy(&b).into_owned());
        let path = match tz.as_deref() {
            None => "/etc/localtime".to_owned(),
            Some("") => return (0, false, "UTC".into()),
            Some(t) => {
                let t = t.strip_prefix(':').unwrap_or(t);
                if t.starts_with('/') { t.to_owned() } else { format!("/usr/share/zoneinfo/{t}") }
            }
        };
        let safe = !path.contains("..");
        let key = fx_zone_key(&path);
        let data = if safe {
            match self.fstrings.get(&key) {
                Some(v) => Some(self.bytes(*v).to_vec()),
                None => {
                    let d = self.host.read_opt(std::path::Path::new(&path)).ok().flatten();
                    if let Some(d) = &d {
                        let v = self.str_enc(d.clone(), 1);
                        self.fstrings.insert(key, v);
                    }
                    d
                }
            }
        } else {
            None
        };
        if let Some(r) = data.as_deref().and_then(|d| tzif(d, at)) {
            return r;
        }
        if let Some(t) = tz
            && let Some(r) = posix_tz(&t, at)
        {
            return r;
        }
        (0, false, "UTC".into())
    }
}

fn fx_zone_key(path: &str) -> (Vec<u8>, u8) {
    (format!("\0zone:{path}").into_bytes(), 255)
}

pub(crate) fn init(vm: &mut Vm) {
    let k = c::TIME;
    vm.classes[k as usize].alloc = Alloc::Time;
    vm.include_module(k, c::COMPARABLE);
    vm.def_single(
        k,
        "__zone",
        |vm, a| {
            let t = vm.arg(a, 0);
            let t = vm.to_int(t)?;
            let (o, d, z) = vm.local_zone(t);
            let z = vm.ascii(z);
            Ok(vm.arr(vec![Value::fix(o), Value::bool(d), z]))
        },
        1,
        1,
    );
    vm.def_single(
        k,
        "__days",
        |vm, a| {
            let (y, m, d) = (vm.arg(a, 0), vm.arg(a, 1), vm.arg(a, 2));
            let (y, m, d) = (vm.to_int(y)?, vm.to_int(m)?, vm.to_int(d)?);
            Ok(vm.int(days(y, m, d)))
        },
        3,
        3,
    );
    vm.def_single(
        k,
        "__civil",
        |vm, a| {
            let d = vm.arg(a, 0);
            let d = vm.to_int(d)?;
            let (y, m, d) = civil(d);
            let l = [y, m, d].into_iter().map(|i| vm.int(i)).collect();
            Ok(vm.arr(l))
        },
        1,
        1,
    );
    // Fields of a Time live in its payload: nanoseconds, offset, utc, fixed, zone, dst.
    vm.def(
        k,
        "__set",
        |vm, a| {
            let args = vm.args(a);
            let big = vm.to_int_value(args[0])?;
            let ns = vm.big_value(big).to_i128().unwrap_or(0);
            let offset = vm.to_int(args[1])?;
            let zone = if args[4].is_nil() { None } else { Some(vm.text(args[4])) };
            let d = TimeData {
                ns,
                offset,
                utc: args[2].truthy(),
                fixed: args[3].truthy(),
                zone,
                dst: args[5].truthy(),
            };
            vm.heap.obj_mut(a.recv).ext = Ext::Time(Box::new(d));
            Ok(a.recv)
        },
        6,
        6,
    );
    vm.def(
        k,
        "__ns",
        |vm, a| {
            let ns = time(vm, a.recv).ns;
            Ok(vm.int128(ns))
        },
        0,
        0,
    );
    vm.def(k, "__off", |vm, a| Ok(Value::fix(time(vm, a.recv).offset)), 0, 0);
    vm.def(k, "__utc", |vm, a| Ok(Value::bool(time(vm, a.recv).utc)), 0, 0);
    vm.def(k, "__fixed", |vm, a| Ok(Value::bool(time(vm, a.recv).fixed)), 0, 0);
    vm.def(
        k,
        "__zone",
        |vm, a| {
            let z = time(vm, a.recv).zone;
            Ok(match z {
                Some(z) => vm.ascii(z),
                None => NIL,
            })
        },
        0,
        0,
    );
    vm.def(k, "__dst", |vm, a| Ok(Value::bool(time(vm, a.recv).dst)), 0, 0);
    let _: Option<R> = None;
}

fn time(vm: &Vm, v: Value) -> TimeData {
    match vm.heap.ext(v) {
        Some(Ext::Time(t)) => (**t).clone(),
        _ => TimeData::default(),
    }
}
