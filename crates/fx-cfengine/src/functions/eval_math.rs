//! Arithmetic of eval(): numbers with suffixes, operators, functions and constants.

/// The value of an expression, or why it does not read.
pub(super) fn evaluate(source: &str) -> Result<f64, String> {
    let mut reader = Reader { text: source.as_bytes(), at: 0 };
    let value = reader.comparison(0)?;
    reader.blank();
    if reader.at < reader.text.len() {
        return Err(format!("unexpected text at '{}'", &source[reader.at.min(source.len())..]));
    }
    Ok(value)
}

const MAX_DEPTH: usize = 100;

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn blank(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn take(&mut self, word: &str) -> bool {
        self.blank();
        let found = self.text[self.at..].starts_with(word.as_bytes());
        if found {
            self.at += word.len();
        }
        found
    }

    fn comparison(&mut self, depth: usize) -> Result<f64, String> {
        if depth > MAX_DEPTH {
            return Err("nesting too deep".into());
        }
        let mut left = self.sum(depth)?;
        loop {
            let operator = ["==", "<=", ">=", "<", ">"].iter().find(|operator| self.take(operator));
            let Some(operator) = operator else { return Ok(left) };
            let right = self.sum(depth)?;
            let close = (left - right).abs() < 1e-11;
            let holds = match *operator {
                "==" => close,
                "<=" => left < right || close,
                ">=" => left > right || close,
                "<" => left < right,
                _ => left > right,
            };
            left = f64::from(u8::from(holds));
        }
    }

    fn sum(&mut self, depth: usize) -> Result<f64, String> {
        let mut left = self.product(depth)?;
        loop {
            if self.take("+") {
                left += self.product(depth)?;
            } else if self.take("-") {
                left -= self.product(depth)?;
            } else {
                return Ok(left);
            }
        }
    }

    fn product(&mut self, depth: usize) -> Result<f64, String> {
        let mut left = self.power(depth)?;
        loop {
            self.blank();
            if self.text[self.at..].starts_with(b"**") {
                return Ok(left);
            }
            if self.take("*") {
                left *= self.power(depth)?;
            } else if self.take("/") {
                left /= self.power(depth)?;
            } else if self.take("%") {
                let right = self.power(depth)?;
                left = (left as i64).checked_rem(right as i64).ok_or("division by zero")? as f64;
            } else {
                return Ok(left);
            }
        }
    }

    fn power(&mut self, depth: usize) -> Result<f64, String> {
        let base = self.value(depth)?;
        if self.take("**") || self.take("^") {
            let exponent = self.power(depth + 1)?;
            return Ok(base.powf(exponent));
        }
        Ok(base)
    }

    fn value(&mut self, depth: usize) -> Result<f64, String> {
        if depth > MAX_DEPTH {
            return Err("nesting too deep".into());
        }
        self.blank();
        match self.text.get(self.at) {
            Some(b'(') => {
                self.at += 1;
                let value = self.comparison(depth + 1)?;
                if self.take(")") { Ok(value) } else { Err("missing ')'".into()) }
            }
            Some(b'-') => {
                self.at += 1;
                Ok(-self.value(depth + 1)?)
            }
            // A sign that stands alone is no number.
            Some(b'+') if self.text.get(self.at + 1).is_some_and(u8::is_ascii_digit) => {
                self.at += 1;
                self.number()
            }
            Some(byte) if byte.is_ascii_digit() || *byte == b'.' => self.number(),
            Some(byte) if byte.is_ascii_alphabetic() => self.word(depth),
            _ => Err("a value is missing".into()),
        }
    }

    fn number(&mut self) -> Result<f64, String> {
        let start = self.at;
        while let Some(byte) = self.text.get(self.at) {
            let exponent = matches!(byte, b'e' | b'E')
                && matches!(self.text.get(self.at + 1), Some(b'0'..=b'9' | b'-' | b'+'));
            let sign = matches!(byte, b'-' | b'+') && matches!(self.text[self.at - 1], b'e' | b'E');
            if byte.is_ascii_digit() || *byte == b'.' || exponent || sign {
                self.at += 1;
            } else {
                break;
            }
        }
        let text =
            std::str::from_utf8(&self.text[start..self.at]).map_err(|error| error.to_string())?;
        let number: f64 = text.parse().map_err(|_| format!("'{text}' is not a number"))?;
        let factor = match self.text.get(self.at) {
            Some(b'k') => 1000.0,
            Some(b'K') => 1024.0,
            Some(b'm') => 1e6,
            Some(b'M') => 1_048_576.0,
            Some(b'g') => 1e9,
            Some(b'G') => 1_073_741_824.0,
            Some(b't') => 1e12,
            Some(b'T') => 1_099_511_627_776.0,
            Some(b'p') => 1e15,
            Some(b'P') => 1_125_899_906_842_624.0,
            _ => return Ok(number),
        };
        self.at += 1;
        Ok(number * factor)
    }

    fn word(&mut self, depth: usize) -> Result<f64, String> {
        let start = self.at;
        while self
            .text
            .get(self.at)
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        {
            self.at += 1;
        }
        let word = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
        if self.take("(") {
            let argument = self.comparison(depth + 1)?;
            if !self.take(")") {
                return Err("missing ')'".into());
            }
            return function(&word, argument).ok_or_else(|| format!("unknown function '{word}'"));
        }
        constant(&word).ok_or_else(|| format!("unknown word '{word}'"))
    }
}

fn function(name: &str, x: f64) -> Option<f64> {
    Some(match name {
        "ceil" => x.ceil(),
        "floor" => x.floor(),
        "round" => x.round(),
        "sqrt" => x.sqrt(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tan" => x.tan(),
        "asin" => x.asin(),
        "acos" => x.acos(),
        "atan" => x.atan(),
        "abs" => x.abs(),
        "step" => f64::from(u8::from(x > 0.0)),
        "exp" => x.exp(),
        "log" => x.ln(),
        "log2" => x.log2(),
        "log10" => x.log10(),
        _ => return None,
    })
}

fn constant(name: &str) -> Option<f64> {
    use std::f64::consts;
    Some(match name {
        "e" => consts::E,
        "log2e" => consts::LOG2_E,
        "log10e" => consts::LOG10_E,
        "ln2" => consts::LN_2,
        "ln10" => consts::LN_10,
        "pi" => consts::PI,
        "pi_2" => consts::FRAC_PI_2,
        "pi_4" => consts::FRAC_PI_4,
        "1_pi" => consts::FRAC_1_PI,
        "2_pi" => consts::FRAC_2_PI,
        "2_sqrtpi" => consts::FRAC_2_SQRT_PI,
        "sqrt2" => consts::SQRT_2,
        "sqrt1_2" => consts::FRAC_1_SQRT_2,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_computed() {
        let table = [
            ("1+2*3", Ok(7.0)),
            ("(1+2)*3", Ok(9.0)),
            ("2**3", Ok(8.0)),
            ("2^3", Ok(8.0)),
            ("10 % 3", Ok(1.0)),
            ("1k", Ok(1000.0)),
            ("sqrt(16)", Ok(4.0)),
            ("3 < 4", Ok(1.0)),
            ("-2", Ok(-2.0)),
            ("1e3", Ok(1000.0)),
        ];
        for (text, expected) in table {
            assert_eq!(evaluate(text), expected, "{text}");
        }
        for text in ["", "1 +", "(1", "hello", "1 2"] {
            assert!(evaluate(text).is_err(), "{text}");
        }
    }
}
