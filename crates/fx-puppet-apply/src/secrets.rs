//! What a resource with secret values may say of its failure. The values are marked in the
//! catalog; what fails is often a tool or another's Ruby, whose words may hold any of them.

use fx_engine::{Change, Failure, Resource as Thing, ResourceId, Target};
use fx_host::{Act, Look};
use fx_puppet::{Resource, Value};
use fx_value::REDACTED;

/// Attributes whose values are in no failure: they are given by file, pipe or environment, or
/// what is said of them is redacted where it is worded.
const UNTOLD: &[(&str, &[&str])] = &[
    ("exec", &["command", "refresh", "environment", "unless", "onlyif"]),
    ("file", &["content"]),
    ("notify", &["message"]),
    ("user", &["password"]),
];

/// Whether policy marked this very attribute.
pub(super) fn is_marked(resource: &Resource, name: &str) -> bool {
    resource.sensitive.iter().any(|known| **known == *name)
        || matches!(
            resource.attributes.get(name).map(|given| &given.value),
            Some(Value::Sensitive(_))
        )
}

/// Whether what a failure says may hold a secret.
pub(super) fn hides_failures(resource: &Resource) -> bool {
    let untold = UNTOLD.iter().find(|(kind, _)| *kind == &*resource.low);
    let is_untold = |name: &str| untold.is_some_and(|(_, names)| names.contains(&name));
    resource.sensitive.iter().any(|name| !is_untold(name))
}

/// The words of a failure as they may be shown.
pub(super) fn shown(resource: &Resource, why: &str) -> String {
    if hides_failures(resource) {
        return REDACTED.to_owned();
    }
    fx_source::without_passwords(why).into_owned()
}

/// Keeps the secrets of a resource out of what is recorded of it.
pub(super) struct Discreet<'a> {
    inner: &'a mut dyn Thing,
    resource: &'a Resource,
    /// What was observed, with its values, which are needed to make the changes.
    open: Vec<Change>,
}

impl<'a> Discreet<'a> {
    pub(super) fn new(inner: &'a mut dyn Thing, resource: &'a Resource) -> Discreet<'a> {
        Discreet { inner, resource, open: Vec::new() }
    }

    fn failure(&self, failure: Failure) -> Failure {
        let hides = hides_failures(self.resource);
        let failure = match failure {
            Failure::Command { command, exit, .. } if hides => {
                Failure::Command { command, exit, output: String::new() }
            }
            failure => failure,
        };
        failure.map_text(&|text| shown(self.resource, text))
    }
}

impl Thing for Discreet<'_> {
    fn id(&self) -> ResourceId {
        self.inner.id()
    }

    fn target(&self) -> Target {
        self.inner.target()
    }

    fn ask_guards(&mut self, act: &dyn Act) -> Result<(), Failure> {
        self.inner.ask_guards(act).map_err(|failure| self.failure(failure))
    }

    fn observe(&mut self, host: &dyn Look) -> Result<Vec<Change>, Failure> {
        let mut changes = self.inner.observe(host).map_err(|failure| self.failure(failure))?;
        if !self.resource.sensitive.is_empty() {
            let hide = |change: Change| {
                if is_marked(self.resource, &change.property) { change.sensitive() } else { change }
            };
            self.open.clone_from(&changes);
            changes = changes.into_iter().map(hide).collect();
        }
        Ok(changes)
    }

    fn open_ended(&self) -> bool {
        self.inner.open_ended()
    }

    fn installs(&self) -> bool {
        self.inner.installs()
    }

    fn apply(&mut self, host: &dyn Act, changes: &[Change]) -> Result<(), Failure> {
        let is_wanted =
            |change: &&Change| changes.iter().any(|one| one.property == change.property);
        let open: Vec<Change> = self.open.iter().filter(is_wanted).cloned().collect();
        let changes = if self.open.is_empty() { changes } else { &open };
        self.inner.apply(host, changes).map_err(|failure| self.failure(failure))
    }
}
