//! Digest natives: md5, sha1 and the sha2 family over whole strings.

use crate::object::c;
use crate::vm::Vm;
use md5::Digest as _;

pub(crate) fn init(vm: &mut Vm) {
    let m = vm.define_module(c::OBJECT, "Digest");
    vm.def_single(
        m,
        "__hash",
        |vm, a| {
            let (name, data) = (vm.arg(a, 0), vm.arg(a, 1));
            let data = vm.bytes(data).to_vec();
            let out: Vec<u8> = match vm.bytes(name) {
                b"MD5" => md5::Md5::digest(&data).to_vec(),
                b"SHA1" => sha1::Sha1::digest(&data).to_vec(),
                b"SHA224" => sha2::Sha224::digest(&data).to_vec(),
                b"SHA256" => sha2::Sha256::digest(&data).to_vec(),
                b"SHA384" => sha2::Sha384::digest(&data).to_vec(),
                _ => sha2::Sha512::digest(&data).to_vec(),
            };
            Ok(vm.str_enc(out, crate::encoding::BINARY))
        },
        2,
        2,
    );
}
