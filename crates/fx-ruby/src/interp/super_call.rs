//! Calls that belong to the method that runs: `super` and `yield`.

use fx_ruby_syntax::ast::{Blk, Call, Kind, N};

use crate::interp::Fp;
use crate::names as n;
use crate::object::{Body, c};
use crate::value::{NIL, Value};
use crate::vm::{NO_METHOD, R, Vm};

impl Vm {
    pub(crate) fn eval_super(&mut self, fp: Fp, call: &'static Call, implicit: bool, node: N) -> R {
        let frame = self.frames[self.frames.len() - 1];
        self.set_pos(node.pos);
        if frame.method == NO_METHOD {
            return self.fail(c::NO_METHOD, "super called outside of method");
        }
        if implicit && matches!(self.methods[frame.method as usize].body, Body::Proc(_)) {
            return self.fail(
                c::RUNTIME_ERROR,
                "implicit argument passing of super from method defined by define_method() is not supported. Specify all arguments explicitly.",
            );
        }
        // The block stays on the stack below the arguments.
        let held = self.stack.len();
        self.stack.push(NIL);
        let start = held + 1;
        let kw = self.push_args(fp, &call.args)?;
        let (block, made) = match call.args.block() {
            Blk::Code(code) => (self.make_block(fp, code), true),
            Blk::Pass(node) => {
                let v = self.eval(fp, node)?;
                (self.to_block(v)?, false)
            }
            Blk::None => (frame.block, false),
        };
        self.stack[held] = block;
        self.set_pos(node.pos);
        let method = self.methods[frame.method as usize];
        let class = self.class_of(fp.me);
        let name = method.orig;
        // One block may be the body of several methods, each with its own way up.
        let shared = matches!(method.body, Body::Proc(_));
        let found = if !shared
            && call.c_class.get() == class
            && call.c_epoch.get() == self.epoch
            && call.c_meth.get() != NO_METHOD
        {
            Some(call.c_meth.get())
        } else {
            let found = self.find_super(class, frame.owner, name);
            call.c_class.set(class);
            call.c_epoch.set(self.epoch);
            call.c_meth.set(found.unwrap_or(NO_METHOD));
            found
        };
        let result = match found {
            Some(id) => self.invoke(id, fp.me, name, start, block, kw),
            None => {
                let mm = self.find_method(class, n::METHOD_MISSING);
                match mm {
                    Some(id) if !matches!(self.methods[id as usize].body, Body::Native(..)) => {
                        self.stack.insert(start, Value::sym(name));
                        self.invoke(id, fp.me, n::METHOD_MISSING, start, block, kw)
                    }
                    _ => {
                        let quoted = self.quoted_sym(name);
                        let what = self.describe(fp.me)?;
                        let message = format!("super: no superclass method {quoted} for {what}");
                        let e = self.name_error(c::NO_METHOD, &message, name, fp.me)?;
                        self.throw(e)
                    }
                }
            }
        };
        let result = if made {
            let tag = self.heap.procs[block.index()].tag;
            self.finish_block(result, block, tag)
        } else {
            result
        };
        if result.is_ok() {
            self.stack.truncate(held);
        }
        result
    }

    #[inline(never)]
    pub(crate) fn eval_yield(&mut self, fp: Fp, node: N) -> R {
        let Kind::Yield(args) = &node.kind else { return Ok(NIL) };
        self.set_pos(node.pos);
        let block = self.frames[self.frames.len() - 1].block;
        if block.is_nil() {
            return self.jump_error("no block given (yield)", "noreason", NIL);
        }
        let start = self.stack.len();
        let kw = if args.simple {
            for node in args.pos {
                let v = self.quick_step(fp, node)?;
                self.stack.push(v);
            }
            false
        } else {
            self.push_args(fp, args)?
        };
        let result = self.call_block(block, start, kw, NIL);
        self.stack.truncate(start);
        result
    }
}
