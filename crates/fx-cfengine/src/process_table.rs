//! The process table as ps(1) prints it, for functions and for processes promises.

use std::rc::Rc;
use std::time::Duration;

use fx_host::Spec;

use crate::command::in_environment;
use crate::eval::Context;
use crate::text::{decode, path};

use column::{COMMAND, ELAPSED, PID};

/// One line of the process table.
#[derive(Clone, Debug)]
pub struct Process {
    pub pid: i64,
    pub line: String,
    pub columns: Vec<String>,
    pub started: i64,
}

impl Process {
    /// The command line, which patterns are held against.
    pub fn command(&self) -> &str {
        &self.columns[COMMAND]
    }
}

/// The table, read once for each bundle.
#[derive(Default)]
pub struct Cache {
    table: Option<Rc<Vec<Process>>>,
}

impl Cache {
    pub fn clear(&mut self) {
        self.table = None;
    }
}

/// Columns of a line, by number.
pub mod column {
    pub const STAT: usize = 0;
    pub const USER: usize = 1;
    pub const PID: usize = 2;
    pub const PPID: usize = 3;
    pub const PGID: usize = 4;
    pub const VSZ: usize = 7;
    pub const NI: usize = 8;
    pub const RSS: usize = 9;
    pub const TTY: usize = 10;
    pub const NLWP: usize = 11;
    pub const ELAPSED: usize = 13;
    pub const TIME: usize = 14;
    pub const COMMAND: usize = 15;
}

/// The process table.
pub fn table(ctx: &mut Context<'_>) -> Rc<Vec<Process>> {
    if let Some(table) = &ctx.processes.table {
        return Rc::clone(table);
    }
    // The original's columns, which policy matches as one line, and before them the state.
    let columns =
        "stat,user:30,pid,ppid,pgid,pcpu,pmem,vsz,ni,rss:9,tname,nlwp,stime,etime,time,args";
    // Named in full, since a search along the path starts a process for each miss.
    let ps = if ctx.host().stat(&path("/bin/ps")).is_ok() { "/bin/ps" } else { "ps" };
    let spec =
        in_environment(ctx, Spec::argv([ps, "-eo", columns])).timeout(Duration::from_mins(1));
    let now = ctx.host().now().secs;
    let text = match ctx.host().query(&spec) {
        Ok(ended) => decode(&ended.stdout),
        Err(error) => {
            ctx.error(&format!("Unable to read the process table: {error}"));
            String::new()
        }
    };
    let table: Vec<Process> = text.lines().skip(1).filter_map(|line| parse(line, now)).collect();
    let table = Rc::new(table);
    ctx.processes.table = Some(Rc::clone(&table));
    table
}

fn parse(line: &str, now: i64) -> Option<Process> {
    let mut columns = Vec::with_capacity(COMMAND + 1);
    let mut rest = line.trim_start();
    for _ in 0..COMMAND {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        columns.push(rest[..end].to_owned());
        rest = rest[end..].trim_start();
    }
    columns.push(rest.trim_end().to_owned());
    let pid = columns[PID].parse().ok()?;
    let started = now - clock_seconds(&columns[ELAPSED])?;
    let line = line.trim_start();
    let line = line[line.find(' ')?..].trim_start().trim_end();
    Some(Process { pid, line: line.to_owned(), columns, started })
}

// `[[days-]hours:]minutes:seconds`.
pub fn clock_seconds(text: &str) -> Option<i64> {
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (days.parse::<i64>().ok()?, clock),
        None => (0, text),
    };
    let mut seconds = 0;
    for part in clock.split(':') {
        seconds = seconds * 60 + part.parse::<i64>().ok()?;
    }
    Some(days * 86400 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_ps_are_split() {
        let line =
            "Ss   root  1 0 1 0.0 0.1 1000 0 500 ? 1 10:00 1-02:03:04 00:00:05 /sbin/init splash";
        let process = parse(line, 1_000_000).expect("a process");
        assert_eq!(process.pid, 1);
        assert_eq!(process.command(), "/sbin/init splash");
        assert!(process.line.starts_with("root  1 0"), "{}", process.line);
        assert_eq!(process.started, 1_000_000 - 93_784);
        assert_eq!(clock_seconds("01:30"), Some(90));
    }
}
