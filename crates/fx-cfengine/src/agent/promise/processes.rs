//! processes: counted, signalled, stopped and restarted by what `ps` shows.

use std::rc::Rc;

use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::outcome::Outcome;

/// One line of the process table.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) pid: i64,
    pub(crate) line: String,
}

/// The table, read once for each bundle.
#[derive(Default)]
pub(crate) struct State {
    table: Option<Rc<Vec<Process>>>,
}

impl State {
    pub(crate) fn clear(&mut self) {
        self.table = None;
    }
}

/// The process table.
pub(crate) fn table(ctx: &mut Context<'_>) -> Rc<Vec<Process>> {
    if let Some(table) = &ctx.agent.processes.table {
        return Rc::clone(table);
    }
    let table = Rc::new(Vec::new());
    ctx.agent.processes.table = Some(Rc::clone(&table));
    table
}

pub(crate) fn keep(ctx: &mut Context<'_>, promise: &Rc<Expanded>) -> Outcome {
    super::unsupported(ctx, promise)
}
