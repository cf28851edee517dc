require "zlib"
require "yaml"
p Zlib.crc32("abc"), Zlib.crc32, Zlib.crc32("c", Zlib.crc32("ab")), Zlib.adler32("abc")
p nil.to_yaml, [nil].to_yaml
p format("%01$*2$d", 7, 3), format("%2$s %1$s", "a", "b")
