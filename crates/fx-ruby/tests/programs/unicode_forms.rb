# Text in the four Unicode forms.
begin
  "a".unicode_normalize(:x)
rescue ArgumentError => e
  p e
end
p "e\u0301".unicode_normalize.size, "é".unicode_normalize(:nfd).size, "ﬁ".unicode_normalize(:nfkc)
p "é".unicode_normalized?, "e\u0301".unicode_normalized?, "e\u0301".unicode_normalized?(:nfd)
