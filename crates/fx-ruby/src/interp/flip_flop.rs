//! The flip-flop: a condition that is on from one test to another.

use fx_ruby_syntax::ast::N;

use crate::interp::Fp;
use crate::value::{FALSE, TRUE};
use crate::vm::{R, Vm};

impl Vm {
    /// Its state belongs to the run of the method around it, and outlives the blocks within.
    pub(crate) fn flip_flop(&mut self, fp: Fp, node: N, lo: N, hi: N, excl: bool) -> R {
        let home = self.frames.last().map_or(0, |f| f.home);
        let key = (home, std::ptr::from_ref(node) as usize);
        if !self.flipped.contains(&key) {
            if !self.eval(fp, lo)?.truthy() {
                return Ok(FALSE);
            }
            if excl || !self.eval(fp, hi)?.truthy() {
                self.flipped.insert(key);
            }
            return Ok(TRUE);
        }
        if self.eval(fp, hi)?.truthy() {
            self.flipped.remove(&key);
        }
        Ok(TRUE)
    }
}
