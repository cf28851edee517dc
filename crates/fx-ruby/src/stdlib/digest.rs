//! Digest natives: md5, sha1 and the sha2 family over whole strings, plain, keyed, and
//! repeated into a key.

use crate::object::c;
use crate::value::NIL;
use crate::vm::Vm;
use hmac::{Hmac, KeyInit, Mac};
use md5::Digest as _;

/// Most bytes of a key that is made of a password.
const LONGEST_KEY: usize = 1 << 26;

/// Runs an expression with `D` as the digest of a name.
macro_rules! with_digest {
    ($name:expr, $run:expr) => {
        with_digest!($name, $run,
            b"MD5" => md5::Md5, b"SHA1" => sha1::Sha1, b"SHA224" => sha2::Sha224,
            b"SHA256" => sha2::Sha256, b"SHA384" => sha2::Sha384, _ => sha2::Sha512)
    };
    ($name:expr, $run:expr, $($known:pat => $digest:ty),*) => {
        match $name {
            $($known => {
                type D = $digest;
                $run
            })*
        }
    };
}

pub(crate) fn init(vm: &mut Vm) {
    let m = vm.define_module(c::OBJECT, "Digest");
    vm.def_single(
        m,
        "__hash",
        |vm, a| {
            let (name, data) = (vm.arg(a, 0), vm.arg(a, 1));
            let data = vm.bytes(data).to_vec();
            let out = with_digest!(vm.bytes(name), D::digest(&data).to_vec());
            Ok(vm.str_enc(out, crate::encoding::BINARY))
        },
        2,
        2,
    );
    vm.def_single(
        m,
        "__hmac",
        |vm, a| {
            let [name, key, data] = [0, 1, 2].map(|at| vm.bytes(vm.arg(a, at)));
            let out = with_digest!(name, {
                let keyed = Hmac::<D>::new_from_slice(key);
                keyed.map(|keyed| keyed.chain_update(data).finalize().into_bytes().to_vec())
            });
            match out {
                Ok(out) => Ok(vm.str_enc(out, crate::encoding::BINARY)),
                Err(error) => vm.arg_error(error.to_string()),
            }
        },
        3,
        3,
    );
    // digest, password, salt, rounds, length: the key, nothing where no key can be made
    vm.def_single(
        m,
        "__pbkdf2",
        |vm, a| {
            let [rounds, length] = [3, 4].map(|at| vm.arg(a, at).fixnum().unwrap_or(0));
            let (Ok(rounds), Ok(length)) = (u32::try_from(rounds), usize::try_from(length)) else {
                return Ok(NIL);
            };
            if rounds == 0 || length > LONGEST_KEY {
                return Ok(NIL);
            }
            let mut out = vec![0; length];
            let [name, password, salt] = [0, 1, 2].map(|at| vm.bytes(vm.arg(a, at)));
            with_digest!(name, pbkdf2::pbkdf2_hmac::<D>(password, salt, rounds, &mut out));
            Ok(vm.str_enc(out, crate::encoding::BINARY))
        },
        5,
        5,
    );
}
