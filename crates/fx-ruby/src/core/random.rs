//! Random numbers: the Mersenne Twister that Ruby uses, so that seeds mean the same.

use crate::heap::Ext;
use crate::natives::{Native, on_class, private, public};
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{Args, R, Res, Vm};

#[derive(Clone)]
pub struct Mt {
    state: Vec<u32>,
    at: usize,
    pub seed: u64,
}

impl Mt {
    pub fn new(seed: u64) -> Mt {
        if seed >> 32 == 0 {
            Mt::of_words(&[seed as u32], seed)
        } else {
            Mt::of_words(&[seed as u32, (seed >> 32) as u32], seed)
        }
    }

    /// A generator from a seed of any length, least significant word first.
    pub fn of_words(key: &[u32], seed: u64) -> Mt {
        // The original takes a highest word of one for padding and leaves it out.
        let key = match key {
            [rest @ .., 1] if !rest.is_empty() => rest,
            key => key,
        };
        let mut mt = Mt { state: vec![0; 624], at: 624, seed };
        if let [word] = key {
            mt.init(*word);
            return mt;
        }
        mt.init(19_650_218);
        let (mut i, mut j) = (1, 0);
        for _ in 0..624.max(key.len()) {
            let prev = mt.state[i - 1];
            mt.state[i] = (mt.state[i] ^ ((prev ^ (prev >> 30)).wrapping_mul(1_664_525)))
                .wrapping_add(key[j])
                .wrapping_add(j as u32);
            i += 1;
            j += 1;
            if i >= 624 {
                mt.state[0] = mt.state[623];
                i = 1;
            }
            if j >= key.len() {
                j = 0;
            }
        }
        for _ in 0..623 {
            let prev = mt.state[i - 1];
            mt.state[i] = (mt.state[i] ^ ((prev ^ (prev >> 30)).wrapping_mul(1_566_083_941)))
                .wrapping_sub(i as u32);
            i += 1;
            if i >= 624 {
                mt.state[0] = mt.state[623];
                i = 1;
            }
        }
        mt.state[0] = 0x8000_0000;
        mt
    }

    fn init(&mut self, seed: u32) {
        self.state[0] = seed;
        for i in 1..624 {
            let prev = self.state[i - 1];
            self.state[i] =
                1_812_433_253u32.wrapping_mul(prev ^ (prev >> 30)).wrapping_add(i as u32);
        }
        self.at = 624;
    }

    pub fn next32(&mut self) -> u32 {
        if self.at >= 624 {
            for i in 0..624 {
                let y = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % 624] & 0x7fff_ffff);
                let mut v = self.state[(i + 397) % 624] ^ (y >> 1);
                if y & 1 == 1 {
                    v ^= 0x9908_b0df;
                }
                self.state[i] = v;
            }
            self.at = 0;
        }
        let mut y = self.state[self.at];
        self.at += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    pub fn float(&mut self) -> f64 {
        let (a, b) = (self.next32() >> 5, self.next32() >> 6);
        (f64::from(a) * 67_108_864.0 + f64::from(b)) / 9_007_199_254_740_992.0
    }

    /// A number from 0 to `limit` inclusive, the way Ruby draws it.
    pub fn limited(&mut self, limit: u64) -> u64 {
        if limit == 0 {
            return 0;
        }
        let mask = u64::MAX >> limit.leading_zeros();
        'again: loop {
            let mut val = 0u64;
            for i in (0..2).rev() {
                if (mask >> (i * 32)) & 0xffff_ffff != 0 {
                    val |= u64::from(self.next32()) << (i * 32);
                    val &= mask;
                    if limit < val {
                        continue 'again;
                    }
                }
            }
            return val;
        }
    }
}

