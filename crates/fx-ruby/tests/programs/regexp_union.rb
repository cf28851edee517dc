p Regexp.union, Regexp.union("a.b"), Regexp.union(/x/i), Regexp.union("a+", /b/m, "c"), Regexp.union(:s), Regexp.union(%w[x y])
p Regexp.union("skiing", /sledding/i) =~ "a SLEDDING", Regexp.compile("a+", Regexp::IGNORECASE)
begin
  Regexp.union(1, 2)
rescue TypeError => e
  p e.message
end
