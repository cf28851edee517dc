//! Monitor bundles: what they promise, evaluated in their order; and what a monitor left for the
//! other tools to know.

use std::rc::Rc;

use crate::eval::Context;
use crate::eval::promise::Expanded;
use crate::eval::value::{DataType, Value, Variable};
use crate::outcome::Outcome;
use crate::promise::{classes, vars};
use crate::text::{Str, decode, path};

/// Normal order of a monitor bundle. The original takes sections as they are written.
const ORDER: &[&str] = &["vars", "classes", "measurements", "reports"];
/// What is older is no news, in seconds.
const OLDEST: i64 = 3600;
const LONGEST_VALUE: usize = 255;

impl Context<'_> {
    /// Evaluates common bundles, then monitor bundles; what is to be measured.
    pub fn evaluate_monitor(&mut self) -> Vec<Rc<Expanded>> {
        let mut promised = Vec::new();
        let policy = Rc::clone(&self.policy);
        self.pass = 1;
        for kind in ["common", "monitor"] {
            for bundle in policy.bundles.iter().filter(|bundle| &*bundle.head.kind == kind) {
                self.push_bundle(bundle, &[], false);
                for section in ORDER {
                    match *section {
                        "vars" => self.resolve_section(bundle, section, &mut vars::keep),
                        "classes" => self.resolve_section(bundle, section, &mut classes::keep),
                        "measurements" => {
                            self.resolve_section(bundle, section, &mut |_, expanded| {
                                promised.push(Rc::clone(expanded));
                                Outcome::Kept
                            });
                        }
                        // The original prints none of them.
                        _ => {}
                    }
                }
                self.stack.pop();
                if self.stopped() {
                    return promised;
                }
            }
        }
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