fn draw(vm: &mut Vm, arg: Option<Value>, gen_: &mut Mt, strict: bool) -> R {
    let Some(v) = arg.filter(|v| !v.is_nil()) else {
        let f = gen_.float();
        return Ok(vm.float(f));
    };
    if v.is_float() && strict {
        let f = vm.heap.float_of(v);
        if f <= 0.0 || !f.is_finite() {
            let t = vm.inspect_string(v)?;
            return if f.is_finite() {
                vm.arg_error(format!("invalid argument - {t}"))
            } else {
                vm.errno("EDOM", "")
            };
        }
        let r = gen_.float() * f;
        return Ok(vm.float(r));
    }
    if v.is_range() {
        let r = vm.heap.rng(v);
        let (lo, hi, excl) = (r.lo, r.hi, r.excl);
        if lo.is_float() || hi.is_float() {
            let (x, y) = (vm.to_f(lo)?, vm.to_f(hi)?);
            let f = gen_.float();
            return Ok(vm.float(x + f * (y - x)));
        }
        if lo.is_nil() || hi.is_nil() {
            return vm.errno("EDOM", "");
        }
        let (x, y) = (vm.to_int(lo)?, vm.to_int(hi)?);
        let y = if excl { y - 1 } else { y };
        if y < x {
            if strict {
                let t = vm.inspect_string(v)?;
                return vm.arg_error(format!("invalid argument - {t}"));
            }
            return Ok(NIL);
        }
        return Ok(vm.int128(i128::from(x) + i128::from(gen_.limited((y - x) as u64))));
    }
    let i = vm.to_int_value(v)?;
    let Some(n) = i.fixnum() else {
        let bits = vm.heap.big_of(i).bit_length_abs();
        let mut out = crate::bignum::Big::default();
        for _ in 0..=(bits / 32) {
            out = out.shl(32).add(&crate::bignum::Big::from_i64(i64::from(gen_.next32())));
        }
        let r = out.divmod(vm.heap.big_of(i)).1;
        return Ok(vm.heap.big(r));
    };
    if strict && n <= 0 {
        return vm.arg_error(format!("invalid argument - {n}"));
    }
    let n = n.unsigned_abs();
    if n == 0 {
        let f = gen_.float();
        return Ok(vm.float(f));
    }
    Ok(Value::fix(gen_.limited(n - 1) as i64))
}

pub(crate) fn rand(vm: &mut Vm, a: Args) -> R {
    let mut g = std::mem::replace(&mut vm.rng, Mt::new(0));
    let arg = vm.opt(a, 0).filter(|v| *v != crate::value::FALSE);
    let r = draw(vm, arg, &mut g, false);
    vm.rng = g;
    r
}

pub(crate) fn srand(vm: &mut Vm, a: Args) -> R {
    let old = vm.rng.seed;
    let seed = match vm.opt(a, 0) {
        Some(v) => seed_of(vm, v)?,
        None => vm.fresh_seed(),
    };
    vm.rng = Mt::new(seed);
    Ok(vm.int128(i128::from(old)))
}

fn seed_of(vm: &mut Vm, v: Value) -> Res<u64> {
    let i = vm.to_int_value(v)?;
    Ok(match i.fixnum() {
        Some(i) => i.unsigned_abs(),
        None => {
            vm.heap.big_of(i).digits.iter().take(2).rev().fold(0, |a, d| a << 32 | u64::from(*d))
        }
    })
}

impl Vm {
    pub(crate) fn fresh_seed(&mut self) -> u64 {
        let t = self.host.now();
        (t.secs as u64).wrapping_mul(1_000_003) ^ u64::from(t.nanos) << 20 ^ self.serial
    }

    /// Bytes for SecureRandom, from the kernel.
    pub(crate) fn random_bytes(&mut self, n: usize) -> Vec<u8> {
        let mut out = vec![0; n];
        self.host.random(&mut out);
        out
    }
}

