//! Math.

use crate::natives::{Native, function};
use crate::object::c;
use crate::value::Value;
use crate::vm::{Args, R, Vm};

fn one(vm: &mut Vm, a: Args, f: fn(f64) -> f64, ok: fn(f64) -> bool) -> R {
    let v = vm.arg(a, 0);
    let x = vm.math_arg(v)?;
    if !ok(x) && !x.is_nan() {
        let class = vm.math_domain_error();
        let name = vm.sym_str(a.name).into_owned();
        return vm.fail(class, format!("Numerical argument is out of domain - {name}"));
    }
    Ok(vm.float(f(x)))
}

/// Lanczos approximation, good to about fifteen digits.
fn gamma(x: f64) -> f64 {
    const G: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x == x.floor() && (1.0..24.0).contains(&x) {
        return (1..x as u64).map(|i| i as f64).product();
    }
    if x < 0.5 {
        return std::f64::consts::PI / ((std::f64::consts::PI * x).sin() * gamma(1.0 - x));
    }
    let x = x - 1.0;
    let t = x + 7.5;
    let s = G.iter().enumerate().skip(1).fold(G[0], |s, (i, g)| s + g / (x + i as f64));
    (2.0 * std::f64::consts::PI).sqrt() * t.powf(x + 0.5) * (-t).exp() * s
}

fn erf(x: f64) -> f64 {
    // Series for small arguments, continued fraction for large ones.
    if x.abs() < 2.5 {
        let (mut sum, mut term) = (x, x);
        for i in 1..200 {
            term *= -x * x / i as f64;
            let add = term / (2 * i + 1) as f64;
            sum += add;
            if add.abs() < 1e-17 * sum.abs() {
                break;
            }
        }
        return 2.0 / std::f64::consts::PI.sqrt() * sum;
    }
    if x < 0.0 { erfc(-x) - 1.0 } else { 1.0 - erfc(x) }
}

fn erfc(x: f64) -> f64 {
    if x < 2.5 {
        return 1.0 - erf(x);
    }
    let mut f = 0.0;
    for i in (1..=80).rev() {
        f = i as f64 / 2.0 / (x + f);
    }
    (-x * x).exp() / std::f64::consts::PI.sqrt() / (x + f)
}

