//! File, Dir and FileTest: questions and changes that go to the host. The rest is in `prelude/file.rb` and `prelude/dir.rb`.

use fx_host::{Access, InPlace, Opening};

use crate::interp::to_path;
use crate::natives::{Native, on_class};
use crate::object::c;
use crate::value::{NIL, Value};
use crate::vm::{Args, R, Res, Vm};

pub(crate) fn dirname(p: &[u8]) -> Vec<u8> {
    let t: &[u8] = {
        let mut t = p;
        while t.len() > 1 && t.ends_with(b"/") {
            t = &t[..t.len() - 1]
        }
        t
    };
    match t.iter().rposition(|b| *b == b'/') {
        None => b".".to_vec(),
        Some(i) => {
            let mut t = &t[..i];
            while t.ends_with(b"/") {
                t = &t[..t.len() - 1]
            }
            if t.is_empty() { b"/".to_vec() } else { t.to_vec() }
        }
    }
}

impl Vm {
    pub(crate) fn getcwd(&mut self) -> Vec<u8> {
        use std::os::unix::ffi::OsStringExt;
        if self.cwd.is_none() {
            self.cwd = Some(self.host.cwd().into_os_string().into_vec())
        }
        self.cwd.clone().unwrap_or_default()
    }
    /// A path made absolute and free of `.` and `..`, without asking the disk.
    pub(crate) fn absolute(&mut self, p: &[u8]) -> Vec<u8> {
        let mut full = if p.starts_with(b"/") {
            Vec::new()
        } else {
            let mut c = self.getcwd();
            c.push(b'/');
            c
        };
        full.extend_from_slice(p);
        let mut parts: Vec<&[u8]> = Vec::new();
        for part in full.split(|b| *b == b'/') {
            match part {
                b"" | b"." => {}
                b".." => {
                    parts.pop();
                }
                p => parts.push(p),
            }
        }
        let mut out = Vec::new();
        for p in parts {
            out.push(b'/');
            out.extend_from_slice(p)
        }
        if out.is_empty() {
            out.push(b'/')
        }
        out
    }
    fn path_at(&mut self, a: Args, i: u32) -> Res<(std::path::PathBuf, String)> {
        let v = self.arg(a, i);
        let p = self.to_path(v)?;
        let shown = String::from_utf8_lossy(&p).into_owned();
        self.write_back();
        if p.is_empty() {
            return Ok((std::path::PathBuf::new(), shown));
        }
        let full = self.absolute(&p);
        // A trailing slash asks for a directory.
        Ok((to_path(&full), shown))
    }
}

fn done(vm: &mut Vm, r: fx_host::Result<()>, what: &str) -> R {
    match r {
        Ok(()) => Ok(Value::fix(0)),
        Err(e) => vm.host_error(&e, what),
    }
}

/// As [`done`] for two paths: of a name that is taken only that name is shown.
fn done_two(vm: &mut Vm, r: fx_host::Result<()>, call: &str, from: &str, to: &str) -> R {
    match r {
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
            vm.host_error(&e, &format!("syserr_fail2_in - {to}"))
        }
        r => done(vm, r, &format!("{call} - ({from}, {to})")),
    }
}

/// Changes what a path leads to, links followed by the host's rules.
fn behind(
    vm: &Vm,
    path: &std::path::Path,
    access: Access,
    change: impl FnOnce(&dyn InPlace) -> fx_host::Result<()>,
) -> fx_host::Result<()> {
    let file = vm.host.open_in_place(path, &Opening::of(access))?;
    change(&*file)
}

fn chown(vm: &mut Vm, a: Args) -> R {
    let (p, shown) = vm.path_at(a, 0)?;
    let (u, g) = (vm.arg(a, 1), vm.arg(a, 2));
    let f = |vm: &mut Vm, v: Value| -> Res<Option<u32>> {
        if v.is_nil() {
            return Ok(None);
        }
        let i = vm.to_int(v)?;
        Ok(if i < 0 { None } else { Some(i as u32) })
    };
    let (u, g) = (f(vm, u)?, f(vm, g)?);
    let r = if vm.syms.bytes(a.name) == b"__lchown" {
        vm.host.set_owner(&p, u, g)
    } else {
        behind(vm, &p, Access::Attributes, |file| file.set_owner(u, g))
    };
    done(vm, r, &format!("apply2files - {shown}"))
}

fn utime(vm: &mut Vm, a: Args) -> R {
    let (p, shown) = vm.path_at(a, 0)?;
    let mut t = [0i64; 4];
    for (i, slot) in t.iter_mut().enumerate() {
        let v = vm.arg(a, i as u32 + 1);
        *slot = vm.to_int(v)?
    }
    let atime = Some(fx_host::Time { secs: t[0], nanos: t[1] as u32 });
    let mtime = Some(fx_host::Time { secs: t[2], nanos: t[3] as u32 });
    let r = if vm.syms.bytes(a.name) == b"__lutime" {
        vm.host.set_times(&p, atime, mtime)
    } else {
        behind(vm, &p, Access::Attributes, |file| file.set_times(atime, mtime))
    };
    done(vm, r, &format!("apply2files - {shown}"))
}

