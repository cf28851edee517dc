//! Multiple assignment with targets that are calls: receivers and arguments first, from left to
//! right, then the values, then the assignments. Targets without a call need none of this.

use fx_ruby_syntax::ast::{Call, Multi, N, Target};

use crate::interp::Fp;
use crate::value::{NIL, Value};
use crate::vm::{R, Res, Vm};

/// A target after its own expressions have run.
enum Place {
    Plain(&'static Target),
    /// A call, its receiver and its leading arguments; no receiver if it is skipped by `&.`.
    Call(&'static Call, Option<Value>, Vec<Value>),
    Const(u32, fx_ruby_syntax::Sym),
    Many(Places),
}

struct Places {
    pre: Vec<Place>,
    rest: Rest,
    post: Vec<Place>,
}

enum Rest {
    None,
    /// A splat without a name.
    Nameless,
    Named(Box<Place>),
}

/// Whether the order of evaluation can be seen.
pub(crate) fn multi_calls(multi: &Multi) -> bool {
    let rest = multi.rest.flatten();
    multi.pre.iter().chain(multi.post).chain(rest).any(|target| match target {
        Target::Send(_) | Target::Const(..) => true,
        Target::Multi(inner) => multi_calls(inner),
        _ => false,
    })
}

impl Vm {
    #[inline(never)]
    pub(crate) fn masgn_in_order(&mut self, fp: Fp, node: N, multi: &'static Multi, value: N) -> R {
        // Receivers, arguments and values are on the stack until all is assigned.
        let start = self.stack.len();
        let places = self.places(fp, multi)?;
        let v = self.eval(fp, value)?;
        self.stack.push(v);
        self.set_pos(node.pos);
        self.fill_places(fp, &places, v)?;
        self.stack.truncate(start);
        Ok(v)
    }

    fn places(&mut self, fp: Fp, multi: &'static Multi) -> Res<Places> {
        let mut pre = Vec::with_capacity(multi.pre.len());
        for target in multi.pre {
            pre.push(self.place(fp, target)?);
        }
        let rest = match multi.rest {
            Some(Some(target)) => Rest::Named(Box::new(self.place(fp, target)?)),
            Some(None) => Rest::Nameless,
            None => Rest::None,
        };
        let mut post = Vec::with_capacity(multi.post.len());
        for target in multi.post {
            post.push(self.place(fp, target)?);
        }
        Ok(Places { pre, rest, post })
    }

    fn place(&mut self, fp: Fp, target: &'static Target) -> Res<Place> {
        Ok(match target {
            Target::Send(call) => {
                let recv = match call.recv {
                    Some(node) => self.eval(fp, node)?,
                    None => fp.me,
                };
                if call.safe && recv.is_nil() {
                    return Ok(Place::Call(call, None, Vec::new()));
                }
                self.stack.push(recv);
                let start = self.stack.len();
                self.push_args(fp, &call.args)?;
                let args = self.stack[start..].to_vec();
                Place::Call(call, Some(recv), args)
            }
            Target::Const(scope, name) => Place::Const(self.const_target(fp, scope)?, *name),
            Target::Multi(multi) => Place::Many(self.places(fp, multi)?),
            _ => Place::Plain(target),
        })
    }

    fn fill_places(&mut self, fp: Fp, places: &Places, v: Value) -> Res<()> {
        let items = self.items_of(v)?;
        self.stack.extend_from_slice(&items);
        let get = |i: usize| items.get(i).copied().unwrap_or(NIL);
        for (i, place) in places.pre.iter().enumerate() {
            self.fill_place(fp, place, get(i))?;
        }
        let pre = places.pre.len();
        if let Rest::None = places.rest {
            return Ok(());
        }
        let end = items.len().saturating_sub(places.post.len()).max(pre);
        if let Rest::Named(place) = &places.rest {
            let list = items.get(pre..end.min(items.len())).unwrap_or(&[]).to_vec();
            let list = self.arr(list);
            self.fill_place(fp, place, list)?;
        }
        for (i, place) in places.post.iter().enumerate() {
            self.fill_place(fp, place, get(end + i))?;
        }
        Ok(())
    }

    fn fill_place(&mut self, fp: Fp, place: &Place, v: Value) -> Res<()> {
        match place {
            Place::Plain(target) => self.assign(fp, target, v)?,
            Place::Const(class, name) => self.assign_const(*class, *name, v)?,
            Place::Many(places) => self.fill_places(fp, places, v)?,
            Place::Call(_, None, _) => {}
            Place::Call(call, Some(recv), args) => {
                let start = self.stack.len();
                self.stack.extend_from_slice(args);
                self.stack.push(v);
                self.call_with(fp, call, *recv, start, NIL, false)?;
            }
        }
        Ok(())
    }
}
