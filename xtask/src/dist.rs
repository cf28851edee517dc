//! The release: a static musl binary, proved to run alone, as tarball, deb and rpm.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::tidy::root;

const TARGET: &str = "x86_64-unknown-linux-musl";

pub(crate) fn run() -> Result<()> {
    let root = root();
    build(&root)?;
    let target =
        std::env::var("CARGO_TARGET_DIR").map_or_else(|_| root.join("target"), PathBuf::from);
    let binary = target.join(TARGET).join("release/fixpoint");
    is_static(&binary)?;
    runs_alone(&binary)?;
    let out = target.join("dist");
    std::fs::create_dir_all(&out)?;
    tarball(&root, &binary, &out)?;
    package(
        &root,
        &target,
        &out,
        &["deb", "--no-build", "--no-strip", "--package", "fixpoint", "--target", TARGET],
    )?;
    package(
        &root,
        &target,
        &out,
        &["generate-rpm", "--package", "crates/fixpoint", "--target", TARGET],
    )?;
    for entry in std::fs::read_dir(&out)? {
        let entry = entry?;
        println!("{} {:.1} MB", entry.path().display(), entry.metadata()?.len() as f64 / 1e6);
    }
    Ok(())
}

fn build(root: &Path) -> Result<()> {
    // musl-gcc compiles the C parts only. As a linker it would make a binary that asks for
    // a dynamic interpreter; Rust's own start files make a true static one.
    let mut cargo = Command::new("cargo");
    cargo
        .args(["build", "--release", "--package", "fixpoint", "--target", TARGET])
        .current_dir(root);
    cargo.env("CC_x86_64_unknown_linux_musl", "musl-gcc");
    succeed(&mut cargo)
        .context("needs the musl target (rustup target add) and musl-gcc (musl-tools)")
}

fn is_static(binary: &Path) -> Result<()> {
    let bytes = std::fs::read(binary)?;
    // An ELF program header of type PT_INTERP (3) names a dynamic loader.
    let word = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let start = u64::from_le_bytes(bytes[32..40].try_into()?) as usize;
    let (size, count) = (word(54), word(56));
    let interpreter = (0..count).any(|n| bytes[start + n * size..][..4] == [3, 0, 0, 0]);
    if interpreter {
        bail!("{} asks for a dynamic loader", binary.display());
    }
    println!("static: no dynamic loader asked for");
    Ok(())
}

fn runs_alone(binary: &Path) -> Result<()> {
    let dir = std::env::temp_dir().join(format!("fixpoint-chroot-{}", std::process::id()));
    std::fs::create_dir(&dir)?;
    std::fs::copy(binary, dir.join("fixpoint"))?;
    let chroot =
        |args: &[&str]| succeed(Command::new("chroot").arg(&dir).arg("/fixpoint").args(args));
    let ran = chroot(&["--version"])
        .and_then(|()| chroot(&["facts", "kernel"]))
        .and_then(|()| chroot(&["ruby", "-e", "puts 6 * 7"]));
    std::fs::remove_dir_all(&dir)?;
    ran.context("in an empty chroot (needs root)")
}

fn tarball(root: &Path, binary: &Path, out: &Path) -> Result<()> {
    let name = format!("fixpoint-{}-x86_64", env!("CARGO_PKG_VERSION"));
    let stage = out.join(&name);
    std::fs::create_dir_all(stage.join("man1"))?;
    for (from, to) in [
        (binary, "fixpoint"),
        (&root.join("LICENSE"), "LICENSE"),
        (&root.join("README.md"), "README.md"),
    ] {
        std::fs::copy(from, stage.join(to)).with_context(|| from.display().to_string())?;
    }
    succeed(Command::new(binary).arg("man").arg(stage.join("man1")))?;
    std::fs::create_dir_all(stage.join("systemd"))?;
    for unit in std::fs::read_dir(root.join("crates/fixpoint/packaging/systemd"))? {
        let unit = unit?;
        std::fs::copy(unit.path(), stage.join("systemd").join(unit.file_name()))?;
    }
    let archive = out.join(format!("{name}.tar.gz"));
    // Sorted names, fixed owner and time: the same tree gives the same archive.
    let fixed = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "-czf"];
    succeed(Command::new("tar").args(fixed).arg(&archive).arg("-C").arg(out).arg(&name))?;
    std::fs::remove_dir_all(stage)?;
    Ok(())
}

fn package(root: &Path, target: &Path, out: &Path, args: &[&str]) -> Result<()> {
    let tool = if args[0] == "deb" { "cargo-deb" } else { "cargo-generate-rpm" };
    let mut cargo = Command::new("cargo");
    cargo
        .args(args)
        .current_dir(root)
        .env("CARGO_TARGET_DIR", target)
        .arg("--output")
        .arg(out.join(""));
    succeed(&mut cargo).with_context(|| format!("needs {tool} (cargo install {tool})"))
}

fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed");
    }
    Ok(())
}