const METHODS: &[Native] = &[
    function("sqrt", 1, 1, |vm, a| one(vm, a, f64::sqrt, |x| x >= 0.0)),
    function("cbrt", 1, 1, |vm, a| one(vm, a, f64::cbrt, |_| true)),
    function("sin", 1, 1, |vm, a| one(vm, a, f64::sin, |_| true)),
    function("cos", 1, 1, |vm, a| one(vm, a, f64::cos, |_| true)),
    function("tan", 1, 1, |vm, a| one(vm, a, f64::tan, |_| true)),
    function("asin", 1, 1, |vm, a| one(vm, a, f64::asin, |x| x.abs() <= 1.0)),
    function("acos", 1, 1, |vm, a| one(vm, a, f64::acos, |x| x.abs() <= 1.0)),
    function("atan", 1, 1, |vm, a| one(vm, a, f64::atan, |_| true)),
    function("sinh", 1, 1, |vm, a| one(vm, a, f64::sinh, |_| true)),
    function("cosh", 1, 1, |vm, a| one(vm, a, f64::cosh, |_| true)),
    function("tanh", 1, 1, |vm, a| one(vm, a, f64::tanh, |_| true)),
    function("asinh", 1, 1, |vm, a| one(vm, a, f64::asinh, |_| true)),
    function("acosh", 1, 1, |vm, a| one(vm, a, f64::acosh, |x| x >= 1.0)),
    function("atanh", 1, 1, |vm, a| one(vm, a, f64::atanh, |x| x.abs() <= 1.0)),
    function("exp", 1, 1, |vm, a| one(vm, a, f64::exp, |_| true)),
    function("erf", 1, 1, |vm, a| one(vm, a, erf, |_| true)),
    function("erfc", 1, 1, |vm, a| one(vm, a, erfc, |_| true)),
    function("gamma", 1, 1, |vm, a| {
        one(
            vm,
            a,
            |x| {
                if x == 0.0 {
                    1.0 / x
                } else if x.is_infinite() {
                    x
                } else {
                    gamma(x)
                }
            },
            |x| !(x < 0.0 && x == x.floor()) && x != f64::NEG_INFINITY,
        )
    }),
    function("lgamma", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        let x = vm.math_arg(v)?;
        if x == f64::NEG_INFINITY {
            let class = vm.math_domain_error();
            return vm.fail(class, "Numerical argument is out of domain - lgamma");
        }
        let (r, sign) = if x == 0.0 {
            (f64::INFINITY, if x.is_sign_negative() { -1 } else { 1 })
        } else if x > 150.0 {
            (
                (x - 0.5) * x.ln() - x + 0.918_938_533_204_672_8 + 1.0 / (12.0 * x)
                    - 1.0 / (360.0 * x * x * x),
                1,
            )
        } else {
            let g = gamma(x);
            (g.abs().ln(), if g < 0.0 { -1 } else { 1 })
        };
        let r = vm.float(r);
        Ok(vm.arr(vec![r, Value::fix(sign)]))
    }),
    function("log", 1, 2, |vm, a| {
        let v = vm.arg(a, 0);
        let big =
            if v.is_big() { vm.big_value(v).bit_length_abs().saturating_sub(1000) } else { 0 };
        let x = if big > 0 { vm.big_value(v).shr(big).to_f64() } else { vm.math_arg(v)? };
        if x < 0.0 {
            let class = vm.math_domain_error();
            return vm.fail(class, "Numerical argument is out of domain - \"log\"");
        }
        let mut r = x.ln() + big as f64 * std::f64::consts::LN_2;
        if let Some(b) = vm.opt(a, 1) {
            let b = vm.math_arg(b)?;
            if b < 0.0 {
                let class = vm.math_domain_error();
                return vm.fail(class, "Numerical argument is out of domain - \"log\"");
            }
            r /= b.ln();
        }
        Ok(vm.float(r))
    }),
    function("atan2", 2, 2, |vm, a| {
        let (y, x) = (vm.arg(a, 0), vm.arg(a, 1));
        let (y, x) = (vm.math_arg(y)?, vm.math_arg(x)?);
        Ok(vm.float(y.atan2(x)))
    }),
    function("hypot", 2, 2, |vm, a| {
        let (y, x) = (vm.arg(a, 0), vm.arg(a, 1));
        let (y, x) = (vm.math_arg(y)?, vm.math_arg(x)?);
        Ok(vm.float(y.hypot(x)))
    }),
    function("ldexp", 2, 2, |vm, a| {
        let (x, e) = (vm.arg(a, 0), vm.arg(a, 1));
        let (x, e) = (vm.math_arg(x)?, vm.to_int(e)?);
        let e = e.clamp(-3000, 3000) as i32;
        Ok(vm.float(x * 2f64.powi(e / 2) * 2f64.powi(e - e / 2)))
    }),
    function("frexp", 1, 1, |vm, a| {
        let x = vm.arg(a, 0);
        let x = vm.math_arg(x)?;
        if x == 0.0 || !x.is_finite() {
            let f = vm.float(x);
            return Ok(vm.arr(vec![f, Value::fix(0)]));
        }
        let mut e = x.abs().log2().floor() as i32 + 1;
        let mut m = x / 2f64.powi(e);
        if m.abs() >= 1.0 {
            m /= 2.0;
            e += 1;
        }
        let f = vm.float(m);
        Ok(vm.arr(vec![f, Value::fix(i64::from(e))]))
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    let m = c::MATH;
    vm.natives(c::MATH, METHODS);
    for (name, f) in [("PI", std::f64::consts::PI), ("E", std::f64::consts::E)] {
        let v = vm.float(f);
        let sym = vm.intern(name);
        vm.const_set(m, sym, v);
    }
    vm.math_domain_error();
    let any: fn(f64) -> bool = |_| true;
    let _ = any;
    for (name, f) in [("log2", f64::log2 as fn(f64) -> f64), ("log10", f64::log10)] {
        let _ = f;
        vm.def_module_function(
            m,
            name,
            |vm, a| {
                let v = vm.arg(a, 0);
                let two = vm.syms.bytes(a.name) == b"log2";
                let big = if v.is_big() {
                    vm.big_value(v).bit_length_abs().saturating_sub(1000)
                } else {
                    0
                };
                let x = if big > 0 { vm.big_value(v).shr(big).to_f64() } else { vm.math_arg(v)? };
                if x < 0.0 {
                    let class = vm.math_domain_error();
                    let name = vm.sym_str(a.name).into_owned();
                    return vm.fail(class, format!("Numerical argument is out of domain - {name}"));
                }
                let r = if two {
                    x.log2() + big as f64
                } else {
                    x.log10() + big as f64 * std::f64::consts::LOG10_2
                };
                Ok(vm.float(r))
            },
            1,
            1,
        );
    }
}
