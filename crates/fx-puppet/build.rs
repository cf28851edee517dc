//! Lowers the Ruby that ships with this crate, so that a start need not parse it.

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=prelude");
    fx_ruby_syntax::lower_prelude().map(drop)
}
