//! OpenSSL natives: ciphers, RSA and curves over bytes. What an object of OpenSSL is, its
//! names and its DER are in the Ruby texts beside the other libraries.

use fx_crypto::cipher::Cipher;
use fx_crypto::{Random, cms, ec, rsa_key};

use crate::encoding::BINARY;
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{Args, R, Vm};

/// Gives the bytes, or raises `OpenSSL::OpenSSLError` with the reason.
fn give(vm: &mut Vm, result: fx_crypto::Result<Vec<u8>>) -> R {
    match result {
        Ok(bytes) => Ok(vm.str_enc(bytes, BINARY)),
        Err(error) => {
            let module = vm.define_module(c::OBJECT, "OpenSSL");
            let class = vm.define_class(module, "OpenSSLError", c::STANDARD_ERROR);
            vm.fail(class, error.0)
        }
    }
}

fn text(vm: &Vm, a: Args, i: u32) -> String {
    String::from_utf8_lossy(vm.bytes(vm.arg(a, i))).into_owned()
}

fn data(vm: &Vm, a: Args, i: u32) -> Vec<u8> {
    vm.bytes(vm.arg(a, i)).to_vec()
}

/// Runs with random bytes of the host.
fn with_random<T>(vm: &Vm, f: impl FnOnce(Random<'_>) -> T) -> T {
    let host = vm.host.clone();
    f(Random(&mut |buffer| host.random(buffer)))
}

pub(super) fn init(vm: &mut Vm) {
    let m = vm.define_module(c::OBJECT, "OpenSSL");
    vm.def_single(
        m,
        "__ciphers",
        |vm, _| {
            let names: Vec<Value> = fx_crypto::cipher::names().iter().map(|n| vm.str(*n)).collect();
            Ok(vm.arr(names))
        },
        0,
        0,
    );
    vm.def_single(
        m,
        "__cipher",
        |vm, a| {
            let Some(cipher) = Cipher::by_name(&text(vm, a, 0)) else { return Ok(NIL) };
            let name = vm.str(cipher.name);
            let row = vec![
                name,
                Value::fix(cipher.key_len as i64),
                Value::fix(cipher.iv_len as i64),
                Value::fix(cipher.block as i64),
                Value::bool(cipher.authenticated()),
            ];
            Ok(vm.arr(row))
        },
        1,
        1,
    );
    // name, key, iv, text, padded, additional data: text and tag
    vm.def_single(
        m,
        "__encrypt",
        |vm, a| {
            let Some(cipher) = Cipher::by_name(&text(vm, a, 0)) else { return Ok(NIL) };
            let pad = vm.arg(a, 4).truthy();
            let (key, iv, clear, aad) =
                (data(vm, a, 1), data(vm, a, 2), data(vm, a, 3), data(vm, a, 5));
            match cipher.encrypt(&key, &iv, &clear, pad, &aad) {
                Ok((out, tag)) => {
                    let pair = vec![vm.str_enc(out, BINARY), vm.str_enc(tag, BINARY)];
                    Ok(vm.arr(pair))
                }
                Err(error) => give(vm, Err(error)),
            }
        },
        6,
        6,
    );
    // name, key, iv, text, padded, additional data, tag
    vm.def_single(
        m,
        "__decrypt",
        |vm, a| {
            let Some(cipher) = Cipher::by_name(&text(vm, a, 0)) else { return Ok(NIL) };
            let pad = vm.arg(a, 4).truthy();
            let (key, iv, shut) = (data(vm, a, 1), data(vm, a, 2), data(vm, a, 3));
            let out = cipher.decrypt(&key, &iv, &shut, pad, &data(vm, a, 5), &data(vm, a, 6));
            give(vm, out)
        },
        7,
        7,
    );
    rsa(vm, m);
    curves(vm, m);
}

fn rsa(vm: &mut Vm, m: u32) {
    vm.def_single(
        m,
        "__rsa_generate",
        |vm, a| {
            let bits = usize::try_from(vm.arg(a, 0).fixnum().unwrap_or(0)).unwrap_or(0);
            let key = with_random(vm, |random| rsa_key::generate(bits, random));
            give(vm, key)
        },
        1,
        1,
    );
    vm.def_single(
        m,
        "__rsa_sign",
        |vm, a| {
            let (key, hash, digest) = (data(vm, a, 0), text(vm, a, 1), data(vm, a, 2));
            give(vm, rsa_key::sign(&key, &hash, &digest))
        },
        3,
        3,
    );
    vm.def_single(
        m,
        "__rsa_verify",
        |vm, a| {
            let (key, hash) = (data(vm, a, 0), text(vm, a, 1));
            match rsa_key::verify(&key, &hash, &data(vm, a, 2), &data(vm, a, 3)) {
                Ok(good) => Ok(Value::bool(good)),
                Err(error) => give(vm, Err(error)),
            }
        },
        4,
        4,
    );
    vm.def_single(
        m,
        "__rsa_encrypt",
        |vm, a| {
            let (key, clear) = (data(vm, a, 0), data(vm, a, 1));
            let out = with_random(vm, |random| rsa_key::encrypt(&key, &clear, random));
            give(vm, out)
        },
        2,
        2,
    );
    vm.def_single(
        m,
        "__rsa_decrypt",
        |vm, a| {
            let (key, shut) = (data(vm, a, 0), data(vm, a, 1));
            let out = with_random(vm, |random| rsa_key::decrypt(&key, &shut, random));
            give(vm, out)
        },
        2,
        2,
    );
    vm.def_single(
        m,
        "__envelope_open",
        |vm, a| {
            let (envelope, key) = (data(vm, a, 0), data(vm, a, 1));
            let out = with_random(vm, |random| cms::open(&envelope, &key, random));
            give(vm, out)
        },
        2,
        2,
    );
}

fn curves(vm: &mut Vm, m: u32) {
    vm.def_single(
        m,
        "__ec_generate",
        |vm, a| {
            let curve = text(vm, a, 0);
            let out = with_random(vm, |random| ec::generate(&curve, random));
            give(vm, out)
        },
        1,
        1,
    );
    vm.def_single(
        m,
        "__ec_public",
        |vm, a| {
            let out = ec::public(&text(vm, a, 0), &data(vm, a, 1));
            give(vm, out)
        },
        2,
        2,
    );
    vm.def_single(
        m,
        "__ec_sign",
        |vm, a| {
            let out = ec::sign(&text(vm, a, 0), &data(vm, a, 1), &data(vm, a, 2));
            give(vm, out)
        },
        3,
        3,
    );
    vm.def_single(
        m,
        "__ec_verify",
        |vm, a| {
            let good =
                ec::verify(&text(vm, a, 0), &data(vm, a, 1), &data(vm, a, 2), &data(vm, a, 3));
            match good {
                Ok(good) => Ok(Value::bool(good)),
                Err(error) => give(vm, Err(error)),
            }
        },
        4,
        4,
    );
}
