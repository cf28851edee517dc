# BigDecimal, but for the digits of a quotient that has no end.
require 'bigdecimal'; require 'bigdecimal/util'
def t; p yield; rescue => e; puts "#{e.class}: #{e.message}"; end
t { (BigDecimal("1") / 3).round(20) }
t { (BigDecimal("2") / 7).round(20) }
t { BigDecimal("1")/8 }
t { (BigDecimal("10") / 3).round(20) }
%w[1.23 123.456 0.00001 -0 NaN Infinity -Infinity 1e10 -1.5e-7 1234567.891 12 100].each { |s| b = BigDecimal(s); t { [b, b.to_s("F"), b.to_s("3F"), b.to_s("+F"), b.to_s("2E"), b.to_f, b.exponent, b.precision, b.scale, b.sign, b.split, b.hash == BigDecimal(s).hash] } }
t { BigDecimal("3.14159").round(2) }
t { [BigDecimal("3.5").round, BigDecimal("-2.5").round, BigDecimal("1.25").round(1).to_s, BigDecimal("1.25").round(1, :half_even).to_s, BigDecimal("15").round(-1).to_s, BigDecimal("1.1").round(3).to_s, BigDecimal("1.35").round(1, half: :down).to_s] }
t { [BigDecimal("2")**10, BigDecimal("7").divmod(2), BigDecimal("-7").divmod(2), BigDecimal("7.5")%2, BigDecimal("-7.5").remainder(2)] }
t { [1 + BigDecimal("2"), 1.5 + BigDecimal("1"), BigDecimal("1.5") + 1.5, BigDecimal("1.5")*2, 2r + BigDecimal("1"), BigDecimal("3") - 1, "1.5".to_d, 3.to_d, 1.5.to_d, "1.5abc".to_d, "".to_d] }
t { BigDecimal("x") }
t { BigDecimal("1x") }
t { BigDecimal("") }
t { BigDecimal(" 1_000.5 ") }
t { BigDecimal(nil) }
t { BigDecimal(1.5) }
t { BigDecimal(1.5, 3) }
t { BigDecimal("x", exception: false) }
t { BigDecimal(:a) }
t { BigDecimal("1")/0 }
t { BigDecimal("0")/0 }
t { [BigDecimal("1.5") == 1.5, BigDecimal("1.5") > 1, 1 < BigDecimal("1.5"), BigDecimal("1") == "1", BigDecimal("1.0").eql?(1), [BigDecimal("2"), 1, 1.5].max] }
t { BigDecimal("1") < "a" }
t { BigDecimal("1") + nil }
t { [BigDecimal("1.9").floor, BigDecimal("1.1").ceil, BigDecimal("-1.55").truncate(1), BigDecimal("1.55").floor(1), BigDecimal("1.5").to_i, BigDecimal("1.5").to_r, BigDecimal("1.5").frac, BigDecimal("1.5").fix] }
t { BigDecimal("NaN").to_i }
t { BigDecimal("Infinity").round }
t { [BigDecimal("1").div(3, 5), BigDecimal("3").div(2), BigDecimal("1.2345").add(1, 3), BigDecimal("1.2345").mult(2, 3), BigDecimal("9").sqrt(5).to_i] }
t { [BigDecimal("0.1") + BigDecimal("0.2") == BigDecimal("0.3"), BigDecimal("0.1").to_s, "%.2f" % BigDecimal("1.239"), BigDecimal("12.50").to_digits, BigDecimal("5").to_s("F"), [BigDecimal("0.1")]*3 == [], [BigDecimal("0.1"), BigDecimal("0.2")].sum] }
t { BigDecimal.new("1") }
t { BigDecimal("1").nonzero? }
t { [BigDecimal("-1").abs, -BigDecimal("1"), BigDecimal("1").zero?, BigDecimal("-0").zero?, BigDecimal("1").negative?, BigDecimal("1").is_a?(Numeric), BigDecimal("1").finite?, BigDecimal("NaN").nan?] }
