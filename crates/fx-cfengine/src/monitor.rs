//! Monitor bundles: what they promise, evaluated as they are written; and what a monitor left for the
//! other tools to know.

use std::rc::Rc;

use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::eval::value::{DataType, Value, Variable};
use crate::outcome::Outcome;
use crate::policy::Bundle;
use crate::promise::classes;
use crate::text::{Str, decode, path};

/// What is older is no news, in seconds.
const OLDEST: i64 = 3600;
const LONGEST_VALUE: usize = 255;
/// Larger databases are damage.
const MOST_STATIC: u64 = 1 << 20;
/// The original's numbers of the types.
const TEXT: &str = "0";
const LIST: &str = "3";

impl Context<'_> {
    /// Evaluates common and monitor bundles for one sample, as they are loaded, their sections as
    /// they are written; what is to be measured. Variables have their values since policy was
    /// read, reports are not printed, and classes hold for the sample.
    pub fn evaluate_monitor(&mut self) -> Vec<Rc<Expanded>> {
        let mut promised = Vec::new();
        let policy = Rc::clone(&self.policy);
        self.renew_time();
        let known = self.soft.clone();
        self.pass = 1;
        let is_ours = |bundle: &&Rc<Bundle>| matches!(&*bundle.head.kind, "common" | "monitor");
        for bundle in policy.bundles.iter().filter(is_ours) {
            self.push_bundle(bundle, &[], false);
            for section in &bundle.sections {
                self.note_section(bundle, &section.kind);
                match &*section.kind {
                    "classes" => self.resolve_section(bundle, "classes", &mut classes::keep),
                    "measurements" => {
                        self.resolve_section(bundle, "measurements", &mut |ctx, expanded| {
                            ctx.note_taken("monitor", expanded);
                            promised.push(Rc::clone(expanded));
                            Outcome::Kept
                        });
                    }
                    _ => {}
                }
            }
            self.stack.pop();
            if self.stopped() {
                break;
            }
        }
        self.soft = known;
        self.vars.note_change();
        promised
    }

    /// Takes over what a monitor found, if that is not too old.
    pub(crate) fn discover_monitored(&mut self) {
        let file = path(&format!("{}/env_data", self.config.paths.state));
        let Ok(meta) = self.host().stat(&file) else { return };
        if self.host().now().secs - meta.mtime.secs > OLDEST {
            return;
        }
        let Ok(bytes) = self.host().read_limited(&file, 1 << 20) else { return };
        let label: Rc<[Str]> = Rc::from(["monitoring".into(), "source=environment".into()]);
        let time = crate::clock::format(self, meta.mtime.secs, false, "%a %b %e %H:%M:%S %Y");
        self.vars.put_string("mon", "env_time", time.unwrap_or_default(), &label);
        for line in decode(&bytes).lines().filter(|line| !line.is_empty()) {
            match line.split_once('=') {
                None => self.put_hard(line, &label),
                Some((name, value)) => self.put_monitored(name, value, &label),
            }
        }
        self.discover_static(&label);
    }

    // Texts and lists that were measured: `handle:type` and a value, both as the C language ends
    // them.
    fn discover_static(&mut self, label: &Rc<[Str]>) {
        let file = path(&format!("{}/nova_static.lmdb", self.config.paths.state));
        let Ok(bytes) = self.host().read_limited(&file, MOST_STATIC) else { return };
        for (key, value) in fx_formats::lmdb::read(&bytes).unwrap_or_default().entries {
            let (key, value) = (decode(&key), decode(&value));
            let value = value.trim_end_matches('\0');
            match key.trim_end_matches('\0').rsplit_once(':') {
                Some((name, LIST)) => self.put_monitored(&format!("@{name}"), value, label),
                Some((name, TEXT)) => self.put_monitored(name, value, label),
                _ => {}
            }
        }
    }

    fn put_monitored(&mut self, name: &str, value: &str, label: &Rc<[Str]>) {
        let value = &value[..value.floor_char_boundary(LONGEST_VALUE)];
        let Some(list) = name.strip_prefix('@') else {
            self.vars.put_string("mon", name, value, label);
            return;
        };
        let items = value.trim_matches(['{', '}']).split(',');
        let items = items.map(|item| item.trim().trim_matches(['\'', '"']));
        let items: Vec<Str> = items.filter(|item| !item.is_empty()).map(Into::into).collect();
        let variable = Variable {
            kind: DataType::StringList,
            value: Value::List(items.into()),
            tags: Rc::clone(label),
            comment: None,
        };
        self.vars.assign("mon", list.into(), variable);
    }
}
