//! Lowers the Ruby that ships with this crate, so that a start need not parse it, and lists it.

fn main() -> std::io::Result<()> {
    fx_ruby_syntax::ship_prelude("test")
}
