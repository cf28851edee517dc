"hello" =~ /z/
p "hello".partition(/l+/), $~[0], "hello".rpartition(/l/), $~.begin(0), "hello".partition(/x/), $~
s = +"hello world"
p s.slice!(/o (w)/, 1), $~[0], s, s.slice!("zz"), s.slice!(0..2), s
p "hello".split(//, -1), "hi!".split(/()/, -1), "AABCCBAA".split(/(?=B)/, -1), "a\0 b".split, "ab".split(/b*/, -1)
p "a\n\n\nb\n".lines(""), "hello"[/(l)(l)/, -1], "hello"[/(l)(l)/, -3], "abc".gsub(/(a)|(b)/, '<\+>')
p "ΑΣ".downcase, "i".upcase(:turkic), "ß".downcase(:fold), ("a".upcase(:fold) rescue $!.message), ("a".upcase(:ascii, :turkic) rescue $!.message), "iSA".swapcase(:turkic), "isa".capitalize(:turkic)
p "\"a\\u0041\\u00e9\\n\"".undump, ('"a' .undump rescue $!.message), ("a".undump rescue $!.message), "é\t\"".dump.undump
