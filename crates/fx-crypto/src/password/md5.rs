//! The method `$1$`, a thousand rounds of MD5. Old hashes are still compared with.

use md5::{Digest, Md5};

use super::letters::group;

/// The hash; the salt ends at a dollar sign, or after eight letters.
pub(super) fn crypt(password: &[u8], rest: &str) -> String {
    let salt = rest.split('$').next().unwrap_or_default();
    let salt = &salt[..salt.len().min(8)];
    let pieces = |parts: &[&[u8]]| -> [u8; 16] {
        let mut sum = Md5::new();
        for part in parts {
            sum.update(part);
        }
        sum.finalize().into()
    };
    let inner = pieces(&[password, salt.as_bytes(), password]);
    let mut first = Md5::new();
    first.update(password);
    first.update("$1$");
    first.update(salt);
    first.update(inner.iter().copied().cycle().take(password.len()).collect::<Vec<u8>>());
    let mut bits = password.len();
    while bits > 0 {
        // Not meant so by who wrote it first, and so ever since.
        first.update(if bits & 1 == 1 { &[0] } else { password.get(..1).unwrap_or_default() });
        bits >>= 1;
    }
    let mut sum: [u8; 16] = first.finalize().into();
    for round in 0..1000 {
        let odd = round % 2 == 1;
        let salt = if round % 3 == 0 { &[] } else { salt.as_bytes() };
        let again = if round % 7 == 0 { &[] } else { password };
        sum = if odd {
            pieces(&[password, salt, again, &sum])
        } else {
            pieces(&[&sum, salt, again, password])
        };
    }
    let mut out = format!("$1${salt}$");
    for [a, b, c] in [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5]] {
        let [a, b, c] = [a, b, c].map(|at: usize| u32::from(sum[at]));
        group(&mut out, a << 16 | b << 8 | c, 4);
    }
    group(&mut out, u32::from(sum[11]), 2);
    out
}
