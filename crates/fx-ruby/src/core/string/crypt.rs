//! `String#crypt`: passwords hashed as crypt(3) does.

use fx_crypto::password::{self, Refused};

use crate::encoding::BINARY;
use crate::object::c;
use crate::vm::{Args, R, Vm};

pub(super) fn crypt(vm: &mut Vm, a: Args) -> R {
    let v = vm.arg(a, 0);
    let v = vm.to_str(v)?;
    let setting = vm.bytes(v).split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
    if setting.len() < 2 {
        return vm.fail(c::ARGUMENT_ERROR, "salt too short (need >=2 bytes)");
    }
    let text = vm.bytes(a.recv).to_vec();
    if text.contains(&0) {
        return vm.fail(c::ARGUMENT_ERROR, "string contains null byte");
    }
    let hash = match password::crypt(&text, &setting) {
        Ok(hash) => hash,
        // What crypt(3) gives for no hash, which must not equal the setting.
        Err(Refused::Setting) if setting.starts_with(b"*0") => "*1".to_owned(),
        Err(Refused::Setting) => "*0".to_owned(),
        Err(Refused::Method(method)) => {
            let text = format!("String#crypt does not know the method {method}");
            return vm.fail(c::NOT_IMPLEMENTED, text);
        }
    };
    Ok(vm.str_enc(hash.into_bytes(), BINARY))
}