/// Generators of Random objects live in a table keyed by the object's variable.
const METHODS: &[Native] = &[
    private("initialize", 0, 1, |vm, a| {
        let seed = match vm.opt(a, 0) {
            Some(v) => v,
            None => {
                let s = vm.fresh_seed();
                vm.int128(i128::from(s))
            }
        };
        let iv = vm.intern("@__seed");
        let seed = vm.to_int_value(seed)?;
        vm.ivar_set(a.recv, iv, seed);
        let s = seed_of(vm, seed)?;
        let mt = if seed.is_big() && vm.heap.big_of(seed).digits.len() > 2 {
            Mt::of_words(&vm.heap.big_of(seed).digits.clone(), s)
        } else {
            Mt::new(s)
        };
        save(vm, a.recv, &mt);
        Ok(NIL)
    }),
    public("seed", 0, 0, |vm, a| {
        let iv = vm.intern("@__seed");
        Ok(vm.ivar_get(a.recv, iv).unwrap_or(NIL))
    }),
    public("rand", 0, 1, |vm, a| {
        let mut g = load(vm, a.recv);
        let arg = vm.opt(a, 0);
        if arg == Some(NIL) {
            return vm.arg_error("invalid argument - nil");
        }
        let v = draw(vm, arg, &mut g, true);
        save(vm, a.recv, &g);
        v
    }),
    public("bytes", 1, 1, |vm, a| {
        let n = vm.arg(a, 0);
        let n = vm.to_int(n)?.max(0) as usize;
        vm.reserve(n)?;
        let mut g = load(vm, a.recv);
        let mut out = Vec::with_capacity(n + 4);
        while out.len() < n {
            out.extend_from_slice(&g.next32().to_le_bytes());
        }
        out.truncate(n);
        save(vm, a.recv, &g);
        Ok(vm.str_enc(out, crate::encoding::BINARY))
    }),
    public("==", 1, 1, |vm, a| {
        let o = vm.arg(a, 0);
        if !vm.is_a(o, c::RANDOM) {
            return Ok(Value::bool(false));
        }
        let (x, y) = (load(vm, a.recv), load(vm, o));
        Ok(Value::bool(x.state == y.state && x.at == y.at))
    }),
    on_class("rand", 0, 1, |vm, a| {
        let mut g = std::mem::replace(&mut vm.rng, Mt::new(0));
        let arg = vm.opt(a, 0);
        let v = draw(vm, arg, &mut g, true);
        vm.rng = g;
        v
    }),
    on_class("srand", 0, 1, srand),
    on_class("new_seed", 0, 0, |vm, _| {
        let s = vm.random_bytes(16);
        let mut big = crate::bignum::Big::default();
        for b in s {
            big = big.shl(8).add(&crate::bignum::Big::from_i64(i64::from(b)));
        }
        Ok(vm.heap.big(big))
    }),
    on_class("seed", 0, 0, |vm, _| {
        let s = vm.rng.seed;
        Ok(vm.int128(i128::from(s)))
    }),
    on_class("urandom", 1, 1, |vm, a| {
        let n = vm.arg(a, 0);
        let n = vm.to_int(n)?.max(0) as usize;
        vm.reserve(n)?;
        let b = vm.random_bytes(n);
        Ok(vm.str_enc(b, crate::encoding::BINARY))
    })
    .also(&["bytes"]),
];

pub(crate) fn init(vm: &mut Vm) {
    vm.natives(c::RANDOM, METHODS);
    let _ = Ext::None;
}

fn save(vm: &mut Vm, v: Value, mt: &Mt) {
    let mut bytes = Vec::with_capacity(2512);
    for s in &mt.state {
        bytes.extend_from_slice(&s.to_le_bytes());
    }
    bytes.extend_from_slice(&(mt.at as u32).to_le_bytes());
    let iv = vm.intern("@__state");
    match vm.ivar_get(v, iv) {
        Some(s) if s.is_str() => vm.heap.str_mut(s).bytes = bytes.into(),
        _ => {
            let s = vm.str_enc(bytes, crate::encoding::BINARY);
            vm.ivar_set(v, iv, s);
        }
    }
}

fn load(vm: &mut Vm, v: Value) -> Mt {
    let iv = vm.intern("@__state");
    let Some(s) = vm.ivar_get(v, iv) else { return Mt::new(0) };
    let words: Vec<u32> =
        vm.bytes(s).chunks(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
    Mt { state: words[..624].to_vec(), at: words[624] as usize, seed: 0 }
}