/// What a path is; nil where there is nothing. That a look is refused is nil as well, unless the
/// name of the call is given, which then raises.
fn stat(vm: &mut Vm, a: Args, follow: bool) -> R {
    let (p, shown) = vm.path_at(a, 0)?;
    let call = match vm.opt_nil(a, 1) {
        Some(call) => Some(vm.to_s(call)?),
        None => None,
    };
    if p.as_os_str().is_empty() {
        return Ok(NIL);
    }
    vm.file_read(std::os::unix::ffi::OsStrExt::as_bytes(p.as_os_str()));
    let r = if follow { vm.host.stat_opt(&p) } else { vm.host.lstat_opt(&p) };
    let m = match r {
        Ok(Some(m)) => m,
        Ok(None) => return Ok(NIL),
        Err(e) => {
            let refused = e.kind() == std::io::ErrorKind::PermissionDenied || e.errno() == Some(40);
            return match call {
                None if refused => Ok(NIL),
                None => vm.host_error(&e, &shown),
                Some(call) => vm.host_error(&e, &format!("{call} - {shown}")),
            };
        }
    };
    if shown.ends_with('/') && m.kind != fx_host::Kind::Directory {
        return Ok(NIL);
    }
    let kind = m.kind.word();
    let kind = vm.str_static(kind);
    let mut l = vec![kind];
    for i in [
        i64::from(m.mode | m.kind.bits()),
        i64::from(m.uid),
        i64::from(m.gid),
        m.size as i64,
        m.dev as i64,
        m.ino as i64,
        m.nlink as i64,
        m.rdev as i64,
        m.blocks as i64,
        m.atime.secs,
        i64::from(m.atime.nanos),
        m.mtime.secs,
        i64::from(m.mtime.nanos),
        m.ctime.secs,
        i64::from(m.ctime.nanos),
    ] {
        l.push(vm.int(i))
    }
    Ok(vm.arr(l))
}

const FILE_METHODS: &[Native] = &[
    on_class("__stat", 1, 2, |vm, a| stat(vm, a, true)),
    on_class("__lstat", 1, 2, |vm, a| stat(vm, a, false)),
    on_class("__read", 1, 1, |vm, a| {
        let (p, shown) = vm.path_at(a, 0)?;
        if p.as_os_str().is_empty() {
            return vm.errno("ENOENT", "rb_sysopen - ");
        }
        let b = std::os::unix::ffi::OsStrExt::as_bytes(p.as_os_str()).to_vec();
        vm.file_read(&b);
        match vm.host.stat_opt(&p) {
            Ok(Some(m)) if m.kind == fx_host::Kind::Directory => {
                return vm.errno("EISDIR", &format!("io_fread - {shown}"));
            }
            _ => {}
        }
        match vm.host.read(&p) {
            Ok(d) => {
                vm.reserve(d.len())?;
                Ok(vm.str(d))
            }
            Err(e) => vm.host_error(&e, &format!("rb_sysopen - {shown}")),
        }
    }),
    on_class("__absolute", 1, 1, |vm, a| {
        let v = vm.arg(a, 0);
        let p = vm.bytes(v).to_vec();
        let p = vm.absolute(&p);
        Ok(vm.str(p))
    }),
    on_class("__unlink", 1, 1, |vm, a| {
        let (p, shown) = vm.path_at(a, 0)?;
        let r = vm.host.remove_file(&p);
        done(vm, r, &format!("apply2files - {shown}"))
    }),
    on_class("__rename", 2, 2, |vm, a| {
        let ((p, x), (q, y)) = (vm.path_at(a, 0)?, vm.path_at(a, 1)?);
        let r = vm.host.rename(&p, &q);
        done_two(vm, r, "rb_file_s_rename", &x, &y)
    }),
    on_class("__symlink", 2, 2, |vm, a| {
        let t = vm.arg(a, 0);
        let t = vm.to_path(t)?;
        let (q, y) = vm.path_at(a, 1)?;
        let shown = String::from_utf8_lossy(&t).into_owned();
        let r = vm.host.symlink(&to_path(&t), &q);
        done_two(vm, r, "rb_file_s_symlink", &shown, &y)
    }),
    on_class("__link", 2, 2, |vm, a| {
        let ((p, x), (q, y)) = (vm.path_at(a, 0)?, vm.path_at(a, 1)?);
        let r = vm.host.hard_link(&p, &q);
        done_two(vm, r, "rb_file_s_link", &x, &y)
    }),
    on_class("__readlink", 1, 1, |vm, a| {
        let (p, shown) = vm.path_at(a, 0)?;
        match vm.host.read_link(&p) {
            Ok(t) => {
                use std::os::unix::ffi::OsStringExt;
                Ok(vm.str(t.into_os_string().into_vec()))
            }
            Err(e) => vm.host_error(&e, &format!("rb_readlink - {shown}")),
        }
    }),
    on_class("__realpath", 1, 1, |vm, a| {
        let (p, shown) = vm.path_at(a, 0)?;
        match vm.host.real_path(&p) {
            Ok(t) => {
                use std::os::unix::ffi::OsStringExt;
                Ok(vm.str(t.into_os_string().into_vec()))
            }
            Err(e) => vm.host_error(&e, &format!("rb_check_realpath_internal - {shown}")),
        }
    }),
    on_class("__chmod", 2, 2, |vm, a| {
        let (p, shown) = vm.path_at(a, 0)?;
        let m = vm.arg(a, 1);
        let m = vm.to_int(m)? as u32 & 0o7777;
        let r = behind(vm, &p, Access::Attributes, |file| file.set_mode(m));
        done(vm, r, &format!("apply2files - {shown}"))
    }),
    on_class("__chown", 3, 3, chown).also(&["__lchown"]),
    on_class("__utime", 5, 5, utime).also(&["__lutime"]),
    on_class("__truncate", 2, 2, |vm, a| {
        let (p, shown) = vm.path_at(a, 0)?;
        let n = vm.arg(a, 1);
        let n = vm.to_int(n)? as u64;
        let r = behind(vm, &p, Access::Write, |file| file.set_len(n));
        done(vm, r, &format!("rb_file_s_truncate - {shown}"))
    }),
    on_class("__mkfifo", 2, 2, |vm, a| {
        let (p, shown) = vm.path_at(a, 0)?;
        let m = vm.arg(a, 1);
        let m = vm.to_int(m)? as u32 & !vm.umask;
        let r = vm.host.make_fifo(&p, m);
        done(vm, r, &format!("rb_file_s_mkfifo - {shown}"))
    }),
    on_class("umask", 0, 1, |vm, a| {
        let old = vm.umask;
        if let Some(v) = vm.opt(a, 0) {
            vm.umask = vm.to_int(v)? as u32 & 0o777
        }
        Ok(Value::fix(i64::from(old)))
    }),
];

