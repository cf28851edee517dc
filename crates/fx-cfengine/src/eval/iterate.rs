//! Implicit iteration: every list or container named by `$(x)` in a promise is a wheel,
//! the rightmost turns fastest, and a wheel that depends on others is read anew for each.

use std::rc::Rc;

use crate::policy::{Head, Rval};
use crate::text::Str;

use super::expand::{next_reference, reference_end};
use super::value::{DataType, Value, Variable};
use super::vars::Found;
use super::{Context, log};

/// Most combinations one promise may run through.
const MAX_ITERATIONS: u64 = 20_000_000;

struct Wheel {
    /// The reference, with references inside unexpanded.
    name: Str,
    expanded: Option<Str>,
    state: WheelState,
    at: usize,
}

enum WheelState {
    Unresolved,
    /// Stands for one value; nothing to turn.
    Single,
    Values(Rc<[Str]>),
}

/// The wheels of one promise.
pub(crate) struct Wheels {
    head: Rc<Head>,
    wheels: Vec<Wheel>,
    count: u64,
}

fn is_special(name: &str) -> bool {
    matches!(name, "this" | "this.k" | "this.v" | "this.k[1]" | "this.this")
}

impl Wheels {
    pub(crate) fn new(head: Rc<Head>) -> Wheels {
        Wheels { head, wheels: Vec::new(), count: 0 }
    }

    /// Finds the wheels in a right-hand side.
    pub(crate) fn scan(&mut self, ctx: &Context<'_>, rval: &Rval) {
        match rval {
            Rval::Scalar(text) => self.scan_text(ctx, text),
            Rval::List(items) => {
                for item in items.iter() {
                    self.scan(ctx, item);
                }
            }
            Rval::Call(call) => {
                self.scan_text(ctx, &call.name);
                if !matches!(&*call.name, "maplist" | "mapdata" | "maparray") {
                    for arg in &call.args {
                        self.scan(ctx, arg);
                    }
                }
            }
            Rval::Data(_) | Rval::None => {}
        }
    }

    /// Finds the wheels in a text, inner references before outer ones.
    pub(crate) fn scan_text(&mut self, ctx: &Context<'_>, text: &str) {
        let bytes = text.as_bytes();
        let mut from = 0;
        while let Some(at) = next_reference(bytes, from) {
            let Some(end) = reference_end(&bytes[at..]) else {
                from = at + 2;
                continue;
            };
            let inner = &text[at + 2..at + end];
            self.scan_text(ctx, inner);
            if !inner.is_empty()
                && self.is_wheel(ctx, inner)
                && !self.wheels.iter().any(|wheel| &*wheel.name == inner)
            {
                self.wheels.push(Wheel {
                    name: inner.into(),
                    expanded: None,
                    state: WheelState::Unresolved,
                    at: 0,
                });
            }
            from = at + end + 1;
        }
    }

    fn is_wheel(&self, ctx: &Context<'_>, name: &str) -> bool {
        next_reference(name.as_bytes(), 0).is_some()
            || ctx.lookup_from(name, &self.head).is_some_and(Found::iterates)
            || is_special(name)
    }

    /// Turns to the next combination; false when all have been.
    pub(crate) fn next(&mut self, ctx: &mut Context<'_>) -> bool {
        if self.wheels.is_empty() {
            self.count += 1;
            return self.count == 1;
        }
        let mut ready = false;
        if self.count == 0 {
            self.set_from(ctx, 0);
            ready = !self.has_empty();
            if self.too_many(ctx) {
                return false;
            }
        }
        while !ready {
            let Some(turned) = self.turn() else { return false };
            self.put_current(ctx, turned);
            self.set_from(ctx, turned + 1);
            ready = !self.has_empty();
            self.count += 1;
            if self.count > MAX_ITERATIONS {
                ctx.fatal("too many iterations in one promise");
                return false;
            }
        }
        self.count += 1;
        true
    }

    // Lists multiply: what would not end in a day is refused before it begins.
    fn too_many(&self, ctx: &mut Context<'_>) -> bool {
        let lengths = self.wheels.iter().map(|wheel| match &wheel.state {
            WheelState::Values(values) => values.len() as u64,
            _ => 1,
        });
        let product = lengths.fold(1_u64, u64::saturating_mul);
        if product <= MAX_ITERATIONS {
            return false;
        }
        let names: Vec<String> =
            self.wheels.iter().map(|wheel| format!("$({})", wheel.name)).collect();
        ctx.fatal(&format!(
            "too many iterations in one promise: {} have {product} combinations, at most {MAX_ITERATIONS} are tried",
            names.join(", ")
        ));
        true
    }

    // Resets the wheels from `first` on, reading again those whose name now expands otherwise.
    fn set_from(&mut self, ctx: &mut Context<'_>, first: usize) {
        for index in first..self.wheels.len() {
            let name = Rc::clone(&self.wheels[index].name);
            let expanded = ctx.expand(&name, Some(&self.head.namespace), None);
            let wheel = &mut self.wheels[index];
            wheel.at = 0;
            if wheel.expanded.as_ref() != Some(&expanded) {
                wheel.expanded = Some(Rc::clone(&expanded));
                let value = ctx
                    .lookup_from(&expanded, &self.head)
                    .or_else(|| ctx.lookup(&expanded, None, None))
                    .map(Found::value);
                wheel.state = match value {
                    None => WheelState::Unresolved,
                    Some(value) => match value.iterate() {
                        None => WheelState::Single,
                        Some(values) => {
                            if values.is_empty() {
                                log!(
                                    ctx,
                                    Verbose,
                                    "Skipping iteration since variable '{expanded}' resolves to an empty list"
                                );
                            }
                            WheelState::Values(values)
                        }
                    },
                };
            }
            self.put_current(ctx, index);
        }
    }

    fn put_current(&self, ctx: &mut Context<'_>, index: usize) {
        let wheel = &self.wheels[index];
        let (WheelState::Values(values), Some(name)) = (&wheel.state, &wheel.expanded) else {
            return;
        };
        let Some(value) = values.get(wheel.at) else { return };
        let qualified = name[..name.find('[').unwrap_or(name.len())].contains(['.', ':']);
        let Some(frame) = ctx.promise_frame_mut() else { return };
        if qualified {
            match frame.qualified.iter_mut().find(|(known, _)| known == name) {
                Some((_, old)) => *old = Rc::clone(value),
                None => frame.qualified.push((Rc::clone(name), Rc::clone(value))),
            }
        } else if let Some(old) = frame.vars.vars.get_mut(name) {
            old.value = Value::Scalar(Rc::clone(value));
        } else {
            let variable = Variable {
                kind: DataType::String,
                value: Value::Scalar(Rc::clone(value)),
                tags: Rc::from([]),
                comment: None,
            };
            frame.vars.put(Rc::clone(name), variable);
        }
    }

    fn has_empty(&self) -> bool {
        for wheel in &self.wheels {
            if is_special(&wheel.name) {
                return false;
            }
            match &wheel.state {
                WheelState::Unresolved => return true,
                WheelState::Values(values) if values.is_empty() => return true,
                _ => {}
            }
        }
        false
    }

    // The rightmost wheel that has a value left, one further.
    fn turn(&mut self) -> Option<usize> {
        for (index, wheel) in self.wheels.iter_mut().enumerate().rev() {
            wheel.at += 1;
            if let WheelState::Values(values) = &wheel.state
                && wheel.at < values.len()
            {
                return Some(index);
            }
        }
        None
    }
}
