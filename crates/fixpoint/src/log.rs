//! A run's messages in the system's log, by flag.

use fx_engine::{Event, Level, Sink};
use fx_host::{HostError, Priority, SystemLog, SystemLogKind};

/// Which log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Target {
    /// syslog on /dev/log
    Syslog,
    /// systemd's journal
    Journald,
}

/// Sends what changed, what failed and what was said.
pub(crate) struct SystemLogSink(SystemLog);

impl SystemLogSink {
    pub(crate) fn open(target: Target) -> Result<SystemLogSink, HostError> {
        let kind = match target {
            Target::Syslog => SystemLogKind::Syslog,
            Target::Journald => SystemLogKind::Journald,
        };
        SystemLog::open(kind, "fixpoint").map(SystemLogSink)
    }
}

fn priority(level: Level) -> Option<Priority> {
    match level {
        Level::Error => Some(Priority::Error),
        Level::Warning => Some(Priority::Warning),
        Level::Notice => Some(Priority::Notice),
        Level::Info => Some(Priority::Info),
        Level::Verbose | Level::Debug => None,
    }
}

impl Sink for SystemLogSink {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::StepClosed { step } => {
                if let Some(priority) = priority(step.outcome.level()) {
                    let reason = step
                        .outcome
                        .failure()
                        .map(|failure| format!(": {failure}"))
                        .unwrap_or_default();
                    self.0.send(
                        priority,
                        &fx_source::visible(&format!(
                            "{} {}{reason}",
                            step.outcome.word(),
                            step.resource
                        )),
                    );
                }
            }
            Event::Message { level, text, .. } => {
                if let Some(priority) = priority(*level) {
                    self.0.send(priority, &fx_source::visible(text));
                }
            }
            _ => {}
        }
    }
}
