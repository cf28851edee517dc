# What a pattern that stands alone says when it does not match.
def t = yield rescue puts("#{$!.class}: #{$!.message}")
t { 1 => String }
t { [1, 2] => [a] }
t { [1, 2] => [a, b, c, *] }
t { 5 => [a] }
t { 5 => { a: } }
t { { a: 1 } => { a: String } }
t { { a: 1, b: 2 } => { a: 1, **nil } }
t { { a: 1 } => {} }
t { [1, [2]] => [1, [3]] }
t { 1 => 2 | 3 }
t { case 1; in String; end }
t { case 1; in String; in Symbol; end }
t { case { a: 1 }; in { b: }; end }
t { case 1; in Integer if false; end }
t { { a: { b: 1 } } => { a: { c: } } }
t { [1] => Hash[a] }
begin
  { a: 1 } => { b: }
rescue NoMatchingPatternKeyError => e
  p e.key, e.matchee
end
