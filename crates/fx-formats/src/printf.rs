//! `format` as Ruby has it: directives with flags, widths, precisions, numbered and named
//! arguments. [`format()`] reads the text; whoever calls it shows the values through [`Spec`].

mod numbers;
mod reader;

pub use numbers::base;
pub use reader::format;

/// What stands between the percent sign and the letter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spec {
    pub minus: bool,
    pub plus: bool,
    pub space: bool,
    pub zero: bool,
    pub alt: bool,
    pub width: Option<usize>,
    pub precision: Option<usize>,
}

/// The arguments of a format, the text that is being made, and the errors of a language.
pub trait Arguments {
    type Value: Clone;
    type Error;

    /// The argument at a place, from 0.
    fn at(&mut self, index: usize) -> Option<Self::Value>;
    /// The argument of a name; `shown` is the name in its brackets.
    fn named(&mut self, name: &[u8], shown: &str) -> Result<Self::Value, Self::Error>;
    /// A width or precision that an argument gives.
    fn whole(&mut self, value: Self::Value) -> Result<i32, Self::Error>;
    /// So many bytes will be needed.
    fn reserve(&mut self, bytes: usize) -> Result<(), Self::Error>;
    /// Text between directives.
    fn literal(&mut self, text: &[u8]);
    /// A value by its directive.
    fn put(&mut self, letter: u8, spec: &Spec, value: Self::Value) -> Result<(), Self::Error>;
    /// The format cannot be followed.
    fn refuse<T>(&mut self, message: String) -> Result<T, Self::Error>;
}

impl Spec {
    /// A text, cut to the precision and filled to the width.
    pub fn text(&self, text: &str) -> String {
        let cut: String = match self.precision {
            Some(most) => text.chars().take(most).collect(),
            None => text.to_owned(),
        };
        self.filled("", "", &cut, false)
    }

    fn sign(&self, negative: bool) -> &'static str {
        if negative {
            "-"
        } else if self.plus {
            "+"
        } else if self.space {
            " "
        } else {
            ""
        }
    }

    /// Sign, prefix and digits, filled to the width.
    fn filled(&self, sign: &str, prefix: &str, digits: &str, zeros: bool) -> String {
        let used = sign.len() + prefix.len() + digits.chars().count();
        let gap = self.width.unwrap_or(0).saturating_sub(used);
        if self.minus {
            format!("{sign}{prefix}{digits}{}", " ".repeat(gap))
        } else if self.zero && zeros {
            format!("{sign}{prefix}{}{digits}", "0".repeat(gap))
        } else {
            format!("{}{sign}{prefix}{digits}", " ".repeat(gap))
        }
    }
}