const DIR_METHODS: &[Native] = &[
    on_class("__list", 1, 1, |vm, a| {
        let (p, shown) = vm.path_at(a, 0)?;
        if p.as_os_str().is_empty() {
            return vm.errno("ENOENT", "dir_initialize - ");
        }
        vm.file_read(std::os::unix::ffi::OsStrExt::as_bytes(p.as_os_str()));
        match vm.host.list(&p) {
            Ok(l) => {
                use std::os::unix::ffi::OsStrExt;
                let l = l.iter().map(|e| vm.str(e.name.as_bytes())).collect();
                Ok(vm.arr(l))
            }
            Err(e) => vm.host_error(&e, &format!("dir_initialize - {shown}")),
        }
    }),
    on_class("__mkdir", 2, 2, |vm, a| {
        let (p, shown) = vm.path_at(a, 0)?;
        let m = vm.arg(a, 1);
        let m = vm.to_int(m)? as u32 & !vm.umask;
        let r = vm.host.make_dir(&p, m);
        done(vm, r, &format!("dir_s_mkdir - {shown}"))
    }),
    on_class("__rmdir", 1, 1, |vm, a| {
        let (p, shown) = vm.path_at(a, 0)?;
        let r = vm.host.remove_dir(&p);
        done(vm, r, &format!("dir_s_rmdir - {shown}"))
    }),
    on_class("pwd", 0, 0, |vm, _| {
        let c = vm.getcwd();
        Ok(vm.str(c))
    })
    .also(&["getwd"]),
    on_class("__chdir", 1, 1, |vm, a| {
        let (p, shown) = vm.path_at(a, 0)?;
        match vm.host.stat(&p) {
            Ok(m) if m.kind == fx_host::Kind::Directory => {}
            Ok(_) => return vm.errno("ENOTDIR", &format!("dir_s_chdir - {shown}")),
            Err(e) => return vm.host_error(&e, &format!("dir_s_chdir - {shown}")),
        }
        use std::os::unix::ffi::OsStringExt;
        let real = vm.host.real_path(&p).unwrap_or(p);
        vm.cwd = Some(real.into_os_string().into_vec());
        Ok(Value::fix(0))
    }),
];

pub(crate) fn init(vm: &mut Vm) {
    vm.natives(c::FILE, FILE_METHODS);
    vm.include_module(c::DIR, c::ENUMERABLE);
    vm.natives(c::DIR, DIR_METHODS);
}
